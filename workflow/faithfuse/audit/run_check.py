"""Run the checker over files: progress, verdict file, printed summary."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO, get_args

from faithfuse.audit.files import printable, writing
from faithfuse.audit.policy import load_policy
from faithfuse.audit.result import CheckResult
from faithfuse.audit.stream import Format, read_values, size
from faithfuse.audit.verdicts import Summary, check_stream, unresolved_reason
from faithfuse.errors import InputError

LONG = 32 << 20
"""Input from this many bytes on gets a progress bar; so does a pipe."""


def known_format(kind: str) -> Format:
    """The format named on the command line.

    Raises:
        InputError: there is no such format.
    """
    if kind not in get_args(Format):
        raise InputError(f"{kind!r} is no format", fix="Use auto, lines or json.")
    return kind  # type: ignore[return-value]


def run_check(
    files: list[str],
    *,
    out: Path | None = None,
    policy_path: Path | None = None,
    kind: str = "auto",
    show: int = 20,
    progress: bool = True,
) -> Summary:
    """Check every record of the files, write the verdicts, print the summary.

    Args:
        files: paths, `-` for standard input.
        out: where the verdicts go, by its suffix CSV or JSON Lines.
        policy_path: a policy to decide by.
        kind: the format of the files.
        show: how many rejected records to describe.
        progress: draw a progress bar on a terminal when the input is long.

    Raises:
        InputError: a file cannot be read or written, holds no record, or an option is wrong.
    """
    chosen = known_format(kind)
    policy = load_policy(policy_path) if policy_path else None
    if out is not None and out.suffix not in (".csv", ".jsonl"):
        raise InputError(f"--out {out} is neither .csv nor .jsonl", fix="Name the verdict file NAME.csv or NAME.jsonl.")
    described = 0

    def on_rejected(file: str, position: int, result: CheckResult) -> None:
        nonlocal described
        described += 1
        if described > show:
            return
        print(printable(f"{file}:{position}: rejected {result.tuple_id or '(no identifier)'}"))
        for defect in result.defects:
            print(printable(f"  {defect.code}: {defect.sentence()}"))

    with contextlib.ExitStack() as stack:
        tell = stack.enter_context(_bar(files)) if progress else _silent
        stream: TextIO | None = stack.enter_context(writing(out, inputs=files)) if out else None
        summary = check_stream(
            _values(files, chosen, tell),
            out=stream,
            as_lines=out is not None and out.suffix == ".jsonl",
            policy=policy,
            on_rejected=on_rejected,
        )
        if not summary.total:
            raise InputError("holds no record", path=", ".join(files), fix="Give a file with at least one record.")
    _print_summary(summary, described - show)
    return summary


def _silent(_taken: int) -> None:
    pass


def _values(files: list[str], kind: Format, tell: Callable[[int], None]) -> Iterator[tuple[str, int, bytes]]:
    for name in files:
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")  # a file's name may be any bytes
        for position, raw in read_values(name, kind, tell):
            yield shown, position, raw


@contextlib.contextmanager
def _bar(files: list[str]) -> Iterator[Callable[[int], None]]:
    """A progress bar over the bytes of the files, on a terminal and for long input only."""
    sizes = [size(name) for name in files]
    total = None if None in sizes else sum(filter(None, sizes))
    if not sys.stderr.isatty() or (total is not None and total < LONG):
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("checking"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("checking", total=total)
        yield lambda taken: progress.advance(task, taken)


def _print_summary(summary: Summary, undescribed: int) -> None:
    if undescribed > 0:
        print(f"… and {undescribed} more rejected records (see --out, --show)")
    states = summary.states
    print(f"{summary.total} records: {summary.total - summary.rejected} accepted, {summary.rejected} rejected")
    print(f"endpoint: {states['1']} omission (1), {states['0']} no omission (0), {states['U']} unresolved (U)")
    for letters, count in sorted(summary.unresolved.items(), key=lambda item: (-item[1], item[0])):
        print(f"  {count} unresolved: {unresolved_reason(letters)}")
    for code, count in sorted(summary.codes.items(), key=lambda item: (-item[1], item[0])):
        print(f"  {count} rejected for {code}")
    if summary.decisions:
        counts = ", ".join(f"{count} {word}" for word, count in sorted(summary.decisions.items()))
        print(f"decisions (proposed, not validated): {counts}")

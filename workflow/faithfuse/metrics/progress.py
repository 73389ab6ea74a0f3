"""Progress of the metrics on standard error: a bar on a terminal, a line at each quarter in a log."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from faithfuse.metrics.aggregate import Progress


@contextmanager
def reporting(title: str) -> Iterator[Progress]:
    """A `Progress` that shows how far each family of metrics is, and how long it still takes."""
    if not sys.stderr.isatty():
        yield _log_lines(title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    tasks: dict[str, int] = {}
    with bars:

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(f"{title}: {what}", total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield show


def _log_lines(title: str) -> Progress:
    shown: dict[str, int] = {}

    def show(what: str, done: int, total: int) -> None:
        quarter = 4 * done // max(total, 1)
        if quarter > shown.get(what, 0):
            shown[what] = quarter % 4
            print(f"{title}: {what} {done}/{total}", file=sys.stderr, flush=True)

    return show

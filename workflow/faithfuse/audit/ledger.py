"""The claim ledger: append-only JSON Lines with a hash chain (arXiv 2609.29145, section III-C and III-E).

Each line holds the verdict on one accepted record and the digests that bind it; `previous` is the digest of the line
before. Revisions are new lines that name the annotation they replace; nothing is ever rewritten. Appending takes an
exclusive lock, so processes that append at once wait for each other. A line is durable once its line end is written:
text after the last line end is a write that was cut short, and the next append moves it to `LEDGER.torn`.

The chain shows that lines were changed, removed or reordered in place. It is no signature: who can rewrite the whole
file can rebuild the chain, so keep the head digest that `verify` prints somewhere else.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from faithfuse.audit.canonical import JsonError, canonical_json, irregularities, parse
from faithfuse.audit.check import check_bytes
from faithfuse.audit.record import digest
from faithfuse.errors import InputError

GENESIS = "0" * 64
"""`previous` of the first line."""
FIELDS: dict[str, tuple[type, ...]] = {
    "annotation": (str,),
    "annotator": (str,),
    "claim": (str,),
    "codebook": (str,),
    "digest": (str,),
    "endpoint": (str,),
    "index": (int,),
    "level": (str,),
    "made_at": (str,),
    "previous": (str,),
    "priority": (int, float, type(None)),
    "record": (str,),
    "replaces": (str, type(None)),
    "revision": (int,),
    "support": (int, type(None)),
    "tuple": (str,),
    "tuple_id": (str,),
    "unresolved": (str,),
}
"""The fields of an entry and their types."""


@dataclass(frozen=True)
class Appended:
    """What an append did: the new entries, and the bytes of a torn line that it set aside (else 0)."""

    entries: list[dict[str, Any]]
    torn_bytes: int


@dataclass(frozen=True)
class Verified:
    """A ledger that holds: number of lines, digest of the last one, bytes of a torn line after it (else 0)."""

    lines: int
    head: str
    torn_bytes: int


def entry_of(raw: bytes) -> dict[str, Any]:
    """The ledger entry of a record, without its place in the chain.

    Raises:
        InputError: the record is rejected by the checker.
    """
    result = check_bytes(raw)
    if not result.accepted:
        first = result.defects[0]
        found = f"is rejected ({first.code} at {first.pointer or 'the record'}: {first.found})"
        raise InputError(found, record=result.tuple_id, fix=first.fix())
    record = parse(raw)
    note = record["annotation"]
    return {
        "annotation": record["digests"]["annotation"],
        "annotator": note["annotator"],
        "claim": result.claim,
        "codebook": note["codebook"],
        "endpoint": result.state(),
        "level": result.level,
        "made_at": note["made_at"],
        "priority": result.priority,
        "record": record["digests"]["record"],
        "replaces": note["replaces"],
        "revision": note["revision"],
        "support": record["support"],
        "tuple": record["digests"]["tuple"],
        "tuple_id": result.tuple_id,
        "unresolved": result.unresolved,
    }


def append(path: Path, records: Iterable[tuple[str, int, bytes]], *, skip_known: bool = False) -> Appended:
    """Append the verdicts on records, all or none of them.

    Args:
        path: the ledger; it is created when it is not there.
        records: (file, position, bytes) of each record.
        skip_known: pass over records that are in the ledger already, to go on after an append that was cut short.

    Raises:
        InputError: a record is rejected or already in the ledger, a revision does not replace the latest one of its
            annotator on its tuple, there is no record, or the ledger itself is broken or cannot be written.
    """
    entries = []
    for file, position, raw in records:
        try:
            entries.append((file, position, entry_of(raw)))
        except InputError as error:
            raise InputError(error.found, path=file, line=position, record=error.record, fix=error.fix) from None
    if not entries:
        raise InputError("has no record to append", path=path, fix="Give a file with at least one record.")
    with _writable(path) as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        known, latest, head, count = _known(stream, path)
        lines, added = [], []
        for file, position, entry in entries:
            if skip_known and entry["record"] in known:
                continue
            _follows(entry, known, latest, file, position)
            entry = entry | {"index": count, "previous": head}
            head = digest(canonical_json(entry))
            entry["digest"] = head
            count += 1
            known.add(entry["record"])
            latest[_thread(entry)] = entry["annotation"]
            lines.append(canonical_json(entry) + b"\n")
            added.append(entry)
        torn = _set_torn_aside(stream, path)  # after the checks: an error would leave it unreported
        _write(stream.fileno(), b"".join(lines))
    return Appended(added, torn)


@contextlib.contextmanager
def _writable(path: Path) -> Iterator[BinaryIO]:
    """The ledger open for appending.

    Raises:
        InputError: it cannot be opened, locked or written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as stream:
            yield stream
    except OSError as error:
        fix = "Check the folder, the permissions and the free space, and append again; what was there stands."
        raise InputError(f"cannot be written ({error.strerror})", path=path, fix=fix) from None


def _write(descriptor: int, data: bytes) -> None:
    """Append all bytes and wait until they are stored, or none of them.

    Past the stream's buffer, which would try what failed once more when it is closed.
    """
    end = os.lseek(descriptor, 0, os.SEEK_END)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, end)
        raise


def _thread(entry: dict[str, Any]) -> tuple[str, str]:
    """Whose revisions form one sequence: one annotator on one tuple."""
    return entry["tuple"], entry["annotator"]


def _follows(
    entry: dict[str, Any], known: set[str], latest: dict[tuple[str, str], str], file: str, position: int
) -> None:
    place = {"path": file, "line": position, "record": entry["tuple_id"]}
    if entry["record"] in known:
        raise InputError(
            "is in the ledger already", fix="Append each record once, or pass over it with --skip-known.", **place
        )
    before = latest.get(_thread(entry))
    if entry["replaces"] == before:
        return
    if before is None:
        fix = "Append the revision that it replaces first."
        raise InputError(f"replaces annotation {entry['replaces'][:12]}…, which is not in the ledger", fix=fix, **place)
    fix = f"Seal it as a new revision with replaces = {before}."
    raise InputError("does not replace the latest revision of its annotator on this tuple", fix=fix, **place)


def _known(stream: BinaryIO, path: Path) -> tuple[set[str], dict[tuple[str, str], str], str, int]:
    """What the ledger holds: record digests, latest annotation of each thread, head digest, number of lines."""
    known: set[str] = set()
    latest: dict[tuple[str, str], str] = {}
    head, count = GENESIS, 0
    for entry in _entries(stream, path):
        known.add(entry["record"])
        latest[_thread(entry)] = entry["annotation"]
        head, count = entry["digest"], count + 1
    return known, latest, head, count


def _entries(stream: BinaryIO, path: Path) -> Iterator[dict[str, Any]]:
    """The entries of the whole lines, each checked against the chain.

    Raises:
        InputError: naming the first line that is broken.
    """
    stream.seek(0)
    previous = GENESIS
    for index, line in enumerate(stream):
        if not line.endswith(b"\n"):
            return
        problem = None
        try:
            entry = parse(line)
        except JsonError as error:
            problem, entry = str(error), None
        if problem is None:
            problem = _problem(entry, index, previous, line)
        if problem:
            fix = "Restore the ledger from a copy; lines before this one hold."
            raise InputError(problem, path=path, line=index + 1, fix=fix)
        previous = entry["digest"]
        yield entry


def _problem(entry: Any, index: int, previous: str, line: bytes) -> str | None:
    if not isinstance(entry, dict) or set(entry) != set(FIELDS) or any(True for _ in irregularities(entry)):
        return "is no ledger entry"
    if any(type(entry[name]) not in types for name, types in FIELDS.items()):
        return "is no ledger entry"
    body = {key: value for key, value in entry.items() if key != "digest"}
    if canonical_json(entry) + b"\n" != line:
        return "is not written canonically, so it was edited"
    if digest(canonical_json(body)) != entry["digest"]:
        return "does not fit its digest, so it was changed"
    if entry["previous"] != previous or entry["index"] != index:
        return "does not follow the line before it, so lines were removed, added or moved"
    return None


def _torn(stream: BinaryIO) -> tuple[int, int]:
    """(end of the last whole line, size of the file)."""
    size = stream.seek(0, os.SEEK_END)
    end = size
    while end > 0:
        start = max(0, end - 65536)
        stream.seek(start)
        found = stream.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1, size
        end = start
    return 0, size


def _set_torn_aside(stream: BinaryIO, path: Path) -> int:
    """Move text after the last line end to `LEDGER.torn`; returns its length in bytes."""
    end, size = _torn(stream)
    if end == size:
        return 0
    stream.seek(end)
    rest = stream.read(size - end)
    with torn_path(path).open("ab") as aside:
        aside.write(rest + b"\n")
        aside.flush()
        os.fsync(aside.fileno())
    stream.truncate(end)
    return len(rest)


def torn_path(path: Path) -> Path:
    """Where torn lines are set aside."""
    return path.with_name(path.name + ".torn")


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path, fix="Check the path.") from None


def verify(path: Path) -> Verified:
    """Check every line of a ledger.

    Raises:
        InputError: the file cannot be read, or names the first line that is broken.
    """
    with _open(path) as stream:
        fcntl.flock(stream, fcntl.LOCK_SH)
        lines, head = 0, GENESIS
        for entry in _entries(stream, path):
            lines, head = lines + 1, entry["digest"]
        end, size = _torn(stream)
    return Verified(lines, head, size - end)


def entries(path: Path, *, tuple_id: str | None = None, current: bool = False) -> list[dict[str, Any]]:
    """The entries of a ledger, oldest first.

    Args:
        path: the ledger.
        tuple_id: only those of one tuple.
        current: only those that no later entry replaces.

    Raises:
        InputError: as `verify`.
    """
    with _open(path) as stream:
        fcntl.flock(stream, fcntl.LOCK_SH)
        found = [entry for entry in _entries(stream, path) if tuple_id in (None, entry["tuple_id"])]
    if current:
        replaced = {(*_thread(entry), entry["replaces"]) for entry in found}
        found = [entry for entry in found if (*_thread(entry), entry["annotation"]) not in replaced]
    return found

"""Fetching what may be fetched: from a registry of files, resumed, verified, complete or absent.

`config/data.csv` has one row per file: `set`, `version`, `path` (below the data folder), `url`, `sha256` (or
`recorded at first download`), `licence`, `citation`, `access` (`fetch` or `by hand`) and `how` (for what must be got
by hand). A download goes to `PATH.part` and is continued from there after a break; only a file with the right digest
gets its name. Digests that the registry does not know are recorded in `fetched.csv` in the data folder, and hold from
then on.
"""

from __future__ import annotations

import csv
import http.client
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from faithfuse.datasets.streams import file_digest, iter_table
from faithfuse.errors import FaithfuseError, InputError
from faithfuse.records import atomic_write, describe

RECORDED = "recorded at first download"
_COLUMNS = ("set", "version", "path", "url", "sha256", "licence", "citation", "access", "how")
_CHUNK = 1 << 18
_TRIES = 5


class Entry(BaseModel):
    """One row of the registry."""

    model_config = ConfigDict(extra="forbid")

    set: str
    version: str
    path: str
    url: str
    sha256: str
    licence: str
    citation: str
    access: Literal["fetch", "by hand"]
    how: str


def read_registry(path: Path) -> list[Entry]:
    """The registry's rows.

    Raises:
        InputError: a column is missing, `access` is neither `fetch` nor `by hand`, or a path leaves the data folder.
    """
    entries = []
    for line, row in iter_table(path, delimiter=",", columns=_COLUMNS):
        try:
            entry = Entry.model_validate(row)
        except ValidationError as error:
            raise InputError(describe(error), path=path, line=line, fix="See docs/data.md.") from None
        if entry.access == "fetch" and (Path(entry.path).is_absolute() or ".." in Path(entry.path).parts):
            raise InputError(
                f"the path {entry.path!r} leaves the data folder",
                path=path,
                line=line,
                fix="Give a path below the data folder.",
            )
        entries.append(entry)
    return entries


def fetch(sets: Sequence[str], out: Path, registry: Path) -> Iterator[str]:
    """Fetch the files of some sets (`all`: of all) into a data folder; yields a line on each.

    Raises:
        InputError: a set is not in the registry, or a file that is there has another digest than it must have.
        FaithfuseError: a download fails, or what was downloaded has another digest; nothing gets its name then.
    """
    entries = read_registry(registry)
    known = dict.fromkeys(entry.set for entry in entries)
    unknown = [name for name in sets if name != "all" and name not in known]
    if unknown:
        raise InputError(f"has no set {', '.join(unknown)}", path=registry, fix=f"Choose from {', '.join(known)}.")
    recorded = _recorded(out)
    wanted = [entry for entry in entries if "all" in sets or entry.set in sets]
    # First, since a download that fails ends the command.
    for entry in wanted:
        if entry.access == "by hand":
            yield f"{entry.set}: by hand: {entry.how} ({entry.url}; licence: {entry.licence})"
    for entry in wanted:
        if entry.access == "by hand":
            continue
        target = out / entry.path
        expected = recorded.get(entry.path) if entry.sha256 == RECORDED else entry.sha256
        if target.is_file():
            digest = file_digest(target)
            if expected not in (None, digest):
                raise InputError(
                    f"has the SHA-256 {digest}, not {expected}",
                    path=target,
                    fix="Move it away and fetch again; if it is yours, keep it outside the data folder.",
                )
            state = "is there"
        else:
            digest = _download(entry, target, expected)
            state = "fetched"
        if entry.sha256 == RECORDED and entry.path not in recorded:
            recorded[entry.path] = digest
            _record(out, recorded)
            state += f", SHA-256 {digest} recorded"
        else:
            state += ", verified"
        yield f"{entry.set}: {entry.path} {state}"


def _download(entry: Entry, target: Path, expected: str | None) -> str:
    part = target.with_name(target.name + ".part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        _transfer(entry.url, part)
        digest = file_digest(part)
    except OSError as error:
        raise FaithfuseError(
            f"{part}: cannot be written ({error.strerror or error}). Check the path, its permissions and the space "
            "on the disk, and run the same command again: what was received is continued."
        ) from None
    if expected not in (None, digest):
        part.unlink()
        raise FaithfuseError(
            f"{entry.url}: what was downloaded has the SHA-256 {digest}, not {expected}; it was removed. "
            "Try again; if it stays so, the file has changed at its source: report it, and trust neither."
        )
    part.replace(target)
    return digest


def _transfer(url: str, part: Path) -> None:
    """Download to `part`, from where an earlier try broke off."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise FaithfuseError(f"{url}: only http and https addresses are fetched. Correct the registry.")
    for attempt in range(1, _TRIES + 1):
        start = part.stat().st_size if part.exists() else 0
        request = urllib.request.Request(url, headers={"Range": f"bytes={start}-"} if start else {})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                # A server that does not know ranges sends the whole file again.
                append = start and answer.status == 206
                with part.open("ab" if append else "wb") as stream:
                    while chunk := answer.read(_CHUNK):
                        stream.write(chunk)
                length = answer.headers.get("Content-Length")
                received = part.stat().st_size - (start if append else 0)
                if length is not None and received < int(length):
                    raise http.client.IncompleteRead(b"", int(length) - received)
            return
        except urllib.error.HTTPError as error:
            if error.code == 416 and start:
                return  # nothing is left to fetch; the digest decides
            raise FaithfuseError(f"{url}: {error.code} {error.reason}. Check the address in the registry.") from None
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            if attempt == _TRIES:
                raise FaithfuseError(
                    f"{url}: {error}. Run the same command again: what was received is kept in {part} and continued."
                ) from None


def _recorded(out: Path) -> dict[str, str]:
    path = out / "fetched.csv"
    if not path.is_file():
        return {}
    return {row["path"]: row["sha256"] for _, row in iter_table(path, delimiter=",", columns=("path", "sha256"))}


def _record(out: Path, digests: dict[str, str]) -> None:
    with atomic_write(out / "fetched.csv") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("path", "sha256"))
        writer.writerows(sorted(digests.items()))

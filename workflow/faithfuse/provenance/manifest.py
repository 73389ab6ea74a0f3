"""The checksum manifest: what `sha256sum` writes and checks.

A manifest binds files to digests, so that a change is seen. It is no signature: whoever can change a file can change
the manifest too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from faithfuse.errors import InputError
from faithfuse.records import atomic_write

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


class Difference(NamedTuple):
    """What a verification found, as sorted paths relative to the manifest's root."""

    changed: list[str]
    missing: list[str]
    extra: list[str]


def sha256_file(path: Path) -> str:
    """SHA-256 of a file, as hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_manifest(files: Iterable[Path], out: Path, root: Path) -> int:
    """Write `digest  path` lines for files, paths relative to `root` and sorted; returns their number.

    Raises:
        InputError: a file is missing, lies outside `root`, or has a line break in its name.
    """
    root = root.resolve()
    lines = {}
    for file in files:
        resolved = file.resolve()
        if not resolved.is_file():
            raise InputError("is missing", path=file, fix="Run the workflow to the end first.")
        if not resolved.is_relative_to(root):
            raise InputError(f"lies outside {root}", path=file, fix="Name files inside the root folder.")
        name = resolved.relative_to(root).as_posix()
        if "\n" in name or "\\" in name:
            raise InputError("has a line break or backslash in its name", path=file, fix="Rename it.")
        lines[name] = sha256_file(resolved)
    with atomic_write(out) as stream:
        for name in sorted(lines):
            stream.write(f"{lines[name]}  {name}\n")
    return len(lines)


def read_manifest(path: Path) -> dict[str, str]:
    """The digests of a manifest by path.

    Raises:
        InputError: the file cannot be read, or a line is not `digest  path`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", path=path, fix="Run the workflow to write it.") from None
    digests = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise InputError(
                "is no line of a manifest (64 hexadecimal digits, two blanks, a path)",
                path=path,
                line=number,
                fix="Write the manifest again with `faithfuse manifest write`.",
            )
        digests[match[2]] = match[1]
    return digests


def verify_manifest(path: Path, root: Path, watched: Iterable[Path] = ()) -> Difference:
    """Compare files with a manifest.

    Args:
        path: the manifest.
        root: the folder its paths are relative to.
        watched: folders in which every file must be listed; others there are `extra`.
    """
    digests = read_manifest(path)
    changed, missing = [], []
    for name, digest in digests.items():
        file = root / name
        if not file.is_file():
            missing.append(name)
        elif sha256_file(file) != digest:
            changed.append(name)
    present = {
        file.resolve().relative_to(root.resolve()).as_posix()
        for folder in watched
        for file in folder.rglob("*")
        if file.is_file()
    }
    return Difference(sorted(changed), sorted(missing), sorted(present - digests.keys()))

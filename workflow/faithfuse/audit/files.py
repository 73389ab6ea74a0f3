"""Reading and writing a user's files, with errors that name the file and what to do."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from faithfuse.errors import InputError
from faithfuse.records import atomic_write

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}


def printable(line: str) -> str:
    """One line of text for a terminal: control characters, which could steer it, are written as escapes."""
    return line.translate(_CONTROLS)


@contextlib.contextmanager
def writing(path: Path, mode: str = "w", *, inputs: Iterable[Path | str] = ()) -> Iterator[Any]:
    """Write a file atomically (`records.atomic_write`).

    Args:
        path: the file.
        mode: `w` or `wb`.
        inputs: the files that are read meanwhile, none of which may be `path`.

    Raises:
        InputError: the file cannot be written, or is one of the inputs.
    """
    for name in inputs:
        if path.exists() and Path(name).exists() and path.samefile(name):
            raise InputError("is read and written at once", path=path, fix="Name another file with --out.")
    try:
        with atomic_write(path, mode) as stream:
            yield stream
    except BrokenPipeError:  # of the standard output, not of this file
        raise
    except OSError as error:
        fix = "Check the folder, the permissions and the free space; an earlier file stands as it was."
        raise InputError(f"cannot be written ({error.strerror})", path=path, fix=fix) from None


def write_table(
    path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]], *, inputs: Iterable[Path | str] = ()
) -> Path:
    """Write rows as CSV, atomically; None becomes an empty cell, floats keep their shortest exact form.

    Raises:
        InputError: as `writing`.
    """
    with writing(path, inputs=inputs) as stream:
        writer = csv.DictWriter(stream, list(columns), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: "" if row.get(name) is None else row[name] for name in columns})
    return path


def read_csv(path: Path, required: Sequence[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line, row) of a CSV file in UTF-8 with a header; the line is the row's last.

    Args:
        path: the file.
        required: columns that must be there.

    Raises:
        InputError: the file cannot be read or holds no row, a column is missing or repeated, or a row has another
            number of cells than the header.
    """
    csv.field_size_limit(2**31 - 1)  # a source may be long
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            header = list(reader.fieldnames or [])
            missing = [name for name in required if name not in header]
            if missing:
                fix = f"Give the columns {', '.join(required)}."
                raise InputError(f"has no column {missing[0]}", path=path, line=1, fix=fix)
            repeated = [name for index, name in enumerate(header) if name in header[:index]]
            if repeated:
                fix = "Keep one of the two columns."
                raise InputError(f"has the column {repeated[0]!r} more than once", path=path, line=1, fix=fix)
            line = 0
            for row in reader:
                line = reader.line_num
                if None in row or None in row.values():
                    fix = "Give each row one cell a column; quote cells with commas."
                    raise InputError("has another number of cells than the header", path=path, line=line, fix=fix)
                yield line, row
    except OSError as error:
        fix = "Check the path and the permissions."
        raise InputError(f"cannot be read ({error.strerror})", path=path, fix=fix) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"is no CSV in UTF-8 ({error})", path=path, fix="Save it as CSV in UTF-8.") from None
    if not line:
        raise InputError("holds no row", path=path, fix="Give at least one row under the header.")


def read_yaml(path: Path, *, fix: str) -> Any:
    """The value of a YAML file in UTF-8.

    Args:
        path: the file.
        fix: what to do when it cannot be read.

    Raises:
        InputError: the file cannot be read or is no YAML.
    """
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path, fix=fix) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: no UTF-8, or a date like 2026-99-99
        raise InputError(f"is no YAML ({error})", path=path, fix=fix) from None

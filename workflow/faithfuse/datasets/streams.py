"""Reading original files record by record: memory stays flat, and every record knows its line.

The sets come as JSON lists, JSON objects, JSON Lines (whatever their name says) and separated values with
newlines inside cells. Each reader yields the line on which a record starts, so that a message can name it.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from faithfuse.errors import InputError

_CHUNK = 1 << 16
_BLANK = " \t\r\n"


def file_digest(path: Path | str) -> str:
    """SHA-256 of a file's bytes, as hexadecimal."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def open_text(path: Path | str, *, newline: str | None = "") -> io.TextIOWrapper:
    """Open a UTF-8 file for reading (a byte-order mark is skipped); one whose name ends in `.gz` is unpacked.

    Raises:
        InputError: the file does not exist or may not be read.
    """
    try:
        if str(path).endswith(".gz"):
            return gzip.open(path, "rt", encoding="utf-8-sig", newline=newline)
        return Path(path).open(encoding="utf-8-sig", newline=newline)
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", path=path, fix="Check the path and the permissions."
        ) from None


UNREADABLE = (UnicodeDecodeError, OSError, EOFError, zlib.error)
"""What reading from an opened file may raise: no UTF-8, a bad disk, a packed file that is damaged or cut off."""


def unreadable(error: Exception, path: Path | str, line: int) -> InputError:
    """The error for one of `UNREADABLE` at a line."""
    if isinstance(error, UnicodeDecodeError):
        found = f"holds bytes that are not UTF-8 ({error.reason})"
        return InputError(found, path=path, line=line, fix="Save the file as UTF-8.")
    return InputError(f"cannot be read on ({error})", path=path, line=line, fix="Get the file again.")


def read_text(path: Path | str) -> str:
    """A whole file as text, line ends as they are.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    with open_text(path) as stream:
        try:
            return stream.read()
        except UNREADABLE as error:
            raise unreadable(error, path, 1) from None


class _JsonText:
    """A window on a JSON text that is read in chunks and counts lines as it moves."""

    def __init__(self, path: Path | str) -> None:
        self.path, self.stream = path, open_text(path)
        self.buffer, self.at, self.line, self.ended = "", 0, 1, False
        self.decoder = json.JSONDecoder()

    def fill(self, size: int = _CHUNK) -> None:
        try:
            chunk = self.stream.read(size)
        except UNREADABLE as error:
            raise unreadable(error, self.path, self.line) from None
        self.ended = not chunk
        self.buffer = self.buffer[self.at :] + chunk
        self.at = 0

    def advance(self, to: int) -> None:
        self.line += self.buffer.count("\n", self.at, to)
        self.at = to

    def peek(self) -> str:
        """The next character that is not blank, '' at the end of the file."""
        while True:
            while self.at < len(self.buffer) and self.buffer[self.at] in _BLANK:
                self.advance(self.at + 1)
            if self.at < len(self.buffer) or self.ended:
                return self.buffer[self.at : self.at + 1]
            self.fill()

    def take(self, expected: str) -> str:
        """Consume the next character, which must be one of `expected`."""
        character = self.peek()
        if not character or character not in expected:
            self.fail(f"found {character or 'the end of the file'!r} instead of one of {' '.join(expected)}")
        self.advance(self.at + 1)
        return character

    def value(self) -> Any:
        """Consume one JSON value."""
        self.peek()
        size = _CHUNK
        while True:
            try:
                value, end = self.decoder.raw_decode(self.buffer, self.at)
            except json.JSONDecodeError as error:
                # A value that is merely cut off fails at the window's end, or at the start of its last string.
                cut = error.pos >= len(self.buffer) - 16 or error.msg.startswith("Unterminated")
                if self.ended or not cut:
                    self.line += self.buffer.count("\n", self.at, min(error.pos, len(self.buffer)))
                    self.fail(error.msg)
            else:
                # A number could go on in the next chunk; everything else has its own end.
                if end < len(self.buffer) or self.ended:
                    self.advance(end)
                    return value
            self.fill(size)
            size *= 2

    def fail(self, found: str) -> None:
        raise InputError(
            f"is not valid JSON ({found})",
            path=self.path,
            line=self.line,
            fix="Get the original file again, or mend this line.",
        )


def iter_json_array(path: Path | str) -> Iterator[tuple[int, Any]]:
    """Yield (one-based line, value) of the elements of a JSON list, one at a time.

    Raises:
        InputError: the file is missing, is not UTF-8, or is not one JSON list.
    """
    text = _JsonText(path)
    with text.stream:
        text.take("[")
        if text.peek() == "]":
            text.take("]")
        else:
            while True:
                text.peek()
                line = text.line
                yield line, text.value()
                if text.take(",]") == "]":
                    break
        if text.peek():
            text.fail(f"found {text.peek()!r} after the end of the list")


def iter_json_object(path: Path | str) -> Iterator[tuple[int, str, Any]]:
    """Yield (one-based line, key, value) of the members of a JSON object, one at a time.

    Raises:
        InputError: the file is missing, is not UTF-8, is not one JSON object, or repeats a key.
    """
    text = _JsonText(path)
    seen: dict[str, int] = {}
    with text.stream:
        text.take("{")
        if text.peek() == "}":
            text.take("}")
        else:
            while True:
                text.peek()
                line = text.line
                key = text.value()
                if not isinstance(key, str):
                    text.fail(f"found {key!r} where a key was expected")
                text.take(":")
                if key in seen:
                    text.fail(f"the key {key!r} of line {seen[key]} occurs again")
                seen[key] = line
                yield line, key, text.value()
                if text.take(",}") == "}":
                    break
        if text.peek():
            text.fail(f"found {text.peek()!r} after the end of the object")


def first_character(path: Path | str) -> str:
    """The first character of a file that is not blank ('' for an empty file); it tells `[` from `{`."""
    text = _JsonText(path)
    with text.stream:
        return text.peek()


def iter_json_records(path: Path | str) -> Iterator[tuple[int, Any]]:
    """Yield (one-based line, value) of a JSON list, of JSON Lines, or of values that span lines.

    Names do not tell which: several sets have JSON Lines in a file called `.json`, and others one record over
    many lines.

    Raises:
        InputError: the file is missing, empty, is not UTF-8, or is none of these.
    """
    first = first_character(path)
    if not first:
        raise InputError("is empty", path=path, fix="Get the original file again.")
    if first == "[":
        yield from iter_json_array(path)
        return
    text = _JsonText(path)
    with text.stream:
        while text.peek():
            line = text.line
            yield line, text.value()


def iter_table(
    path: Path | str, *, delimiter: str, columns: Sequence[str], quoted: bool = True
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (one-based line on which the row starts, row) of a separated-values file with a header.

    Args:
        path: the file.
        delimiter: what separates its cells.
        columns: columns that must be there; others are passed through.
        quoted: whether `"` quotes a cell (newlines are then allowed inside) or is an ordinary character.

    Raises:
        InputError: the file is missing, is not UTF-8, lacks a column, or a row has more or fewer cells than
            the header.
    """
    # Longer than any cell of these sets; the csv module's own limit (128 KiB) is meant for untrusted input.
    csv.field_size_limit(1 << 30)
    quoting = {} if quoted else {"quoting": csv.QUOTE_NONE, "quotechar": None}
    with open_text(path) as stream:
        reader = csv.reader(stream, delimiter=delimiter, strict=quoted, **quoting)
        line = 1
        header: list[str] | None = None
        while True:
            try:
                cells = next(reader, None)
            except csv.Error as error:
                found = f"is not a table separated by {delimiter!r} ({error})"
                raise InputError(found, path=path, line=line, fix="Get the original file again.") from None
            except UNREADABLE as error:
                raise unreadable(error, path, line) from None
            if cells is None:
                break
            start, line = line, reader.line_num + 1
            if not cells:
                continue
            if header is None:
                header = cells
                _check_header(path, header, columns)
                continue
            if len(cells) != len(header):
                raise InputError(
                    f"has {len(cells)} cells under {len(header)} columns",
                    path=path,
                    line=start,
                    fix="Mend the row (a separator is missing or too many), or remove it.",
                )
            yield start, dict(zip(header, cells, strict=True))
        if header is None:
            raise InputError("is empty", path=path, fix="Get the original file again.")


def _check_header(path: Path | str, header: Sequence[str], columns: Iterable[str]) -> None:
    missing = [name for name in columns if name not in header]
    if missing:
        raise InputError(
            f"has no column {', '.join(missing)} (columns: {', '.join(header)})",
            path=path,
            line=1,
            fix="Check that this is the original file, with its header.",
        )

"""Read records from files of any size in constant memory: JSON Lines, JSON, gzip of both, standard input."""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Literal

from faithfuse.errors import InputError

Format = Literal["auto", "lines", "json"]
BLANK = b" \t\r\n"
CHUNK = 1 << 20
_OUTSIDE = re.compile(rb'[\[\]{}",]')
_INSIDE = re.compile(rb'["\\]')


def _whole_value(levels: int) -> re.Pattern[bytes]:
    """An object or array with at most so many levels, brackets balanced; possessive, so that it never goes back."""
    value = rb"(?!)"
    for _ in range(levels):
        value = rb'[{\[](?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"|' + value + rb")*+[}\]]"
    return re.compile(rb"[ \t\r\n]*+" + value, re.DOTALL)


_WHOLE = _whole_value(8)
"""A record has seven levels; what is deeper, or ends in another chunk, is read symbol by symbol."""


class _Counted(io.RawIOBase):
    """A stream that tells how many bytes were taken from it."""

    def __init__(self, stream: BinaryIO, tell: Callable[[int], None]) -> None:
        self._stream, self._tell = stream, tell

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read1(len(buffer)) if hasattr(self._stream, "read1") else self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._tell(len(data))
        return len(data)


def size(path: str) -> int | None:
    """The size of a file in bytes; null for standard input and pipes."""
    if path == "-":
        return None
    found = Path(path)
    return found.stat().st_size if found.is_file() else None


def read_values(
    path: str, kind: Format = "auto", tell: Callable[[int], None] = lambda _: None
) -> Iterator[tuple[int, bytes]]:
    """Yield (position, bytes of one JSON value) of a file, `-` for standard input.

    In JSON Lines the position is the one-based line; blank lines are passed over. In a JSON document it is the
    one-based count of the value: one value, an array of values (which need not fit into memory), or one value after
    another. `auto` takes files named `.jsonl` or `.ndjson` (with `.gz` or not) and input whose first line is a whole
    object as JSON Lines.

    Args:
        path: the file.
        kind: the format.
        tell: called with the number of bytes taken from the file, for progress.

    Raises:
        InputError: the file cannot be read, or its gzip data is broken.
    """
    if path == "-" and sys.stdin is None:
        raise InputError("is closed", path="standard input", fix="Pipe records into the command, or name a file.")
    raw = None
    try:
        raw = sys.stdin.buffer if path == "-" else open(path, "rb")  # noqa: SIM115
        counted = io.BufferedReader(_Counted(raw, tell), CHUNK)
        packed = counted.peek(2)[:2] == b"\x1f\x8b"
        stream = io.BufferedReader(gzip.GzipFile(fileobj=counted), CHUNK) if packed else counted  # type: ignore[arg-type]
        yield from _values(stream, path, kind)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"has broken gzip data ({error})", path=path, fix="Copy or compress the file again.") from None
    except OSError as error:
        fix = "Check the path and the permissions."
        raise InputError(f"cannot be read ({error.strerror})", path=path, fix=fix) from None
    finally:
        if raw is not None and path != "-":
            raw.close()


def _values(stream: io.BufferedReader, path: str, kind: Format) -> Iterator[tuple[int, bytes]]:
    # A document may be one line of any length, so no more than needed is read ahead.
    number, first = 1, stream.readline(CHUNK).removeprefix(b"\xef\xbb\xbf")
    while first and not first.strip(BLANK):
        number += first.endswith(b"\n")
        first = stream.readline(CHUNK)
    if not first:
        return
    if kind == "auto" and re.search(r"\.(jsonl|ndjson)(\.gz)?$", path, re.IGNORECASE):
        kind = "lines"
    if kind == "auto":
        kind, first = _guess(stream, first)
    if kind == "json":
        yield from enumerate(_split(stream, first, path), start=1)
        return
    if not first.endswith(b"\n"):
        first += stream.readline()
    yield number, first
    for line in stream:
        number += 1
        if not line.isspace():
            yield number, line


def _guess(stream: io.BufferedReader, first: bytes) -> tuple[Format, bytes]:
    """JSON Lines if the first line is a whole object and nothing more; returns also what was read of the input."""
    while first.lstrip(BLANK).startswith(b"{"):
        line = first.strip(BLANK)
        values = list(_split(io.BufferedReader(io.BytesIO()), line))
        if len(values) > 1:
            break
        # Twice as much each time, so that a long record is not looked through often.
        more = b"" if first.endswith(b"\n") else stream.readline(len(first))
        if not more:
            return ("lines" if line.endswith(b"}") else "json"), first
        first += more
    return "json", first


def _split(stream: io.BufferedReader, first: bytes, path: str = "-") -> Iterator[bytes]:
    """The values of a JSON document, or the elements of the array that it is.

    Only brackets, quotes and commas are looked at: a broken value is handed on as it stands, for the checker to reject.

    Raises:
        InputError: the array has no end.
    """
    depth = 0
    base: int | None = None  # the depth at which values stand: 1 in an array, else 0
    in_string = escaped = after_comma = False
    parts: list[bytes] = []  # of the value that is being read
    chunk = first
    while chunk:
        begin = at = 0
        if base is None and chunk.strip(BLANK):
            begin = at = len(chunk) - len(chunk.lstrip(BLANK))
            base = 0
            if chunk[at : at + 1] == b"[":
                base = depth = 1
                begin = at = at + 1
        if escaped:
            at, escaped = at + 1, False
        while True:
            if begin == at and depth == base and not (parts or in_string) and (match := _WHOLE.match(chunk, at)):
                at = match.end()
                if base == 0:
                    yield match.group().strip(BLANK)
                    begin, after_comma = at, False
                    continue
            match = (_INSIDE if in_string else _OUTSIDE).search(chunk, at)
            if match is None:
                break
            symbol, at = match.group(), match.end()
            ends = False
            if in_string:
                in_string = symbol != b'"'
                if symbol == b"\\":
                    escaped = at == len(chunk)
                    at += 1
            elif symbol == b'"':
                in_string = True
            elif symbol in b"[{":
                depth += 1
            elif symbol == b",":
                ends = depth == base == 1
            else:
                depth -= 1
                ends = depth <= 0
            if not ends:
                continue
            closes_array = base == 1 and symbol != b","
            whole = base == 0  # the bracket belongs to the value
            value = b"".join([*parts, chunk[begin : at if whole else at - 1]]).strip(BLANK)
            parts, begin, depth = [], at, base if not closes_array else 0
            if value or not closes_array or after_comma:
                yield value
            after_comma = symbol == b"," and not closes_array
            if closes_array:
                base = 0
        parts.append(chunk[begin:])
        chunk = stream.read1(CHUNK)
    rest = b"".join(parts).strip(BLANK)
    if rest:
        yield rest
    if base == 1:
        raise InputError("has an array without an end", path=path, fix="Copy the file again; it was cut short.")

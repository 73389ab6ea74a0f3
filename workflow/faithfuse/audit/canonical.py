"""Strict JSON in, canonical JSON (RFC 8785) out.

Reading is stricter than `json.loads`: it keeps what I-JSON (RFC 7493) forbids visible, with its place, instead of
repairing it (duplicate keys, lone surrogates, numbers that a double cannot hold). All steps are linear in the
length of the text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from json.encoder import encode_basestring as _quote
from typing import Any

MAX_INTEGER = 2**53 - 1
"""The largest integer that every JSON reader holds exactly (RFC 7493, section 2.2)."""

MAX_DEPTH = 32
"""Deeper nesting than this is refused; a record needs seven levels."""

MAX_LITERAL = 400
"""Longest number literal that is looked at."""


class BadNumber:
    """A number that JSON readers do not agree on; `literal` is what stood there, shortened."""

    def __init__(self, literal: str) -> None:
        self.literal = literal if len(literal) <= 40 else literal[:37] + "..."


class RepeatedKeys(dict):
    """An object in which keys were repeated (the last value wins); `repeated` names them."""

    repeated: list[str]


class JsonError(ValueError):
    """The text is no JSON value at all; `code` is `json.encoding`, `json.syntax` or `json.depth`."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


def _integer(literal: str) -> int | float | BadNumber:
    if len(literal) > MAX_LITERAL:
        return BadNumber(literal)
    value = int(literal)
    if -MAX_INTEGER <= value <= MAX_INTEGER:
        return value
    # Beyond that an integer is a double only if it is written just as that double is, as 9007199254740992.
    if len(literal) <= 22 and number(float(value)) == literal:
        return float(value)
    return BadNumber(literal)


def _float(literal: str) -> int | float | BadNumber:
    if len(literal) > MAX_LITERAL:
        return BadNumber(literal)
    value = float(literal)
    if not math.isfinite(value):
        return BadNumber(literal)
    if value.is_integer() and abs(value) <= MAX_INTEGER:
        return int(value)  # 1.0 and 1 are one number in JSON and in RFC 8785
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    repeated = {key: None for key, _ in pairs if key in seen or seen.add(key)}
    marked = RepeatedKeys(value)
    marked.repeated = list(repeated)
    return marked


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_float, parse_constant=BadNumber, object_pairs_hook=_object)


def parse(raw: bytes) -> Any:
    """Read one JSON text of UTF-8 bytes.

    Whole floats within ±(2^53 − 1) become integers. Numbers outside what a double holds become `BadNumber`, objects
    with repeated keys `RepeatedKeys`; lone surrogates stay in the strings. `irregularities` finds all three.

    Raises:
        JsonError: the bytes are not UTF-8, not JSON, or nested too deeply for the reader.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonError("json.encoding", f"byte {error.start + 1} is not UTF-8") from None
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise JsonError("json.syntax", f"{error.msg} at {place}") from None
    except RecursionError:
        raise JsonError("json.depth", f"nested more than {MAX_DEPTH} levels deep") from None


def pointer(parts: tuple[str | int, ...]) -> str:
    """The JSON pointer (RFC 6901) of a path; the empty path is the empty pointer. Lone surrogates are escaped."""
    text = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def has_surrogate(text: str) -> bool:
    """Whether a string holds a lone surrogate, so that it has no UTF-8 form."""
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def irregularities(value: Any) -> Iterator[tuple[str, tuple[str | int, ...], str]]:
    """Yield (code, path, what was found) for everything in a parsed value that I-JSON forbids, in document order."""
    stack: list[tuple[Any, tuple[str | int, ...]]] = [(value, ())] if _needs_a_look(value) else []
    while stack:
        item, path = stack.pop()
        kind = type(item)
        if kind is str:
            yield "json.surrogate", path, "a lone surrogate"
        elif kind is BadNumber or kind is float:
            yield "json.number", path, item.literal if kind is BadNumber else repr(item)
        elif len(path) >= MAX_DEPTH:
            yield "json.depth", path, f"more than {MAX_DEPTH} levels"
        else:
            if kind is RepeatedKeys:
                for key in item.repeated:
                    yield "json.duplicate_key", (*path, key), f"the key {key!r:.60} more than once"
            pairs = enumerate(item) if kind is list else item.items()
            # Only what needs another look goes on the stack, so that long lists of plain values cost little.
            found = []
            for key, child in pairs:
                if type(key) is str and has_surrogate(key):
                    yield "json.surrogate", path, "a key with a lone surrogate"
                if _needs_a_look(child):
                    found.append((child, (*path, key)))
            stack.extend(reversed(found))


def _needs_a_look(value: Any) -> bool:
    kind = type(value)
    if kind is str:
        return has_surrogate(value)
    if kind is float:
        return not math.isfinite(value)
    return kind in _COMPOUND


_COMPOUND = frozenset({dict, list, BadNumber, RepeatedKeys})


def number(value: int | float) -> str:
    """A number as ECMAScript prints it, which is what RFC 8785 (section 3.2.2.3) asks for.

    Raises:
        ValueError: not finite, or an integer outside ±(2^53 − 1).
    """
    if isinstance(value, int):
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise ValueError(f"{value} has no exact double")
        return str(value)
    if not math.isfinite(value):
        raise ValueError(f"{value} is no JSON number")
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(value).partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    # value = 0.digits × 10^point
    point = len(whole) - leading + int(exponent or 0)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return sign + digits[0] + ("." + digits[1:] if count > 1 else "") + power


def _write(value: Any, out: list[str]) -> None:
    if isinstance(value, str):
        out.append(_quote(value))
    elif value is None:
        out.append("null")
    elif value is True:
        out.append("true")
    elif value is False:
        out.append("false")
    elif isinstance(value, (int, float)):
        out.append(number(value))
    elif isinstance(value, dict):
        keys = sorted(value) if all(map(str.isascii, value)) else sorted(value, key=_utf16)
        separator = "{"
        for key in keys:
            out.append(separator + _quote(key) + ":")
            _write(value[key], out)
            separator = ","
        out.append("}" if value else "{}")
    elif isinstance(value, (list, tuple)):
        separator = "["
        for item in value:
            out.append(separator)
            _write(item, out)
            separator = ","
        out.append("]" if value else "[]")
    else:
        raise ValueError(f"{type(value).__name__} is no JSON value")


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def canonical_json(value: Any) -> bytes:
    """The canonical bytes of a JSON value (RFC 8785): sorted keys, no blanks, shortest numbers, UTF-8.

    Raises:
        ValueError: the value is not I-JSON (lone surrogate, NaN, too large an integer, no JSON type, too deep).
    """
    try:
        text = _QUICK.encode(value)
        if not _is_quick(value):
            out: list[str] = []
            _write(value, out)
            text = "".join(out)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except TypeError:
        raise ValueError("holds something that is no JSON value") from None
    return text.encode("utf-8")


_QUICK = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
_QUICK_LEAVES = frozenset({str, bool, type(None)})


def _is_quick(value: Any) -> bool:
    """Whether the standard encoder writes a value canonically.

    It does but for whole floats, exponents, integers without an exact double, and keys, whose order may differ between
    code points and UTF-16 units when they are not ASCII.
    """
    stack = [(value,)]
    while stack:
        for item in stack.pop():
            kind = type(item)
            if kind in _QUICK_LEAVES:
                continue
            if kind is dict:
                if not all(map(str.isascii, item)):
                    return False
                stack.append(item.values())
            elif kind is list:
                stack.append(item)
            elif kind is int:
                if not -MAX_INTEGER <= item <= MAX_INTEGER:
                    return False
            elif kind is not float or not 1e-4 <= abs(item) < 1e15 or item.is_integer():
                return False
    return True

"""The structural half of the diagnosis: every field that is missing, unknown, of another type or out of range.

The contract's structures are compiled once into `Shape` nodes, and a walk compares a value with them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from msgspec import inspect

from faithfuse.audit.canonical import pointer
from faithfuse.audit.record import DIGEST_PATTERN, TIME_PATTERN, Record
from faithfuse.audit.result import Defect

Path = tuple[str | int, ...]

_is_digest = re.compile(DIGEST_PATTERN).fullmatch  # fullmatch: `$` alone would let a line end pass
_looks_like_time = re.compile(TIME_PATTERN).fullmatch


def is_digest(text: str) -> bool:
    """Whether a string is 64 lower-case hexadecimal digits."""
    return _is_digest(text) is not None


def is_time(text: str) -> bool:
    """Whether a string is a UTC time to the second that the calendar has."""
    return len(text) == 20 and _is_time(text)


@lru_cache(maxsize=4096)
def _is_time(text: str) -> bool:
    if _looks_like_time(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


@dataclass
class Shape:
    """What may stand at one place: any of the alternatives that are set."""

    null: bool = False
    literals: list[Any] = field(default_factory=list)
    fields: dict[str, Shape] | None = None
    values: Shape | None = None
    items: Shape | None = None
    text: bool = False
    min_length: int = 0
    pattern: str | None = None
    boolean: bool = False
    integer: bool = False
    floating: bool = False
    low: float | None = None
    high: float | None = None

    def wanted(self) -> str:
        """The alternatives in words."""
        if len(self.literals) == 1 and not self.null:
            return shown(self.literals[0])
        if self.literals:
            return "one of " + ", ".join(shown(value) for value in self.literals) + (", null" if self.null else "")
        words = {
            "an object": self.fields is not None or self.values is not None,
            "a list": self.items is not None,
            "text": self.text,
            "a number": self.floating,
            "an integer": self.integer and not self.floating,
            "true or false": self.boolean,
            "null": self.null,
        }
        return " or ".join(word for word, is_set in words.items() if is_set)


def compile_shape(spec: Any) -> Shape:
    """The shape of a type as `msgspec.inspect` describes it."""
    shape = Shape()
    _compile(spec, shape)
    return shape


def _compile(spec: Any, shape: Shape) -> None:
    match spec:
        case inspect.Metadata():
            shape.pattern = (spec.extra_json_schema or {}).get("pattern", shape.pattern)
            _compile(spec.type, shape)
        case inspect.UnionType():
            for part in spec.types:
                _compile(part, shape)
        case inspect.NoneType():
            shape.null = True
        case inspect.LiteralType():
            shape.literals = [value for value in spec.values if value is not None]
            shape.null = shape.null or None in spec.values
        case inspect.StructType():
            shape.fields = {part.name: compile_shape(part.type) for part in spec.fields}
        case inspect.DictType():
            shape.values = compile_shape(spec.value_type)
        case inspect.ListType():
            shape.items = compile_shape(spec.item_type)
        case inspect.StrType():
            shape.text, shape.min_length = True, spec.min_length or 0
        case inspect.BoolType():
            shape.boolean = True
        case inspect.IntType() | inspect.FloatType():
            shape.integer = shape.integer or isinstance(spec, inspect.IntType)
            shape.floating = shape.floating or isinstance(spec, inspect.FloatType)
            shape.low, shape.high = spec.ge, spec.le
        case _:
            raise TypeError(f"the contract uses {type(spec).__name__}, which the checker does not know")


RECORD = compile_shape(inspect.type_info(Record))


def shown(value: Any) -> str:
    """A value for a message, shortened."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = repr(value[:61] if isinstance(value, str) else value)  # a text may be of any length
    return text if len(text) <= 60 else text[:57] + "..."


def _code(path: Path, kind: str) -> str:
    """The reason code for a wrong `type` or `value` at a path: judgements, dimensions and weights have their own."""
    if len(path) == 3 and path[:2] == ("annotation", "judgements"):
        return f"predicate.{kind}"
    if len(path) == 2 and path[0] == "dimensions":
        return "dimension.value"
    if len(path) == 2 and path[0] == "weights":
        return "weight.value"
    return f"field.{kind}"


class Walk:
    """One walk over a value; collects defects and remembers where they are."""

    def __init__(self) -> None:
        self.defects: list[Defect] = []
        self._bad: set[Path] = set()

    def report(self, code: str, path: Path, found: str) -> None:
        """Note a defect, and that what stands there cannot be used."""
        self.defects.append(Defect(code, pointer(path), found))
        self._bad.add(path)

    def add(self, code: str, path: Path, found: str) -> None:
        """Note a defect between fields that can be used each for itself."""
        self.defects.append(Defect(code, pointer(path), found))

    def clean(self, *path: str | int) -> bool:
        """Whether nothing was wrong at a path or on the way to it."""
        if self._bad:
            for length in range(len(path) + 1):
                if path[:length] in self._bad:
                    return False
        return True

    def visit(self, shape: Shape, value: Any, path: Path) -> None:
        """Compare a value with a shape."""
        if path in self._bad:  # the text itself is at fault here; said already
            return
        if value is None:
            fits = shape.null
        elif shape.literals:
            self._literal(shape, value, path)
            return
        elif isinstance(value, dict):
            fits = shape.fields is not None or shape.values is not None
            if shape.fields is not None:
                self._object(shape.fields, value, path)
            elif shape.values is not None:
                for key, item in value.items():
                    self.visit(shape.values, item, (*path, key))
        elif isinstance(value, list):
            fits = shape.items is not None
            if shape.items is not None:
                for index, item in enumerate(value):
                    self.visit(shape.items, item, (*path, index))
        elif isinstance(value, str):
            fits = shape.text
            if fits:
                self._text(shape, value, path)
        elif isinstance(value, bool):
            fits = shape.boolean
        elif isinstance(value, (int, float)):
            fits = shape.floating or (shape.integer and isinstance(value, int))
            if fits and not (shape.low is None or value >= shape.low) & (shape.high is None or value <= shape.high):
                limit = f"below {shape.low}" if shape.low is not None and value < shape.low else f"above {shape.high}"
                self.report(_code(path, "value"), path, f"{shown(value)} is {limit}")
        else:
            fits = False
        if not fits:
            self.report(_code(path, "type"), path, f"{shown(value)} stands where {shape.wanted()} is wanted")

    def _object(self, fields: dict[str, Shape], value: dict, path: Path) -> None:
        for name, shape in fields.items():
            if name in value:
                self.visit(shape, value[name], (*path, name))
            else:
                self.report("field.missing", (*path, name), "the field is missing")
        for key in value:
            if key not in fields:
                self.report("field.unknown", (*path, key), f"the contract has no field {shown(key)} here")

    def _literal(self, shape: Shape, value: Any, path: Path) -> None:
        kinds = {type(item) for item in shape.literals}
        if type(value) not in kinds and not (int in kinds and type(value) is float):
            self.report(_code(path, "type"), path, f"{shown(value)} stands where {shape.wanted()} is wanted")
        elif value not in shape.literals:
            self.report(_code(path, "value"), path, f"{shown(value)} stands where {shape.wanted()} is wanted")

    def _text(self, shape: Shape, value: str, path: Path) -> None:
        if len(value) < shape.min_length:
            self.report(_code(path, "value"), path, "the text is empty")
        elif shape.pattern == TIME_PATTERN and not is_time(value):
            self.report(_code(path, "value"), path, f"{shown(value)} is not a UTC time like 2026-01-31T09:00:00Z")
        elif shape.pattern == DIGEST_PATTERN and not is_digest(value):
            self.report(_code(path, "value"), path, f"{shown(value)} is not 64 lower-case hexadecimal digits")

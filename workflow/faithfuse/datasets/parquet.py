"""JSON Lines of one kind of record as Parquet, with a schema taken from the record's fields."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from faithfuse.records import Record, atomic_write, iter_json_lines

# A flag is an integer to Python, so it comes first.
_SCALARS = {bool: pa.bool_(), str: pa.string(), int: pa.int64(), float: pa.float64()}
_ROWS = 500


def arrow_type(annotation: Any) -> pa.DataType:
    """The Arrow type of a field: texts, numbers, lists, nested records; all of them may be null.

    Raises:
        TypeError: the field has a type that Parquet has no column for.
    """
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        (inner,) = [argument for argument in arguments if argument is not type(None)]
        return arrow_type(inner)
    if origin is list:
        return pa.list_(arrow_type(arguments[0]))
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return pa.struct([pa.field(*pair) for pair in _fields(annotation)])
    if isinstance(annotation, type):
        for scalar, arrow in _SCALARS.items():
            if issubclass(annotation, scalar):
                return arrow
    if origin is typing.Literal:
        return pa.string()
    raise TypeError(f"no Parquet column for {annotation}")


def _fields(kind: type[Record]) -> Iterator[tuple[str, pa.DataType]]:
    hints = typing.get_type_hints(kind)
    return ((name, arrow_type(hints[name])) for name in kind.model_fields)


def arrow_schema(kind: type[Record]) -> pa.Schema:
    """The columns of a kind of record, in the order of its fields."""
    return pa.schema([pa.field(*pair) for pair in _fields(kind)])


def write_parquet(kind: type[Record], lines: Path, path: Path) -> None:
    """Write the records of a JSON Lines file as Parquet, a few hundred rows in memory at a time, atomically."""
    schema = arrow_schema(kind)
    with atomic_write(path, "wb") as stream, pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        rows: list[dict[str, Any]] = []
        for _, row in iter_json_lines(lines):
            rows.append(row)
            if len(rows) == _ROWS:
                writer.write_table(pa.Table.from_pylist(rows, schema=schema))
                rows = []
        if rows:
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))

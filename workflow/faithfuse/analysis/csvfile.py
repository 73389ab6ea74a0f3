"""CSV files in the one form that every table of this package has."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from faithfuse.records import atomic_write

_DIGITS = 10


def cell(value: object) -> str:
    """A value as it stands in a CSV: None and NaN are empty, booleans `true`/`false`, floats shortest.

    Statistics are rounded to ten significant digits first: the last bits of a matrix product depend on the
    processor, and the same analysis should give the same bytes on another one.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        return repr(float(f"{value:.{_DIGITS}g}") + 0.0)
    return str(value)


def write_csv(path: Path | str, columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows with a header, atomically; a column that a row lacks is empty."""
    with atomic_write(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([cell(row.get(name)) for name in columns] for row in rows)

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


def starts_formula(text: str) -> bool:
    """Whether a spreadsheet may take a cell for a formula, by what it begins with (OWASP)."""
    return text.lstrip(" ")[:1] in tuple("=+-@\t\r\n")


def safe_in_spreadsheets(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe goes before what would start one.

    Numbers stay as they are, with their sign.
    """
    if not starts_formula(text):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def write_csv(
    path: Path | str, columns: Sequence[str], rows: Iterable[Mapping[str, object]], *, for_people: bool = False
) -> None:
    """Write rows with a header, atomically; a column that a row lacks is empty.

    Args:
        path: the file.
        columns: the header, and the order of the cells.
        rows: the rows.
        for_people: the table is for spreadsheets and no stage joins by its texts: formulas are made harmless.
    """
    harmless = safe_in_spreadsheets if for_people else str
    with atomic_write(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([harmless(cell(row.get(name))) for name in columns] for row in rows)

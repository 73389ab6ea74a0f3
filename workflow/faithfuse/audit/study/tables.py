"""Reading the tables of a study, and resampling by cluster."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from faithfuse.errors import InputError
from faithfuse.records import atomic_write

PREDICATES = ("I", "A", "M", "D")
LABELS = ("1", "0", "U")
Row = dict[str, str]


def read_table(path: Path, required: Sequence[str], *, key: Sequence[str] = ()) -> list[Row]:
    """The rows of a CSV file.

    Args:
        path: the file, UTF-8, with a header.
        required: columns that must be there.
        key: columns that must not be empty and whose values together must be unique.

    Raises:
        InputError: the file cannot be read, a column is missing, or a key is empty or repeated.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            rows = [(reader.line_num, row) for row in reader]
            header = reader.fieldnames or []
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path, fix="Check the path.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"is no CSV in UTF-8 ({error})", path=path, fix="Save it as CSV in UTF-8.") from None
    missing = [name for name in required if name not in header]
    if missing:
        fix = f"Give the columns {', '.join(required)}."
        raise InputError(f"has no column {missing[0]}", path=path, line=1, fix=fix)
    seen: dict[tuple[str, ...], int] = {}
    for line, row in rows:
        if None in row or None in row.values():
            fix = "Give each row one cell a column."
            raise InputError("has another number of cells than the header", path=path, line=line, fix=fix)
        values = tuple(row[name] for name in key)
        if key and ("" in values or values in seen):
            found = "has an empty key" if "" in values else f"repeats line {seen[values]}"
            fix = f"{', '.join(key)} together name each row once."
            raise InputError(found, path=path, line=line, record=" ".join(values), fix=fix)
        seen[values] = line
    return [row for _, row in rows]


def check_labels(rows: Iterable[Row], columns: Sequence[str], path: Path, allowed: Sequence[str]) -> None:
    """Refuse cells that are no label.

    Raises:
        InputError: naming the first one.
    """
    for number, row in enumerate(rows, start=2):
        for name in columns:
            if row[name] not in allowed:
                shown = ", ".join(label or "an empty cell" for label in allowed)
                raise InputError(f"has {row[name]!r} for {name}", path=path, line=number, fix=f"Write {shown}.")


def write_table(path: Path, columns: Sequence[str], rows: Iterable[dict[str, object]]) -> None:
    """Write rows as CSV, atomically; None becomes an empty cell, floats keep their shortest exact form."""
    with atomic_write(path) as stream:
        writer = csv.DictWriter(stream, list(columns), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: "" if row.get(name) is None else row[name] for name in columns})


def cluster_interval(
    clusters: Sequence[str],
    statistic: Callable[[np.ndarray], float],
    *,
    resamples: int,
    seed: int,
    level: float = 0.95,
) -> tuple[float | None, float | None, str | None]:
    """Percentile bootstrap interval that resamples whole clusters.

    Args:
        clusters: the cluster of each row.
        statistic: from row weights (how often each row was drawn) to the value; NaN where it is undefined.
        resamples: how many samples to draw.
        seed: of the random generator.
        level: coverage.

    Returns:
        (low, high, reason): the bounds, or null with the reason.
    """
    names, codes = np.unique(np.asarray(clusters), return_inverse=True)
    if len(names) < 2:
        return None, None, "fewer than two clusters"
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=resamples)
    values = np.array([statistic(draw[codes]) for draw in draws])
    values = values[~np.isnan(values)]
    if len(values) < resamples / 2:
        return None, None, "undefined in most resamples"
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high), None

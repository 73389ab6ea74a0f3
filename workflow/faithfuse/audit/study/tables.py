"""Reading the tables of a study, and resampling by cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from faithfuse.audit.files import read_csv
from faithfuse.errors import InputError

PREDICATES = ("I", "A", "M", "D")
LABELS = ("1", "0", "U")
Row = dict[str, str]


def read_table(path: Path, required: Sequence[str], *, key: Sequence[str] = ()) -> list[tuple[int, Row]]:
    """The rows of a CSV file, each with its line.

    Args:
        path: the file, UTF-8, with a header.
        required: columns that must be there.
        key: columns that must not be empty and whose values together must be unique.

    Raises:
        InputError: as `read_csv`, or a key is empty or repeated.
    """
    rows = list(read_csv(path, required))
    seen: dict[tuple[str, ...], int] = {}
    for line, row in rows:
        values = tuple(row[name] for name in key)
        if key and ("" in values or values in seen):
            found = "has an empty key" if "" in values else f"repeats line {seen[values]}"
            fix = f"{', '.join(key)} together name each row once."
            raise InputError(found, path=path, line=line, record=" ".join(values), fix=fix)
        seen[values] = line
    return rows


def check_labels(rows: Iterable[tuple[int, Row]], columns: Sequence[str], path: Path, allowed: Sequence[str]) -> None:
    """Refuse cells that are no label.

    Raises:
        InputError: naming the first one.
    """
    for line, row in rows:
        for name in columns:
            if row[name] not in allowed:
                shown = ", ".join(label or "an empty cell" for label in allowed)
                raise InputError(f"has {row[name]!r} for {name}", path=path, line=line, fix=f"Write {shown}.")


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

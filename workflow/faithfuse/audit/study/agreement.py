"""Agreement of independent annotators on the original labels (arXiv 2609.29145, section V-A).

Krippendorff's alpha for nominal labels, from the `krippendorff` library, once with U as a value of its own (do people
agree on what is unresolved?) and once with U as missing (do they agree where both resolve?).
"""

from __future__ import annotations

import warnings
from pathlib import Path

import krippendorff
import numpy as np

from faithfuse.audit.study.tables import LABELS, PREDICATES, check_labels, cluster_interval, read_table
from faithfuse.errors import InputError

COLUMNS = ("predicate", "unresolved_as", "tuples", "annotators", "pairable", "alpha", "low", "high", "reason")


def read_labels(path: Path) -> list[dict[str, str]]:
    """Labels: `tuple_id, annotator, I, A, M, D` with 1, 0, U; an empty cell was not labelled.

    Raises:
        InputError: a column is missing, a cell is no label, a person labelled a tuple twice, or there is one person.
    """
    table = read_table(path, ("tuple_id", "annotator", *PREDICATES), key=("tuple_id", "annotator"))
    check_labels(table, PREDICATES, path, (*LABELS, ""))
    rows = [row for _, row in table]
    if len({row["annotator"] for row in rows}) < 2:
        fix = "Give the labels of at least two independent annotators."
        raise InputError("holds the labels of fewer than two annotators", path=path, fix=fix)
    return rows


def value_counts(rows: list[dict[str, str]], predicate: str, values: tuple[str, ...]) -> np.ndarray:
    """How often each value was given to each tuple: shape (tuples, values), tuples in order of their ids."""
    tuples = {name: index for index, name in enumerate(sorted({row["tuple_id"] for row in rows}))}
    counts = np.zeros((len(tuples), len(values)), dtype=int)
    for row in rows:
        if row[predicate] in values:
            counts[tuples[row["tuple_id"]], values.index(row[predicate])] += 1
    return counts


def alpha(counts: np.ndarray) -> tuple[float | None, str | None]:
    """Krippendorff's alpha of a table of value counts, or null with the reason."""
    pairable = counts[counts.sum(axis=1) >= 2]
    if len(pairable) == 0:
        return None, "no tuple has two labels"
    if np.count_nonzero(pairable.sum(axis=0)) < 2:
        return None, "all labels are equal"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(krippendorff.alpha(value_counts=pairable, level_of_measurement="nominal")), None


def agreement(rows: list[dict[str, str]], *, resamples: int = 1000, seed: int = 0) -> list[dict[str, object]]:
    """Alpha with a 95 % bootstrap interval over tuples, per predicate and treatment of U.

    Args:
        rows: labels as `read_labels` gives them.
        resamples: how many bootstrap samples.
        seed: of the random generator.

    Returns:
        Rows with `COLUMNS`; `pairable` is the number of tuples with two labels or more.
    """
    table = []
    annotators = len({row["annotator"] for row in rows})
    for predicate in PREDICATES:
        for treatment, values in (("value", LABELS), ("missing", LABELS[:2])):
            counts = value_counts(rows, predicate, values)
            found, reason = alpha(counts)
            low = high = None
            if found is not None:

                def resampled(weights: np.ndarray, counts: np.ndarray = counts) -> float:
                    drawn, _ = alpha(np.repeat(counts, weights, axis=0))
                    return np.nan if drawn is None else drawn

                units = [str(index) for index in range(len(counts))]
                low, high, reason = cluster_interval(units, resampled, resamples=resamples, seed=seed)
            table.append(
                {
                    "predicate": predicate,
                    "unresolved_as": treatment,
                    "tuples": len(counts),
                    "annotators": annotators,
                    "pairable": int((counts.sum(axis=1) >= 2).sum()),
                    "alpha": found,
                    "low": low,
                    "high": high,
                    "reason": reason,
                }
            )
    return table

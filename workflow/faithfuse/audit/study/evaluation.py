"""Predicate-level errors, unresolved coverage and domain-clustered intervals (arXiv 2609.29145, section V-A)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from faithfuse.audit.endpoint import omission_endpoints
from faithfuse.audit.study.tables import LABELS, PREDICATES, check_labels, cluster_interval, read_table
from faithfuse.errors import InputError

COLUMNS = ("target", "measure", "count", "of", "value", "low", "high", "reason")
CODES = {"1": 1, "0": 0, "U": -1}


def read_pair(reference: Path, predicted: Path) -> tuple[list[str], np.ndarray, np.ndarray]:
    """(domains, reference labels, predicted labels); the arrays are `int8` of shape (tuples, 4), −1 for U.

    `reference` has `tuple_id, domain, I, A, M, D` (adjudicated labels), `predicted` has `tuple_id, I, A, M, D`.

    Raises:
        InputError: a column or label is wrong, or the two files name different tuples.
    """
    gold_table = read_table(reference, ("tuple_id", "domain", *PREDICATES), key=("tuple_id",))
    said_table = read_table(predicted, ("tuple_id", *PREDICATES), key=("tuple_id",))
    check_labels(gold_table, PREDICATES, reference, LABELS)
    check_labels(said_table, PREDICATES, predicted, LABELS)
    gold = [row for _, row in gold_table]
    by_id = {row["tuple_id"]: row for _, row in said_table}
    different = sorted({row["tuple_id"] for row in gold} ^ by_id.keys())
    if different:
        fix = "Label every tuple; write U where a predicate is unresolved."
        raise InputError(f"has other tuples than {reference} ({different[0]})", path=predicted, fix=fix)
    gold.sort(key=lambda row: row["tuple_id"])

    def coded(rows: list[dict[str, str]]) -> np.ndarray:
        return np.array([[CODES[row[name]] for name in PREDICATES] for row in rows], dtype=np.int8).reshape(-1, 4)

    return [row["domain"] for row in gold], coded(gold), coded([by_id[row["tuple_id"]] for row in gold])


def evaluate(
    domains: list[str], reference: np.ndarray, predicted: np.ndarray, *, resamples: int = 2000, seed: int = 0
) -> list[dict[str, object]]:
    """Errors and coverage for each predicate and for the endpoint (`RO`), with 95 % domain-clustered intervals.

    Measures: `error` among tuples that both sides resolve; `false_positive` among those with reference 0 and
    `false_negative` among those with reference 1 (resolved by the prediction); `predicted_unresolved` and
    `reference_unresolved` among all; `resolved_without_reference`, the predictions that resolve what the reference
    leaves open.

    Args:
        domains: cluster of each tuple.
        reference: `int8` labels of shape (tuples, 4).
        predicted: likewise.
        resamples: how many bootstrap samples.
        seed: of the random generator.

    Returns:
        Rows with `COLUMNS`; `value` is `count / of`, null with a reason when nothing is there to count.
    """
    targets = {name: (reference[:, index], predicted[:, index]) for index, name in enumerate(PREDICATES)}
    targets["RO"] = (omission_endpoints(*reference.T), omission_endpoints(*predicted.T))
    table = []
    for target, (gold, said) in targets.items():
        both = (gold >= 0) & (said >= 0)
        everything = np.ones(len(gold), dtype=bool)
        measures = {
            "error": (both & (gold != said), both),
            "false_positive": (both & (gold == 0) & (said == 1), both & (gold == 0)),
            "false_negative": (both & (gold == 1) & (said == 0), both & (gold == 1)),
            "predicted_unresolved": (said < 0, everything),
            "reference_unresolved": (gold < 0, everything),
            "resolved_without_reference": ((said >= 0) & (gold < 0), gold < 0),
        }
        for measure, (hits, among) in measures.items():
            row = {"target": target, "measure": measure, "count": int(hits.sum()), "of": int(among.sum())}
            if not row["of"]:
                table.append(row | {"value": None, "low": None, "high": None, "reason": "nothing to count among"})
                continue

            def share(weights: np.ndarray, hits: np.ndarray = hits, among: np.ndarray = among) -> float:
                total = (weights * among).sum()
                return float((weights * hits).sum() / total) if total else float("nan")

            low, high, reason = cluster_interval(domains, share, resamples=resamples, seed=seed)
            table.append(row | {"value": row["count"] / row["of"], "low": low, "high": high, "reason": reason})
    return table

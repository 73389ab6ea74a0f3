"""Matched answers before and after an intervention (arXiv 2609.29145, section V-B).

The comparison looks at omissions beside what an intervention may cost: answerability, evidence retention, factual
support, abstention and latency. Fewer omissions bought with suppressed answers are no defence, so a warning says when
abstention rose or answerability, evidence or support fell.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from scipy import stats

from faithfuse.audit.study.tables import check_labels, cluster_interval, read_table
from faithfuse.errors import InputError

SHARES = ("omission", "answerable", "evidence_retained", "supported", "abstained")
WORSE_WHEN_HIGHER = {"omission", "abstained", "latency_seconds"}
COLUMNS = (
    "measure",
    "pairs",
    "unscored",
    "before",
    "after",
    "difference",
    "low",
    "high",
    "gained",
    "lost",
    "p_value",
    "reason",
)


def read_pairs(path: Path) -> list[dict[str, str]]:
    """`pair_id, domain, settings_before, settings_after` and `X_before, X_after` for each measure.

    Shares are 1, 0, U or empty; U and empty leave the pair out of that measure. Settings must be equal within a pair.

    Raises:
        InputError: a column is missing, a cell is wrong, or a pair was generated with different settings.
    """
    measures = [f"{name}_{side}" for name in (*SHARES, "latency_seconds") for side in ("before", "after")]
    rows = read_table(path, ("pair_id", "domain", "settings_before", "settings_after", *measures), key=("pair_id",))
    check_labels(rows, [f"{name}_{side}" for name in SHARES for side in ("before", "after")], path, ("1", "0", "U", ""))
    for line, row in rows:
        if row["settings_before"] != row["settings_after"]:
            fix = "Generate both answers of a pair with the same settings."
            raise InputError("changes the settings within a pair", path=path, line=line, record=row["pair_id"], fix=fix)
        for side in ("before", "after"):
            text = row[f"latency_seconds_{side}"]
            try:
                valid = text == "" or (math.isfinite(float(text)) and float(text) >= 0)
            except ValueError:
                valid = False
            if not valid:
                fix = "Write seconds, or nothing."
                raise InputError(f"has the latency {text!r}", path=path, line=line, record=row["pair_id"], fix=fix)
    return [row for _, row in rows]


def _values(rows: list[dict[str, str]], column: str) -> np.ndarray:
    return np.array([float(row[column]) if row[column] not in ("", "U") else np.nan for row in rows])


def compare(rows: list[dict[str, str]], *, resamples: int = 2000, seed: int = 0) -> list[dict[str, object]]:
    """Means before and after, their paired difference and its 95 % domain-clustered interval, per measure.

    Args:
        rows: pairs as `read_pairs` gives them.
        resamples: how many bootstrap samples.
        seed: of the random generator.

    Returns:
        Rows with `COLUMNS`. For shares `gained` counts pairs that went from 0 to 1, `lost` from 1 to 0, and `p_value`
        is the exact two-sided McNemar test on these; for latency all three are null.
    """
    table = []
    for measure in (*SHARES, "latency_seconds"):
        before, after = _values(rows, f"{measure}_before"), _values(rows, f"{measure}_after")
        scored = ~np.isnan(before) & ~np.isnan(after)
        row: dict[str, object] = {"measure": measure, "pairs": int(scored.sum()), "unscored": int((~scored).sum())}
        if not scored.any():
            table.append(row | {"reason": "no pair has both values"})
            continue
        before, after = before[scored], after[scored]
        difference = after - before
        domains = [entry["domain"] for entry, kept in zip(rows, scored, strict=True) if kept]

        def mean(weights: np.ndarray, difference: np.ndarray = difference) -> float:
            return float((weights * difference).sum() / weights.sum())

        low, high, reason = cluster_interval(domains, mean, resamples=resamples, seed=seed)
        row |= {"before": float(before.mean()), "after": float(after.mean()), "difference": float(difference.mean())}
        row |= {"low": low, "high": high, "reason": reason}
        if measure in SHARES:
            gained, lost = int((difference > 0).sum()), int((difference < 0).sum())
            p_value = float(stats.binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0
            row |= {"gained": gained, "lost": lost, "p_value": p_value}
        table.append(row)
    return table


def warnings_of(table: list[dict[str, object]]) -> list[str]:
    """What got worse while omissions fell, in sentences; the point estimates, not their significance."""
    change = {row["measure"]: row.get("difference") for row in table}
    if not isinstance(change["omission"], float) or change["omission"] >= 0:
        return []
    worse = []
    for measure, difference in change.items():
        changed = measure != "omission" and isinstance(difference, float) and difference != 0
        if changed and (difference > 0) is (measure in WORSE_WHEN_HIGHER):
            worse.append(f"omissions fell, but {measure} changed by {difference:+.4g}, which is for the worse")
    return worse

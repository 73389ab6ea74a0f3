"""Fusing metrics into one, and what can honestly be said of the result (arXiv 2512.05700, section VI).

One blind split gives the model that is kept and its evaluation; further seeds, each with a split of its own, give the
spread of the class shares (Table IV) and of the blind correlations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from threadpoolctl import threadpool_limits

from faithfuse.analysis.baselines import (
    BASELINES,
    MIN_SCORED,
    BestSingle,
    best_single,
    pearson,
    predict_baselines,
)
from faithfuse.analysis.correlation import (
    PEARSON,
    SPEARMAN,
    correlate,
    difference_interval,
    group_codes,
    pearson_without_each,
)
from faithfuse.analysis.ebm import EbmSettings, fit_ebm, usable_metrics
from faithfuse.analysis.model import FusedModel, clip
from faithfuse.analysis.ratings import Joined, distinct_metrics
from faithfuse.analysis.resampling import percentile_interval
from faithfuse.analysis.splits import blind_split
from faithfuse.errors import FaithfuseError

FUSED, SINGLE, DIFFERENCE, PAPER_WAY = "fused", "best_single", "difference", "paper_way"
FUSED_METRIC = "Fused metric"


MIN_ROWS = 20
MIN_GROUPS = 8


@dataclass(frozen=True)
class Fusion:
    """A fused metric and the rows of its CSV files, in the order of the column constants above."""

    model: FusedModel
    importances: list[dict[str, object]]
    evaluation: list[dict[str, object]]
    splits: list[dict[str, object]]
    blind: list[dict[str, object]]
    explanations: list[dict[str, object]]


@dataclass(frozen=True)
class _Split:
    """One seed's split: the model, what every system predicts for the blind rows, and the drop per class."""

    blind: np.ndarray
    model: FusedModel
    single: BestSingle
    predictions: dict[str, np.ndarray]
    correlations: dict[str, float]
    drops: dict[str, float]


def williams_test(r_1y: float, r_2y: float, r_12: float, n: int) -> tuple[float, float]:
    """Williams' test that two metrics correlate equally with the same human values.

    Williams 1959, in the form that Steiger 1980 (Psychological Bulletin 87, equation 7) recommends; it takes rows as
    independent, which rows of one group are not, so the interval over groups is the main answer.

    Args:
        r_1y: correlation of the first metric with people.
        r_2y: of the second.
        r_12: between the two metrics.
        n: rows.

    Returns:
        t with n - 3 degrees of freedom, and the two-sided p-value; NaN for fewer than four rows.
    """
    if n < 4:
        return math.nan, math.nan
    determinant = 1 - r_1y**2 - r_2y**2 - r_12**2 + 2 * r_1y * r_2y * r_12
    mean = (r_1y + r_2y) / 2
    variance = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r_12) ** 3
    if variance <= 0:
        return math.nan, math.nan
    t = (r_1y - r_2y) * math.sqrt((n - 1) * (1 + r_12) / variance)
    return t, float(2 * stats.t.sf(abs(t), df=n - 3))


def fuse(
    joined: Joined,
    domain: str,
    *,
    seeds: int = 10,
    blind_fraction: float = 0.3,
    seed: int = 0,
    settings: EbmSettings | None = None,
    threads: int = 1,
    provenance: dict[str, Any] | None = None,
) -> Fusion:
    """Fuse a domain's metrics into one and evaluate it on rows it never saw.

    A metric that has the values of an earlier one on every row is left out (`distinct_metrics`).

    Args:
        joined: rated responses with their metrics.
        domain: written into every file.
        seeds: how many seeds, each with its own split; the first one's model is kept.
        blind_fraction: share of the groups that are blind in a split.
        seed: the first seed.
        settings: of the machine.
        threads: worker processes; the result does not depend on it.
        provenance: further entries for the model's `training` (file digests).

    Raises:
        FaithfuseError: there are too few rated responses or groups, or nothing to learn from.
    """
    settings = settings or EbmSettings()
    table, y = joined.table, joined.likert
    codes = group_codes(table.groups)
    groups = int(codes.max()) + 1
    if len(y) < MIN_ROWS or groups < MIN_GROUPS:
        raise FaithfuseError(
            f"{table.path}: {len(y)} rated responses in {groups} groups are too few to fuse. "
            f"Rate at least {MIN_ROWS} responses in {MIN_GROUPS} groups."
        )
    if seeds < 1 or not 0 < blind_fraction < 1:
        raise FaithfuseError("--seeds must be at least 1 and --blind-fraction between 0 and 1.")
    if np.all(y == y[0]):
        raise FaithfuseError(f"{table.path}: people rate every response {y[0]:g}; there is nothing to learn from.")
    joined, repeated = distinct_metrics(joined)
    table = joined.table
    runs = Parallel(n_jobs=min(threads, seeds))(
        delayed(_run_split)(joined, codes, blind_fraction, seed + offset, settings) for offset in range(seeds)
    )
    splits = [run for run in runs if run is not None]
    if runs[0] is None:
        raise FaithfuseError(
            f"{table.path}: no metric varies on the training rows. Check the table: every column is constant or empty."
        )
    first = splits[0]
    model = replace(
        first.model,
        domain=domain,
        dropped=first.model.dropped | repeated,
        training=_training(joined, first, seed, blind_fraction, settings, provenance or {}),
    )
    return Fusion(
        model=model,
        importances=_importance_rows(splits, domain),
        evaluation=_evaluation_rows(joined, first, domain),
        splits=_split_rows(splits, domain),
        blind=_blind_rows(joined, first),
        explanations=_explanation_rows(joined, model, first.blind),
    )


@threadpool_limits.wrap(limits=1)
def _run_split(
    joined: Joined, codes: np.ndarray, blind_fraction: float, seed: int, settings: EbmSettings
) -> _Split | None:
    table, y = joined.table, joined.likert
    blind = blind_split(y, codes, blind_fraction, seed)
    train_rows, blind_rows = np.flatnonzero(~blind), np.flatnonzero(blind)
    train, held_out = table.rows(train_rows), table.rows(blind_rows)
    single = best_single(train.values, y[~blind])
    model = fit_ebm(train, y[~blind], codes[~blind], settings, seed)
    if model is None or single is None:
        return None

    def fused(fitted: FusedModel) -> np.ndarray:
        return clip(fitted.predict(held_out.values[:, [table.names.index(name) for name in fitted.metrics]]))[0]

    used, _ = usable_metrics(train.values, table.names)
    predictions = {FUSED: fused(model), SINGLE: single.predict(held_out.values)}
    predictions |= predict_baselines(train.values[:, used], y[~blind], held_out.values[:, used], seed)
    correlations = {name: pearson(values, y[blind]) for name, values in predictions.items()}
    drops = {}
    for metric_class in sorted(set(model.classes)):
        reduced = fit_ebm(train, y[~blind], codes[~blind], settings, seed, exclude_class=metric_class)
        if reduced is not None:
            drops[metric_class] = correlations[FUSED] - pearson(fused(reduced), y[blind])
    return _Split(blind, model, single, predictions, correlations, drops)


def _training(
    joined: Joined,
    split: _Split,
    seed: int,
    blind_fraction: float,
    settings: EbmSettings,
    provenance: dict[str, Any],
) -> dict[str, Any]:
    train = np.flatnonzero(~split.blind)
    return {
        "rows": len(train),
        "groups": len({joined.table.groups[row] for row in train}),
        "ratings": sum(joined.human[row].ratings for row in train),
        "blind_rows": int(split.blind.sum()),
        "blind_groups": len({joined.table.groups[row] for row in np.flatnonzero(split.blind)}),
        "blind_fraction": blind_fraction,
        "seed": seed,
        "settings": asdict(settings),
        "best_single": {"metric": joined.table.names[split.single.index], "sign": split.single.sign},
        "versions": {"interpret": version("interpret"), "numpy": version("numpy")},
        **provenance,
    }


def _spread(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """Mean and the central 95% over seeds, undefined ones left out; all None where there is none."""
    defined = np.array([value for value in values if not math.isnan(value)])
    if not len(defined):
        return None, None, None
    return float(defined.mean()), *percentile_interval(defined)


def _importance_rows(splits: list[_Split], domain: str) -> list[dict[str, object]]:
    shares = [split.model.class_shares() for split in splits]
    rows = []
    for metric_class in sorted({name for share in shares for name in share}):
        # A class whose metrics are all constant on a split's training side has no share there.
        share, low, high = _spread([share.get(metric_class, 0.0) for share in shares])
        drop, drop_low, drop_high = _spread([split.drops.get(metric_class, math.nan) for split in splits])
        rows.append(
            {
                "domain": domain,
                "metric_class": metric_class,
                "share": share,
                "share_low": low,
                "share_high": high,
                "seeds": len(splits),
                "blind_drop": drop,
                "blind_drop_low": drop_low,
                "blind_drop_high": drop_high,
            }
        )
    return rows


def _evaluation_rows(joined: Joined, split: _Split, domain: str) -> list[dict[str, object]]:
    table, blind = joined.table, split.blind
    y = joined.likert[blind]
    names = list(split.predictions)
    x = np.column_stack([split.predictions[name] for name in names])
    groups = [table.groups[row] for row in np.flatnonzero(blind)]
    estimates = correlate(x, y[:, None], groups, coefficients=(PEARSON,))
    ranks = correlate(x, y[:, None], groups, coefficients=(SPEARMAN,), intervals=None)
    single_name = table.names[split.single.index]
    metric_of = {FUSED: FUSED_METRIC, SINGLE: single_name, "best_single_isotonic": single_name}
    filled = split.single.missing(table.values[blind])
    notes = {
        SINGLE: f"chosen on the {int((~blind).sum())} training rows"
        + ("; lower is better" if split.single.sign < 0 else "")
        + (f"; training mean in place of {filled} missing values" if filled else ""),
    }
    rows: list[dict[str, object]] = []

    def add(system: str, metric: str, count: int, estimate: Any, note: str = "", spearman: Any = None) -> None:
        note = "; ".join(filter(None, [note, estimate.reason]))
        rows.append(
            {
                "domain": domain,
                "system": system,
                "metric": metric,
                "rows": count,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "note": note,
                "p_value": estimate.p_value,
                "spearman": spearman,
            }
        )

    for system in (FUSED, SINGLE):
        index = names.index(system)
        add(
            system,
            metric_of[system],
            len(y),
            estimates[PEARSON, index, 0],
            notes.get(system, ""),
            ranks[SPEARMAN, index, 0].value,
        )
    rows.append(_difference_row(split, y, groups, domain))
    for system in BASELINES:
        if system in names:
            index = names.index(system)
            estimate, rank = estimates[PEARSON, index, 0], ranks[SPEARMAN, index, 0]
            add(system, metric_of.get(system, ""), len(y), estimate, notes.get(system, ""), rank.value)
    everywhere = correlate(table.values, joined.likert[:, None], table.groups, coefficients=(PEARSON,))
    # A metric with a handful of values is no "best metric": like the single one, it must be scored on half the rows.
    estimates_everywhere = [everywhere[PEARSON, index, 0] for index in range(len(table.names))]
    scored = [
        index
        for index, estimate in enumerate(estimates_everywhere)
        if estimate.value is not None and estimate.pairs >= MIN_SCORED * len(joined.likert)
    ]
    if not scored:
        return rows
    best = max(scored, key=lambda index: estimates_everywhere[index].value)
    estimate = estimates_everywhere[best]
    fused = estimates[PEARSON, names.index(FUSED), 0].value
    gap = "" if fused is None else f": difference {fused - estimate.value:+.3f}"
    add(
        PAPER_WAY,
        table.names[best],
        estimate.pairs,
        estimate,
        f"best of {len(table.names)} metrics on all rows, set against the fused metric on {len(y)} blind rows{gap}",
    )
    return rows


def _difference_row(split: _Split, y: np.ndarray, groups: list[str], domain: str) -> dict[str, object]:
    fused, single = split.predictions[FUSED], split.predictions[SINGLE]
    r_fused, r_single, r_both = pearson(fused, y), pearson(single, y), pearson(fused, single)
    row: dict[str, object] = {
        "domain": domain,
        "system": DIFFERENCE,
        "metric": "Fused metric less best single metric",
        "rows": len(y),
        "value": None,
        "low": None,
        "high": None,
        "note": "not defined on these blind rows",
        "p_value": None,
        "spearman": None,
    }
    if math.isnan(r_fused) or math.isnan(r_single):
        return row
    row["value"] = r_fused - r_single
    without = pearson_without_each(np.column_stack([fused, single]), y, groups)
    row["low"], row["high"], reason = difference_interval(row["value"], without[:, 0] - without[:, 1])
    t, p = williams_test(r_fused, r_single, r_both, len(y))
    row["p_value"] = None if math.isnan(p) else p
    tested = "Williams' test not defined" if math.isnan(p) else f"Williams' t({len(y) - 3}) = {t:.2f}, p = {p:.3g}"
    row["note"] = f"{reason or f'paired jackknife over {len(set(groups))} groups'}; {tested}"
    return row


def _split_rows(splits: list[_Split], domain: str) -> list[dict[str, object]]:
    """Blind correlations over all seeds, so that the answer does not hang on one split."""
    rows = []
    systems: dict[str, list[float]] = {
        name: [split.correlations.get(name, math.nan) for split in splits] for name in (FUSED, SINGLE)
    }
    systems[DIFFERENCE] = [a - b for a, b in zip(systems[FUSED], systems[SINGLE], strict=True)]
    for name in BASELINES:
        systems[name] = [split.correlations.get(name, math.nan) for split in splits]
    for name, values in systems.items():
        mean, low, high = _spread(values)
        defined = sum(not math.isnan(value) for value in values)
        note = "mean and central 95% over splits"
        if name == DIFFERENCE:
            note += f"; above 0 in {sum(value > 0 for value in values)} of {defined}"
        rows.append(
            {"domain": domain, "system": name, "seeds": defined, "value": mean, "low": low, "high": high, "note": note}
        )
    return rows


def _blind_rows(joined: Joined, split: _Split) -> list[dict[str, object]]:
    table = joined.table
    return [
        {
            "item_id": table.items[row],
            "system": table.systems[row],
            "group": table.groups[row],
            "human": joined.human[row].likert,
            "fused": float(split.predictions[FUSED][position]),
            "best_single": _known(table.values[row, split.single.index]),
        }
        for position, row in enumerate(np.flatnonzero(split.blind))
    ]


def _explanation_rows(joined: Joined, model: FusedModel, blind: np.ndarray) -> list[dict[str, object]]:
    rows = np.flatnonzero(blind)
    table = joined.table.rows(rows)
    values = table.values[:, [table.names.index(name) for name in model.metrics]]
    contributions = model.metric_contributions(values)
    return [
        {
            "item_id": table.items[row],
            "system": table.systems[row],
            "metric": name,
            "metric_class": model.classes[metric],
            "value": _known(values[row, metric]),
            "contribution": float(contributions[row, metric]),
        }
        for row in range(len(rows))
        for metric, name in enumerate(model.metrics)
    ]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)

"""Whether a fused metric holds beyond one blind split.

Schemes, each predicting every rated row by models that never saw it:

* `grouped_cv`: repeated cross-validation over groups; pooled correlation over all rows.
* `within_item`: the same predictions, the item's mean taken from predictions and ratings: can it rank the responses
  to one item, apart from telling easy items from hard ones?
* `system_out`: one system left out at a time, its groups known from other systems.
* `system_and_group_out`: a system and a fold of groups left out together.
* `one_rater`: the fused score and a left-out rater against the same target, the mean of the other raters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from faithfuse.analysis.baselines import BASELINES, best_single, pearson, predict_baselines
from faithfuse.analysis.correlation import (
    MIN_GROUPS,
    correlation_interval,
    difference_interval,
    group_codes,
    pearson_without_each,
    rater_pairs,
)
from faithfuse.analysis.ebm import EbmSettings, fit_ebm, usable_metrics
from faithfuse.analysis.fusion import DIFFERENCE, FUSED, SINGLE
from faithfuse.analysis.model import clip
from faithfuse.analysis.ratings import Joined, distinct_metrics
from faithfuse.analysis.resampling import percentile_interval
from faithfuse.analysis.splits import blind_split, folds
from faithfuse.errors import FaithfuseError

GROUPED_CV, WITHIN_ITEM, SYSTEM_OUT = "grouped_cv", "within_item", "system_out"
SYSTEM_AND_GROUP_OUT, ONE_RATER = "system_and_group_out", "one_rater"
HUMAN = "human"
SYSTEMS = (FUSED, SINGLE, *BASELINES)
MIN_TRAIN = 15
MIN_TRAIN_GROUPS = 2


@dataclass(frozen=True)
class _Fold:
    """Rows to predict and the rows to learn from; both are boolean, shape (rows,)."""

    train: np.ndarray
    test: np.ndarray
    seed: int


@threadpool_limits.wrap(limits=1)
def _predict(joined: Joined, codes: np.ndarray, fold: _Fold, settings: EbmSettings) -> dict[str, np.ndarray]:
    """Predictions of every system for the fold's test rows; empty where nothing can be learned."""
    table, y = joined.table, joined.likert
    train = table.rows(np.flatnonzero(fold.train))
    test = table.values[fold.test]
    single = best_single(train.values, y[fold.train])
    model = fit_ebm(train, y[fold.train], codes[fold.train], settings, fold.seed)
    if model is None or single is None:
        return {}
    columns = [table.names.index(name) for name in model.metrics]
    used, _ = usable_metrics(train.values, table.names)
    predictions = {FUSED: clip(model.predict(test[:, columns]))[0], SINGLE: single.predict(test)}
    return predictions | predict_baselines(train.values[:, used], y[fold.train], test[:, used], fold.seed)


def _out_of_fold(
    joined: Joined, codes: np.ndarray, plan: list[_Fold], settings: EbmSettings, threads: int
) -> dict[str, np.ndarray]:
    """Predictions by system, shape (rows,); NaN for rows that no fold could predict."""
    rows = len(joined.human)
    result = {system: np.full(rows, np.nan) for system in SYSTEMS}
    runs = Parallel(n_jobs=threads)(delayed(_predict)(joined, codes, fold, settings) for fold in plan)
    for fold, predictions in zip(plan, runs, strict=True):
        for system, values in predictions.items():
            result[system][fold.test] = values
    return result


def _group_folds(y: np.ndarray, codes: np.ndarray, count: int, seed: int) -> list[_Fold]:
    return [_Fold(~test, test, seed) for test in folds(y, codes, count, seed)]


def validate(
    joined: Joined,
    domain: str,
    *,
    repeats: int = 5,
    fold_count: int = 5,
    seed: int = 0,
    settings: EbmSettings | None = None,
    threads: int = 1,
) -> list[dict[str, object]]:
    """Evaluate fusion and its baselines under every scheme the data allows (`VALIDATION_COLUMNS`).

    Intervals are from a jackknife over groups with the predictions held fixed, and pair the systems of a scheme. A
    metric that has the values of an earlier one on every row is left out.

    Raises:
        FaithfuseError: there are too few groups for the folds.
    """
    settings = settings or EbmSettings()
    joined, _ = distinct_metrics(joined)
    table, y = joined.table, joined.likert
    codes = group_codes(table.groups)
    if int(codes.max()) + 1 < max(fold_count, MIN_GROUPS):
        raise FaithfuseError(
            f"{table.path}: {int(codes.max()) + 1} groups are too few for {fold_count} folds. Rate more items."
        )
    plans = [_group_folds(y, codes, fold_count, seed + repeat) for repeat in range(repeats)]
    repeated = [_out_of_fold(joined, codes, plan, settings, threads) for plan in plans]
    stacked = {system: np.column_stack([run[system] for run in repeated]) for system in SYSTEMS}
    note = f"{fold_count} folds of groups, mean over {repeats} repeats"
    rows = _scheme_rows(domain, GROUPED_CV, stacked, y, table.groups, note)

    items = group_codes(table.items)
    per_item = np.bincount(items)[items]
    several = per_item >= 2
    if several.sum() >= 3 and len(set(items[several])) >= MIN_GROUPS:
        within = {system: _centre(values[several], items[several]) for system, values in stacked.items()}
        groups = [group for group, keep in zip(table.groups, several, strict=True) if keep]
        centred = _centre(y[several][:, None], items[several])[:, 0]
        text = f"{note}; {len(set(items[several]))} items with several responses, each item's mean taken off"
        rows += _scheme_rows(domain, WITHIN_ITEM, within, centred, groups, text)

    systems = sorted(set(table.systems))
    best = {system: values[:, :1] for system, values in stacked.items()}
    rater_note = f"{fold_count} folds of groups"
    if len(systems) >= 3:
        of_system = np.array([systems.index(name) for name in table.systems])
        plan = [_Fold(of_system != index, of_system == index, seed) for index in range(len(systems))]
        plan = [fold for fold in plan if fold.train.sum() >= MIN_TRAIN]
        left_out = _out_of_fold(joined, codes, plan, settings, threads)
        text = f"{len(plan)} systems, each left out in turn"
        rows += _scheme_rows(domain, SYSTEM_OUT, _columns(left_out), y, table.groups, text)
        plan = [
            _Fold((of_system != index) & ~test, (of_system == index) & test, seed)
            for index in range(len(systems))
            for test in folds(y, codes, fold_count, seed)
        ]
        plan = [fold for fold in plan if fold.test.any() and fold.train.sum() >= MIN_TRAIN]
        best = _columns(_out_of_fold(joined, codes, plan, settings, threads))
        rater_note = f"{len(systems)} systems by {fold_count} folds of groups, each pair left out in turn"
        rows += _scheme_rows(domain, SYSTEM_AND_GROUP_OUT, best, y, table.groups, rater_note)

    one, others, of_pair = rater_pairs(joined)
    if of_pair:
        compared = {FUSED: best[FUSED][of_pair], HUMAN: one[:, :1]}
        groups = [table.groups[row] for row in of_pair]
        text = f"target: mean of the other raters of a response; fused predicted by {rater_note}"
        rows += _scheme_rows(domain, ONE_RATER, compared, others[:, 0], groups, text, HUMAN)
    return rows


def _columns(predictions: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {system: values[:, None] for system, values in predictions.items()}


def _centre(values: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Values less their item's mean, shape (rows, columns)."""
    compact = np.unique(items, return_inverse=True)[1]
    sums = np.zeros((compact.max() + 1, values.shape[1]))
    np.add.at(sums, compact, values)
    return values - (sums / np.bincount(compact)[:, None])[compact]


def _scheme_rows(
    domain: str,
    scheme: str,
    predictions: dict[str, np.ndarray],
    y: np.ndarray,
    groups: list[str],
    note: str,
    against: str = SINGLE,
) -> list[dict[str, object]]:
    """Rows of one scheme; predictions have shape (rows, repeats), and a value is the mean over repeats."""
    complete = ~np.isnan(np.column_stack(list(predictions.values()))).any(axis=1)
    kept = np.flatnonzero(complete)
    if len(kept) < len(y):
        note += f"; {len(y) - len(kept)} rows without a prediction left out"
    target, kept_groups = y[kept], [groups[row] for row in kept]
    values: dict[str, float] = {}
    without: dict[str, np.ndarray] = {}
    for system, predicted in predictions.items():
        predicted = predicted[kept]
        values[system] = float(np.mean([pearson(predicted[:, i], target) for i in range(predicted.shape[1])]))
        without[system] = pearson_without_each(predicted, target, kept_groups).mean(axis=1)
    values[DIFFERENCE] = values[FUSED] - values[against]
    without[DIFFERENCE] = without[FUSED] - without[against]
    order = [FUSED, against, DIFFERENCE, *(name for name in predictions if name not in (FUSED, against))]
    rows = []
    for system in order:
        value = values[system]
        low, high, reason = None, None, ""
        if not math.isnan(value):
            interval = difference_interval if system == DIFFERENCE else correlation_interval
            low, high, reason = interval(value, without[system])
        remarks = [f"{FUSED} less {against}" if system == DIFFERENCE else "", note, reason]
        rows.append(
            {
                "domain": domain,
                "scheme": scheme,
                "system": system,
                "rows": len(kept),
                "value": None if math.isnan(value) else value,
                "low": low,
                "high": high,
                "note": "; ".join(filter(None, remarks)),
            }
        )
    return rows


def learning_curve(
    joined: Joined,
    domain: str,
    *,
    sizes: tuple[int, ...] = (20, 40, 80, 160, 320, 640, 1280),
    seeds: int = 10,
    blind_fraction: float = 0.3,
    seed: int = 0,
    settings: EbmSettings | None = None,
    threads: int = 1,
) -> list[dict[str, object]]:
    """Blind correlation against the number of rated responses (`LEARNING_COLUMNS`).

    For every seed a blind split; from its training side whole groups are taken in random order until there are as many
    rows as each size asks for, smaller sets within larger ones; a size that one group fills is left out. The last size
    is the whole training side. The interval is the central 95% over seeds.
    """
    settings = settings or EbmSettings()
    joined, _ = distinct_metrics(joined)
    y, codes = joined.likert, group_codes(joined.table.groups)
    plan: list[tuple[int, _Fold]] = []
    for offset in range(seeds):
        blind = blind_split(y, codes, blind_fraction, seed + offset)
        order = np.random.default_rng([seed + offset, 2]).permutation(np.unique(codes[~blind]))
        rows_after = np.cumsum([np.count_nonzero(codes == group) for group in order])
        for size in sizes:
            if size >= rows_after[-1]:
                break
            taken = order[: int(np.searchsorted(rows_after, size)) + 1]
            if len(taken) < MIN_TRAIN_GROUPS:  # one large group: nothing is left to stop the training early with
                continue
            plan.append((size, _Fold(np.isin(codes, taken), blind, seed + offset)))
        plan.append((0, _Fold(~blind, blind, seed + offset)))
    runs = Parallel(n_jobs=threads)(delayed(_predict)(joined, codes, fold, settings) for _, fold in plan)
    ratings = np.array([human.ratings for human in joined.human])
    rows = []
    for size in sorted({size for size, _ in plan}, key=lambda size: size or math.inf):
        chosen = [(fold, run) for (s, fold), run in zip(plan, runs, strict=True) if s == size]
        for system in SYSTEMS:
            values = [pearson(run[system], y[fold.test]) for fold, run in chosen if system in run]
            values = [value for value in values if not math.isnan(value)]
            low, high = percentile_interval(np.array(values)) if values else (None, None)
            rows.append(
                {
                    "domain": domain,
                    "system": system,
                    "training_rows": round(float(np.mean([fold.train.sum() for fold, _ in chosen]))),
                    "training_groups": round(float(np.mean([len(set(codes[fold.train])) for fold, _ in chosen]))),
                    "ratings": round(float(np.mean([ratings[fold.train].sum() for fold, _ in chosen]))),
                    "value": float(np.mean(values)) if values else None,
                    "low": low,
                    "high": high,
                    "seeds": len(values),
                }
            )
    return rows

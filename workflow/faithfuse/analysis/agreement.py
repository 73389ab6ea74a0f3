"""How far raters agree: Krippendorff's alpha with a bootstrap interval over items (library: krippendorff)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from faithfuse.analysis.correlation import group_codes
from faithfuse.analysis.resampling import MAX_UNDEFINED, MIN_GROUPS, group_weights, percentile_interval
from faithfuse.records import Rating

LEVELS = (("likert", "interval"), ("likert", "ordinal"), ("bool", "nominal"))


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha: 1 is full agreement, 0 what chance gives; None with a reason where undefined."""

    value: float | None
    low: float | None
    high: float | None
    reason: str = ""


def krippendorff_alpha(
    values: np.ndarray, groups: Sequence[str], level: str, *, resamples: int = 2000, seed: int = 0
) -> Alpha:
    """Alpha of a units × raters matrix, with an interval from a bootstrap that draws groups of units.

    Args:
        values: shape (units, raters), NaN where a rater did not judge.
        groups: the group of each unit.
        level: `nominal`, `ordinal` or `interval`.
        resamples: bootstrap draws.
        seed: of the draws.
    """
    import krippendorff

    paired = np.count_nonzero(~np.isnan(values), axis=1) >= 2
    if not paired.any():
        return Alpha(None, None, None, "no unit has two raters")
    values = values[paired]
    codes = group_codes([group for group, keep in zip(groups, paired, strict=True) if keep])
    domain = np.unique(values[~np.isnan(values)])
    if len(domain) < 2:
        return Alpha(None, None, None, f"every rating is {domain[0]:g}")
    value = float(krippendorff.alpha(values.T, level_of_measurement=level))
    count = int(codes.max()) + 1
    if count < MIN_GROUPS:
        return Alpha(value, None, None, f"no interval: {count} groups, at least {MIN_GROUPS} needed")
    coincidences = _coincidences(values, domain, codes, count)
    drawn = np.concatenate(
        [
            _alpha((weights @ coincidences.reshape(count, -1)).reshape(-1, len(domain), len(domain)), domain, level)
            for weights in group_weights(count, resamples, seed)
        ]
    )
    defined = drawn[~np.isnan(drawn)]
    undefined = len(drawn) - len(defined)
    if undefined > MAX_UNDEFINED * len(drawn):
        return Alpha(value, None, None, f"no interval: undefined in {undefined} of {len(drawn)} resamples")
    return Alpha(value, *percentile_interval(defined))


def _coincidences(values: np.ndarray, domain: np.ndarray, codes: np.ndarray, groups: int) -> np.ndarray:
    """Coincidence matrices summed by group, shape (groups, values, values) (Krippendorff 2011, section C)."""
    counts = (values[:, :, None] == domain).sum(1).astype(float)
    per_unit = counts[:, :, None] * counts[:, None, :]
    per_unit -= np.eye(len(domain)) * counts[:, :, None]
    per_unit /= (counts.sum(1) - 1)[:, None, None]
    result = np.zeros((groups, len(domain), len(domain)))
    np.add.at(result, codes, per_unit)
    return result


def _alpha(coincidences: np.ndarray, domain: np.ndarray, level: str) -> np.ndarray:
    """Alpha of coincidence matrices, shape (resamples,); NaN where only one value was drawn."""
    totals = coincidences.sum(2)
    n = totals.sum(1)
    if level == "nominal":
        distance = (1.0 - np.eye(len(domain)))[None]
    elif level == "interval":
        distance = ((domain[:, None] - domain[None, :]) ** 2)[None]
    else:
        # Ranks between two values: all that lies from one to the other, less half of the two ends.
        middle = np.cumsum(totals, axis=1) - totals / 2
        distance = (middle[:, :, None] - middle[:, None, :]) ** 2
    observed = (coincidences * distance).sum((1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * distance).sum((1, 2)) / (n - 1)
    result = np.full(len(coincidences), np.nan)
    np.divide(observed, expected, out=result, where=expected > 0)
    return 1 - result


def agreement_rows(ratings: list[Rating], *, resamples: int = 2000, seed: int = 0) -> list[dict[str, object]]:
    """Alpha of Likert (interval and ordinal) and Bool (nominal), one row each (`AGREEMENT_COLUMNS`).

    A unit is a response, or a point of one; abstentions are missing. The bootstrap draws items, since the responses
    to one item are judged alike.
    """
    given = [rating for rating in ratings if rating.likert is not None]
    annotators = sorted({rating.annotator for rating in given})
    column = {name: index for index, name in enumerate(annotators)}
    units: dict[tuple, dict[int, float]] = defaultdict(dict)
    for rating in given:
        point = -1 if rating.point is None else rating.point
        units[rating.item_id, rating.system, point][column[rating.annotator]] = rating.likert
    keys = sorted(units)
    values = np.full((len(keys), len(annotators)), np.nan)
    for row, key in enumerate(keys):
        for rater, likert in units[key].items():
            values[row, rater] = likert
    groups = [key[0] for key in keys]
    rows = []
    for human, level in LEVELS:
        judged = np.where(np.isnan(values), np.nan, values >= 3) if human == "bool" else values
        alpha = (
            krippendorff_alpha(judged, groups, level, resamples=resamples, seed=seed)
            if keys
            else Alpha(None, None, None, "no ratings")
        )
        rows.append(
            {
                "human": human,
                "level": level,
                "alpha": alpha.value,
                "low": alpha.low,
                "high": alpha.high,
                "items": len(set(groups)),
                "units": len(keys),
                "raters": len(annotators),
                "ratings": len(given),
                "reason": alpha.reason,
            }
        )
    return rows

"""Correlations with people, with intervals from a jackknife, or a bootstrap, over groups.

Responses to one question or about one dialogue are not independent, so whole groups are left out, one at a time, or
drawn with replacement. What is left is a row of weights; every coefficient is then a function of weighted sums, and
hundreds of rows of weights are a few matrix products:

* Pearson's r needs six sums per metric, added up per group beforehand.
* Spearman's rho is Pearson's r on weighted mid-ranks, from cumulative weights in sorted order.
* Kendall's tau-b and AUROC are quadratic forms of the weights over a groups × groups matrix of pair signs.

With all weights one they are the usual coefficients (the tests hold them to SciPy's and scikit-learn's).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from faithfuse.analysis.columns import HUMAN_CLASS
from faithfuse.analysis.ratings import Joined, MetricTable, PointTable, point_bool
from faithfuse.analysis.resampling import (
    JACKKNIFE,
    LEVEL,
    MIN_GROUPS,
    NO_SPREAD,
    Intervals,
    bootstrap_interval,
    weights_without_each,
)
from faithfuse.records import Rating

PEARSON, SPEARMAN, KENDALL, AUROC = "pearson", "spearman", "kendall", "auroc"
# AUROC over the single points of summaries, in the row of the mean over points.
AUROC_POINT = "auroc_point"
COEFFICIENTS = (PEARSON, SPEARMAN, KENDALL)
LIKERT, BOOL = "likert", "bool"

MIN_PAIRS = 3
# More groups than this are pooled at random into so many, which bounds time and memory by the square of it.
MAX_GROUPS = 1000
HUMAN_CEILING = "Human (leave one rater out)"


_KEPT_VALUES = 4_000_000
_KEPT_SIGNS = 24_000_000
_RELATIVE_ZERO = 1e-12


@dataclass(frozen=True)
class Estimate:
    """A coefficient with its interval; what is not defined is None, and `reason` says why.

    Attributes:
        value: -1 to 1 (AUROC: 0 to 1).
        low, high: 95% interval over groups; see `correlation_interval` (jackknife) and `bootstrap_interval`.
        p_value: two-sided, that the coefficient is 0 (AUROC: 0.5); see `group_t_test`.
        pairs: scored and rated responses behind it.
    """

    value: float | None
    low: float | None
    high: float | None
    p_value: float | None
    pairs: int
    reason: str = ""


def group_codes(groups: Sequence[str]) -> np.ndarray:
    """Groups as integers from 0, in sorted order of their names; shape (rows,)."""
    return np.unique(np.asarray(groups, dtype=str), return_inverse=True)[1]


class _Ranking:
    """Values sorted into blocks of equal ones, for weighted mid-ranks."""

    def __init__(self, values: np.ndarray, codes: np.ndarray) -> None:
        self.order = np.argsort(values, kind="stable")
        self.codes = codes[self.order]
        ordered = values[self.order]
        new = np.empty(len(ordered), dtype=bool)
        new[:1] = True
        np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
        self.starts = np.flatnonzero(new)
        self.block = np.cumsum(new) - 1

    def sorted_weights(self, group_weights: np.ndarray) -> np.ndarray:
        """Weight of each row in sorted order, shape (rows, weightings), from weights of shape (groups, weightings)."""
        return group_weights[self.codes]

    def blocks(self, sorted_weights: np.ndarray) -> np.ndarray:
        """Weight of each block of equal values, shape (blocks, weightings)."""
        if len(self.starts) == len(sorted_weights):
            return sorted_weights
        return np.add.reduceat(sorted_weights, self.starts, axis=0)

    def centred_ranks(self, blocks: np.ndarray) -> np.ndarray:
        """Mid-rank of each block less the mean rank, shape (blocks, weightings)."""
        ranks = blocks.copy()
        # numpy's own cumulative sum along this axis goes through memory column by column, several times as slow.
        for above, row in itertools.pairwise(ranks):
            row += above
        half_total = ranks[-1] / 2
        ranks -= blocks / 2
        ranks -= half_total
        return ranks


def _pair_signs(x: np.ndarray, y: np.ndarray, codes: np.ndarray, groups: int) -> np.ndarray:
    """Sum of sign(x_i - x_j) * sign(y_i - y_j) over rows i, j of every two groups; shape (groups, groups)."""
    order = np.argsort(codes, kind="stable")
    x, y, codes = x[order], y[order], codes[order]
    present, starts = np.unique(codes, return_index=True)
    signs = np.zeros((groups, groups))
    rows_at_once = max(1, 2_000_000 // len(x))
    for start in range(0, len(x), rows_at_once):
        part = slice(start, start + rows_at_once)
        product = np.sign(x[part, None] - x) * np.sign(y[part, None] - y)
        by_group = np.add.reduceat(product, starts, axis=1)
        np.add.at(signs, (codes[part][:, None], present[None, :]), by_group)
    return signs


def _zero(variance: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return variance <= _RELATIVE_ZERO * scale


class _Pearson:
    """Weighted Pearson correlations of all metrics with all human values at once."""

    def __init__(self, x: np.ndarray, y: np.ndarray, codes: np.ndarray, groups: int) -> None:
        self.metrics, self.humans = x.shape[1], y.shape[1]
        scored = ~np.isnan(x)
        with np.errstate(invalid="ignore"):
            mean = np.where(scored, x, 0).sum(0) / np.maximum(scored.sum(0), 1)
        x = np.where(scored, x - mean, 0.0)
        y = y - y.mean(0)
        sums = [scored.astype(float), x, x * x]
        for human in range(self.humans):
            column = y[:, human, None]
            sums += [scored * column, scored * column**2, x * column]
        per_row = np.concatenate(sums, axis=1)
        self.sums = np.zeros((groups, per_row.shape[1]))
        np.add.at(self.sums, codes, per_row)

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Coefficients of shape (weightings, metrics, humans), NaN where a side is constant."""
        sums = (weights @ self.sums).reshape(len(weights), -1, self.metrics)
        count, x, xx = sums[:, 0], sums[:, 1], sums[:, 2]
        result = np.empty((len(weights), self.metrics, self.humans))
        with np.errstate(invalid="ignore", divide="ignore"):
            x_variance = xx - x * x / count
            x_variance[_zero(x_variance, xx)] = np.nan
            for human in range(self.humans):
                y, yy, xy = (sums[:, 3 + 3 * human + part] for part in range(3))
                y_variance = yy - y * y / count
                y_variance[_zero(y_variance, yy)] = np.nan
                result[:, :, human] = (xy - x * y / count) / np.sqrt(x_variance * y_variance)
        return np.clip(result, -1, 1)


class _Ranked:
    """Weighted Spearman, Kendall tau-b and AUROC of one metric with all human values."""

    def __init__(
        self, x: np.ndarray, y: np.ndarray, codes: np.ndarray, groups: int, wanted: Sequence[str], binary: list[bool]
    ) -> None:
        self.wanted, self.binary = wanted, binary
        self.x = _Ranking(x, codes)
        self.y = [_Ranking(y[:, human], codes) for human in range(y.shape[1])]
        # The block of y in which each row stands, rows in the sorted order of x.
        self.y_block = []
        for ranking in self.y:
            block = np.empty(len(x), dtype=int)
            block[ranking.order] = ranking.block
            self.y_block.append(block[self.x.order])
        self.signs = []
        if KENDALL in wanted or AUROC in wanted:
            self.signs = [_pair_signs(x, y[:, human], codes, groups) for human in range(y.shape[1])]
        self.positive = [codes[y[:, human] == y[:, human].max()] for human in range(y.shape[1])]

    def __call__(self, weights: np.ndarray) -> dict[str, np.ndarray]:
        """By coefficient, shape (weightings, humans), NaN where undefined."""
        by_group = np.ascontiguousarray(weights.T)
        x_weights = self.x.sorted_weights(by_group)
        x_blocks = self.x.blocks(x_weights)
        total = x_blocks.sum(0)
        result = {name: np.full((len(weights), len(self.y)), np.nan) for name in self.wanted}
        if SPEARMAN in self.wanted:
            x_ranks = self.x.centred_ranks(x_blocks)
            x_variance = np.einsum("br,br,br->r", x_blocks, x_ranks, x_ranks)
            weighted_x_ranks = x_weights * (x_ranks if x_blocks is x_weights else x_ranks[self.x.block])
        if KENDALL in self.wanted:
            x_untied = total**2 - np.einsum("br,br->r", x_blocks, x_blocks)
        for human, ranking in enumerate(self.y):
            y_blocks = ranking.blocks(ranking.sorted_weights(by_group))
            if SPEARMAN in self.wanted:
                y_ranks = ranking.centred_ranks(y_blocks)
                y_variance = np.einsum("br,br,br->r", y_blocks, y_ranks, y_ranks)
                covariance = np.einsum("nr,nr->r", weighted_x_ranks, y_ranks[self.y_block[human]])
                result[SPEARMAN][:, human] = _ratio(covariance, np.sqrt(x_variance * y_variance))
            if self.signs:
                concordance = np.einsum("rg,rg->r", weights @ self.signs[human], weights)
            if KENDALL in self.wanted:
                y_untied = total**2 - np.einsum("br,br->r", y_blocks, y_blocks)
                result[KENDALL][:, human] = _ratio(concordance, np.sqrt(x_untied * y_untied))
            if AUROC in self.wanted and self.binary[human]:
                positive = by_group[self.positive[human]].sum(0)
                excess = _ratio(concordance, 2 * positive * (total - positive))
                result[AUROC][:, human] = (excess + 1) / 2
        return result


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    ratio = np.full(len(numerator), np.nan)
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    return np.clip(ratio, -1, 1)


def correlate(
    x: np.ndarray,
    y: np.ndarray,
    groups: Sequence[str],
    *,
    coefficients: Sequence[str] = COEFFICIENTS,
    intervals: Intervals | None = JACKKNIFE,
) -> dict[tuple[str, int, int], Estimate]:
    """Correlate every metric with every human value, with intervals and p-values.

    Args:
        x: metric values, shape (rows, metrics); NaN is unscored, and the row is left out for that metric alone.
        y: human values, shape (rows, humans), none missing.
        groups: the group of each row; the jackknife leaves out, and the bootstrap draws, whole groups. More than
            `MAX_GROUPS` are pooled at random into so many.
        coefficients: of `pearson`, `spearman`, `kendall` and `auroc` (which needs a human value of 0 and 1).
        intervals: how intervals are made; None gives values without intervals.

    Returns:
        An estimate by (coefficient, metric index, human index).
    """
    codes = _pooled(group_codes(groups))
    count = int(codes.max()) + 1
    binary = [bool(np.isin(y[:, human], (0.0, 1.0)).all()) for human in range(y.shape[1])]
    estimates: dict[tuple[str, int, int], Estimate] = {}
    # Blocks of metrics keep what is remembered of them within a fixed budget of memory.
    kept = intervals.count(count) if intervals else 1
    block = _KEPT_VALUES // (kept * y.shape[1] * len(coefficients))
    if KENDALL in coefficients or AUROC in coefficients:
        block = min(block, _KEPT_SIGNS // (count * count * y.shape[1]))
    block = max(1, block)
    for start in range(0, x.shape[1], block):
        part = x[:, start : start + block]
        for (name, metric, human), estimate in _correlate_block(part, y, codes, count, coefficients, intervals, binary):
            estimates[name, start + metric, human] = estimate
    return estimates


def _correlate_block(
    x: np.ndarray,
    y: np.ndarray,
    codes: np.ndarray,
    count: int,
    coefficients: Sequence[str],
    intervals: Intervals | None,
    binary: list[bool],
) -> Iterator[tuple[tuple[str, int, int], Estimate]]:
    ranked_names = [name for name in coefficients if name != PEARSON]
    usable = [metric for metric in range(x.shape[1]) if np.count_nonzero(~np.isnan(x[:, metric])) >= MIN_PAIRS]
    pearson = _Pearson(x, y, codes, count) if PEARSON in coefficients else None
    ranked = {}
    if ranked_names:
        for metric in usable:
            scored = ~np.isnan(x[:, metric])
            ranked[metric] = _Ranked(x[scored, metric], y[scored], codes[scored], count, ranked_names, binary)

    def evaluate(weights: np.ndarray) -> dict[str, np.ndarray]:
        values = {
            name: np.full((len(weights), x.shape[1], y.shape[1]), np.nan) for name in coefficients if name != PEARSON
        }
        if pearson is not None:
            values[PEARSON] = pearson(weights)
        for metric, statistic in ranked.items():
            for name, value in statistic(weights).items():
                values[name][:, metric] = value
        return values

    point = evaluate(np.ones((1, count)))
    kept = intervals.count(count) if intervals else 0
    reweighted = {name: np.empty((kept, x.shape[1], y.shape[1])) for name in coefficients}
    done = 0
    for weights in intervals.weights(count) if intervals else ():
        for name, value in evaluate(weights).items():
            reweighted[name][done : done + len(weights)] = value
        done += len(weights)
    for metric in range(x.shape[1]):
        scored = ~np.isnan(x[:, metric])
        present = np.unique(codes[scored])
        for name in coefficients:
            for human in range(y.shape[1]):
                reason = _undefined(x[scored, metric], y[scored, human], name, binary[human])
                value = float(point[name][0, metric, human])
                key = (name, metric, human)
                if reason:
                    yield key, Estimate(None, None, None, None, int(scored.sum()), reason)
                    continue
                signs = ranked[metric].signs[human] if name in (KENDALL, AUROC) else None
                p_value = _p_value(name, x[scored, metric], y[scored, human], codes[scored], signs)
                low, high, remark = None, None, ""
                if intervals is not None:
                    values = reweighted[name][:, metric, human]
                    low, high, remark = (
                        _jackknife_interval(name, value, values[present])
                        if intervals.method == "jackknife"
                        else bootstrap_interval(values, len(present))
                    )
                yield key, Estimate(value, low, high, p_value, int(scored.sum()), remark)


def _undefined(x: np.ndarray, y: np.ndarray, coefficient: str, binary: bool) -> str:
    """Why there is no coefficient, or an empty string."""
    if len(x) < MIN_PAIRS:
        return f"{len(x)} scored responses, at least {MIN_PAIRS} needed"
    if coefficient == AUROC and not binary:
        return "human Bool is an average here, not yes or no"
    if np.all(x == x[0]):
        return (
            f"no match in {len(x)} responses (always 0)"
            if x[0] == 0
            else f"constant ({x[0]:.6g}) in {len(x)} responses"
        )
    if np.all(y == y[0]):
        return f"people say the same ({y[0]:.6g}) of all {len(y)} responses"
    return ""


def _pooled(codes: np.ndarray) -> np.ndarray:
    """The codes, or those of `MAX_GROUPS` random unions of groups where there are more groups; the same every time."""
    count = int(codes.max()) + 1
    return codes if count <= MAX_GROUPS else np.random.default_rng(0).permutation(count)[codes] % MAX_GROUPS


def _jackknife_interval(name: str, value: float, without: np.ndarray) -> tuple[float | None, float | None, str]:
    if name != AUROC:
        return correlation_interval(value, without)
    # 2 * AUROC - 1 is the rank-biserial correlation.
    low, high, remark = correlation_interval(2 * value - 1, 2 * without - 1)
    return None if low is None else (low + 1) / 2, None if high is None else (high + 1) / 2, remark


def _half_width(without: np.ndarray) -> tuple[float | None, str]:
    """t quantile times the jackknife standard error over groups, or None with the reason."""
    groups = len(without)
    if groups < MIN_GROUPS:
        return None, f"no interval: {groups} groups, at least {MIN_GROUPS} needed"
    undefined = int(np.isnan(without).sum())
    if undefined:
        which = "one group" if undefined == 1 else f"any one of {undefined} groups"
        return None, f"no interval: not defined without {which}"
    error = math.sqrt((groups - 1) * float(np.var(without)))
    if error <= NO_SPREAD:
        return None, "no interval: the same whichever group is left out"
    return error * float(stats.t.ppf((1 + LEVEL) / 2, df=groups - 1)), ""


def correlation_interval(value: float, without: np.ndarray) -> tuple[float | None, float | None, str]:
    """95% interval of a correlation: its jackknife standard error on Fisher's z scale, Student's t quantiles.

    The standard error is the jackknife's (Efron & Tibshirani 1993, An Introduction to the Bootstrap, equation 11.5)
    divided by 1 - value², the slope of Fisher's z; degrees of freedom are the groups less one. Why not a bootstrap:
    docs/decisions/0502-intervals-and-tests.md.

    Args:
        value: the coefficient of all rows, -1 to 1.
        without: shape (groups,): the coefficient without each group, NaN where it is not defined.

    Returns:
        Both ends, within -1 and 1, and an empty string; or None twice and the reason: fewer than `MIN_GROUPS` groups, a
        coefficient that hangs on one group, or one that no group changes (such as 1).
    """
    width, reason = _half_width(without)
    if width is None:
        return None, None, reason
    centre = math.atanh(max(-1 + _RELATIVE_ZERO, min(1 - _RELATIVE_ZERO, value)))
    width /= max(1 - value * value, _RELATIVE_ZERO)
    return math.tanh(centre - width), math.tanh(centre + width), ""


def difference_interval(value: float, without: np.ndarray) -> tuple[float | None, float | None, str]:
    """95% interval of a difference of two correlations with the same human values: jackknife and Student's t.

    Both correlations lose the same group at a time, so the interval is a paired one.

    Args:
        value: the difference on all rows, -2 to 2.
        without: shape (groups,): the difference without each group, NaN where it is not defined.

    Returns:
        As `correlation_interval`, within -2 and 2.
    """
    width, reason = _half_width(without)
    if width is None:
        return None, None, reason
    return max(-2.0, value - width), min(2.0, value + width), ""


def pearson_without_each(x: np.ndarray, y: np.ndarray, groups: Sequence[str]) -> np.ndarray:
    """Pearson correlations without each group, the same group for all columns (so they pair).

    Args:
        x: shape (rows, metrics), none missing.
        y: shape (rows,).
        groups: the group of each row.

    Returns:
        Shape (groups, metrics); NaN where a side is constant without the group. More than `MAX_GROUPS` groups are
        pooled at random into so many.
    """
    codes = _pooled(group_codes(groups))
    count = int(codes.max()) + 1
    statistic = _Pearson(x, y[:, None], codes, count)
    return np.concatenate([statistic(weights)[:, :, 0] for weights in weights_without_each(count)])


def group_t_test(contributions: np.ndarray, *, pairwise: bool = False) -> float | None:
    """Two-sided p-value of no association, from what each group contributes to the covariance.

    Without association the contributions have mean 0, whatever happens inside a group, so a one-sample t test over
    groups needs no independence of rows (docs/decisions/0502-intervals-and-tests.md).

    Args:
        contributions: shape (groups,): a group's sum of products of centred values (or ranks), or of pair signs.
        pairwise: the contributions are sums over pairs, each counted for both of its groups (Kendall, AUROC), which
            doubles the standard error.

    Returns:
        The p-value, or None for fewer than `MIN_GROUPS` groups or where no group differs.
    """
    count = len(contributions)
    if count < MIN_GROUPS:
        return None
    error = float(np.std(contributions, ddof=1)) / math.sqrt(count) * (2 if pairwise else 1)
    mean = float(np.mean(contributions))
    if error <= _RELATIVE_ZERO * max(1.0, abs(mean)):
        return None
    return float(2 * stats.t.sf(abs(mean) / error, df=count - 1))


def _p_value(name: str, x: np.ndarray, y: np.ndarray, codes: np.ndarray, signs: np.ndarray | None) -> float | None:
    present = np.unique(codes)
    if name in (KENDALL, AUROC):
        return group_t_test(signs.sum(axis=1)[present], pairwise=True)
    if name == SPEARMAN:
        x, y = stats.rankdata(x), stats.rankdata(y)
    products = (x - x.mean()) * (y - y.mean())
    return group_t_test(np.bincount(codes, weights=products)[present])


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction (Holm 1979); None stays None and does not count."""
    given = [(p, i) for i, p in enumerate(p_values) if p is not None]
    corrected: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (p, i) in enumerate(sorted(given)):
        running = max(running, min(1.0, (len(given) - rank) * p))
        corrected[i] = running
    return corrected


def rater_pairs(joined: Joined) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Each rater of each response beside the mean of its other raters.

    Returns:
        one: shape (pairs, 2), one rater's Likert and Bool.
        others: shape (pairs, 2), the mean of the others.
        rows: the row of `joined` behind each pair.
    """
    one, others, rows = [], [], []
    for row, human in enumerate(joined.human):
        if len(human.by_rater) < 2:
            continue
        values = np.array([human.by_rater[name] for name in sorted(human.by_rater)])
        for rater in range(len(values)):
            one.append(values[rater])
            others.append(np.delete(values, rater, axis=0).mean(0))
            rows.append(row)
    return np.array(one).reshape(-1, 2), np.array(others).reshape(-1, 2), rows


def correlation_rows(joined: Joined, domain: str, intervals: Intervals = JACKKNIFE) -> list[dict[str, object]]:
    """The rows of the correlation table (`CORRELATION_COLUMNS`) of a metric table and its ratings.

    Holm's correction runs over all metrics and both human values of one coefficient; the human ceiling is no
    hypothesis of the table and stays out of it.
    """
    table = joined.table
    human_columns = np.column_stack([joined.likert, joined.faithful])
    estimates = correlate(
        table.values,
        human_columns,
        table.groups,
        coefficients=(*COEFFICIENTS, AUROC),
        intervals=intervals,
    )
    rows = []
    for metric, name in enumerate(table.names):
        unscored = [key for key, value in zip(table.keys, table.values[:, metric], strict=True) if np.isnan(value)]
        known = table.reasons.get(name, {})
        counted = Counter(known.get(key, "no reason given") for key in unscored)
        reasons = "; ".join(f"{reason} ({n})" for reason, n in sorted(counted.items(), key=lambda c: (-c[1], c[0])))
        about = _about(domain, name, table.classes[name], table.extension[name], len(unscored), reasons)
        rows += _rows(about, metric, estimates)
    for coefficient in (*COEFFICIENTS, AUROC):
        family = [row for row in rows if row["coefficient"] == coefficient]
        for row, corrected in zip(family, holm([row["p_value"] for row in family]), strict=True):
            row["p_holm"] = corrected
    one, others, pair_rows = rater_pairs(joined)
    if pair_rows:
        for human in range(2):
            ceiling = correlate(
                one[:, [human]],
                others[:, [human]],
                [table.groups[row] for row in pair_rows],
                coefficients=COEFFICIENTS,
                intervals=intervals,
            )
            ceiling = {(name, 0, human): estimate for (name, _, _), estimate in ceiling.items()}
            rows += _rows(_about(domain, HUMAN_CEILING, HUMAN_CLASS, True, 0, ""), 0, ceiling)
    return rows


def point_rows(
    table: MetricTable, points: PointTable, ratings: Sequence[Rating], domain: str, intervals: Intervals = JACKKNIFE
) -> list[dict[str, object]]:
    """AUROC of every metric over the rated points of summaries (`CORRELATION_COLUMNS`), none if no point is rated.

    A summary's Bool is an average over its points, so only a point's own can be yes or no (arXiv 2512.05700, V-C).
    Holm's correction runs over these rows.

    Args:
        table: the metric table, for groups and classes.
        points: the values of its points.
        ratings: people's ratings, of points or not.
        domain: written into every row.
        intervals: how intervals are made.
    """
    human = point_bool(ratings)
    group_of = dict(zip(table.items, table.groups, strict=True))
    index = [row for row, key in enumerate(points.keys) if key in human and key[0] in group_of]
    if not index:
        return []
    keys = [points.keys[row] for row in index]
    values = points.values[index]
    faithful = np.array([[human[key]] for key in keys])
    groups = [group_of[key[0]] for key in keys]
    estimates = correlate(values, faithful, groups, coefficients=(AUROC,), intervals=intervals)
    rows = []
    for metric, name in enumerate(points.names):
        if name in table.classes:
            estimate = estimates[AUROC, metric, 0]
            unscored = int(np.isnan(values[:, metric]).sum())
            about = _about(domain, name, table.classes[name], table.extension[name], unscored, "")
            rows.append(_row(about, BOOL, AUROC_POINT, estimate))
    for row, corrected in zip(rows, holm([row["p_value"] for row in rows]), strict=True):
        row["p_holm"] = corrected
    return rows


def _about(
    domain: str, metric: str, metric_class: str, extension: bool, unscored: int, unscored_reasons: str
) -> dict[str, object]:
    """What all rows of one metric say of it."""
    return {
        "domain": domain,
        "metric": metric,
        "metric_class": metric_class,
        "extension": extension,
        "unscored": unscored,
        "unscored_reasons": unscored_reasons,
    }


def _rows(
    about: dict[str, object], metric: int, estimates: dict[tuple[str, int, int], Estimate]
) -> list[dict[str, object]]:
    rows = []
    for human, human_name in enumerate((LIKERT, BOOL)):
        for coefficient in (*COEFFICIENTS, AUROC):
            if coefficient == AUROC and human_name == LIKERT:
                continue
            estimate = estimates.get((coefficient, metric, human))
            if estimate is not None:
                rows.append(_row(about, human_name, coefficient, estimate))
    return rows


def _row(about: dict[str, object], human: str, coefficient: str, estimate: Estimate) -> dict[str, object]:
    return about | {
        "human": human,
        "coefficient": coefficient,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "pairs": estimate.pairs,
        "reason": estimate.reason,
        "p_value": estimate.p_value,
        "p_holm": None,
    }

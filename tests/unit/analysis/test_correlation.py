"""Coefficients against SciPy and scikit-learn, intervals against a plain loop, theory and planted truth."""

from __future__ import annotations

import os
import tracemalloc

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from faithfuse.analysis.correlation import (
    AUROC,
    COEFFICIENTS,
    HUMAN_CEILING,
    KENDALL,
    PEARSON,
    SPEARMAN,
    correlate,
    correlation_interval,
    correlation_rows,
    difference_interval,
    holm,
    pearson_without_each,
    point_rows,
    rater_pairs,
)
from faithfuse.analysis.ratings import read_metrics, read_points
from faithfuse.analysis.resampling import Intervals, bootstrap_interval, group_weights
from faithfuse.records import Rating

SIMULATIONS = 1000 if os.environ.get("FAITHFUSE_SOAK") else 150


def _alone(rows):
    return [f"{row:05d}" for row in range(rows)]


def test_coefficients_equal_scipys_with_ties_and_missing_values():
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(size=(60, 3)), 1)
    x[:7, 1] = np.nan
    y = np.column_stack([rng.integers(1, 6, 60), rng.integers(0, 2, 60)]).astype(float)
    got = correlate(x, y, _alone(60), coefficients=(*COEFFICIENTS, AUROC), intervals=None)
    for metric in range(3):
        scored = ~np.isnan(x[:, metric])
        for human in range(2):
            pair = x[scored, metric], y[scored, human]
            assert got[PEARSON, metric, human].value == pytest.approx(stats.pearsonr(*pair)[0], abs=1e-12)
            assert got[SPEARMAN, metric, human].value == pytest.approx(stats.spearmanr(*pair)[0], abs=1e-12)
            assert got[KENDALL, metric, human].value == pytest.approx(stats.kendalltau(*pair)[0], abs=1e-12)
            assert got[PEARSON, metric, human].pairs == scored.sum()
        auroc = roc_auc_score(y[scored, 1], x[scored, metric])
        assert got[AUROC, metric, 1].value == pytest.approx(auroc, abs=1e-12)
        assert got[AUROC, metric, 0].value is None


def test_a_hand_worked_example():
    # x = 1, 2, 3, 4, 5 and y = 2, 1, 4, 3, 5: deviations give 8 / 10; one pair in ten short of 8 concordant, 2 not.
    x = np.array([[1.0], [2], [3], [4], [5]])
    y = np.array([[2.0], [1], [4], [3], [5]])
    got = correlate(x, y, _alone(5), intervals=None)
    assert got[PEARSON, 0, 0].value == pytest.approx(0.8)
    assert got[SPEARMAN, 0, 0].value == pytest.approx(0.8)
    assert got[KENDALL, 0, 0].value == pytest.approx((8 - 2) / 10)


@pytest.mark.parametrize("coefficient", [PEARSON, SPEARMAN, KENDALL, AUROC])
def test_the_interval_is_that_of_a_plain_loop_over_left_out_groups(coefficient):
    rng = np.random.default_rng(5)
    groups = np.array([f"g{i // 3:02d}" for i in range(36)])
    y = rng.integers(1, 6, 36).astype(float)
    x = y + rng.normal(size=36).round(1)
    x[[4, 30, 31, 32]] = np.nan  # the eleventh group has no scored row: eleven of twelve count
    y = (y >= 3).astype(float) if coefficient == AUROC else y
    function = {
        PEARSON: lambda a, b: stats.pearsonr(a, b)[0],
        SPEARMAN: lambda a, b: stats.spearmanr(a, b)[0],
        KENDALL: lambda a, b: stats.kendalltau(a, b)[0],
        AUROC: lambda a, b: 2 * roc_auc_score(b, a) - 1,
    }[coefficient]
    scored = ~np.isnan(x)
    value = function(x[scored], y[scored])
    without = [function(x[rows], y[rows]) for rows in (scored & (groups != g) for g in sorted(set(groups[scored])))]
    assert len(without) == 11
    error = np.sqrt(10 / 11 * np.sum((without - np.mean(without)) ** 2)) / (1 - value**2)
    low, high = np.tanh(np.arctanh(value) + error * stats.t.ppf([0.025, 0.975], 10))
    if coefficient == AUROC:
        low, high = (low + 1) / 2, (high + 1) / 2
    got = correlate(x[:, None], y[:, None], list(groups), coefficients=(coefficient,))[coefficient, 0, 0]
    assert (got.low, got.high) == pytest.approx((low, high), abs=1e-10)


@pytest.mark.parametrize("coefficient", [PEARSON, SPEARMAN, KENDALL, AUROC])
def test_the_bootstrap_is_that_of_a_plain_loop_over_the_same_draws(coefficient):
    rng = np.random.default_rng(5)
    groups = [f"g{i // 3:02d}" for i in range(36)]
    y = rng.integers(1, 6, 36).astype(float)
    x = y + rng.normal(size=36).round(1)
    x[[4, 30, 31, 32]] = np.nan  # a draw of the eleventh group adds nothing
    y = (y >= 3).astype(float) if coefficient == AUROC else y
    function = {
        PEARSON: lambda a, b: stats.pearsonr(a, b)[0],
        SPEARMAN: lambda a, b: stats.spearmanr(a, b)[0],
        KENDALL: lambda a, b: stats.kendalltau(a, b)[0],
        AUROC: lambda a, b: roc_auc_score(b, a),
    }[coefficient]
    codes = np.unique(groups, return_inverse=True)[1]
    drawn = []
    for weights in group_weights(12, 300, seed=9):
        for draw in weights:
            rows = np.repeat(np.arange(36), draw[codes].astype(int))
            rows = rows[~np.isnan(x[rows])]
            drawn.append(function(x[rows], y[rows]))
    assert len(drawn) == 300
    intervals = Intervals("bootstrap", 300, 9)
    got = correlate(x[:, None], y[:, None], groups, coefficients=(coefficient,), intervals=intervals)
    estimate = got[coefficient, 0, 0]
    assert (estimate.low, estimate.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=1e-10)


def test_a_bootstrap_draw_holds_as_many_groups_as_there_are_and_each_as_often():
    weights = np.concatenate(list(group_weights(20, 3000, seed=1)))
    assert weights.shape == (3000, 20)
    assert (weights.sum(1) == 20).all()
    # A count is binomial(20, 1/20): mean 1, variance 0.95, so a mean of 3,000 has a standard error of 0.018.
    assert np.abs(weights.mean(0) - 1).max() < 5 * 0.018
    assert weights.var() == pytest.approx(0.95, abs=0.05)


def test_the_bootstrap_agrees_with_scipys():
    rng = np.random.default_rng(8)
    x = rng.normal(size=80)
    y = 0.6 * x + 0.8 * rng.normal(size=80)
    intervals = Intervals("bootstrap", 4000)
    got = correlate(x[:, None], y[:, None], _alone(80), coefficients=(PEARSON,), intervals=intervals)[PEARSON, 0, 0]
    theirs = stats.bootstrap(
        (x, y),
        lambda a, b, axis: stats.pearsonr(a, b, axis=axis)[0],
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=4000,
        rng=1,
    ).confidence_interval
    assert (got.low, got.high) == pytest.approx(tuple(theirs), abs=0.015)


def test_the_seed_decides_the_bootstrap_and_the_method_nothing_but_the_interval():
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(40, 1))
    one, again, other = (correlate(x, y, _alone(40), intervals=Intervals("bootstrap", 200, seed)) for seed in (1, 1, 2))
    jackknife = correlate(x, y, _alone(40))
    assert one == again
    for key, estimate in one.items():
        assert estimate.low < estimate.value < estimate.high
        assert (estimate.low, estimate.high) != (other[key].low, other[key].high)
        assert (estimate.low, estimate.high) != (jackknife[key].low, jackknife[key].high)
        assert (estimate.value, estimate.p_value) == (jackknife[key].value, jackknife[key].p_value)


def test_a_rare_match_that_many_resamples_miss_gets_no_bootstrap_interval_and_a_rarer_miss_is_counted():
    # A draw of 60 groups misses one of them in 36%, three of them in 5% of cases.
    x = np.zeros((60, 2))
    x[0] = 1
    x[[10, 20], 1] = 1
    got = correlate(x, np.arange(60.0)[::-1, None].copy(), _alone(60), intervals=Intervals("bootstrap", 400))
    for coefficient in COEFFICIENTS:
        once, thrice = got[coefficient, 0, 0], got[coefficient, 1, 0]
        assert once.value is not None
        assert (once.low, once.high) == (None, None)
        assert once.reason == f"no interval: undefined in {_missed([0])} of 400 resamples"
        assert thrice.low < thrice.value < thrice.high
        assert thrice.reason == f"undefined in {_missed([0, 10, 20])} of 400 resamples"


def _missed(rows):
    return sum(int((weights[:, rows].sum(1) == 0).sum()) for weights in group_weights(60, 400, 0))


def test_a_bootstrap_without_spread_or_with_few_groups_gives_no_interval_but_the_reason():
    line = np.arange(30.0)[:, None]
    intervals = Intervals("bootstrap", 200)
    for estimate in correlate(line, line, _alone(30), intervals=intervals).values():
        assert (estimate.value, estimate.low, estimate.high) == (pytest.approx(1), None, None)
        assert "the same in every resample" in estimate.reason
    assert bootstrap_interval(np.linspace(0, 1, 101), 5) == (pytest.approx(0.025), pytest.approx(0.975), "")
    assert bootstrap_interval(np.linspace(0, 1, 101), 4)[2] == "no interval: 4 groups, at least 5 needed"


def test_with_many_independent_rows_the_interval_is_fishers():
    # Fisher 1921: z = atanh(r) has the standard error 1 / sqrt(n - 3) for bivariate normal values.
    rng = np.random.default_rng(8)
    x = rng.normal(size=2000)
    y = 0.6 * x + 0.8 * rng.normal(size=2000)
    got = correlate(x[:, None], y[:, None], _alone(2000), coefficients=(PEARSON,))[PEARSON, 0, 0]
    width = 1.96 / np.sqrt(1997)
    assert got.low == pytest.approx(np.tanh(np.arctanh(got.value) - width), abs=0.003)
    assert got.high == pytest.approx(np.tanh(np.arctanh(got.value) + width), abs=0.003)


def test_a_perfect_correlation_has_no_interval_but_the_reason():
    got = correlate(np.arange(30.0)[:, None], np.arange(30.0)[:, None], _alone(30))
    for coefficient in COEFFICIENTS:
        estimate = got[coefficient, 0, 0]
        assert (estimate.value, estimate.low, estimate.high) == (pytest.approx(1), None, None)
        assert "the same whichever group is left out" in estimate.reason


def test_an_interval_stays_within_what_a_correlation_can_be():
    rng = np.random.default_rng(1)
    for value in (-1.0, -1 + 1e-13, 0.0, 0.999, 1.0):
        without = np.clip(value + 0.3 * rng.normal(size=8), -1, 1)
        low, high, reason = correlation_interval(value, without)
        assert -1 <= low <= value + 1e-9
        assert value - 1e-9 <= high <= 1
        assert not reason
        assert np.abs(difference_interval(2 * value, 2 * without)[:2]).max() <= 2


def test_more_groups_than_the_limit_are_pooled_to_about_the_same_interval(monkeypatch):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(1500, 1)), rng.normal(size=(1500, 1))
    x += 0.5 * y
    whole = correlate(x, y, _alone(1500), coefficients=(PEARSON, SPEARMAN))
    monkeypatch.setattr("faithfuse.analysis.correlation.MAX_GROUPS", 300)
    pooled = correlate(x, y, _alone(1500), coefficients=(PEARSON, SPEARMAN))
    assert len(pearson_without_each(x, y[:, 0], _alone(1500))) == 300
    for key, estimate in pooled.items():
        assert estimate.value == pytest.approx(whole[key].value, abs=1e-12)
        assert estimate.high - estimate.low == pytest.approx(whole[key].high - whole[key].low, rel=0.15)


def _ratings_and_metrics(rng, groups):
    """Likert ratings in groups of 2 to 4 with an intraclass correlation of 0.4, and two metrics of equal worth."""
    codes = np.repeat(np.arange(groups), rng.integers(2, 5, groups))

    def normal():
        return np.sqrt(0.4) * rng.normal(size=groups)[codes] + np.sqrt(0.6) * rng.normal(size=len(codes))

    quality = normal()
    x = np.column_stack([0.4 * quality + np.sqrt(1 - 0.16) * normal() for _ in range(2)])
    return x, np.clip(np.round(3.6 + 1.1 * quality), 1, 5), [f"{code:03d}" for code in codes]


@pytest.mark.parametrize("groups", [12, 20])
def test_few_groups_cover_a_correlation_and_a_difference_at_the_nominal_rate(groups):
    rng = np.random.default_rng(31)
    x, y, _ = _ratings_and_metrics(rng, 60_000)
    truth = np.mean([np.corrcoef(x[:, metric], y)[0, 1] for metric in range(2)])
    runs = 4000 if os.environ.get("FAITHFUSE_SOAK") else 1500
    single, difference = 0, 0
    for _ in range(runs):
        x, y, names = _ratings_and_metrics(rng, groups)
        value = np.corrcoef(x.T, y)[2, :2]
        without = pearson_without_each(x, y, names)
        low, high, _ = correlation_interval(value[0], without[:, 0])
        single += low <= truth <= high
        low, high, _ = difference_interval(value[0] - value[1], without[:, 0] - without[:, 1])
        difference += low <= 0 <= high
    # A percentile bootstrap over groups covers 0.90 to 0.92 here; 0.93 is five standard errors above its 0.90.
    assert 0.93 <= single / runs <= 0.97
    assert 0.93 <= difference / runs <= 0.97


def test_rows_of_one_group_do_not_count_as_independent():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(40, 1))
    y = 0.5 * x + rng.normal(size=(40, 1))
    copies = np.repeat(np.arange(40), 5)
    alone = correlate(x, y, _alone(40))[PEARSON, 0, 0]
    grouped = correlate(x[copies], y[copies], [f"{i:03d}" for i in copies])[PEARSON, 0, 0]
    assert (grouped.low, grouped.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
    assert grouped.pairs == 200


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_known_correlation_is_covered_at_the_nominal_rate(coefficient):
    # Bivariate normal with rho = 0.6: tau = 2/pi * asin(rho), Spearman = 6/pi * asin(rho/2) (Kendall & Gibbons).
    rho = 0.6
    truth = {PEARSON: rho, SPEARMAN: 6 / np.pi * np.arcsin(rho / 2), KENDALL: 2 / np.pi * np.arcsin(rho)}
    rng = np.random.default_rng(17)
    covered = 0
    for _ in range(SIMULATIONS):
        x = rng.normal(size=100)
        y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=100)
        got = correlate(x[:, None], y[:, None], _alone(100), coefficients=(coefficient,))[coefficient, 0, 0]
        covered += got.low <= truth[coefficient] <= got.high
    assert 0.915 <= covered / SIMULATIONS <= 0.985


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_useless_metrics_seldom_get_a_significant_row_after_holm(coefficient):
    rng = np.random.default_rng(23)
    tables = 500 if os.environ.get("FAITHFUSE_SOAK") else 150
    wrong = 0
    for _ in range(tables):
        x, y = rng.normal(size=(100, 15)), rng.integers(1, 6, (100, 1)).astype(float)
        got = correlate(x, y, _alone(100), coefficients=(coefficient,), intervals=None)
        wrong += min(holm([got[coefficient, metric, 0].p_value for metric in range(15)])) < 0.05
    # At the nominal 5% more than this number of tables comes in 1% of runs.
    assert wrong <= stats.binom.ppf(0.99, tables, 0.05)


def test_rows_that_share_their_group_do_not_make_a_useless_metric_significant():
    rng = np.random.default_rng(29)
    groups = [f"{i // 4:03d}" for i in range(120)]
    p_values = []
    for _ in range(300):
        x = rng.normal(size=(120, 1)) + 2 * np.repeat(rng.normal(size=(30, 1)), 4, axis=0)
        y = rng.normal(size=(120, 1)) + 2 * np.repeat(rng.normal(size=(30, 1)), 4, axis=0)
        p_values.append(correlate(x, y, groups, coefficients=(PEARSON,), intervals=None)[PEARSON, 0, 0].p_value)
    assert 0.02 <= np.mean(np.array(p_values) < 0.05) <= 0.09


def test_holm_follows_the_worked_example_of_r():
    # p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm") in R gives 0.04 0.06 0.06 0.06.
    assert holm([0.04, 0.01, None, 0.03, 0.02]) == pytest.approx([0.06, 0.04, None, 0.06, 0.06])


def test_a_constant_metric_gets_no_number_but_a_reason():
    x = np.column_stack([np.zeros(30), np.full(30, 0.7), np.full(30, np.nan), np.arange(30)])
    y = np.arange(30.0)[:, None]
    got = correlate(x, y, _alone(30))
    for metric, reason in enumerate(["no match in 30 responses", "constant (0.7)", "0 scored responses"]):
        for coefficient in COEFFICIENTS:
            estimate = got[coefficient, metric, 0]
            assert (estimate.value, estimate.low, estimate.p_value) == (None, None, None)
            assert reason in estimate.reason
    assert got[PEARSON, 3, 0].value == pytest.approx(1)


def test_constant_people_get_a_reason():
    got = correlate(np.arange(30.0)[:, None], np.full((30, 1), 4.0), _alone(30))
    assert "people say the same (4)" in got[PEARSON, 0, 0].reason


def test_a_match_in_one_group_alone_gets_a_value_but_no_interval():
    x = np.zeros((60, 2))
    x[0] = 1
    x[1, 1] = 1
    got = correlate(x, np.arange(60.0)[::-1, None].copy(), _alone(60))
    for coefficient in COEFFICIENTS:
        once, twice = got[coefficient, 0, 0], got[coefficient, 1, 0]
        assert once.value is not None
        assert (once.low, once.high) == (None, None)
        assert once.reason == "no interval: not defined without one group"
        assert twice.low < twice.value < twice.high


def test_too_few_groups_give_a_value_without_an_interval():
    got = correlate(np.arange(12.0)[:, None], np.arange(12.0)[:, None] ** 2, ["a", "b"] * 6)
    assert got[PEARSON, 0, 0].value > 0.9
    assert "2 groups" in got[PEARSON, 0, 0].reason


def test_memory_does_not_grow_with_the_metrics(monkeypatch):
    monkeypatch.setattr("faithfuse.analysis.correlation._KEPT_VALUES", 300 * 10 * 2)
    rng = np.random.default_rng(0)
    x, y, groups = rng.normal(size=(300, 40)), rng.normal(size=(300, 1)), _alone(300)

    def peak(metrics):
        tracemalloc.start()
        correlate(x[:, :metrics], y, groups, coefficients=(PEARSON, SPEARMAN))
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return result

    assert peak(40) < 1.2 * peak(10)


def test_memory_does_not_grow_with_the_resamples(monkeypatch):
    monkeypatch.setattr("faithfuse.analysis.correlation._KEPT_VALUES", 4000 * 2 * 2)
    rng = np.random.default_rng(0)
    x, y, groups = rng.normal(size=(100, 40)), rng.normal(size=(100, 1)), _alone(100)

    def peak(resamples):
        tracemalloc.start()
        correlate(x, y, groups, coefficients=(PEARSON, SPEARMAN), intervals=Intervals("bootstrap", resamples))
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return result

    # All values of 4,000 draws would be 2.2 MB more than those of 500, twice what the rest takes.
    assert peak(4000) < 1.2 * peak(500)


@pytest.mark.parametrize("intervals", [Intervals(), Intervals("bootstrap", 100)])
def test_many_metrics_in_blocks_give_what_one_block_gives(monkeypatch, intervals):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(40, 7)), rng.normal(size=(40, 2))
    whole = correlate(x, y, _alone(40), intervals=intervals)
    monkeypatch.setattr("faithfuse.analysis.correlation._KEPT_VALUES", 40 * 2 * 3 * 2)
    parts = correlate(x, y, _alone(40), intervals=intervals)
    assert parts.keys() == whole.keys()
    for key, estimate in whole.items():
        assert parts[key].value == pytest.approx(estimate.value, abs=1e-12)
        assert parts[key].low == pytest.approx(estimate.low, abs=1e-12)


def test_unscored_rows_are_counted_with_their_reasons(planted):
    files = planted(rows=30, missing=0.2, seed=1)
    table = files.joined().table
    column = table.names.index("ROUGE-1")
    unscored = [key for key, value in zip(table.keys, table.values[:, column], strict=True) if np.isnan(value)]
    text = "item_id,system,metric,reason\n" + "".join(f"{i},{s},ROUGE-1,no reference\n" for i, s in unscored[1:])
    files.metrics.with_name("METRICS.csv.unscored.csv").write_text(text, encoding="utf-8")
    rows = correlation_rows(files.joined(), "d")
    row = next(row for row in rows if row["metric"] == "ROUGE-1" and row["coefficient"] == PEARSON)
    assert row["pairs"] + row["unscored"] == 30
    assert row["unscored"] == len(unscored) > 1
    assert row["unscored_reasons"] in (
        f"no reference ({len(unscored) - 1}); no reason given (1)",
        "no reason given (1); no reference (1)",
    )


def test_auroc_is_given_only_where_bool_is_yes_or_no(planted):
    one = correlation_rows(planted(rows=40, raters=1, folder="one").joined(), "d")
    several = correlation_rows(planted(rows=40, raters=3, seed=5, folder="several").joined(), "d")
    assert {row["human"] for row in one if row["coefficient"] == AUROC} == {"bool"}
    assert all(row["value"] is not None for row in one if row["coefficient"] == AUROC)
    assert all("average" in row["reason"] for row in several if row["coefficient"] == AUROC)


def test_the_human_ceiling_stands_where_there_are_several_raters(planted):
    several = planted(rows=60, raters=3, folder="several").joined()
    rows = [row for row in correlation_rows(several, "d") if row["metric"] == HUMAN_CEILING]
    ceiling = next(row for row in rows if row["human"] == "likert" and row["coefficient"] == PEARSON)
    one, others, _ = rater_pairs(several)
    assert ceiling["value"] == pytest.approx(stats.pearsonr(one[:, 0], others[:, 0])[0])
    assert ceiling["pairs"] == 180
    assert ceiling["p_holm"] is None
    assert ceiling["metric_class"] == "human"
    alone = correlation_rows(planted(rows=60, folder="alone").joined(), "d")
    assert all(row["metric"] != HUMAN_CEILING for row in alone)


def test_auroc_over_points_is_scikit_learns_and_stands_in_the_row_of_the_mean(planted, tmp_path):
    files = planted(rows=40, strength={"ROUGE-1 mean": 0.6, "ROUGE-1 max": 0.5}, domain="summarisation")
    rng = np.random.default_rng(0)
    lines, ratings, values, faithful = ["item_id,system,point,ROUGE-1 mean"], [], [], []
    for row in range(40):
        for point in range(2):
            values.append(float(rng.normal()))
            faithful.append(float(values[-1] + rng.normal() > 0))
            lines.append(f"q{row:04d},s,{point},{values[-1]!r}")
            likert = 5 if faithful[-1] else 1
            ratings.append(
                Rating(item_id=f"q{row:04d}", system="s", annotator="r", point=point, likert=likert),
            )
    lines.append("q0000,s,2,")  # a point that nobody rated
    files.metrics.with_name("METRICS.csv.points.csv").write_text("\n".join(lines) + "\n")
    (row,) = point_rows(read_metrics(files.metrics), read_points(files.metrics), ratings, "summarisation")
    assert (row["metric"], row["human"], row["coefficient"], row["pairs"]) == (
        "ROUGE-1 mean",
        "bool",
        "auroc_point",
        80,
    )
    assert row["value"] == pytest.approx(roc_auc_score(faithful, values))
    assert row["low"] < row["value"] < row["high"]


def test_points_that_raters_judge_differently_have_no_auroc(planted):
    files = planted(rows=12, strength={"ROUGE-1 mean": 0.6}, domain="summarisation")
    lines = ["item_id,system,point,ROUGE-1 mean", *(f"q{row:04d},s,0,{row}" for row in range(12))]
    files.metrics.with_name("METRICS.csv.points.csv").write_text("\n".join(lines) + "\n")
    ratings = [
        Rating(item_id=f"q{row:04d}", system="s", annotator=name, point=0, likert=likert)
        for row in range(12)
        for name, likert in (("a", 1 + row % 5), ("b", 4))
    ]
    (row,) = point_rows(read_metrics(files.metrics), read_points(files.metrics), ratings, "summarisation")
    assert (row["value"], row["reason"]) == (None, "human Bool is an average here, not yes or no")

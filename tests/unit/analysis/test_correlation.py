"""Coefficients against SciPy and scikit-learn, intervals against SciPy's bootstrap and planted truth."""

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
    correlation_rows,
    group_weights,
    holm,
    rater_pairs,
)

SIMULATIONS = 500 if os.environ.get("FAITHFUSE_SOAK") else 120


def _alone(rows):
    return [f"{row:05d}" for row in range(rows)]


def test_coefficients_equal_scipys_with_ties_and_missing_values():
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(size=(60, 3)), 1)
    x[:7, 1] = np.nan
    y = np.column_stack([rng.integers(1, 6, 60), rng.integers(0, 2, 60)]).astype(float)
    got = correlate(x, y, _alone(60), coefficients=(*COEFFICIENTS, AUROC), resamples=0)
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
    got = correlate(x, y, _alone(5), resamples=0)
    assert got[PEARSON, 0, 0].value == pytest.approx(0.8)
    assert got[SPEARMAN, 0, 0].value == pytest.approx(0.8)
    assert got[KENDALL, 0, 0].value == pytest.approx((8 - 2) / 10)


@pytest.mark.parametrize("coefficient", [PEARSON, SPEARMAN, KENDALL])
def test_the_interval_is_that_of_a_plain_loop_over_the_same_draws(coefficient):
    rng = np.random.default_rng(5)
    groups = [f"g{i // 3}" for i in range(36)]
    y = rng.integers(1, 6, (36, 1)).astype(float)
    x = y + rng.normal(size=(36, 1)).round(1)
    codes = np.unique(groups, return_inverse=True)[1]
    function = {PEARSON: stats.pearsonr, SPEARMAN: stats.spearmanr, KENDALL: stats.kendalltau}[coefficient]
    drawn = []
    for weights in group_weights(12, 300, seed=9):
        for draw in weights:
            rows = np.repeat(np.arange(36), draw[codes].astype(int))
            drawn.append(function(x[rows, 0], y[rows, 0])[0])
    low, high = np.quantile(drawn, [0.025, 0.975])
    got = correlate(x, y, groups, resamples=300, seed=9)[coefficient, 0, 0]
    assert got.low == pytest.approx(low, abs=1e-10)
    assert got.high == pytest.approx(high, abs=1e-10)


def test_the_interval_agrees_with_scipys_bootstrap():
    rng = np.random.default_rng(8)
    x = rng.normal(size=80)
    y = 0.6 * x + 0.8 * rng.normal(size=80)
    got = correlate(x[:, None], y[:, None], _alone(80), resamples=4000)[PEARSON, 0, 0]
    theirs = stats.bootstrap(
        (x, y),
        lambda a, b, axis: stats.pearsonr(a, b, axis=axis)[0],
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=4000,
        rng=1,
    ).confidence_interval
    assert got.low == pytest.approx(theirs.low, abs=0.015)
    assert got.high == pytest.approx(theirs.high, abs=0.015)


def test_rows_of_one_group_do_not_count_as_independent():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(40, 1))
    y = 0.5 * x + rng.normal(size=(40, 1))
    copies = np.repeat(np.arange(40), 5)
    alone = correlate(x, y, _alone(40), resamples=500)[PEARSON, 0, 0]
    grouped = correlate(x[copies], y[copies], [f"{i:03d}" for i in copies], resamples=500)[PEARSON, 0, 0]
    assert (grouped.low, grouped.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
    assert grouped.pairs == 200


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_known_correlation_is_covered_at_the_nominal_rate(coefficient):
    # Bivariate normal with rho = 0.6: tau = 2/pi * asin(rho), Spearman = 6/pi * asin(rho/2) (Kendall & Gibbons).
    rho = 0.6
    truth = {PEARSON: rho, SPEARMAN: 6 / np.pi * np.arcsin(rho / 2), KENDALL: 2 / np.pi * np.arcsin(rho)}
    rng = np.random.default_rng(17)
    covered = 0
    for simulation in range(SIMULATIONS):
        x = rng.normal(size=100)
        y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=100)
        got = correlate(
            x[:, None], y[:, None], _alone(100), coefficients=(coefficient,), resamples=400, seed=simulation
        )[coefficient, 0, 0]
        covered += got.low <= truth[coefficient] <= got.high
    assert 0.90 <= covered / SIMULATIONS <= 0.99


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_useless_metrics_seldom_get_a_significant_row_after_holm(coefficient):
    rng = np.random.default_rng(23)
    tables = 500 if os.environ.get("FAITHFUSE_SOAK") else 150
    wrong = 0
    for _ in range(tables):
        x, y = rng.normal(size=(100, 15)), rng.integers(1, 6, (100, 1)).astype(float)
        got = correlate(x, y, _alone(100), coefficients=(coefficient,), resamples=0)
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
        p_values.append(correlate(x, y, groups, coefficients=(PEARSON,), resamples=0)[PEARSON, 0, 0].p_value)
    assert 0.02 <= np.mean(np.array(p_values) < 0.05) <= 0.09


def test_holm_follows_the_worked_example_of_r():
    # p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm") in R gives 0.04 0.06 0.06 0.06.
    assert holm([0.04, 0.01, None, 0.03, 0.02]) == pytest.approx([0.06, 0.04, None, 0.06, 0.06])


def test_a_constant_metric_gets_no_number_but_a_reason():
    x = np.column_stack([np.zeros(30), np.full(30, 0.7), np.full(30, np.nan), np.arange(30)])
    y = np.arange(30.0)[:, None]
    got = correlate(x, y, _alone(30), resamples=50)
    for metric, reason in enumerate(["no match in 30 responses", "constant (0.7)", "0 scored responses"]):
        for coefficient in COEFFICIENTS:
            estimate = got[coefficient, metric, 0]
            assert (estimate.value, estimate.low, estimate.p_value) == (None, None, None)
            assert reason in estimate.reason
    assert got[PEARSON, 3, 0].value == pytest.approx(1)


def test_constant_people_get_a_reason():
    got = correlate(np.arange(30.0)[:, None], np.full((30, 1), 4.0), _alone(30), resamples=50)
    assert "people say the same (4)" in got[PEARSON, 0, 0].reason


def test_a_rare_match_that_many_resamples_miss_gets_a_value_but_no_interval():
    x = np.zeros((60, 1))
    x[0] = 1
    got = correlate(x, np.arange(60.0)[::-1, None].copy(), _alone(60), resamples=400)[PEARSON, 0, 0]
    assert got.value is not None
    assert got.low is None
    assert "undefined in" in got.reason


def test_too_few_groups_give_a_value_without_an_interval():
    got = correlate(np.arange(12.0)[:, None], np.arange(12.0)[:, None] ** 2, ["a", "b"] * 6, resamples=50)
    assert got[PEARSON, 0, 0].value > 0.9
    assert "2 groups" in got[PEARSON, 0, 0].reason


def test_memory_does_not_grow_with_the_resamples():
    rng = np.random.default_rng(0)
    x, y, groups = rng.normal(size=(300, 20)), rng.normal(size=(300, 1)), _alone(300)

    def peak(resamples):
        tracemalloc.start()
        correlate(x, y, groups, coefficients=(PEARSON, SPEARMAN), resamples=resamples)
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return result

    # The weights of 4,000 draws alone would be 9.6 MB more than those of 500; what is kept is 8 bytes a value.
    assert peak(4000) - peak(500) < 1.5 * 3500 * 20 * 2 * 8


def test_many_metrics_in_blocks_give_what_one_block_gives(monkeypatch):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(40, 7)), rng.normal(size=(40, 2))
    whole = correlate(x, y, _alone(40), resamples=100)
    monkeypatch.setattr("faithfuse.analysis.correlation._KEPT_VALUES", 100 * 2 * 3 * 2)
    parts = correlate(x, y, _alone(40), resamples=100)
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
    rows = correlation_rows(files.joined(), "d", resamples=20)
    row = next(row for row in rows if row["metric"] == "ROUGE-1" and row["coefficient"] == PEARSON)
    assert row["pairs"] + row["unscored"] == 30
    assert row["unscored"] == len(unscored) > 1
    assert row["unscored_reasons"] in (
        f"no reference ({len(unscored) - 1}); no reason given (1)",
        "no reason given (1); no reference (1)",
    )


def test_auroc_is_given_only_where_bool_is_yes_or_no(planted):
    one = correlation_rows(planted(rows=40, raters=1, folder="one").joined(), "d", resamples=20)
    several = correlation_rows(planted(rows=40, raters=3, seed=5, folder="several").joined(), "d", resamples=20)
    assert {row["human"] for row in one if row["coefficient"] == AUROC} == {"bool"}
    assert all(row["value"] is not None for row in one if row["coefficient"] == AUROC)
    assert all("average" in row["reason"] for row in several if row["coefficient"] == AUROC)


def test_the_human_ceiling_stands_where_there_are_several_raters(planted):
    several = planted(rows=60, raters=3, folder="several").joined()
    rows = [row for row in correlation_rows(several, "d", resamples=50) if row["metric"] == HUMAN_CEILING]
    ceiling = next(row for row in rows if row["human"] == "likert" and row["coefficient"] == PEARSON)
    one, others, _ = rater_pairs(several)
    assert ceiling["value"] == pytest.approx(stats.pearsonr(one[:, 0], others[:, 0])[0])
    assert ceiling["pairs"] == 180
    assert ceiling["p_holm"] is None
    assert ceiling["metric_class"] == "human"
    alone = correlation_rows(planted(rows=60, folder="alone").joined(), "d", resamples=50)
    assert all(row["metric"] != HUMAN_CEILING for row in alone)

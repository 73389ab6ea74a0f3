"""What fusion finds where the truth is planted, and what it must not find where there is none."""

from __future__ import annotations

import math
import os
from dataclasses import replace

import numpy as np
import pytest

from faithfuse.analysis import baselines
from faithfuse.analysis.baselines import BASELINES, best_single, pearson, predict_baselines
from faithfuse.analysis.card import card_text
from faithfuse.analysis.correlation import difference_interval, pearson_without_each
from faithfuse.analysis.ebm import EbmSettings
from faithfuse.analysis.fusion import fuse, williams_test
from faithfuse.analysis.ratings import distinct_metrics
from faithfuse.errors import FaithfuseError

FAST = EbmSettings(outer_bags=2, smoothing_rounds=20)
SOAK = bool(os.environ.get("FAITHFUSE_SOAK"))


@pytest.fixture(autouse=True)
def small_forest(monkeypatch):
    monkeypatch.setattr(baselines, "TREES", 200 if SOAK else 20)


def _by_system(rows):
    return {row["system"]: row for row in rows}


def test_williams_test_gives_the_published_example():
    # Steiger 1980, case A: verbal ability with masculinity 0.4 and femininity 0.5, the two with each other 0.1,
    # n = 103; psych::r.test(103, .4, .5, .1) prints t = -0.89, p < 0.37.
    t, p = williams_test(0.4, 0.5, 0.1, 103)
    assert t == pytest.approx(-0.89, abs=0.005)
    assert p == pytest.approx(0.37, abs=0.006)
    assert williams_test(0.5, 0.4, 0.1, 103)[0] == pytest.approx(-t)


def test_williams_test_is_undefined_for_three_rows_or_equal_metrics():
    assert math.isnan(williams_test(0.4, 0.5, 0.1, 3)[0])
    assert math.isnan(williams_test(1.0, 1.0, 1.0, 50)[0])


def test_metrics_that_complement_each_other_fuse_to_more_than_the_best(planted):
    strength = {"LLM Conf.": 0.6, "ROUGE-1": 0.6, "BERTScore": 0.6, "SMATCH mean": 0.6, "Lexical match": 0.6}
    fusion = fuse(planted(rows=300, strength=strength).joined(), "d", seeds=2, settings=FAST)
    evaluation = _by_system(fusion.evaluation)
    assert evaluation["difference"]["low"] > 0
    assert evaluation["difference"]["p_value"] < 0.01
    assert evaluation["fused"]["value"] > evaluation["best_single"]["value"] + 0.05
    assert _by_system(fusion.splits)["difference"]["value"] > 0.05


def test_the_class_of_the_only_good_metric_has_the_share_and_the_drop(planted):
    strength = {"LLM Conf.": 0.9, "ROUGE-1": 0.0, "BERTScore": 0.0, "SMATCH mean": 0.0}
    fusion = fuse(planted(rows=200, strength=strength).joined(), "d", seeds=3, settings=FAST)
    rows = {row["metric_class"]: row for row in fusion.importances}
    assert sum(row["share"] for row in rows.values()) == pytest.approx(1)
    assert rows["llm"]["share"] > 0.6
    assert rows["llm"]["blind_drop"] > 0.5
    assert abs(rows["graph"]["blind_drop"]) < 0.1
    assert {row["seeds"] for row in rows.values()} == {3}


def test_correlated_metrics_trade_importance_but_neither_is_needed(planted, tmp_path):
    files = planted(rows=240, strength={"LLM Conf.": 0.8, "ROUGE-1": 0.0})
    header, *lines = files.metrics.read_text().splitlines()
    twins = [line.rsplit(",", 1)[0] + "," + line.rsplit(",", 2)[1] for line in lines]
    twins[0] = lines[0]  # but for one row, else the second would be left out
    files.metrics.write_text("\n".join([header, *twins]) + "\n")
    rows = {row["metric_class"]: row for row in fuse(files.joined(), "d", seeds=2, settings=FAST).importances}
    assert rows["llm"]["share"] > 0.2 < rows["n-gram"]["share"]
    assert abs(rows["llm"]["blind_drop"]) < 0.03 > abs(rows["n-gram"]["blind_drop"])


def test_fusion_of_pure_noise_shows_no_gain(planted):
    runs = 60 if SOAK else 12
    gains, above = [], 0
    other_people, outside = 100, 0
    rng = np.random.default_rng(41)
    for seed in range(runs):
        joined = planted(rows=80, seed=seed, noise_ratings=True).joined()
        fusion = fuse(joined, "d", seeds=1, settings=FAST, seed=seed)
        difference = _by_system(fusion.evaluation)["difference"]
        gains.append(difference["value"])
        above += difference["low"] > 0
        assert _by_system(fusion.evaluation)["fused"]["low"] < 0.35
        # Of other people who rate at random, too, neither score knows more than the other: a narrow interval shows.
        scores = np.array([[row["fused"], row["best_single"]] for row in fusion.blind])
        groups = [row["group"] for row in fusion.blind]
        for _ in range(other_people):
            human = np.clip(3 + rng.normal(size=len(scores)), 1, 5)
            value = pearson(scores[:, 0], human) - pearson(scores[:, 1], human)
            without = pearson_without_each(scores, human, groups)
            low, high, _ = difference_interval(value, without[:, 0] - without[:, 1])
            outside += not low <= 0 <= high
    assert len(set(groups)) == 12
    assert abs(np.mean(gains)) < 3 * np.std(gains) / np.sqrt(runs) + 0.02
    assert above <= max(2, 0.08 * runs)
    assert 0.03 <= outside / (runs * other_people) <= 0.07


def test_a_metric_that_repeats_another_is_left_out_and_named(planted):
    joined = planted(rows=80, missing=0.1).joined()
    table = joined.table
    alone = fuse(joined, "d", seeds=2, settings=FAST)
    doubled = replace(
        joined,
        table=replace(
            table,
            names=["constant", *table.names, "ROUGE-1 again", "constant again", "ROUGE-1 but once"],
            values=np.column_stack([np.zeros(80), table.values, table.values[:, 1], np.zeros(80), table.values[:, 1]]),
            classes={**table.classes, "ROUGE-1 again": "graph", "ROUGE-1 but once": "other"}
            | dict.fromkeys(("constant", "constant again"), "other"),
        ),
    )
    doubled.table.values[3, -1] = 7.0
    fusion = fuse(doubled, "d", seeds=2, settings=FAST)
    assert fusion.model.metrics == [*table.names, "ROUGE-1 but once"]
    assert fusion.model.dropped["ROUGE-1 again"] == "the same values as ROUGE-1 on all 80 rows"
    assert "constant (0)" in fusion.model.dropped["constant again"]
    assert "ROUGE-1 again (the same values as ROUGE-1 on all 80 rows)" in card_text(fusion)
    joined, _ = distinct_metrics(replace(joined, table=doubled.table.columns(list(range(1, 8)))))
    assert fuse(joined, "d", seeds=2, settings=FAST).importances == alone.importances


def test_blind_rows_share_no_group_with_the_training_side(planted):
    joined = planted(rows=90, per_group=3).joined()
    fusion = fuse(joined, "d", seeds=1, settings=FAST)
    training = fusion.model.training
    assert training["rows"] + training["blind_rows"] == 90
    assert training["groups"] + training["blind_groups"] == 30
    blind_groups = {row["group"] for row in fusion.blind}
    assert len(blind_groups) == training["blind_groups"] == 9
    assert len(fusion.blind) == 27


def test_blind_values_do_not_reach_the_model(planted):
    joined = planted(rows=80).joined()
    first = fuse(joined, "d", seeds=1, settings=FAST)
    keys = {(row["item_id"], row["system"]) for row in first.blind}
    for index, key in enumerate(joined.table.keys):
        if key in keys:
            joined.table.values[index] = 0.5 + index
    again = fuse(joined, "d", seeds=1, settings=FAST)
    assert again.model == first.model
    assert again.blind != first.blind


def test_the_best_single_metric_is_chosen_on_the_training_side(planted):
    # On the blind rows alone a second metric is perfect; it must not be chosen for that.
    joined = planted(rows=100, strength={"LLM Conf.": 0.7, "ROUGE-1": 0.0}).joined()
    blind = {(row["item_id"], row["system"]) for row in fuse(joined, "d", seeds=1, settings=FAST).blind}
    for index, key in enumerate(joined.table.keys):
        if key in blind:
            joined.table.values[index, 1] = joined.likert[index]
    evaluation = _by_system(fuse(joined, "d", seeds=1, settings=FAST).evaluation)
    assert evaluation["best_single"]["metric"] == "LLM Conf."
    assert evaluation["paper_way"]["metric"] == "LLM Conf."


def test_all_systems_stand_on_the_same_blind_rows(planted):
    fusion = fuse(planted(rows=80, missing=0.1).joined(), "d", seeds=1, settings=FAST)
    evaluation = _by_system(fusion.evaluation)
    for system in ("fused", "best_single", "difference", *BASELINES):
        assert evaluation[system]["rows"] == len(fusion.blind)
        assert evaluation[system]["value"] is not None
    assert evaluation["paper_way"]["rows"] > len(fusion.blind)
    assert "on all rows" in evaluation["paper_way"]["note"]
    fused = np.array([row["fused"] for row in fusion.blind])
    human = np.array([row["human"] for row in fusion.blind])
    assert evaluation["fused"]["value"] == pytest.approx(np.corrcoef(fused, human)[0, 1])


def test_explanations_add_up_to_the_blind_scores(planted):
    fusion = fuse(planted(rows=80, missing=0.1).joined(), "d", seeds=1, settings=FAST)
    for row in fusion.blind:
        parts = [e["contribution"] for e in fusion.explanations if e["item_id"] == row["item_id"]]
        assert len(parts) == len(fusion.model.metrics)
        assert np.clip(fusion.model.intercept + sum(parts), 1, 5) == pytest.approx(row["fused"])


def test_worker_processes_do_not_change_the_result(planted, monkeypatch):
    monkeypatch.setattr(baselines, "TREES", 200)  # workers do not see the smaller forest
    joined = planted(rows=60).joined()
    one, two = (fuse(joined, "d", seeds=2, settings=FAST, threads=threads) for threads in (1, 2))
    assert one == two


@pytest.mark.parametrize(("rows", "found"), [(12, "too few to fuse"), (40, "rate every response")])
def test_what_cannot_be_fused_is_refused(planted, rows, found):
    files = planted(rows=rows)
    lines = files.ratings.read_text().splitlines()
    files.ratings.write_text("\n".join([lines[0], *(line.rsplit(",", 1)[0] + ",4" for line in lines[1:])]) + "\n")
    with pytest.raises(FaithfuseError, match=found):
        fuse(files.joined(), "d", seeds=1, settings=FAST)


def test_a_table_of_constants_is_refused(planted):
    joined = planted(rows=40).joined()
    joined.table.values[:] = 0.5
    with pytest.raises(FaithfuseError, match="no metric varies"):
        fuse(joined, "d", seeds=1, settings=FAST)


def test_a_metric_that_falls_when_quality_rises_can_be_the_best_single():
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    values = np.column_stack([rng.normal(size=60), -y + 0.1 * rng.normal(size=60)])
    values[:5, 1] = np.nan
    single = best_single(values, y)
    assert (single.index, single.sign, single.missing(values)) == (1, -1, 5)
    assert pearson(single.predict(values)[5:], y[5:]) > 0.9


def test_a_metric_missing_on_most_rows_is_not_the_best_single():
    y = np.arange(40.0)
    values = np.column_stack([y + np.sin(y) * 9, np.where(y < 12, y, np.nan)])
    assert best_single(values, y).index == 0
    assert best_single(np.full((40, 1), np.nan), y) is None


def test_baselines_recover_a_linear_truth():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(300, 3))
    y = x @ np.array([1.0, -1.0, 0.5])
    x[rng.random(x.shape) < 0.02] = np.nan
    predictions = predict_baselines(x[:200], y[:200], x[200:], seed=0)
    assert set(predictions) == set(BASELINES)
    floor = {"ridge": 0.95, "mean_z": 0.9, "random_forest": 0.8, "best_single_isotonic": 0.5}
    for name, values in predictions.items():
        assert pearson(values, y[200:]) > floor[name], name

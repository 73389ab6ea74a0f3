"""Validation schemes never train on what they test, and transfer keeps the model as it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from faithfuse.analysis import baselines, validation
from faithfuse.analysis.correlation import group_codes
from faithfuse.analysis.ebm import EbmSettings
from faithfuse.analysis.fusion import fuse
from faithfuse.analysis.ratings import join, read_metrics, read_ratings
from faithfuse.analysis.transfer import transfer
from faithfuse.analysis.validation import learning_curve, validate
from faithfuse.errors import FaithfuseError

FAST = EbmSettings(outer_bags=1, smoothing_rounds=5)


@pytest.fixture(autouse=True)
def small_forest(monkeypatch):
    monkeypatch.setattr(baselines, "TREES", 10)


@pytest.fixture
def systems(tmp_path):
    """Four systems' responses to each item: quality is an item's part and a system's part."""

    def write(items=30, raters=3, rater_noise=0.8, seed=0):
        rng = np.random.default_rng(seed)
        table, given = ["item_id,system,group,LLM Conf.,ROUGE-1"], ["item_id,system,annotator,point,likert"]
        for item in range(items):
            for system in range(4):
                quality = rng.normal() * 0.8 + 0.5 * (system - 1.5)
                cells = ",".join(repr(float(quality + rng.normal() * 0.5)) for _ in range(2))
                table.append(f"q{item:03d},s{system},g{item:03d},{cells}")
                for rater in range(raters):
                    likert = float(np.clip(3 + quality + rater_noise * rng.normal(), 1, 5))
                    given.append(f"q{item:03d},s{system},r{rater},,{likert!r}")
        (tmp_path / "M.csv").write_text("\n".join(table) + "\n")
        (tmp_path / "R.csv").write_text("\n".join(given) + "\n")
        ratings = tmp_path / "R.csv"
        return join(read_metrics(tmp_path / "M.csv"), read_ratings(ratings), ratings)

    return write


def _values(rows):
    return {(row["scheme"], row["system"]): row for row in rows}


def test_every_scheme_trains_on_other_rows_only(systems, monkeypatch):
    joined = systems()
    table, codes = joined.table, group_codes(joined.table.groups)
    plans = []
    predict = validation._out_of_fold
    monkeypatch.setattr(
        validation, "_out_of_fold", lambda j, c, plan, *rest: (plans.append(plan), predict(j, c, plan, *rest))[1]
    )
    validate(joined, "d", repeats=1, fold_count=2, settings=FAST)
    by_group, by_system, by_both = plans
    names = np.array(table.systems)
    for plan in plans:
        tested = np.sum([fold.test for fold in plan], axis=0)
        assert (tested == 1).all()
        assert not any((fold.train & fold.test).any() for fold in plan)
    assert all(set(codes[fold.train]).isdisjoint(codes[fold.test]) for fold in by_group + by_both)
    assert all(set(names[fold.train]).isdisjoint(names[fold.test]) for fold in by_system + by_both)
    assert (len(by_group), len(by_system), len(by_both)) == (2, 4, 8)


def test_schemes_stand_side_by_side_with_intervals(systems):
    joined = systems()
    rows = validate(joined, "d", repeats=2, fold_count=3, settings=FAST)
    values = _values(rows)
    for scheme in ("grouped_cv", "within_item", "system_out", "system_and_group_out"):
        for system in ("fused", "best_single", "difference", "mean_z", "ridge", "random_forest"):
            row = values[scheme, system]
            assert row["low"] <= row["value"] <= row["high"]
        assert values[scheme, "difference"]["value"] == pytest.approx(
            values[scheme, "fused"]["value"] - values[scheme, "best_single"]["value"]
        )
        assert values[scheme, "fused"]["rows"] == len(joined.human)
    assert values["grouped_cv", "fused"]["value"] > 0.5


def test_the_fused_score_and_a_rater_meet_the_same_target(systems):
    noisy = _values(validate(systems(rater_noise=2.0), "d", repeats=1, fold_count=2, settings=FAST))
    assert noisy["one_rater", "human"]["rows"] == noisy["one_rater", "fused"]["rows"] == 30 * 4 * 3
    assert noisy["one_rater", "difference"]["value"] > 0  # raters this noisy are beaten
    careful = _values(validate(systems(rater_noise=0.1), "d", repeats=1, fold_count=2, settings=FAST))
    assert careful["one_rater", "human"]["value"] > 0.9
    assert careful["one_rater", "difference"]["high"] < 0  # raters this careful are not


def test_schemes_that_the_data_does_not_allow_are_left_out(planted):
    rows = validate(planted(rows=40).joined(), "d", repeats=1, fold_count=3, settings=FAST)
    assert {row["scheme"] for row in rows} == {"grouped_cv"}  # one system, one response per item, one rater


def test_too_few_groups_for_the_folds_are_refused(planted):
    with pytest.raises(FaithfuseError, match="3 groups are too few for 5 folds"):
        validate(planted(rows=30, per_group=10).joined(), "d", settings=FAST)


def test_within_an_item_its_mean_is_taken_off():
    values = np.array([[1.0], [3.0], [10.0], [20.0]])
    assert validation._centre(values, np.array([4, 4, 9, 9]))[:, 0].tolist() == [-1, 1, -5, 5]


def test_the_learning_curve_grows_with_nested_training_sets(planted, monkeypatch):
    joined = planted(rows=160, per_group=2).joined()
    folds = []
    predict = validation._predict
    monkeypatch.setattr(validation, "_predict", lambda j, c, fold, s: (folds.append(fold), predict(j, c, fold, s))[1])
    rows = learning_curve(joined, "d", sizes=(20, 60), seeds=2, settings=FAST)
    assert [row["training_rows"] for row in rows if row["system"] == "fused"] == [20, 60, 112]
    assert [row["ratings"] for row in rows if row["system"] == "fused"] == [20, 60, 112]
    small, middle, whole = folds[:3]
    assert not (small.train & ~middle.train).any()
    assert not (middle.train & ~whole.train).any()
    assert (small.test == whole.test).all()
    assert all(row["low"] <= row["value"] <= row["high"] for row in rows)
    assert all(row["seeds"] == 2 for row in rows)


def test_a_model_transfers_to_another_set_with_the_metric_chosen_in_training(planted):
    model = fuse(planted(rows=80, folder="here").joined(), "here", seeds=1, settings=FAST).model
    other = planted(rows=60, seed=9, folder="there", domain="long_form_qa").joined()
    rows = {row["system"]: row for row in transfer(model, other, "there")}
    assert rows["best_single"]["metric"] == model.training["best_single"]["metric"] == "LLM Conf."
    assert {(row["trained_on"], row["tested_on"]) for row in rows.values()} == {("here", "there")}
    assert rows["fused"]["low"] > 0.3
    assert rows["difference"]["value"] == pytest.approx(rows["fused"]["value"] - rows["best_single"]["value"])


def test_metrics_that_the_other_set_lacks_count_as_missing_and_are_named(planted):
    model = fuse(planted(rows=80, folder="here").joined(), "here", seeds=1, settings=FAST).model
    other = planted(rows=60, strength={"ROUGE-1": 0.6, "BERTScore": 0.5}, folder="there").joined()
    rows = {row["system"]: row for row in transfer(model, other, "there")}
    assert "4 of 6 metrics not in this table: LLM Conf." in rows["fused"]["note"]
    assert "best_single" not in rows
    assert not math.isnan(rows["fused"]["value"])


def test_metrics_of_another_signature_count_as_missing_in_a_transfer_and_are_named(planted):
    model = fuse(planted(rows=80, folder="here").joined(), "here", seeds=1, settings=FAST).model
    other = planted(rows=60, seed=9, folder="there", domain="long_form_qa").joined()
    other.table.signatures["LLM Conf."] = "asked about the whole summary"
    rows = {row["system"]: row for row in transfer(model, other, "there")}
    assert rows["fused"]["note"] == "1 of 6 metrics with another signature in this table: LLM Conf."
    assert "best_single" not in rows
    assert not math.isnan(rows["fused"]["value"])


def test_a_set_without_any_metric_of_the_model_gets_no_value_but_the_reason(planted):
    model = fuse(planted(rows=80, folder="here").joined(), "here", seeds=1, settings=FAST).model
    strange = planted(rows=60, strength={"my own": 0.6}, folder="strange").joined()
    (row,) = transfer(model, strange, "strange")
    assert (row["trained_on"], row["tested_on"], row["rows"], row["value"]) == ("here", "strange", 60, None)
    assert row["note"] == "none of the model's metrics is in this table"


def test_the_learning_curve_leaves_out_a_size_that_one_group_fills(planted):
    joined = planted(rows=240, per_group=24).joined()
    curve = learning_curve(joined, "d", sizes=(20, 40), seeds=1, settings=FAST)
    assert sorted({row["training_rows"] for row in curve}) == [48, 168]

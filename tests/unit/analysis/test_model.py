"""The JSON model and our evaluation of it."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from interpret.glassbox import ExplainableBoostingRegressor

from faithfuse.analysis import ebm
from faithfuse.analysis.correlation import group_codes
from faithfuse.analysis.ebm import EbmSettings, fit_ebm, usable_metrics
from faithfuse.analysis.model import FusedModel, Term, clip, read_model, write_model
from faithfuse.analysis.ratings import read_metrics
from faithfuse.analysis.scoring import CONTRIBUTION, score_columns, score_rows
from faithfuse.errors import InputError

FAST = EbmSettings(outer_bags=2, smoothing_rounds=5)


@pytest.fixture
def machines(monkeypatch):
    """Keep what interpret itself fitted."""
    fitted = []
    fit = ExplainableBoostingRegressor.fit
    monkeypatch.setattr(
        ExplainableBoostingRegressor, "fit", lambda self, *a, **k: (fitted.append(self), fit(self, *a, **k))[1]
    )
    return fitted


def _fit(joined, settings=FAST, seed=0, **options):
    return fit_ebm(joined.table, joined.likert, group_codes(joined.table.groups), settings, seed, **options)


@pytest.mark.parametrize("interactions", [0, 4])
def test_our_evaluation_equals_interprets_own_to_a_billionth(planted, machines, tmp_path, interactions):
    joined = planted(rows=70, missing=0.1, seed=3).joined()
    model = _fit(joined, dataclasses.replace(FAST, interactions=interactions))
    write_model(tmp_path / "model.json", model)
    model = read_model(tmp_path / "model.json")
    rng = np.random.default_rng(0)
    # Rows inside and far outside the training range, exactly on bin edges, and missing.
    low, high = np.array(model.ranges).T
    values = rng.uniform(low - 1, high + 1, size=(500, len(low)))
    for metric in range(len(low)):
        edges = [cut for term in model.terms if metric in term.metrics for cut in term.cuts[term.metrics.index(metric)]]
        values[: len(edges), metric] = edges[:500]
    values[rng.random(values.shape) < 0.1] = np.nan
    expected = machines[0].predict(values)
    assert np.abs(model.predict(values) - expected).max() < 1e-9
    assert sum(len(term.metrics) == 2 for term in model.terms) == interactions
    by_metric = model.metric_contributions(values)
    assert model.intercept + by_metric.sum(axis=1) == pytest.approx(expected, abs=1e-9)


def test_the_same_seed_writes_the_same_bytes_and_another_seed_others(planted, tmp_path):
    joined = planted(seed=1).joined()
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        write_model(tmp_path / name, _fit(joined, seed=seed))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() != (tmp_path / "c").read_bytes()


def test_an_interaction_between_two_classes_is_divided_between_them():
    model = FusedModel(
        domain="d",
        metrics=["LLM Conf.", "ROUGE-1", "ROUGE-2"],
        classes=["llm", "n-gram", "n-gram"],
        signatures=[None] * 3,
        ranges=[(0, 1)] * 3,
        intercept=3.0,
        terms=[
            Term([0], [[0.5]], [0.0, -1.0, 1.0], 0.3),
            Term([1], [[0.5]], [0.0, -1.0, 1.0], 0.1),
            Term([0, 1], [[0.5], [0.5]], [[0.0] * 3, [0.0, 0.2, -0.2], [0.0, -0.2, 0.2]], 0.4),
            Term([1, 2], [[], []], [[0.0, 0.0], [0.0, 0.1]], 0.2),
        ],
    )
    assert model.class_shares() == pytest.approx({"llm": (0.3 + 0.2) / 1.0, "n-gram": (0.1 + 0.2 + 0.2) / 1.0})
    assert model.predict(np.array([[0.6, 0.4, 0.9], [np.nan, 0.5, 0.1]])) == pytest.approx([2.9, 4.1])


def test_missing_has_a_bin_of_its_own_and_is_not_zero(planted):
    joined = planted(rows=120, missing=0.3, seed=2).joined()
    model = _fit(joined)
    middle = np.nanmedian(joined.table.values[:, [joined.table.names.index(name) for name in model.metrics]], axis=0)
    best = model.metrics.index("LLM Conf.")
    missing, zero = middle.copy(), middle.copy()
    missing[best], zero[best] = np.nan, 0.0
    assert model.predict(missing[None]) != model.predict(zero[None])


def test_constant_and_empty_metrics_are_dropped_with_a_reason():
    values = np.array([[1.0, 2.0, np.nan], [1.0, 3.0, np.nan], [np.nan, 4.0, np.nan]])
    used, dropped = usable_metrics(values, ["a", "b", "c"])
    assert used == [1]
    assert dropped == {"a": "constant (1) on the training rows", "c": "unscored on every training row"}


def test_early_stopping_never_parts_a_group(planted, monkeypatch):
    seen = []
    fit = ExplainableBoostingRegressor.fit
    monkeypatch.setattr(
        ExplainableBoostingRegressor, "fit", lambda self, x, y, bags: (seen.append(bags), fit(self, x, y, bags=bags))[1]
    )
    joined = planted(rows=80, per_group=4).joined()
    _fit(joined)
    codes = group_codes(joined.table.groups)
    for bag in seen[0].T:
        assert set(bag) == {-1, 1}
        assert all(len(set(bag[codes == group])) == 1 for group in np.unique(codes))


def test_the_librarys_defaults_are_reachable():
    machine = ExplainableBoostingRegressor()
    for name, value in dataclasses.asdict(ebm.LIBRARY_DEFAULTS).items():
        assert getattr(machine, "validation_size" if name == "validation_fraction" else name) == value, name


def test_scores_are_clipped_and_say_so():
    scores, clipped = clip(np.array([0.2, 1.0, 3.3, 5.0, 5.1]))
    assert scores.tolist() == [1.0, 1.0, 3.3, 5.0, 5.0]
    assert clipped.tolist() == [True, False, False, False, True]


def _stored(planted, tmp_path):
    files = planted(rows=60)
    model = _fit(files.joined())
    write_model(tmp_path / "model.json", model)
    return files, read_model(tmp_path)


def test_contributions_add_up_and_rows_outside_the_training_range_are_flagged(planted, tmp_path):
    files, model = _stored(planted, tmp_path)
    text = files.metrics.read_text().splitlines()
    name = text[0].split(",")[3]
    strange = tmp_path / "METRICS.csv"
    strange.write_text("\n".join([*text, "far,s,gx,9.5" + ",0.5" * (len(text[0].split(",")) - 4)]) + "\n")
    (tmp_path / "METRICS.csv.meta.json").write_bytes(files.metrics.with_name("METRICS.csv.meta.json").read_bytes())
    rows = {row["item_id"]: row for row in score_rows(model, read_metrics(strange))}
    assert rows["far"]["outside_metrics"] == name
    assert rows["far"]["outside"] == 1
    assert rows["q0001"]["outside"] == 0
    for row in rows.values():
        total = row["intercept"] + sum(row[CONTRIBUTION + metric] for metric in model.metrics)
        assert total == pytest.approx(row["unclipped"])
        assert 1 <= row["fused"] <= 5
        assert set(row) == set(score_columns(model))


def test_a_row_without_any_metric_gets_no_score(planted, tmp_path):
    files, model = _stored(planted, tmp_path)
    header, first, *rest = files.metrics.read_text().splitlines()
    bare = ",".join(first.split(",")[:3]) + "," * (header.count(",") - 2)
    files.metrics.write_text("\n".join([header, bare, *rest]) + "\n")
    row = score_rows(model, read_metrics(files.metrics))[0]
    assert np.isnan(row["fused"])
    assert row["missing"] == len(model.metrics)


def test_scoring_refuses_other_signatures_and_missing_metrics(planted, tmp_path):
    files, model = _stored(planted, tmp_path)
    beside = files.metrics.with_name("METRICS.csv.meta.json")
    meta = json.loads(beside.read_text())
    meta["metrics"]["ROUGE-1"]["signature"] = "ROUGE-1|v2"
    beside.write_text(json.dumps(meta))
    with pytest.raises(
        InputError, match=r"ROUGE-1 has the signature ROUGE-1\|v2, the model was trained with ROUGE-1\|v1"
    ):
        score_rows(model, read_metrics(files.metrics))
    beside.unlink()
    with pytest.raises(InputError, match="has the signature none"):
        score_rows(model, read_metrics(files.metrics))
    files.metrics.write_text("item_id,system,group,ROUGE-1\nq,s,g,0.5\n")
    with pytest.raises(InputError, match="lacks 5 of the 6 metrics"):
        score_rows(model, read_metrics(files.metrics))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", "is not JSON"),
        ('{"format": "x"}', "has the format"),
        ('{"format": "faithfuse-fused-metric/1"}', "no fused"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path, text, found):
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(InputError, match=found):
        read_model(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_model(tmp_path / "elsewhere.json")

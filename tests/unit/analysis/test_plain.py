"""The fused metric as a function, as a module for `evaluate`, and as a picture."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import faithfuse.analysis
from faithfuse.analysis.correlation import group_codes
from faithfuse.analysis.ebm import EbmSettings, fit_ebm
from faithfuse.analysis.model import write_model
from faithfuse.analysis.picture import explain
from faithfuse.analysis.plain import fused_scores, score_correlation
from faithfuse.analysis.scoring import score_rows
from faithfuse.errors import InputError

MODULE = Path(faithfuse.analysis.__file__).parent / "fused_metric"


@pytest.fixture
def fused(planted, tmp_path):
    joined = planted(rows=60, missing=0.1).joined()
    settings = EbmSettings(outer_bags=1, smoothing_rounds=5)
    model = fit_ebm(joined.table, joined.likert, group_codes(joined.table.groups), settings, 0, domain="d")
    write_model(tmp_path / "model.json", model)
    return joined.table, model, tmp_path


def test_the_function_gives_what_the_command_gives(fused):
    table, model, folder = fused
    expected = score_rows(model, table)
    rows = [dict(zip(table.names, values, strict=True)) for values in table.values.tolist()]
    for score, line in zip(fused_scores(folder, rows), expected, strict=True):
        assert score.fused == pytest.approx(line["fused"])
        assert score.clipped == line["clipped"]
        assert model.intercept + sum(score.contributions.values()) == pytest.approx(line["unclipped"])


def test_none_and_absent_are_missing_and_unknown_names_are_refused(fused):
    _, model, folder = fused
    absent, none = fused_scores(folder, [{"ROUGE-1": 0.5}, {"ROUGE-1": 0.5, "BERTScore": None, "stray": 3.0}])
    assert absent == none
    assert fused_scores(model, [dict.fromkeys(model.metrics)])[0].fused is None
    with pytest.raises(InputError, match="response 0 has no metric of the model by name"):
        fused_scores(model, [{"rouge1": 0.5}])
    assert score_correlation(fused_scores(model, [{"ROUGE-1": 0.5}] * 4), [1, 2, 3, 4]) is None


def test_the_evaluate_module_loads_from_its_path_without_a_hub(fused, tmp_path):
    _, _, folder = fused
    program = (
        "import evaluate, socket\n"
        "def refuse(*a, **k): raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        f"m = evaluate.load({str(MODULE)!r})\n"
        "rows = [{'ROUGE-1': 0.2}, {'ROUGE-1': 0.5}, {'ROUGE-1': 0.9, 'LLM Conf.': 0.9}]\n"
        f"print(m.compute(predictions=rows, model={str(folder)!r})['fused'])\n"
        f"print(sorted(m.compute(predictions=rows, references=[1, 2, 5], model={str(folder)!r})))\n"
    )
    environment = os.environ | {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    scores, keys = done.stdout.strip().splitlines()[-2:]
    rows = [{"ROUGE-1": 0.2}, {"ROUGE-1": 0.5}, {"ROUGE-1": 0.9, "LLM Conf.": 0.9}]
    assert scores == str([score.fused for score in fused_scores(folder, rows)])
    assert keys == "['clipped', 'fused', 'pearson']"


def test_the_picture_names_the_response_and_its_metrics_and_is_the_same_every_time(fused, tmp_path):
    table, model, _ = fused
    for name in ("a.svg", "b.svg"):
        explain(model, table, "q0003", "s", tmp_path / name)
    text = (tmp_path / "a.svg").read_text()
    assert (tmp_path / "b.svg").read_text() == text
    assert "q0003, s: fused" in text
    assert all(name in text for name in model.metrics)
    with pytest.raises(InputError, match="is not in the table"):
        explain(model, table, "nowhere", "s", tmp_path / "c.svg")

"""The fused metric as a function, as a module for `evaluate`, and as a picture."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import faithfuse.analysis
from faithfuse.analysis.correlation import group_codes
from faithfuse.analysis.ebm import EbmSettings, fit_ebm
from faithfuse.analysis.model import write_model
from faithfuse.analysis.picture import explain
from faithfuse.analysis.plain import fused_scores, score_correlation
from faithfuse.analysis.ratings import join, read_metrics
from faithfuse.analysis.scoring import score_rows
from faithfuse.analysis.texts import fused_scores_of_texts
from faithfuse.errors import InputError
from faithfuse.metrics.cases import build_cases
from faithfuse.metrics.ngram import Ngram
from faithfuse.metrics.table import meta, metric_columns, write_table
from faithfuse.records import Domain, Item, Rating, References, Response, Score

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


TEXTS = ["It was Bob Dylan.", "Nobody knows.", "Ada Lovelace wrote it."]
GOLD = [["Bob Dylan", "Robert Zimmerman"], ["Rome"], ["Ada Lovelace"]]


@pytest.fixture
def fused_of_texts(tmp_path):
    """A model over metrics of texts, with the very table that it scores."""
    rng = np.random.default_rng(0)
    words = ["Rome", "Bob Dylan", "in 1969", "Ada Lovelace", "the river"]
    items, answers, ratings = [], [], []
    for number in range(60):
        right, wrong = words[number % 5], words[(number + 1) % 5]
        item = Item(
            item_id=f"q{number}",
            domain=Domain.SHORT_FORM_QA,
            source_set="test",
            question="Who?",
            references=References(short=[right]),
            group=f"q{number}",
        )
        text = f"It was {right if rng.random() < 0.5 else wrong}."
        items.append(item)
        answers.append(Response(item_id=item.item_id, system="s", text=text))
        likert = 5 if right in text else 1
        ratings.append(Rating(item_id=item.item_id, system="s", annotator="r", likert=likert))
    cases = build_cases(items, answers)
    scores = [Score(item_id=item.item_id, system="s", metric="own", value=rng.random()) for item in items]
    columns = metric_columns(cases, scores=scores)
    path = tmp_path / "METRICS.csv"
    write_table(path, cases, columns, meta(columns, Domain.SHORT_FORM_QA))
    joined = join(read_metrics(path), ratings, "ratings")
    settings = EbmSettings(outer_bags=1, smoothing_rounds=5)
    codes = group_codes(joined.table.groups)
    model = fit_ebm(joined.table, joined.likert, codes, settings, 0, domain="short_form_qa")
    write_model(tmp_path / "model.json", model)
    return model, tmp_path


def test_texts_get_the_score_of_their_metric_values(fused_of_texts):
    model, folder = fused_of_texts
    scored = fused_scores_of_texts(folder, TEXTS, GOLD)
    assert scored.missing == ["own"]
    assert scored.scores[0].fused > 3 > scored.scores[1].fused
    assert scored.scores[2].fused > 3
    rouge = {"ROUGE-1": 2 * (2 / 4) * 1 / (2 / 4 + 1)}  # two of four words are the reference's two
    ngram = Ngram().score([(TEXTS[0], gold) for gold in GOLD[0]])
    values = {
        name: max(cells[name].value for cells in ngram.values()) for name in model.metrics if name in Ngram().signatures
    }
    assert values["ROUGE-1"] == pytest.approx(rouge["ROUGE-1"])
    matching = {"Exact match": 0.0, "Lexical match": 1.0}
    expected = fused_scores(model, [values | {name: v for name, v in matching.items() if name in model.metrics}])
    assert scored.scores[0] == expected[0]


def test_texts_scored_with_other_settings_than_the_models_are_refused(fused_of_texts):
    model, _ = fused_of_texts
    stemmed = [f"{name}|stemmer:yes" for name in model.signatures]
    with pytest.raises(InputError, match="the model was trained with"):
        fused_scores_of_texts(replace(model, signatures=stemmed), TEXTS, GOLD)
    with pytest.raises(InputError, match="not known what its texts are"):
        fused_scores_of_texts(replace(model, domain="my own"), TEXTS, GOLD)
    with pytest.raises(InputError, match="has no list of references"):
        fused_scores_of_texts(model, TEXTS, ["Bob", "Rome", "Ada"])


def test_the_evaluate_module_scores_texts_without_a_hub(fused_of_texts, tmp_path):
    model, folder = fused_of_texts
    program = (
        "import evaluate, socket\n"
        "def refuse(*a, **k): raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        f"m = evaluate.load({str(MODULE)!r}, 'texts')\n"
        f"print(m.compute(predictions={TEXTS!r}, references={GOLD!r}, model={str(folder)!r}))\n"
    )
    environment = os.environ | {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    scores, missing = fused_scores_of_texts(model, TEXTS, GOLD)
    expected = {
        "fused": [score.fused for score in scores],
        "clipped": [score.clipped for score in scores],
        "missing": missing,
    }
    assert ast.literal_eval(done.stdout.strip().splitlines()[-1]) == expected


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

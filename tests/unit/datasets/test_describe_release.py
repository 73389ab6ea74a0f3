"""The table of sets with agreement, and the release that joins everything known of an item."""

from __future__ import annotations

import csv
import json

import pyarrow.parquet as pq
import pytest

from faithfuse.datasets.describe import describe_folders, known_sets, write_table
from faithfuse.datasets.ratings import IMPORTERS
from faithfuse.datasets.ratings.base import write
from faithfuse.datasets.release import release
from faithfuse.datasets.sources import SOURCES
from faithfuse.errors import InputError
from faithfuse.records import (
    Domain,
    Graph,
    Item,
    Rating,
    References,
    Response,
    Turn,
    write_records,
)


def own(tmp_path, rows):
    path = tmp_path / "judgements.csv"
    questions = "".join(f"{item},short_form_qa,Q{item}?,g,s,a,{rater},{likert}\n" for item, rater, likert in rows)
    path.write_text(
        "item_id,domain,question,references,system,response,annotator,likert\n" + questions, encoding="utf-8"
    )
    write(IMPORTERS["own"], path, tmp_path / "own")
    return tmp_path / "own"


# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", example C: four observers, twelve units, missing
# data; alpha is 0.849 at the interval level. Units 12 has one value only. The values lie on 1 to 5 as ours do.
KRIPPENDORFF_2011 = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
}


def test_alpha_is_the_published_one(tmp_path):
    rows = [
        (f"i{unit:02d}", rater, "" if value is None else value)
        for rater, values in KRIPPENDORFF_2011.items()
        for unit, value in enumerate(values)
    ]
    table = describe_folders([own(tmp_path, rows)])
    row = dict(zip(table.header, table.rows[0], strict=True))
    assert row["alpha"] == pytest.approx(0.849, abs=5e-4)
    assert (row["items"], row["ratings"], row["abstained"], row["raters"]) == (12, 48, 7, 4)


def test_one_rater_has_no_agreement_but_a_reason(tmp_path):
    table = describe_folders([own(tmp_path, [("a", "r", 3), ("b", "r", 5)])])
    row = dict(zip(table.header, table.rows[0], strict=True))
    assert row["alpha"] is None
    assert row["alpha_note"] == "no unit has two raters"
    assert row["mean_likert"] == 4
    assert row["share_faithful"] == 1
    write_table(table, tmp_path / "sets.csv")
    with (tmp_path / "sets.csv").open(encoding="utf-8") as stream:
        assert next(csv.DictReader(stream))["alpha"] == ""


def test_every_known_set_is_listed():
    assert [row[0] for row in known_sets().rows] == [*IMPORTERS, *SOURCES]


def test_a_folder_that_is_no_import_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no card\.json"):
        describe_folders([tmp_path])


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "not an object"),
        ('{"set": "x", "domain": null}', "has no counts"),
        ('{"set": "x", "domain": null, "counts": {"items": 1}}', "holds no human judgements"),
    ],
)
def test_a_damaged_card_is_refused(tmp_path, card, message):
    (tmp_path / "card.json").write_text(card, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        describe_folders([tmp_path])


def test_agreement_of_the_real_sets(real_data, tmp_path):
    """DialSummEval's raters agree least; alpha of OpenQA-eval is that of yes and no."""
    for name in ("dialsummeval", "mtrag", "openqa_eval"):
        write(IMPORTERS[name], real_data, tmp_path / name)
    table = describe_folders([tmp_path / name for name in ("dialsummeval", "mtrag", "openqa_eval")])
    alpha = [row[table.header.index("alpha")] for row in table.rows]
    assert alpha == [pytest.approx(0.490, abs=5e-4), pytest.approx(0.593, abs=5e-4), pytest.approx(0.731, abs=5e-4)]


@pytest.fixture
def study(tmp_path):
    item = Item(
        item_id="samsum:1",
        domain=Domain.SUMMARISATION,
        source_set="samsum",
        context=[Turn(speaker="Ann", text="hi")],
        references=References(long=["Ann says hi."], points=["Ann says hi."]),
        group="samsum:1",
    )
    answer = Response(item_id="samsum:1", system="s", text="Ann waves. Bob came.", points=["Ann waves.", "Bob came."])
    folder = tmp_path / "items"
    write_records(folder / "items.jsonl", [item])
    write_records(folder / "responses.jsonl", [answer])
    ratings = [Rating(item_id="samsum:1", system="s", annotator="r", point=p, likert=v) for p, v in ((0, 4), (1, None))]
    write_records(folder / "ratings.jsonl", ratings)
    graphs = [
        Graph(graph_id=Graph.key(s, "p"), sentence=s, parser="p", penman=g, reason=None if g else "no parse")
        for s, g in (("Ann waves.", "(w / wave-01)"), ("Bob came.", None), ("Else.", "(e / else)"))
    ]
    write_records(tmp_path / "graphs.jsonl", graphs)
    (tmp_path / "m.csv").write_text("item_id,system,group,ROUGE-1,SMATCH\nsamsum:1,s,g,0.25,\n", encoding="utf-8")
    (tmp_path / "m.csv.unscored.csv").write_text(
        "item_id,system,metric,reason\nsamsum:1,s,SMATCH,no graph\n", encoding="utf-8"
    )
    return folder, tmp_path / "graphs.jsonl", tmp_path / "m.csv"


def test_a_release_carries_responses_graphs_metric_values_and_ratings(study, tmp_path):
    folder, graphs, metrics = study
    card = release([folder], tmp_path / "out", graphs=[graphs], metrics=[metrics])
    (row,) = pq.read_table(tmp_path / "out/summarisation.parquet").to_pylist()
    assert row == json.loads((tmp_path / "out/summarisation.jsonl").read_text(encoding="utf-8"))
    (response,) = row["responses"]
    assert response["ratings"] == [
        {"annotator": "r", "point": 0, "likert": 4.0},
        {"annotator": "r", "point": 1, "likert": None},
    ]
    assert response["metrics"] == [
        {"metric": "ROUGE-1", "value": 0.25, "reason": None},
        {"metric": "SMATCH", "value": None, "reason": "no graph"},
    ]
    assert [(graph["sentence"], graph["penman"]) for graph in response["graphs"]] == [
        ("Ann waves.", "(w / wave-01)"),
        ("Bob came.", None),
    ]
    assert card["domains"] == {"summarisation": {"items": 1, "responses": 1, "ratings": 2, "metric values": 1}}


def test_a_release_says_what_may_not_be_shared(study, tmp_path):
    folder, _, _ = study
    card = release([folder], tmp_path / "out")
    assert card["not_to_be_shared"] == ["samsum"]
    assert "**Do not share**" in (tmp_path / "out/README.md").read_text(encoding="utf-8")


def test_a_response_to_an_item_that_is_not_released_is_refused(study, tmp_path):
    folder, _, _ = study
    write_records(tmp_path / "more.jsonl", [Response(item_id="other", system="s", text="x")])
    with pytest.raises(InputError, match="not released"):
        release([folder], tmp_path / "out", responses=[tmp_path / "more.jsonl"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("table", "message", "line"),
    [
        ("item_id,system,group,ROUGE-1\nsamsum:2,s,g,0.25\n", "of a response that is not released", 2),
        ("item_id,system,group,ROUGE-1\nsamsum:1,s,g,high\n", "ROUGE-1 is 'high', not a number", 2),
        ("item_id,system,group,ROUGE-1\nsamsum:1,s,g,nan\n", "ROUGE-1 is 'nan', not a number", 2),
        ("item_id,group\nsamsum:1,g\n", "has no column system", 1),
    ],
)
def test_a_metric_table_that_does_not_fit_is_refused_with_its_line(study, tmp_path, table, message, line):
    folder, _, _ = study
    (tmp_path / "other.csv").write_text(table, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        release([folder], tmp_path / "out", metrics=[tmp_path / "other.csv"])
    assert (caught.value.path, caught.value.line) == (tmp_path / "other.csv", line)


def test_a_rating_of_no_released_response_and_a_response_given_twice_are_refused(study, tmp_path):
    folder, _, _ = study
    with pytest.raises(InputError, match="is also in"):
        release([folder], tmp_path / "out", responses=[folder / "responses.jsonl"])
    write_records(folder / "ratings.jsonl", [Rating(item_id="samsum:1", system="t", annotator="r", likert=4)])
    with pytest.raises(InputError, match="rates a response that is not released"):
        release([folder], tmp_path / "out")

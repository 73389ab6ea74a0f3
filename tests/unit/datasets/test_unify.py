"""The data set drawn from the source sets: repeatable, in every form, with its card."""

from __future__ import annotations

import csv
import json

import datasets
import pytest
import yaml

from faithfuse.datasets.schema import Subset
from faithfuse.datasets.sources import SOURCES
from faithfuse.datasets.sources.base import load
from faithfuse.datasets.sources.popqa import COLUMNS
from faithfuse.datasets.unify import normalised, unify
from faithfuse.errors import InputError
from faithfuse.records import Item, Rating, Response, read_records


def popqa(folder, questions):
    header = list(COLUMNS)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "popQA.tsv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter="\t", lineterminator="\n")
        writer.writerow(header)
        for number, (question, relation) in enumerate(questions):
            row = dict.fromkeys(header, "x") | {"id": number, "prop": relation, "question": question}
            row |= dict.fromkeys(("s_aliases", "o_aliases"), "[]") | {"possible_answers": '["o"]'}
            writer.writerow(row.values())


def samsum(folder, count):
    folder.mkdir(parents=True, exist_ok=True)
    samples = [{"id": str(n), "dialogue": f"A: hi {n}\nB: yo", "summary": f"A{n} met B."} for n in range(count)]
    (folder / "train.json").write_text(json.dumps(samples), encoding="utf-8")


@pytest.fixture
def loaded(tmp_path):
    """Two small source sets: 30 questions of two relations, some asked twice, and 12 dialogues."""
    questions = [(f"Question {n % 25}?", "capital" if n % 3 else "mother") for n in range(30)]
    popqa(tmp_path / "raw-p", questions)
    samsum(tmp_path / "raw-s", 12)
    load(SOURCES["popqa"], tmp_path / "raw-p", tmp_path / "popqa")
    load(SOURCES["samsum"], tmp_path / "raw-s", tmp_path / "samsum")
    return [tmp_path / "popqa", tmp_path / "samsum"]


SIZES = {
    Subset.QUESTION_ANSWERING: 15,
    Subset.CONVERSATIONAL_QA: 5,
    Subset.SUMMARISATION: 5,
    Subset.TASK_ORIENTED: 5,
}


def read(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(loaded, tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        unify(loaded, tmp_path / name, sizes=SIZES, seed=seed)
    assert read(tmp_path / "a") == read(tmp_path / "b")
    assert read(tmp_path / "a")["selection.csv"] != read(tmp_path / "c")["selection.csv"]


def test_a_selection_draws_the_same_records_again(loaded, tmp_path):
    unify(loaded, tmp_path / "a", sizes=SIZES, seed=4)
    unify(loaded, tmp_path / "b", sizes=SIZES, seed=99, selection=tmp_path / "a/selection.csv")
    first, second = read(tmp_path / "a"), read(tmp_path / "b")
    for name in ("question_answering.jsonl", "dialogue_summarisation.parquet", "items.jsonl", "selection.csv"):
        assert first[name] == second[name]
    assert b"Drawn after a selection file." in second["README.md"]


def test_a_selection_that_names_an_unknown_record_is_refused_with_its_line(loaded, tmp_path):
    path = tmp_path / "selection.csv"
    path.write_text("subset,record_id\nquestion_answering,popqa:0\nquestion_answering,popqa:999\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"selection\.csv:3: names popqa:999"):
        unify(loaded, tmp_path / "out", selection=path)


def test_relations_keep_their_share(loaded, tmp_path):
    unify(loaded, tmp_path / "out", sizes=SIZES)
    lines = (tmp_path / "out/question_answering.jsonl").read_text(encoding="utf-8").splitlines()
    relations = [json.loads(line)["fact"]["relation"] for line in lines]
    assert (relations.count("capital"), relations.count("mother")) == (10, 5)


def test_duplicates_are_reported_and_none_is_removed(loaded, tmp_path):
    card = unify(loaded, tmp_path / "out", sizes={**SIZES, Subset.QUESTION_ANSWERING: 30})
    with (tmp_path / "out/duplicates.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert {frozenset(row["record_ids"].split()) for row in rows} == {
        frozenset((f"popqa:{n}", f"popqa:{n + 25}")) for n in range(5)
    }
    assert card["duplicates"]["drawn_more_than_once"] == 5
    assert card["subsets"][0]["drawn"] == 30
    assert normalised("  Who’s ＡＮＮ?! ") == normalised("who s ann")


def test_the_card_says_what_was_asked_for_what_was_found_and_why(loaded, tmp_path):
    card = unify(loaded, tmp_path / "out", sizes={**SIZES, Subset.SUMMARISATION: 500})
    text = (tmp_path / "out/README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(text.split("---")[1])
    assert [config["config_name"] for config in front["configs"]] == [str(subset) for subset in Subset]
    assert "| dialogue_summarisation | 500 | 12 | samsum 12 of 12 | only 12 records in the files at hand |" in text
    assert "| conversational_qa | 5 | 0 | no set |" in text
    assert "no derivatives" in text
    assert "Drawn with seed 0." in text
    assert "| `key_points` | list of text |" in text
    assert "| `dialogue` | list of {`turn_id`: text, `speaker`: text, `text`: text} |" in text
    assert card["counts"]["records"] == 15 + 12


def test_parquet_opens_with_datasets_and_holds_what_the_lines_hold(loaded, tmp_path):
    unify(loaded, tmp_path / "out", sizes=SIZES)
    for subset in ("question_answering", "dialogue_summarisation"):
        table = datasets.load_dataset(
            "parquet",
            data_files=str(tmp_path / "out" / f"{subset}.parquet"),
            split="train",
            cache_dir=str(tmp_path / "cache"),
        )
        lines = (tmp_path / "out" / f"{subset}.jsonl").read_text(encoding="utf-8").splitlines()
        assert list(table) == [json.loads(line) for line in lines]


def test_the_items_go_into_the_workflow(loaded, tmp_path):
    from faithfuse.datasets.items import check

    unify(loaded, tmp_path / "out", sizes=SIZES)
    items = read_records(tmp_path / "out/items.jsonl", Item)
    responses = read_records(tmp_path / "out/responses.jsonl", Response)
    ratings = read_records(tmp_path / "out/ratings.jsonl", Rating)
    check(items, responses, ratings, tmp_path)
    assert len(items) == 15 + 5
    assert items[0].provenance["licence"] == "MIT"
    assert items[0].provenance["origin"]["file"] == "popQA.tsv"


def test_a_folder_that_is_no_loaded_set_is_refused(loaded, tmp_path):
    with pytest.raises(InputError, match="data load"):
        unify([tmp_path], tmp_path / "out")
    with pytest.raises(InputError, match="second folder of popqa"):
        unify([*loaded, loaded[0]], tmp_path / "out")


def test_a_record_that_was_damaged_since_is_refused_with_its_line(loaded, tmp_path):
    path = loaded[0] / "records.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:2], '{"record_id": 5}\n', *lines[3:]]), encoding="utf-8")
    with pytest.raises(InputError, match="is no QaRecord") as caught:
        unify(loaded, tmp_path / "out")
    assert (caught.value.path, caught.value.line) == (path, 3)
    assert not (tmp_path / "out").exists()


def test_the_whole_data_set_from_the_real_files(real_data, tmp_path):
    folders = []
    for name, source in SOURCES.items():
        load(source, real_data, tmp_path / name)
        folders.append(tmp_path / name)
    card = unify(folders, tmp_path / "out")
    drawn = {subset["subset"]: (subset["requested"], subset["drawn"]) for subset in card["subsets"]}
    assert drawn == {
        "question_answering": (500, 500),
        "conversational_qa": (500, 2),
        "dialogue_summarisation": (500, 500),
        "task_oriented": (4500, 220),
    }
    assert [entry["set"] for entry in card["sets"] if entry["untested"]] == [
        "dstc3",
        "multiwoz22",
        "natural_questions",
        "popqa",
        "qaconv",
        "spokenwoz",
    ]
    table = datasets.load_dataset(
        "parquet",
        data_files=str(tmp_path / "out/task_oriented.parquet"),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    assert len(table) == 220
    assert table[0]["summary"]["utterances"] == [turn["utterance"] for turn in table[0]["turns"]]

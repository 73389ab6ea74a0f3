"""Damaged originals are refused with their place: whatever a member is replaced by, no import ends in a traceback."""

from __future__ import annotations

import copy
import errno
import gzip
import itertools
import json
import os
import random

import pytest

from faithfuse.datasets.folder import whole_folder
from faithfuse.datasets.ratings import IMPORTERS
from faithfuse.datasets.ratings.base import write
from faithfuse.datasets.shapes import misfit
from faithfuse.datasets.sources import SOURCES
from faithfuse.datasets.sources.base import load
from faithfuse.datasets.streams import iter_json_records
from faithfuse.errors import FaithfuseError, InputError

VALUES = (None, 5, True, "zzz", [], {}, [None], [5])
MUTATIONS = 25


@pytest.mark.parametrize(
    ("value", "shape", "wrong"),
    [
        ({"a": "x"}, {"a": str, "b?": int}, None),
        ({"a": "x", "b": None}, {"a": str, "b?": int}, "b is None, not a whole number"),
        ({"a": True}, {"a": int}, "a is True, not a whole number"),
        ({"a": 1}, {"a": float}, None),
        ({"a": None}, {"a": (str, None)}, None),
        ({"a": 5}, {"a": (str, None)}, "a is 5, not a text or null"),
        ({"a": [{"b": ["x", 5]}]}, {"a": [{"b": [str]}]}, "a.0.b.1 is 5, not a text"),
        ({"a": {}}, {"a": ({"b": str}, None)}, "a is {}, not an object or null"),
        ("x", {"a": str}, "is 'x', not an object"),
        ({}, {"a": str, "b": str}, "has no a, b"),
        ({"a": [{}]}, {"a": [{"b": str}]}, "a.0 has no b"),
        ({"a": "z"}, {"a": frozenset("yx")}, "a is 'z', not 'x' or 'y'"),
        ({"a": 1, "b": "x"}, {"a": int, "*": [str]}, "b is 'x', not a list"),
    ],
)
def test_a_misfit_is_named_by_member_and_what_was_expected(value, shape, wrong):
    assert misfit(value, shape) == wrong


def places(value, place=()):
    """Every place in a JSON value, two elements of each list."""
    yield place
    parts = value if isinstance(value, dict) else dict(enumerate(value[:2])) if isinstance(value, list) else {}
    for key, part in parts.items():
        yield from places(part, (*place, key))


def with_value(value, place, new):
    if not place:
        return new
    value = copy.deepcopy(value)
    part = value
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = new
    return value


def first_records(path, count=2):
    return [record for _, record in itertools.islice(iter_json_records(path), count)]


def mtrag(path):
    (whole,) = first_records(path)
    task = whole["tasks"][0]
    ids = {context["document_id"] for context in task["contexts"]}
    return {
        "documents": [document for document in whole["documents"] if document["document_id"] in ids],
        "tasks": [task],
        "evaluations": [row for row in whole["evaluations"] if row["task_id"] == task["task_id"]],
    }


def natural_questions(path):
    records = [r for r in first_records(path, 10) if r["annotations"][0]["long_answer"]["candidate_index"] != -1]
    return [{**record, "long_answer_candidates": []} for record in records[:1]]


def whole(path):
    return first_records(path)[0]


# set, its file, what is kept of it, and other files that are read with it (what they hold, or what is kept of them)
JUDGED = [
    ("evouna_nq", "NQ.json", first_records, {}),
    ("evouna_tq", "TQ.json", first_records, {}),
    ("expertqa", "rand_test.jsonl", first_records, {"rand_val.jsonl": "[]"}),
    ("factool_kbqa", "knowledge_qa.jsonl", first_records, {}),
    ("factcheck_gpt", "factcheck-GPT-benchmark.jsonl", first_records, {}),
    ("mtrag", "reference_subset_with_human_evaluations.json", mtrag, {}),
    ("summedits", "summedits_samsum.json", first_records, {"summedits_qmsumm.json": "[]"}),
    ("dialsummeval", "human_judgment.jsonl", first_records, {}),
]
LOADED = [
    ("natural_questions", "simplified/simplified-nq-sample.jsonl", natural_questions, {}),
    ("samsum", "samsum.test.jsonl", first_records, {}),
    ("sgd", "dev/dialogues_016.first25.json", lambda path: first_records(path, 1), {}),
    ("multiwoz22", "dialogstudio_original_examples.json", lambda path: first_records(path, 1), {}),
    ("multiwoz22", "hf_truncated/dialog_acts.json", whole, {"dialogstudio_original_examples.json": first_records}),
    ("dstc3", "json/dstc3_train.json", whole, {}),
    ("qaconv", "QAConv-V1.1/tst.json", first_records, {"readme_example/article_segment.json": whole}),
    ("qaconv", "readme_example/article_segment.json", whole, {"QAConv-V1.1/tst.json": first_records}),
]


def damaged(value, seed):
    """Mutations of a value, a fixed sample of all of them."""
    mutations = [(place, new) for place in places(value) for new in VALUES]
    chosen = random.Random(seed).sample(mutations, min(MUTATIONS, len(mutations)))
    return [with_value(value, place, new) for place, new in chosen]


def check_all(root, file, value, run):
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    refused = 0
    for mutation in damaged(value, path.name):
        # JSON Lines as well as lists; a value alone is one record.
        lines = path.suffix == ".jsonl" and isinstance(mutation, list)
        path.write_text("\n".join(map(json.dumps, mutation)) if lines else json.dumps(mutation), encoding="utf-8")
        try:
            run()
        except FaithfuseError as error:
            refused += 1
            assert str(root) in str(error)
    assert refused


@pytest.mark.parametrize(("name", "file", "keep", "others"), JUDGED, ids=[name for name, *_ in JUDGED])
def test_a_damaged_set_of_judgements_is_refused_with_its_file(real_data, tmp_path, name, file, keep, others):
    value = keep(real_data / IMPORTERS[name].home / file)
    root = tmp_path / "in"
    root.mkdir()
    for other, text in others.items():
        (root / other).write_text(text, encoding="utf-8")
    check_all(root, file, value, lambda: write(IMPORTERS[name], root, tmp_path / "out"))


@pytest.mark.parametrize(("name", "file", "keep", "others"), LOADED, ids=[file for _, file, *_ in LOADED])
def test_a_damaged_source_set_is_refused_with_its_file(real_data, tmp_path, name, file, keep, others):
    home = real_data / SOURCES[name].home
    value = keep(home / file)
    root = tmp_path / "in"
    for other, keep_other in others.items():
        (root / other).parent.mkdir(parents=True, exist_ok=True)
        (root / other).write_text(json.dumps(keep_other(home / other)), encoding="utf-8")
    check_all(root, file, value, lambda: load(SOURCES[name], root, tmp_path / "out"))


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("evouna_nq", "NQ.json"),
        ("factool_kbqa", "knowledge_qa.jsonl"),
        ("haluquestqa", "HaluQuestQA.csv"),
        ("storysumm", "storysumm.json"),
        ("own", "judgements.csv"),
    ],
)
@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", r"is empty|the end of the file"), ("ä".encode("utf-16"), "not UTF-8"), (b"[]", "no item|no column|instead")],
)
def test_a_file_that_is_empty_or_of_another_encoding_is_refused(tmp_path, name, file, content, message):
    (tmp_path / file).write_bytes(content)
    for repair in (False, True):
        with pytest.raises(InputError, match=message):
            write(IMPORTERS[name], tmp_path, tmp_path / "out", repair=repair)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [b"not packed", gzip.compress(b'{"example_id": 1}' * 999)[:40]])
def test_a_packed_file_that_is_damaged_or_cut_off_is_refused_with_its_name(tmp_path, content):
    (tmp_path / "nq-train.jsonl.gz").write_bytes(content)
    with pytest.raises(InputError, match=r"nq-train\.jsonl\.gz:1: cannot be read on"):
        load(SOURCES["natural_questions"], tmp_path, tmp_path / "out")


def test_line_ends_and_a_byte_order_mark_change_nothing(tmp_path):
    claim = {"claim": "Ada wrote\u00a0it.", "label": True}
    record = {"prompt": "Who?", "response": "Ada.", "claims": [claim], "label": True}
    lines = [json.dumps({**record, "prompt": f"{n}?"}, ensure_ascii=False).encode() for n in range(3)]
    files = {}
    for name, text in (("n", b"\n".join(lines)), ("rn", b"\xef\xbb\xbf" + b"\r\n".join(lines) + b"\r\n\r\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "knowledge_qa.jsonl").write_bytes(text)
        write(IMPORTERS["factool_kbqa"], tmp_path / name, tmp_path / f"out-{name}")
        files[name] = {kind: (tmp_path / f"out-{name}/{kind}.jsonl").read_bytes() for kind in ("items", "ratings")}
    assert files["n"] == files["rn"]


def test_a_folder_that_cannot_be_written_whole_keeps_what_it_had(tmp_path):
    (tmp_path / "old.txt").write_text("old")
    with pytest.raises(FaithfuseError, match="No space left on device"), whole_folder(tmp_path) as new:
        (new / "old.txt").write_text("new")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old.txt": "old"}


def test_a_file_in_the_place_of_the_output_folder_is_told(tmp_path):
    (tmp_path / "knowledge_qa.jsonl").write_text(
        json.dumps({"prompt": "Who?", "response": "Ada.", "claims": [], "label": True}), encoding="utf-8"
    )
    (tmp_path / "out").write_text("mine")
    with pytest.raises(FaithfuseError, match="cannot be written"):
        write(IMPORTERS["factool_kbqa"], tmp_path, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"

"""Long inputs are read in flat memory: many times the records take hardly more of it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import re, sys
from pathlib import Path
kind, name, root, out = sys.argv[1:]
if kind == "import":
    from faithfuse.datasets.ratings import IMPORTERS
    from faithfuse.datasets.ratings.base import write
    write(IMPORTERS[name], Path(root), Path(out))
else:
    from faithfuse.datasets.sources import SOURCES
    from faithfuse.datasets.sources.base import load
    load(SOURCES[name], Path(root), Path(out))
# Not getrusage: its maximum is inherited from the process that started this one.
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
"""


def peak(kind, name, root, out):
    """Peak resident memory of one import in a process of its own, in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind, name, str(root), str(out)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def evouna(path, count):
    """A JSON list of records as long as EVOUNA's, about 1 KiB each."""
    systems = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
    with (path / "TQ.json").open("w", encoding="utf-8") as stream:
        stream.write("[\n")
        for number in range(count):
            record = {"question": f"question {number}?", "golden_answer": "a/b", "improper": False}
            for system in systems:
                record |= {f"answer_{system}": "word " * 30, f"judge_{system}": True}
            stream.write(json.dumps(record) + (",\n" if number < count - 1 else "\n"))
        stream.write("]\n")


def natural_questions(path, count):
    """JSON Lines of documents, about 24 KiB each, as the simplified format has them."""
    text = " ".join(["<P>", *["word"] * 4800, "</P>"])
    long_answer = {"candidate_index": 0, "start_token": 0, "end_token": 4802}
    annotation = {
        "yes_no_answer": "NONE",
        "long_answer": long_answer,
        "short_answers": [{"start_token": 5, "end_token": 6}],
    }
    with (path / "v1.0-simplified_simplified-nq-train.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(count):
            record = {
                "example_id": number,
                "question_text": f"question {number}",
                "document_text": text,
                "annotations": [annotation],
            }
            stream.write(json.dumps(record) + "\n")


def qaconv(path, count):
    """An object of dialogues, about 10 KiB each, and one question on each."""
    with (path / "article_segment.json").open("w", encoding="utf-8") as stream:
        stream.write("{")
        for number in range(count):
            turns = [{"id": f"{number}-{turn}", "speaker": "A", "text": "word " * 200} for turn in range(10)]
            stream.write(("," if number else "") + json.dumps(f"s-{number}") + ":" + json.dumps({"seg_dialog": turns}))
        stream.write("}")
    with (path / "trn.json").open("w", encoding="utf-8") as stream:
        question = {"article_full_id": [], "QG": False, "question": "q?", "answers": ["word"]}
        rows = [{**question, "id": str(n), "article_segment_id": f"s-{n}"} for n in range(count)]
        for row in rows:
            row["answers"] = ["nowhere"]
        json.dump(rows, stream)


def multiwoz(path, count):
    """Dialogues with their acts in a file of their own, about 12 KiB together, most of it acts."""
    acts = {
        "dialog_act": {"Hotel-Inform": [["area", "north"]] * 20},
        "span_info": [["Hotel-Inform", "area", "n", 1, 2]] * 20,
    }
    (path / "train").mkdir()
    with (
        (path / "dialog_acts.json").open("w", encoding="utf-8") as entries,
        (path / "train/dialogues_001.json").open("w", encoding="utf-8") as stream,
    ):
        entries.write("{")
        stream.write("[")
        for number in range(count):
            comma = "," if number else ""
            turn = {"speaker": "USER", "utterance": "a hotel in the north", "frames": []}
            turns = [{**turn, "turn_id": str(n)} for n in range(8)]
            dialogue = {"dialogue_id": f"M{number}.json", "services": ["hotel"], "turns": turns}
            entries.write(comma + json.dumps(f"M{number}.json") + ":" + json.dumps({str(n): acts for n in range(8)}))
            stream.write(comma + json.dumps(dialogue))
        entries.write("}")
        stream.write("]")


def dstc3(path, count):
    """Calls in the original layout, about 12 KiB each, most of it recognition hypotheses."""
    output = {"transcript": "Which area?", "dialog-acts": [{"act": "request", "slots": [["slot", "area"]]}]}
    hypotheses = [{"asr-hyp": "north " * 20, "score": 0.5}] * 8
    log = {"output": output, "input": {"live": {"asr-hyps": hypotheses}}}
    label = {"transcription": "north", "semantics": {"json": [{"act": "inform", "slots": [["area", "north"]]}]}}
    for number in range(count):
        call = path / f"call-{number:05d}"
        call.mkdir()
        (call / "log.json").write_text(json.dumps({"session-id": f"v-{number}", "turns": [log] * 8}), encoding="utf-8")
        (call / "label.json").write_text(json.dumps({"turns": [label] * 8}), encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "name", "make", "per_mebibyte"),
    [
        ("import", "evouna_tq", evouna, 1000),
        ("load", "natural_questions", natural_questions, 42),
        ("load", "qaconv", qaconv, 95),
        ("load", "multiwoz22", multiwoz, 110),
        ("load", "dstc3", dstc3, 90),
    ],
)
def test_memory_does_not_grow_with_the_input(tmp_path, soak, kind, name, make, per_mebibyte):
    small, large = 1, 100 if soak else 8
    peaks = []
    for size in (small, large):
        root = tmp_path / str(size)
        root.mkdir()
        make(root, size * per_mebibyte)
        assert sum(path.stat().st_size for path in root.rglob("*.*")) > 0.9 * size * 2**20
        peaks.append(peak(kind, name, root, tmp_path / f"out-{size}"))
    # The database's cache fills up to 8 MiB, and reading windows and the allocator take a little.
    assert peaks[1] - peaks[0] < 16 + 0.1 * large, peaks

"""`faithfuse judge` and `faithfuse respond` on a user's own CSV, without Snakemake."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from faithfuse.cli import app
from faithfuse.errors import InputError
from faithfuse.llm.progress import Progress
from faithfuse.records import Response, Score, Verdict, read_records

ROOT = Path(__file__).parents[3]
ITEMS = [
    {"item_id": "q1", "domain": "short_form_qa", "question": "Which gate, the 1st?", "short": "north | the north one"},
    {
        "item_id": "d1",
        "domain": "summarisation",
        "transcript": "Ada: Did it come?\nBen: It waits, at the gate.",
        "points": "It came. | It waits at the gate.",
    },
]
RESPONSES = [
    {"item_id": "q1", "system": "mine", "text": "The north gate, I think"},
    {"item_id": "d1", "system": "mine", "text": "* It came.\n* Ben waits."},
]


def table(path, rows):
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def run(registry_file, tmp_path):
    def call(command, *files, **options):
        words = [command, *files, "--model", "tiny", "--models", registry_file, "--prompts", ROOT / "config/prompts"]
        words += ["--device", "cpu", *(word for pair in options.items() for word in pair)]
        return CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)

    return call


def test_a_users_csv_is_answered_and_judged(run, tmp_path):
    items = table(tmp_path / "items.csv", ITEMS)
    answers = tmp_path / "answers.jsonl"
    done = run("respond", items, **{"--out": answers, "--max-new-tokens": 4})
    assert done.exit_code == 0, done.output
    generated = read_records(answers, Response)
    assert [(r.item_id, r.system, r.hit_token_limit is not None) for r in generated] == [
        ("d1", "tiny", True),
        ("q1", "tiny", True),
    ]
    out, scores = tmp_path / "verdicts.jsonl", tmp_path / "scores.jsonl"
    own = table(tmp_path / "responses.csv", RESPONSES)
    options = {"--out": out, "--likelihood-out": scores, "--variant": "fact_reference"}
    done = run("judge", items, own, answers, **options)
    assert done.exit_code == 0, done.output
    verdicts = read_records(out, Verdict)
    mine = [v for v in verdicts if v.system == "mine"]
    # The answer twice; the summary's two points twice against the transcript and twice against both of the
    # reference's points; the whole twice.
    assert len(mine) == 2 + 2 * (2 + 2 * 2) + 2
    assert all(0 <= v.score <= 1 for v in mine if v.kind == "confidence")
    assert all(0 <= v.expected <= 5 for v in mine if v.kind == "likert")
    assert len({v.template_digest for v in verdicts}) == 1 and all(v.template_digest for v in verdicts)
    assert {s.metric for s in read_records(scores, Score)} == {
        "LLM likelihood source",
        "LLM likelihood reference",
        "LLM likelihood recall",
    }
    meta = json.loads((tmp_path / "verdicts.jsonl.meta.json").read_text())
    assert meta["variants"] == ["fact_reference"] and "fact likert reference" in meta["verdicts"]
    assert meta["template"]["sha256"] == verdicts[0].template_digest


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"item_id": "q1", "domain": "short_form_qa", "answer": "x"}], "unknown column 'answer'"),
        ([{"item_id": "q1", "domain": "short_form_qa", "question": ""}], r"csv:2 .*needs a question"),
        ([{"item_id": "q1", "domain": "poetry", "question": "x"}], r"csv:2 .*domain"),
        ([{**ITEMS[0]}, {**ITEMS[0]}], r"csv:3 .*repeats the Item of line 2"),
    ],
)
def test_a_mistake_in_a_csv_is_named_with_its_line(run, tmp_path, rows, message):
    items = table(tmp_path / "items.csv", rows)
    with pytest.raises(InputError, match=message):
        run("respond", items, **{"--out": tmp_path / "out.jsonl"})
    assert not (tmp_path / "out.jsonl").exists()


def test_a_response_to_no_item_is_refused(run, tmp_path):
    items = table(tmp_path / "items.csv", ITEMS[:1])
    own = table(tmp_path / "responses.csv", RESPONSES)
    with pytest.raises(InputError, match=r"responses\.csv.*d1.*belongs to no item"):
        run("judge", items, own, **{"--out": tmp_path / "out.jsonl"})


def test_a_log_gets_a_line_now_and_then_with_speed_and_time_left(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("faithfuse.llm.progress.time.monotonic", lambda: now[0])
    with Progress("judge", 10, every=15) as progress:
        for _ in range(4):
            now[0] += 10
            progress.advance(2, tokens=100)
        now[0] += 10
        progress.advance(2)
    assert capsys.readouterr().err.splitlines() == [
        "judge: 4/10, 10 tokens/s, about 30 s left",
        "judge: 8/10, 10 tokens/s, about 10 s left",
        "judge: 10/10, 8 tokens/s",
    ]


def test_a_terminal_gets_a_bar():
    job = "from faithfuse.llm.progress import Progress\nwith Progress('judge', 4) as p: p.advance(4, tokens=80)"
    ours, theirs = os.openpty()
    subprocess.run([sys.executable, "-c", job], stderr=theirs, check=True)
    os.close(theirs)
    said = os.read(ours, 65536).decode()
    os.close(ours)
    assert "judge" in said and "4/4" in said and "tokens/s" in said and "\x1b[" in said

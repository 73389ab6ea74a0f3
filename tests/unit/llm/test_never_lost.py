"""Killed jobs go on, and only what decides a result recomputes it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from faithfuse.llm.cache import BatchCache
from faithfuse.llm.generate import respond
from faithfuse.llm.judge import judge
from faithfuse.llm.model import LanguageModel
from faithfuse.records import write_records

ROOT = Path(__file__).parents[3]
KILLS = 100 if os.environ.get("FAITHFUSE_SOAK") else 1


def counting(monkeypatch):
    """How many forward passes over batches happen from here on."""
    calls = []
    whole = LanguageModel.score
    monkeypatch.setattr(LanguageModel, "score", lambda self, *args: calls.append(1) or whole(self, *args))
    return calls


def test_a_warm_run_computes_nothing(tiny, prompts, study, tmp_path, monkeypatch):
    items, responses = study
    cold = judge(items, responses, tiny, prompts, cache=tmp_path)
    calls = counting(monkeypatch)
    assert judge(items, responses, tiny, prompts, cache=tmp_path) == cold
    assert calls == []


def test_adding_items_keeps_earlier_windows_and_equals_a_cold_run(tiny, prompts, qa_item, tmp_path, monkeypatch):
    from faithfuse.records import Response

    items = [qa_item(n) for n in range(60)]
    responses = [Response(item_id=i.item_id, system="alpha", text=f"It is {i.item_id}.") for i in items]
    judge(items[:50], responses[:50], tiny, prompts, cache=tmp_path, batch_tokens=500)
    calls = counting(monkeypatch)
    warm = judge(items, responses, tiny, prompts, cache=tmp_path, batch_tokens=500)
    recomputed = len(calls)
    calls.clear()
    assert judge(items, responses, tiny, prompts, batch_tokens=500) == warm
    # Two of the three windows of 24 items were known.
    assert 0 < recomputed < len(calls) / 2


def test_another_setting_shares_nothing(tiny, prompts, study, tmp_path, monkeypatch):
    items, responses = study
    judge(items, responses, tiny, prompts, cache=tmp_path)
    calls = counting(monkeypatch)
    judge(items, responses, tiny, prompts, cache=tmp_path, off_label_tokens=2)
    assert calls


def test_a_changed_answer_recomputes_its_window_alone(tiny, prompts, study, tmp_path, monkeypatch):
    items, responses = study
    judge(items, responses, tiny, prompts, cache=tmp_path)
    changed = [r.model_copy(update={"text": "Elsewhere."}) if r.item_id == "q03" else r for r in responses]
    calls = counting(monkeypatch)
    warm = judge(items, changed, tiny, prompts, cache=tmp_path)
    # Short-form Confidence and Likert, one batch each; the other two domains are known.
    assert len(calls) == 2
    assert warm == judge(items, changed, tiny, prompts)


def test_a_broken_line_is_reported_set_aside_and_computed_again(tiny, prompts, study, tmp_path, capsys):
    items, responses = study
    cold = judge(items, responses, tiny, prompts, cache=tmp_path)
    (path,) = tmp_path.rglob("batches-*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    lines[0] = lines[0].replace(b'"logprobs":[-', b'"logprobs":[-1', 1)
    path.write_bytes(b"".join(lines)[:-20])
    capsys.readouterr()
    assert judge(items, responses, tiny, prompts, cache=tmp_path) == cold
    assert "2 broken line(s)" in capsys.readouterr().err
    assert len((path.parent / "corrupt.txt").read_bytes().splitlines()) == 2
    assert len(path.read_bytes().splitlines()) == len(lines)


def test_two_jobs_share_a_cache_without_sharing_a_file(tmp_path):
    with BatchCache(tmp_path, {"a": 1}, print) as one, BatchCache(tmp_path, {"a": 1}, print) as two:
        one.put("x", [1])
        two.put("y", [2])
    with BatchCache(tmp_path, {"a": 1}, print) as later:
        assert (later.get("x"), later.get("y")) == ([1], [2])


def test_answers_come_from_the_cache_too(tiny, prompts, study, tmp_path, monkeypatch):
    items, _ = study
    cold = respond(items, tiny, prompts, max_new_tokens=6, cache=tmp_path)
    monkeypatch.setattr(LanguageModel, "extend", None)
    assert respond(items, tiny, prompts, max_new_tokens=6, cache=tmp_path) == cold


SLOW_JUDGE = """
import sys, time
from faithfuse.llm.model import LanguageModel
whole = LanguageModel.score
def slow(self, *args):
    time.sleep(0.15)
    print("batch", flush=True)
    return whole(self, *args)
LanguageModel.score = slow
from faithfuse.cli import main
sys.argv = ["faithfuse", *sys.argv[1:]]
main()
"""


def test_a_job_killed_at_any_moment_resumes_to_the_same_bytes(registry_file, study, tmp_path):
    items, responses = study
    write_records(tmp_path / "items.jsonl", items)
    write_records(tmp_path / "responses.jsonl", responses)

    def command(cache, out):
        options = {
            "--model": "tiny",
            "--models": registry_file,
            "--prompts": ROOT / "config/prompts",
            "--device": "cpu",
            "--cache": tmp_path / cache,
            "--out": tmp_path / out,
        }
        files = [tmp_path / "items.jsonl", tmp_path / "responses.jsonl"]
        words = ["judge", *files, *(word for pair in options.items() for word in pair)]
        return [sys.executable, "-c", SLOW_JUDGE, *map(str, words)]

    def batches(text):
        return text.count("batch\n")

    undisturbed = subprocess.run(command("c0", "whole.jsonl"), capture_output=True, text=True, check=True)
    total = batches(undisturbed.stdout)
    draw = random.Random(3)
    computed = 0
    for _ in range(KILLS):
        with subprocess.Popen(command("c1", "resumed.jsonl"), stdout=subprocess.PIPE, text=True) as job:
            first = job.stdout.readline()
            time.sleep(draw.random() * 0.6)
            job.send_signal(signal.SIGKILL)
            computed += batches(first + job.stdout.read())
        if (tmp_path / "resumed.jsonl").exists():
            break
    last = subprocess.run(command("c1", "resumed.jsonl"), capture_output=True, text=True, check=True)
    assert (tmp_path / "resumed.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    # Each kill costs at most the batch it hit; one more may have been announced by the load-time check.
    assert computed + batches(last.stdout) <= total + 2 * KILLS + 1


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

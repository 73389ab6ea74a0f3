"""Killed jobs go on, and only what decides a result recomputes it."""

from __future__ import annotations

import json
import os
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
KILLS = 100 if os.environ.get("FAITHFUSE_SOAK") else 10


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


# Loads the model once; every trial is a fork that is killed by SIGKILL at a random moment, then one that goes on.
TRIALS = """
import json, os, random, signal, sys, time
from pathlib import Path
from faithfuse.llm.generate import respond
from faithfuse.llm.judge import judge
from faithfuse.llm.likelihood import likelihood
from faithfuse.llm.model import LanguageModel, load
from faithfuse.llm.prompts import load_prompts
from faithfuse.llm.registry import load_registry, locate
from faithfuse.records import Item, Response, read_records, write_records

work, registry, prompts, kills = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
spec = load_registry(registry)["tiny"]
model = load(spec, locate(spec, work), device="cpu")
prompts = load_prompts(prompts, "repaired")
items = read_records(work / "items.jsonl", Item)
responses = read_records(work / "responses.jsonl", Response)

def job(name, pipe):
    for method in ("score", "prefill"):
        def counted(self, *args, whole=getattr(LanguageModel, method)):
            os.write(pipe, b".")
            return whole(self, *args)
        setattr(LanguageModel, method, counted)
    sys.stderr = open(os.devnull, "w")
    common = {"cache": work / name}
    write_records(work / name / "a", respond(items, model, prompts, max_new_tokens=6, decode_tokens=500, **common))
    write_records(work / name / "b", judge(items, responses, model, prompts, batch_tokens=300, **common))
    write_records(work / name / "c", likelihood(items, responses, model, prompts, batch_tokens=300, **common))

def run(name, seconds=None):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        job(name, write)
        os._exit(0)
    os.close(write)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    with os.fdopen(read, "rb") as stream:
        batches = len(stream.read())
    return batches, status

def written(name):
    return [(work / name / part).read_bytes() for part in "abc"]

began = time.monotonic()
total, status = run("undisturbed")
lasted = time.monotonic() - began
assert status == 0
draw = random.Random(11)
for trial in range(kills):
    first, status = run(f"{trial}", draw.random() * lasted)
    more, after = run(f"{trial}")
    same = after == 0 and written(f"{trial}") == written("undisturbed")
    print(json.dumps({"killed": status == signal.SIGKILL, "same": same, "batches": first + more, "total": total}))
"""


def test_a_job_killed_at_any_moment_resumes_to_the_same_bytes_and_repeats_at_most_one_batch(
    registry_file, study, tmp_path
):
    items, responses = study
    write_records(tmp_path / "items.jsonl", items)
    write_records(tmp_path / "responses.jsonl", responses)
    command = [sys.executable, "-c", TRIALS, tmp_path, registry_file, ROOT / "config/prompts", KILLS]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    trials = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(trials) == KILLS and trials[0]["total"] > 20
    assert all(trial["same"] for trial in trials)
    assert all(trial["total"] <= trial["batches"] <= trial["total"] + 1 for trial in trials)
    assert sum(trial["killed"] for trial in trials) > KILLS / 2


def test_a_killed_command_goes_on_when_it_is_given_again(registry_file, study, tmp_path):
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
        return [sys.executable, "-m", "faithfuse", *map(str, words)]

    with subprocess.Popen(command("killed", "resumed.jsonl"), stderr=subprocess.DEVNULL) as job:
        while not list(tmp_path.glob("killed/llm/*/batches-*.jsonl")) and job.poll() is None:
            time.sleep(0.01)
        job.send_signal(signal.SIGKILL)
    for cache, out in (("killed", "resumed.jsonl"), ("cold", "whole.jsonl")):
        subprocess.run(command(cache, out), capture_output=True, check=True)
    assert (tmp_path / "resumed.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

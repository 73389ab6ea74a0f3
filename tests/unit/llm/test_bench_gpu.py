"""The GPU benchmark, as far as a machine without a GPU can run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def bench_gpu(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import bench_gpu

    return bench_gpu


def test_without_cuda_it_says_so_in_one_line_and_fails():
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, str(FOLDER / "bench_gpu.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=hidden, check=False)
    assert done.returncode != 0 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "no CUDA device" in done.stderr


def test_its_whole_path_runs_on_a_tiny_architecture(bench_gpu):
    config = bench_gpu.llama_8b()
    config.update({"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "vocab_size": 8200})
    config.update({"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16})
    items, responses = bench_gpu.sample()
    kept = {}
    for item in items:
        kept.setdefault(item.domain, []).append(item)
    items = [item for group in kept.values() for item in group[:2]]
    ids = {item.item_id for item in items}
    responses = [response for response in responses if response.item_id in ids]
    rows = bench_gpu.measure(config, torch.bfloat16, "cpu", items, responses, gib=0.01, max_new_tokens=5)
    found = {(task, what): value for task, what, value, _ in rows}
    assert found["generation", "results"] == len(items)
    assert found["judge", "results"] >= 2 * len(responses)
    for task in ("judge", "generation"):
        assert found[task, "tokens computed"] > 0 and found[task, "speed"] > 0
        assert found[task, "share of the matrix ceiling"] > 0
    # No turn ends: four steps follow the first token of each domain's batch.
    assert found["generation", "decoding steps"] % 4 == 0
    assert found["setting", "memory estimated before loading"] > 0


def test_the_architecture_is_llama_3_1_8b(bench_gpu):
    from accelerate import init_empty_weights
    from transformers import AutoModelForCausalLM

    with init_empty_weights():
        empty = AutoModelForCausalLM.from_config(bench_gpu.llama_8b())
    # The model card: 8.03 billion parameters.
    assert empty.num_parameters() == pytest.approx(8.03e9, rel=1e-3)

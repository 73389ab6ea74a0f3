"""What a job computes with: the threads that its rule states, and the GPUs that its model wants or none at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = [pytest.mark.workflow, pytest.mark.models]

# Stands in for `python` in a job: notes the threads that libraries would take, and goes on as `python` or ends there.
NOTING_PYTHON = """#!/bin/bash
set -e
torch=$({python} -c 'import torch; print(torch.get_num_threads())')
echo "$3 $OMP_NUM_THREADS $MKL_NUM_THREADS $OPENBLAS_NUM_THREADS $torch" >>threads.txt
echo "$*" >>commands.txt
if [ "$3" = respond ]; then exit 1; fi
exec {python} "$@"
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_libraries_of_a_job_take_the_threads_of_its_rule(make_clone, tmp_path, monkeypatch, threads):
    clone = make_clone(f"threads_{threads}")
    path = clone.folder / "config" / "small.yaml"
    settings = yaml.safe_load(path.read_text()) | {"domains": ["short_form_qa"], "limit": 2}
    settings["llm"] = {"threads": threads}
    path.write_text(yaml.safe_dump(settings))
    stand_in = tmp_path / "bin" / "python"
    stand_in.parent.mkdir()
    stand_in.write_text(NOTING_PYTHON.format(python=Path(sys.executable)))
    stand_in.chmod(0o755)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")  # what the user's shell says is not what a job takes
    tools = f"{stand_in.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = clone.snakemake("--", "results/responses/short_form_qa.jsonl", PATH=tools)
    assert done.returncode != 0  # the stand-in answers nothing
    noted = dict(line.split(" ", 1) for line in (clone.folder / "threads.txt").read_text().splitlines())
    assert noted["respond"] == " ".join([str(threads)] * 4)
    assert noted["items"] == "1 1 1 1"
    (command,) = [line for line in (clone.folder / "commands.txt").read_text().splitlines() if " respond " in line]
    assert f" --threads {threads} " in command


def test_a_model_that_wants_a_gpu_stops_the_run_before_anything_is_downloaded(make_clone):
    clone = make_clone("no_gpu")
    path = clone.folder / "config" / "small.yaml"
    settings = yaml.safe_load(path.read_text()) | {"models_dir": "models"}
    path.write_text(yaml.safe_dump(settings))
    registry = clone.folder / "config" / "models.yaml"
    models = yaml.safe_load(registry.read_text())
    models["smollm2-135m"]["gpus"] = 1
    registry.write_text(yaml.safe_dump(models))
    done = clone.snakemake(CUDA_VISIBLE_DEVICES="")
    assert done.returncode != 0
    assert "wants a GPU, this machine shows none (CUDA_VISIBLE_DEVICES is '')" in done.stdout
    assert not (clone.folder / "models").exists()
    assert not (clone.folder / "results" / "logs").exists()

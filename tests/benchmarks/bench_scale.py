"""What Snakemake itself costs as the shards grow: the workflow's own rules, with jobs that do next to nothing.

The judge stage of one domain is shared among 10 and 1,000 jobs, whose command is replaced by a script that writes one
record; for 10,000 there is a dry run. Everything else is real: the Snakefile, the DAG, the files, the gathering.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from faithfuse.records import atomic_write

REPOSITORY = Path(__file__).resolve().parents[2]
COLUMNS = ("shards", "jobs", "what", "seconds", "cpu_seconds", "memory_mb")
SHARDS = (10, 1000)
DRY = (10, 1000, 10000)
TARGETS = ("results/verdicts/short_form_qa.jsonl", "results/likelihood/short_form_qa.jsonl")
# Stands in for `python`: a judging job writes one verdict and one score of an item of its own, all else is real.
STAND_IN = """#!/bin/bash
if [ "$3" != judge ]; then exec {python} "$@"; fi
while [ $# -gt 0 ]; do
    case "$1" in
    --shard) item="item-${{2%/*}}" ;;
    --out) out="$2" ;;
    --likelihood-out) likelihood="$2" ;;
    esac
    shift
done
cat >"$out" <<RECORD
{verdict}
RECORD
cat >"$likelihood" <<RECORD
{score}
RECORD
echo '{meta}' >"$out.meta.json"
echo '{meta}' >"$likelihood.meta.json"
"""
VERDICT = {
    "item_id": "$item",
    "system": "s",
    "judge": "j",
    "kind": "confidence",
    "scope": "answer",
    "target": "reference",
    "label_logprobs": {"Factual": -1.0, "Not-Factual": -2.0},
    "label_mass": 0.5,
    "choice": "Factual",
    "score": 0.7,
}
SCORE = {"item_id": "$item", "system": "s", "metric": "LLM likelihood recall", "value": -1.0}


@dataclass(frozen=True)
class Measured:
    """Seconds, processor seconds of the command and all it started, the largest process's memory, and what was said."""

    seconds: float
    cpu_seconds: float
    memory_mb: float
    said: str


def measure(command: Sequence[str], folder: Path, environment: dict[str, str]) -> Measured:
    """Run a command to its end."""
    with tempfile.TemporaryFile("w+") as said:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=said, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        said.seek(0)
        text = said.read()
    if status:
        sys.exit(text[-3000:])
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


def main(out: Path) -> None:
    """Measure a dry run, a run, a repeat with nothing to do and the gathering, for each number of shards."""
    tools = Path(sys.executable).parent
    table: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as temporary:
        clone = Path(temporary, "clone")
        subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(clone)], check=True)
        stand_in = Path(temporary, "bin", "python")
        stand_in.parent.mkdir()
        parts = {
            "verdict": json.dumps(VERDICT),
            "score": json.dumps(SCORE),
            "meta": json.dumps({"model": {"key": "j"}}),
        }
        stand_in.write_text(STAND_IN.format(python=tools / "python", **parts))
        stand_in.chmod(0o755)
        environment = os.environ | {"PATH": f"{stand_in.parent}:{tools}:{os.environ['PATH']}"}

        def snakemake(shards: int, *options: str) -> Measured:
            settings = {
                "name": f"scale-{shards}",
                "domains": ["short_form_qa"],
                "llm": {"respond": False},
                "shards": shards,
                "models_dir": str(REPOSITORY / ".models"),
            }
            (clone / "config" / "scale.yaml").write_text(yaml.safe_dump(settings))
            command = [
                "snakemake",
                "--cores",
                "2",
                "--configfile",
                "config/scale.yaml",
                "--quiet",
                "rules",
                "reason",
            ]
            return measure([*command, *options, "--", *TARGETS], clone, environment)

        def add(shards: int, jobs: int, what: str, measured: Measured) -> None:
            table.append(
                {
                    "shards": shards,
                    "jobs": jobs,
                    "what": what,
                    "seconds": round(measured.seconds, 2),
                    "cpu_seconds": round(measured.cpu_seconds, 2),
                    "memory_mb": round(measured.memory_mb),
                }
            )
            print(table[-1], flush=True)

        jobs = {}
        for shards in DRY:
            dry = snakemake(shards, "--dry-run")
            jobs[shards] = int(re.findall(r"^total\s+(\d+)", dry.said, flags=re.MULTILINE)[0])
            add(shards, jobs[shards], "dry run", dry)
        for shards in SHARDS:
            subprocess.run(["rm", "-rf", "results", ".snakemake"], cwd=clone, check=True)
            run = snakemake(shards)
            add(shards, jobs[shards], "run", run)
            lines = (clone / TARGETS[0]).read_text(encoding="utf-8").splitlines()
            assert len(lines) == shards, f"{len(lines)} verdicts of {shards} shards"
            again = snakemake(shards)
            assert "Nothing to be done" in again.said
            add(shards, jobs[shards], "repeat with nothing to do", again)
            shares = [f"results/shards/verdicts/short_form_qa/{share}.jsonl" for share in range(1, shards + 1)]
            gather = [str(tools / "python"), "-m", "faithfuse", "gather", *shares, "--stage", "verdicts", "--out"]
            package = os.environ | {"PYTHONPATH": str(clone / "workflow")}
            add(shards, 1, "gather", measure([*gather, "gathered.jsonl"], clone, package))
    with atomic_write(out) as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    print(out.read_text(encoding="utf-8"))

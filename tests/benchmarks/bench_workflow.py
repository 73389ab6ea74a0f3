"""The workflow beside its own commands run one after another: what the engine costs and what two cores give back."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from harness import rows, time_in_turn, write

REPOSITORY = Path(__file__).resolve().parents[2]
SMALL = {
    "name": "bench",
    "limit": 14,
    "llm": {"max_new_tokens": 24},
    "correlation": {"resamples": 200},
    "fusion": {"seeds": 2},
    "models_dir": str(REPOSITORY / ".models"),
}


def main(out: Path) -> None:
    """Time a run of fourteen items per domain, a repeat with nothing to do, and the same commands in sequence."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as temporary:
        clone = Path(temporary, "clone")
        subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(clone)], check=True)
        (clone / "config" / "bench.yaml").write_text(yaml.safe_dump(SMALL))
        command = ["snakemake", "--cores", "2", "--quiet", "all", "--configfile", "config/bench.yaml"]

        def call(arguments: list[str]) -> str:
            done = subprocess.run(
                arguments, cwd=clone, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            if done.returncode:
                sys.exit(done.stdout[-3000:])
            return done.stdout

        def clean() -> None:
            for name in ("results", ".cache", ".snakemake"):
                shutil.rmtree(clone / name, ignore_errors=True)

        dry = call([word for word in command if word not in ("--quiet", "all")] + ["--dry-run", "--printshellcmds"])
        commands = re.findall(r"^ {8}((?:HF_HUB_OFFLINE=0 \S+ )?python -m faithfuse .*)$", dry, flags=re.MULTILINE)
        script = "export PYTHONPATH=workflow HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1\nset -e\n"
        script += "".join(re.sub(r" 2>&1 \| tee \S+", " >/dev/null", line) + "\n" for line in commands)

        def whole_run() -> None:
            clean()
            call(command)

        def in_sequence() -> None:
            clean()
            call(["bash", "-c", script])

        table = rows(
            "run of 14 items per domain", time_in_turn({"ours": whole_run, "obvious": in_sequence}, 1, warmup=0), 56
        )
        whole_run()
        table += rows("repeat with nothing to do", time_in_turn({"ours": lambda: call(command)}, 3), 1)
    write(out, table)

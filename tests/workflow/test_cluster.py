"""The workflow on a real SLURM cluster: two nodes on this host, several shards, a job killed in the middle."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

pytestmark = [pytest.mark.workflow, pytest.mark.models]

CONFIGURATION = {
    "name": "cluster",
    "limit": 12,
    "domains": ["short_form_qa"],
    "llm": {"max_new_tokens": 8},
    "correlation": {"resamples": 200},
    "fusion": {"seeds": 2, "folds": 2, "curve_seeds": 0},
}
# This cluster has no accounting, and nobody else to be polite to.
OPTIONS = (
    "--slurm-no-account",
    "--slurm-status-command=squeue",
    "--slurm-init-seconds-before-status-checks=1",
    "--seconds-between-status-checks=1",
)


@pytest.fixture(scope="module")
def cluster(repository, tmp_path_factory) -> Iterator[dict[str, str]]:
    """Environment of a running cluster."""
    if os.geteuid():
        pytest.skip("a SLURM cluster for tests needs root")
    script = str(repository / "tests" / "slurm" / "cluster.sh")
    folder = tmp_path_factory.mktemp("slurm") / "cluster"
    started = subprocess.run([script, "up", str(folder)], capture_output=True, text=True, timeout=600)
    if started.returncode == 3:
        pytest.skip(started.stderr.strip().splitlines()[-1])
    assert started.returncode == 0, started.stderr[-3000:]
    try:
        yield {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    finally:
        subprocess.run([script, "down", str(folder)], check=True, timeout=120)
        assert not folder.exists()


@pytest.fixture
def make_small(make_clone, models_dir):
    """A copy of the repository that asks for every stage of a few items; with shards, or with a model's GPUs."""

    def make(name: str, shards: int = 1, gpus: int = 0) -> Path:
        folder = make_clone(name).folder
        settings = CONFIGURATION | {"models_dir": str(models_dir), "shards": shards}
        (folder / "config" / "small.yaml").write_text(yaml.safe_dump(settings))
        registry = folder / "config" / "models.yaml"
        models = yaml.safe_load(registry.read_text())
        models["smollm2-135m"]["gpus"] = gpus
        registry.write_text(yaml.safe_dump(models))
        return folder

    return make


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start Snakemake in a copy; what it says goes to `snakemake.txt` there."""
    path = f"{Path(sys.executable).parent}:{environment.pop('PATH', os.environ['PATH'])}"
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "SNAKEMAKE_PROFILE")}
    with (folder / "snakemake.txt").open("w") as said:
        return subprocess.Popen(
            ["snakemake", "--configfile", "config/small.yaml", *arguments],
            cwd=folder,
            env=kept | {"PATH": path} | environment,
            stdout=said,
            stderr=subprocess.STDOUT,
            text=True,
        )


def scontrol(job: str, cluster: dict[str, str]) -> dict[str, str]:
    """What SLURM knows of a job."""
    shown = subprocess.run(
        ["scontrol", "--oneliner", "show", "job", job],
        env=os.environ | cluster,
        check=True,
        capture_output=True,
        text=True,
    )
    return dict(re.findall(r"(\S+?)=(\S*)", shown.stdout))


def jobs(said: str, rule: str) -> list[str]:
    """SLURM's numbers of a rule's jobs, in the order in which Snakemake submitted them."""
    return re.findall(rf"submitted with SLURM jobid (\d+) \(log: \S*/rule_{rule}/", said)


def process_of(share: str, folder: Path) -> int | None:
    """The process that judges a share, once it has read its input and begun to use the cache."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            words = (entry / "cmdline").read_bytes().decode().split("\0")
            if not {"judge", share} <= set(words) or (entry / "cwd").resolve() != folder.resolve():
                continue
            if any("batches-" in os.readlink(file) for file in (entry / "fd").iterdir()):
                return int(entry.name)
    return None


def test_a_run_whose_job_is_killed_has_the_local_runs_id(cluster, make_small):
    local = make_small("local")
    here = start(local, "--cores", "2")
    folder = make_small("submitted", shards=2)
    submitted = start(folder, "--workflow-profile", "workflow/profiles/slurm", *OPTIONS, **cluster)
    limit = time.monotonic() + 600
    while (victim := process_of("1/2", folder)) is None:
        assert submitted.poll() is None, (folder / "snakemake.txt").read_text()[-6000:]
        assert time.monotonic() < limit
        time.sleep(0.05)
    os.kill(victim, signal.SIGKILL)
    assert submitted.wait(timeout=1200) == 0, (folder / "snakemake.txt").read_text()[-6000:]
    assert here.wait(timeout=600) == 0, (local / "snakemake.txt").read_text()[-6000:]

    # The manifest lists every result that two runs share by its digest.
    for name in ("manifest.sha256", "run_id.txt", "verdicts/short_form_qa.jsonl.meta.json"):
        assert (folder / "results" / name).read_text() == (local / "results" / name).read_text(), name

    said = (folder / "snakemake.txt").read_text()
    assert len(jobs(said, "respond")) == 2
    assert len(jobs(said, "judge")) == 3, "the killed job was not submitted again"
    assert {scontrol(job, cluster)["NodeList"] for job in jobs(said, "respond")} == {"n1", "n2"}
    *_, again = (scontrol(job, cluster) for job in jobs(said, "judge"))
    first = scontrol(jobs(said, "judge")[0], cluster)
    assert int(again["MinMemoryNode"].rstrip("M")) == 2 * int(first["MinMemoryNode"].rstrip("M"))
    assert (first["TimeLimit"], again["TimeLimit"]) == ("04:00:00", "08:00:00")
    assert first["Partition"] == "cpu"


@pytest.mark.parametrize(
    ("profile", "request_field", "requested"),
    [("slurm", "TresPerJob", "gres:gpu:1"), ("slurm-gres", "TresPerNode", "gres:gpu:1")],
)
def test_a_model_that_wants_a_gpu_gets_one_and_its_job_takes_it(cluster, make_small, profile, request_field, requested):
    folder = make_small(profile, gpus=1)
    profile_options = ["--workflow-profile", f"workflow/profiles/{profile}", "--retries", "0", *OPTIONS]
    running = start(folder, *profile_options, "results/responses/short_form_qa.jsonl", **cluster)
    status = running.wait(timeout=600)
    said = (folder / "snakemake.txt").read_text()
    (job,) = jobs(said, "respond")
    facts = scontrol(job, cluster)
    assert (facts["Partition"], facts[request_field]) == ("gpu", requested)
    log = (folder / "results" / "logs" / "respond" / "short_form_qa.log").read_text()
    if status:
        # There is no card behind the device, so the job ends where torch looks for it: at the one SLURM gave it.
        assert re.search(r"torch \S+ cannot use the GPU 0\.", log), log
    else:
        assert "responses" in log

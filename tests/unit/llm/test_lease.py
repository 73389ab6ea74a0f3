"""GPUs are lent to one job at a time: several processes, some of which are killed, and a listing of cards to go by."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from faithfuse.errors import FaithfuseError
from faithfuse.llm.lease import VISIBLE, lease_gpus, visible_cards

LISTING = """\
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaaaaaa-0000-1111-2222-333333333333)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-bbbbbbbb-0000-1111-2222-333333333333)
GPU 2: NVIDIA H100 80GB HBM3 (UUID: GPU-cccccccc-0000-1111-2222-333333333333)
"""
MIG = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-aaaaaaaa-0000-1111-2222-333333333333)
  MIG 3g.20gb     Device  0: (UUID: MIG-11111111-2222-3333-4444-555555555555)
  MIG 3g.20gb     Device  1: (UUID: MIG-66666666-2222-3333-4444-555555555555)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-bbbbbbbb-0000-1111-2222-333333333333)
"""
# A job: takes its cards, writes when it had them and when it gave them back, or hangs.
JOB = """
import os, sys, time
from faithfuse.llm.lease import lease_gpus
wanted, seconds, log = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
cards = lease_gpus(wanted)
assert os.environ["CUDA_VISIBLE_DEVICES"] == ",".join(cards)
began = time.monotonic()
print(*cards, flush=True)
time.sleep(seconds)
with open(log, "a") as stream:
    for card in cards:
        stream.write(f"{card} {began} {time.monotonic()}\\n")
"""


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A host with three GPUs, as far as nvidia-smi says; a function changes what it says."""

    def lists(text: str) -> None:
        tool = tmp_path / "bin" / "nvidia-smi"
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\n")
        tool.chmod(0o755)

    lists(LISTING)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("FAITHFUSE_GPU_LOCKS", str(tmp_path / "locks"))
    for name in (VISIBLE, "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    return lists


def start(log: Path, wanted: int = 1, seconds: float = 0.1, **environment: str) -> subprocess.Popen:
    command = [sys.executable, "-c", JOB, str(wanted), str(seconds), str(log)]
    return subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def overlaps(log: Path) -> list[tuple[str, str]]:
    """Pairs of leases of one card that were held at the same time."""
    leases = sorted(line.split() for line in log.read_text().splitlines())
    return [
        (" ".join(a), " ".join(b))
        for number, a in enumerate(leases)
        for b in leases[number + 1 :]
        if a[0] == b[0] and float(a[1]) < float(b[2]) and float(b[1]) < float(a[2])
    ]


def test_two_jobs_never_share_a_card(host, tmp_path):
    log = tmp_path / "log"
    jobs = [start(log, wanted=2 if number % 4 == 0 else 1) for number in range(12)]
    for job in jobs:
        assert job.wait(timeout=60) == 0, job.stderr.read()
    leases = [line.split()[0] for line in log.read_text().splitlines()]
    assert len(leases) == 15
    assert set(leases) == set(re.findall(r"GPU-[\w-]+", LISTING))
    assert overlaps(log) == []


def test_a_killed_jobs_card_is_free_at_once(host, tmp_path):
    hanging = start(tmp_path / "log", wanted=3, seconds=600)
    taken = hanging.stdout.readline().split()
    assert len(taken) == 3
    next_job = start(tmp_path / "log")
    time.sleep(1)
    assert next_job.poll() is None
    hanging.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    assert next_job.stdout.readline().strip() in taken
    assert time.monotonic() - killed < 5
    assert next_job.wait(timeout=20) == 0
    assert "waiting for a GPU: other jobs hold them" in next_job.stderr.read()
    hanging.wait()


def test_a_number_and_a_uuid_of_one_card_are_one_card(host, tmp_path):
    log = tmp_path / "log"
    names = ["1", "GPU-bbbbbbbb-0000-1111-2222-333333333333"] * 2
    jobs = [start(log, **{VISIBLE: name}) for name in names]
    for job in jobs:
        assert job.wait(timeout=60) == 0, job.stderr.read()
    text = log.read_text()
    for name in names:  # CUDA is told the name the user chose
        assert f"{name} " in text
    log.write_text(re.sub(r"(?m)^1 ", "GPU-bbbbbbbb-0000-1111-2222-333333333333 ", text))
    assert overlaps(log) == []


def test_only_the_cards_that_the_user_left_visible_are_lent(host, monkeypatch):
    monkeypatch.setenv(VISIBLE, "2,0")
    assert [card.device for card in visible_cards()] == ["2", "0"]
    assert visible_cards()[0].lock.startswith("GPU-cccccccc")
    monkeypatch.setenv(VISIBLE, "2,-1,0")
    assert [card.device for card in visible_cards()] == ["2"]
    monkeypatch.setenv(VISIBLE, "")
    assert visible_cards() == []


def test_a_card_in_parts_is_lent_by_its_parts(host):
    host(MIG)
    assert [card.device.split("-")[0] for card in visible_cards()] == ["MIG", "MIG", "GPU"]
    assert len({card.lock for card in visible_cards()}) == 3


def test_what_slurm_gave_is_left_as_it_is(host, monkeypatch, tmp_path):
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    monkeypatch.setenv(VISIBLE, "0")
    assert lease_gpus(1) == ["0"]
    assert os.environ[VISIBLE] == "0"
    assert not (tmp_path / "locks").exists()


def test_several_jobs_within_one_slurm_job_share_its_cards_out(host, tmp_path):
    log = tmp_path / "log"
    allocation = {"SLURM_JOB_ID": "17", VISIBLE: "0,1"}
    for job in [start(log, **allocation) for _ in range(4)]:
        assert job.wait(timeout=60) == 0, job.stderr.read()
    assert {line.split()[0] for line in log.read_text().splitlines()} == {"0", "1"}
    assert overlaps(log) == []
    # The same numbers in another job of SLURM may be other cards, so they do not wait for each other.
    held = start(log, wanted=2, seconds=600, **allocation)
    assert held.stdout.readline()
    assert start(log, **(allocation | {"SLURM_JOB_ID": "18"})).wait(timeout=20) == 0
    held.kill()
    held.wait()


def test_a_job_that_wants_no_gpu_sees_none(host, monkeypatch):
    monkeypatch.setenv(VISIBLE, "1")
    assert lease_gpus(0) == []
    assert os.environ[VISIBLE] == ""


def test_without_a_wish_nothing_changes(host):
    assert lease_gpus(None) == []
    assert VISIBLE not in os.environ


def test_too_few_gpus_are_said_with_what_to_do(host, monkeypatch):
    with pytest.raises(FaithfuseError, match=r"wants 4 GPUs, this machine shows 3\. Run on"):
        lease_gpus(4)
    monkeypatch.setenv(VISIBLE, "-1")
    with pytest.raises(FaithfuseError, match=r"wants a GPU, this machine shows none \(CUDA_VISIBLE_DEVICES is '-1'\)"):
        lease_gpus(1)


def test_a_lock_that_is_a_link_is_refused(host, monkeypatch, tmp_path):
    (tmp_path / "locks").mkdir()
    (tmp_path / "precious").write_text("mine")
    for name in re.findall(r"GPU-[\w-]+", LISTING):
        (tmp_path / "locks" / f"{name}.lock").symlink_to(tmp_path / "precious")
    with pytest.raises(FaithfuseError, match="cannot be used as a lock"):
        lease_gpus(1)
    assert (tmp_path / "precious").read_text() == "mine"


def test_the_command_refuses_to_go_on_without_the_gpu_it_was_told_to_take(host, tmp_path, repository):
    host("")
    command = [sys.executable, "-m", "faithfuse", "parse", "config/sample/items.jsonl"]
    done = subprocess.run(
        [*command, "--gpus", "1", "--out", str(tmp_path / "graphs.jsonl")],
        cwd=repository,
        env=os.environ | {"PYTHONPATH": str(repository / "workflow")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "wants a GPU, this machine shows none" in done.stderr
    assert not (tmp_path / "graphs.jsonl").exists()

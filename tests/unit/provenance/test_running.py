"""The lock of a dead run is removed, that of a living one is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from faithfuse.provenance.running import clear_dead_lock

RUN = """
import sys, time
from faithfuse.provenance.running import clear_dead_lock
print(clear_dead_lock(sys.argv[1]), flush=True)
time.sleep(600)
"""


@pytest.fixture
def folder(tmp_path):
    """Snakemake's folder with a lock in it."""
    locks = tmp_path / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.input.lock").write_text("items.jsonl\n")
    (locks / "0.output.lock").write_text("table.csv\n")
    return tmp_path / ".snakemake"


@pytest.fixture
def run(folder):
    """Start a run in the folder; what it says of a lock it found is its `said`."""
    started = []

    def start() -> subprocess.Popen:
        process = subprocess.Popen([sys.executable, "-c", RUN, str(folder)], stdout=subprocess.PIPE, text=True)
        process.said = process.stdout.readline().strip()
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def locks(folder):
    return sorted(path.name for path in (folder / "locks").iterdir())


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_a_dead_runs_lock_is_removed(folder, run):
    kill(run())
    assert len(locks(folder)) == 2
    assert run().said == "True"
    assert locks(folder) == []


def test_a_living_runs_lock_stays(folder, run):
    alive = run()
    assert run().said == "False"
    assert len(locks(folder)) == 2
    kill(alive)
    assert run().said == "False"  # the second run is alive, and may have taken the lock meanwhile
    assert len(locks(folder)) == 2


@pytest.mark.parametrize("last", ["", "another-host"])
def test_a_lock_whose_run_was_not_seen_on_this_host_stays(folder, last):
    (folder / "running").write_text(last)
    assert clear_dead_lock(folder) is False
    assert len(locks(folder)) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_left_to_snakemake(folder):
    folder.chmod(0o555)
    assert clear_dead_lock(folder) is False


def test_without_a_lock_there_is_nothing_to_do(tmp_path):
    assert clear_dead_lock(tmp_path / ".snakemake") is False
    assert clear_dead_lock(tmp_path / "no" / "such" / "folder") is False

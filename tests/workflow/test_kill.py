"""Runs that are killed, find the disk full or may not write go on, and end with what an undisturbed run gives; and what
an edit makes run again.

`make test` kills ten times and edits a few modules, `make soak` kills fifty times and edits each; both are drawn with a
seed (FAITHFUSE_KILL_SEED).
"""

from __future__ import annotations

import contextlib
import json
import os
import random
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

# Every stage once; the LLM and graph stages in two shards.
CONFIGURATION = {
    "name": "kill",
    "limit": 12,
    "domains": ["short_form_qa"],
    "llm": {"max_new_tokens": 8},
    "shards": 2,
    "correlation": {"resamples": 200},
    "fusion": {"seeds": 2, "folds": 2, "curve_seeds": 0},
}
# Times and host facts; no two runs have the same.
NOT_REPRODUCED = {"logs", "benchmarks", "manifest.json", "README.md"}
SEED = int(os.environ.get("FAITHFUSE_KILL_SEED", 20261130))
LOCK_CLEARED = "The lock of a run that died was removed."


# The package's entry, which also notes the modules that each command has loaded when it ends.
NOTING_MAIN = """
import atexit, json, os, sys

from faithfuse.cli import main

def note():
    loaded = sorted(
        os.path.relpath(module.__file__)
        for name, module in sys.modules.items()
        if name.startswith("faithfuse.") and module.__file__
    )
    os.makedirs(".loaded", exist_ok=True)
    with open(f".loaded/{os.getpid()}.json", "w") as stream:
        json.dump({"words": sys.argv[1:], "modules": loaded}, stream)

atexit.register(note)
main()
"""


@pytest.fixture(scope="module")
def make_small(make_clone, models_dir):
    """A copy of the repository that asks for every stage on a dozen items."""

    def make(name: str) -> Path:
        folder = make_clone(name).folder
        settings = CONFIGURATION | {"models_dir": str(models_dir)}
        (folder / "config" / "small.yaml").write_text(yaml.safe_dump(settings))
        with (folder / "workflow" / "faithfuse" / "__main__.py").open("w") as stream:
            stream.write(NOTING_MAIN)
        return folder

    return make


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start Snakemake in a process group of its own; what it says is added to `said.txt`."""
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "SNAKEMAKE_PROFILE")}
    with (folder / "said.txt").open("a") as said:
        return subprocess.Popen(
            ["snakemake", "--configfile", "config/small.yaml", "--cores", "2", *arguments],
            cwd=folder,
            env=kept | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
            stdout=said,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run Snakemake to its end; its status and what it said."""
    before = (folder / "said.txt").stat().st_size if (folder / "said.txt").exists() else 0
    status = start(folder, *arguments).wait(timeout=1800)
    return status, (folder / "said.txt").read_text()[before:]


def results(folder: Path) -> dict[str, bytes]:
    """Every result that two runs must give alike, by its path; a file half written or forgotten would be one too."""
    return {
        str(path.relative_to(folder / "results")): path.read_bytes()
        for path in sorted((folder / "results").rglob("*"))
        if path.is_file() and not NOT_REPRODUCED & set(path.relative_to(folder / "results").parts)
    }


def differences(ours: dict[str, bytes], theirs: dict[str, bytes]) -> list[str]:
    """Paths that only one of the two has, or that differ."""
    return sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))


def jobs_of(folder: Path, group: int | None = None) -> list[int]:
    """Processes of the package's commands that run in a folder: all, or those of one Snakemake's process group."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            here = b"faithfuse" in words and (entry / "cwd").resolve() == folder.resolve()
            if here and group in (None, os.getpgid(int(entry.name))):
                found.append(int(entry.name))
    return sorted(found)


def clear(folder: Path) -> None:
    """Forget all that was computed, so that the next run begins anew."""
    for process in jobs_of(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    while jobs_of(folder):
        time.sleep(0.05)
    subprocess.run(["rm", "-rf", "results", ".snakemake", ".cache"], cwd=folder, check=True)


@pytest.fixture(scope="module")
def undisturbed(make_small) -> Path:
    """A copy in which the run was left alone."""
    folder = make_small("undisturbed")
    # The models were fetched before; let Snakemake see to it once, so that it knows what they were made with.
    os.utime(folder / "workflow" / "faithfuse" / "llm" / "registry.py")
    status, said = run(folder)
    assert status == 0, said[-6000:]
    return folder


def kill(process: subprocess.Popen[str], folder: Path, victims: str, chance: random.Random) -> bool:
    """Kill Snakemake, one of its jobs, or both; whether anything was left to kill.

    Jobs whose Snakemake was killed live on beside the next run, which starts at once.
    """
    if victims != "Snakemake":
        while not (jobs := jobs_of(folder, group=process.pid)):
            if process.poll() is not None:
                return False
            time.sleep(0.02)
        with contextlib.suppress(ProcessLookupError):
            os.kill(chance.choice(jobs), signal.SIGKILL)
    if victims != "a job":
        process.kill()
    # When a job dies, Snakemake lets its other jobs end and gives up; a job that had just ended changes nothing.
    return process.wait(timeout=1800) != 0


def test_a_run_killed_at_random_moments_ends_with_the_same_bytes(undisturbed, make_small, soak):
    kills = 50 if soak else 10
    chance = random.Random(SEED)
    folder = make_small("killed")
    expected = results(undisturbed)
    killed: list[str] = []
    finished = cleared = 0
    ended = False
    while len(killed) < kills or not ended:
        process = start(folder)
        victims = ("Snakemake", "a job", "both")[len(killed) % 3]
        wait = chance.uniform(0.5, 10)
        with contextlib.suppress(subprocess.TimeoutExpired):
            # After the last kill the run is left to end.
            process.wait(timeout=wait if len(killed) < kills else 1800)
        ended = process.poll() is not None or not kill(process, folder, victims, chance)
        if not ended:
            killed.append(f"{victims} after {wait:.1f} s")
            continue
        said = (folder / "said.txt").read_text()
        assert process.returncode == 0, f"seed {SEED}, kills {killed}\n{said[-6000:]}"
        assert differences(results(folder), expected) == [], f"seed {SEED}, kills {killed}"
        finished += 1
        cleared += said.count(LOCK_CLEARED)
        (folder / "said.txt").unlink()
        if len(killed) < kills:
            clear(folder)
    assert cleared, "no run was killed while it held its lock"
    status, said = run(folder)
    assert status == 0
    assert "Nothing to be done" in said
    print(
        f"{kills} kills, seed {SEED}, {finished} runs finished, {cleared} locks of dead runs removed", *killed, sep="\n"
    )


@pytest.fixture
def small_disk(tmp_path) -> Iterator[tuple[Path, dict[str, object]]]:
    """A function mounts a small disk of its own at a folder and sets its size or whether it may be written."""
    if os.geteuid():
        pytest.skip("a small disk needs root to mount it")
    mounted: list[Path] = []

    def mount(folder: Path, options: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        remount = "remount," if folder in mounted else ""
        command = ["mount", "-t", "tmpfs", "-o", f"{remount}{options}", "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode and not remount:
            pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
        assert done.returncode == 0, done.stderr
        mounted.append(folder)

    yield mount
    for folder in set(mounted):
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


AUDIT = "results/audit/counts.csv"


def test_a_full_disk_is_named_and_the_next_run_goes_on(undisturbed, make_small, small_disk):
    folder = make_small("full")
    small_disk(folder / "results", "size=48k")
    status, said = run(folder, AUDIT)
    assert status != 0
    assert re.search(r"faithfuse: error: results/audit/\S+: .*No space left on device", said), said[-3000:]
    small_disk(folder / "results", "size=64m")
    status, said = run(folder, AUDIT)
    assert status == 0, said[-3000:]
    ours, theirs = results(folder), results(undisturbed)
    assert ours["audit/counts.csv"] == theirs["audit/counts.csv"]
    assert [name for name, value in ours.items() if theirs[name] != value] == []


def test_a_folder_that_may_not_be_written_is_named_and_the_next_run_goes_on(undisturbed, make_small, small_disk):
    folder = make_small("unwritable")
    small_disk(folder / "results", "size=64m")
    small_disk(folder / "results", "ro")
    status, said = run(folder, AUDIT)
    assert status != 0
    assert "Read-only file system" in said
    assert "results" in said
    small_disk(folder / "results", "rw")
    status, said = run(folder, AUDIT)
    assert status == 0, said[-3000:]
    assert results(folder)["audit/counts.csv"] == results(undisturbed)["audit/counts.csv"]


def reruns(folder: Path) -> list[str]:
    """The rules that a dry run would run, sorted."""
    status, said = run(folder, "--dry-run", "--quiet", "host", "reason")
    assert status == 0, said[-3000:]
    if "Nothing to be done" in said:
        return []
    table = said.split("Job stats:", 1)[1].split("total", 1)[0]
    return sorted(line.split()[0] for line in table.splitlines()[3:] if line.strip())


def test_what_changes_no_result_reruns_nothing(undisturbed):
    folder = undisturbed
    for path in [*folder.glob("workflow/**/*.*"), *folder.glob("rules/*"), *folder.glob("config/**/*.*")]:
        os.utime(path)
    for name in ("small.yaml", "config.yaml", "models.yaml"):
        with (folder / "config" / name).open("a") as stream:
            stream.write("# A remark.\n")
    identity = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org"}
    identity |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}
    for command in (["init", "-q"], ["add", "config"], ["commit", "-q", "-m", "A commit."]):
        subprocess.run(["git", *command], cwd=folder, env=os.environ | identity, check=True)
    assert reruns(folder) == []


def test_a_remark_in_a_prompt_file_only_makes_the_manifest_anew(undisturbed):
    # It lists these files by their bytes.
    prompts = {path: path.read_bytes() for path in undisturbed.glob("config/prompts/*.yaml")}
    try:
        for path, text in prompts.items():
            path.write_bytes(text + b"# A remark.\n")
        assert reruns(undisturbed) == ["all", "identify_run", "make_report", "record_run", "write_manifest"]
    finally:
        for path, text in prompts.items():
            path.write_bytes(text)


def recorded_inputs(folder: Path) -> dict[str, set[str]]:
    """The package's files among the inputs of each rule, as Snakemake wrote them down when the rule ran."""
    inputs: dict[str, set[str]] = {}
    for path in (folder / ".snakemake" / "metadata").rglob("*"):
        if path.is_file():
            entry = json.loads(path.read_text())
            listed = {name for name in entry["input"] if name.startswith("workflow/faithfuse/")}
            inputs.setdefault(entry["rule"], set()).update(listed)
    return inputs


# The words a rule's command begins with, where they are not the rule's name.
COMMANDS = {
    "audit_suite": "audit suite",
    "describe_run": "manifest describe",
    "draw_graph": "amr draw",
    "draw_nesting": "data nesting",
    "fetch_model": "models fetch",
    "gather_graphs": "gather",
    "make_figures": "figures",
    "make_report": "report",
    "make_tables": "tables",
    "run_notebook": "notebook",
}


def test_every_module_that_a_stage_loads_is_among_its_inputs(undisturbed):
    notes = [json.loads(path.read_text()) for path in (undisturbed / ".loaded").glob("*.json")]
    # What the command line itself loads, to know its options, decides nothing.
    always = set.intersection(*(set(note["modules"]) for note in notes))
    missing = {}
    for rule, listed in recorded_inputs(undisturbed).items():
        words = COMMANDS.get(rule, rule).split()
        loaded = [set(note["modules"]) for note in notes if note["words"][: len(words)] == words]
        if rule not in ("identify_run", "record_run", "write_manifest"):
            assert loaded, f"no command of rule {rule} was seen"
        used = {name for name in set().union(*loaded) - always if not name.endswith("__init__.py")}
        if used - listed:
            missing[rule] = sorted(used - listed)
    assert missing == {}


def rules_named(text: str) -> set[str]:
    """The words of a list of rules."""
    return set(re.findall(r"\w+", text))


def test_an_edited_module_reruns_exactly_the_stages_that_use_it(undisturbed, soak):
    folder = undisturbed
    inputs = recorded_inputs(folder)
    modules = sorted(str(path.relative_to(folder)) for path in folder.glob("workflow/faithfuse/**/*.py"))
    if not soak:
        modules = random.Random(SEED).sample(modules, 5)
    for name in modules:
        expected = {rule for rule, listed in inputs.items() if name in listed}
        path = folder / name
        source = path.read_bytes()
        try:
            path.write_bytes(source + b"\n# An edit.\n")
            status, said = run(folder, "--dry-run")
        finally:
            path.write_bytes(source)
        assert status == 0, said[-3000:]
        if not expected:
            assert "Nothing to be done" in said, name
            continue
        reasons = said.rsplit("Reasons:", 1)[1]
        edited = rules_named(reasons.split("updated input files:\n", 1)[1].split("\n", 1)[0])
        # A rule that also waits for another job's output is named with those alone.
        assert edited <= expected <= edited | rules_named(reasons), name

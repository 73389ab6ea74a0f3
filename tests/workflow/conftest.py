"""Running the workflow in a copy of the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

# A handful of items: enough for every stage to have something to do.
SMALL = {
    "name": "small",
    "limit": 14,
    "llm": {"max_new_tokens": 24},
    "correlation": {"resamples": 200},
    "fusion": {"seeds": 2, "folds": 2, "curve_seeds": 1},
}


@dataclass
class Clone:
    """A copy of the repository's files in which the workflow can be run."""

    folder: Path
    models_dir: Path

    def snakemake(
        self, *arguments: str, within: Sequence[str] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run Snakemake on the small configuration and return what it said (standard error in `stdout`).

        `within` is a command that runs another, such as one that changes the user.
        """
        bin_folder = Path(sys.executable).parent
        variables = {
            **{key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "SNAKEMAKE_PROFILE")},
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
            **environment,
        }
        return subprocess.run(
            [*within, "snakemake", "--cores", "2", "--configfile", "config/small.yaml", *arguments],
            cwd=self.folder,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=1200,
        )

    def faithfuse(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the clone's own command line in the clone (standard error in `stdout`)."""
        return subprocess.run(
            [sys.executable, "-m", "faithfuse", *arguments],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder / "workflow")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )

    def result(self, name: str) -> Path:
        """A file below `results/`."""
        return self.folder / "results" / name


def tracked_files(repository: Path) -> list[str]:
    """What a clone would hold: files known to git or new and not ignored; all files where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], cwd=repository, capture_output=True
    )
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return [name for name in names if (repository / name).is_file()]


@pytest.fixture(scope="session")
def make_clone(repository, models_dir, tmp_path_factory):
    """Make a copy of the repository with the small configuration."""

    def make(name: str) -> Clone:
        folder = tmp_path_factory.mktemp(name)
        for file in tracked_files(repository):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repository / file, folder / file)
        small = SMALL | {"models_dir": str(models_dir)}
        (folder / "config" / "small.yaml").write_text(yaml.safe_dump(small))
        return Clone(folder, models_dir)

    return make


# Brings the loopback device up in a network of its own (notebook kernels need it), then becomes another user.
ELSEWHERE = """
import fcntl, os, socket, struct, sys
with socket.socket() as opened:
    fcntl.ioctl(opened, 0x8914, struct.pack("16sh", b"lo", 1))
os.execvp("unshare", ["unshare", "--user", "--map-user=4321", "--map-group=4321", "--", *sys.argv[1:]])
"""
PROBE = """
import os, socket
assert os.getuid() == 4321
try:
    socket.socket(type=socket.SOCK_DGRAM).connect(("192.0.2.1", 9))
except OSError:
    print("elsewhere")
"""


@pytest.fixture(scope="session")
def elsewhere() -> list[str]:
    """A command that runs another as another user and without a network, where the system lets one; else nothing."""
    command = ["unshare", "--user", "--map-root-user", "--net", "--", sys.executable, "-c", ELSEWHERE]
    try:
        done = subprocess.run([*command, sys.executable, "-c", PROBE], capture_output=True)
    except OSError:
        return []
    return command if done.stdout.strip() == b"elsewhere" else []


@pytest.fixture(scope="session")
def finished(make_clone) -> Clone:
    """A clone in which the whole workflow has run once. Tests read it and leave its results as they are."""
    clone = make_clone("finished")
    done = clone.snakemake()
    assert done.returncode == 0, done.stdout[-6000:]
    return clone

"""The manifest is what `sha256sum` writes and checks."""

from __future__ import annotations

import subprocess

import pytest

from faithfuse.errors import InputError
from faithfuse.provenance.manifest import read_manifest, verify_manifest, write_manifest


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    for name in ("b.csv", "a.csv", "with blank é.csv"):
        (folder / name).write_text(name)
    write_manifest(folder.glob("*.csv"), folder / "manifest.sha256", tmp_path)
    return folder


def test_sha256sum_accepts_it(results):
    done = subprocess.run(["sha256sum", "-c", "results/manifest.sha256"], cwd=results.parent, capture_output=True)
    assert done.returncode == 0, done.stdout


def test_sha256sum_writes_the_same_bytes(results):
    names = sorted(f"results/{path.name}" for path in results.glob("*.csv"))
    done = subprocess.run(["sha256sum", *names], cwd=results.parent, capture_output=True, check=True)
    assert done.stdout == (results / "manifest.sha256").read_bytes()


def test_changed_missing_and_extra_files_are_named(results):
    (results / "a.csv").write_text("x")
    (results / "b.csv").unlink()
    (results / "c.csv").write_text("new")
    found = verify_manifest(results / "manifest.sha256", results.parent, [results])
    assert found.changed == ["results/a.csv"]
    assert found.missing == ["results/b.csv"]
    assert found.extra == ["results/c.csv", "results/manifest.sha256"]


def test_a_missing_file_is_no_manifest_and_the_old_one_stays(results):
    before = (results / "manifest.sha256").read_bytes()
    with pytest.raises(InputError, match=r"none\.csv: is missing"):
        write_manifest([results / "none.csv"], results / "manifest.sha256", results.parent)
    assert (results / "manifest.sha256").read_bytes() == before


def test_a_file_outside_the_root_is_refused(results, tmp_path):
    with pytest.raises(InputError, match="outside"):
        write_manifest([results / "a.csv"], tmp_path / "m", results / "deeper")


def test_a_broken_line_is_named(results):
    (results / "manifest.sha256").write_text("0" * 64 + "  a\nnonsense\n")
    with pytest.raises(InputError, match="manifest.sha256:2"):
        read_manifest(results / "manifest.sha256")

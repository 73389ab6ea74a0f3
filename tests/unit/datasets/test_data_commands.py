"""The command line of the data sets: what it prints, and what it does with a mistake."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from faithfuse.cli import app
from faithfuse.errors import InputError


@pytest.fixture
def run():
    def call(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)

    return call


@pytest.fixture
def samsum(tmp_path):
    root = tmp_path / "samsum"
    root.mkdir()
    samples = [{"id": str(n), "dialogue": f"A: hi {n}\nB: yo", "summary": "A met B."} for n in range(3)]
    (root / "train.json").write_text(json.dumps([*samples, samples[0]]), encoding="utf-8")
    return root


def test_load_and_unify(run, samsum, tmp_path):
    done = run("data", "load", "samsum", "--root", samsum, "--out", tmp_path / "s")
    assert done.exit_code == 0
    assert done.output == "samsum: 3 records\n  left out: 1 × record: the id is there already\n"
    done = run("data", "unify", tmp_path / "s", "--out", tmp_path / "u")
    assert "dialogue_summarisation: 3 of 500 requested, 3 found" in done.output
    done = run("data", "release", tmp_path / "u", "--out", tmp_path / "r")
    assert done.output == "summarisation: 3 items, 0 responses, 0 ratings, 0 metric values\n"


def test_describe_lists_the_known_sets(run):
    output = run("data", "describe").output
    assert "dialsummeval\tdata import\tsummarisation" in output
    assert "samsum\tdata load\tdialogue_summarisation" in output


def test_a_mistake_is_told_with_the_way_out(run, tmp_path):
    with pytest.raises(InputError, match="Choose from"):
        run("data", "import", "nothing", "--root", tmp_path, "--out", tmp_path / "o")
    with pytest.raises(InputError, match="is no folder"):
        run("data", "import", "mtrag", "--root", tmp_path / "missing", "--out", tmp_path / "o")
    assert not (tmp_path / "o").exists()

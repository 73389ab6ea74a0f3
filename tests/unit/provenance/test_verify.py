"""Verification names every file that is changed, missing or extra."""

from __future__ import annotations

import json
import shutil

import pytest
from typer.testing import CliRunner

from faithfuse.cli import app
from faithfuse.errors import InputError
from faithfuse.provenance.verify import verify_run


@pytest.fixture
def run(make_run):
    return make_run("run")


def test_an_untouched_run_is_as_listed(run):
    found = verify_run(run.results)
    assert not any(found.difference)
    assert found.run_id == run.id
    assert found.counts["results"] == 11 and found.counts["models"] == 2 and found.counts["code"] == 3


@pytest.mark.parametrize(
    "name",
    [
        "results/tables/table_1.csv",
        "results/report.html",
        "results/run_id.txt",
        "results/verdicts/short_form_qa.jsonl.meta.json",
        "config/sample/ratings.jsonl",
        "config/reference/paper_tables.csv",
        "workflow/faithfuse/analysis/correlation.py",
        "rules/correlate.smk",
    ],
)
def test_a_changed_and_a_missing_file_are_named(run, name):
    path = run.root / name
    # One byte is another, so that the size is the same.
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])
    assert verify_run(run.results).difference.changed == [name]
    path.unlink()
    found = verify_run(run.results).difference
    assert found.missing == [name]
    assert found.changed == []


def test_changed_weights_are_named(run):
    (run.root / ".models/tiny/model.safetensors").write_bytes(b"WEIGHTS")
    assert verify_run(run.results).difference.changed == ["models/tiny/model.safetensors"]


def test_an_extra_file_is_named_but_not_logs_and_measurements(run):
    for name in ("tables/table_6.csv", "old.csv", "logs/x.log", "benchmarks/x.csv", "shards/x.jsonl", ".part"):
        path = run.results / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    assert verify_run(run.results).difference.extra == ["results/old.csv", "results/tables/table_6.csv"]


def test_a_signature_beside_the_manifest_is_not_extra(run):
    (run.results / "manifest.sha256.minisig").write_text("x")
    assert not any(verify_run(run.results).difference)


def test_a_manifest_that_was_edited_no_longer_has_its_id(run):
    path = run.results / "manifest.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["reproducible"]["seeds"]["items"] = 7
    path.write_text(json.dumps(content))
    assert verify_run(run.results).difference.changed == ["results/manifest.json"]


def test_host_facts_are_outside_the_digest(run):
    path = run.results / "manifest.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["host"]["cores"] = 4096
    path.write_text(json.dumps(content))
    assert not any(verify_run(run.results).difference)


def test_results_alone_can_be_verified_wherever_they_were_copied(run, tmp_path):
    copy = tmp_path / "elsewhere" / "deposit"
    shutil.copytree(run.results, copy)
    assert not any(verify_run(copy, inputs=False).difference)
    assert "config/sample/ratings.jsonl" in verify_run(copy).difference.missing


def test_the_command_exits_1_and_names_the_file(run):
    runner = CliRunner()
    done = runner.invoke(app, ["manifest", "verify", str(run.results)])
    assert done.exit_code == 0
    assert f"run {run.id}: all files are as listed" in done.output
    (run.results / "tables" / "table_1.csv").write_text("changed")
    done = runner.invoke(app, ["manifest", "verify", str(run.results)])
    assert done.exit_code == 1
    assert "changed: results/tables/table_1.csv" in done.output
    assert f"run {run.id}: 1 changed" in done.output


def test_a_folder_without_a_manifest_says_what_to_do(tmp_path):
    with pytest.raises(InputError, match=r"manifest\.json: cannot be read .* Run the workflow"):
        verify_run(tmp_path)

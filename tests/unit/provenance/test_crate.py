"""A run packed as an RO-Crate holds its files and says what made what; the official validator has no complaint."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from faithfuse.errors import FaithfuseError, InputError
from faithfuse.provenance.crate import write_crate
from faithfuse.provenance.verify import verify_run

VALIDATE = Path(__file__).with_name("validate_crate.py")


def graph(crate):
    return {each["@id"]: each for each in json.loads((crate / "ro-crate-metadata.json").read_text())["@graph"]}


@pytest.fixture
def crate(make_run, tmp_path):
    run = make_run("run")
    write_crate(run.results, tmp_path / "crate", authors=["A. Person"])
    return tmp_path / "crate"


def test_it_names_the_profiles_and_the_workflow(crate):
    entities = graph(crate)
    profiles = {each["@id"] for each in entities["./"]["conformsTo"]}
    assert "https://w3id.org/ro/wfrun/workflow/0.5" in profiles
    assert entities["./"]["mainEntity"] == {"@id": "Snakefile"}
    assert "ComputationalWorkflow" in entities["Snakefile"]["@type"]


def test_the_run_ties_inputs_to_results(crate):
    (action,) = [each for each in graph(crate).values() if each["@type"] == "CreateAction"]
    read, gave = ({each["@id"] for each in action[side]} for side in ("object", "result"))
    assert {"config/sample/ratings.jsonl", "config/prompts/repaired.yaml", "#model-tiny", "#configuration"} <= read
    assert {"results/tables/table_1.csv", "results/manifest.json", "results/report.html"} <= gave
    assert action["instrument"] == {"@id": "Snakefile"}
    assert action["agent"] == {"@id": "#author-1"}


def test_every_file_it_names_is_there_with_its_size(crate):
    files = [each for each in graph(crate).values() if "File" in each["@type"]]
    assert len(files) > 15
    for each in files:
        if "contentSize" in each:
            assert (crate / each["@id"]).stat().st_size == int(each["contentSize"]), each["@id"]
        assert (crate / each["@id"]).is_file()


def test_the_packed_results_verify(crate):
    assert not any(verify_run(crate / "results", inputs=False).difference)


def test_the_folders_of_the_machine_stay_out(make_run, tmp_path):
    run = make_run("run", host={"folders": {"models/tiny": "/home/someone/models/tiny"}})
    write_crate(run.results, tmp_path / "crate")
    for path in (tmp_path / "crate").rglob("*.json"):
        assert "/home/someone" not in path.read_text(encoding="utf-8"), path


def test_inputs_may_be_left_out_and_are_described_all_the_same(make_run, tmp_path):
    said = write_crate(make_run("run").results, tmp_path / "crate", with_inputs=False)
    assert "4 of them described but not copied" in said
    assert not (tmp_path / "crate/config/sample/ratings.jsonl").exists()
    named = {each.get("name") for each in graph(tmp_path / "crate").values()}
    assert "config/sample/ratings.jsonl" in named


def test_the_same_run_gives_the_same_description(make_run, tmp_path):
    run = make_run("run")
    for name in ("one", "two"):
        write_crate(run.results, tmp_path / name)
    one, two = ((tmp_path / name / "ro-crate-metadata.json").read_bytes() for name in ("one", "two"))
    assert one == two


def test_a_zip_file_holds_the_same(make_run, tmp_path):
    write_crate(make_run("run").results, tmp_path / "crate.zip")
    with zipfile.ZipFile(tmp_path / "crate.zip") as packed:
        assert {"ro-crate-metadata.json", "Snakefile", "results/tables/table_1.csv"} <= set(packed.namelist())


def test_a_run_that_was_changed_is_not_packed(make_run, tmp_path):
    run = make_run("run")
    (run.results / "tables/table_1.csv").write_text("changed")
    with pytest.raises(InputError, match=r"results/tables/table_1\.csv: is changed"):
        write_crate(run.results, tmp_path / "crate")
    assert not (tmp_path / "crate").exists()


def test_a_crate_that_exists_is_kept(make_run, tmp_path):
    (tmp_path / "crate").mkdir()
    with pytest.raises(FaithfuseError, match="exists"):
        write_crate(make_run("run").results, tmp_path / "crate")


def test_a_manifest_whose_paths_leave_the_folder_is_refused(make_run, tmp_path):
    run = make_run("run")
    (tmp_path / "secret.txt").write_text("secret")
    path = run.results / "manifest.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["outside"]["results/../../secret.txt"] = {"bytes": 6, "sha256": sha256(b"secret")}
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="leaves the run's folder"):
        write_crate(run.results, tmp_path / "crate")


def sha256(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


def test_the_official_validator_finds_every_required_property(crate):
    """Run with FAITHFUSE_ROC_PYTHON naming a Python that has `roc-validator`, whose pins differ from this project's.

    FAITHFUSE_ROC_CONTEXT names a copy of https://w3id.org/ro/crate/1.1/context where there is no network.
    """
    interpreter = os.environ.get("FAITHFUSE_ROC_PYTHON")
    if not interpreter:
        pytest.skip(
            "FAITHFUSE_ROC_PYTHON is not set: roc-validator wants an environment of its own (docs/provenance.md)"
        )
    context = os.environ.get("FAITHFUSE_ROC_CONTEXT")
    command = [interpreter, str(VALIDATE), str(crate), *([context] if context else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 required checks failed" in done.stdout

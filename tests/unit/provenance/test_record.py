"""The run id follows what a run is made of, and nothing of the machine."""

from __future__ import annotations

import getpass
import hashlib
import json
import socket
from pathlib import Path

import pytest
import rfc8785

from faithfuse.errors import InputError
from faithfuse.provenance.record import digest, measure_inputs, measure_model, read_record
from faithfuse.provenance.run import describe_run, model_folders, public_root, without_secrets

# What one would change by hand, and what must give another id.
CHANGES = {
    "a rating": {"likert": [1, 3, 5, 2]},
    "a response": {"response": "perhaps"},
    "a result": {"correlation": 0.91},
    "a published value": {"paper": 0.31},
    "the model's revision": {"revision": "b" * 40},
    "the model's weights": {"weights": b"other weights"},
    "a module": {"code": "VALUE = 2\n"},
    "a rule": {"rule": "# another rule\n"},
    "a package": {"packages": {"numpy": "2.5.0"}},
    "a setting": {"configuration": {"seed": 1}},
}


def test_the_same_run_in_another_folder_has_the_same_id(make_run):
    assert make_run("one").id == make_run("a far/longer place é").id


@pytest.mark.parametrize("what", CHANGES)
def test_the_id_changes_with(make_run, what):
    assert make_run("before").id != make_run("after", **CHANGES[what]).id


def test_host_facts_places_and_shards_leave_the_id_alone(make_run):
    there = make_run("there")
    elsewhere = {"models_dir": "/scratch/models", "cache_dir": "/scratch/cache", "shards": 8}
    here = make_run("here", configuration=elsewhere, host={"cores": 999, "locale": "tr_TR.UTF-8", "time_zone": "+0900"})
    assert there.id == here.id


def test_the_id_is_the_start_of_the_digest_of_the_canonical_reproducible_part(make_run):
    run = make_run("one")
    content = json.loads((run.results / "manifest.json").read_text(encoding="utf-8"))
    whole = hashlib.sha256(rfc8785.dumps(content["reproducible"])).hexdigest()
    assert content["sha256"] == whole
    assert content["run_id"] == run.id == whole[:16]


def test_the_reproducible_part_names_no_machine_user_or_folder(make_run, tmp_path):
    run = make_run(
        "one", configuration={"data": [{"set": "folder", "root": str(tmp_path / "one/config/sample"), "limit": None}]}
    )
    part = run.record.reproducible.model_dump_json()
    # A short name such as `root` is a word of the configuration too.
    for name in (str(tmp_path), str(Path.home()), socket.gethostname(), getpass.getuser()):
        assert len(name) < 6 or name not in part, name
    assert run.record.reproducible.configuration["data"][0]["root"] == "[folder 0]"


def test_every_result_input_and_model_file_has_size_and_digest(make_run):
    run = make_run("one")
    part = run.record.reproducible
    for name, file in (part.results | part.inputs).items():
        content = (run.root / name).read_bytes()
        assert file.bytes == len(content)
        assert file.sha256 == hashlib.sha256(content).hexdigest()
    assert part.models["tiny"].files["model.safetensors"].sha256 == hashlib.sha256(b"weights").hexdigest()
    assert part.models["tiny"].registry["revision"] == "a" * 40


def test_seeds_packages_signatures_and_code_are_recorded(make_run):
    part = make_run("one").record.reproducible
    assert part.seeds == {"items": 0, "correlation": 0, "fusion": [0, 1], "PYTHONHASHSEED": 0}
    assert part.packages.keys() == {"numpy", "not-a-package"}
    assert part.packages["not-a-package"] is None
    assert part.signatures["short_form_qa"]["LLM Conf."].startswith("judge:tiny|weights:")
    assert "rules/correlate.smk" in part.code.files


def test_a_root_relative_to_the_repository_or_to_a_variable_is_kept_and_an_absolute_one_hidden():
    assert public_root({"set": "evouna_nq", "root": "${FAITHFUSE_DATA}/human"}) == "${FAITHFUSE_DATA}/human"
    assert public_root({"set": "folder", "root": "../study"}, 1) == "../study"
    assert public_root({"set": "evouna_nq", "root": "/home/someone/data"}) == "[evouna_nq]"
    assert public_root({"set": "folder", "root": "~/study"}, 1) == "[folder 1]"


def test_a_models_own_folder_is_known_by_its_files_and_not_by_its_place(tmp_path):
    registry = tmp_path / "models.yaml"
    registry.write_text("own: {kind: causal-lm, provider: path, path: /home/someone/model, licence: own}\n")
    lock = tmp_path / "lock.txt"
    lock.write_text("numpy==2.4.6\n")
    settings = {
        "data": [],
        "seed": 0,
        "llm": {"model": "own"},
        "embedding": {"model": "own"},
        "parser": "rules",
        "correlation": {"seed": 0},
        "fusion": {"seed": 0, "seeds": 1},
    }
    assert "/home/someone" not in json.dumps(describe_run(settings, registry, lock))


@pytest.mark.parametrize(
    "text",
    [
        "hf_abcdefghijklmnop",
        "https://user:secret@example.org/model.tar.gz",
        "https://example.org/model?token=secret&x=1",
    ],
)
def test_tokens_and_passwords_are_removed_wherever_they_stand(text):
    cleaned = json.dumps(without_secrets({"a": [{"url": f"see {text}"}]}))
    assert "[removed]" in cleaned
    assert "secret" not in cleaned and "hf_a" not in cleaned


def test_a_token_in_the_environment_stays_out_of_the_manifest(make_run, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_thisIsNoRealToken123")
    run = make_run("one", configuration={"note": "made with hf_thisIsNoRealToken123"})
    for file in ("manifest.json", "run.json"):
        assert "hf_thisIsNoRealToken123" not in (run.results / file).read_text(encoding="utf-8")


def test_a_models_own_folder_is_where_the_registry_says(tmp_path):
    registry = tmp_path / "models.yaml"
    own = tmp_path / "own"
    registry.write_text(json.dumps({"own": {"provider": "path", "path": str(own)}, "hub": {"provider": "hub"}}))
    settings = {"models_dir": ".models", "llm": {"model": "own"}, "embedding": {"model": "hub"}, "parser": "rules"}
    assert model_folders(settings, registry) == {"own": own, "hub": Path(".models/hub")}
    own.mkdir()
    (own / "model.safetensors").write_bytes(b"x")
    (own / "fetched.json").write_text("")
    assert measure_model(own).keys() == {"model.safetensors"}


def test_hidden_files_of_an_input_folder_are_left_out(tmp_path):
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "x").write_text("x")
    (tmp_path / "data.csv").write_text("x")
    assert measure_inputs({"set": tmp_path}).keys() == {"set/data.csv"}


def test_a_manifest_of_another_form_is_refused(make_run):
    run = make_run("one")
    path = run.results / "manifest.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | {"format": "faithfuse-manifest/9"}))
    with pytest.raises(InputError, match="has the format faithfuse-manifest/9"):
        read_record(path)
    path.write_text(json.dumps(content | {"added": 1}))
    with pytest.raises(InputError, match="added: Extra inputs are not permitted"):
        read_record(path)
    path.write_text("[")
    with pytest.raises(InputError, match="is no manifest"):
        read_record(path)


def test_reading_and_writing_keep_the_digest(make_run):
    run = make_run("one")
    assert digest(read_record(run.results / "manifest.json").reproducible) == run.record.sha256

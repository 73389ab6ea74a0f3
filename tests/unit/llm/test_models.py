"""Obtaining and loading models: complete or absent, and refused with a reason when unfit."""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
from types import SimpleNamespace

import pytest
import torch

from faithfuse.errors import InputError, ModelError
from faithfuse.llm.model import device_map, load, memory_needed, require_memory, stop_clock
from faithfuse.llm.registry import ModelSpec, fetch, is_complete, load_registry, locate


@pytest.fixture
def archive(tiny_folder, tmp_path):
    path = tmp_path / "tiny.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        packed.add(tiny_folder, "model")
    return path


def url_spec(archive, **changes):
    entry = {"key": "tiny", "kind": "causal-lm", "provider": "url", "url": archive.as_uri(), "licence": "none"}
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    return ModelSpec.model_validate({**entry, "sha256": {archive.name: digest}, **changes})


def test_a_fetched_model_is_complete_and_a_second_fetch_does_nothing(archive, tmp_path):
    spec, said = url_spec(archive), []
    folder = fetch(spec, tmp_path / "models", said.append)
    assert is_complete(spec, folder) and locate(spec, tmp_path / "models") == folder
    archive.unlink()
    assert fetch(spec, tmp_path / "models", said.append) == folder
    assert said[-1].startswith("tiny: present")


def test_a_removed_marker_needs_no_second_download(archive, tmp_path):
    spec = url_spec(archive)
    folder = fetch(spec, tmp_path / "models", lambda _: None)
    (folder / "fetched.json").unlink()
    archive.unlink()
    fetch(spec, tmp_path / "models", lambda _: None)
    assert (folder / "fetched.json").exists()


def test_a_wrong_digest_leaves_nothing_behind(archive, tmp_path):
    spec = url_spec(archive, sha256={archive.name: "0" * 64})
    with pytest.raises(ModelError, match="SHA-256"):
        fetch(spec, tmp_path / "models", lambda _: None)
    assert [p.name for p in (tmp_path / "models").iterdir()] == [".tiny.lock"]
    with pytest.raises(ModelError, match="faithfuse models fetch tiny"):
        locate(spec, tmp_path / "models")


def test_a_half_fetched_model_is_never_taken_for_one(archive, tmp_path):
    spec = url_spec(archive)
    folder = fetch(spec, tmp_path / "models", lambda _: None)
    os.truncate(folder / "model.safetensors", 100)
    assert not is_complete(spec, folder)
    assert is_complete(spec, fetch(spec, tmp_path / "models", lambda _: None))


def test_pickled_weights_are_refused_and_a_parsers_tensors_are_rewritten(tiny_folder, tmp_path):
    for name, content in (("good", {"w": torch.ones(2)}), ("bad", {"w": SimpleNamespace(x=1)})):
        source = tmp_path / name
        source.mkdir()
        (source / "config.json").write_text("{}")
        torch.save(content, source / "pytorch_model.bin")
        path = tmp_path / f"{name}.tar.gz"
        with tarfile.open(path, "w:gz") as packed:
            packed.add(source, "m")
    with pytest.raises(ModelError, match=r"only pickled weights \(pytorch_model.bin\)"):
        fetch(url_spec(tmp_path / "good.tar.gz"), tmp_path / "models", lambda _: None)
    parser = url_spec(tmp_path / "good.tar.gz", kind="amr-parser")
    good = fetch(parser, tmp_path / "models", lambda _: None)
    assert sorted(p.name for p in good.glob("*.*") if p.suffix in (".bin", ".safetensors")) == ["model.safetensors"]
    with pytest.raises(ModelError, match="more than tensors"):
        bad = url_spec(tmp_path / "bad.tar.gz", key="other", kind="amr-parser")
        fetch(bad, tmp_path / "models", lambda _: None)
    with pytest.raises(ModelError, match="pickled weights"):
        locate(ModelSpec(key="x", kind="causal-lm", provider="path", path=str(tmp_path / "bad"), licence=""), tmp_path)


def test_code_of_a_models_repository_is_never_run(write_tiny_llama, spec_of, tmp_path):
    import json

    write_tiny_llama(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"model_type": "strange", "auto_map": {"AutoConfig": "strange.C", "AutoModelForCausalLM": "strange.M"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "strange.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(ModelError, match="tiny"):
        load(spec_of(tmp_path), tmp_path, device="cpu")
    assert not (tmp_path / "ran").exists()


def test_several_gpus_are_filled_by_accelerate_and_one_is_not(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert device_map("cuda") == "auto"
    assert device_map("cuda:1") is None and device_map("cpu") is None
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert device_map("cuda") is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("message['content'] }}", "message['content'] ~ '!' }}"), "turns the label 'Yes' into 'Yes!'"),
        (("<|eot_id|>{% endfor %}", "{% endfor %}"), "none of its end tokens"),
        (("message['content'] }}", "messages|length ~ message['content'] }}"), "does not continue the prompt's tokens"),
    ],
)
def test_a_label_that_the_template_or_tokenizer_changes_is_refused(
    write_tiny_llama, spec_of, tmp_path, change, message
):
    write_tiny_llama(tmp_path)
    path = tmp_path / "chat_template.jinja"
    assert change[0] in path.read_text()
    path.write_text(path.read_text().replace(*change))
    model = load(spec_of(tmp_path), tmp_path, device="cpu")
    with pytest.raises(ModelError, match=re.escape(message)):
        model.label_ids([{"role": "user", "content": "Well?"}], ["Yes", "No"])


def test_a_gated_model_says_the_steps(tmp_path, monkeypatch):
    import httpx
    import huggingface_hub
    from huggingface_hub.errors import GatedRepoError

    def refuse(*_, **__):
        request = httpx.Request("GET", "https://huggingface.co/x")
        raise GatedRepoError("gated", response=httpx.Response(403, request=request))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    entry = {"key": "g", "kind": "causal-lm", "provider": "hub", "repo": "a/b", "revision": "0" * 40, "licence": "L"}
    with pytest.raises(ModelError, match=r"gated\. 1\. Sign in .* 2\. Make .*token.* 3\. .*HF_TOKEN"):
        fetch(ModelSpec.model_validate(entry), tmp_path, lambda _: None)


def test_a_registry_mistake_names_the_entry(tmp_path):
    path = tmp_path / "models.yaml"
    path.write_text("a: {kind: causal-lm, provider: hub, repo: x/y, licence: MIT}\n")
    with pytest.raises(InputError, match=r"models\.yaml \(a\).*needs `revision`"):
        load_registry(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}}, "prompt length"),
        ({"sliding_window": 64, "use_sliding_window": True}, "sliding-window"),
    ],
)
def test_attention_that_shared_prefixes_cannot_reproduce_is_refused(
    write_tiny_llama, spec_of, tmp_path, change, message
):
    write_tiny_llama(tmp_path, **change)
    with pytest.raises(ModelError, match=message):
        load(spec_of(tmp_path), tmp_path, device="cpu")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (None, "no chat template"),
        (
            "{{ raise_exception('no system role') if messages[0]['role'] == 'system' }}{{ messages[0]['content'] }}",
            "system",
        ),
        ("{% for m in messages %}{% if m['role'] == 'user' %}{{ m['content'] }}{% endif %}{% endfor %}", "drops"),
        (
            "{{ bos_token }}{{ bos_token }}{% for m in messages %}{{ m['content'] }}{% endfor %}",
            "twice",
        ),
    ],
)
def test_an_unfit_chat_template_is_refused(write_tiny_llama, spec_of, tmp_path, template, message):
    write_tiny_llama(tmp_path)
    path = tmp_path / "chat_template.jinja"
    path.unlink() if template is None else path.write_text(template)
    with pytest.raises(ModelError, match=message):
        load(spec_of(tmp_path), tmp_path, device="cpu")


def test_the_template_reads_no_clock(tiny):
    assert "Today: 26 Jul 2024" in tiny.prompt_text([{"role": "user", "content": "Hello"}])
    assert stop_clock("{{ strftime_now('%Y') }}") == "{{ '2024' }}"
    with pytest.raises(ModelError, match="clock"):
        stop_clock("{{ strftime_now(form) }}")


def test_a_prompt_begins_with_exactly_one_beginning_of_text(tiny):
    ids = tiny.prompt_ids([{"role": "user", "content": "Hello"}])
    assert ids.count(tiny.tokenizer.bos_token_id) == 1 and ids[0] == tiny.tokenizer.bos_token_id


def test_memory_is_estimated_from_the_architecture_alone(tiny, monkeypatch):
    from transformers import LlamaConfig

    config = LlamaConfig(
        hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
        num_key_value_heads=8, vocab_size=128256,
    )  # fmt: skip
    weights = memory_needed(config, torch.bfloat16, tokens=0)
    # Llama 3.1-8B has 8.03 billion parameters of two bytes; the rest is working space.
    assert 16.06e9 < weights < 17e9
    monkeypatch.setattr("faithfuse.llm.model._free_memory", lambda: 4 * 1024**3)
    with pytest.raises(ModelError, match=r"needs about 1\d\.\d GiB in bfloat16, cpu has 4\.0 GiB free"):
        require_memory("llama", config, torch.bfloat16, "cpu")
    assert torch.get_default_dtype() == torch.float32

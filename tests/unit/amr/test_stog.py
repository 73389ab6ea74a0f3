"""STOG through amrlib's own inference, with a tiny BART that the test makes in amrlib's layout."""

from __future__ import annotations

import json
import shutil

import pytest

from faithfuse.amr.parse import load_parser, parse_all
from faithfuse.amr.stog import StogParser
from faithfuse.errors import ModelError


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A random BART of two layers with its own byte-level tokenizer, as amrlib lays a model out."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import BartConfig, BartForConditionalGeneration, BartTokenizerFast

    folder = tmp_path_factory.mktemp("stog")
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator(
        ["( sing-01 :ARG0 ( bird ) )", "The bird sings."] * 3, vocab_size=300, special_tokens=special
    )
    (folder / "tokenizer").mkdir()
    bpe.save_model(str(folder / "tokenizer"))
    tokenizer = BartTokenizerFast.from_pretrained(str(folder / "tokenizer"))
    tokenizer.save_pretrained(str(folder / "tokenizer"))
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=64,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
        task_specific_params={
            "parse_amr": {"max_in_len": 20, "max_out_len": 30, "model_name_or_path": "facebook/bart-large"}
        },
    )
    BartForConditionalGeneration(config).save_pretrained(str(folder))
    meta = {"inference_module": ".parse_xfm.inference", "inference_class": "Inference", "model_fn": "pytorch_model.bin"}
    (folder / "amrlib_meta.json").write_text(json.dumps(meta))
    return folder


@pytest.fixture
def copy(model, tmp_path):
    return shutil.copytree(model, tmp_path / "model")


def test_whole_path_runs_offline_and_a_random_model_gives_null_or_a_graph(model, tmp_path):
    registry = tmp_path / "models.yaml"
    registry.write_text(f"tiny:\n  kind: amr-parser\n  provider: path\n  path: {model}\n")
    parser = load_parser("tiny", registry, 1)
    graphs = parse_all(["The bird sings.", "A bird.", "word " * 60], parser, tmp_path / "cache")
    assert len(graphs) == 3
    for graph in graphs:
        assert (graph.penman is None) == (graph.reason is not None)
    too_long = next(graph for graph in graphs if graph.sentence.startswith("word"))
    assert too_long.reason and "tokens, the parser takes 20" in too_long.reason
    assert parser.parse(["The bird sings."]) == parser.parse(["The bird sings."])
    assert "amrlib 0.8.1" in parser.signature and "beams 4" in parser.signature


def test_beams_are_those_of_the_models_configuration(copy):
    generation = copy / "generation_config.json"
    generation.write_text(json.dumps({**json.loads(generation.read_text()), "num_beams": 2}))
    parser = StogParser(copy)
    assert parser.beams == 2
    assert "beams 2" in parser.signature
    assert len(parser.parse(["The bird sings."])) == 1


def test_decoder_that_writes_a_graph_is_read_and_its_garbage_is_null(model, monkeypatch):
    parser = StogParser(model)
    given = ["(s / sing-01\n  :ARG0 (b / bird))", None, "()", "(a / b :ARG0 x9)"]
    monkeypatch.setattr(parser._inference, "parse_sents", lambda sentences, add_metadata: given)
    found = parser.parse(["a", "b", "c", "d"])
    assert found[0] == ("(s / sing-01 :ARG0 (b / bird))", None)
    assert [graph for graph, _ in found[1:]] == [None] * 3
    assert all(reason for _, reason in found[1:])


@pytest.mark.parametrize("missing", ["amrlib_meta.json", "config.json", "model.safetensors"])
def test_truncated_folder_names_the_file_that_is_wanted(copy, missing):
    (copy / missing).unlink()
    with pytest.raises(ModelError, match=missing):
        StogParser(copy, name="tiny")


def test_cut_weights_are_an_error_that_says_how_to_mend_it(copy):
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match="models fetch tiny"):
        StogParser(copy, name="tiny")


def test_missing_tokenizer_says_which_one(copy):
    shutil.rmtree(copy / "tokenizer")
    with pytest.raises(ModelError, match=r"facebook/bart-large"):
        StogParser(copy, name="tiny")


def test_missing_folder_says_how_to_get_it(tmp_path):
    with pytest.raises(ModelError, match="models fetch tiny"):
        StogParser(tmp_path / "nothing", name="tiny")


def test_other_kind_of_model_is_refused(copy):
    (copy / "amrlib_meta.json").write_text('{"inference_module": ".parse_gsii.inference"}')
    with pytest.raises(ModelError, match="parse_xfm"):
        StogParser(copy, name="tiny")


def test_model_without_length_limits_is_no_parser(copy):
    config = json.loads((copy / "config.json").read_text())
    config["task_specific_params"] = {}
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="max_in_len"):
        StogParser(copy, name="tiny")


def test_transformers_whose_beam_search_differs_is_refused(model, monkeypatch):
    from faithfuse.amr import stog

    monkeypatch.setattr(stog.metadata, "version", lambda package: "4.49.0")
    with pytest.raises(ModelError, match=r"4\.49\.0"):
        StogParser(model)

"""BERTScore with the embedded encoder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from faithfuse.errors import ModelError
from faithfuse.metrics.embedding import NO_TOKENS, BertScore

TEXTS = [
    "Paris",
    "The capital of France is Paris.",
    "It rained all day in the mountains, so they stayed at the hut.",
    "They stayed in the hut because of the rain.",
    "A completely different subject: tax law.",
    "Dinner is at eight.",
]


@pytest.fixture(scope="module")
def encoder(encoder_folder: Path) -> BertScore:
    return BertScore(encoder_folder)


def test_values_are_those_of_the_bert_score_library_without_padding(encoder: BertScore, encoder_folder: Path) -> None:
    # In larger batches the library takes the padding's 0 for a similarity wherever all others are negative.
    from bert_score import BERTScorer

    pairs = [(candidate, reference) for candidate in TEXTS for reference in TEXTS]
    library = BERTScorer(model_type=str(encoder_folder), num_layers=6, device="cpu", use_fast_tokenizer=True)
    precision, recall, f1 = library.score([pair[0] for pair in pairs], [pair[1] for pair in pairs], batch_size=1)
    scores = encoder.score(pairs)
    for number, pair in enumerate(pairs):
        assert scores[pair]["BERTScore precision"].value == pytest.approx(precision[number].item(), abs=2e-6)
        assert scores[pair]["BERTScore recall"].value == pytest.approx(recall[number].item(), abs=2e-6)
        assert scores[pair]["BERTScore"].value == pytest.approx(f1[number].item(), abs=2e-6)


def test_a_text_is_most_like_itself(encoder: BertScore) -> None:
    pairs = [(TEXTS[0], text) for text in TEXTS]
    scores = encoder.score(pairs)
    assert scores[TEXTS[0], TEXTS[0]]["BERTScore"].value == 1
    assert all(scores[pair]["BERTScore"].value < 1 for pair in pairs[1:])


def test_a_paraphrase_scores_higher_than_another_subject(encoder: BertScore) -> None:
    scores = encoder.score([(TEXTS[2], TEXTS[3]), (TEXTS[2], TEXTS[4])])
    assert scores[TEXTS[2], TEXTS[3]]["BERTScore"].value > scores[TEXTS[2], TEXTS[4]]["BERTScore"].value + 0.2


def test_swapping_the_texts_swaps_precision_and_recall(encoder: BertScore) -> None:
    scores = encoder.score([(TEXTS[1], TEXTS[3]), (TEXTS[3], TEXTS[1])])
    one, other = scores[TEXTS[1], TEXTS[3]], scores[TEXTS[3], TEXTS[1]]
    assert one["BERTScore precision"] == other["BERTScore recall"]
    assert one["BERTScore"] == other["BERTScore"]


def test_a_value_does_not_depend_on_what_else_is_scored(encoder: BertScore) -> None:
    alone = encoder.score([(TEXTS[2], TEXTS[3])])
    # Every other text has the length of one of the two, so all of them share their batches.
    crowd = [f"{name} rained all day in the mountains, so they stayed at the hut." for name in ("He", "She", "We")]
    among = encoder.score([(text, TEXTS[3]) for text in [*crowd, TEXTS[2], *TEXTS]])
    assert among[TEXTS[2], TEXTS[3]] == alone[TEXTS[2], TEXTS[3]]


def test_a_text_longer_than_the_encoder_reads_is_missing_not_cut(encoder: BertScore) -> None:
    long_text = "word " * 511
    cell = encoder.score([(long_text, TEXTS[0])])[long_text, TEXTS[0]]["BERTScore"]
    assert cell.value is None
    assert cell.reason == "longer than the encoder's 512 tokens"
    just_fits = "word " * 510
    assert encoder.score([(just_fits, TEXTS[0])])[just_fits, TEXTS[0]]["BERTScore"].value is not None


def test_a_text_without_tokens_is_missing(encoder: BertScore) -> None:
    cell = encoder.score([("\u200b", TEXTS[0])])["\u200b", TEXTS[0]]["BERTScore"]
    assert (cell.value, cell.reason) == (None, NO_TOKENS)


def test_the_signature_names_the_weights_and_the_layer(encoder: BertScore, encoder_folder: Path) -> None:
    import hashlib

    digest = hashlib.sha256((encoder_folder / "model.safetensors").read_bytes()).hexdigest()
    assert f"bert-6x384-{digest[:16]}|layer:6" in encoder.signatures["BERTScore"]
    assert "layer:3" in BertScore(encoder_folder, layers=3).signatures["BERTScore"]


def test_another_layer_gives_other_values(encoder: BertScore, encoder_folder: Path) -> None:
    pair = (TEXTS[2], TEXTS[3])
    assert BertScore(encoder_folder, layers=1).score([pair])[pair] != encoder.score([pair])[pair]


def test_a_layer_the_encoder_lacks_is_refused(encoder_folder: Path) -> None:
    with pytest.raises(ModelError, match="a number from 1 to 6"):
        BertScore(encoder_folder, layers=7)


def test_a_folder_without_a_model_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="make models"):
        BertScore(tmp_path)


def test_a_folder_without_weights_is_refused(tmp_path: Path, encoder_folder: Path) -> None:
    for file in encoder_folder.glob("*.json"):
        shutil.copy(file, tmp_path)
    shutil.copy(encoder_folder / "vocab.txt", tmp_path)
    with pytest.raises(ModelError, match="make models"):
        BertScore(tmp_path)


def test_a_broken_configuration_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "no such thing"}))
    with pytest.raises(ModelError, match="cannot be loaded"):
        BertScore(tmp_path)

"""ROUGE, chrF and BLEU."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import sacrebleu

from faithfuse.metrics.aggregate import Cell, text_columns
from faithfuse.metrics.cases import Case
from faithfuse.metrics.ngram import NO_CANDIDATE_TOKENS, NO_REFERENCE_TOKENS, Ngram
from faithfuse.records import Domain

FOX = ("The quick brown dog jumps on the log.", "The quick brown fox jumps over the lazy dog")


@pytest.fixture(scope="module")
def ngram() -> Ngram:
    return Ngram()


def _values(metric: Ngram, candidate: str, reference: str) -> dict[str, float | None]:
    return {name: cell.value for name, cell in metric.score([(candidate, reference)])[candidate, reference].items()}


def test_rouge_has_the_values_of_the_rouge_score_readme(ngram: Ngram) -> None:
    # google-research/rouge README: rouge1 P 0.75, R 0.6667, F 0.7059; rougeL P 0.625, R 0.5556, F 0.5882.
    values = _values(ngram, *FOX)
    assert values["ROUGE-1 precision"] == 0.75
    assert values["ROUGE-1 recall"] == pytest.approx(6 / 9)
    assert values["ROUGE-1"] == pytest.approx(0.7058823529)
    assert values["ROUGE-L precision"] == 0.625
    assert values["ROUGE-L recall"] == pytest.approx(5 / 9)
    assert values["ROUGE-L"] == pytest.approx(0.5882352941)


def test_rouge_2_of_a_hand_worked_pair(ngram: Ngram) -> None:
    # Common bigrams: "the quick", "quick brown"; of 7 and 8.
    values = _values(ngram, *FOX)
    assert values["ROUGE-2 precision"] == pytest.approx(2 / 7)
    assert values["ROUGE-2 recall"] == pytest.approx(2 / 8)
    assert values["ROUGE-2"] == pytest.approx(4 / 15)


def test_rouge_2_of_a_one_word_answer_is_zero_as_the_library_has_it(ngram: Ngram) -> None:
    assert _values(ngram, "Paris", "Paris")["ROUGE-2"] == 0
    assert _values(ngram, "Paris", "Paris")["ROUGE-1"] == 1


def test_chrf_and_bleu_are_sacrebleus_over_one_hundred(ngram: Ngram) -> None:
    candidate, reference = FOX
    values = _values(ngram, candidate, reference)
    assert values["chrF"] == sacrebleu.sentence_chrf(candidate, [reference]).score / 100
    assert values["BLEU"] == sacrebleu.sentence_bleu(candidate, [reference]).score / 100


def test_equal_texts_score_one(ngram: Ngram) -> None:
    text = "She moved to the coast last year."
    assert all(value == pytest.approx(1) for value in _values(ngram, text, text).values())


def test_stemming_is_off_unless_asked_for_and_the_signature_says_which(ngram: Ngram) -> None:
    stemmed = Ngram(stemmer=True)
    assert _values(ngram, "walked", "walking")["ROUGE-1"] == 0
    assert _values(stemmed, "walked", "walking")["ROUGE-1"] == 1
    assert "stemmer:no" in ngram.signatures["ROUGE-1"]
    assert "stemmer:yes" in stemmed.signatures["ROUGE-1"]


def test_rouge_of_a_text_its_tokenizer_cannot_read_is_missing(ngram: Ngram) -> None:
    scores = ngram.score([("Moscow", "Москва"), ("Москва", "Moscow")])
    assert scores["Moscow", "Москва"]["ROUGE-1"] == Cell(None, NO_REFERENCE_TOKENS)
    assert scores["Москва", "Moscow"]["ROUGE-L recall"] == Cell(None, NO_CANDIDATE_TOKENS)
    assert scores["Москва", "Moscow"]["Token F1"].value == 0


def test_an_answer_gets_its_best_reference(ngram: Ngram, question: Callable[..., Case]) -> None:
    case = question("the dog", "a cat", "the dog", "the big dog")
    columns = {column.name: column for column in text_columns([case], ngram)}
    assert columns["ROUGE-1"].cells[case.key].value == 1
    assert columns["ROUGE-1"].cells[case.key].partial == 0


def test_a_reference_that_cannot_be_scored_is_left_out_and_counted(ngram: Ngram, question: Callable[..., Case]) -> None:
    case = question("Moscow", "Москва", "Moscow")
    cell = {column.name: column for column in text_columns([case], ngram)}["ROUGE-1"].cells[case.key]
    assert (cell.value, cell.partial) == (1, 1)


def test_an_item_without_a_reference_is_missing(ngram: Ngram, question: Callable[..., Case]) -> None:
    case = question("Moscow")
    for column in text_columns([case], ngram):
        assert column.cells[case.key] == Cell(None, "the item has no reference")


def test_a_point_copied_from_the_transcript_has_full_precision(ngram: Ngram, summary: Callable[..., Case]) -> None:
    case = summary(["Bob came by train.", "Zoe flew home."], ["Bob came."], ["Bob came by train, he says."])
    columns = {column.name: column.cells[case.key].value for column in ngram.transcript_columns([case])}
    assert columns["ROUGE-2 Transcript precision max"] == 1
    assert columns["ROUGE-1 Transcript precision min"] == 0
    assert columns["ROUGE-1 Transcript precision"] == pytest.approx(4 / 7)


def test_a_conversational_answer_has_one_transcript_precision(ngram: Ngram, question: Callable[..., Case]) -> None:
    case = question("by train", "train", domain=Domain.CONVERSATIONAL_QA)
    names = [column.name for column in ngram.transcript_columns([case])]
    assert names == [f"ROUGE-{n} Transcript precision" for n in ("1", "2", "L")]


def test_rouge_l_equals_the_values_published_with_mtrag(ngram: Ngram, real_data: Path) -> None:
    # IBM/mt-rag-benchmark publishes RougeL (no stemming) of each answer against its one target.
    path = real_data / "human" / "mtrag" / "reference_subset_with_human_evaluations.json"
    published = json.loads(path.read_text(encoding="utf-8"))
    targets = {task["task_id"]: task["targets"][0]["text"] for task in published["tasks"]}
    answers = [each for each in published["evaluations"] if each["model_id"] != "reference"]
    pairs = [(each["model_response"], targets[each["task_id"]]) for each in answers]
    assert len(pairs) == 318
    scores = ngram.score(pairs)
    for each, pair in zip(answers, pairs, strict=True):
        theirs = float(each["annotations"]["RougeL"]["system"]["value"])
        assert scores[pair]["ROUGE-L"].value == pytest.approx(theirs, abs=1e-12)

"""Exact match, lexical match and token F1; known values worked by hand from the SQuAD v1.1 evaluation."""

from __future__ import annotations

import pytest

from faithfuse.metrics.matching import exact_match, lexical_match, token_f1, words


@pytest.mark.parametrize(
    ("response", "reference"),
    [
        ("The Beatles", "beatles"),
        ("U.S.", "us"),
        ("1,228", "1228"),
        ("Don’t stop", "don't stop"),
        ("Zürich\u00a0Airport", "zürich airport"),
        ("an apple", "the apple"),
    ],
)
def test_case_punctuation_articles_and_spaces_do_not_count(response: str, reference: str) -> None:
    assert exact_match(response, reference) == 1
    assert lexical_match(response, reference) == 1
    assert token_f1(response, reference) == 1


def test_a_sentence_around_the_answer_is_a_lexical_but_no_exact_match() -> None:
    assert exact_match("It was Bob Dylan.", "Bob Dylan") == 0
    assert lexical_match("It was Bob Dylan.", "Bob Dylan") == 1


@pytest.mark.parametrize(
    ("response", "reference"),
    [
        ("Hamburger", "Hamburg"),
        ("the Germans", "German"),
        ("Dylan, not Bob", "Bob Dylan"),
        ("Bob and Dylan", "Bob Dylan"),
        ("1901", "190"),
    ],
)
def test_only_whole_words_in_their_order_match(response: str, reference: str) -> None:
    assert lexical_match(response, reference) == 0


def test_a_dash_or_slash_separates_words() -> None:
    assert lexical_match("the war of 1914–1918", "1914") == 1
    assert lexical_match("salt and/or pepper", "or") == 1
    assert exact_match("well-known", "well known") == 1


def test_an_answer_that_is_only_an_article_keeps_it() -> None:
    assert exact_match("A", "A") == 1
    assert lexical_match("The blood type is A.", "A") == 1
    assert exact_match("B", "A") == 0


def test_an_answer_of_signs_alone_is_compared_as_it_is() -> None:
    assert exact_match("?!", "?!") == 1
    assert exact_match("Rome", "?!") == 0


def test_a_blank_reference_is_missing_not_zero() -> None:
    assert exact_match("Rome", " ") is None
    assert lexical_match("Rome", " ") is None
    assert token_f1("Rome", " ") is None


def test_token_f1_of_a_hand_worked_pair() -> None:
    # "cat sat on mat" against "cat sat": 2 common, precision 2/4, recall 2/2.
    assert token_f1("A cat sat on the mat.", "the cat sat") == pytest.approx(2 / 3)


def test_token_f1_counts_a_repeated_word_as_often_as_both_have_it() -> None:
    # 1 common of 2 and 3.
    assert token_f1("no way", "no no no") == pytest.approx(2 / 5)


def test_an_empty_response_matches_nothing() -> None:
    assert lexical_match("...", "Rome") == 0
    assert token_f1("...", "Rome") == 0


def test_letters_of_any_script_are_words() -> None:
    assert words("Москва, 北京!")[0] == ("москва", "北京")
    assert lexical_match("Столица — Москва.", "Москва") == 1

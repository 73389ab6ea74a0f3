"""Which sentences get graphs."""

from __future__ import annotations

from faithfuse.amr.sentences import item_sentences, response_sentences, split_sentences, turn_sentences
from faithfuse.records import Domain, Item, References, Response, Turn


def dialogue(**changes) -> Item:
    fields = {
        "item_id": "d1",
        "domain": Domain.SUMMARISATION,
        "source_set": "test",
        "context": [Turn(speaker="Ann", text="Hi! I am late."), Turn(speaker="Bo", text="<file_photo>")],
        "references": References(long=["Ann is late. Bo waits."], points=["Ann is late."]),
        "group": "d1",
    }
    return Item(**{**fields, **changes})


def test_lines_and_sentence_ends_cut_a_text():
    assert split_sentences("Rome fell. It had stood!\nWhy?") == ["Rome fell.", "It had stood!", "Why?"]


def test_list_marks_markup_and_placeholders_are_no_language():
    assert split_sentences("1. **Rome** fell.\n- `It` rose.\n<file_gif>") == ["Rome fell.", "It rose."]


def test_abbreviations_and_initials_do_not_end_a_sentence():
    assert split_sentences("Dr. Smith met J. Doe in the U.S. embassy.") == ["Dr. Smith met J. Doe in the U.S. embassy."]


def test_text_without_letters_has_no_sentence():
    assert split_sentences("... 😂 !!") == []
    assert split_sentences("") == []


def test_speaker_repeated_before_the_turn_is_no_part_of_it():
    assert turn_sentences(Turn(speaker="Ann", text="Ann: I am late.")) == ["I am late."]
    assert turn_sentences(Turn(speaker="Ann", text="Note: I am late.")) == ["Note: I am late."]


def test_summary_item_needs_gold_points_and_turns_each_once():
    assert item_sentences(dialogue()) == ["Ann is late.", "Bo waits.", "Hi!", "I am late."]


def test_whole_transcript_is_one_input_if_asked_for():
    assert item_sentences(dialogue(), whole_transcript=True)[-1] == "Ann: Hi! I am late. Bo: <file_photo>"


def test_question_needs_its_gold_answers_alone():
    item = Item(
        item_id="q",
        domain=Domain.SHORT_FORM_QA,
        source_set="test",
        question="Who wrote Hamlet?",
        references=References(short=["William Shakespeare", "Shakespeare"]),
        group="q",
    )
    assert item_sentences(item) == ["William Shakespeare", "Shakespeare"]


def test_response_needs_its_points_and_its_text():
    response = Response(item_id="d1", system="s", text="Ann is late. Bo left.", points=["Ann is late.", "Bo left."])
    assert response_sentences(response, Domain.SUMMARISATION) == ["Ann is late.", "Bo left."]
    assert response_sentences(response, Domain.LONG_FORM_QA) == ["Ann is late.", "Bo left."]


def test_response_without_text_needs_nothing():
    assert response_sentences(Response(item_id="a", system="s", text=None, reason="none"), Domain.LONG_FORM_QA) == []

"""What a page shows has one code point for each of the stored text."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithfuse.annotate.text import plain, relevant_turns, shown
from faithfuse.records import Turn


def as_read(markup: str) -> str:
    """The text that a browser makes of the markup (character references decoded, tags gone)."""
    return html.unescape(re.sub(r"<[^>]*>", "", markup).replace("&#13;", "\r"))


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_the_page_has_as_many_code_points_as_the_text(text):
    read = as_read(str(shown(text)))
    assert len(read) == len(text)
    assert read == plain(text)


def test_ordinary_text_in_any_script_is_left_alone():
    for text in ("naïve cafe\u0301 👩‍👩‍👧 💡", "שלום\u200f!", "می\u200cخواهم", "a\tb\nc\r\nd"):
        assert as_read(str(shown(text))) == text


@pytest.mark.parametrize("character", [*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\x00\x07\x1b\x7f\x85"])
def test_controls_that_hide_or_turn_text_become_visible(character):
    assert character not in shown(f"a{character}b")
    assert 'class="control"' in shown(f"a{character}b")


def turns(*texts: str) -> list[Turn]:
    return [Turn(speaker="x", text=text) for text in texts]


def test_relevant_turns_are_those_that_share_rare_words():
    dialogue = turns(*["we talk about the weather"] * 20, "the zeppelin lands at noon", "the weather again")
    assert relevant_turns(dialogue, "When does the zeppelin land?", 1) == [20]


def test_a_short_dialogue_needs_no_jumps():
    assert relevant_turns(turns("zeppelin", "balloon"), "zeppelin", 3) == []


def test_jumps_can_be_switched_off():
    assert relevant_turns(turns(*["zeppelin"] * 20), "zeppelin", 0) == []

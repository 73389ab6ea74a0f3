"""Sentences are the points of a summary; lines are the turns of a dialogue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithfuse.datasets.points import sentences, turns


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann left. Bob stayed!", ["Ann left.", "Bob stayed!"]),
        ("ann left . bob stayed . ", ["ann left .", "bob stayed ."]),
        ("Mr. Hill met Dr. No. They ate.", ["Mr. Hill met Dr. No.", "They ate."]),
        ("He has no. 4 here. She said no. He left.", ["He has no. 4 here.", "She said no.", "He left."]),
        ("J. Hill paid $3.50 for tea.", ["J. Hill paid $3.50 for tea."]),
        ("They meet at 5 p.m. on Monday. Good.", ["They meet at 5 p.m. on Monday.", "Good."]),
        ('"Go!" she said. He went.', ['"Go!" she said.', "He went."]),
        ("Is it? 3 of 4 agree.", ["Is it?", "3 of 4 agree."]),
        ("Fine. :)", ["Fine. :)"]),
        ("No full stop", ["No full stop"]),
        ("  ", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text, expected):
    assert sentences(text) == expected


@given(st.text())
def test_splitting_loses_nothing_but_blanks(text):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_turns_name_their_speaker_and_prose_lines_have_none():
    found = turns(["Ann: hi: there", "", "no speaker here", "Bob:: what?"])
    assert [(turn.speaker, turn.text) for turn in found] == [
        ("Ann", "hi: there"),
        ("", "no speaker here"),
        ("Bob", ": what?"),
    ]

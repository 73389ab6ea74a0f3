"""Points as models really write them."""

import pytest

from faithfuse.amr.sentences import split_sentences
from faithfuse.datasets.points import sentences
from faithfuse.llm.points import read_points


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("* One came.\n* Two left.", ["One came.", "Two left."]),
        ("Here is the summary:\n\n* One came.\n\n* Two left.\n", ["One came.", "Two left."]),
        ("*One came.\n*Two left.", ["One came.", "Two left."]),
        ("• One came.\n  – Two left.\n- Three stayed.", ["One came.", "Two left.", "Three stayed."]),
        ("1. One came.\n2) Two left.\n(3) Three stayed.", ["One came.", "Two left.", "Three stayed."]),
        ("* One came\n  and sat down.\n* Two left.", ["One came and sat down.", "Two left."]),
        ("* One came. * Two left.", ["One came.", "Two left."]),
        ("* **One** came.\n* **Two left.**", ["One came.", "Two left."]),
        ("**Summary**\n* One came.", ["One came."]),
        ("* One came.\n*\n* Two left.\n* ", ["One came.", "Two left."]),
        ("* One came.\n\nTwo left in the end.", ["One came.", "Two left in the end."]),
        (
            "One came at 5. Dr. Ada and J. Roe left! Who? Nobody.",
            [
                "One came at 5.",
                "Dr. Ada and J. Roe left!",
                "Who?",
                "Nobody.",
            ],
        ),
        ("One came", ["One came"]),
        ("-5 degrees were measured", ["-5 degrees were measured"]),
        ("* N", ["N"]),
    ],
)
def test_points_are_read(text, points):
    assert read_points(text) == points


def test_a_text_with_words_always_has_a_point_and_no_word_of_a_marked_line_is_lost():
    for text in ("*", "...", "* a", "a\n* b\nc", "1.5 litres"):
        found = read_points(text)
        assert bool(found) == any(c.isalnum() for c in text) or found == [text]
    assert read_points("") == []


@pytest.mark.parametrize(
    "text",
    [
        "Ann left. bob stayed . They met at 5 p.m. on Monday. Good.",
        "ann left . bob stayed . ",
        "He has no. 4 here. She said no. He left. Fine. :)",
    ],
)
def test_a_summary_without_markers_has_the_points_that_importers_and_the_parser_cut(text):
    assert read_points(text) == sentences(text)
    assert read_points(text) == split_sentences(text)

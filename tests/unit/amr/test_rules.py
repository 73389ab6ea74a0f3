"""The embedded parser `rules`: its quality on gold graphs, and that nothing people write makes it fail."""

from __future__ import annotations

import pytest

from faithfuse.amr.parse import check_graph
from faithfuse.amr.smatch import smatch, total

from .gold import little_prince

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def parser():
    from faithfuse.amr.rules import RulesParser

    return RulesParser()


def graph(parser, sentence: str) -> str:
    found, reason = parser.parse([sentence])[0]
    assert found is not None, reason
    return found


CONSTRUCTIONS = [
    ("The boy sang a song.", "(s / sing-01 :ARG0 (b / boy) :ARG1 (o / song))"),
    ("The lamp was lit by the boy.", "(l / light-04 :ARG1 (a / lamp) :ARG0 (b / boy))"),
    ("She wants to sleep.", "(w / want-01 :ARG0 (s / she) :ARG1 (l / sleep-01 :ARG0 s))"),
    ("The old man died.", "(d / die-01 :ARG1 (m / man :mod (o / old)))"),
    ("He cannot sing.", "(p / possible-01 :polarity - :ARG1 (s / sing-01 :ARG0 (h / he)))"),
    ("You must go.", "(o / obligate-01 :ARG2 (g / go-02 :ARG0 (y / you)))"),
    ("Where do you live?", "(l / live-01 :ARG0 (y / you) :location (a / amr-unknown))"),
    ("Do you sing?", "(s / sing-01 :ARG0 (y / you) :polarity (a / amr-unknown))"),
    ("The boys and the girls sang.", "(s / sing-01 :ARG0 (a / and :op1 (b / boy) :op2 (g / girl)))"),
    ("The man who sings is happy.", "(h / happy-01 :ARG1 (m / man :ARG0-of (s / sing-01)))"),
    (
        "I slept because she sang.",
        "(s / sleep-01 :ARG0 (i / i) :ARG1-of (c / cause-01 :ARG0 (g / sing-01 :ARG0 (h / she))))",
    ),
    (
        "He waited two hours.",
        "(w / wait-01 :ARG1 (h / he) :duration (t / temporal-quantity :quant 2 :unit (u / hour)))",
    ),
    ("The teacher smiled.", "(s / smile-01 :ARG0 (p / person :ARG0-of (t / teach-01)))"),
    ("Sing a song!", "(s / sing-01 :mode imperative :ARG0 (y / you) :ARG1 (o / song))"),
]


@pytest.mark.parametrize(("sentence", "wanted"), CONSTRUCTIONS)
def test_construction_gives_its_graph(parser, sentence, wanted):
    found = smatch(graph(parser, sentence), wanted)
    assert found.f1 == 1, graph(parser, sentence)


def test_little_prince_test_sentences_reach_their_aim(parser):
    """The last 143 of 1,562 sentences, which no rule was made from; 0.72 when the rules were written."""
    entries = little_prince()[1419:]
    assert len(entries) == 143
    parsed = parser.parse([entry.metadata["snt"] for entry in entries])
    assert all(found is not None for found, _ in parsed)
    score = total(smatch(found, entry.graph) for (found, _), entry in zip(parsed, entries, strict=True))
    assert score.proven
    assert score.f1 >= 0.70


MET_BY_THE_PRODUCT = [
    "omg 😂😂 i cant belive u did taht!!",
    "Paris",
    "Yes.",
    "Ok",
    "1969",
    "What?",
    "John, Paul, George and Ringo",
    "On 5 June 2012 at 8:30 pm she left for $20 million.",
    "June 5, 2012",
    "because of the rain",
    "Ich habe keine Zeit, aber ich komme morgen.",
    "我今天很高兴。",
    "Je ne sais pas pourquoi.",
    "مرحبا بالعالم",
    "(see [1]: http://x.org/a?b=c&d=(e) / foo ~ bar)",
    "a/b : c \"quoted\" 'text' \\ back",
    'He said "no (really)" :ARG0 (x / y).',
    "@bob #win 50% off!!! visit www.foo.com",
    "hahahaha",
    "x = y + 2",
    "a" * 300,
    "Hannah: hey, do you have Betty's number? Amanda: Lemme check",
    "to be or not to be",
    "She's taller than him and too tired to go.",
    " ".join(["The committee met on Monday and decided that nobody could leave until the report was ready,"] * 19),
]


@pytest.mark.parametrize("text", MET_BY_THE_PRODUCT)
def test_any_text_gives_one_valid_graph(parser, text):
    found = graph(parser, text)
    assert check_graph(found, decoded=False) == (found, None)
    assert smatch(found, found).f1 == 1


@pytest.mark.parametrize("text", ["", "   ", "...", "😂", "the", "( ( ) )", "?!"])
def test_text_without_a_content_word_is_null_with_a_reason(parser, text):
    found, reason = parser.parse([text])[0]
    assert found is None
    assert reason


def test_same_sentence_gives_the_same_graph_whatever_stands_beside_it(parser):
    alone = [parser.parse([text])[0] for text in MET_BY_THE_PRODUCT]
    assert parser.parse(MET_BY_THE_PRODUCT) == alone
    assert parser.parse(MET_BY_THE_PRODUCT[::-1])[::-1] == alone


def test_figures_sentences_hold_the_names_of_the_paper(parser):
    """The sentences of figures 2 and 3 (section IV-B)."""
    aria = graph(parser, "Aria has just run into Charlie Evans.")
    assert '"Aria"' in aria and '"Charlie"' in aria and '"Evans"' in aria
    song = graph(parser, "Coldplay with special guest performers Beyonce and Bruno Mars")
    assert '"Beyonce"' in song and '"Bruno"' in song


def test_a_version_is_no_number(parser):
    # MTRAG has such an answer; it once stopped a whole run.
    made = graph(parser, "It has 6.15.0 apples and 1,500 pears.")
    assert ":quant 1500" in made
    assert ":quant 6" not in made


def test_signature_names_the_rules_and_spacy(parser):
    assert parser.signature.startswith("rules ")
    assert "spaCy 3." in parser.signature

"""Fact tuples of answers as metrics (arXiv 2512.05700, section V-A, which does not define them; an extension).

Two readings (docs/decisions/0203-fact-tuples.md): the tuples read from the answer's graph against those read from the
reference's; and, where the data set gives the tuple that the question was made from (PopQA), that tuple as gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from faithfuse.amr.parse import Parsed
from faithfuse.amr.smatch import Match
from faithfuse.amr.tuples import FactTuple, answered_tuples, fact_tuples, tuple_match
from faithfuse.metrics.aggregate import NO_REFERENCE, Cell, Column, best, column, no_text
from faithfuse.metrics.cases import Case, Key
from faithfuse.metrics.matching import words

if TYPE_CHECKING:
    from faithfuse.metrics.graph import GraphBook

NO_TUPLE = "neither graph holds a fact tuple"
NO_GOLD_TUPLE = "the item comes without a fact tuple of its own"
PARTS = ("F1", "precision", "recall")


def fact_columns(cases: Sequence[Case], book: GraphBook) -> list[Column]:
    """Precision, recall and F1 of fact tuples, for cases of a question-answering domain.

    `Fact tuple …`: the whole answer's tuples against each whole reference's, the best reference. `Fact tuple … (gold)`,
    only if some item has a tuple of its own: what the answer names, put in the place that the question leaves open,
    against that tuple; every reference, an alias of the object, is as good as the object.
    """
    from_graphs = {case.key: _against_references(case, book) for case in cases}
    columns = _columns("Fact tuple {}", "tuples of both graphs|references:best", from_graphs, book.parser)
    if any(_own_tuple(case) for case in cases):
        gold = {case.key: [_against_own_tuple(case, book)] for case in cases}
        columns += _columns("Fact tuple {} (gold)", "names in the answer|the item's own tuple", gold, book.parser)
    return columns


Scored = tuple[Match | None, str | None]
"""A match, or null and the reason."""


def _columns(name: str, about: str, scored: dict[Key, list[Scored]], parser: str) -> list[Column]:
    def cell(match: Match | None, reason: str | None, part: str) -> Cell:
        return Cell(None, reason) if match is None else Cell(getattr(match, part.lower()))

    return [
        column(
            name.format(part),
            f"faithfuse fact tuples|{about}|parser:{parser}|{part}",
            {key: best((cell(*each, part) for each in found), NO_REFERENCE) for key, found in scored.items()},
        )
        for part in PARTS
    ]


def _against_references(case: Case, book: GraphBook) -> list[Scored]:
    if case.response.text is None:
        return [(None, no_text(case).reason)]
    answer = book.text(case.response.text)
    return [_compared(answer, book.text(gold)) for gold in case.gold]


def _compared(left: Parsed, right: Parsed) -> Scored:
    for graph, reason in (left, right):
        if graph is None:
            return None, reason
    match = tuple_match(fact_tuples(left[0]), fact_tuples(right[0]))
    return match, None if match else NO_TUPLE


def _own_tuple(case: Case) -> FactTuple | None:
    given = case.item.provenance.get("fact_tuple")
    return tuple(given) if isinstance(given, list) and len(given) == 3 else None


def _against_own_tuple(case: Case, book: GraphBook) -> Scored:
    own = _own_tuple(case)
    if own is None:
        return None, NO_GOLD_TUPLE
    if case.response.text is None:
        return None, no_text(case).reason
    graph, reason = book.text(case.response.text)
    if graph is None:
        return None, reason
    subject, relation, thing = own
    right = {_normal(text) for text in (thing, *case.gold)}
    for alias in case.gold:
        parsed = book.text(alias)[0]
        if parsed is not None:
            right |= {_normal(stated[2]) for stated in answered_tuples(parsed, subject, relation)}
    stated = answered_tuples(graph, subject, relation)
    return tuple_match(_as_gold(stated, thing, right), [own]), None


def _as_gold(stated: Iterable[FactTuple], thing: str, right: set[str]) -> list[FactTuple]:
    """The stated tuples with every name of the gold object replaced by `thing`, so that aliases are equal."""
    found = {(subject, relation, thing if _normal(other) in right else other) for subject, relation, other in stated}
    return sorted(found)


def _normal(text: str) -> str:
    return " ".join(words(text)[0])

"""Fact tuples: subject, relation, object, read from a graph.

Section V-A of arXiv 2512.05700 scores "fact tuples" of questions and answers without saying how they are made. The
reading taken here (docs/decisions/0203-fact-tuples.md): each frame gives (subject, frame, object) for every pair of
its ARG roles in the order of their numbers, and each other relation between two nodes gives (source, role, target).
A node is named by its name if it has one, else by its concept; frames lose their sense number.

A short answer states no relation of its own: it fills the place that the question left open. Where a data set gives the
tuple that a question was made from (PopQA), `answered_tuples` completes that tuple with what the answer names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from faithfuse.amr.smatch import Match
from faithfuse.amr.triples import Triples, read_triples

FactTuple = tuple[str, str, str]

_SENSE = re.compile(r"-\d\d$")


def fact_tuples(graph: str) -> list[FactTuple]:
    """The graph's fact tuples, each once, sorted.

    >>> fact_tuples("(s / sing-01 :ARG0 (b / bird) :ARG1 (o / song) :location (t / tree))")
    [('bird', 'sing', 'song'), ('sing', 'location', 'tree')]
    """
    triples = read_triples(graph)
    labels = _labels(triples)
    arguments: dict[int, list[tuple[str, str]]] = {}
    found: set[FactTuple] = set()
    for role, source, target in triples.edges:
        if role == "name":
            continue
        if re.fullmatch(r"arg\d", role):
            arguments.setdefault(source, []).append((role, labels[target]))
        elif not re.fullmatch(r"(?:op|snt)\d+", role):
            found.add((labels[source], role, labels[target]))
    for frame, ends in arguments.items():
        for (_, subject), (_, thing) in combinations(sorted(ends), 2):
            found.add((subject, labels[frame], thing))
    named = {target for role, _, target in triples.edges if role == "name"}
    for role, node, value in triples.attributes:
        if role != "top" and node not in named:
            found.add((labels[node], role, value))
    return sorted(found)


def answered_tuples(graph: str, subject: str, relation: str) -> list[FactTuple]:
    """The tuples that an answer states when it is asked what `subject` has as `relation`, each once, sorted.

    Every name in the answer is an object, but for the subject's own, which an answer often repeats; an answer that
    names nothing is one object, its concepts in order.

    >>> answered_tuples('(c / city :name (n / name :op1 "Rome"))', "Italy", "capital")
    [('Italy', 'capital', 'rome')]
    >>> answered_tuples("(p / politician)", "Ana Lee", "occupation")
    [('Ana Lee', 'occupation', 'politician')]
    """
    triples = read_triples(graph)
    labels = _labels(triples)
    named = sorted({source for role, source, _ in triples.edges if role == "name"})
    objects = {labels[node] for node in named} - {subject.lower()}
    if not named:
        objects = {" ".join(labels)}
    return sorted((subject, relation, thing) for thing in objects)


def _labels(triples: Triples) -> list[str]:
    words: dict[int, list[tuple[int, str]]] = {}
    for role, node, value in triples.attributes:
        if re.fullmatch(r"op\d+", role):
            words.setdefault(node, []).append((int(role[2:]), value))
    names = {source: target for role, source, target in triples.edges if role == "name"}
    return [
        " ".join(value for _, value in sorted(words[names[node]]))
        if names.get(node) in words
        else _SENSE.sub("", concept)
        for node, concept in enumerate(triples.concepts)
    ]


def tuple_match(a: Iterable[FactTuple], b: Iterable[FactTuple]) -> Match | None:
    """How many tuples of `a` (judged) and `b` (reference) are the same, letter case aside; null if both are empty."""
    left, right = (Counter(tuple(part.lower() for part in fact) for fact in facts) for facts in (a, b))
    common = sum((left & right).values())
    if not left and not right:
        return None
    return Match(common, sum(left.values()), sum(right.values()), True, common)

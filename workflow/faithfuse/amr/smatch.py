"""Smatch and its sub-scores: how alike two AMR graphs are, by the best alignment of their nodes.

Smatch: Cai and Knight 2013; triples as `smatch` 1.0.4 reads them (`triples.py`), but the alignment is the optimum,
with proof (`alignment.py`), where `smatch` climbs hills from random starts. The sub-scores are those of
`amrlib.evaluate.smatch_enhanced` 0.8.1 (after Damonte, Cohen and Satta 2017), which arXiv 2512.05700 takes its
graph rows from. Where amrlib's definition is odd, a corrected one stands in `EXTENSIONS`; docs/graphs.md shows both.

In every function the first graph is the one that is judged and the second is the reference: precision is the share
of the first graph's triples that match, recall of the second's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from faithfuse.amr.alignment import Alignment, align
from faithfuse.amr.triples import Triples, one_line, read_roles, read_triples


class Match(NamedTuple):
    """How many of the triples (or labels) of two graphs match.

    `matched` of `left_total` and `right_total`; `proven` if no alignment matches more, else `bound` is the most that
    one could match.
    """

    matched: int
    left_total: int
    right_total: int
    proven: bool
    bound: int

    @property
    def precision(self) -> float:
        """The share of the left graph that matches, 0–1; 0 if it is empty (as `smatch.compute_f`)."""
        return self.matched / self.left_total if self.left_total else 0.0

    @property
    def recall(self) -> float:
        """The share of the right graph that matches, 0–1; 0 if it is empty."""
        return self.matched / self.right_total if self.right_total else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 0–1; 0 if either graph has nothing to match."""
        both = self.left_total + self.right_total
        return 2 * self.matched / both if both else 0.0


def total(matches: Iterable[Match]) -> Match:
    """The corpus score: matches and totals added over all pairs (micro-average, as `smatch` gives for files)."""
    matches = list(matches)
    return Match(
        sum(match.matched for match in matches),
        sum(match.left_total for match in matches),
        sum(match.right_total for match in matches),
        all(match.proven for match in matches),
        sum(match.bound for match in matches),
    )


@lru_cache(maxsize=65536)
def _aligned(left: Triples, right: Triples, time_limit: float | None) -> Alignment:
    return align(left, right, time_limit=time_limit)


def _match(left: Triples, right: Triples, time_limit: float | None) -> Match:
    found = _aligned(left, right, time_limit)
    return Match(found.matched, left.total, right.total, found.proven, found.bound)


def smatch(a: str, b: str, *, time_limit: float | None = None) -> Match:
    """Smatch of two graphs: the largest share of triples that an alignment of their nodes makes equal.

    Args:
        a: the graph that is judged.
        b: the reference.
        time_limit: stop after so many seconds (`alignment.align`); without it the limits count work, and the result
            is the same everywhere.

    Raises:
        InputError: one of the two is not a graph.

    >>> smatch("(s / sing-01 :ARG0 (b / bird))", "(s / sing-01 :ARG0 (c / cat))")
    Match(matched=3, left_total=4, right_total=4, proven=True, bound=3)
    """
    return _match(read_triples(a), read_triples(b), time_limit)


def smatch_alignment(a: str, b: str, *, time_limit: float | None = None) -> Alignment:
    """The alignment that `smatch` counts by."""
    return _aligned(read_triples(a), read_triples(b), time_limit)


# --- the paper's rows, as amrlib defines them -------------------------------------------------------------------

_ROLE = re.compile(r":[0-9a-zA-Z]*(?!-of)")
_INVERSE_ROLE = re.compile(r":[0-9a-zA-Z]*-of")
_SENSE = re.compile(r"(/ [a-zA-Z0-9-][a-zA-Z0-9-]*)-[0-9]+")
_FRAME = re.compile(r"-[0-8]\d$")


def unlabeled(a: str, b: str, *, time_limit: float | None = None) -> Match:
    """Unlabeled F1 as amrlib computes it: every role in the text becomes `:label`, then Smatch.

    The rule works on the text, so it also strikes colons in strings ("14:30" equals "14:59"), shortens `:prep-in` to
    `:label-in`, and undoes the equivalence of `:mod` and `:domain-of`. Parallel edges become equal; each still counts
    in the totals, as in amrlib, but can match only one of the other graph's (amrlib counts them crosswise and can
    exceed 1).
    """
    left, right = (read_triples(_unlabel(one_line(text)), repeated=True) for text in (a, b))
    return _match(left, right, time_limit)


def no_wsd(a: str, b: str, *, time_limit: float | None = None) -> Match:
    """No WSD F1 as amrlib computes it: the number that ends a concept becomes 01, then Smatch.

    The rule does not ask whether the concept is a frame: `covid-19` and `have-degree-91` lose their numbers too.
    """
    left, right = (read_triples(_SENSE.sub(r"\1-01", one_line(text))) for text in (a, b))
    return _match(left, right, time_limit)


def entity(a: str, b: str) -> Match:
    """Entity F1 as amrlib computes it ("Named Ent."): the sets of the *types* of named nodes, no alignment.

    Names do not count (amrlib issue 64) and two persons are one (issue 70). Neither graph naming anything gives 0,
    the one exception to the rule that an undefined score is missing, not 0.
    """
    return _sets(_entity_types(read_triples(a)), _entity_types(read_triples(b)))


def _unlabel(line: str) -> str:
    return _INVERSE_ROLE.sub(":label-of", _ROLE.sub(":label", line))


def _entity_types(graph: Triples) -> Iterable[str]:
    return (graph.concepts[source] for role, source, _ in (*graph.edges, *graph.attributes) if role == "name")


def _sets(left: Iterable, right: Iterable) -> Match:
    left, right = set(left), set(right)
    common = len(left & right)
    return Match(common, len(left), len(right), True, common)


# --- corrected variants and further sub-scores ------------------------------------------------------------------


def unlabeled_edges(a: str, b: str, *, time_limit: float | None = None) -> Match:
    """Smatch with every role but `TOP` made equal, after inverse roles are turned round; strings stay as they are."""
    left, right = (_without_roles(read_triples(text)) for text in (a, b))
    return _match(left, right, time_limit)


def no_wsd_frames(a: str, b: str, *, time_limit: float | None = None) -> Match:
    """Smatch with the sense of every frame made 01: two digits at the end, not 9x (`have-degree-91` is no sense)."""
    left, right = (_without_senses(read_triples(text)) for text in (a, b))
    return _match(left, right, time_limit)


def entity_names(a: str, b: str) -> Match | None:
    """Named entities by type *and* name, each counted as often as it occurs; null if neither graph names anything."""
    left, right = _entities(read_triples(a)), _entities(read_triples(b))
    common = sum((left & right).values())
    return _unless_empty(Match(common, sum(left.values()), sum(right.values()), True, common))


def concepts(a: str, b: str) -> Match:
    """Concepts as amrlib computes it: the sets of the nodes' concepts, no alignment."""
    return _sets(read_triples(a).concepts, read_triples(b).concepts)


def negations(a: str, b: str) -> Match | None:
    """Negations as amrlib computes it: the sets of the concepts that have a `:polarity`; null if neither has any.

    A yes-or-no question is counted too, as its `:polarity` is an `amr-unknown` node.
    """
    return _unless_empty(_sets(*(_with_role(read_triples(text), "polarity") for text in (a, b))))


def reentrancies(a: str, b: str, *, time_limit: float | None = None) -> Match | None:
    """Reentrancies as amrlib computes it: Smatch of the edges into nodes with several parents, and their nodes.

    Null if neither graph has such a node.
    """
    left, right = (_part(*read_roles(text), _into_shared_nodes) for text in (a, b))
    return _unless_empty(_match(left, right, time_limit))


def srl(a: str, b: str, *, time_limit: float | None = None) -> Match | None:
    """SRL as amrlib computes it: Smatch of the ARG edges and their nodes; null if neither graph has any."""
    left, right = (_part(*read_roles(text), _arguments) for text in (a, b))
    return _unless_empty(_match(left, right, time_limit))


def _unless_empty(match: Match) -> Match | None:
    return match if match.left_total or match.right_total else None


def _without_roles(graph: Triples) -> Triples:
    attributes = (a if a[0] == "top" else ("label", a[1], a[2]) for a in graph.attributes)
    edges = (("label", source, target) for _, source, target in graph.edges)
    return graph._replace(attributes=tuple(sorted(attributes)), edges=tuple(sorted(edges)))


def _without_senses(graph: Triples) -> Triples:
    return graph._replace(concepts=tuple(_frame_without_sense(concept) for concept in graph.concepts))


def _frame_without_sense(concept: str) -> str:
    return f"{concept[:-3]}-01" if _FRAME.search(concept) else concept


def _entities(graph: Triples) -> Counter:
    """(type, name) of each named node; the name is its `:op` words in order."""
    words: dict[int, list[tuple[str, str]]] = {}
    for role, node, value in graph.attributes:
        if role.startswith("op"):
            words.setdefault(node, []).append((role, value))
    named = (
        (graph.concepts[source], tuple(value for _, value in sorted(words.get(target, []), key=_op_order)))
        for role, source, target in graph.edges
        if role == "name"
    )
    return Counter(named)


def _op_order(word: tuple[str, str]) -> tuple[int, str]:
    digits = word[0][2:]
    return (int(digits) if digits.isdigit() else 0, word[0])


def _with_role(graph: Triples, wanted: str) -> Iterable[str]:
    return (graph.concepts[source] for role, source, _ in (*graph.attributes, *graph.edges) if role == wanted)


Role = tuple[str, str, str]


def _part(nodes: dict[str, str], roles: Sequence[Role], select: Callable[[list[Role], dict], list[Role]]) -> Triples:
    """The part of a graph that `amrlib.evaluate.smatch_reentracy_srl` compares.

    It reads graphs by an older rule: every `-of` is turned round, `:mod` is not, of parallel edges the last stays.
    For each kept edge it counts the edge, and (the last of each role at a node) its role with the target's concept.
    """
    edges: dict[tuple[str, str], str] = {}
    for source, role, target in roles:
        if role.endswith("-of"):
            source, role, target = target, role[:-3], source
        if source in nodes and target in nodes:
            edges[source, target] = role
    order = {variable: number for number, variable in enumerate(nodes)}
    kept = select([(role, s, t) for (s, t), role in sorted(edges.items(), key=lambda e: order[e[0][0]])], nodes)
    number: dict[str, int] = {}
    for _, source, target in kept:
        number.setdefault(source, len(number))
        number.setdefault(target, len(number))
    attributes = {(role.lower(), number[s]): nodes[t].lower().rstrip("_") for role, s, t in kept}
    return Triples(
        tuple(number),
        tuple(nodes[variable].lower().rstrip("_") for variable in number),
        tuple(sorted((role, node, value) for (role, node), value in attributes.items())),
        tuple(sorted({(role.lower(), number[s], number[t]) for role, s, t in kept})),
    )


def _into_shared_nodes(edges: list[Role], nodes: dict) -> list[Role]:
    parents = Counter(target for _, _, target in edges)
    return [edge for node in nodes for edge in edges if edge[2] == node and parents[node] > 1]


def _arguments(edges: list[Role], _nodes: dict) -> list[Role]:
    return [edge for edge in edges if edge[0].startswith("ARG")]


SUBSCORES: dict[str, Callable[[str, str], Match]] = {
    "SMATCH": smatch,
    "Unlabeled F1": unlabeled,
    "No WSD F1": no_wsd,
    "Entity F1": entity,
}
"""The rows of the paper's tables, by name, as amrlib defines them."""

EXTENSIONS: dict[str, Callable[[str, str], Match | None]] = {
    "Unlabeled F1 (edges)": unlabeled_edges,
    "No WSD F1 (frames)": no_wsd_frames,
    "Entity F1 (names)": entity_names,
    "Concepts F1": concepts,
    "Negations F1": negations,
    "Reentrancies F1": reentrancies,
    "SRL F1": srl,
}
"""Corrected variants of the paper's rows, and further sub-scores; null where neither graph has what is compared."""

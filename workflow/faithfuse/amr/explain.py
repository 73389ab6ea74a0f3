"""Why two graphs score what they score: the alignment, and the triples that match, miss or are extra."""

from __future__ import annotations

from typing import NamedTuple

from faithfuse.amr.smatch import smatch_alignment
from faithfuse.amr.triples import Triples, read_triples


class Explanation(NamedTuple):
    """`aligned` are (left node, right node); the triples are written as `role(source, target)`."""

    aligned: list[tuple[str, str]]
    unaligned_left: list[str]
    unaligned_right: list[str]
    matched: list[str]
    missing: list[str]
    extra: list[str]


def explain(a: str, b: str) -> Explanation:
    """Split the triples of a judged graph `a` and a reference `b` by the alignment that Smatch counts by.

    `matched` are triples of both, `missing` of the reference alone, `extra` of the judged graph alone; the number of
    matched triples is Smatch's.
    """
    left, right = read_triples(a), read_triples(b)
    mapping = smatch_alignment(a, b).mapping
    image = {i: j for i, j in enumerate(mapping) if j >= 0}
    names = [f"{variable}/{concept}" for variable, concept in zip(right.variables, right.concepts, strict=True)]
    own = [f"{variable}/{concept}" for variable, concept in zip(left.variables, left.concepts, strict=True)]
    left_names = [names[image[i]] if i in image else f"{own[i]} (left)" for i in range(len(own))]
    left_triples = _triples(left)
    right_keys = {key for key, _, _ in _triples(right)}
    matched, extra, found = [], [], set()
    for key, source, target in left_triples:
        moved = (key[0], *(image.get(part, ("left", part)) if isinstance(part, int) else part for part in key[1:]))
        text = _write(key[0], left_names, source, target)
        if moved in right_keys:
            matched.append(text)
            found.add(moved)
        else:
            extra.append(text)
    missing = [_write(key[0], names, source, target) for key, source, target in _triples(right) if key not in found]
    used = set(image.values())
    return Explanation(
        [(own[i], names[j]) for i, j in image.items()],
        [own[i] for i in range(len(own)) if i not in image],
        [names[j] for j in range(len(names)) if j not in used],
        sorted(matched),
        sorted(missing),
        sorted(extra),
    )


def _triples(graph: Triples) -> list[tuple[tuple, int, int | str]]:
    found: list[tuple[tuple, int, int | str]] = []
    for node, concept in enumerate(graph.concepts):
        found.append((("instance", node, concept), node, concept))
    for role, node, value in graph.attributes:
        found.append(((role, node, value), node, value))
    for role, source, target in graph.edges:
        found.append(((role, source, target), source, target))
    return found


def _write(role: str, names: list[str], source: int, target: int | str) -> str:
    end = names[target] if isinstance(target, int) else target
    return f"{role}({names[source]}, {end})"

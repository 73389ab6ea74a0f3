"""The problem behind Smatch: which node pairs and edge pairs of two graphs can match, and what each is worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from faithfuse.amr.triples import Triples


class NodePairs:
    """Node pairs with their own worth, and edge pairs that are worth a triple when both their ends are aligned.

    A node pair is numbered p; `rows[p]` and `columns[p]` are its nodes, `worth[p]` counts equal concepts and
    attributes. Edge pair e joins the node pairs `first[e]` (sources) and `second[e]` (targets), comes from the left
    edge `left_edge[e]` and the right edge `right_edge[e]`, and is worth `gain[e]` triples.
    """

    def __init__(
        self, shape: tuple[int, int], rows, columns, worth, first, second, left_edge, right_edge, gain
    ) -> None:
        self.n_left, self.n_right = shape
        self.size = len(rows)
        self.rows, self.columns, self.worth = rows, columns, worth
        self.first, self.second, self.gain = first, second, gain
        self.left_edge, self.right_edge = left_edge, right_edge
        self.number = np.full(shape, -1, dtype=np.intp)  # of the pair of two nodes, -1 if nothing can match there
        self.number[rows, columns] = np.arange(self.size)

    @classmethod
    def of(cls, left: Triples, right: Triples) -> NodePairs:
        """The problem of two graphs."""
        worth: dict[tuple[int, int], int] = defaultdict(int)
        places: dict[object, list[tuple[int, int]]] = defaultdict(list)
        for node, concept in enumerate(right.concepts):
            places[concept].append((node, 1))
        for (role, node, value), count in _counted(right.attributes).items():
            places[role, value].append((node, count))
        for node, concept in enumerate(left.concepts):
            for other, _ in places[concept]:
                worth[node, other] += 1
        for (role, node, value), count in _counted(left.attributes).items():
            for other, other_count in places[role, value]:
                worth[node, other] += min(count, other_count)

        by_role: dict[str, list[tuple[int, int, int, int]]] = defaultdict(list)
        for number, ((role, source, target), count) in enumerate(_counted(right.edges).items()):
            by_role[role].append((number, source, target, count))
        edge_pairs: list[tuple[tuple[int, int], tuple[int, int], int, int, int]] = []
        for number, ((role, source, target), count) in enumerate(_counted(left.edges).items()):
            for other, other_source, other_target, other_count in by_role[role]:
                both = min(count, other_count)
                if source != target and other_source != other_target:
                    ends = (source, other_source), (target, other_target)
                    edge_pairs.append((*ends, number, other, both))
                elif source == target and other_source == other_target:
                    worth[source, other_source] += both

        pairs = sorted(set(worth).union(*({edge[0], edge[1]} for edge in edge_pairs)))
        index = {pair: number for number, pair in enumerate(pairs)}
        n_pairs, n_edges = len(pairs), len(edge_pairs)
        return cls(
            (len(left.concepts), len(right.concepts)),
            np.fromiter((pair[0] for pair in pairs), np.intp, n_pairs),
            np.fromiter((pair[1] for pair in pairs), np.intp, n_pairs),
            np.fromiter((worth.get(pair, 0) for pair in pairs), float, n_pairs),
            np.fromiter((index[edge[0]] for edge in edge_pairs), np.intp, n_edges),
            np.fromiter((index[edge[1]] for edge in edge_pairs), np.intp, n_edges),
            np.fromiter((edge[2] for edge in edge_pairs), np.intp, n_edges),
            np.fromiter((edge[3] for edge in edge_pairs), np.intp, n_edges),
            np.fromiter((edge[4] for edge in edge_pairs), float, n_edges),
        )

    def restricted(self, kept: np.ndarray) -> tuple[NodePairs, np.ndarray]:
        """The problem without the pairs that are not `kept`, and which edge pairs are left."""
        number = np.cumsum(kept) - 1
        edges = kept[self.first] & kept[self.second]
        problem = NodePairs(
            (self.n_left, self.n_right),
            self.rows[kept],
            self.columns[kept],
            self.worth[kept],
            number[self.first[edges]],
            number[self.second[edges]],
            self.left_edge[edges],
            self.right_edge[edges],
            self.gain[edges],
        )
        return problem, edges


def _counted(triples: Sequence[tuple]) -> dict[tuple, int]:
    counts: dict[tuple, int] = {}
    for triple in triples:
        counts[triple] = counts.get(triple, 0) + 1
    return counts

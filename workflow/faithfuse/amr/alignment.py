"""The best one-to-one alignment of two graphs' nodes, with proof.

Smatch (Cai and Knight 2013) is the largest number of triples that an alignment of the nodes makes equal. Finding it
is a quadratic assignment; here it is solved in three steps, each tried only if the one before leaves a gap:

1. an upper bound from a linear assignment (each edge pair's worth is split over its two ends) and a lower bound from
   that assignment, improved by hill climbing; equal bounds are a proof;
2. the split is moved between the ends by subgradient steps (a Lagrangian dual in the manner of Klau 2009), which
   lowers the upper bound and proposes more alignments;
3. the integer program of the whole problem, by SciPy's HiGHS, with a time limit.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp
from scipy.sparse import coo_array, csr_array

from faithfuse.amr.triples import Triples

_DUAL_ROUNDS = 60
_STAGES = 8
_SMALL = 200
_NODES = 2000
_SLACK = 1e-6  # bounds are sums of floats; a whole number is reached within this


class Alignment(NamedTuple):
    """The best node alignment found: `mapping[i]` is the right node of left node i, or -1.

    `matched` triples agree under it; no alignment has more than `bound`; they are equal when it is proven best.
    """

    mapping: tuple[int, ...]
    matched: int
    bound: int

    @property
    def proven(self) -> bool:
        return self.matched == self.bound


def align(left: Triples, right: Triples, *, time_limit: float = 10.0) -> Alignment:
    """Align the nodes of two graphs so that as many triples as possible agree.

    Args:
        left: one graph.
        right: the other graph.
        time_limit: seconds that the integer program may take; when they run out the alignment is the best one
            found, and `bound` says how far from the best it can be.
    """
    problem = _Problem.of(left, right)
    search = _Search(problem)
    # Long graphs get more rounds on what is left of the problem, as long as rounds still take pairs out of it.
    for _ in range(_STAGES):
        if not problem.size or not search.gap:
            break
        search.lagrange(_DUAL_ROUNDS)
        before = problem.size
        search.shrink()
        problem = search.problem
        if before < _SMALL or problem.size > 0.95 * before:
            break
    if search.gap and problem.size:
        _integer_program(search, time_limit)
    mapping = [-1] * len(left.concepts)
    for row, column in search.best:
        mapping[row] = column
    return Alignment(tuple(mapping), search.matched, search.bound)


class _Problem:
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

    def restricted(self, kept: np.ndarray) -> tuple[_Problem, np.ndarray]:
        """The problem without the pairs that are not `kept`, and which edge pairs are left."""
        number = np.cumsum(kept) - 1
        edges = kept[self.first] & kept[self.second]
        problem = _Problem(
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

    @classmethod
    def of(cls, left: Triples, right: Triples) -> _Problem:
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


def _counted(triples: Sequence[tuple]) -> dict[tuple, int]:
    counts: dict[tuple, int] = {}
    for triple in triples:
        counts[triple] = counts.get(triple, 0) + 1
    return counts


class _Search:
    """The best alignment so far (`best`, node pairs worth `matched`) and the least upper bound."""

    def __init__(self, problem: _Problem) -> None:
        self.best: list[tuple[int, int]] = []
        self.matched = 0
        self.bound = int(problem.worth.sum() + problem.gain.sum())
        self.lowest = math.inf  # the least value of the dual on the present problem, and where it was
        self._take_up(problem, problem.gain / 2)

    def _take_up(self, problem: _Problem, share: np.ndarray) -> None:
        self.problem = problem
        self.share = share  # how much of an edge pair's worth counts at its first end
        self.best_share = share
        self.neighbours: list[list[tuple[int, float]]] = [[] for _ in range(problem.size)]
        for first, second, gain in zip(
            problem.first.tolist(), problem.second.tolist(), problem.gain.tolist(), strict=True
        ):
            self.neighbours[first].append((second, gain))
            self.neighbours[second].append((first, gain))
        self.ends = _EdgeEnds(problem)
        self.lowest = math.inf

    @property
    def gap(self) -> int:
        return self.bound - self.matched

    def _relaxed(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, np.ndarray, np.ndarray]:
        """The assignment that the split of worth allows: its profits, columns, value, and the edge pairs it uses."""
        problem = self.problem
        local, chosen_first, chosen_second = self.ends.best(share)
        profit = np.zeros((problem.n_left, problem.n_right))
        profit[problem.rows, problem.columns] = problem.worth + local
        row, column = linear_sum_assignment(profit, maximize=True)
        numbers = problem.number[row, column]
        return profit, numbers[numbers >= 0], float(profit[row, column].sum()), chosen_first, chosen_second

    def lagrange(self, rounds: int) -> None:
        """Lower the upper bound by moving worth between the two ends of edge pairs; try each assignment met."""
        problem, scale, stale = self.problem, 1.0, 0
        for _ in range(rounds):
            _, active, value, chosen_first, chosen_second = self._relaxed(self.share)
            self.bound = min(self.bound, max(self.matched, math.floor(value + _SLACK)))
            stale = stale + 1 if value > self.lowest - 1e-3 else 0
            if value < self.lowest:
                self.lowest, self.best_share = value, self.share.copy()
            self.climb(active.tolist())
            self.bound = max(self.bound, self.matched)
            if not self.gap:
                return
            if stale >= 5:
                scale, stale = scale / 2, 0
            picked = np.zeros(problem.size, dtype=bool)
            picked[active] = True
            slope = (chosen_first & picked[problem.first]).astype(float)
            slope -= chosen_second & picked[problem.second]
            norm = float(np.abs(slope).sum())  # the squared length of a vector of -1, 0 and 1
            if norm == 0:
                return  # the two ends agree: the bound cannot be lowered this way
            self.share = self.share - scale * (value - self.matched) / norm * slope

    def shrink(self) -> None:
        """Take out the node pairs that no alignment better than the best found can contain (reduced costs)."""
        problem = self.problem
        profit, _, value, _, _ = self._relaxed(self.best_share)
        kept = value - _reduced_costs(profit)[problem.rows, problem.columns] >= self.matched + 1 - _SLACK
        if kept.all():
            return
        smaller, edges = problem.restricted(kept)
        self._take_up(smaller, self.best_share[edges])
        if not smaller.size:
            self.bound = self.matched

    def climb(self, active: list[int]) -> None:
        """Improve an alignment by the best move until none helps; keep it if it is the best so far.

        A move aligns a pair of nodes; if both are in use, their former partners are aligned with each other.
        """
        problem, neighbours = self.problem, self.neighbours
        rows, columns, number = problem.rows, problem.columns, problem.number
        score = np.append(problem.worth, 0.0)  # worth of each pair given the pairs in use; a last 0 for "no pair"
        at_row = np.full(problem.n_left, -1)
        at_column = np.full(problem.n_right, -1)

        def put(pair: int) -> float:
            at_row[rows[pair]] = at_column[columns[pair]] = pair
            for other, gain in neighbours[pair]:
                score[other] += gain
            return score[pair]

        def take(pair: int) -> float:
            at_row[rows[pair]] = at_column[columns[pair]] = -1
            for other, gain in neighbours[pair]:
                score[other] -= gain
            return score[pair]

        total = sum(put(pair) for pair in active)
        while True:
            here, there = at_row[rows], at_column[columns]
            both = (here >= 0) & (there >= 0)
            back = np.where(both, number[rows[there], columns[here]], -1)
            gained = score[:-1] + score[back] - score[here] - score[there]
            gained[here == there] += np.where(here[here == there] >= 0, -math.inf, 0.0)
            pair = int(gained.argmax())
            if gained[pair] <= _SLACK:
                break
            old = [int(p) for p in (here[pair], there[pair]) if p >= 0]
            swapped = int(back[pair])
            total -= sum(take(p) for p in old)
            total += put(pair)
            if swapped >= 0:
                total += put(swapped)
        if round(total) > self.matched:
            self.matched = round(total)
            used = at_row[at_row >= 0]
            self.best = [(int(rows[p]), int(columns[p])) for p in used]


def _reduced_costs(profit: np.ndarray) -> np.ndarray:
    """How much the best assignment loses at least if it has to contain a pair.

    Potentials of the optimal assignment by Bellman-Ford on the square matrix: with them, every pair's profit is at
    most the sum of its row's and its column's potential, and exactly that on the assignment.
    """
    size = max(profit.shape)
    square = np.zeros((size, size))
    square[: profit.shape[0], : profit.shape[1]] = profit
    row, column = linear_sum_assignment(square, maximize=True)
    own = square[row, column]
    column_potential = np.zeros(size)
    difference = square - own[:, None]
    for _ in range(size):
        new = (difference + column_potential[column][:, None]).max(axis=0)
        if (new <= column_potential + 1e-9).all():
            break
        column_potential = np.maximum(new, column_potential)
    row_potential = own - column_potential[column]
    costs = row_potential[:, None] + column_potential[None, :] - square
    return np.maximum(costs, 0.0)[: profit.shape[0], : profit.shape[1]]


class _EdgeEnds:
    """For each node pair, an upper bound of what its own edges add.

    The edges at the pair's left node are assigned to the edges at its right node, role by role and direction by
    direction; the bound is the smaller of "each left edge takes its best partner" and "each right edge does".
    """

    def __init__(self, problem: _Problem) -> None:
        self.problem = problem
        n = len(problem.gain)
        pair = np.concatenate([problem.first, problem.second])
        direction = np.repeat([0, 1], n)
        left, right = np.tile(problem.left_edge, 2), np.tile(problem.right_edge, 2)
        self.n = n
        self.sides = [self._side(pair, direction, edge) for edge in (left, right)]

    @staticmethod
    def _side(pair, direction, edge) -> tuple:
        order = np.lexsort((edge, direction, pair))
        key = np.stack([pair[order], direction[order], edge[order]])
        starts = np.flatnonzero(np.r_[True, (key[:, 1:] != key[:, :-1]).any(axis=0)]) if len(order) else order
        return order, starts, key[0][starts] if len(order) else order

    def best(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The bound of each node pair, and which edge pairs reach it at their first and second ends."""
        size, n = self.problem.size, self.n
        if not n:
            nothing = np.zeros(0, dtype=bool)
            return np.zeros(size), nothing, nothing
        value = np.concatenate([share, self.problem.gain - share])
        totals, choices = [], []
        for order, starts, owner in self.sides:
            ordered = value[order]
            top = np.maximum(np.maximum.reduceat(ordered, starts), 0.0)
            totals.append(np.bincount(owner, weights=top, minlength=size))
            spread = np.repeat(top, np.diff(np.r_[starts, len(order)]))
            hit = (ordered >= spread) & (ordered > 0)
            # one partner an edge: the first that reaches the top
            position = np.flatnonzero(hit)
            group = np.searchsorted(starts, position, side="right")
            keep = position[np.r_[True, group[1:] != group[:-1]]] if len(position) else position
            chosen = np.zeros(2 * n, dtype=bool)
            chosen[order[keep]] = True
            choices.append(chosen)
        by_left = totals[0] <= totals[1]
        pair = np.concatenate([self.problem.first, self.problem.second])
        chosen = np.where(by_left[pair], choices[0], choices[1])
        return np.where(by_left, totals[0], totals[1]), chosen[:n], chosen[n:]


def _integer_program(search: _Search, time_limit: float) -> None:
    """Solve the problem whole: binary node pairs, continuous edge pairs bounded by the node pairs they need.

    Each node is used once; of the edge pairs of one left edge with one image of its source (or target), and the
    same of one right edge, at most one counts, and only if that image is chosen.
    """
    begun = time.monotonic()
    problem = search.problem
    n_pairs, n_edges = problem.size, len(problem.gain)
    entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    limits: list[np.ndarray] = []
    height = 0
    for nodes in (problem.rows, problem.columns):
        entries.append((nodes + height, np.arange(n_pairs), np.ones(n_pairs)))
        count = int(nodes.max()) + 1
        limits.append(np.ones(count))
        height += count
    for end in (problem.first, problem.second):
        for edge in (problem.left_edge, problem.right_edge):
            keys, row = np.unique(np.stack([end, edge]), axis=1, return_inverse=True)
            row = row.ravel() + height
            entries.append((row, np.arange(n_edges) + n_pairs, np.ones(n_edges)))
            count = keys.shape[1]
            entries.append((np.arange(count) + height, keys[0], -np.ones(count)))
            limits.append(np.zeros(count))
            height += count
    row = np.concatenate([entry[0] for entry in entries])
    column = np.concatenate([entry[1] for entry in entries])
    value = np.concatenate([entry[2] for entry in entries])
    matrix = csr_array(coo_array((value, (row, column)), shape=(height, n_pairs + n_edges)))
    result = milp(
        -np.concatenate([problem.worth, problem.gain]),
        integrality=np.concatenate([np.ones(n_pairs), np.zeros(n_edges)]),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, ub=np.concatenate(limits)),
        # the optimum is a whole number, so a gap below one is a proof
        options={"time_limit": time_limit, "node_limit": _NODES, "mip_rel_gap": 0.999 / max(search.bound, 1)},
    )
    if result.status == 1 and time.monotonic() - begun >= time_limit:
        return  # how far the solver came depends on the machine; what was found before does not
    if result.mip_dual_bound is not None and math.isfinite(result.mip_dual_bound):
        search.bound = min(search.bound, max(search.matched, math.floor(-result.mip_dual_bound + 1e-4)))
    elif result.status == 2:  # nothing better: the constraint of a better alignment cannot be met
        search.bound = search.matched
    if result.x is not None:
        search.climb(np.flatnonzero(result.x[:n_pairs] > 0.5).tolist())

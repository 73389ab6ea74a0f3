"""The best one-to-one alignment of two graphs' nodes, with proof.

Smatch (Cai and Knight 2013) is the largest number of triples that an alignment of the nodes makes equal. Finding it
is a quadratic assignment. Upper bounds come from a Lagrangian dual (`dual.py`), lower bounds from local search
(`climb.py`); when they meet, the alignment is proven best. Node pairs that no better alignment can contain are taken
out as the bounds close in. What is left open at the end goes to the integer program, by SciPy's HiGHS.

All limits count work, not seconds: the result does not depend on the machine. A wall clock can be set as a guard.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array

from faithfuse.amr.climb import Climber
from faithfuse.amr.dual import Dual, Relaxed
from faithfuse.amr.node_pairs import NodePairs
from faithfuse.amr.triples import Triples

WORK_LIMIT = 200
"""Millions of numbers that one alignment's bounds may look at: about 15 seconds."""

_LEVELS = 20  # levelling steps before each descent
_DESCENT = 50  # steps of the first descent
_CLIMB_EVERY = 8
_TRIES = 20  # local searches after the first descent; twice as many after each further one
_MOST_TRIES = 160
_TRIES_WORK = 600_000  # as many node pairs may all the searches after one descent look at
_STUCK = 0.05  # of the distance to a proof: less progress than this, and the next descent is longer
_PROGRAM_SIZE = 20_000  # node pairs and edge pairs that the integer program takes
_PROGRAM_NODES = 400


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


def align(
    left: Triples, right: Triples, *, work_limit: float = WORK_LIMIT, time_limit: float | None = None
) -> Alignment:
    """Align the nodes of two graphs so that as many triples as possible agree.

    Args:
        left: one graph.
        right: the other graph.
        work_limit: how much work the bounds may take, see `WORK_LIMIT`. When it is used up and the integer program
            gives no proof either, the alignment is the best one found, and `bound` is the most that any can match.
        time_limit: stop after so many seconds. The result of a pair that is stopped so depends on the machine.
    """
    search = _Search(NodePairs.of(left, right), work_limit * 1e6, time_limit)
    search.run()
    mapping = [-1] * len(left.concepts)
    for row, column in search.best:
        mapping[row] = column
    return Alignment(tuple(mapping), search.matched, search.bound)


class _Search:
    """The best alignment so far (`best`, node pairs worth `matched`) and the least upper bound."""

    def __init__(self, problem: NodePairs, work: float, seconds: float | None) -> None:
        self.problem = problem
        self.best: list[tuple[int, int]] = []
        self.matched = 0
        self.bound = int(problem.worth.sum() + problem.gain.sum())
        self._climber = Climber(problem)
        self._work = work
        self._until = math.inf if seconds is None else time.monotonic() + seconds

    @property
    def gap(self) -> int:
        return self.bound - self.matched

    def run(self) -> None:
        """Close the gap, or come as near as the limits allow."""
        if not self.gap:
            return
        dual = Dual(self.problem)
        self._take_in(dual.first_bound())
        descent, turn = _DESCENT, 0
        while self.gap and self._may_go_on():
            before = dual.value
            self._lower(dual, descent)
            if not self.gap:
                return
            self._wander(turn)
            turn += 1
            kept = dual.value - dual.losses() >= self.matched + 1
            if not kept.any():
                self.bound = self.matched
                return
            shrunk = kept.mean() < 0.9
            if shrunk:
                dual = self._take_up(dual, kept)
            if before - dual.value < _STUCK * (dual.value - self.matched) and not shrunk:
                if descent >= (4 if self._fits_program() else 16) * _DESCENT:
                    break
                descent *= 2
        if self.gap and self._fits_program() and time.monotonic() < self._until:
            self._solve_program()

    def _fits_program(self) -> bool:
        return self.problem.size + len(self.problem.gain) <= _PROGRAM_SIZE

    def _lower(self, dual: Dual, descent: int) -> None:
        """Level the split, then descend; look at each bound and, now and then, climb from the assignment."""
        if math.isfinite(dual.value):
            dual.back_to_best()
        for step in range(_LEVELS + descent):
            if step == _LEVELS:
                dual.back_to_best()
            relaxed = dual.level() if step < _LEVELS else dual.descend(self.matched)
            self._work -= dual.work
            if relaxed is None:
                return
            self._take_in(relaxed, climb=step % _CLIMB_EVERY == 0)
            if not self.gap or not self._may_go_on():
                return

    def _take_in(self, relaxed: Relaxed, *, climb: bool = True) -> None:
        if climb:
            self._keep(*self._climber.climb(relaxed.active))
        self.bound = max(self.matched, min(self.bound, math.floor(relaxed.value)))

    def _keep(self, worth: int, active: np.ndarray) -> None:
        if worth > self.matched:
            self.matched = worth
            self.best = list(
                zip(self.problem.rows[active].tolist(), self.problem.columns[active].tolist(), strict=True)
            )

    def _wander(self, turn: int) -> None:
        numbers = [int(self.problem.number[pair]) for pair in self.best]
        # a pair of the best alignment that has been taken out cannot be in a better one
        active = [number for number in numbers if number >= 0]
        tries = max(1, min(_TRIES << min(turn, 10), _MOST_TRIES, _TRIES_WORK // self.problem.size))
        if len(active) == len(numbers):
            self._keep(*self._climber.wander(active, self.matched, self.bound, tries, turn))
        self._work -= tries * 10 * self.problem.size

    def _take_up(self, dual: Dual, kept: np.ndarray) -> Dual:
        value = dual.value
        smaller = dual.restricted(kept)
        smaller.value = value
        self.problem = smaller.problem
        self._climber = Climber(self.problem)
        return smaller

    def _may_go_on(self) -> bool:
        return self._work > 0 and time.monotonic() < self._until

    def _solve_program(self) -> None:
        """Solve what is left whole: binary node pairs, continuous edge pairs bounded by the node pairs they need.

        Each node is used once; of the edge pairs of one left edge with one image of its source (or target), and the
        same of one right edge, at most one counts, and only if that image is chosen.
        """
        problem = self.problem
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
        row, column, value = (np.concatenate([entry[part] for entry in entries]) for part in range(3))
        matrix = csr_array(coo_array((value, (row, column)), shape=(height, n_pairs + n_edges)))
        # the optimum is a whole number, so a gap below one is a proof
        options: dict[str, float] = {"node_limit": _PROGRAM_NODES, "mip_rel_gap": 0.999 / max(self.bound, 1)}
        if math.isfinite(self._until):
            options["time_limit"] = max(self._until - time.monotonic(), 0.01)
        result = milp(
            -np.concatenate([problem.worth, problem.gain]),
            integrality=np.concatenate([np.ones(n_pairs), np.zeros(n_edges)]),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(matrix, ub=np.concatenate(limits)),
            options=options,
        )
        if result.x is not None:
            self._keep(*self._climber.climb(np.flatnonzero(result.x[:n_pairs] > 0.5)))
        if result.mip_dual_bound is not None and math.isfinite(result.mip_dual_bound):
            self.bound = min(self.bound, max(self.matched, math.floor(-result.mip_dual_bound + 1e-4)))
        self.bound = max(self.bound, self.matched)

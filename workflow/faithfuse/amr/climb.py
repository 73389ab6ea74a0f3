"""Lower bounds of what an alignment can match: local search."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from faithfuse.amr.node_pairs import NodePairs

_KICK = 3


class Climber:
    """Improves alignments of one problem by the best move until none helps.

    A move aligns a pair of nodes; if both are in use, their former partners are aligned with each other.
    """

    def __init__(self, problem: NodePairs) -> None:
        self.problem = problem
        ends = np.concatenate([problem.first, problem.second])
        order = np.argsort(ends, kind="stable")
        self._other = np.concatenate([problem.second, problem.first])[order]
        self._gain = np.concatenate([problem.gain, problem.gain])[order]
        self._offset = np.searchsorted(ends[order], np.arange(problem.size + 1)).tolist()

    def climb(self, active: Iterable[int]) -> tuple[int, np.ndarray]:
        """The worth of the alignment at the top of the hill that `active` (numbers of node pairs) is on, and itself."""
        state = _State(self, active)
        state.climb()
        return round(state.total), state.active()

    def wander(self, active: Iterable[int], worth: int, bound: int, tries: int, seed: int) -> tuple[int, np.ndarray]:
        """Search around an alignment: align the ends of a few edge pairs taken at random, climb, keep what is no worse.

        Args:
            active: numbers of the node pairs in use.
            worth: what they are worth.
            bound: stop at this worth.
            tries: how many times.
            seed: other seeds make other choices; the same makes the same in every run.
        """
        problem = self.problem
        best = np.fromiter(active, dtype=np.intp)
        if not len(problem.gain):
            return worth, best
        random = np.random.default_rng(seed)
        for _ in range(tries):
            state = _State(self, best)
            for edge in random.integers(len(problem.gain), size=int(random.integers(1, _KICK + 1))):
                state.align(int(problem.first[edge]))
                state.align(int(problem.second[edge]))
            state.climb()
            if round(state.total) >= worth:
                worth, best = round(state.total), state.active()
                if worth >= bound:
                    break
        return worth, best


class _State:
    """An alignment, and the worth of each node pair given the others in use."""

    def __init__(self, climber: Climber, active: Iterable[int]) -> None:
        self._climber, problem = climber, climber.problem
        self._rows, self._columns, self._number = problem.rows, problem.columns, problem.number
        self._score = np.append(problem.worth, 0.0)  # a last 0 for "no pair"
        self._at_row = np.full(problem.n_left, -1)
        self._at_column = np.full(problem.n_right, -1)
        self.total = 0.0
        for pair in active:
            self._put(int(pair))

    def active(self) -> np.ndarray:
        """The numbers of the node pairs in use, by their left nodes."""
        return self._at_row[self._at_row >= 0]

    def align(self, pair: int) -> None:
        """Align the two nodes of a pair; their former partners stay alone."""
        row, column = self._rows[pair], self._columns[pair]
        here, there = int(self._at_row[row]), int(self._at_column[column])
        if here == pair:
            return
        for old in (here, there):
            if old >= 0:
                self._take(old)
        self._put(pair)

    def climb(self) -> None:
        """Make the best move until none helps."""
        rows, columns, number, score = self._rows, self._columns, self._number, self._score
        if not len(rows):
            return
        while True:
            here, there = self._at_row[rows], self._at_column[columns]
            back = np.where((here >= 0) & (there >= 0), number[rows[there], columns[here]], -1)
            gained = score[:-1] + score[back] - score[here] - score[there]
            gained[(here == there) & (here >= 0)] = -math.inf
            pair = int(gained.argmax())
            if gained[pair] <= 0:
                return
            swapped = int(back[pair])
            self.align(pair)
            if swapped >= 0:
                self._put(swapped)

    def _put(self, pair: int) -> None:
        self._at_row[self._rows[pair]] = self._at_column[self._columns[pair]] = pair
        self.total += self._score[pair]
        self._change(pair, 1)

    def _take(self, pair: int) -> None:
        self._at_row[self._rows[pair]] = self._at_column[self._columns[pair]] = -1
        self._change(pair, -1)
        self.total -= self._score[pair]

    def _change(self, pair: int, sign: int) -> None:
        climber = self._climber
        near = slice(climber._offset[pair], climber._offset[pair + 1])
        np.add.at(self._score, climber._other[near], sign * climber._gain[near])

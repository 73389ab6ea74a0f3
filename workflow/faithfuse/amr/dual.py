"""Upper bounds of what an alignment can match: a Lagrangian dual of the integer program.

Each edge pair's worth is split into four shares: one at each of its two node pairs, under its left edge and under its
right edge (a left edge can match only one right edge, and the other way round). Given a split, a node pair brings its
own worth and, of each edge at it, the largest positive share; the best assignment of nodes by these profits bounds
every alignment. The split with the least bound gives the bound of the linear relaxation of the program.

Two steps lower the bound. `level` moves worth from shares that count to shares of the same edge pair that could grow
without counting: the bound never rises, all shares move at once, but the steps can stick (block-coordinate ascent, as
in Swoboda and others 2017). `descend` steps along a subgradient (Polyak's step, with the deflection of Camerini,
Fratta and Maffioli 1975), which is slower and does not stick.

Shares are whole multiples of 2⁻²⁰, so all sums and differences are exact: bounds hold to the last bit, and do not
depend on the machine.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from faithfuse.amr.node_pairs import NodePairs

_GRID = 2.0**20
_DEFLECTION = 1.5
_PATIENCE = 25


class Relaxed(NamedTuple):
    """The best assignment by the profits of a split: its value, and the numbers of the node pairs in it."""

    value: float
    active: np.ndarray


class Dual:
    """A split of all edge pairs' worth; `value` is the least bound met so far."""

    def __init__(self, problem: NodePairs, shares: np.ndarray | None = None) -> None:
        self.problem = problem
        size = problem.size
        ends = (problem.first, problem.first, problem.second, problem.second)
        edges = (problem.left_edge, problem.right_edge) * 2
        self._families = [_Family(end, edge, size) for end, edge in zip(ends, edges, strict=True)]
        self._ends = ends
        self._shares = np.repeat(problem.gain[None] / 4, 4, axis=0) if shares is None else shares
        self._best = self._shares
        self._scale, self._stale = 1.0, 0
        self._direction = np.zeros_like(self._shares)
        self.value = np.inf

    @cached_property
    def _groups(self) -> np.ndarray:
        return np.maximum(sum(family.count for family in self._families), 1)

    @property
    def work(self) -> int:
        """What one step costs: about so many numbers are looked at."""
        problem = self.problem
        return problem.size + len(problem.gain) + problem.n_left * problem.n_right

    def first_bound(self) -> Relaxed:
        """A bound without any step: a node pair's edges bring the lesser of what their left and right sides allow."""
        half = self.problem.gain / 2
        by_side = [self._families[side].best(half) + self._families[side + 2].best(half) for side in (0, 1)]
        return self._assigned(self._profits(np.minimum(*by_side)))

    def level(self) -> Relaxed:
        """Bound of the present split; then let each edge pair's four shares have equal room to grow."""
        profits = self._profits(self._local())
        costs, value, active = reduced_costs(profits)
        self._remember(value)
        problem = self.problem
        spare = costs[problem.rows, problem.columns] / self._groups
        room = np.stack(
            [
                family.top_of_each() - share + spare[end]
                for family, share, end in zip(self._families, self._shares, self._ends, strict=True)
            ]
        )
        self._shares = self._moved(room - room.mean(axis=0))
        return Relaxed(value, self._numbers(active))

    def descend(self, target: int) -> Relaxed | None:
        """Bound of the present split; then a step towards `target`, the best known alignment's worth.

        None if the split cannot be improved.
        """
        relaxed = self._assigned(self._profits(self._local()))
        self._stale = 0 if self._remember(relaxed.value) else self._stale + 1
        if self._stale >= _PATIENCE:
            self._scale, self._stale = self._scale / 2, 0
        counting = [family.counting(relaxed.active) for family in self._families]
        direction = self._direction
        along = sum(float(direction[row, edges].sum()) for row, edges in enumerate(counting))
        length = float((direction * direction).sum())
        direction *= max(0.0, -_DEFLECTION * along / length) if length else 0.0
        for row, edges in enumerate(counting):
            direction[row, edges] += 1.0
            direction[:, edges] -= 0.25
        length = float((direction * direction).sum())
        if length == 0:
            return None
        self._shares = self._moved(direction * (-self._scale * (relaxed.value - target) / length))
        return relaxed

    def back_to_best(self) -> None:
        """Go on from the split of the least bound."""
        self._shares = self._best
        self._direction = np.zeros_like(self._shares)
        self._scale, self._stale = 1.0, 0

    def losses(self) -> np.ndarray:
        """How far below `value` every alignment with a given node pair must stay, at least."""
        self._shares = self._best
        costs, _, _ = reduced_costs(self._profits(self._local()), either=True)
        return costs[self.problem.rows, self.problem.columns]

    def restricted(self, kept: np.ndarray) -> Dual:
        """The best split, on the problem without the pairs that are not `kept`."""
        problem, edges = self.problem.restricted(kept)
        return Dual(problem, self._best[:, edges])

    def _remember(self, value: float) -> bool:
        better = value < self.value - 1e-3
        if value < self.value:
            self.value, self._best = value, self._shares
        return better

    def _local(self) -> np.ndarray:
        return sum(family.best(share) for family, share in zip(self._families, self._shares, strict=True))

    def _profits(self, local: np.ndarray) -> np.ndarray:
        problem = self.problem
        profits = np.zeros((problem.n_left, problem.n_right))
        profits[problem.rows, problem.columns] = problem.worth + local
        return profits

    def _assigned(self, profits: np.ndarray) -> Relaxed:
        rows, columns = linear_sum_assignment(profits, maximize=True)
        return Relaxed(float(profits[rows, columns].sum()), self._numbers((rows, columns)))

    def _numbers(self, assigned: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        numbers = self.problem.number[assigned]
        return numbers[numbers >= 0]

    def _moved(self, change: np.ndarray) -> np.ndarray:
        change = np.rint(change * _GRID) / _GRID
        change[3] = -change[:3].sum(axis=0)
        return self._shares + change


class _Family:
    """Edge pairs grouped by a node pair at one end and the edge of one graph: of each group, one at most can match."""

    # Most short pairs are settled by the first bound, so what later steps need is only made when they come.

    def __init__(self, end: np.ndarray, edge: np.ndarray, size: int) -> None:
        key = end * (int(edge.max()) + 1) + edge if len(edge) else edge
        self._order = np.argsort(key, kind="stable")
        key = key[self._order]
        self._new = np.ones(len(key), dtype=bool)
        np.not_equal(key[1:], key[:-1], out=self._new[1:])
        self._starts = self._new.nonzero()[0]
        self._end = end[self._order]
        self._owner = self._end[self._starts]
        self._size = size

    @cached_property
    def count(self) -> np.ndarray:
        """How many groups each node pair has."""
        return np.bincount(self._owner, minlength=self._size)

    @cached_property
    def _group(self) -> np.ndarray:
        return np.cumsum(self._new) - 1

    @cached_property
    def _group_of_edge(self) -> np.ndarray:
        group = np.empty(len(self._end), dtype=np.intp)
        group[self._order] = self._group
        return group

    @cached_property
    def _offset(self) -> np.ndarray:
        return np.searchsorted(self._end, np.arange(self._size + 1))

    def best(self, share: np.ndarray) -> np.ndarray:
        """For each node pair, the sum over its groups of the largest positive share."""
        self._ordered = share[self._order]
        if len(self._starts):
            self._top = np.maximum(np.maximum.reduceat(self._ordered, self._starts), 0.0)
        else:
            self._top = np.zeros(0)
        return np.bincount(self._owner, weights=self._top, minlength=self._size)

    def top_of_each(self) -> np.ndarray:
        """For each edge pair, the largest positive share in its group, as of the last `best`."""
        return self._top[self._group_of_edge]

    def counting(self, active: np.ndarray) -> np.ndarray:
        """The edge pairs that count at the node pairs in use, as of the last `best`: of equal ones, the first."""
        start = self._offset[active]
        length = self._offset[active + 1] - start
        place = np.arange(length.sum()) + np.repeat(start - (np.cumsum(length) - length), length)
        share, group = self._ordered[place], self._group[place]
        hit = (share > 0) & (share >= self._top[group])
        place, group = place[hit], group[hit]
        first = np.ones(len(place), dtype=bool)
        first[1:] = group[1:] != group[:-1]
        return self._order[place[first]]


def reduced_costs(
    profits: np.ndarray, *, either: bool = False
) -> tuple[np.ndarray, float, tuple[np.ndarray, np.ndarray]]:
    """How much the best assignment loses at least if it has to contain a pair; its value; and the assignment.

    With the potentials of an optimal assignment, every pair's profit is at most the sum of its row's and its column's
    potential, and exactly that on the assignment. Potentials are not unique: the ones that favour rows and the ones
    that favour columns are both made, and averaged, which leaves every pair some room; with `either`, the larger loss
    of the two is taken, which is the sharper bound of a single pair.

    Args:
        profits: profit of each (row, column); no assignment is forced, so 0 is the least worth taking.
        either: see above.
    """
    height, width = profits.shape
    size = max(height, width)
    square = np.zeros((size, size))
    square[:height, :width] = profits
    rows, columns = linear_sum_assignment(square, maximize=True)
    inverse = np.empty(size, dtype=np.intp)
    inverse[columns] = rows
    by_column = _slack(square, columns)
    by_row = _slack(square.T, inverse).T
    costs = np.maximum(by_column, by_row) if either else (by_column + by_row) / 2
    real = (rows < height) & (columns < width)
    value = float(square[rows, columns].sum())
    return costs[:height, :width], value, (rows[real], columns[real])


def _slack(square: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Row and column potentials less profit, with the least column potentials (Bellman–Ford from 0)."""
    own = square[np.arange(len(square)), columns]
    difference = square - own[:, None]
    column_potential = np.zeros(len(square))
    for _ in square:  # a longest path visits no node twice
        new = (difference + column_potential[columns][:, None]).max(axis=0)
        if (new <= column_potential).all():
            break
        column_potential = np.maximum(new, column_potential)
    row_potential = own - column_potential[columns]
    return row_potential[:, None] + column_potential[None, :] - square

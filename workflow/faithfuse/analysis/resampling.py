"""Weights of groups for the jackknife and the bootstrap, and the percentile interval.

A group left out, or drawn several times, is a row of weights; a statistic of weighted sums is then computed for
hundreds of them by a few matrix products.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

Method = Literal["jackknife", "bootstrap"]

MIN_GROUPS = 5
LEVEL = 0.95
# A resample in which a statistic is not defined has no value. Up to this share of them is tolerated.
MAX_UNDEFINED = 0.1
NO_SPREAD = 1e-9
_CHUNK = 256


@dataclass(frozen=True)
class Intervals:
    """How the interval of a correlation is made (docs/decisions/0502-intervals-and-tests.md).

    Attributes:
        method: `jackknife` leaves out each group in turn; `bootstrap` draws groups and takes percentiles.
        resamples: bootstrap draws.
        seed: of the draws; the same seed gives the same interval.
    """

    method: Method = "jackknife"
    resamples: int = 2000
    seed: int = 0

    def count(self, groups: int) -> int:
        """How many rows of weights there are for so many groups."""
        return groups if self.method == "jackknife" else self.resamples

    def weights(self, groups: int) -> Iterator[np.ndarray]:
        """Yield weights in chunks of shape (at most 256, groups)."""
        if self.method == "jackknife":
            return weights_without_each(groups)
        return group_weights(groups, self.resamples, self.seed)


JACKKNIFE = Intervals()


def weights_without_each(groups: int) -> Iterator[np.ndarray]:
    """Yield weights in chunks of shape (at most 256, groups): row i leaves group i out, every other weight is one."""
    for start in range(0, groups, _CHUNK):
        size = min(_CHUNK, groups - start)
        yield 1.0 - np.eye(size, groups, start)


def group_weights(groups: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """Yield bootstrap weights in chunks of shape (at most 256, groups): how often each group was drawn."""
    generator = np.random.default_rng(seed)
    for start in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - start)
        drawn = generator.integers(0, groups, size=(size, groups))
        drawn += np.arange(size)[:, None] * groups
        yield np.bincount(drawn.ravel(), minlength=size * groups).reshape(size, groups).astype(float)


def percentile_interval(drawn: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """The central `level` of values, such as those of many seeds."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_interval(drawn: np.ndarray, groups: int) -> tuple[float | None, float | None, str]:
    """95% percentile interval of a statistic from its bootstrap draws (Efron & Tibshirani 1993, section 13.3).

    Args:
        drawn: shape (resamples,): the statistic of each draw, NaN where it is not defined.
        groups: how many groups there were to draw from.

    Returns:
        Both ends, and an empty string or how many draws had no value; or None twice and the reason: fewer than
        `MIN_GROUPS` groups, more than `MAX_UNDEFINED` of the draws without a value, or the same value in all.
    """
    if groups < MIN_GROUPS:
        return None, None, f"no interval: {groups} groups, at least {MIN_GROUPS} needed"
    defined = drawn[~np.isnan(drawn)]
    undefined = len(drawn) - len(defined)
    missed = f"undefined in {undefined} of {len(drawn)} resamples"
    if undefined > MAX_UNDEFINED * len(drawn):
        return None, None, f"no interval: {missed}"
    if np.ptp(defined) <= NO_SPREAD:
        return None, None, "no interval: the same in every resample"
    return *percentile_interval(defined), missed if undefined else ""

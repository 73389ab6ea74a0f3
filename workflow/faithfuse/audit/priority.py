"""Review priority: the order in which people look (arXiv 2609.29145, section III-B). It never changes the endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

EQUAL_WEIGHTS = (0.2, 0.2, 0.2, 0.2, 0.2)
"""The paper's illustrative weights, in the order dQ, dI, dA, dM, dD."""
BLOCK = 8192
"""Rows at a time, so that a block stays in the processor's cache."""


def review_priority(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """The weighted sum of the five dimensions; null when any is missing, even at weight zero.

    Args:
        values: dQ, dI, dA, dM, dD, each in 0–1 or None.
        weights: their weights in the same order, summing to 1; so the priority lies in 0–1.
    """
    q, i, a, m, d = values
    if q is None or i is None or a is None or m is None or d is None:
        return None
    wq, wi, wa, wm, wd = weights
    # One fixed order of additions: the arrays below give the same bits.
    return float(wq * q + wi * i + wa * a + wm * m + wd * d)


def review_priorities(values: np.ndarray, weights: Sequence[float]) -> np.ndarray:
    """The priority of many tuples at once.

    Args:
        values: float array of shape (n, 5), columns dQ, dI, dA, dM, dD; NaN for missing.
        weights: the five weights, finite.

    Returns:
        Float array of shape (n,); NaN where any dimension is missing.

    Raises:
        ValueError: wrong shape, or a weight that is not finite.
    """
    import numpy as np

    values = np.asarray(values, dtype=np.float64)
    weights = np.asarray(weights, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 5 or weights.shape != (5,):
        raise ValueError("values must have shape (n, 5) and weights shape (5,)")
    if not np.isfinite(weights).all():
        raise ValueError("weights must be finite")
    total = np.empty(len(values))
    for start in range(0, len(values), BLOCK):
        block, part = values[start : start + BLOCK], total[start : start + BLOCK]
        np.multiply(block[:, 0], weights[0], out=part)  # 0 × NaN is NaN: missing stays missing at weight zero
        for column in range(1, 5):
            part += weights[column] * block[:, column]
    return total

"""Splits that never part a group and keep the spread of ratings on both sides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

STRATA = 5


def blind_split(y: np.ndarray, codes: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    """Choose blind rows: whole groups, the same fraction of the groups in every stratum of mean rating.

    Args:
        y: human value per row, shape (rows,).
        codes: group number per row, 0 to groups - 1.
        fraction: of the groups to be blind; at least one group is on each side.
        seed: of the choice.

    Returns:
        Shape (rows,), true for blind rows.

    Raises:
        ValueError: there are fewer than two groups.
    """
    groups = int(codes.max()) + 1
    if groups < 2:
        raise ValueError("a split needs at least two groups")
    order = _by_rating(y, codes, groups, np.random.default_rng(seed))
    wanted = min(max(round(fraction * groups), 1), groups - 1)
    blind = np.zeros(groups, dtype=bool)
    strata = np.array_split(order, min(STRATA, wanted))
    generator = np.random.default_rng([seed, 1])
    passed = taken = 0
    for stratum in strata:
        passed += len(stratum)
        share = round(wanted * passed / groups) - taken
        blind[generator.permutation(stratum)[:share]] = True
        taken += share
    return blind[codes]


def folds(y: np.ndarray, codes: np.ndarray, count: int, seed: int) -> Iterator[np.ndarray]:
    """Yield the test rows of each of `count` folds; every group is tested once, ratings spread over all folds."""
    groups = int(codes.max()) + 1
    count = min(count, groups)
    generator = np.random.default_rng(seed)
    order = _by_rating(y, codes, groups, generator)
    fold_of = np.empty(groups, dtype=int)
    for start in range(0, groups, count):
        block = order[start : start + count]
        fold_of[block] = generator.permutation(count)[: len(block)]
    for fold in range(count):
        yield fold_of[codes] == fold


def validation_bags(y: np.ndarray, codes: np.ndarray, bags: int, fraction: float, seed: int) -> np.ndarray:
    """Bags for early stopping that respect groups, as interpret takes them: shape (rows, bags), 1 train, -1 test."""
    result = np.ones((len(y), bags), dtype=np.int8)
    compact = np.unique(codes, return_inverse=True)[1]
    for bag in range(bags):
        result[blind_split(y, compact, fraction, seed * 1000 + bag), bag] = -1
    return result


def _by_rating(y: np.ndarray, codes: np.ndarray, groups: int, generator: np.random.Generator) -> np.ndarray:
    """Groups in the order of their mean rating, ties in random order."""
    mean = np.bincount(codes, weights=y, minlength=groups) / np.bincount(codes, minlength=groups)
    shuffled = generator.permutation(groups)
    return shuffled[np.argsort(mean[shuffled], kind="stable")]

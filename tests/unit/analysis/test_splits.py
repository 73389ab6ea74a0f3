"""Splits keep groups together and ratings spread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithfuse.analysis.splits import blind_split, folds, validation_bags

codes_of = st.lists(st.integers(0, 30), min_size=4, max_size=120).map(
    lambda values: np.unique(values, return_inverse=True)[1]
)


@settings(max_examples=60, deadline=None)
@given(codes=codes_of, fraction=st.floats(0.05, 0.95), seed=st.integers(0, 1000))
def test_a_group_is_never_on_both_sides(codes, fraction, seed):
    if codes.max() == 0:
        with pytest.raises(ValueError, match="two groups"):
            blind_split(np.ones(len(codes)), codes, fraction, seed)
        return
    y = np.random.default_rng(seed).integers(1, 6, len(codes)).astype(float)
    blind = blind_split(y, codes, fraction, seed)
    groups = codes.max() + 1
    assert set(codes[blind]).isdisjoint(codes[~blind])
    assert len(set(codes[blind])) == min(max(round(fraction * groups), 1), groups - 1)
    assert (blind_split(y, codes, fraction, seed) == blind).all()


@settings(max_examples=40, deadline=None)
@given(codes=codes_of, count=st.integers(2, 6), seed=st.integers(0, 1000))
def test_folds_test_every_row_once_and_never_part_a_group(codes, count, seed):
    y = np.random.default_rng(seed).normal(size=len(codes))
    tested = list(folds(y, codes, count, seed))
    assert (np.sum(tested, axis=0) == 1).all()
    for fold in tested:
        assert set(codes[fold]).isdisjoint(codes[~fold])


def test_blind_rows_have_the_ratings_of_all_rows():
    rng = np.random.default_rng(0)
    y = rng.integers(1, 6, 100).astype(float)
    worst = max(abs(y[blind_split(y, np.arange(100), 0.3, seed)].mean() - y.mean()) for seed in range(200))
    simple = max(abs(y[rng.permutation(100)[:30]].mean() - y.mean()) for _ in range(200))
    assert worst < 0.2 < simple


def test_validation_bags_differ_from_each_other():
    y = np.random.default_rng(0).normal(size=40)
    bags = validation_bags(y, np.arange(40), 4, 0.15, 0)
    assert bags.shape == (40, 4)
    assert (bags == -1).sum(0).tolist() == [6, 6, 6, 6]
    assert len({tuple(bag) for bag in bags.T}) == 4

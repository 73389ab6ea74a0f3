"""Endpoint and priority, one tuple at a time and as arrays."""

from __future__ import annotations

import math
import random
import time
import timeit
from itertools import product

import numpy as np
import pytest

from faithfuse.audit.endpoint import omission_endpoint, omission_endpoints
from faithfuse.audit.priority import EQUAL_WEIGHTS, review_priorities, review_priority

STATES = list(product((1, 0, None), repeat=4))


def test_only_an_adopted_material_undisclosed_relationship_is_an_omission():
    assert [state for state in STATES if omission_endpoint(*state) == 1] == [(1, 1, 1, 0)]


def test_incomplete_states_stay_unresolved_even_where_one_judgement_would_settle_them():
    assert omission_endpoint(0, None, None, None) is None
    assert sum(omission_endpoint(*state) is None for state in STATES) == 65


def test_arrays_give_what_single_tuples_give():
    coded = [[-1 if value is None else value for value in state] for state in STATES]
    columns = np.array(coded, dtype=np.int8).T
    wanted = [-1 if found is None else found for found in (omission_endpoint(*state) for state in STATES)]
    assert omission_endpoints(*columns).tolist() == wanted


@pytest.mark.parametrize("bad", [2, -2])
def test_arrays_refuse_other_values(bad):
    good = np.zeros(3, dtype=np.int8)
    with pytest.raises(ValueError, match="1, 0 or -1"):
        omission_endpoints(good, good, np.array([0, bad, 1], dtype=np.int8), good)


def test_arrays_refuse_other_types_and_shapes():
    good = np.zeros(3, dtype=np.int8)
    with pytest.raises(ValueError, match="int8"):
        omission_endpoints(good, good, good, np.zeros(3))
    with pytest.raises(ValueError, match="one shape"):
        omission_endpoints(good, good, good, np.zeros(2, dtype=np.int8))


def test_empty_arrays_are_fine():
    empty = np.zeros(0, dtype=np.int8)
    assert omission_endpoints(empty, empty, empty, empty).tolist() == []
    assert review_priorities(np.zeros((0, 5)), EQUAL_WEIGHTS).tolist() == []


def test_array_priorities_are_bit_for_bit_the_single_ones():
    rng = random.Random(0)
    rows = [[rng.choice((0, 1, None, rng.random())) for _ in range(5)] for _ in range(500)]
    weights = [rng.random() for _ in range(5)]
    found = review_priorities([[math.nan if v is None else v for v in row] for row in rows], weights).tolist()
    for row, value in zip(rows, found, strict=True):
        wanted = review_priority(row, weights)
        assert (wanted is None and math.isnan(value)) or wanted == value


def test_priority_is_unresolved_when_a_dimension_of_weight_zero_is_missing():
    assert review_priority((None, 1, 1, 1, 1), (0, 0.25, 0.25, 0.25, 0.25)) is None
    assert math.isnan(review_priorities([[math.nan, 1, 1, 1, 1]], (0, 0.25, 0.25, 0.25, 0.25))[0])


def test_the_array_endpoint_takes_less_than_20_ns_a_tuple():
    rng = np.random.default_rng(0)
    columns = [rng.integers(-1, 2, 1_000_000).astype(np.int8) for _ in range(4)]
    best = min(timeit.repeat(lambda: omission_endpoints(*columns), timer=time.process_time, number=1, repeat=7))
    assert best / 1_000_000 < 20e-9

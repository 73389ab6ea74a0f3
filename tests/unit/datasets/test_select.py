"""A draw depends on the ids and the seed alone, and keeps the strata in proportion."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from faithfuse.datasets.select import select
from faithfuse.datasets.unify import equal_parts

STRATA = st.dictionaries(st.text(min_size=1, max_size=6), st.sampled_from("abc"), min_size=1, max_size=60)


@given(STRATA, st.integers(1, 70), st.integers(0, 3))
def test_a_draw_has_the_size_asked_for_and_each_stratum_its_share(strata, size, seed):
    drawn = select(strata, size, seed)
    assert len(drawn) == min(size, len(strata))
    assert drawn <= set(strata)
    for stratum in set(strata.values()):
        members = [item for item, name in strata.items() if name == stratum]
        share = len(drawn) * len(members) / len(strata)
        assert abs(len(drawn & set(members)) - share) < 1


@given(STRATA, st.integers(1, 30), st.randoms())
def test_the_order_of_the_file_does_not_change_the_draw(strata, size, random):
    shuffled = list(strata.items())
    random.shuffle(shuffled)
    assert select(dict(shuffled), size, 7) == select(strata, size, 7)


def test_another_seed_draws_others():
    strata = {str(number): "" for number in range(1000)}
    assert select(strata, 50, 0) != select(strata, 50, 1)


def test_a_larger_draw_of_one_stratum_contains_the_smaller_one():
    strata = {str(number): "" for number in range(100)}
    assert select(strata, 10, 0) < select(strata, 20, 0)


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 50), max_size=5), st.integers(0, 120))
def test_equal_parts_use_everything_there_is_and_differ_only_where_a_set_runs_out(available, size):
    parts = equal_parts(available, size)
    assert sum(parts.values()) == min(size, sum(available.values()))
    full = [parts[name] for name in parts if parts[name] < available[name]]
    assert all(parts[name] <= available[name] for name in parts)
    assert not full or max(full) - min(full) <= 1

"""Pairing, and mean, maximum and minimum."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithfuse.metrics.aggregate import NO_POINTS, Cell, best, spread, text_columns
from faithfuse.metrics.cases import Case, build_cases
from faithfuse.metrics.matching import Matching
from faithfuse.metrics.ngram import Ngram

unit = st.floats(0, 1, allow_nan=False)


@given(st.lists(unit, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_decides_nothing(values: list[float], random) -> None:
    cells = [Cell(value) for value in values]
    shuffled = cells.copy()
    random.shuffle(shuffled)
    assert spread(cells, "none") == spread(shuffled, "none")


@given(st.lists(unit, min_size=1, max_size=12))
def test_the_mean_lies_between_minimum_and_maximum(values: list[float]) -> None:
    cells = spread([Cell(value) for value in values], "none")
    assert cells["min"].value <= cells["mean"].value <= cells["max"].value


def test_unscored_pairs_are_left_out_and_counted() -> None:
    cells = spread([Cell(0.25), Cell(None, "why"), Cell(0.75)], "none")
    assert cells["mean"] == Cell(0.5, None, partial=1)
    assert cells["min"] == Cell(0.25, None, partial=1)


def test_an_aggregate_of_nothing_is_missing_with_the_commonest_reason() -> None:
    cells = [Cell(None, "a"), Cell(None, "b"), Cell(None, "b")]
    assert best(cells, "none") == Cell(None, "b")
    assert best([], "none") == Cell(None, "none")


def test_alignments_that_are_not_proven_are_counted() -> None:
    assert best([Cell(0.5, not_proven=1), Cell(0.25)], "none").not_proven == 1


def test_each_point_is_paired_with_its_best_reference_point(summary: Callable[..., Case]) -> None:
    # Point 1 equals reference point 2; point 2 shares one word of two with reference point 1.
    case = summary(["Bob came", "Ana slept"], ["Ana ran", "Bob came"])
    cells = {column.name: column.cells[case.key].value for column in text_columns([case], Ngram())}
    assert cells["ROUGE-1 max"] == 1
    assert cells["ROUGE-1 min"] == 0.5
    assert cells["ROUGE-1 mean"] == 0.75


def test_the_full_form_compares_whole_summaries(summary: Callable[..., Case]) -> None:
    case = summary(["Ana ran.", "Bob came."], ["Ana ran.", "Bob came."])
    cells = {column.name: column.cells[case.key].value for column in text_columns([case], Matching())}
    assert cells["Exact match full"] == 1
    assert cells["Exact match mean"] == 1


def test_a_summary_without_points_is_cut_into_points(summary: Callable[..., Case]) -> None:
    case = summary(["Ana ran.", "Bob came."], ["Ana ran."])
    assert case.points == ("Ana ran.", "Bob came.")
    bare = case.response.model_copy(update={"points": []})
    assert build_cases([case.item], [bare])[0].points == case.points


def test_a_response_without_text_is_missing_with_its_reason(
    summary: Callable[..., Case], question: Callable[..., Case]
) -> None:
    for case in (summary(None, ["Ana ran."]), question(None, "Ana")):
        for column in text_columns([case], Matching()):
            assert column.cells[case.key] == Cell(None, case.response.reason)


def test_a_summary_of_marks_alone_has_no_points(summary: Callable[..., Case]) -> None:
    case = summary(["Ana ran."], ["Ana ran."])._replace(points=())
    columns = text_columns([case], Matching())
    assert {column.cells[case.key] for column in columns} == {Cell(None, NO_POINTS)}


@pytest.mark.parametrize("aggregate", ["mean", "max", "min"])
def test_one_point_has_one_value_however_it_is_aggregated(summary: Callable[..., Case], aggregate: str) -> None:
    case = summary(["Bob came home"], ["Bob came"])
    cells = {column.name: column.cells[case.key].value for column in text_columns([case], Ngram())}
    assert cells[f"ROUGE-1 {aggregate}"] == pytest.approx(0.8)

"""From verdicts to LLM columns."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faithfuse.errors import InputError
from faithfuse.metrics.aggregate import Cell, Column
from faithfuse.metrics.cases import Case
from faithfuse.metrics.llm import NO_SCORE, NO_VERDICT, llm_columns
from faithfuse.metrics.table import meta
from faithfuse.records import Domain, Verdict


def _verdict(case: Case, kind: str, scope: str, score: float | None, **more) -> Verdict:
    target = more.pop("target", "reference" if scope == "answer" else "transcript")
    return Verdict(
        item_id=case.item.item_id,
        system=case.response.system,
        judge=more.pop("judge", "judge-1"),
        kind=kind,
        scope=scope,
        target=target,
        score=score,
        **more,
    )


def _cells(columns: list[Column], case: Case) -> dict[str, Cell]:
    return {column.name: column.cells[case.key] for column in columns}


def test_an_answer_has_confidence_likert_and_expected_likert(question: Callable[..., Case]) -> None:
    case = question("Bob", "Bob")
    verdicts = [
        _verdict(case, "confidence", "answer", 0.9),
        _verdict(case, "likert", "answer", 4, expected=3.6),
    ]
    columns = llm_columns([case], verdicts)
    assert {name: cell.value for name, cell in _cells(columns, case).items()} == {
        "LLM Likert": 4,
        "LLM Likert expected": 3.6,
        "LLM Conf.": 0.9,
    }
    assert {column.name: column.extension for column in columns} == {
        "LLM Likert": False,
        "LLM Likert expected": True,
        "LLM Conf.": False,
    }
    assert all("judge:judge-1" in column.signature for column in columns)


def test_points_are_aggregated_and_the_whole_summary_is_not(summary: Callable[..., Case]) -> None:
    case = summary(["Ana ran.", "Bob came."], ["Ana ran."])
    verdicts = [
        _verdict(case, "confidence", "fact", 0.25, point=0),
        _verdict(case, "confidence", "fact", 0.75, point=1),
        _verdict(case, "confidence", "full", 0.4),
    ]
    assert {name: cell.value for name, cell in _cells(llm_columns([case], verdicts), case).items()} == {
        "LLM Conf. Fact mean": 0.5,
        "LLM Conf. Fact max": 0.75,
        "LLM Conf. Fact min": 0.25,
        "LLM Conf.": 0.4,
    }


def test_an_answer_that_is_no_label_is_missing_with_the_judges_reason(question: Callable[..., Case]) -> None:
    case = question("Bob", "Bob")
    verdict = _verdict(case, "likert", "answer", None, expected=2.5, reason="the judge said none of the labels")
    cells = _cells(llm_columns([case], [verdict]), case)
    assert cells["LLM Likert"] == Cell(None, "the judge said none of the labels")
    assert cells["LLM Likert expected"] == Cell(2.5)


def test_a_column_says_how_readily_the_judge_kept_to_its_labels(question: Callable[..., Case]) -> None:
    cases = [question("Bob", "Bob", item_id=f"q{n}") for n in range(3)]
    verdicts = [
        _verdict(case, "confidence", "answer", 0.5, label_mass=mass, off_label=said)
        for case, mass, said in zip(cases, (0.9, 0.01, 0.2), (None, "I", "The"), strict=True)
    ]
    (column,) = llm_columns(cases, verdicts)
    assert column.judge == {"verdicts": 3, "off_label": 2, "median_label_mass": 0.2}
    assert meta([column], Domain.SHORT_FORM_QA)["metrics"]["LLM Conf."]["judge"] == column.judge


def test_a_null_without_reason_still_says_something(question: Callable[..., Case]) -> None:
    case = question("Bob", "Bob")
    cells = _cells(llm_columns([case], [_verdict(case, "confidence", "answer", None)]), case)
    assert cells["LLM Conf."] == Cell(None, NO_SCORE)


def test_an_unjudged_response_or_point_is_missing(question: Callable[..., Case], summary: Callable[..., Case]) -> None:
    judged, other = question("Bob", "Bob"), question("Ana", "Bob", item_id="q2")
    columns = llm_columns([judged, other], [_verdict(judged, "confidence", "answer", 1)])
    assert columns[0].cells[other.key] == Cell(None, NO_VERDICT)
    case = summary(["Ana ran.", "Bob came."], ["Ana ran."])
    cells = _cells(llm_columns([case], [_verdict(case, "confidence", "fact", 0.5, point=1)]), case)
    assert cells["LLM Conf. Fact mean"] == Cell(0.5, None, partial=1)


def test_a_summary_judged_against_the_ground_truth_bears_another_name(summary: Callable[..., Case]) -> None:
    case = summary(["Ana ran."], ["Ana ran."])
    verdicts = [
        _verdict(case, "likert", "full", 5, target="reference"),
        _verdict(case, "likert", "full", 2, target="transcript"),
        _verdict(case, "confidence", "fact", 0.5, target="reference", point=0),
    ]
    cells = _cells(llm_columns([case], verdicts), case)
    assert cells["LLM Likert GT"].value == 5
    assert cells["LLM Likert"].value == 2
    assert cells["LLM Conf. GT Fact min"].value == 0.5


def test_a_point_judged_against_each_reference_point_takes_its_best_match(summary: Callable[..., Case]) -> None:
    case = summary(["Ana ran.", "Bob came."], ["Ana ran fast.", "Bob came.", "Cy left."])
    pairs = {(0, 0): 0.75, (0, 1): 0.25, (0, 2): 0.5, (1, 0): 0.125, (1, 1): 0.25, (1, 2): None}
    verdicts = [
        _verdict(case, "confidence", "fact", score, target="reference", point=point, reference_point=number)
        for (point, number), score in pairs.items()
    ]
    columns = llm_columns([case], verdicts)
    cells = _cells(columns, case)
    assert cells["LLM Conf. GT Fact mean"] == Cell(0.5, None, partial=1)
    assert (cells["LLM Conf. GT Fact max"].value, cells["LLM Conf. GT Fact min"].value) == (0.75, 0.25)
    assert all(column.extension and "target:reference:best match" in column.signature for column in columns)
    beyond = _verdict(case, "confidence", "fact", 1, target="reference", point=0, reference_point=3)
    with pytest.raises(InputError, match="reference's point 3, there are 3"):
        llm_columns([case], [beyond])
    with pytest.raises(InputError, match="two verdicts"):
        llm_columns([case], [*verdicts, verdicts[0]])


def test_a_response_without_text_is_missing_with_its_own_reason(summary: Callable[..., Case]) -> None:
    silent, spoken = summary(None, ["Ana ran."]), summary(["Ana ran."], ["Ana ran."])
    spoken = spoken._replace(response=spoken.response.model_copy(update={"system": "t"}))
    verdicts = [
        # The judge has no points to number where there is no text.
        _verdict(silent, "likert", "fact", None, reason="no response: no summary was made"),
        _verdict(spoken, "likert", "fact", 5, point=0),
    ]
    columns = {column.name: column for column in llm_columns([silent, spoken], verdicts)}
    assert columns["LLM Likert Fact mean"].cells[silent.key] == Cell(None, "no summary was made")
    assert columns["LLM Likert Fact mean"].cells[spoken.key] == Cell(5.0)


def test_what_does_not_occur_gives_no_column(question: Callable[..., Case]) -> None:
    case = question("Bob", "Bob")
    assert llm_columns([case], []) == []


def test_two_judges_in_one_table_are_refused(question: Callable[..., Case]) -> None:
    case = question("Bob", "Bob")
    verdicts = [_verdict(case, "likert", "answer", 1, judge=judge) for judge in ("one", "two")]
    with pytest.raises(InputError, match="one judge at a time"):
        llm_columns([case], verdicts)


def test_a_verdict_on_a_point_that_does_not_exist_is_refused(summary: Callable[..., Case]) -> None:
    case = summary(["Ana ran."], ["Ana ran."])
    with pytest.raises(InputError, match="point 1, the response has 1 points"):
        llm_columns([case], [_verdict(case, "likert", "fact", 3, point=1)])


def test_a_scope_of_another_domain_is_refused(question: Callable[..., Case]) -> None:
    case = question("Bob", "Bob")
    with pytest.raises(InputError, match="does not fit the domain"):
        llm_columns([case], [_verdict(case, "likert", "full", 3)])

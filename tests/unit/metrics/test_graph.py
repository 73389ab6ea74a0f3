"""Which graphs are compared, and what becomes of the scores. The graphs are small enough to score by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faithfuse.amr.alignment import WORK_LIMIT
from faithfuse.errors import InputError
from faithfuse.metrics.aggregate import Cell, Column
from faithfuse.metrics.cases import Case
from faithfuse.metrics.graph import GraphBook, graph_columns
from faithfuse.records import Domain, Graph

Make = Callable[[dict[str, str | None]], list[Graph]]

BOB = "(c / come-01 :ARG1 (b / bob))"
ANA = "(c / come-01 :ARG1 (a / ana))"
RUN = "(r / run-02 :ARG0 (d / dog))"
# Triples: TOP, two concepts, one edge. BOB and ANA share TOP, come-01 and the edge: 3 of 4. BOB and RUN share TOP.
SHARED = {"Bob came.": BOB, "Ana came.": ANA, "Dogs run.": RUN}


def _cells(columns: list[Column], case: Case) -> dict[str, Cell]:
    return {column.name: column.cells[case.key] for column in columns}


def test_qa_takes_every_response_sentence_against_every_reference_sentence(
    question: Callable[..., Case], graphs: Make
) -> None:
    case = question("Bob came. Dogs run.", "Ana came.", "Bob came.", domain=Domain.LONG_FORM_QA)
    cells = _cells(graph_columns([case], GraphBook(graphs(SHARED))), case)
    # Bob-Ana 3/4, Bob-Bob 1, Dogs-Ana 1/4, Dogs-Bob 1/4.
    assert cells["SMATCH mean"].value == pytest.approx((0.75 + 1 + 0.25 + 0.25) / 4)
    assert cells["SMATCH max"].value == 1
    assert cells["SMATCH min"].value == 0.25


def test_conversational_qa_joins_the_sentences_and_takes_the_best_reference(
    question: Callable[..., Case], graphs: Make
) -> None:
    case = question("Bob came. Dogs run.", "Dogs run.", "Bob came. Dogs run.", domain=Domain.CONVERSATIONAL_QA)
    cells = _cells(graph_columns([case], GraphBook(graphs(SHARED))), case)
    assert cells["SMATCH"].value == 1
    assert "SMATCH mean" not in cells


def test_a_point_is_held_against_its_best_turn_and_its_best_reference_point(
    summary: Callable[..., Case], graphs: Make
) -> None:
    case = summary(["Bob came.", "Dogs run."], ["Ana came."], ["Dogs run.", "Ana came."])
    cells = _cells(graph_columns([case], GraphBook(graphs(SHARED))), case)
    assert cells["Turn GT SMATCH max"].value == 0.75
    assert cells["Turn GT SMATCH min"].value == 0.25
    assert cells["Turn GT SMATCH mean"].value == 0.5
    assert cells["Turn Transcript SMATCH max"].value == 1
    assert cells["Turn Transcript SMATCH min"].value == 0.75


def test_summary_and_transcript_are_one_pair_so_mean_max_and_min_are_equal(
    summary: Callable[..., Case], graphs: Make
) -> None:
    case = summary(["Dogs run.", "Ana came."], ["Ana came."], ["Dogs run.", "Ana came."])
    cells = _cells(graph_columns([case], GraphBook(graphs(SHARED))), case)
    assert [cells[f"Transcript SMATCH {each}"].value for each in ("mean", "max", "min")] == [1, 1, 1]


def test_a_turn_without_language_is_no_turn_to_compare_with(summary: Callable[..., Case], graphs: Make) -> None:
    case = summary(["Dogs run."], ["Ana came."], ["Dogs run.", ":-) ..."])
    cells = _cells(graph_columns([case], GraphBook(graphs(SHARED))), case)
    assert cells["Turn Transcript SMATCH min"] == Cell(1.0)
    assert cells["Transcript SMATCH mean"] == Cell(1.0)


def test_a_transcript_is_joined_from_the_sentences_that_have_a_graph(
    summary: Callable[..., Case], graphs: Make
) -> None:
    case = summary(["Dogs run."], ["Ana came."], ["Dogs run. Oh!"])
    cells = _cells(graph_columns([case], GraphBook(graphs(SHARED | {"Oh!": None}))), case)
    assert cells["Transcript SMATCH mean"] == Cell(1.0, None, partial=1)
    assert cells["Turn Transcript SMATCH mean"] == Cell(None, "the parser gave nothing")


def test_a_transcript_without_any_graph_is_missing(summary: Callable[..., Case], graphs: Make) -> None:
    case = summary(["Dogs run."], ["Ana came."], ["Oh!"])
    cells = _cells(graph_columns([case], GraphBook(graphs(SHARED | {"Oh!": None}))), case)
    assert cells["Transcript SMATCH mean"] == Cell(None, "the parser gave nothing")


def test_the_transcript_can_be_one_graph_of_its_own(summary: Callable[..., Case], graphs: Make) -> None:
    case = summary(["Dogs run."], ["Ana came."], ["Dogs run."])
    book = GraphBook(graphs(SHARED | {"Ana: Dogs run.": BOB}))
    joined = _cells(graph_columns([case], book), case)["Transcript SMATCH mean"].value
    whole = _cells(graph_columns([case], book, whole_transcript=True), case)["Transcript SMATCH mean"].value
    assert (joined, whole) == (1, 0.25)


def test_a_sentence_without_a_graph_is_left_out_of_the_pairs_and_counted(
    question: Callable[..., Case], graphs: Make
) -> None:
    case = question("Bob came. Dogs run.", "Bob came.")
    cells = _cells(graph_columns([case], GraphBook(graphs({"Bob came.": BOB, "Dogs run.": None}))), case)
    assert cells["SMATCH mean"] == Cell(1.0, None, partial=1)


def test_a_text_with_a_sentence_without_a_graph_is_missing(question: Callable[..., Case], graphs: Make) -> None:
    case = question("Bob came. Dogs run.", "Bob came.", domain=Domain.CONVERSATIONAL_QA)
    cells = _cells(graph_columns([case], GraphBook(graphs({"Bob came.": BOB, "Dogs run.": None}))), case)
    assert cells["SMATCH"] == Cell(None, "the parser gave nothing")


def test_a_sentence_that_was_not_parsed_is_missing(question: Callable[..., Case], graphs: Make) -> None:
    case = question("Bob came.", "Ana came.")
    cells = _cells(graph_columns([case], GraphBook(graphs({"Bob came.": BOB}))), case)
    assert cells["SMATCH mean"] == Cell(None, "a sentence was not parsed")


def test_entity_f1_without_entities_is_zero_and_its_corrected_form_missing(
    question: Callable[..., Case], graphs: Make
) -> None:
    case = question("Bob came.", "Ana came.")
    cells = _cells(graph_columns([case], GraphBook(graphs(SHARED))), case)
    assert cells["Entity F1 mean"].value == 0
    assert cells["Entity F1 (names) mean"].value is None


def test_smatch_has_precision_and_recall(question: Callable[..., Case], graphs: Make) -> None:
    longer = "(c / come-01 :ARG1 (b / bob) :time (t / today))"
    case = question("Bob came.", "Bob came today.")
    cells = _cells(graph_columns([case], GraphBook(graphs({"Bob came.": BOB, "Bob came today.": longer}))), case)
    assert cells["SMATCH precision mean"].value == 1
    assert cells["SMATCH recall mean"].value == pytest.approx(4 / 6)


def test_a_response_without_text_or_language_is_missing(question: Callable[..., Case], graphs: Make) -> None:
    book = GraphBook(graphs(SHARED))
    case = question(None, "Bob came.")
    assert _cells(graph_columns([case], book), case)["SMATCH mean"].reason == "no answer was made"
    case = question("?!", "Bob came.")
    assert _cells(graph_columns([case], book), case)["SMATCH mean"].reason == "the response has no sentence"


def test_the_signature_names_the_parser(question: Callable[..., Case], graphs: Make) -> None:
    columns = graph_columns([question("Bob came.", "Ana came.")], GraphBook(graphs(SHARED)))
    assert all("parser:by hand" in column.signature for column in columns)


def test_graphs_of_two_parsers_are_refused(graphs: Make) -> None:
    (one,) = graphs({"Bob came.": BOB})
    other = one.model_copy(update={"parser": "another", "sentence": "Ana came."})
    with pytest.raises(InputError, match="several parsers: another, by hand"):
        GraphBook([one, other])


def test_a_broken_graph_is_refused(graphs: Make) -> None:
    with pytest.raises(InputError, match="broken graph"):
        GraphBook(graphs({"Bob came.": "(c / come-01"}))


def test_the_number_of_processes_does_not_change_the_scores(question: Callable[..., Case], graphs: Make) -> None:
    case = question("Bob came. Dogs run.", "Ana came.", "Bob came.")
    book = GraphBook(graphs(SHARED))
    assert graph_columns([case], book, processes=2) == graph_columns([case], book)


def test_the_limits_stand_in_the_signature(question: Callable[..., Case], graphs: Make) -> None:
    case, book = question("Bob came.", "Ana came."), GraphBook(graphs(SHARED))
    smatch = [each for each in graph_columns([case], book) if "Fact" not in each.name]
    assert all(f"limit:work {WORK_LIMIT}|" in column.signature for column in smatch)
    timed = [each for each in graph_columns([case], book, time_limit=2.5) if "Fact" not in each.name]
    assert all(f"limit:work {WORK_LIMIT}, 2.5 s|" in column.signature for column in timed)

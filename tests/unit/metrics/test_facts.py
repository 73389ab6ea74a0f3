"""Fact tuples of answers: read from graphs, and PopQA's own tuple as gold. Small enough to count by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faithfuse.amr.tuples import answered_tuples
from faithfuse.metrics.aggregate import Cell, Column
from faithfuse.metrics.cases import Case, build_cases
from faithfuse.metrics.facts import NO_GOLD_TUPLE, NO_TUPLE
from faithfuse.metrics.graph import GraphBook, graph_columns
from faithfuse.metrics.registry import GRAPH, metric_info
from faithfuse.records import Domain, Graph, Item, References, Response

Make = Callable[[dict[str, str | None]], list[Graph]]

ROME = '(c / city :name (n / name :op1 "Rome"))'
MILAN = '(c / city :name (n / name :op1 "Milan"))'
ITALY = '(y / country :name (m / name :op1 "Italy"))'
WROTE = '(w / write-01 :ARG0 (p / person :name (n / name :op1 "Ana")) :ARG1 (b / book) :time (y / yesterday))'
BURNT = '(u / burn-01 :ARG0 (p / person :name (n / name :op1 "Ana")) :ARG1 (b / book) :time (y / yesterday))'
GRAPHS = {
    "Rome": ROME,
    "Roma": '(c / city :name (n / name :op1 "Roma"))',
    "Milan": MILAN,
    "Rome is the capital of Italy.": f"(h / have-org-role-91 :ARG0 {ROME} :ARG1 {ITALY} :ARG2 (k / capital))",
    "Rome or Milan": f"(o / or :op1 {ROME} :op2 {MILAN.replace('c /', 'd /').replace('n /', 'e /')})",
    "Ana wrote a book yesterday.": WROTE,
    "Ana burnt a book yesterday.": BURNT,
    "politician": "(p / politician)",
    "Nothing.": None,
}


def _cells(columns: list[Column], case: Case) -> dict[str, Cell]:
    return {column.name: column.cells[case.key] for column in columns}


@pytest.fixture
def capital() -> Callable[[str], Case]:
    """An answer to a question that was made from the tuple (Italy, capital, Rome); Roma is an alias."""

    def make(text: str) -> Case:
        item = Item(
            item_id="popqa:1:short",
            domain=Domain.SHORT_FORM_QA,
            source_set="popqa",
            question="What is the capital of Italy?",
            references=References(short=["Rome", "Roma"]),
            group="q",
            provenance={"fact_tuple": ["Italy", "capital", "Rome"]},
        )
        return build_cases([item], [Response(item_id="popqa:1:short", system="s", text=text)])[0]

    return make


def test_tuples_of_both_graphs_are_compared_whole(question: Callable[..., Case], graphs: Make) -> None:
    case = question("Ana burnt a book yesterday.", "Ana wrote a book yesterday.", domain=Domain.LONG_FORM_QA)
    cells = _cells(graph_columns([case], GraphBook(graphs(GRAPHS))), case)
    # (ana, burn, book) and (burn, time, yesterday) against (ana, write, book) and (write, time, yesterday)
    assert cells["Fact tuple F1"] == Cell(0.0)
    case = question("Ana wrote a book yesterday.", "Ana wrote a book yesterday.", domain=Domain.LONG_FORM_QA)
    cells = _cells(graph_columns([case], GraphBook(graphs(GRAPHS))), case)
    assert [cells[f"Fact tuple {part}"].value for part in ("F1", "precision", "recall")] == [1, 1, 1]


def test_texts_without_a_tuple_are_null_and_items_without_their_own_tuple_have_no_gold_column(
    question: Callable[..., Case], graphs: Make
) -> None:
    case = question("Rome", "Milan")
    cells = _cells(graph_columns([case], GraphBook(graphs(GRAPHS))), case)
    assert cells["Fact tuple F1"] == Cell(None, NO_TUPLE)
    assert "Fact tuple F1 (gold)" not in cells


@pytest.mark.parametrize(
    ("text", "precision", "recall"),
    [
        ("Rome", 1, 1),
        ("Roma", 1, 1),  # an alias is as good as the object
        ("Rome is the capital of Italy.", 1, 1),  # the subject is no answer
        ("Rome or Milan", 0.5, 1),
        ("Milan", 0, 0),
        ("politician", 0, 0),
    ],
)
def test_popqas_own_tuple_is_gold(
    capital: Callable[[str], Case], graphs: Make, text: str, precision: float, recall: float
) -> None:
    case = capital(text)
    cells = _cells(graph_columns([case], GraphBook(graphs(GRAPHS))), case)
    assert cells["Fact tuple precision (gold)"].value == precision
    assert cells["Fact tuple recall (gold)"].value == recall


def test_a_response_without_a_graph_and_an_item_without_a_tuple_are_null_with_their_reasons(
    capital: Callable[[str], Case], question: Callable[..., Case], graphs: Make
) -> None:
    unread, other = capital("Nothing."), question("Rome", "Milan")
    columns = graph_columns([unread, other], GraphBook(graphs(GRAPHS)))
    assert _cells(columns, unread)["Fact tuple F1 (gold)"] == Cell(None, "the parser gave nothing")
    assert _cells(columns, other)["Fact tuple F1 (gold)"] == Cell(None, NO_GOLD_TUPLE)


def test_an_answer_without_names_is_one_object() -> None:
    assert answered_tuples("(p / politician :mod (o / old))", "Ana", "occupation") == [
        ("Ana", "occupation", "politician old")
    ]


def test_fact_tuple_rows_are_extensions_of_the_graph_class() -> None:
    for part in ("F1", "precision", "recall"):
        for name in (f"Fact tuple {part}", f"Fact tuple {part} (gold)"):
            assert metric_info(name) == (name, GRAPH, True)

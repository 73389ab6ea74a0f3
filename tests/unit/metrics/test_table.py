"""The metric table and the files beside it."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from faithfuse.errors import InputError
from faithfuse.metrics.aggregate import Cell, column
from faithfuse.metrics.cases import Case, build_cases, one_domain
from faithfuse.metrics.embedding import BertScore
from faithfuse.metrics.given import read_scores
from faithfuse.metrics.graph import GraphBook
from faithfuse.metrics.registry import CLASSES, metric_info
from faithfuse.metrics.table import meta, metric_columns, write_table
from faithfuse.records import Domain, Graph, Score, Verdict, write_records

GRAPHS = {
    "Bob came by train.": "(c / come-01 :ARG1 (b / bob) :instrument (t / train))",
    "By train.": "(t / train)",
    "He walked.": "(w / walk-01 :ARG0 (h / he))",
}


def _verdicts(case: Case) -> list[Verdict]:
    base = {"item_id": case.item.item_id, "system": case.response.system, "judge": "j"}
    if case.item.domain != Domain.SUMMARISATION:
        places = [("answer", "reference", None)]
    else:
        places = [("full", "transcript", None)] + [("fact", "transcript", n) for n in range(len(case.points))]
    return [
        Verdict(**base, scope=scope, target=target, point=point, kind=kind, score=0.5)
        for scope, target, point in places
        for kind in ("likert", "confidence")
    ]


@pytest.fixture
def cases(question: Callable[..., Case], summary: Callable[..., Case]) -> dict[Domain, Case]:
    return {
        Domain.SHORT_FORM_QA: question("By train.", "By train."),
        Domain.LONG_FORM_QA: question("He walked.", "Bob came by train.", domain=Domain.LONG_FORM_QA),
        Domain.CONVERSATIONAL_QA: question("By train.", "Bob came by train.", domain=Domain.CONVERSATIONAL_QA),
        Domain.SUMMARISATION: summary(["Bob came by train.", "He walked."], ["By train."]),
    }


@pytest.fixture(scope="module")
def encoder(encoder_folder: Path) -> BertScore:
    return BertScore(encoder_folder)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_metric_of_the_papers_tables_exists_by_its_very_name_and_class(
    cases: dict[Domain, Case],
    graphs: Callable[[dict], list[Graph]],
    encoder: BertScore,
    repository: Path,
) -> None:
    paper = [
        row
        for row in _rows(repository / "config" / "reference" / "paper_tables.csv")
        if row["table"] in ("I", "II", "III")
    ]
    assert len({(row["domain"], row["metric"]) for row in paper}) == 20 + 20 + 12 + 20
    for domain, case in cases.items():
        columns = metric_columns([case], verdicts=_verdicts(case), graphs=GraphBook(graphs(GRAPHS)), encoder=encoder)
        ours = {column.name: (column.metric_class, column.extension) for column in columns}
        for row in paper:
            if row["domain"] == domain:
                assert ours[row["metric"]] == (row["metric_class"], False), row


def test_metric_names_are_unique_and_sorted_by_class_with_the_papers_first(
    cases: dict[Domain, Case], graphs: Callable[[dict], list[Graph]], encoder: BertScore
) -> None:
    for case in cases.values():
        columns = metric_columns([case], verdicts=_verdicts(case), graphs=GraphBook(graphs(GRAPHS)), encoder=encoder)
        names = [column.name for column in columns]
        assert len(set(names)) == len(names)
        order = [(CLASSES.index(column.metric_class), column.extension) for column in columns]
        assert order == sorted(order)
        assert all(metric_info(column.name).metric_class == column.metric_class for column in columns)


def test_what_is_not_given_is_left_out_of_the_table(cases: dict[Domain, Case]) -> None:
    classes = {column.metric_class for column in metric_columns([cases[Domain.SHORT_FORM_QA]])}
    assert classes == {"n-gram", "matching"}


def test_the_files_beside_the_table_account_for_every_empty_cell(tmp_path: Path, question: Callable[..., Case]) -> None:
    cases = [question("Moscow", "Moscow"), question(None, "Rome", item_id="q2"), question("Рим", "Rome", item_id="q3")]
    columns = metric_columns(cases)
    table, about, unscored, _ = write_table(tmp_path / "m.csv", cases, columns, meta(columns, Domain.SHORT_FORM_QA))
    rows = _rows(table)
    described = json.loads(about.read_text(encoding="utf-8"))
    assert described["domain"] == "short_form_qa"
    assert list(rows[0])[:3] == ["item_id", "system", "group"]
    assert list(rows[0])[3:] == list(described["metrics"])
    empty = [(row["item_id"], name) for row in rows for name in described["metrics"] if row[name] == ""]
    listed = _rows(unscored)
    assert [(row["item_id"], row["metric"]) for row in listed] == empty
    assert all(row["reason"] for row in listed)
    for name, entry in described["metrics"].items():
        missing = [row["reason"] for row in listed if row["metric"] == name]
        assert entry["unscored"] == len(missing)
        assert entry["scored"] == len(rows) - len(missing)
        assert entry["reasons"] == {reason: missing.count(reason) for reason in missing}
    assert described["metrics"]["Exact match"]["reasons"] == {"no answer was made": 1}
    assert described["metrics"]["ROUGE-1"]["unscored"] == 2


def test_partial_and_unproven_values_are_counted() -> None:
    cells = {("a", "s"): Cell(0.5, partial=2), ("b", "s"): Cell(0.5, not_proven=1), ("c", "s"): Cell(None, "why")}
    (entry,) = meta([column("SMATCH mean", "sig", cells)], Domain.SHORT_FORM_QA)["metrics"].values()
    assert (entry["partial"], entry["not_proven"], entry["scored"]) == (1, 1, 2)


def test_the_order_of_the_inputs_does_not_change_the_bytes(tmp_path: Path, question: Callable[..., Case]) -> None:
    cases = [question(text, "Rome", "roma", item_id=f"q{n}") for n, text in enumerate(["Rome", "It is Roma", "Oslo"])]
    items, responses = [case.item for case in cases], [case.response for case in cases]

    def written(folder: str, items: Sequence, responses: Sequence) -> list[bytes]:
        built = build_cases(items, responses)
        columns = metric_columns(built)
        paths = write_table(tmp_path / folder / "m.csv", built, columns, meta(columns, Domain.SHORT_FORM_QA))
        return [path.read_bytes() for path in paths]

    first = written("a", items, responses)
    for seed in range(3):
        random.Random(seed).shuffle(items)
        random.Random(seed + 9).shuffle(responses)
        assert written(f"b{seed}", items, responses) == first


def test_a_failed_write_leaves_the_earlier_table(tmp_path: Path, question: Callable[..., Case]) -> None:
    case = question("Rome", "Rome")
    columns = metric_columns([case])
    paths = write_table(tmp_path / "m.csv", [case], columns, meta(columns, Domain.SHORT_FORM_QA))
    before = [path.read_bytes() for path in paths]
    with pytest.raises(TypeError):
        write_table(tmp_path / "m.csv", [case], columns, {"not": {"json"}})
    assert [path.read_bytes() for path in paths] == before
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def _score(value: float | None, point: int | None = None, metric: str = "Readability", item: str = "q1") -> Score:
    reason = None if value is not None else "too short"
    return Score(item_id=item, system="s", metric=metric, point=point, value=value, reason=reason)


def test_given_scores_become_columns(question: Callable[..., Case]) -> None:
    cases = [question("Rome", "Rome"), question("Oslo", "Rome", item_id="q2"), question("Bern", "Rome", item_id="q3")]
    scores = [_score(0.7), _score(None, item="q2")]
    readability = next(each for each in metric_columns(cases, scores=scores) if each.name == "Readability")
    assert (readability.metric_class, readability.extension) == ("other", True)
    assert list(readability.cells.values()) == [
        Cell(0.7),
        Cell(None, "too short"),
        Cell(None, "the score file has no value"),
    ]


def test_given_scores_of_points_become_mean_max_and_min(summary: Callable[..., Case]) -> None:
    case = summary(["Ana ran.", "Bob came."], ["Ana ran."])
    scores = [_score(value, point, "LLM likelihood", "d1") for point, value in enumerate((-2.0, -1.0))]
    columns = {column.name: column for column in metric_columns([case], scores=scores)}
    values = {name: column.cells[case.key].value for name, column in columns.items() if "likelihood" in name}
    assert values == {"LLM likelihood mean": -1.5, "LLM likelihood max": -1, "LLM likelihood min": -2}
    assert columns["LLM likelihood mean"].metric_class == "llm"


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([_score(0.1), _score(0.2)], "two values of Readability"),
        ([_score(0.1, metric="ROUGE-1")], "already has"),
        ([_score(0.1, point=1)], "point 1"),
    ],
)
def test_scores_that_do_not_fit_are_refused(question: Callable[..., Case], scores: list[Score], message: str) -> None:
    with pytest.raises(InputError, match=message):
        metric_columns([question("Rome", "Rome")], scores=scores)


def test_a_score_files_signatures_are_kept(tmp_path: Path, question: Callable[..., Case]) -> None:
    path = tmp_path / "s.jsonl"
    write_records(path, [_score(0.7)])
    beside = Path(f"{path}.meta.json")
    beside.write_text(json.dumps({"metrics": {"Readability": {"signature": "flesch==1"}}}), encoding="utf-8")
    scores, signatures = read_scores([path])
    columns = metric_columns([question("Rome", "Rome")], scores=scores, score_signatures=signatures)
    assert next(column for column in columns if column.name == "Readability").signature == "flesch==1"
    beside.write_text('{"metrics": ["Readability"]}', encoding="utf-8")
    with pytest.raises(InputError, match="does not describe scores"):
        read_scores([path])


def test_the_judges_meta_file_gives_the_signature_of_model_and_prompts(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write_records(path, [_score(-1.0, metric="LLM likelihood source")])
    content = {"model": {"key": "m", "weights": "abc", "torch": "2.0+cpu"}, "prompt_set": {"name": "p", "sha256": "d"}}
    Path(f"{path}.meta.json").write_text(json.dumps(content), encoding="utf-8")
    (signature,) = read_scores([path])[1].values()
    assert signature == "model:m|weights:abc|torch==2.0|prompts:p-d|LLM likelihood source"


def test_items_of_two_domains_are_refused(question: Callable[..., Case]) -> None:
    items = [question("a", "a").item, question("a", "a", domain=Domain.LONG_FORM_QA, item_id="q2").item]
    with pytest.raises(InputError, match=r"q2.*one file of each domain"):
        one_domain(items)


def test_a_response_to_an_unknown_item_is_refused(question: Callable[..., Case]) -> None:
    with pytest.raises(InputError, match="no such item"):
        build_cases([question("a", "a").item], [question("a", "a", item_id="q9").response])


def test_two_responses_of_one_system_are_refused(question: Callable[..., Case]) -> None:
    case = question("a", "a")
    with pytest.raises(InputError, match="two responses of system s"):
        build_cases([case.item], [case.response, case.response])


def test_the_single_points_of_summaries_stand_beside_the_table(tmp_path: Path, summary: Callable[..., Case]) -> None:
    case = summary(["Bob came", "Ana slept"], ["Ana ran", "Bob came"])
    scores = [Score(item_id="d1", system="s", point=point, metric="own", value=point / 4) for point in (0, 1)]
    columns = metric_columns([case], scores=scores)
    out = tmp_path / "METRICS.csv"
    write_table(out, [case], columns, meta(columns, Domain.SUMMARISATION))
    with Path(f"{out}.points.csv").open(encoding="utf-8", newline="") as stream:
        first, second = csv.DictReader(stream)
    assert (first["item_id"], first["system"], first["point"], second["point"]) == ("d1", "s", "0", "1")
    # Point 1 equals reference point 2; point 2 shares one word of two with reference point 1.
    assert (first["ROUGE-1 mean"], second["ROUGE-1 mean"]) == ("1.0", "0.5")
    assert (first["own mean"], second["own mean"]) == ("0.0", "0.25")
    assert not {"ROUGE-1 max", "ROUGE-1 full", "item_id mean"} & set(first)


def test_answers_have_no_points(tmp_path: Path, question: Callable[..., Case]) -> None:
    case = question("Bob", "Bob")
    columns = metric_columns([case])
    write_table(tmp_path / "METRICS.csv", [case], columns, meta(columns, Domain.SHORT_FORM_QA))
    assert (tmp_path / "METRICS.csv.points.csv").read_text(encoding="utf-8") == "item_id,system,point\n"

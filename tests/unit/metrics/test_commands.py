"""`faithfuse metrics` on files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from faithfuse.cli import app
from faithfuse.errors import FaithfuseError
from faithfuse.metrics.cases import Case
from faithfuse.records import Graph, Verdict, write_records


def _run(*arguments: object):
    return CliRunner().invoke(app, ["metrics", *map(str, arguments)])


@pytest.fixture
def study(tmp_path: Path, question: Callable[..., Case]) -> tuple[Path, Path]:
    cases = [question("Bob came.", "Bob came."), question("Ana came.", "Bob came.", item_id="q2")]
    write_records(tmp_path / "items.jsonl", [case.item for case in cases])
    write_records(tmp_path / "responses.jsonl", [case.response for case in cases])
    return tmp_path / "items.jsonl", tmp_path / "responses.jsonl"


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_texts_verdicts_and_graphs_become_one_table(
    study: tuple[Path, Path], tmp_path: Path, graphs: Callable[[dict], list[Graph]]
) -> None:
    verdict = Verdict(
        item_id="q1", system="s", judge="j", kind="confidence", scope="answer", target="reference", score=0.9
    )
    write_records(tmp_path / "v.jsonl", [verdict, verdict.model_copy(update={"item_id": "elsewhere"})])
    penman = {"Bob came.": "(c / come-01 :ARG1 (b / bob))", "Ana came.": "(c / come-01 :ARG1 (a / ana))"}
    write_records(tmp_path / "g.jsonl", graphs(penman))
    out = tmp_path / "m.csv"
    result = _run(*study, "--verdicts", tmp_path / "v.jsonl", "--graphs", tmp_path / "g.jsonl", "--out", out)
    assert result.exit_code == 0, result.output
    assert "1 verdicts are of responses that are not given" in result.output
    first, second = _table(out)
    assert (first["item_id"], first["group"], first["LLM Conf."], first["SMATCH mean"]) == ("q1", "q1", "0.9", "1.0")
    assert (second["LLM Conf."], second["SMATCH mean"]) == ("", "0.75")
    described = json.loads(Path(f"{out}.meta.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in described["inputs"]] == [
        "items.jsonl",
        "responses.jsonl",
        "v.jsonl",
        "g.jsonl",
    ]


def test_two_runs_write_the_same_bytes(study: tuple[Path, Path], tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert _run(*study, "--out", tmp_path / name / "m.csv").exit_code == 0
    for file in ("m.csv", "m.csv.meta.json", "m.csv.unscored.csv"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_plain_csv_files_give_the_table_of_the_records(study: tuple[Path, Path], tmp_path: Path) -> None:
    items, responses = tmp_path / "i.csv", tmp_path / "r.csv"
    items.write_text("item_id,question,reference\nq1,Who came?,Bob came.\nq2,Who came?,Bob came.\n")
    responses.write_text("item_id,system,text\nq2,s,Ana came.\nq1,s,Bob came.\n")
    assert _run(*study, "--out", tmp_path / "a.csv").exit_code == 0
    assert _run(items, responses, "--domain", "short_form_qa", "--out", tmp_path / "b.csv").exit_code == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_several_response_files_are_joined(
    study: tuple[Path, Path], tmp_path: Path, question: Callable[..., Case]
) -> None:
    other = question("Cleo came.", "Bob came.").response.model_copy(update={"system": "t"})
    write_records(tmp_path / "more.jsonl", [other])
    assert _run(*study, tmp_path / "more.jsonl", "--out", tmp_path / "m.csv").exit_code == 0
    assert [(row["item_id"], row["system"]) for row in _table(tmp_path / "m.csv")] == [
        ("q1", "s"),
        ("q1", "t"),
        ("q2", "s"),
    ]


def test_a_mistake_in_the_input_leaves_the_earlier_table(study: tuple[Path, Path], tmp_path: Path) -> None:
    items, responses = study
    out = tmp_path / "m.csv"
    assert _run(items, responses, "--out", out).exit_code == 0
    before = out.read_bytes()
    responses.write_text(responses.read_text(encoding="utf-8") + "{\n", encoding="utf-8")
    result = _run(items, responses, "--out", out)
    assert result.exit_code == 1
    assert isinstance(result.exception, FaithfuseError)
    assert "responses.jsonl:3: is not JSON" in str(result.exception)
    assert out.read_bytes() == before

"""The commands `smatch`, `amr draw` and `parse` on files as people have them."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from faithfuse.amr.draw import draw
from faithfuse.amr.explain import explain
from faithfuse.amr.files import read_amr_file
from faithfuse.amr.smatch import smatch
from faithfuse.amr.tuples import fact_tuples, tuple_match
from faithfuse.cli import app
from faithfuse.errors import InputError, ModelError

A = """# AMR release; this block of comments has no graph

# ::id one ::date 2012-06-07
# ::snt The boy wants to go.
(w / want-01
   :ARG0 (b / boy)
   :ARG1 (g / go-02~e.4
      :ARG0 b))


# ::id two
(s / sing-01 :ARG0 (b / bird))
"""
B = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))\n\n(s / sing-01 :ARG0 (c / cat))"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.amr").write_text(A, encoding="utf-8")
    (tmp_path / "b.amr").write_text(B, encoding="utf-8")
    return str(tmp_path / "a.amr"), str(tmp_path / "b.amr")


def test_file_with_comments_blank_lines_and_alignment_marks_is_read(files):
    from pathlib import Path

    entries = read_amr_file(Path(files[0]))
    assert [entry.metadata.get("id") for entry in entries] == ["one", "two"]
    assert entries[0].metadata == {"id": "one", "date": "2012-06-07", "snt": "The boy wants to go."}
    assert entries[0].line == 5


def test_smatch_prints_a_score_per_pair_the_corpus_and_a_signature(files):
    result = CliRunner().invoke(app, ["smatch", *files])
    assert result.exit_code == 0
    lines = [line.split("\t") for line in result.output.splitlines()]
    assert lines[1] == ["1", "one", "SMATCH", "1.0000", "1.0000", "1.0000", "7", "7", "7", "7"]
    assert lines[3][0] == "corpus" and lines[3][6:9] == ["10", "11", "11"]
    assert result.output.splitlines()[-1].startswith("# smatch 1.0.4 triples")


def test_subscores_and_explanation_are_printed_when_asked_for(files):
    result = CliRunner().invoke(app, ["smatch", *files, "--subscores", "--explain"])
    assert result.exit_code == 0
    for expected in ("Unlabeled F1", "Entity F1 (names)", "SRL F1", "miss: instance(c/cat, cat)", "b/bird  =  c/cat"):
        assert expected in result.output


def test_files_of_different_length_are_an_error(files, tmp_path):
    (tmp_path / "c.amr").write_text("(a / b)")
    result = CliRunner().invoke(app, ["smatch", files[0], str(tmp_path / "c.amr")])
    assert isinstance(result.exception, InputError)
    assert "2 graphs" in str(result.exception)


def test_malformed_graph_is_an_error_with_its_line(tmp_path):
    (tmp_path / "a.amr").write_text("(a / b)\n\n# ::id x\n(c / d :ARG0 (e / f)\n")
    with pytest.raises(InputError, match=r"a\.amr:4: a bracket is not closed"):
        read_amr_file(tmp_path / "a.amr")


def test_explanation_accounts_for_every_triple():
    a = "(s / sing-01 :ARG0 (b / bird :mod (r / red)) :polarity -)"
    b = "(s / sing-01 :ARG0 (c / cat) :location (t / tree))"
    parts, score = explain(a, b), smatch(a, b)
    assert len(parts.matched) == score.matched
    assert len(parts.matched) + len(parts.extra) == score.left_total
    assert len(parts.matched) + len(parts.missing) == score.right_total


def test_drawing_is_svg_with_every_node_and_the_same_bytes_each_time():
    graph = '(w / want-01 :ARG0 (b / boy :name (n / name :op1 "A<B")) :ARG1 (g / go-02 :ARG0 b))'
    picture = draw(graph, "The boy & the <bird>")
    assert picture == draw(graph, "The boy & the <bird>")
    texts = [element.text for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    for wanted in ("w / want-01", "b / boy", '"A<B"', ":ARG0", "The boy & the <bird>"):
        assert wanted in texts
    assert texts.count(":ARG0") == 2


def test_draw_command_writes_a_picture_or_says_what_is_wrong(tmp_path, files):
    out = tmp_path / "g.svg"
    assert CliRunner().invoke(app, ["amr", "draw", "(a / b)", "--out", str(out)]).exit_code == 0
    assert out.read_text().startswith("<svg")
    assert (
        CliRunner().invoke(app, ["amr", "draw", "--file", files[0], "--number", "2", "--out", str(out)]).exit_code == 0
    )
    assert "s / sing-01" in out.read_text()
    before = out.read_bytes()
    assert CliRunner().invoke(app, ["amr", "draw", "(a / b", "--out", str(out)]).exit_code == 1
    assert out.read_bytes() == before


@pytest.mark.models
def test_drawn_sentence_bears_the_name_of_its_parser(tmp_path):
    out = tmp_path / "g.svg"
    arguments = ["amr", "draw", "--sentence", "Aria has just run into Charlie Evans.", "--out", str(out)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    first = out.read_bytes()
    assert b"parsed by rules" in first
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert out.read_bytes() == first
    unknown = [*arguments, "--parser", "stog-unknown", "--models", str(tmp_path / "none.yaml")]
    assert isinstance(CliRunner().invoke(app, unknown).exception, ModelError)
    assert out.read_bytes() == first


def test_fact_tuples_name_who_does_what():
    author = '(p / person :name (n / name :op1 "Jane" :op2 "Austen"))'
    facts = fact_tuples(f"(w / write-01 :ARG0 {author} :ARG1 (b / book) :time (y / yesterday))")
    assert facts == [("jane austen", "write", "book"), ("write", "time", "yesterday")]
    assert tuple_match(facts, facts).f1 == 1
    assert tuple_match([], []) is None


@pytest.mark.models
def test_parse_command_writes_the_graph_of_every_sentence_once(tmp_path):
    item = {
        "item_id": "q1",
        "domain": "short_form_qa",
        "source_set": "test",
        "question": "Who sings?",
        "references": {"short": ["the bird", "bird"]},
        "group": "q1",
    }
    response = {"item_id": "q1", "system": "s", "text": "The bird sings. The bird sings."}
    (tmp_path / "items.jsonl").write_text(json.dumps(item) + "\n")
    (tmp_path / "responses.jsonl").write_text(json.dumps(response) + "\n")
    arguments = ["parse", str(tmp_path / "items.jsonl"), str(tmp_path / "responses.jsonl")]
    arguments += ["--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "graphs.jsonl")]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    first = (tmp_path / "graphs.jsonl").read_bytes()
    graphs = [json.loads(line) for line in first.splitlines()]
    assert sorted(graph["sentence"] for graph in graphs) == ["The bird sings.", "bird", "the bird"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert (tmp_path / "graphs.jsonl").read_bytes() == first


def test_response_to_an_unknown_item_is_an_error(tmp_path):
    (tmp_path / "items.jsonl").write_text("")
    (tmp_path / "responses.jsonl").write_text('{"item_id": "x", "system": "s", "text": "a"}\n')
    arguments = ["parse", str(tmp_path / "items.jsonl"), str(tmp_path / "responses.jsonl")]
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "graphs.jsonl")])
    assert isinstance(result.exception, InputError)
    assert not (tmp_path / "graphs.jsonl").exists()

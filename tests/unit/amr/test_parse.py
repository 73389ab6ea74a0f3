"""Parsing in general: what is garbage, joining graphs, the cache."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from faithfuse.amr.parse import check_graph, join_graphs, load_parser, parse_all, text_graph
from faithfuse.amr.smatch import smatch
from faithfuse.amr.triples import read_triples
from faithfuse.errors import ModelError
from faithfuse.records import Graph

from .gold import little_prince


class CountingParser:
    """Parses `x` into `(x / x)` and counts how often; a given sentence kills it."""

    signature = "counting 1"

    def __init__(self, fatal: str = "") -> None:
        self.seen: list[str] = []
        self.fatal = fatal

    def parse(self, sentences):
        if self.fatal in sentences:
            raise KeyboardInterrupt
        self.seen += sentences
        return [(f"(x / {sentence})", None) if sentence != "bad" else (None, "bad") for sentence in sentences]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "no graph"),
        ("", "empty"),
        ("()", "empty"),
        ("# ::snt only a comment", "empty"),
        ("(a / b", "no graph"),
        ("(a / b :ARG0 x9)", "does not define"),
        ("(a / b :ARG0 c)", "does not define"),
        ("(a / b :ARG0 (a / c))", "no graph"),
        ("(a)", "no graph|no concept"),
    ],
)
def test_garbage_is_null_with_its_reason(text, reason):
    graph, found = check_graph(text)
    assert graph is None
    assert found and any(part in found for part in reason.split("|"))


def test_endless_repetition_of_a_decoder_is_null():
    inner = ""
    for number in range(9, 0, -1):
        inner = f":ARG1 (s{number} / say-01 :ARG0 (h{number} / he) {inner})"
    assert check_graph(f"(t / think-01 {inner})")[1] == "the graph repeats itself: the decoder fell into a cycle"
    assert check_graph(f"(t / think-01 {inner})", decoded=False)[0] is not None


def test_list_with_different_members_is_no_repetition():
    names = " ".join(f':op{i} (p{i} / person :name (n{i} / name :op1 "N{i}"))' for i in range(1, 10))
    assert check_graph(f"(a / and {names})")[1] is None


def test_constants_are_no_undefined_variables():
    assert check_graph("(g / go-02 :polarity - :mode imperative :quant 3 :li A)")[1] is None


def test_clean_gold_graphs_come_through_unchanged():
    for entry in little_prince()[::5]:
        graph, reason = check_graph(entry.graph)
        assert reason is None
        assert read_triples(graph) == read_triples(entry.graph)


def test_joined_graph_holds_all_parts_under_one_root():
    parts = ["(a / arrive-01 :ARG1 (b / boy))", '(b / boy :poss b2 :mod (b2 / bike :name (n / name :op1 "b")))']
    joined = join_graphs(parts)
    assert joined.startswith("(m / multi-sentence :snt1 (s1x0 / arrive-01")
    assert read_triples(joined).total == sum(read_triples(part).total - 1 for part in parts) + 4
    assert smatch(joined, joined).f1 == 1
    assert join_graphs(parts[:1]) == parts[0]


def test_text_without_a_sentence_or_with_an_unparsed_one_has_no_graph():
    graphs = {
        "one": Graph(graph_id="1", sentence="one", parser="p", penman="(o / one)"),
        "bad": Graph(graph_id="2", sentence="bad", parser="p", penman=None, reason="garbage"),
    }
    assert text_graph(["one"], graphs) == ("(o / one)", None)
    assert text_graph(["one", "bad"], graphs) == (None, "garbage")
    assert text_graph([], graphs)[1] == "the text has no sentence"
    assert text_graph(["other"], graphs)[1] == "a sentence was not parsed"


def test_each_distinct_sentence_is_parsed_once(tmp_path):
    parser = CountingParser()
    graphs = parse_all(["b", "a", "b", "bad"], parser, tmp_path)
    assert sorted(parser.seen) == ["a", "b", "bad"]
    assert [graph.graph_id for graph in graphs] == sorted(graph.graph_id for graph in graphs)
    assert parse_all(["a", "bad"], parser, tmp_path) == [g for g in graphs if g.sentence != "b"]
    assert len(parser.seen) == 3


def test_run_that_was_killed_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("faithfuse.amr.parse._CHUNK", 2)
    with pytest.raises(KeyboardInterrupt):
        parse_all(["aaa", "bb", "c", "d"], CountingParser(fatal="d"), tmp_path)
    again = CountingParser()
    assert len(parse_all(["aaa", "bb", "c", "d"], again, tmp_path)) == 4
    assert again.seen == ["c", "d"]


@pytest.mark.models
def test_parse_that_is_killed_outright_goes_on_from_the_cache(tmp_path):
    """12,000 sentences in a soak, else 120; SIGKILL after the first chunk is on the disk."""
    count, chunk = (12_000, 256) if os.environ.get("FAITHFUSE_SOAK") else (120, 16)
    sentences = [f"The boy saw {number} birds and ran home." for number in range(count)]
    (tmp_path / "sentences.json").write_text(json.dumps(sentences))
    program = (
        "import json, pathlib, sys; from faithfuse.amr import parse; from faithfuse.amr.rules import RulesParser\n"
        f"parse._CHUNK = {chunk}; root = pathlib.Path(sys.argv[1])\n"
        "parse.parse_all(json.loads((root / 'sentences.json').read_text()), RulesParser(), root / 'cache')"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)])
    folder = tmp_path / "cache" / "graphs"
    while process.poll() is None and not any(file.stat().st_size for file in folder.glob("*")):
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    (cache,) = folder.iterdir()
    before = cache.read_bytes().count(b"\n")
    assert 0 < before < count

    parser = load_parser("rules", tmp_path / "none.yaml", 1)
    parsed: list[str] = []
    whole = parser.parse
    parser.parse = lambda some: parsed.extend(some) or whole(some)
    graphs = parse_all(sentences, parser, tmp_path / "cache")
    assert len(graphs) == count
    assert len(parsed) <= count - before
    assert graphs == parse_all(sentences, parser, None)


def test_half_a_line_in_the_cache_is_parsed_anew(tmp_path):
    first = parse_all(["a", "b"], CountingParser(), tmp_path)
    (cache,) = (tmp_path / "graphs").iterdir()
    text = cache.read_bytes()
    cache.write_bytes(text[:-20])
    again = CountingParser()
    assert parse_all(["a", "b"], again, tmp_path) == first
    assert len(again.seen) == 1
    assert parse_all(["a", "b"], CountingParser(fatal="a"), tmp_path) == first


def test_another_signature_does_not_see_the_cache(tmp_path):
    parse_all(["a"], CountingParser(), tmp_path)
    other = CountingParser()
    other.signature = "counting 2"
    parse_all(["a"], other, tmp_path)
    assert other.seen == ["a"]


def test_unknown_parser_is_an_error_that_names_the_known_ones(tmp_path):
    registry = tmp_path / "models.yaml"
    registry.write_text("stog-x:\n  kind: amr-parser\nllm:\n  kind: causal-lm\n")
    with pytest.raises(ModelError, match="stog-x"):
        load_parser("llm", registry, 1)

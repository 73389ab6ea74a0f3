"""Sentences to AMR graphs: the embedded parser `rules`, or STOG BART through amrlib.

Garbage is null: what a parser returns is only kept if it is one whole graph (`check_graph`), else the graph is null
with the reason. Each distinct sentence is parsed once per parser signature and kept in a cache that survives a kill.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import penman
from penman.models.noop import NoOpModel

from faithfuse.amr.triples import read_triples
from faithfuse.errors import InputError
from faithfuse.records import Graph

Parsed = tuple[str | None, str | None]
"""A graph in PENMAN notation, or null and the reason."""

RULES = "rules"
_CHUNK = 256


class Parser(Protocol):
    """Turns sentences into graphs; `signature` names all that decides the result, and keys the cache."""

    signature: str

    def parse(self, sentences: list[str]) -> list[Parsed]:
        """One graph (or null with a reason) for each sentence, in order."""
        ...


def load_parser(key: str, models: Path, threads: int, *, models_dir: Path = Path(".models")) -> Parser:
    """Load a parser by its key.

    Args:
        key: `rules` for the embedded parser, else a model of kind `amr-parser` in the registry.
        models: the registry, `config/models.yaml`.
        threads: processes (`rules`) or torch threads (STOG) to use.
        models_dir: where fetched models are, one folder a key.

    Raises:
        ModelError: the model is unknown, incomplete, or of a version that does not work.
    """
    if key == RULES:
        from faithfuse.amr.rules import RulesParser

        return RulesParser(threads=threads)
    from faithfuse.amr.stog import load_stog

    return load_stog(key, models, threads, models_dir=models_dir)


def parse_all(sentences: Sequence[str], parser: Parser, cache_dir: Path | None) -> list[Graph]:
    """The graph of each distinct sentence, in the order of the records' keys.

    Sentences already in the cache under the parser's signature are not parsed again; new graphs are written to the
    cache as they come, so a run that was killed goes on where it stopped.

    Args:
        sentences: the sentences, repeated ones once.
        parser: a loaded parser.
        cache_dir: the cache's folder, or None for none.
    """
    wanted = {Graph.key(sentence, parser.signature): sentence for sentence in sentences}
    cache = _Cache(cache_dir, parser.signature) if cache_dir is not None else None
    known = cache.read(wanted) if cache else {}
    missing = [sentence for key, sentence in wanted.items() if key not in known]
    for graphs in _parse_chunks(missing, parser):
        if cache:
            cache.add(graphs)
        known.update((graph.graph_id, graph) for graph in graphs)
    return sorted(known.values(), key=Graph.sort_key)


def _parse_chunks(sentences: list[str], parser: Parser) -> Iterator[list[Graph]]:
    # Longest first: batches are even, and memory runs out at the start or never.
    order = sorted(sentences, key=lambda sentence: (-len(sentence), sentence))
    for start in range(0, len(order), _CHUNK):
        chunk = order[start : start + _CHUNK]
        yield [
            Graph(
                graph_id=Graph.key(sentence, parser.signature),
                sentence=sentence,
                parser=parser.signature,
                penman=graph,
                reason=reason,
            )
            for sentence, (graph, reason) in zip(chunk, parser.parse(chunk), strict=True)
        ]


class _Cache:
    """Graphs of one parser signature in one file, one a line, only ever appended to."""

    def __init__(self, folder: Path, signature: str) -> None:
        self.path = folder / "graphs" / f"{hashlib.sha256(signature.encode()).hexdigest()[:24]}.jsonl"

    def read(self, wanted: dict[str, str]) -> dict[str, Graph]:
        found: dict[str, Graph] = {}
        if not self.path.exists():
            return found
        with self.path.open(encoding="utf-8", errors="replace") as stream:
            for line in stream:
                # A kill can leave half a line; it is parsed anew.
                try:
                    graph = Graph.model_validate_json(line)
                except ValueError:
                    continue
                if graph.graph_id in wanted and graph.sentence == wanted[graph.graph_id]:
                    found[graph.graph_id] = graph
        return found

    def add(self, graphs: Iterable[Graph]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(graph.model_dump(mode="json"), ensure_ascii=False) + "\n" for graph in graphs)
        # One write under a lock: stages of several domains share the file.
        with self.path.open("ab") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            if stream.tell() and not _ends_line(self.path):
                stream.write(b"\n")
            stream.write(lines.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())


def _ends_line(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


# --- garbage ----------------------------------------------------------------------------------------------------

_VARIABLE = re.compile(r"[a-z]{1,2}\d+|[b-hj-z]")
_CYCLES = 6


def check_graph(text: str | None, *, decoded: bool = True) -> Parsed:
    """Keep what is one whole graph, as a single line; else null and the reason.

    Null are: nothing, `()`, what penman cannot read, a variable that is used but nowhere defined, a graph in several
    pieces, and the endless repetition into which a decoder can fall (not looked for if `decoded` is False).
    """
    if text is None:
        return None, "the parser returned no graph"
    body = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")).strip()
    if not body or re.fullmatch(r"[()\s]*", body):
        return None, "the parser returned an empty graph"
    try:
        tree = penman.parse(body)
        graph = penman.interpret(tree, model=NoOpModel())
        line = penman.format(tree, indent=None)
        read_triples(line)
    except (penman.PenmanError, InputError, IndexError, TypeError, ValueError) as error:
        return None, f"the parser's output is no graph: {type(error).__name__}"
    variables = graph.variables()
    if any(concept.target is None for concept in graph.instances()):
        return None, "a node of the graph has no concept"
    for _, role, value in graph.attributes():
        if value is None or _VARIABLE.fullmatch(str(value)):
            return None, f"the graph uses a variable that it does not define (at {role})"
    if len(_connected(graph)) < len(variables):
        return None, "the graph is in several pieces"
    if decoded and _cycles(line, variables):
        return None, "the graph repeats itself: the decoder fell into a cycle"
    return line, None


def _connected(graph: penman.Graph) -> set[str]:
    around: dict[str, list[str]] = {}
    for source, _, target in graph.edges():
        around.setdefault(source, []).append(target)
        around.setdefault(target, []).append(source)
    seen, todo = {graph.top}, [graph.top]
    while todo:
        for variable in around.get(todo.pop(), ()):
            if variable not in seen:
                seen.add(variable)
                todo.append(variable)
    return seen


def _cycles(line: str, variables: set[str]) -> bool:
    """Whether some run of the graph's tokens comes six times in a row, the numbers of variables and roles aside."""
    tokens = [
        re.sub(r"\d+$", "", token) if token.startswith(":") else token
        for token in re.findall(r'"[^"]*"|[()]|[^\s()"]+', line)
        if token not in variables and token not in ("/", ")")
    ]
    count = len(tokens)
    for period in range(2, min(count // _CYCLES, 40) + 1):
        run = 0
        for at in range(period, count):
            run = run + 1 if tokens[at] == tokens[at - period] else 0
            if run >= period * (_CYCLES - 1):
                return True
    return False


# --- several sentences, one graph -------------------------------------------------------------------------------


def join_graphs(penmans: Sequence[str]) -> str:
    """Join the graphs of a text's sentences under one `multi-sentence` node, `:snt1`, `:snt2`, … in order.

    A single graph is returned as it is. Variables are renamed (`s2x3`: the third node of sentence two).

    Raises:
        ValueError: there is no graph.

    >>> join_graphs(["(a / arrive-01)", "(a / amr-unknown)"])
    '(m / multi-sentence :snt1 (s1x0 / arrive-01) :snt2 (s2x0 / amr-unknown))'
    """
    if not penmans:
        raise ValueError("no graph to join")
    if len(penmans) == 1:
        return penmans[0]
    branches: list[tuple[str, Any]] = [("/", "multi-sentence")]
    for number, text in enumerate(penmans, start=1):
        tree = penman.parse(text)
        tree.reset_variables(f"s{number}x{{i}}")
        branches.append((f":snt{number}", tree.node))
    return penman.format(penman.Tree(("m", branches)), indent=None)


def text_graph(sentences: Sequence[str], graphs: dict[str, Graph]) -> Parsed:
    """The graph of a text, joined from its sentences' graphs; null with a reason if one of them has none.

    Args:
        sentences: the text's sentences (`sentences.split_sentences`).
        graphs: graphs by sentence, of one parser.
    """
    if not sentences:
        return None, "the text has no sentence"
    parts: list[str] = []
    for sentence in sentences:
        graph = graphs.get(sentence)
        if graph is None:
            return None, "a sentence was not parsed"
        if graph.penman is None:
            return None, graph.reason or "a sentence has no graph"
        parts.append(graph.penman)
    return join_graphs(parts), None

"""Graph metrics: SMATCH and its sub-scores between AMR graphs of responses and of what they are held against.

Which graphs are compared (arXiv 2512.05700, section IV-B and Tables I–III; readings in
docs/decisions/0405-graph-pairs.md):

* short- and long-form QA: every sentence of the response against every sentence of every reference; mean, max, min;
* conversational QA: the whole response against each whole reference; the best;
* summarisation: `Turn GT`, each point against its best reference point; `Turn Transcript`, each point against its
  best turn; `Transcript`, the whole summary against the whole transcript, one pair, so mean, max and min are equal.

The fact tuples of answers are scored in `facts.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from importlib.metadata import version
from inspect import signature as signature_of
from multiprocessing import get_context
from pathlib import Path

from faithfuse.amr.alignment import WORK_LIMIT
from faithfuse.amr.parse import Parsed, text_graph
from faithfuse.amr.sentences import (
    item_sentences,
    response_sentences,
    split_sentences,
    transcript_sentence,
    turn_sentences,
)
from faithfuse.amr.smatch import EXTENSIONS, SUBSCORES, Match
from faithfuse.amr.triples import read_triples
from faithfuse.errors import InputError
from faithfuse.metrics.aggregate import (
    AGGREGATES,
    NO_REFERENCE,
    Cell,
    Column,
    Pair,
    Progress,
    best,
    column,
    no_text,
    point_spread,
    silent,
    spread,
    spread_columns,
)
from faithfuse.metrics.cases import Case, Key
from faithfuse.metrics.facts import fact_columns
from faithfuse.records import Domain, Graph

NO_SENTENCE = "the response has no sentence"
NO_REFERENCE_SENTENCE = "the references have no sentence"
NO_TURN = "the transcript has no sentence"
NOTHING_TO_COMPARE = "neither graph has what the score compares"


class GraphBook:
    """The graphs of one parser by sentence.

    Args:
        graphs: graph records, all of one parser.
        path: the file they are from, for errors.

    Raises:
        InputError: there are no graphs, they are of several parsers, or one is not well formed.
    """

    def __init__(self, graphs: Iterable[Graph], path: Path | str | None = None) -> None:
        self.by_sentence: dict[str, Graph] = {}
        parsers: set[str] = set()
        for graph in graphs:
            parsers.add(graph.parser)
            if graph.penman is not None:
                try:
                    read_triples(graph.penman)
                except InputError as error:
                    raise InputError(
                        f"holds a broken graph ({error.found})",
                        path=path,
                        record=graph.graph_id,
                        fix="Parse again with `faithfuse parse`, or make the graph null with a reason.",
                    ) from None
            self.by_sentence[graph.sentence] = graph
        if len(parsers) != 1:
            raise InputError(
                "holds no graphs" if not parsers else f"holds graphs of several parsers: {', '.join(sorted(parsers))}",
                path=path,
                fix="Give the file that one run of `faithfuse parse` wrote for these items and responses.",
            )
        self.parser = parsers.pop()

    def sentence(self, sentence: str) -> Parsed:
        """The graph of one sentence, or null with the reason."""
        return text_graph([sentence], self.by_sentence)

    def text(self, text: str) -> Parsed:
        """The graph of a text, its sentences' graphs joined, or null with the reason."""
        return text_graph(split_sentences(text), self.by_sentence)


class GraphScores:
    """SMATCH (F1, precision, recall) and the sub-scores of distinct graph pairs, each computed once.

    Args:
        parser: the parser's signature.
        time_limit: stop an alignment after so many seconds; the best one found then counts, as not proven, and the
            score depends on the machine. Without it the solver's limits count work.
        processes: how many pairs are scored at a time.
    """

    def __init__(self, parser: str, time_limit: float | None = None, processes: int = 1) -> None:
        self._time_limit, self._processes = time_limit, processes
        limit = f"work {WORK_LIMIT}" + ("" if time_limit is None else f", {time_limit:g} s")
        base = (
            f"faithfuse smatch|alignment:optimal|limit:{limit}|triples:smatch-1.0.4"
            f"|scipy=={version('scipy')}|parser:{parser}"
        )
        self.signatures = {name: f"{base}|{name}" for name in SUBSCORES}
        self.signatures |= {f"SMATCH {part}": f"{base}|SMATCH {part}" for part in ("precision", "recall")}
        self.plain = frozenset(self.signatures)
        self.signatures |= {name: f"{base}|{name}" for name in EXTENSIONS}
        # The corrected variants stand beside the paper's rows in full; parts and further sub-scores by their mean.
        corrected = {name for name in EXTENSIONS if name.startswith(tuple(SUBSCORES))}
        self.mean_only = frozenset(self.signatures.keys() - SUBSCORES.keys() - corrected)
        self._scores: dict[Pair, dict[str, Cell]] = {}

    def compute(
        self,
        pairs: Iterable[tuple[Parsed, Parsed]],
        progress: Progress = silent,
        *,
        plain: Iterable[tuple[Parsed, Parsed]] = (),
    ) -> None:
        """Score the pairs of which both graphs exist.

        Args:
            pairs: pairs that get every score.
            progress: told of each scored pair.
            plain: further pairs, which get the paper's scores and the parts of SMATCH alone; there are many of
                these, against every turn of a transcript, and the other scores cost most.
        """
        full, rest = (
            {(left[0], right[0]) for left, right in some if left[0] is not None and right[0] is not None}
            for some in (pairs, plain)
        )
        distinct = full | rest
        # Pairs with the same right graph come together, so that what is read of it is still at hand.
        ordered = sorted(distinct, key=lambda pair: (pair[1], pair[0]))
        score = partial(_cells, full=frozenset(full), time_limit=self._time_limit)
        with ExitStack() as stack:
            scored: Iterable[dict[str, Cell]] = map(score, ordered)
            if self._processes > 1:
                pool = stack.enter_context(ProcessPoolExecutor(self._processes, get_context("spawn")))
                scored = pool.map(score, ordered, chunksize=8)
            for done, (pair, cells) in enumerate(zip(ordered, scored, strict=True), start=1):
                self._scores[pair] = cells
                progress("graph", done, len(ordered))

    def cell(self, left: Parsed, right: Parsed, name: str) -> Cell:
        """A computed score, or null with the reason of the graph that is missing."""
        for graph, reason in (left, right):
            if graph is None:
                return Cell(None, reason)
        return self._scores[left[0], right[0]][name]


_LIMITED = frozenset(
    name for name, score in (SUBSCORES | EXTENSIONS).items() if "time_limit" in signature_of(score).parameters
)


def _cells(pair: Pair, full: frozenset[Pair], time_limit: float | None) -> dict[str, Cell]:
    cells: dict[str, Cell] = {}
    for name, score in (SUBSCORES | (EXTENSIONS if pair in full else {})).items():
        match = score(*pair, time_limit=time_limit) if name in _LIMITED else score(*pair)
        cells[name] = _cell(match)
        if name == "SMATCH" and match is not None:
            cells["SMATCH precision"] = Cell(match.precision, not_proven=int(not match.proven))
            cells["SMATCH recall"] = Cell(match.recall, not_proven=int(not match.proven))
    return cells


def _cell(match: Match | None) -> Cell:
    if match is None:
        return Cell(None, NOTHING_TO_COMPARE)
    return Cell(match.f1, not_proven=int(not match.proven))


def graph_columns(
    cases: Sequence[Case],
    book: GraphBook,
    progress: Progress = silent,
    *,
    whole_transcript: bool = False,
    time_limit: float | None = None,
    processes: int = 1,
) -> list[Column]:
    """Graph columns of cases of one domain.

    Args:
        cases: the responses with their items.
        book: the graphs of every sentence in them.
        progress: told of each scored pair.
        whole_transcript: take the transcript's graph from the whole transcript parsed as one input, not from its
            sentences' graphs joined (sentences without a graph left out and counted).
        time_limit: see `GraphScores`.
        processes: see `GraphScores`.
    """
    if not cases:
        return []
    domain = cases[0].item.domain
    scores = GraphScores(book.parser, time_limit, processes)
    if domain == Domain.SUMMARISATION:
        return _summary_columns(cases, book, scores, progress, whole_transcript)
    if domain == Domain.CONVERSATIONAL_QA:
        return _whole_answer_columns(cases, book, scores, progress) + fact_columns(cases, book)
    return _sentence_columns(cases, book, scores, progress) + fact_columns(cases, book)


def _sentence_columns(cases: Sequence[Case], book: GraphBook, scores: GraphScores, progress: Progress) -> list[Column]:
    pairs: dict[Key, list[tuple[Parsed, Parsed]]] = {}
    empty: dict[Key, str] = {}
    for case in cases:
        ours = response_sentences(case.response, case.item.domain)
        theirs = item_sentences(case.item)
        pairs[case.key] = [(book.sentence(a), book.sentence(b)) for a in ours for b in theirs]
        if not case.gold:
            empty[case.key] = NO_REFERENCE
        else:
            empty[case.key] = NO_REFERENCE_SENTENCE if not theirs else NO_SENTENCE
    scores.compute((pair for each in pairs.values() for pair in each), progress)
    columns = []
    for name, signature in scores.signatures.items():
        spreads = {
            case.key: dict.fromkeys(AGGREGATES, no_text(case))
            if case.response.text is None
            else spread((scores.cell(*pair, name) for pair in pairs[case.key]), empty[case.key])
            for case in cases
        }
        mean_only = name in scores.mean_only
        columns += spread_columns(name, f"{signature}|pairs:all sentences", spreads, mean_only=mean_only)
    return columns


def _whole_answer_columns(
    cases: Sequence[Case], book: GraphBook, scores: GraphScores, progress: Progress
) -> list[Column]:
    pairs = {
        case.key: [(book.text(case.response.text), book.text(gold)) for gold in case.gold]
        if case.response.text is not None
        else []
        for case in cases
    }
    scores.compute((pair for each in pairs.values() for pair in each), progress)
    columns = []
    for name, signature in scores.signatures.items():
        cells = {
            case.key: no_text(case)
            if case.response.text is None
            else best((scores.cell(*pair, name) for pair in pairs[case.key]), NO_REFERENCE)
            for case in cases
        }
        columns.append(column(name, f"{signature}|whole texts|references:best", cells))
    return columns


def _summary_columns(
    cases: Sequence[Case], book: GraphBook, scores: GraphScores, progress: Progress, whole_transcript: bool
) -> list[Column]:
    points = {case.key: [book.text(point) for point in case.points] for case in cases}
    ground_truth = {case.key: [book.text(point) for point in case.reference_points] for case in cases}
    turns: dict[Key, list[Parsed]] = {}
    transcripts: dict[Key, tuple[Parsed, Parsed]] = {}
    left_out: dict[Key, int] = {}
    for case in cases:
        # A turn without a sentence (a lone emoji) has nothing to parse: it is no turn to compare with.
        spoken = [sentences for turn in case.item.context if (sentences := turn_sentences(turn))]
        turns[case.key] = [text_graph(sentences, book.by_sentence) for sentences in spoken]
        summary = [sentence for point in case.points for sentence in split_sentences(point)]
        whole = (
            [transcript_sentence(case.item)]
            if whole_transcript
            else [sentence for sentences in spoken for sentence in sentences]
        )
        # In a long dialogue some sentence ("Oh!") often has no graph; the transcript is joined from the others.
        parsed = [sentence for sentence in whole if book.sentence(sentence)[0] is not None]
        left_out[case.key] = len(whole) - len(parsed) if parsed else 0
        transcripts[case.key] = (
            text_graph(summary, book.by_sentence),
            text_graph(parsed or whole, book.by_sentence),
        )
    against_points, against_turns = (
        [(point, other) for case in cases for point in points[case.key] for other in others[case.key]]
        for others in (ground_truth, turns)
    )
    whole_summaries = [transcripts[case.key] for case in cases if case.points]
    scores.compute(against_points, progress, plain=[*against_turns, *whole_summaries])

    columns = []
    for prefix, others, otherwise in (("Turn GT", ground_truth, NO_REFERENCE), ("Turn Transcript", turns, NO_TURN)):
        for name, signature in scores.signatures.items():
            if others is turns and name not in scores.plain:
                continue
            spreads = {
                case.key: point_spread(
                    case,
                    [
                        best((scores.cell(point, other, name) for other in others[case.key]), otherwise)
                        for point in points[case.key]
                    ],
                )
                for case in cases
            }
            about = f"{signature}|points:best match|against:{prefix}"
            mean_only = name in scores.mean_only
            columns += spread_columns(f"{prefix} {name}", about, spreads, mean_only=mean_only)
    against = f"whole summary|against:transcript, {'one input' if whole_transcript else 'joined'}"
    for name, signature in scores.signatures.items():
        if name not in scores.plain:
            continue
        # One pair for the whole summary: the value is of no single point.
        spreads = {
            case.key: dict(
                point_spread(
                    case,
                    [_partly(scores.cell(*transcripts[case.key], name), left_out[case.key])] if case.points else [],
                )
            )
            for case in cases
        }
        mean_only = name not in SUBSCORES
        columns += spread_columns(f"Transcript {name}", f"{signature}|{against}", spreads, mean_only=mean_only)
    return columns


def _partly(cell: Cell, left_out: int) -> Cell:
    return cell if cell.value is None else cell._replace(partial=cell.partial + left_out)

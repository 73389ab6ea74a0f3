"""The metric table and the files beside it, as docs/pipeline.md describes them."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from faithfuse import __version__
from faithfuse.metrics.aggregate import Column, Progress, silent, text_columns
from faithfuse.metrics.cases import Case
from faithfuse.metrics.embedding import BertScore
from faithfuse.metrics.given import score_columns
from faithfuse.metrics.graph import GraphBook, graph_columns
from faithfuse.metrics.llm import llm_columns
from faithfuse.metrics.matching import Matching
from faithfuse.metrics.ngram import Ngram
from faithfuse.metrics.registry import CLASSES
from faithfuse.records import Domain, Score, Verdict, atomic_write


def metric_columns(
    cases: Sequence[Case],
    *,
    verdicts: Sequence[Verdict] | None = None,
    judges: Mapping[str, str] | None = None,
    scores: Sequence[Score] | None = None,
    score_signatures: Mapping[str, str] | None = None,
    graphs: GraphBook | None = None,
    encoder: BertScore | None = None,
    stemmer: bool = False,
    whole_transcript: bool = False,
    graph_seconds: float | None = None,
    processes: int = 1,
    progress: Progress = silent,
) -> list[Column]:
    """All metrics of the cases of one domain that the inputs allow, in the order of the table.

    The order is that of the metric classes, the paper's metrics before the extensions. What is not given leaves its
    metrics out: no verdicts, no LLM columns.

    Args:
        cases: responses with their items, of one domain.
        verdicts: the LLM judge's verdicts on them.
        judges: full signatures of the judges, by the key in the verdicts.
        scores: further metrics' values.
        score_signatures: signatures of those metrics.
        graphs: the graphs of their sentences.
        encoder: the encoder of BERTScore.
        stemmer: Porter stemming in ROUGE.
        whole_transcript: see `graph.graph_columns`.
        graph_seconds: see `graph.GraphScores`, `time_limit`.
        processes: see `graph.GraphScores`.
        progress: told how far each family is.

    Raises:
        InputError: a verdict, score or graph does not fit the cases.
    """
    domain = cases[0].item.domain if cases else None
    columns: list[Column] = []
    if verdicts is not None:
        columns += llm_columns(cases, verdicts, judges)
    ngram = Ngram(stemmer=stemmer)
    columns += text_columns(cases, ngram, progress)
    if domain in (Domain.CONVERSATIONAL_QA, Domain.SUMMARISATION):
        columns += ngram.transcript_columns(cases)
    if encoder is not None:
        columns += text_columns(cases, encoder, progress)
        if domain == Domain.SUMMARISATION:
            columns += encoder.turn_columns(cases, progress)
    if graphs is not None:
        columns += graph_columns(
            cases,
            graphs,
            progress,
            whole_transcript=whole_transcript,
            time_limit=graph_seconds,
            processes=processes,
        )
    columns += text_columns(cases, Matching(), progress)
    if scores is not None:
        names = [column.name for column in columns]
        columns += score_columns(cases, scores, score_signatures or {}, names)
    rank = {name: number for number, name in enumerate(CLASSES)}
    return sorted(columns, key=lambda column: (rank.get(column.metric_class, len(rank)), column.extension))


def meta(columns: Sequence[Column], domain: Domain, inputs: Iterable[Path | str] = ()) -> dict:
    """What `METRICS.csv.meta.json` says.

    `partial` counts the values of which some pairs could not be scored, `not_proven` those that rest on a graph
    alignment not proven best; both are left out where none occur. `judge` says of an LLM metric how many verdicts
    are behind it, how many of them the judge itself would not have begun with a label, and the labels' median mass.
    """
    metrics = {}
    for column in columns:
        cells = column.cells.values()
        reasons = Counter(cell.reason or "no reason given" for cell in cells if cell.value is None)
        entry = {
            "class": column.metric_class,
            "extension": column.extension,
            "signature": column.signature,
            "scored": sum(cell.value is not None for cell in cells),
            "unscored": sum(reasons.values()),
            "reasons": dict(sorted(reasons.items())),
        }
        for name in ("partial", "not_proven"):
            count = sum(cell.value is not None and getattr(cell, name) > 0 for cell in cells)
            if count:
                entry[name] = count
        if column.judge:
            entry["judge"] = dict(column.judge)
        metrics[column.name] = entry
    digests = [{"name": Path(path).name, "sha256": _digest(path)} for path in inputs]
    return {"domain": str(domain), "faithfuse": __version__, "inputs": digests, "metrics": metrics}


def _digest(path: Path | str) -> str:
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_table(out: Path | str, cases: Sequence[Case], columns: Sequence[Column], about: dict) -> tuple[Path, ...]:
    """Write the table, its meta file, its list of unscored cells and the values of single points; all appear, or none.

    Args:
        out: `METRICS.csv`.
        cases: the rows, written in the order of `(item_id, system)`.
        columns: the metrics, written in this order.
        about: the content of the meta file (`meta`).

    Returns:
        The paths of the four files.
    """
    out = Path(out)
    beside = tuple(out.with_name(f"{out.name}.{name}") for name in ("meta.json", "unscored.csv", "points.csv"))
    rows = sorted(cases, key=lambda case: case.key)
    with ExitStack() as stack:
        table, meta_file, unscored, points = (stack.enter_context(atomic_write(path)) for path in (out, *beside))
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(["item_id", "system", "group", *(column.name for column in columns)])
        missing = csv.writer(unscored, lineterminator="\n")
        missing.writerow(["item_id", "system", "metric", "reason"])
        for case in rows:
            cells = [column.cells[case.key] for column in columns]
            values = ["" if cell.value is None else repr(float(cell.value)) for cell in cells]
            writer.writerow([*case.key, case.item.group, *values])
            for column, cell in zip(columns, cells, strict=True):
                if cell.value is None:
                    missing.writerow([*case.key, column.name, cell.reason or "no reason given"])
        _write_points(points, rows, columns)
        json.dump(about, meta_file, ensure_ascii=False, indent=2, allow_nan=False)
        meta_file.write("\n")
    return out, *beside


def _write_points(stream: TextIO, cases: Sequence[Case], columns: Sequence[Column]) -> None:
    """One row for each point of a summary, under the names of the means over points; empty where there is no value."""
    over_points = [column for column in columns if column.points]
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["item_id", "system", "point", *(column.name for column in over_points)])
    if not over_points:
        return
    for case in cases:
        for point in range(len(case.points)):
            cells = [column.points[case.key][point] for column in over_points if case.key in column.points]
            if len(cells) == len(over_points):
                values = ["" if cell.value is None else repr(float(cell.value)) for cell in cells]
                writer.writerow([*case.key, point, *values])

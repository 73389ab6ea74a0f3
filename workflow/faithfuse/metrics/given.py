"""Metrics that come ready from score files, such as the LLM likelihood or a user's own metric."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from faithfuse.errors import InputError
from faithfuse.metrics.aggregate import AGGREGATES, Cell, Column, no_text, point_cells, point_spread
from faithfuse.metrics.cases import Case, Key
from faithfuse.metrics.described import model_signature, read_beside
from faithfuse.metrics.registry import OTHER, metric_info
from faithfuse.records import Score, read_records

NO_GIVEN_SCORE = "the score file has no value"


def score_columns(
    cases: Sequence[Case], scores: Iterable[Score], signatures: dict[str, str], taken: Iterable[str]
) -> list[Column]:
    """Columns of metrics that come from score files; scores of points become mean, maximum and minimum.

    Scores of other responses than the cases' are ignored.

    Args:
        cases: the responses with their items.
        scores: scores of whole responses (`point` null) or of points.
        signatures: a metric's signature where the score file came with one.
        taken: metric names the table already has.

    Raises:
        InputError: a metric has two values of one response or point, the name of one in the table, or a point that
            does not exist.
    """
    by_key = {case.key: case for case in cases}
    whole: dict[str, dict[Key, Cell]] = defaultdict(dict)
    points: dict[str, dict[Key, dict[int, Cell]]] = defaultdict(lambda: defaultdict(dict))
    for score in scores:
        key = (score.item_id, score.system)
        case = by_key.get(key)
        if case is None or (case.response.text is None and score.point is not None):
            continue
        cell = Cell(score.value, score.reason if score.value is None else None)
        filled: dict = whole[score.metric] if score.point is None else points[score.metric][key]
        place = key if score.point is None else score.point
        if place in filled:
            raise InputError(
                f"has two values of {score.metric}" + ("" if score.point is None else f" of point {score.point}"),
                record=" ".join(key),
                fix="Give each score once, or give the metrics different names.",
            )
        if score.point is not None and score.point >= len(case.points):
            raise InputError(
                f"has {score.metric} of point {score.point}, the response has {len(case.points)} points",
                record=" ".join(key),
                fix="Score the same responses file that the metrics are computed from (points count from 0).",
            )
        filled[place] = cell
    names = set(taken)
    columns: list[Column] = []

    def add(name: str, metric: str, cells: dict[Key, Cell]) -> None:
        if name in names:
            raise InputError(
                f"a score file brings the metric {name}, which the table already has",
                fix="Rename the metric in the score file.",
            )
        names.add(name)
        columns.append(_given_column(name, signatures.get(metric, f"score file|{metric}"), cells))

    for metric in sorted(whole.keys() | points.keys()):
        if metric in whole:
            given = whole[metric]
            add(metric, metric, {case.key: _given_cell(case, given.get(case.key)) for case in cases})
        if metric in points:
            by_point = points[metric]
            spreads = {
                case.key: point_spread(
                    case, [_given_cell(case, by_point[case.key].get(point)) for point in range(len(case.points))]
                )
                for case in cases
            }
            for aggregate in AGGREGATES:
                add(f"{metric} {aggregate}", metric, {key: cells[aggregate] for key, cells in spreads.items()})
            columns[-len(AGGREGATES)] = columns[-len(AGGREGATES)]._replace(points=point_cells(spreads))
    return columns


def _given_cell(case: Case, cell: Cell | None) -> Cell:
    if cell is not None:
        return cell
    return no_text(case) if case.response.text is None else Cell(None, NO_GIVEN_SCORE)


def _given_column(name: str, signature: str, cells: dict[Key, Cell]) -> Column:
    try:
        info = metric_info(name)
    except KeyError:
        return Column(name, OTHER, True, signature, cells)
    return Column(name, info.metric_class, info.extension, signature, cells)


def read_scores(paths: Iterable[Path | str]) -> tuple[list[Score], dict[str, str]]:
    """Read score files and, where `SCORES.jsonl.meta.json` stands beside one, its metrics' signatures.

    Raises:
        InputError: a file cannot be read, or the meta file has not the form of a metric table's.
    """
    scores: list[Score] = []
    signatures: dict[str, str] = {}
    for path in paths:
        found = read_records(path, Score)
        scores += found
        content = read_beside(path)
        model = model_signature(content)
        if model is not None:
            signatures |= {score.metric: f"model:{model}|{score.metric}" for score in found}
        try:
            metrics = content.get("metrics", {})
            signatures |= {name: str(about["signature"]) for name, about in metrics.items()}
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"does not describe scores ({type(error).__name__}: {error})",
                path=f"{path}.meta.json",
                fix='Write {"metrics": {NAME: {"signature": ...}}}, or remove the file.',
            ) from None
    return scores, signatures

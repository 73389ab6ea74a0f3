"""From the scores of single text or graph pairs to the columns of the metric table.

Question answering takes the best reference. Summaries pair each generated point with the reference point it
scores highest against and then take mean, maximum and minimum over the generated points (arXiv 2512.05700,
section V-C). Unscored pairs are left out of an aggregate and counted; an aggregate of nothing is null.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from faithfuse.metrics.cases import Case, Key
from faithfuse.metrics.registry import metric_info
from faithfuse.records import Domain

AGGREGATES = ("mean", "max", "min")
NO_REFERENCE = "the item has no reference"
NO_POINTS = "the response has no points"

Pair = tuple[str, str]
Progress = Callable[[str, int, int], None]


def silent(what: str, done: int, total: int) -> None:
    """A `Progress` that says nothing."""


class Cell(NamedTuple):
    """One value of the metric table, or null with the reason.

    `partial` counts the pairs that could not be scored and were left out of an aggregate; `not_proven` the
    graph alignments in it whose optimality the solver did not prove in its time limit.
    """

    value: float | None
    reason: str | None = None
    partial: int = 0
    not_proven: int = 0


class Column(NamedTuple):
    """One metric over all responses.

    `points` holds the cells of a summary's single points behind a mean over them, by response; it is empty for every
    other metric. `judge` sums up the verdicts behind an LLM metric; empty for every other.
    """

    name: str
    metric_class: str
    extension: bool
    signature: str
    cells: dict[Key, Cell]
    points: Mapping[Key, Sequence[Cell]] = {}
    judge: Mapping[str, int | float | None] = {}


class Spread(dict[str, Cell]):
    """Mean, maximum and minimum by the names in `AGGREGATES`, and the cells of the points they are of, if of points."""

    points: Sequence[Cell] = ()


class PairMetric(Protocol):
    """A family of metrics on (candidate, reference) text pairs, such as ROUGE or BERTScore."""

    signatures: Mapping[str, str]
    """Signature of each metric by its name, in table order."""
    mean_only: frozenset[str]
    """Metrics of which summaries get the mean over the points, but no maximum and minimum."""

    def score(self, pairs: Sequence[Pair], progress: Progress = silent) -> dict[Pair, dict[str, Cell]]:
        """Score distinct pairs: each pair's cells by metric name."""
        ...


def column(name: str, signature: str, cells: dict[Key, Cell]) -> Column:
    """A column of a metric that the registry knows."""
    info = metric_info(name)
    return Column(name, info.metric_class, info.extension, signature, cells)


def best(cells: Iterable[Cell], otherwise: str) -> Cell:
    """The highest value; null if none is scored, with `otherwise` as the reason if there are no cells at all."""
    return _fold(list(cells), max, otherwise)


def spread(cells: Iterable[Cell], otherwise: str) -> dict[str, Cell]:
    """Mean, maximum and minimum of the scored cells, by the names in `AGGREGATES`."""
    cells = list(cells)
    folds: dict[str, Callable[[list[float]], float]] = {"mean": _mean, "max": max, "min": min}
    return {name: _fold(cells, folds[name], otherwise) for name in AGGREGATES}


def _fold(cells: list[Cell], fold: Callable[[list[float]], float], otherwise: str) -> Cell:
    values = [cell.value for cell in cells if cell.value is not None]
    if not values:
        return Cell(None, _commonest_reason(cells) or otherwise)
    partial = sum(cell.partial for cell in cells) + len(cells) - len(values)
    return Cell(fold(values), None, partial, sum(cell.not_proven for cell in cells))


def _mean(values: list[float]) -> float:
    # fsum rounds once, so the mean does not depend on the order of the pairs. The clamp keeps the rounding of the
    # division from putting the mean of equal values a hair outside them.
    return min(max(math.fsum(values) / len(values), min(values)), max(values))


def _commonest_reason(cells: list[Cell]) -> str | None:
    counts = Counter(cell.reason for cell in cells if cell.reason)
    return min(counts, key=lambda reason: (-counts[reason], reason)) if counts else None


def text_columns(cases: Sequence[Case], metric: PairMetric, progress: Progress = silent) -> list[Column]:
    """Columns of a text metric for cases of one domain.

    Question answering: one column per metric, the best over the item's references. Summarisation: per metric
    `NAME mean|max|min` over the generated points, each against its best reference point, and `NAME full`, the
    whole summary against the best whole reference. Parts of a metric (`mean_only`) get the mean alone.
    """
    if cases and cases[0].item.domain == Domain.SUMMARISATION:
        return _summary_columns(cases, metric, progress)
    scores = metric.score(_distinct((text, gold) for text, gold in _answer_pairs(cases)), progress)
    columns = []
    for name, signature in metric.signatures.items():
        cells = {}
        for case in cases:
            text = case.response.text
            cells[case.key] = (
                no_text(case) if text is None else best((scores[text, gold][name] for gold in case.gold), NO_REFERENCE)
            )
        columns.append(column(name, f"{signature}|references:best", cells))
    return columns


def _answer_pairs(cases: Sequence[Case]) -> Iterable[Pair]:
    for case in cases:
        if case.response.text is not None:
            for gold in case.gold:
                yield case.response.text, gold


def _summary_columns(cases: Sequence[Case], metric: PairMetric, progress: Progress) -> list[Column]:
    wanted = [(point, gold) for case in cases for point in case.points for gold in case.reference_points]
    wanted += [(case.full_text(), gold) for case in cases if case.points for gold in case.gold]
    scores = metric.score(_distinct(wanted), progress)
    by_point: list[Column] = []
    whole: list[Column] = []
    for name, signature in metric.signatures.items():
        spreads = {
            case.key: point_spread(
                case,
                [
                    best((scores[point, gold][name] for gold in case.reference_points), NO_REFERENCE)
                    for point in case.points
                ],
            )
            for case in cases
        }
        by_point += spread_columns(name, f"{signature}|points:best match", spreads, mean_only=name in metric.mean_only)
        full = {
            case.key: best((scores[case.full_text(), gold][name] for gold in case.gold), NO_REFERENCE)
            if case.points
            else no_text(case)
            for case in cases
        }
        whole.append(column(f"{name} full", f"{signature}|whole summary|references:best", full))
    return by_point + whole


def spread_columns(
    name: str, signature: str, spreads: Mapping[Key, Mapping[str, Cell]], *, mean_only: bool = False
) -> list[Column]:
    """The columns `NAME mean` (with the values of single points), `NAME max` and `NAME min`, or the first alone."""
    columns = [
        column(f"{name} {each}", f"{signature}|{each}", {key: cells[each] for key, cells in spreads.items()})
        for each in (AGGREGATES[:1] if mean_only else AGGREGATES)
    ]
    return [columns[0]._replace(points=point_cells(spreads)), *columns[1:]]


def point_cells(spreads: Mapping[Key, Mapping[str, Cell]]) -> dict[Key, Sequence[Cell]]:
    """The cells of single points behind spreads over points, by response."""
    return {key: cells.points for key, cells in spreads.items() if isinstance(cells, Spread) and cells.points}


def point_spread(case: Case, cells: Sequence[Cell]) -> Spread:
    """Mean, maximum and minimum over a summary's points; null with the response's reason if it has no text."""
    if case.response.text is None:
        return Spread(dict.fromkeys(AGGREGATES, no_text(case)))
    over = Spread(spread(cells, NO_POINTS))
    if len(cells) == len(case.points):
        over.points = tuple(cells)
    return over


def no_text(case: Case) -> Cell:
    """The null cell of a response without text or without points."""
    return Cell(None, case.response.reason if case.response.text is None else NO_POINTS)


def _distinct(pairs: Iterable[Pair]) -> list[Pair]:
    return sorted(set(pairs))

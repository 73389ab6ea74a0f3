"""Tables of sets: what is known, and what an import holds, with the raters' agreement."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from faithfuse.datasets.card import read_card
from faithfuse.errors import InputError
from faithfuse.records import Rating, atomic_write, read_records


class Table(NamedTuple):
    """A header and rows of cells; a null cell is shown empty."""

    header: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def known_sets() -> Table:
    """All sets that can be imported or loaded, with what they read."""
    from faithfuse.datasets.ratings import IMPORTERS
    from faithfuse.datasets.sources import SOURCES

    rows: list[tuple[Any, ...]] = [
        (name, "data import", importer.domain or "any", importer.licence, importer.reads)
        for name, importer in IMPORTERS.items()
    ]
    rows += [(name, "data load", source.subset, source.licence, source.layout) for name, source in SOURCES.items()]
    return Table(("set", "command", "domain or subset", "licence", "reads"), rows)


RESAMPLES = 1000
COUNTS = ("items", "responses", "systems", "ratings", "abstentions", "raters")
HEADER = (
    "set",
    "domain",
    "items",
    "responses",
    "systems",
    "ratings",
    "abstained",
    "raters",
    "mean_likert",
    "share_faithful",
    "alpha",
    "alpha_low",
    "alpha_high",
    "alpha_note",
)


def describe_folders(folders: Sequence[Path]) -> Table:
    """One row per import folder; alpha is Krippendorff's, of the Likert ratings at the interval level, with its 95%
    bootstrap interval over items, where responses (or points) have several raters.

    Raises:
        InputError: a folder is not of `data import`.
    """
    return Table(HEADER, [_row(folder) for folder in folders])


def _row(folder: Path) -> tuple[Any, ...]:
    from faithfuse.analysis.agreement import agreement_rows

    fix = "Name a folder that `data import` wrote."
    card = read_card(folder, {"set": str, "domain": (str, None), "counts": dict}, fix)
    if not set(COUNTS) <= set(card["counts"]):
        raise InputError("holds no human judgements", path=folder, fix=fix)
    ratings = read_records(folder / "ratings.jsonl", Rating)
    given = [rating.likert for rating in ratings if rating.likert is not None]
    alpha = agreement_rows(ratings, resamples=RESAMPLES)[0]
    return (
        card["set"],
        card["domain"],
        *(card["counts"][name] for name in COUNTS),
        sum(given) / len(given) if given else None,
        sum(likert >= 3 for likert in given) / len(given) if given else None,
        alpha["alpha"],
        alpha["low"],
        alpha["high"],
        alpha["reason"] or None,
    )


def show(table: Table) -> None:
    """Print a table: aligned on a terminal, tab-separated into a pipe."""
    if not sys.stdout.isatty():
        writer = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
        writer.writerow(table.header)
        writer.writerows([_text(cell) for cell in row] for row in table.rows)
        return
    from rich.console import Console
    from rich.table import Table as RichTable

    shown = RichTable(*table.header)
    for row in table.rows:
        shown.add_row(*(_text(cell) for cell in row))
    Console().print(shown)


def write_table(table: Table, path: Path) -> None:
    """Write a table as CSV, numbers in full."""
    with atomic_write(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(table.header)
        writer.writerows(["" if cell is None else cell for cell in row] for row in table.rows)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)

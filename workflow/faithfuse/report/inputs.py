"""Reading what the report shows: result CSVs, metric-table sidecars and run settings.

Every reader checks that the file is there and has the columns it needs, so that a missing or foreign file is an
error that names it, never a hole in a figure.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from faithfuse.errors import InputError
from faithfuse.records import Domain

STATE_COLUMNS = ("I", "A", "M", "D", "endpoint", "oracle")
COUNT_COLUMNS = ("quantity", "ours", "paper", "unit")
MUTATION_COLUMNS = ("case", "defect", "rejected", "code", "expected_code")

DOMAIN_TITLES = {
    Domain.SHORT_FORM_QA.value: "Short-form QA",
    Domain.LONG_FORM_QA.value: "Long-form QA",
    Domain.CONVERSATIONAL_QA.value: "Conversational QA",
    Domain.SUMMARISATION.value: "Summarisation",
    Domain.TASK_ORIENTED.value: "Task-oriented dialogue",
}
CLASS_TITLES = {
    "llm": "LLM",
    "n-gram": "N-gram",
    "embedding": "Embedding",
    "graph": "Graph",
    "matching": "Matching",
    "human": "Human",
}

Row = dict[str, str]


class Sheet(NamedTuple):
    """A CSV file: its column names, its rows as text, and where it was read."""

    path: Path
    columns: list[str]
    rows: list[Row]

    def number(self, row: Row, column: str) -> float | None:
        """The value of a cell; None for an empty cell.

        Raises:
            InputError: the cell holds something else than a finite number.
        """
        text = row.get(column, "").strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(
                f"column {column} holds {text!r:.60}, which is no finite number",
                path=self.path,
                line=self.rows.index(row) + 2,
                fix="Leave the cell empty where there is no value, or run the stage that writes the file again.",
            )
        return value


def is_true(text: str) -> bool:
    """Whether a cell says yes."""
    return text.strip().lower() in ("true", "1", "yes")


def domain_title(domain: str) -> str:
    """The name of a domain, or of a further set (`<domain>.<set>`), as a reader knows it; others keep their name."""
    domain, _, set_name = domain.partition(".")
    title = DOMAIN_TITLES.get(domain, domain.replace("_", " ").capitalize())
    if not set_name:
        return title
    from faithfuse.datasets.ratings import IMPORTERS

    return f"{title}: {IMPORTERS[set_name].title if set_name in IMPORTERS else set_name}"


def class_title(metric_class: str) -> str:
    """The name of a metric class as the paper's Table IV writes it."""
    return CLASS_TITLES.get(metric_class.lower(), metric_class)


def class_rank(metric_class: str) -> int:
    """The class's place in the order of Table IV; classes of the user's own come last."""
    known = list(CLASS_TITLES)
    return known.index(metric_class.lower()) if metric_class.lower() in known else len(known)


def domain_rank(domain: str) -> tuple[int, str]:
    """The place of a domain in the order of the paper's tables, its further sets behind it."""
    known = list(DOMAIN_TITLES)
    name = domain.partition(".")[0]
    return (known.index(name) if name in known else len(known), domain)


def read_sheet(path: Path | str, columns: Sequence[str] = ()) -> Sheet:
    """Read a CSV file with a header row.

    Args:
        path: the file (UTF-8, comma-separated).
        columns: names the header must hold; others are allowed.

    Raises:
        InputError: the file is missing, is not UTF-8, lacks a column, or a row has more or fewer cells than
            the header.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            lines = [(reader.line_num, cells) for cells in reader if cells]
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})",
            path=path,
            fix="Check the path, or run the stage that writes this file first.",
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start + 1} is not UTF-8", path=path, fix="Save the file as UTF-8.") from None
    except csv.Error as error:
        raise InputError(
            f"is no CSV ({error})", path=path, fix="Check quotes and separators, or run its stage again."
        ) from None
    header = lines[0][1] if lines else []
    missing = [column for column in columns if column not in header]
    if not header or missing:
        raise InputError(
            f"lacks the column{'s' if len(missing) != 1 else ''} {', '.join(missing)}" if missing else "is empty",
            path=path,
            line=1,
            fix=f"The header must hold {','.join(columns)}." if columns else "Run the stage that writes it again.",
        )
    for number, cells in lines[1:]:
        if len(cells) != len(header):
            raise InputError(
                f"has {len(cells)} cells where the header has {len(header)}",
                path=path,
                line=number,
                fix="Give each row one cell per column.",
            )
    return Sheet(path, header, [dict(zip(header, cells, strict=True)) for _, cells in lines[1:]])


def read_many(paths: Iterable[Path | str], columns: Sequence[str]) -> list[Sheet]:
    """Read several sheets of one kind, in the order of the domains they hold.

    Raises:
        InputError: one of them cannot be read, or two hold the same domain.
    """
    sheets = sorted(
        (read_sheet(path, columns) for path in paths),
        key=lambda sheet: domain_rank(sheet.rows[0]["domain"] if sheet.rows else ""),
    )
    seen: dict[str, Path] = {}
    for sheet in sheets:
        for domain in sorted({row["domain"] for row in sheet.rows}):
            if domain in seen:
                raise InputError(
                    f"holds the domain {domain}, as {seen[domain]} does",
                    path=sheet.path,
                    fix="Give one file for each domain.",
                )
            seen[domain] = sheet.path
    return sheets


def paper_values(path: Path | str) -> dict[tuple[str, str, str], float]:
    """The published values of arXiv 2512.05700 by (domain, metric or class, quantity), N/A left out.

    Human columns are named as our correlation files name them: `human_likert` and `human_likert_mean` (Table III) are
    both `likert`.
    """
    sheet = read_sheet(path, ["table", "domain", "metric", "quantity", "value"])
    published = {}
    for row in sheet.rows:
        value = sheet.number(row, "value")
        if value is not None:
            published[(row["domain"], row["metric"], human_name(row["quantity"]))] = value
    return published


def human_name(column: str) -> str:
    """The human value behind a column: `human_likert_mean` and `likert` are both `likert`."""
    return column.removeprefix("human_").removesuffix("_mean")

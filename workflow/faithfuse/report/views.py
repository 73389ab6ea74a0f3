"""Results as a reader meets them: tables of formatted cells, facts and lists, ready for the template.

Numbers are rounded to three decimals here and nowhere else; a missing number is shown as N/A with its reason, never
as zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from faithfuse.analysis.columns import HUMAN_CLASS
from faithfuse.records import Response
from faithfuse.report.figures import human_title, main_human
from faithfuse.report.inputs import (
    DOMAIN_TITLES,
    Row,
    Sheet,
    class_title,
    domain_rank,
    domain_title,
    is_true,
)

MINUS = "\u2212"
# Keeps values in one line with each other where a row has no interval.
NO_INTERVAL = "\u00a0"
NOT_COMPUTED = "not computed"
COEFFICIENTS = (
    ("", "Pearson"),
    ("_spearman", "Spearman"),
    ("_kendall", "Kendall"),
    ("_auroc", "AUROC"),
    ("_auroc_point", "AUROC per point"),
)


class Cell(NamedTuple):
    """One table cell: what is shown, a second line, the value to sort by, and the footnote's mark."""

    text: str
    sub: str = ""
    sort: str = ""
    mark: str = ""
    numeric: bool = False
    header: bool = False
    tone: str = ""


class Column(NamedTuple):
    """A column's title, whether it holds numbers, and whether a narrow screen may leave it out."""

    title: str
    numeric: bool = False
    optional: bool = False


class Group(NamedTuple):
    """A heading over several columns; `title` empty leaves them without one."""

    title: str
    sub: str
    columns: int


class Footnote(NamedTuple):
    """A mark in the table and what it says."""

    mark: str
    text: str


@dataclass
class Table:
    """A table as the template draws it; a tight one sets intervals beside their value where there is room."""

    name: str
    caption: str
    columns: list[Column]
    rows: list[list[Cell]]
    groups: list[Group] = field(default_factory=list)
    footnotes: list[Footnote] = field(default_factory=list)
    tight: bool = False
    notes: list[str] = field(default_factory=list)


class Footnotes:
    """Hands out a letter for each different text, in order of first use."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def mark(self, text: str) -> str:
        if text not in self._marks:
            number, letters = len(self._marks), ""
            while True:
                letters = chr(97 + number % 26) + letters
                number = number // 26 - 1
                if number < 0:
                    break
            self._marks[text] = letters
        return self._marks[text]

    def notes(self) -> list[Footnote]:
        return [Footnote(mark, text) for text, mark in self._marks.items()]


def decimal(value: float, digits: int = 3) -> str:
    """A number for reading: fixed decimals, a true minus sign, no negative zero."""
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", MINUS)


def interval(low: float | None, high: float | None) -> str:
    """An interval in brackets, or nothing where a bound is missing."""
    return f"[{decimal(low)}, {decimal(high)}]" if low is not None and high is not None else ""


def number_cell(value: float | None, sub: str = "", digits: int = 3, mark: str = "") -> Cell:
    """A number's cell, N/A where there is none."""
    if value is None:
        return Cell("N/A", sub, mark=mark, numeric=True, tone="na")
    return Cell(decimal(value, digits), sub, repr(value), mark, numeric=True)


def p_cell(value: float | None) -> Cell:
    """A p-value's cell; below a thousandth it says so, since no test gives 0."""
    if value is not None and value < 0.001:
        return Cell("<0.001", sort=repr(value), numeric=True)
    return number_cell(value)


def count_cell(text: str) -> Cell:
    """A whole number as its stage wrote it (`57` or `57.0`)."""
    if not text.strip():
        return Cell("N/A", numeric=True, tone="na")
    try:
        value = float(text)
    except ValueError:
        return Cell(text)
    shown = f"{int(value):,}" if value == int(value) else decimal(value)
    return Cell(shown, sort=repr(value), numeric=True)


def table_bases(sheet: Sheet) -> list[tuple[str, str, str]]:
    """The value columns of a Table I–III file as (column, study, human column).

    A value column is one that has its lower bound beside it (`<column>_low`); a column in which nothing was computed
    (its domain is not part of the run) is left out.
    """
    bases = []
    for column in sheet.columns:
        if f"{column}_low" not in sheet.columns:
            continue
        if not any(row[column].strip() or _why(row, column) not in ("", NOT_COMPUTED) for row in sheet.rows):
            continue
        domain = max(
            (name for name in DOMAIN_TITLES if column.startswith((f"{name}_", f"{name}."))), key=len, default=""
        )
        if column.startswith(f"{domain}."):
            domain = column.rpartition("_")[0]
        bases.append((column, domain, column.removeprefix(f"{domain}_") if domain else column))
    return bases


def _why(row: Row, base: str) -> str:
    return row.get(f"{base}_reason", "").strip()


def unique(values: Iterable[str]) -> list[str]:
    """Different non-empty strings in order of first use."""
    return list(dict.fromkeys(value for value in values if value.strip()))


def split_note(sheet: Sheet) -> tuple[str, list[str]]:
    """The sentence that the notes of all rows begin with, and what single rows add to it.

    Returns:
        The shared note (empty where there is none), and the rows' own notes behind the name of their row.
    """
    notes = [row.get("note", "").strip() for row in sheet.rows]
    shared = min(notes, key=len, default="")
    if not all(note.startswith(shared) for note in notes):
        shared = ""
    own = []
    for row, note in zip(sheet.rows, notes, strict=True):
        rest = note.removeprefix(shared).lstrip("; ")
        for domain, title in DOMAIN_TITLES.items():
            rest = rest.replace(f"{domain}:", f"{title}:")
        if rest:
            own.append(f"{class_title(row[sheet.columns[0]])}: {rest}")
    return shared, unique(own)


def metric_cell(row: Row) -> Cell:
    dagger = "†" if is_true(row.get("extension", "")) and row["metric_class"] != HUMAN_CLASS else ""
    return Cell(row["metric"], mark=dagger, header=True)


def correlation_table(sheet: Sheet, name: str, caption: str, extensions: bool, further: bool = False) -> Table:
    """Tables I–III: each human column with our Pearson correlation, its interval, and the published value.

    Args:
        sheet: the table's file.
        name: id of the table in the page.
        caption: its heading.
        extensions: show the metrics that the papers' tables do not have, or else the others; the human ceiling
            stands with the others.
        further: show the further sets, which have no published values, or else the main ones.
    """
    footnotes = Footnotes()
    bases = [base for base in table_bases(sheet) if ("." in base[1]) == further]
    columns = [Column("Metric"), Column("Class", optional=True)]
    groups = [Group("", "", 2)]
    for _, domain, human in bases:
        titles = ["this run"] if extensions or further else ["this run", "paper"]
        columns += [Column(title, True) for title in titles]
        groups.append(Group(domain_title(domain), human_title(human), len(titles)))
    rows = []
    for row in sheet.rows:
        if (is_true(row["extension"]) and row["metric_class"] != HUMAN_CLASS) != extensions:
            continue
        cells = [metric_cell(row), Cell(class_title(row["metric_class"]))]
        for base, _, _ in bases:
            value = sheet.number(row, base)
            bounds = interval(sheet.number(row, f"{base}_low"), sheet.number(row, f"{base}_high"))
            reason = _why(row, base)
            mark = footnotes.mark(reason) if reason else ""
            cells.append(number_cell(value, bounds or NO_INTERVAL, mark=mark))
            if len(titles) > 1:
                paper = sheet.number(row, f"{base}_paper")
                cells.append(Cell("", numeric=True) if paper is None else number_cell(paper))
        rows.append(cells)
    return Table(name, caption, columns, rows, groups, footnotes.notes(), tight=len(bases) <= 2)


def coefficient_tables(sheet: Sheet, name: str) -> list[Table]:
    """Every coefficient of Tables I–III, one table for each human column; metrics not computed are left out."""
    tables = []
    for base, domain, human in table_bases(sheet):
        mine = [row for row in sheet.rows if _why(row, base) != NOT_COMPUTED]
        # AUROC is defined for yes and no alone, so its column may be empty throughout.
        present = [
            (suffix, title) for suffix, title in COEFFICIENTS if any(row[f"{base}{suffix}"].strip() for row in mine)
        ]
        columns = [Column("Metric"), *(Column(title, True) for _, title in present)]
        columns += [Column(title, True) for title in ("Pairs", "Unscored", "p (Holm)", "Paper", "Ours less paper")]
        footnotes = Footnotes()
        rows = []
        for row in mine:
            reason = _why(row, base)
            cells = [metric_cell(row)]
            for suffix, _ in present:
                value = sheet.number(row, f"{base}{suffix}")
                if suffix:
                    cells.append(number_cell(value))
                    continue
                bounds = interval(sheet.number(row, f"{base}_low"), sheet.number(row, f"{base}_high"))
                cells.append(number_cell(value, bounds or NO_INTERVAL, mark=footnotes.mark(reason) if reason else ""))
            cells += [count_cell(row[f"{base}_pairs"]), count_cell(row[f"{base}_unscored"])]
            cells.append(p_cell(sheet.number(row, f"{base}_p_holm")))
            for suffix in ("_paper", "_difference"):
                value = sheet.number(row, f"{base}{suffix}")
                cells.append(Cell("", numeric=True) if value is None else number_cell(value))
            rows.append(cells)
        title = f"{domain_title(domain)}, {human_title(human)}"
        tables.append(Table(f"{name}-{base}", title, columns, rows, footnotes=footnotes.notes(), tight=True))
    return tables


def _domains_of(sheet: Sheet, column: str) -> list[str]:
    """Domains for which the column (`share`, `value`) holds anything."""
    return [
        domain
        for domain in DOMAIN_TITLES
        if f"{domain}_{column}" in sheet.columns and any(row[f"{domain}_{column}"].strip() for row in sheet.rows)
    ]


def share_table(sheet: Sheet, name: str, caption: str) -> Table:
    """Table IV: each class's share of the fused metric's importance, beside the published share."""
    columns, groups = [Column("Class")], [Group("", "", 1)]
    domains = _domains_of(sheet, "share")
    for domain in domains:
        columns += [Column("this run", True), Column("paper", True), Column("blind drop", True)]
        groups.append(Group(domain_title(domain), "", 3))
    rows = []
    for row in sheet.rows:
        cells = [Cell(class_title(row["metric_class"]), header=True)]
        for domain in domains:
            bounds = interval(sheet.number(row, f"{domain}_low"), sheet.number(row, f"{domain}_high"))
            cells.append(number_cell(sheet.number(row, f"{domain}_share"), bounds))
            cells.append(number_cell(sheet.number(row, f"{domain}_paper")))
            cells.append(number_cell(sheet.number(row, f"{domain}_blind_drop")))
        rows.append(cells)
    seeds = unique(row.get("seeds", "") for row in sheet.rows)
    notes = [f"Means over {', '.join(seeds)} seeds, each with its own blind split."] if seeds else []
    return Table(name, caption, columns, rows, groups, notes=notes + split_note(sheet)[1])


def fusion_table(sheet: Sheet, name: str, caption: str) -> Table:
    """Table V: fused against the best single metric on the same blind rows, beside the published values."""
    columns, groups = [Column("Metric")], [Group("", "", 1)]
    footnotes = Footnotes()
    domains = _domains_of(sheet, "value")
    usual = {}
    for domain in domains:
        counts = [row[f"{domain}_rows"] for row in sheet.rows if row[f"{domain}_rows"].strip()]
        usual[domain] = max(counts, key=counts.count, default="")
        columns += [Column("this run", True), Column("paper", True)]
        groups.append(Group(domain_title(domain), f"{count_cell(usual[domain]).text} blind rows", 2))
    rows = []
    for row in sheet.rows:
        cells = [Cell(row["metric"], header=True)]
        for domain in domains:
            lines = [interval(sheet.number(row, f"{domain}_low"), sheet.number(row, f"{domain}_high"))]
            if row[f"{domain}_rows"].strip() and row[f"{domain}_rows"] != usual[domain]:
                lines.append(f"{count_cell(row[f'{domain}_rows']).text} rows")
            note = row.get(f"{domain}_note", "").strip()
            if row["metric"].startswith("Best single") and row[f"{domain}_value"].strip():
                # These rows' notes begin with the name of the metric that was chosen.
                chosen, _, note = note.partition(": ")
                lines.append(chosen)
            cells.append(
                number_cell(
                    sheet.number(row, f"{domain}_value"),
                    "\n".join(filter(None, lines)),
                    mark=footnotes.mark(note) if note else "",
                )
            )
            paper = sheet.number(row, f"{domain}_paper")
            cells.append(Cell("", numeric=True) if paper is None else number_cell(paper))
        rows.append(cells)
    return Table(name, caption, columns, rows, groups, footnotes.notes(), notes=split_note(sheet)[1])


def plain_table(sheet: Sheet, name: str, caption: str, limit: int = 40) -> Table:
    """Any CSV as it is, numbers rounded for reading; at most `limit` rows, the rest counted in a note."""
    columns = []
    for column in sheet.columns:
        texts = [row[column].strip() for row in sheet.rows if row[column].strip()]
        # A state such as 0110 is a name, however much it looks like a number.
        named = any(len(text) > 1 and text.isdigit() and text.startswith("0") for text in texts)
        numeric = bool(texts) and not named and all(_is_number(text) for text in texts)
        columns.append(Column(_words(column), numeric))
    rows = []
    for row in sheet.rows[:limit]:
        cells = []
        for place, (column, spec) in enumerate(zip(sheet.columns, columns, strict=True)):
            if spec.numeric:
                cells.append(count_cell(row[column]))
            else:
                cells.append(Cell(_words(row[column]) if place == 0 else row[column], header=place == 0))
        rows.append(cells)
    left = len(sheet.rows) - limit
    notes = [f"{left} more rows in {sheet.path.name}."] if left > 0 else []
    return Table(name, caption, columns, rows, notes=notes)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def count_table(sheet: Sheet) -> tuple[Table, int, int]:
    """The audit's counts beside the paper's; returns the table, how many are equal and how many were compared."""
    rows, equal, compared = [], 0, 0
    for row in sheet.rows:
        ours, paper = row["ours"].strip(), row["paper"].strip()
        verdict, tone = ("not measured" if paper else "not in the paper"), "na"
        if ours and paper:
            compared += 1
            same = ours == paper or (_is_number(ours) and _is_number(paper) and float(ours) == float(paper))
            equal += same
            verdict, tone = ("equal", "good") if same else ("differs", "bad")
        rows.append(
            [
                Cell(_words(row["quantity"]), header=True),
                count_cell(ours),
                count_cell(paper) if paper else Cell("", numeric=True),
                Cell(row["unit"]),
                Cell(verdict, tone=tone),
            ]
        )
    columns = [Column("Quantity"), Column("This run", True), Column("Paper", True), Column("Unit"), Column("Agreement")]
    return Table("audit-counts", "Counts beside the paper's", columns, rows), equal, compared


def _words(name: str) -> str:
    return (name[:1].upper() + name[1:]).replace("_", " ")


def mutation_table(sheet: Sheet) -> Table:
    """The malformed records by defect: how many, how many rejected, how many with the expected code."""
    by_defect: dict[str, list[Row]] = {}
    for row in sheet.rows:
        by_defect.setdefault(row["defect"], []).append(row)
    rows = []
    for defect, cases in by_defect.items():
        rejected = sum(is_true(case["rejected"]) for case in cases)
        expected = sum(is_true(case["rejected"]) and case["code"] == case["expected_code"] for case in cases)
        tone = "" if rejected == expected == len(cases) else "bad"
        rows.append(
            [
                Cell(_words(defect), header=True),
                count_cell(str(len(cases))),
                count_cell(str(rejected))._replace(tone=tone),
                count_cell(str(expected))._replace(tone=tone),
                Cell(", ".join(unique(case["expected_code"] for case in cases))),
            ]
        )
    columns = [
        Column("Defect"),
        Column("Records", True),
        Column("Rejected", True),
        Column("With the expected code", True),
        Column("Expected code"),
    ]
    return Table("audit-mutations", f"{len(sheet.rows)} malformed records by defect", columns, rows)


def glance_table(correlations: Sequence[Sheet], evaluations: Sequence[Sheet]) -> Table:
    """One row per domain: the best metric over all rated responses, then fused and best single on the blind rows."""
    found = {(row["domain"], row["system"]): (sheet, row) for sheet in evaluations for row in sheet.rows}
    rows = []
    for sheet in correlations:
        for domain in sorted({row["domain"] for row in sheet.rows}, key=domain_rank):
            pearson = [
                row
                for row in sheet.rows
                if row["domain"] == domain and row["coefficient"] == "pearson" and row["metric_class"] != HUMAN_CLASS
            ]
            human = main_human(sorted({row["human"] for row in pearson}))
            mine = [row for row in pearson if row["human"] == human]
            known = [(value, row) for row in mine if (value := sheet.number(row, "value")) is not None]
            cells = [Cell(domain_title(domain), sub=human_title(human), header=True)]
            rated = max((row["pairs"] for row in mine), key=_as_number, default="")
            cells.append(count_cell(rated))
            # A metric that most responses lack can be best by accident.
            common = [entry for entry in known if _as_number(entry[1]["pairs"]) >= _as_number(rated) / 2]
            if common:
                value, best = max(common, key=lambda entry: (entry[0], entry[1]["metric"]))
                bounds = interval(sheet.number(best, "low"), sheet.number(best, "high"))
                cells.append(number_cell(value, "\n".join(filter(None, (bounds, best["metric"])))))
            else:
                cells.append(number_cell(None))
            apart = sum(
                low > 0 or high < 0
                for _, row in known
                if (low := sheet.number(row, "low")) is not None and (high := sheet.number(row, "high")) is not None
            )
            cells.append(Cell(f"{apart} of {len(mine)}", sort=str(apart), numeric=True))
            for system in ("fused", "best_single", "difference"):
                cells.append(_evaluation_cell(*found.get((domain, system), (None, None))))
            rows.append(cells)
    columns = [
        Column("Domain"),
        Column("Rated responses", True),
        Column("Best metric on all of them", True),
        Column("Metrics whose interval leaves out 0", True),
        Column("Fused metric, blind rows", True),
        Column("Best single metric, same rows", True),
        Column("Difference of the two, same rows", True),
    ]
    return Table("glance", "Pearson correlation with people, 95% interval below", columns, rows)


def _as_number(text: str) -> float:
    return float(text) if _is_number(text) else -1.0


def _evaluation_cell(sheet: Sheet | None, row: Row | None) -> Cell:
    if sheet is None or row is None:
        return number_cell(None)
    value = sheet.number(row, "value")
    bounds = interval(sheet.number(row, "low"), sheet.number(row, "high"))
    if value is None:
        return Cell("N/A", sub=row["note"], numeric=True, tone="na")
    if row["system"] == "best_single":
        return number_cell(value, f"{bounds}\n{row['metric']}")
    if row["system"] == "fused":
        return number_cell(value, f"{bounds}\n{count_cell(row['rows']).text} rows")
    return number_cell(value, bounds)


def split_table(sheets: Sequence[Sheet]) -> Table:
    """Fused and best single metric over every seed's blind split, so that no answer hangs on one draw."""
    footnotes = Footnotes()
    rows = []
    for sheet in sheets:
        by_domain: dict[str, dict[str, Row]] = {}
        for row in sheet.rows:
            by_domain.setdefault(row["domain"], {})[row["system"]] = row
        for domain in sorted(by_domain, key=domain_rank):
            cells = [Cell(domain_title(domain), header=True)]
            cells.append(count_cell(by_domain[domain].get("fused", {}).get("seeds", "")))
            for system in ("fused", "best_single", "difference"):
                row = by_domain[domain].get(system)
                if row is None:
                    cells.append(number_cell(None))
                    continue
                bounds = interval(sheet.number(row, "low"), sheet.number(row, "high"))
                mark = footnotes.mark(row["note"]) if system == "difference" and row["note"].strip() else ""
                cells.append(number_cell(sheet.number(row, "value"), bounds, mark=mark))
            rows.append(cells)
    columns = [
        Column("Domain"),
        Column("Splits", True),
        Column("Fused metric", True),
        Column("Best single metric", True),
        Column("Difference", True),
    ]
    caption = "Blind correlation over all splits: mean, and central 95% below"
    return Table("splits", caption, columns, rows, footnotes=footnotes.notes())


SCHEMES = {
    "grouped_cv": "Groups left out",
    "within_item": "Groups left out, within an item",
    "system_out": "A system left out",
    "system_and_group_out": "A system and groups left out",
    "one_rater": "One rater left out",
}


def _by_system(sheets: Sequence[Sheet], first: str, second: str) -> dict[tuple[str, str], dict[str, tuple[Sheet, Row]]]:
    """Rows by the values of two columns, and then by their system."""
    found: dict[tuple[str, str], dict[str, tuple[Sheet, Row]]] = {}
    for sheet in sheets:
        for row in sheet.rows:
            found.setdefault((row[first], row[second]), {})[row["system"]] = (sheet, row)
    return found


def _system_cells(by_system: Mapping[str, tuple[Sheet, Row]], systems: Sequence[str]) -> list[Cell]:
    cells = []
    for system in systems:
        if system not in by_system:
            cells.append(Cell("", numeric=True))
            continue
        sheet, row = by_system[system]
        bounds = interval(sheet.number(row, "low"), sheet.number(row, "high"))
        cells.append(number_cell(sheet.number(row, "value"), bounds))
    return cells


def validation_table(sheets: Sequence[Sheet]) -> Table:
    """Every scheme of validation by domain: the fused metric, what it is held against, and simpler ways to fuse."""
    found = _by_system(sheets, "domain", "scheme")
    footnotes = Footnotes()
    rows = []
    for (domain, scheme), by_system in found.items():
        note = by_system["fused"][1]["note"] if "fused" in by_system else ""
        title = Cell(SCHEMES.get(scheme, scheme), mark=footnotes.mark(note) if note else "")
        cells = [Cell(domain_title(domain), header=True), title]
        cells.append(count_cell(by_system["fused"][1]["rows"] if "fused" in by_system else ""))
        against = "human" if "human" in by_system else "best_single"
        rows.append(cells + _system_cells(by_system, ("fused", against, "difference", "ridge", "random_forest")))
    columns = [Column("Domain"), Column("Left out"), Column("Rows", True), Column("Fused metric", True)]
    columns += [Column("Best single metric; one rater: that rater", True), Column("Difference", True)]
    columns += [Column("Ridge regression", True), Column("Random forest", True)]
    caption = "Correlation with people under every scheme of validation, 95% interval below"
    return Table("validation", caption, columns, rows, footnotes=footnotes.notes())


def curve_table(sheets: Sequence[Sheet]) -> Table:
    """The learning curve: blind correlation by the number of rated responses trained on."""
    found = _by_system(sheets, "domain", "training_rows")
    rows = []
    for (domain, size), by_system in found.items():
        ratings = next(iter(by_system.values()))[1]["ratings"]
        cells = [Cell(domain_title(domain), header=True), count_cell(size), count_cell(ratings)]
        rows.append(cells + _system_cells(by_system, ("fused", "best_single", "ridge", "random_forest")))
    columns = [Column("Domain"), Column("Rated responses", True), Column("Ratings", True)]
    columns += [Column("Fused metric", True), Column("Best single metric", True)]
    columns += [Column("Ridge regression", True), Column("Random forest", True)]
    caption = "Learning curve: blind correlation by what was trained on, mean and central 95% over splits"
    return Table("learning-curve", caption, columns, rows)


def agreement_table(sheets: Mapping[str, Sheet]) -> Table:
    """Krippendorff's alpha of the raters, by domain and scale."""
    footnotes = Footnotes()
    rows = []
    for domain in sorted(sheets, key=domain_rank):
        for row in sheets[domain].rows:
            value = sheets[domain].number(row, "alpha")
            bounds = interval(sheets[domain].number(row, "low"), sheets[domain].number(row, "high"))
            mark = footnotes.mark(row["reason"]) if row["reason"].strip() else ""
            scale = Cell(f"{human_title(row['human'])}, {row['level']}")
            counts = [count_cell(row[name]) for name in ("units", "raters", "ratings")]
            rows.append(
                [Cell(domain_title(domain), header=True), scale, number_cell(value, bounds, mark=mark), *counts]
            )
    columns = [Column("Domain"), Column("Scale"), Column("Alpha", True)]
    columns += [Column("Rated units", True), Column("Raters", True), Column("Ratings", True)]
    caption = "How far the raters agree: Krippendorff's alpha"
    return Table("agreement", caption, columns, rows, footnotes=footnotes.notes())


def transfer_table(sheets: Sequence[Sheet]) -> Table:
    """Fused metrics on domains and sets that they were not trained on; pairs without a common metric are counted."""
    found = _by_system(sheets, "tested_on", "trained_on")
    footnotes = Footnotes()
    rows, strangers = [], 0
    for (tested, trained), by_system in sorted(
        found.items(), key=lambda entry: (domain_rank(entry[0][0]), domain_rank(entry[0][1]))
    ):
        fused = by_system["fused"][1]
        if not fused["value"].strip():
            strangers += 1
            continue
        mark = footnotes.mark(fused["note"]) if fused["note"].strip() else ""
        cells = [Cell(domain_title(tested), header=True), Cell(domain_title(trained), mark=mark)]
        cells.append(count_cell(fused["rows"]))
        rows.append(cells + _system_cells(by_system, ("fused", "best_single", "difference")))
    columns = [Column("Tested on"), Column("Trained on"), Column("Rows", True), Column("Fused metric", True)]
    columns += [Column("Best single metric, chosen in training", True), Column("Difference", True)]
    notes = [f"{strangers} further pairs have no metric in common."] if strangers else []
    caption = "Fused metrics on data that they were not trained on, 95% interval below"
    return Table("transfer", caption, columns, rows, footnotes=footnotes.notes(), notes=notes)


def response_table(files: Mapping[str, Sequence[Response]]) -> Table:
    """The responses generated in the run, by domain: how many, how many cut at the token limit or without text."""
    rows = []
    for domain in sorted(files, key=domain_rank):
        responses = files[domain]
        reasons = Counter(response.reason or "" for response in responses if response.text is None)
        rows.append(
            [
                Cell(domain_title(domain), header=True),
                count_cell(str(len(responses))),
                count_cell(str(sum(response.hit_token_limit is True for response in responses))),
                count_cell(str(sum(reasons.values()))),
                Cell(_reason_text(reasons)),
            ]
        )
    columns = [
        Column("Domain"),
        Column("Responses", True),
        Column("Cut at the token limit", True),
        Column("Without text", True),
        Column("Why"),
    ]
    return Table("responses", "Responses generated in this run", columns, rows)


def _reason_text(reasons: Mapping[str, int]) -> str:
    ordered = sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0]))
    return "; ".join(f"{reason} ({count})" for reason, count in ordered)


def unscored_table(metas: Sequence[dict]) -> tuple[Table, int, int]:
    """Metrics with missing or partial values and why; returns the table, the missing and the total number of values."""
    lesser = [
        (name, title)
        for name, title in (("partial", "Scored in part"), ("not_proven", "Alignment not proven best"))
        if any(entry.get(name) for meta in metas for entry in meta["metrics"].values())
    ]
    rows, missing, total = [], 0, 0
    for meta in sorted(metas, key=lambda meta: domain_rank(meta["domain"])):
        for metric, entry in meta["metrics"].items():
            missing += entry["unscored"]
            total += entry["scored"] + entry["unscored"]
            if not entry["unscored"] and not any(entry.get(name) for name, _ in lesser):
                continue
            rows.append(
                [
                    Cell(domain_title(meta["domain"]), header=True),
                    Cell(metric),
                    count_cell(str(entry["scored"])),
                    count_cell(str(entry["unscored"])),
                    *(count_cell(str(entry.get(name, 0))) for name, _ in lesser),
                    Cell(_reason_text(entry["reasons"])),
                ]
            )
    columns = [Column("Domain"), Column("Metric"), Column("Scored", True), Column("Unscored", True)]
    columns += [*(Column(title, True) for _, title in lesser), Column("Why")]
    return Table("unscored", "Metrics that could not score every response", columns, rows), missing, total


def judge_table(metas: Sequence[dict]) -> Table:
    """How often the LLM judge would have said a label of its own accord; one row where metrics share their verdicts."""
    seen: dict[tuple, list[str]] = {}
    for meta in sorted(metas, key=lambda meta: domain_rank(meta["domain"])):
        for metric, entry in meta["metrics"].items():
            if "judge" in entry:
                judge = entry["judge"]
                said = (judge["verdicts"], judge["off_label"], judge["median_label_mass"])
                seen.setdefault((domain_title(meta["domain"]), *said), []).append(metric)
    rows = [
        [
            Cell(domain, header=True),
            Cell(", ".join(metrics)),
            count_cell(str(verdicts)),
            count_cell(str(off_label)),
            number_cell(100 * off_label / verdicts, digits=1),
            number_cell(mass),
        ]
        for (domain, verdicts, off_label, mass), metrics in seen.items()
    ]
    columns = [Column("Domain"), Column("Metrics"), Column("Verdicts", True), Column("Off label", True)]
    columns += [Column("%", True), Column("Median label mass", True)]
    return Table("judge", "What the LLM judge says of its own accord", columns, rows)


def signature_table(metas: Sequence[dict]) -> Table:
    """Every metric's signature; one row where all domains share it."""
    seen: dict[tuple[str, str], list[str]] = {}
    for meta in sorted(metas, key=lambda meta: domain_rank(meta["domain"])):
        for metric, entry in meta["metrics"].items():
            seen.setdefault((metric, entry["signature"]), []).append(domain_title(meta["domain"]))
    rows = [
        [Cell(metric, header=True), Cell(signature, tone="code"), Cell(", ".join(domains))]
        for (metric, signature), domains in seen.items()
    ]
    return Table("signatures", "Signatures", [Column("Metric"), Column("Signature"), Column("Domains")], rows)

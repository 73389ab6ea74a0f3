"""Which table values differ between two runs, and which input explains each.

A value is explained by following what it was made from, by evidence: a correlation by the ratings of its study and
the metric's column, where these differ; a metric's column by its signature, or by the responses that it scores; and so
on. Only where nothing nearer differs are code, packages and settings of the value's own stages named. A value whose
inputs are all the same differs by arithmetic (threads, processor, GPU): within `PRECISION` that is no difference,
beyond it is one that the manifests do not explain.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from faithfuse.analysis.csvfile import write_csv
from faithfuse.errors import InputError
from faithfuse.provenance.changes import Change, RunFolder, input_changes, open_run
from faithfuse.provenance.modules import PACKAGE, stage_modules

PRECISION = 1e-4
"""By how much a table's value may differ between machines, absolutely; docs/provenance.md says how it was measured."""

ARITHMETIC = "arithmetic"
UNEXPLAINED = "unexplained"
FUSION_PACKAGES = {"numpy", "scipy", "scikit-learn", "interpret", "interpret-core", "joblib", "pandas"}
STATISTICS_PACKAGES = {"numpy", "scipy"}
# The files of a stage that no one else's values come from, as modules and rule files.
STAGES = {
    "correlate": (("analysis.correlation",), ("correlate",)),
    "fuse": (("analysis.fusion",), ("fuse",)),
    "tables": (("analysis.tables",), ("tables",)),
    "metrics": (
        ("metrics.table", "llm.judge", "llm.likelihood", "amr.parse", "amr.sentences"),
        ("metrics", "judge", "parse", "items", "respond"),
    ),
    "validate": (("analysis.validation", "analysis.agreement"), ("fuse", "correlate")),
    "transfer": (("analysis.transfer",), ("fuse",)),
    "audit": (("audit.suite.run", "audit.suite.cases"), ("audit",)),
}
FOLDERS = ("tables", "audit", "validation", "transfer")
"""Folders below `results/` whose CSV files are compared value by value."""


class Value(NamedTuple):
    """One cell of a table that differs; `before` or `after` is null where the row stands in one run alone."""

    table: str
    row: str
    column: str
    before: str | None
    after: str | None
    why: tuple[str, ...]

    def size(self) -> float:
        """The absolute difference, infinite where the cells are no two numbers."""
        try:
            return abs(float(self.before or "x") - float(self.after or "x"))
        except ValueError:
            return math.inf


class Comparison(NamedTuple):
    """Two runs, side by side."""

    a: RunFolder
    b: RunFolder
    changes: list[Change]
    host: list[str]
    values: list[Value]
    total: int

    @property
    def differs(self) -> bool:
        """Whether a value differs by more than arithmetic may."""
        return any(ARITHMETIC not in value.why for value in self.values)


def compare(a: Path, b: Path) -> Comparison:
    """Compare two runs.

    Args:
        a: results folder of one run, with its `manifest.json`.
        b: results folder of the other.

    Raises:
        InputError: a folder has no manifest, or a table cannot be read.
    """
    one, other = open_run(a), open_run(b)
    changes = input_changes(one, other)
    explain = _Explanation(one, other, changes)
    values, total = [], 0
    for table in _tables(one, other):
        before, after = (_cells(run.file(table)) for run in (one, other))
        keys = list(dict.fromkeys([*before, *after]))
        total += len(keys)
        for row, column in keys:
            was, now = before.get((row, column)), after.get((row, column))
            if was != now:
                value = Value(table, row, column, was, now, ())
                values.append(value._replace(why=explain.value(value)))
    return Comparison(one, other, changes, _host(one, other), values, total)


def _tables(a: RunFolder, b: RunFolder) -> list[str]:
    names = a.record.reproducible.results.keys() | b.record.reproducible.results.keys()
    wanted = tuple(f"results/{folder}/" for folder in FOLDERS)
    return sorted(name.removeprefix("results/") for name in names if name.startswith(wanted) and name.endswith(".csv"))


def _cells(path: Path) -> dict[tuple[str, str], str]:
    """A table's cells by row and column. A row is named by its first cell, or as many as make it unique."""
    if not path.is_file():
        return {}
    header, rows = _read(path)
    for width in range(1, len(header) + 1):
        names = [" ".join(row[:width]) for row in rows]
        if len(set(names)) == len(names):
            break
    else:
        seen: Counter[str] = Counter()
        names = []
        for row in rows:
            name = " ".join(row)
            seen[name] += 1
            names.append(f"{name} #{seen[name]}")
    return {
        (name, column): cell
        for name, row in zip(names, rows, strict=True)
        for column, cell in zip(header, row, strict=False)
    }


@cache
def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read ({error})", path=path, fix="Run the workflow again.") from None
    return (rows[0], rows[1:]) if rows else ([], [])


def _host(a: RunFolder, b: RunFolder) -> list[str]:
    names = ("system", "processor", "simd", "cores", "gpus", "python", "torch", "arithmetic")
    one, other = a.record.host, b.record.host
    return [f"{name}: {one.get(name)} → {other.get(name)}" for name in names if one.get(name) != other.get(name)]


class _Explanation:
    """Finds what explains a value; remembers what it found of studies and metrics."""

    def __init__(self, a: RunFolder, b: RunFolder, changes: Sequence[Change]) -> None:
        self.a, self.b, self.changes = a, b, changes
        self.studies = sorted(set(a.studies) | set(b.studies), key=lambda name: (-len(name), name))
        self._columns: dict[str, dict[str, bool]] = {}
        self._metrics: dict[tuple[str, str], list[str]] = {}

    def value(self, value: Value) -> tuple[str, ...]:
        """Labels of the changes behind a value; `ARITHMETIC` or `UNEXPLAINED` where there is none."""
        if value.table.startswith("audit/"):
            found = self._of("input", lambda name: "audit" in name) + self._code("audit")
            found = found or self._of("version", bool) + self._of("package", bool)
        else:
            found = self._table(value)
        if found:
            return tuple(dict.fromkeys(found))
        return (ARITHMETIC,) if value.size() <= PRECISION else (UNEXPLAINED,)

    def _table(self, value: Value) -> list[str]:
        column = value.column
        if column == "note":
            return self._of("configuration", lambda key: key == "note")
        reference = self._of("input", lambda name: name.endswith("paper_tables.csv"))
        if column.endswith("_paper"):
            return reference
        folder, name = value.table.split("/")[:2]
        fused = value.table.endswith(("_4.csv", "_5.csv")) or folder != "tables"
        study = next((each for each in self.studies if column.startswith(f"{each}_") or each == name), None)
        # Holm's correction runs over every p-value of a table, those of other studies included.
        studies = [study] if study and not column.endswith("_p_holm") else self.studies
        found = reference if column.endswith("_difference") else []
        found = found + self._records(studies, ("rating",))
        metrics = None if fused or column.endswith("_p_holm") else [value.row]
        for each in studies:
            for metric in self._changed(each) if metrics is None else metrics:
                found = found + self._metric(each, metric)
        settings = ("fusion", "seed", "limit") if fused else ("correlation", "seed", "limit")
        settings += ("correlation",) if folder == "validation" else ()
        found = found + self._of("configuration", lambda key: key.split(".")[0] in settings)
        if found:
            return found
        if value.before is None or value.after is None:
            found = self._of("configuration", bool)
        stages = {"validation": ("validate",), "transfer": ("transfer", "fuse")}.get(
            folder, ("fuse", "tables") if fused else ("correlate", "tables")
        )
        packages = FUSION_PACKAGES if fused else STATISTICS_PACKAGES
        found = found + [label for stage in stages for label in self._code(stage)]
        return found + self._of("package", packages.__contains__) + self._of("version", bool)

    def _of(self, kind: str, chosen: Any) -> list[str]:
        return [change.label() for change in self.changes if change.kind == kind and chosen(change.what)]

    def _code(self, stage: str) -> list[str]:
        files = _stage_files(stage)
        return self._of("code", lambda name: name.removeprefix("workflow/") in files or name in files)

    def _records(self, studies: Iterable[str], kinds: Iterable[str]) -> list[str]:
        return [
            f"{change.kind} {change.what}: {change.detail}"
            for change in self.changes
            if change.kind in kinds and change.what in studies
        ]

    def _changed(self, study: str) -> list[str]:
        """Metrics of a study whose values differ on rated responses, or that one run lacks."""
        if study not in self._columns:
            self._columns[study] = _differing_columns(self.a, self.b, study)
        return list(self._columns[study])

    def _metric(self, study: str, metric: str) -> list[str]:
        """Why a metric's column differs; empty where it does not, or by arithmetic alone."""
        if metric not in self._changed(study):
            return []
        if (study, metric) not in self._metrics:
            self._metrics[study, metric] = self._metric_causes(study, metric)
        return self._metrics[study, metric]

    def _metric_causes(self, study: str, metric: str) -> list[str]:
        signatures = [run.record.reproducible.signatures.get(study, {}).get(metric) for run in (self.a, self.b)]
        found = self._records([study], ("item", "response"))
        if None in signatures:
            return found + self._of("configuration", bool)
        parts = [set(str(signature).split("|")) for signature in signatures]
        for part in sorted(parts[0] ^ parts[1]):
            found = found + self._part(part)
        if not found and signatures[0] == signatures[1]:
            settings = ("llm", "embedding", "parser")
            found = self._of("configuration", lambda key: key.split(".")[0] in settings)
            found = found + self._of("model", lambda key: any(key in str(each) for each in signatures))
            found = found + self._code("metrics") + self._of("package", bool)
        return found

    def _part(self, part: str) -> list[str]:
        """The changes behind one part of a signature, such as `torch==2.13.0` or `weights:98f89fe4`."""
        name = part.replace("==", " ").replace(":", " ").split()[0].lower()
        found = self._of("package", lambda package: package == name or f"{package} " in part.lower())
        if name in ("weights", "template"):
            found = found + self._of("model", bool)
        if name in ("judge", "model"):
            found = found + self._of("configuration", lambda key: key == "llm.model") + self._of("model", bool)
        if name == "prompts":
            found = found + self._of("input", lambda path: path.startswith("config/prompts"))
            found = found + self._of("configuration", lambda key: key == "llm.prompt_set")
        if not found:
            settings = ("llm", "embedding", "parser")
            found = self._of("configuration", lambda key: key.split(".")[0] in settings) + self._code("metrics")
        return found


@cache
def _stage_files(stage: str) -> frozenset[str]:
    modules, rules = STAGES[stage]
    files = {f"faithfuse/{path.relative_to(PACKAGE).as_posix()}" for path in stage_modules(*modules)}
    return frozenset(files | {f"rules/{name}.smk" for name in rules})


def _differing_columns(a: RunFolder, b: RunFolder, study: str) -> dict[str, bool]:
    """Metrics whose values on rated responses differ between two metric tables, in the tables' order."""
    name = f"metrics/{study}.csv"
    tables = [_rated_values(run, name, study) for run in (a, b)]
    metrics = list(dict.fromkeys([*tables[0], *tables[1]]))
    return {metric: True for metric in metrics if tables[0].get(metric) != tables[1].get(metric)}


def _rated_values(run: RunFolder, name: str, study: str) -> dict[str, dict[tuple[str, str], str]]:
    if not run.file(name).is_file():
        return {}
    header, rows = _read(run.file(name))
    rated = _rated(run.file(f"items/{study}/ratings.jsonl"))
    metrics = [(at, column) for at, column in enumerate(header) if column not in ("item_id", "system", "group")]
    key = header.index("item_id"), header.index("system")
    kept = [row for row in rows if rated is None or (row[key[0]], row[key[1]]) in rated]
    return {column: {(row[key[0]], row[key[1]]): row[at] for row in kept} for at, column in metrics}


@cache
def _rated(path: Path) -> frozenset[tuple[str, str]] | None:
    from faithfuse.records import Rating, read_records

    try:
        return frozenset((rating.item_id, rating.system) for rating in read_records(path, Rating))
    except InputError:
        return None


def render(found: Comparison, show: int = 20) -> Iterator[str]:
    """A comparison as lines of text, the first `show` values in full."""
    for letter, run in (("A", found.a), ("B", found.b)):
        yield f"{letter}  run {run.record.run_id}  {run.folder}"
    if found.a.record.sha256 == found.b.record.sha256:
        yield "The same run: inputs, code and results are equal."
    yield f"inputs that differ: {len(found.changes) or 'none'}"
    for change in found.changes:
        yield f"  {change.label()}: {change.detail}"
    if found.host:
        yield "host facts that differ (outside the run id)"
        yield from (f"  {line}" for line in found.host)
    yield f"table values that differ: {len(found.values):,} of {found.total:,}"
    shown = sorted(found.values, key=lambda value: ARITHMETIC in value.why)[:show]
    for value in shown:
        was, now = ("(no row)" if text is None else text or "(empty)" for text in (value.before, value.after))
        yield f"  {value.table}  {value.row}  {value.column}: {was} → {now}  [{'; '.join(value.why)}]"
    if len(found.values) > len(shown):
        yield f"  … and {len(found.values) - len(shown):,} more (--show, --out)"
    counts: Counter[str] = Counter(label for value in found.values for label in value.why)
    if counts:
        yield "explained by"
    for label, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        if label == ARITHMETIC:
            largest = max(value.size() for value in found.values if ARITHMETIC in value.why)
            label = f"arithmetic: inputs are the same, largest difference {largest:.2g}, {PRECISION:g} is allowed"
        elif label == UNEXPLAINED:
            label = f"no input that differs, and by more than arithmetic may ({PRECISION:g})"
        yield f"  {count:,} × {label}"


def write_values(found: Comparison, out: Path) -> None:
    """Write every value that differs as CSV: table, row, column, before, after, why."""
    columns = ("table", "row", "column", "before", "after", "why")
    write_csv(out, columns, ({**value._asdict(), "why": "; ".join(value.why)} for value in found.values))

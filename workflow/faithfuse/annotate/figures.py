"""What whoever runs the study looks at: coverage, time, agreement, confusion and spread, all on the original labels."""

from __future__ import annotations

import functools
import itertools
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

from faithfuse.annotate import adjudicate
from faithfuse.annotate.store import Store
from faithfuse.annotate.study import Settings
from faithfuse.audit.record import PREDICATES
from faithfuse.records import Rating

COVERAGE_COLUMNS = (
    "annotator",
    "assigned",
    "done",
    "median_seconds",
    "unresolved",
    "changed",
    "checks_done",
    "checks_passed",
)
AGREEMENT_COLUMNS = (
    "field",
    "level",
    "unknown",
    "alpha",
    "low",
    "high",
    "items",
    "units",
    "annotators",
    "judgements",
    "unresolved",
    "reason",
)
CONFUSION_COLUMNS = ("field", "one", "other", "pairs")
WIDEST = 10
"""How many units the page lists by spread."""


def ratings(store: Store) -> list[Rating]:
    """All ratings that stand, abstentions too, attention checks left out; in the order of their keys."""
    rows = store.read().execute(
        "SELECT item_id, system, point, standing.annotator, likert FROM standing JOIN event USING (event_id) "
        "JOIN unit ON unit.unit_id = standing.unit_id WHERE expected IS NULL"
    )
    found = [
        Rating(
            item_id=row["item_id"],
            system=row["system"],
            annotator=row["annotator"],
            point=row["point"],
            likert=row["likert"],
        )
        for row in rows
    ]
    return sorted(found, key=lambda rating: rating.sort_key())


def coverage(store: Store, settings: Settings) -> list[dict[str, Any]]:
    """One row per annotator (`COVERAGE_COLUMNS`).

    `unresolved` is the share of abstentions, or of unknown predicates; `changed` counts judgements that were changed or
    taken back; checks are counted, never used.
    """
    db = store.read()
    table = "event" if settings.kind == "rating" else "label"
    records = adjudicate.original_records(db) if settings.kind == "audit" else {}
    rows = []
    for name in [row["name"] for row in db.execute("SELECT name FROM annotator ORDER BY name")]:
        assigned = db.execute("SELECT count(*) FROM assignment WHERE annotator = ?", (name,)).fetchone()[0]
        times = [
            row["seconds"]
            for row in db.execute(f"SELECT seconds FROM {table} WHERE annotator = ? AND seconds NOT NULL", (name,))
        ]
        saves = db.execute(f"SELECT count(*) FROM {table} WHERE annotator = ?", (name,)).fetchone()[0]
        touched = db.execute(f"SELECT count(DISTINCT unit_id) FROM {table} WHERE annotator = ?", (name,)).fetchone()[0]
        standing = list(
            db.execute(
                "SELECT likert, expected FROM standing JOIN event USING (event_id) "
                "JOIN unit ON unit.unit_id = standing.unit_id WHERE standing.annotator = ?",
                (name,),
            )
        )
        checks = [row for row in standing if row["expected"]]
        if settings.kind == "rating":
            said = [row["likert"] for row in standing]
        else:
            mine = [each[name] for each in records.values() if name in each]
            said = [adjudicate.value_of(record, predicate) for record in mine for predicate in PREDICATES]
        rows.append(
            {
                "annotator": name,
                "assigned": assigned,
                "done": len(standing) if settings.kind == "rating" else touched,
                "median_seconds": statistics.median(times) if times else None,
                "unresolved": _share_open(said),
                "changed": saves - touched,
                "checks_done": len(checks),
                "checks_passed": sum(str(row["likert"]) in row["expected"].split() for row in checks),
            }
        )
    return rows


def agreement(store: Store, settings: Settings, *, resamples: int = 2000, seed: int = 0) -> list[dict[str, Any]]:
    """Krippendorff's alpha per field with a 95% bootstrap interval (`AGREEMENT_COLUMNS`).

    Ratings: Likert (interval and ordinal) and Bool (nominal), abstentions missing; the bootstrap draws items. Labels:
    each predicate and citation support, nominal, once with unknown as missing and once as a value of its own; the
    bootstrap draws queries.
    """
    if settings.kind == "rating":
        from faithfuse.analysis.agreement import agreement_rows

        said = ratings(store)
        rows = agreement_rows(said, resamples=resamples, seed=seed)
        return [
            {
                **row,
                "field": row["human"],
                "unknown": "missing",
                "annotators": row["raters"],
                "judgements": row["ratings"],
                "unresolved": _share_open([rating.likert for rating in said]),
            }
            for row in rows
        ]
    import numpy as np

    from faithfuse.analysis.agreement import Alpha, krippendorff_alpha

    records = adjudicate.original_records(store.read())
    names = sorted({name for each in records.values() for name in each})
    queries = [next(iter(each.values()))["tuple"]["query"]["id"] for each in records.values()]
    rows = []
    for field in (*PREDICATES, "support"):
        for unknown, stands_for in (("missing", np.nan), ("value", 2.0)):
            values = np.full((len(records), len(names)), np.nan)
            for row, each in enumerate(records.values()):
                for name, record in each.items():
                    value = adjudicate.value_of(record, field)
                    values[row, names.index(name)] = stands_for if value is None else value
            alpha = (
                krippendorff_alpha(values, queries, "nominal", resamples=resamples, seed=seed)
                if records
                else Alpha(None, None, None, "no labels")
            )
            rows.append(
                {
                    "field": field,
                    "level": "nominal",
                    "unknown": unknown,
                    "alpha": alpha.value,
                    "low": alpha.low,
                    "high": alpha.high,
                    "items": len(set(queries)),
                    "units": len(records),
                    "annotators": len(names),
                    "judgements": int(np.count_nonzero(~np.isnan(values))),
                    "unresolved": _share_open(
                        [adjudicate.value_of(record, field) for each in records.values() for record in each.values()]
                    ),
                    "reason": alpha.reason,
                }
            )
    return rows


def _share_open(said: list[Any]) -> float | None:
    """The share of abstentions or unknowns in what was said; None when nothing was."""
    return said.count(None) / len(said) if said else None


def confusion(store: Store, settings: Settings) -> list[dict[str, Any]]:
    """How often two annotators said this and that of the same unit, by field.

    Returns:
        `{"field", "values", "counts"}` each; `counts[i][j]` with i ≤ j counts pairs of people who said `values[i]` and
        `values[j]` (in either order), below the diagonal it is 0.
    """
    db = store.read()
    if settings.kind == "rating":
        checks = {row["unit_id"] for row in db.execute("SELECT unit_id FROM unit WHERE expected IS NOT NULL")}
        said = {
            "likert": [each for unit, each in adjudicate.original_ratings(db).items() if unit not in checks],
        }
        values: list[int | None] = [1, 2, 3, 4, 5, None]
    else:
        records = adjudicate.original_records(db).values()
        said = {
            field: [{name: adjudicate.value_of(record, field) for name, record in each.items()} for each in records]
            for field in (*PREDICATES, "support")
        }
        values = [1, 0, None]
    blank = "abstain" if settings.kind == "rating" else "unknown"
    tables = []
    for field, units in said.items():
        pairs = Counter(
            tuple(sorted((values.index(one), values.index(other))))
            for each in units
            for one, other in itertools.combinations(each.values(), 2)
        )
        size = range(len(values))
        tables.append(
            {
                "field": field,
                "values": [blank if value is None else str(value) for value in values],
                "counts": [[pairs[i, j] if i <= j else 0 for j in size] for i in size],
            }
        )
    return tables


def overview(store: Store, settings: Settings) -> dict[str, Any]:
    """Everything on the lead's page."""
    covered = coverage(store, settings)
    db = store.read()
    version = db.execute(
        "SELECT coalesce((SELECT max(event_id) FROM event), 0), coalesce((SELECT max(label_id) FROM label), 0)"
    ).fetchone()
    return {
        "coverage": covered,
        "checks": db.execute("SELECT 1 FROM unit WHERE expected IS NOT NULL").fetchone() is not None,
        "agreement": _agreement_of(store.path, settings.kind, tuple(version)),
        "confusion": confusion(store, settings),
        "spread": adjudicate.disagreements(store, settings.kind)[:WIDEST],
        "adjudicated": db.execute("SELECT 1 FROM adjudication").fetchone() is not None,
    }


@functools.lru_cache(maxsize=4)
def _agreement_of(path: Path, kind: str, version: tuple[int, ...]) -> list[dict[str, Any]]:
    """Agreement, computed once for each state of the labels: the bootstrap takes a moment."""
    return agreement(Store(path), Settings(kind=kind))

"""Adjudication: what independent annotators disagree on, decided after they are done, beside what they said.

Labelling is closed first; agreement is always computed on the originals.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from faithfuse.annotate.judge import Refused
from faithfuse.annotate.label import Labels, build, sealed
from faithfuse.annotate.store import Store, now
from faithfuse.audit.record import PREDICATES

ADJUDICATOR = "adjudication"
"""Annotator under which an adjudicated audit record is sealed."""


@dataclass(frozen=True)
class Disagreement:
    """A unit on which annotators disagree.

    Attributes:
        response: which response to the item it is, counted from 1 (systems stay blinded here too); None if it has one.
        spread: largest minus smallest rating; for a tuple, how many of I, A, M, D and support differ.
        fields: what they differ in: `likert`, or predicates and `support`.
        labels: what everybody said, by annotator: ratings (None for abstain) or records.
        notes: what they wrote to it, by annotator; only those who wrote something.
        decided: the adjudication that stands, or None.
    """

    unit_id: int
    item_id: str
    response: int | None
    point: int | None
    spread: int
    fields: tuple[str, ...]
    labels: dict[str, Any]
    notes: dict[str, str]
    decided: dict[str, Any] | None

    @property
    def name(self) -> str:
        """What it is called on a page."""
        response = f", response {self.response}" if self.response else ""
        return f"{self.item_id}{response}" + (f", point {self.point + 1}" if self.point is not None else "")


def close(store: Store) -> str:
    """End independent labelling; returns when it was closed."""
    with store.write() as db:
        db.execute("INSERT OR IGNORE INTO fact VALUES ('closed_at', ?)", (now(),))
    return store.fact("closed_at")


def reopen(store: Store) -> None:
    """Let annotators go on.

    Raises:
        Refused: something was adjudicated already, so labels would no longer be independent.
    """
    with store.write() as db:
        if db.execute("SELECT 1 FROM adjudication").fetchone():
            raise Refused(409, "Labels were adjudicated already; opening again would end their independence.")
        db.execute("DELETE FROM fact WHERE name = 'closed_at'")


def original_ratings(db: sqlite3.Connection) -> dict[int, dict[str, int | None]]:
    """The standing ratings of every unit, by annotator."""
    found: dict[int, dict[str, int | None]] = defaultdict(dict)
    for row in db.execute(
        "SELECT standing.unit_id, standing.annotator, likert FROM standing JOIN event USING (event_id) ORDER BY 1, 2"
    ):
        found[row["unit_id"]][row["annotator"]] = row["likert"]
    return found


def original_records(db: sqlite3.Connection) -> dict[int, dict[str, dict[str, Any]]]:
    """The latest sealed record of every tuple, by annotator."""
    found: dict[int, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in db.execute("SELECT unit_id, annotator, body FROM label ORDER BY unit_id, annotator, revision"):
        found[row["unit_id"]][row["annotator"]] = json.loads(row["body"])
    return found


def _notes(db: sqlite3.Connection, kind: str) -> dict[int, dict[str, str]]:
    """The notes to what stands, by unit and annotator."""
    rows = (
        "SELECT standing.unit_id, standing.annotator, note FROM standing JOIN event USING (event_id)"
        if kind == "rating"
        else "SELECT unit_id, annotator, note FROM label ORDER BY revision"
    )
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for row in db.execute(rows):
        found[row["unit_id"]][row["annotator"]] = row["note"]
    return found


def decisions(db: sqlite3.Connection) -> dict[int, dict[str, Any]]:
    """The adjudication that stands, by unit: `likert` or `record`, `note`, `made_at`, `revision`."""
    return {
        row["unit_id"]: {
            "likert": row["likert"],
            "record": json.loads(row["body"]) if row["body"] else None,
            "note": row["note"],
            "made_at": row["made_at"],
            "revision": row["revision"],
        }
        for row in db.execute("SELECT * FROM adjudication ORDER BY unit_id, revision")
    }


def disagreements(store: Store, kind: str, *, least: int = 1) -> list[Disagreement]:
    """Units that two annotators or more judged differently, the widest spread first.

    Args:
        store: the study's database.
        kind: `rating` or `audit`.
        least: the smallest spread to list.
    """
    db = store.read()
    decided, notes = decisions(db), _notes(db, kind)
    originals: dict[int, dict[str, Any]] = original_ratings(db) if kind == "rating" else original_records(db)
    systems: dict[str, list[str]] = defaultdict(list)
    for row in db.execute("SELECT DISTINCT item_id, system FROM unit ORDER BY item_id, system"):
        systems[row["item_id"]].append(row["system"])
    found = []
    for row in db.execute("SELECT * FROM unit WHERE expected IS NULL ORDER BY unit_id"):
        labels = originals.get(row["unit_id"], {})
        if len(labels) < 2:
            continue
        if kind == "rating":
            given = [value for value in labels.values() if value is not None]
            spread = max(given) - min(given) if len(given) > 1 else 0
            fields: tuple[str, ...] = ("likert",) if spread else ()
        else:
            fields = tuple(
                name
                for name in (*PREDICATES, "support")
                if len({json.dumps(value_of(record, name)) for record in labels.values()}) > 1
            )
            spread = len(fields)
        if spread >= least:
            found.append(
                Disagreement(
                    unit_id=row["unit_id"],
                    item_id=row["item_id"],
                    response=mine.index(row["system"]) + 1 if len(mine := systems[row["item_id"]]) > 1 else None,
                    point=row["point"],
                    spread=spread,
                    fields=fields,
                    labels=labels,
                    notes={name: text for name, text in notes[row["unit_id"]].items() if text},
                    decided=decided.get(row["unit_id"]),
                )
            )
    return sorted(found, key=lambda each: (-each.spread, each.unit_id))


def value_of(record: dict[str, Any], name: str) -> int | None:
    """A predicate's judgement, or citation support."""
    return record["support"] if name == "support" else record["annotation"]["judgements"][name]


def _refuse_unless_closed(db: sqlite3.Connection) -> None:
    if not db.execute("SELECT 1 FROM fact WHERE name = 'closed_at'").fetchone():
        raise Refused(423, "Close independent labelling first.")


def _add(
    db: sqlite3.Connection, unit_id: int, request_id: str, base: int, note: str, likert: int | None, body: str | None
) -> None:
    row = db.execute("SELECT coalesce(max(revision), 0) FROM adjudication WHERE unit_id = ?", (unit_id,))
    if (revision := row.fetchone()[0]) != base:
        raise Refused(409, "This was adjudicated in another window. Load the page again to see what stands.")
    db.execute(
        "INSERT INTO adjudication (request_id, unit_id, revision, likert, body, note, made_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (request_id, unit_id, revision + 1, likert, body, note, now()),
    )


def decide_rating(store: Store, unit_id: int, *, request_id: str, base: int, likert: int, note: str = "") -> None:
    """Adjudicate one rating; the originals stay as they are.

    Raises:
        Refused: labelling is not closed, or another window decided in between.
    """
    with store.write() as db:
        if db.execute("SELECT 1 FROM adjudication WHERE request_id = ?", (request_id,)).fetchone():
            return
        _refuse_unless_closed(db)
        _add(db, unit_id, request_id, base, note, likert, None)


def decide_labels(store: Store, unit_id: int, labels: Labels, *, codebook: str) -> None:
    """Adjudicate one tuple as a sealed record of its own; the originals stay as they are.

    Raises:
        Refused: labelling is not closed, another window decided in between, or the checker rejects the record.
    """
    with store.write() as db:
        if db.execute("SELECT 1 FROM adjudication WHERE request_id = ?", (labels.request_id,)).fetchone():
            return
        _refuse_unless_closed(db)
        item = db.execute("SELECT body FROM item JOIN unit USING (item_id) WHERE unit_id = ?", (unit_id,)).fetchone()
        if item is None:
            raise Refused(404, "There is no such tuple.")
        before = decisions(db).get(unit_id)
        record = build(
            json.loads(item["body"]),
            labels,
            annotator=ADJUDICATOR,
            codebook=codebook,
            made_at=now(),
            before=before["record"] if before else None,
        )
        _add(db, unit_id, labels.request_id, labels.base, labels.note, None, sealed(record))

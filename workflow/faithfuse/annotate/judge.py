"""Rating: the page of a unit, saving, undoing, and how far somebody is.

Every judgement is an event with an id that the page chose. A page that never heard the answer sends the same id again,
and nothing is stored twice; a page that was overtaken by another tab is told so and decides what stands.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
from dataclasses import dataclass
from typing import Any

from faithfuse.annotate.store import Store, now
from faithfuse.records import Item, Response

PACE_FROM = 5
"""Timed judgements before the time left is estimated: fewer say nothing."""
PACE_OVER = 30
"""How many of the latest judgements the pace is taken from."""


class Refused(Exception):
    """A judgement that cannot be stored; `status` is its HTTP status, `shown` what the page shows."""

    def __init__(self, status: int, message: str, **shown: Any) -> None:
        super().__init__(message)
        self.status = status
        self.shown = {"error": message, **shown}


@dataclass(frozen=True)
class Standing:
    """A rating that stands: 1 to 5, or None for an abstention."""

    likert: int | None
    note: str


@dataclass(frozen=True)
class Page:
    """One unit as its annotator sees it: nothing in it says which system wrote the response."""

    position: int
    unit_id: int
    item: Item
    response: Response
    point: int | None
    standing: Standing | None
    base: int
    """The latest event on this unit by this annotator, 0 for none: what the page has seen."""


@dataclass(frozen=True)
class Progress:
    """How far an annotator is; `seconds_left` is None until `PACE_FROM` judgements were timed."""

    done: int
    total: int
    seconds_each: float | None
    seconds_left: float | None
    last_event: int
    """The judgement that an undo would take back, 0 for none."""


def _unit(db: sqlite3.Connection, annotator: str, position: int) -> sqlite3.Row:
    row = db.execute(
        "SELECT unit.* FROM assignment JOIN unit USING (unit_id) WHERE annotator = ? AND position = ?",
        (annotator, position),
    ).fetchone()
    if row is None:
        raise Refused(404, "There is no such item in your list.")
    return row


def _base(db: sqlite3.Connection, annotator: str, unit_id: int) -> int:
    row = db.execute(
        "SELECT coalesce(max(event_id), 0) FROM event WHERE annotator = ? AND unit_id = ?", (annotator, unit_id)
    )
    return row.fetchone()[0]


def _standing(db: sqlite3.Connection, annotator: str, unit_id: int) -> Standing | None:
    row = db.execute(
        "SELECT likert, note FROM standing JOIN event USING (event_id) WHERE standing.annotator = ? "
        "AND standing.unit_id = ?",
        (annotator, unit_id),
    ).fetchone()
    return Standing(row["likert"], row["note"]) if row else None


def page(store: Store, annotator: str, position: int) -> Page:
    """What an annotator sees at a position of their own list (from 1)."""
    db = store.read()
    unit = _unit(db, annotator, position)
    item, response = material(db, unit)
    return Page(
        position=position,
        unit_id=unit["unit_id"],
        item=item,
        response=response,
        point=unit["point"],
        standing=_standing(db, annotator, unit["unit_id"]),
        base=_base(db, annotator, unit["unit_id"]),
    )


def material(db: sqlite3.Connection, unit: sqlite3.Row) -> tuple[Item, Response]:
    """The item and the response of a unit."""
    item = db.execute("SELECT body FROM item WHERE item_id = ?", (unit["item_id"],)).fetchone()["body"]
    response = db.execute(
        "SELECT body FROM response WHERE item_id = ? AND system = ?", (unit["item_id"], unit["system"])
    ).fetchone()["body"]
    return Item.model_validate(json.loads(item)), Response.model_validate(json.loads(response))


def save(
    store: Store,
    annotator: str,
    position: int,
    *,
    request_id: str,
    base: int,
    likert: int | None,
    note: str = "",
    seconds: float | None = None,
) -> int:
    """Store a rating; when this returns it is on the disk.

    Args:
        request_id: the page's own id of this rating; the same id again changes nothing.
        base: the latest event on the unit that the page has seen.
        likert: 1 to 5, or None to abstain.
        note: the annotator's remark.
        seconds: how long the item was looked at.

    Returns:
        The event's number.

    Raises:
        Refused: no such unit, labelling is closed, or the unit was rated elsewhere after `base` (status 409, with
            what stands).
    """
    with store.write() as db:
        unit = _unit(db, annotator, position)
        known = db.execute("SELECT * FROM event WHERE request_id = ?", (request_id,)).fetchone()
        if known is not None:
            if known["annotator"] != annotator or known["unit_id"] != unit["unit_id"]:
                raise Refused(400, "This request id belongs to another rating.")
            return known["event_id"]
        refuse_if_closed(db)
        if (seen := _base(db, annotator, unit["unit_id"])) != base:
            standing = _standing(db, annotator, unit["unit_id"])
            raise Refused(
                409,
                "This item was changed in another window.",
                base=seen,
                rated=standing is not None,
                likert=standing.likert if standing else None,
                note=standing.note if standing else "",
            )
        event = db.execute(
            "INSERT INTO event (request_id, annotator, unit_id, kind, likert, note, seconds, made_at) "
            "VALUES (?, ?, ?, 'rate', ?, ?, ?, ?)",
            (request_id, annotator, unit["unit_id"], likert, note, seconds, now()),
        ).lastrowid
        db.execute("INSERT OR REPLACE INTO standing VALUES (?, ?, ?)", (annotator, unit["unit_id"], event))
        return event


def refuse_if_closed(db: sqlite3.Connection) -> None:
    """Raise `Refused` when independent labelling is closed."""
    if db.execute("SELECT 1 FROM fact WHERE name = 'closed_at'").fetchone():
        raise Refused(423, "Labelling is closed: nothing can be changed any more.")


_UNDOABLE = (
    "SELECT event_id, unit_id FROM event WHERE annotator = ? AND kind = 'rate' "
    "AND event_id NOT IN (SELECT undoes FROM event WHERE undoes IS NOT NULL AND annotator = ?) "
)


def undo(store: Store, annotator: str, *, request_id: str, last: int) -> int:
    """Take back an annotator's latest judgement; what stood before it stands again.

    Args:
        request_id: the page's own id; the same id again changes nothing.
        last: the judgement that the page means (`Progress.last_event`).

    Returns:
        The position of the unit.

    Raises:
        Refused: there is nothing to undo, labelling is closed, or another window was faster (status 409).
    """
    with store.write() as db:
        known = db.execute(
            "SELECT unit_id FROM event WHERE request_id = ? AND annotator = ?", (request_id, annotator)
        ).fetchone()
        if known is not None:
            return _position(db, annotator, known["unit_id"])
        refuse_if_closed(db)
        row = db.execute(_UNDOABLE + "ORDER BY event_id DESC LIMIT 1", (annotator, annotator)).fetchone()
        if row is None:
            raise Refused(409, "There is nothing to undo.")
        if row["event_id"] != last:
            raise Refused(409, "Something else was rated in another window. Look at it first, then undo.")
        db.execute(
            "INSERT INTO event (request_id, annotator, unit_id, kind, made_at, undoes) VALUES (?, ?, ?, 'undo', ?, ?)",
            (request_id, annotator, row["unit_id"], now(), last),
        )
        before = db.execute(
            _UNDOABLE + "AND unit_id = ? ORDER BY event_id DESC LIMIT 1", (annotator, annotator, row["unit_id"])
        ).fetchone()
        db.execute("DELETE FROM standing WHERE annotator = ? AND unit_id = ?", (annotator, row["unit_id"]))
        if before is not None:
            db.execute("INSERT INTO standing VALUES (?, ?, ?)", (annotator, row["unit_id"], before["event_id"]))
        return _position(db, annotator, row["unit_id"])


def _position(db: sqlite3.Connection, annotator: str, unit_id: int) -> int:
    row = db.execute("SELECT position FROM assignment WHERE annotator = ? AND unit_id = ?", (annotator, unit_id))
    return row.fetchone()["position"]


def next_position(store: Store, annotator: str, after: int = 0) -> int | None:
    """The first unit without a judgement after a position, else the first of all; None when all are judged."""
    row = (
        store.read()
        .execute(
            "SELECT position FROM assignment a WHERE annotator = :name "
            "AND NOT EXISTS (SELECT 1 FROM standing s WHERE s.annotator = :name AND s.unit_id = a.unit_id) "
            "AND NOT EXISTS (SELECT 1 FROM label l WHERE l.annotator = :name AND l.unit_id = a.unit_id) "
            "ORDER BY position <= :after, position LIMIT 1",
            {"name": annotator, "after": after},
        )
        .fetchone()
    )
    return row["position"] if row else None


def progress(store: Store, annotator: str) -> Progress:
    """How far an annotator is, and how long the rest takes at the median pace of the latest judgements."""
    db = store.read()
    total = db.execute("SELECT count(*) FROM assignment WHERE annotator = ?", (annotator,)).fetchone()[0]
    done = db.execute(
        "SELECT (SELECT count(*) FROM standing WHERE annotator = :name) "
        "+ (SELECT count(DISTINCT unit_id) FROM label WHERE annotator = :name)",
        {"name": annotator},
    ).fetchone()[0]
    times = [
        row["seconds"]
        for table in ("event", "label")
        for row in db.execute(
            f"SELECT seconds FROM {table} WHERE annotator = ? AND seconds IS NOT NULL ORDER BY rowid DESC LIMIT ?",
            (annotator, PACE_OVER),
        )
    ]
    pace = statistics.median(times) if len(times) >= PACE_FROM else None
    last = db.execute(_UNDOABLE + "ORDER BY event_id DESC LIMIT 1", (annotator, annotator)).fetchone()
    return Progress(
        done=done,
        total=total,
        seconds_each=pace,
        seconds_left=None if pace is None else pace * (total - done),
        last_event=last["event_id"] if last else 0,
    )

"""Audit labelling: what an annotator says of a tuple becomes a sealed record, or is refused with the checker's words.

Every save is a new revision that names the annotation it replaces (arXiv 2609.29145, section III-E); nothing is written
over.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from faithfuse.annotate.judge import Refused, _unit, refuse_if_closed
from faithfuse.annotate.store import Store, now
from faithfuse.annotate.text import plain
from faithfuse.audit.canonical import canonical_json
from faithfuse.audit.check import check_bytes
from faithfuse.audit.record import FORMAT, PREDICATES, dimensions, seal, span
from faithfuse.audit.result import Defect

SNAPSHOTS = ("query", "source", "answer")


class Mark(BaseModel):
    """A passage that the page marked: code points of the snapshot, and the passage as the page shows it."""

    model_config = ConfigDict(extra="forbid")

    snapshot: str
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    quote: str


class Labels(BaseModel):
    """What the page sends: judgements, reasons and evidence by predicate; `support` apart."""

    model_config = ConfigDict(extra="forbid", strict=True)

    request_id: str = Field(min_length=8, max_length=80)
    base: int = Field(ge=0)
    judgements: dict[str, int | None]
    reasons: dict[str, str]
    evidence: dict[str, list[Mark]]
    support: int | None = Field(default=None, ge=0, le=1)
    note: str = Field(default="", max_length=10_000)
    seconds: float | None = Field(default=None, ge=0, le=86_400)


@dataclass(frozen=True)
class TuplePage:
    """One tuple as its annotator sees it; `record` is the revision that stands, `base` its number (0 for none)."""

    position: int
    unit_id: int
    whole: dict[str, Any]
    record: dict[str, Any] | None
    note: str
    base: int


def tuple_page(store: Store, annotator: str, position: int) -> TuplePage:
    """What an annotator sees at a position of their own list (from 1)."""
    db = store.read()
    unit = _unit(db, annotator, position)
    row = _latest(db, annotator, unit["unit_id"])
    return TuplePage(
        position=position,
        unit_id=unit["unit_id"],
        whole=_tuple(db, unit)["tuple"],
        record=json.loads(row["body"]) if row else None,
        note=row["note"] if row else "",
        base=row["revision"] if row else 0,
    )


def _latest(db: sqlite3.Connection, annotator: str, unit_id: int) -> sqlite3.Row | None:
    return db.execute(
        "SELECT * FROM label WHERE annotator = ? AND unit_id = ? ORDER BY revision DESC LIMIT 1", (annotator, unit_id)
    ).fetchone()


def _tuple(db: sqlite3.Connection, unit: sqlite3.Row) -> dict[str, Any]:
    return json.loads(db.execute("SELECT body FROM item WHERE item_id = ?", (unit["item_id"],)).fetchone()["body"])


def build(
    material: dict[str, Any], labels: Labels, *, annotator: str, codebook: str, made_at: str, before: dict | None
) -> dict[str, Any]:
    """The sealed record of somebody's labels on a tuple.

    Args:
        material: the tuple with its weights and dQ, as the study stores it.
        labels: what the page sent.
        annotator: whose labels they are.
        codebook: its version.
        made_at: when they were made.
        before: the record of the revision before, None for the first.

    Raises:
        Refused: a predicate is missing, or a mark is not the passage that the page showed (status 422).
    """
    whole = material["tuple"]
    texts = {name: whole[name]["text"] for name in SNAPSHOTS}
    evidence: dict[str, list[dict[str, Any]]] = {}
    for name in PREDICATES:
        if name not in labels.judgements:
            raise Refused(422, f"The judgement {name} is missing.")
        evidence[name] = []
        for mark in labels.evidence.get(name, []):
            text = texts.get(mark.snapshot, "")
            if mark.end > len(text) or plain(text[mark.start : mark.end]) != mark.quote:
                raise Refused(
                    422,
                    "A marked passage does not match the stored text. Remove it and mark it again.",
                    defects=[{"field": name, "code": "evidence.range", "found": mark.quote[:60], "fix": ""}],
                )
            evidence[name].append(span(texts, mark.snapshot, mark.start, mark.end))
    judged = {name: labels.judgements[name] for name in PREDICATES}
    reasons = {
        name: (labels.reasons.get(name, "").strip() or None) if judged[name] is None else None for name in PREDICATES
    }
    dims = dimensions({name: value if value in (0, 1) else None for name, value in judged.items()}, material["dQ"])
    return seal(
        {
            "annotation": {
                "annotator": annotator,
                "codebook": codebook,
                "evidence": evidence,
                "judgements": judged,
                "made_at": made_at,
                "reasons": reasons,
                "replaces": before["digests"]["annotation"] if before else None,
                "revision": before["annotation"]["revision"] + 1 if before else 1,
            },
            "claim": "conformance",
            "dimensions": dims,
            "format": FORMAT,
            "support": labels.support,
            "tuple": whole,
            "validation": {"level": "contract", "reference": None},
            "weights": material["weights"],
        }
    )


def sealed(record: dict[str, Any]) -> str:
    """The canonical text of a record that the checker accepts.

    Raises:
        Refused: the checker rejects it (status 422); `shown["defects"]` says what is wrong and where.
    """
    text = canonical_json(record)
    result = check_bytes(text)
    if not result.accepted:
        raise Refused(
            422,
            "Not saved: the checker rejects this record.",
            defects=[
                {"field": _field(defect), "code": defect.code, "found": defect.found, "fix": defect.fix()}
                for defect in result.defects
            ],
        )
    return text.decode()


def _field(defect: Defect) -> str:
    """The part of the form that a defect belongs to: a predicate, `support`, or nothing."""
    parts = defect.pointer.split("/")
    if parts[1:2] == ["annotation"] and len(parts) > 3 and parts[3] in PREDICATES:
        return parts[3]
    return "support" if parts[1:2] == ["support"] else ""


def save_labels(store: Store, annotator: str, position: int, labels: Labels, *, codebook: str) -> dict[str, Any]:
    """Seal and store one revision; when this returns it is on the disk.

    Returns:
        `{"revision": …, "record": record digest, "endpoint": "1", "0" or "U"}`.

    Raises:
        Refused: no such tuple, labelling is closed, another window saved in between (409), or the checker rejects the
            record (422).
    """
    with store.write() as db:
        unit = _unit(db, annotator, position)
        known = db.execute("SELECT * FROM label WHERE request_id = ?", (labels.request_id,)).fetchone()
        if known is not None:
            if known["annotator"] != annotator or known["unit_id"] != unit["unit_id"]:
                raise Refused(400, "This request id belongs to other labels.")
            return _receipt(known["body"])
        refuse_if_closed(db)
        row = _latest(db, annotator, unit["unit_id"])
        if (row["revision"] if row else 0) != labels.base:
            raise Refused(409, "These labels were changed in another window. Load the page again to see what stands.")
        made_at = now()
        record = build(
            _tuple(db, unit),
            labels,
            annotator=annotator,
            codebook=codebook,
            made_at=made_at,
            before=json.loads(row["body"]) if row else None,
        )
        text = sealed(record)
        db.execute(
            "INSERT INTO label (request_id, annotator, unit_id, revision, body, note, seconds, made_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                labels.request_id,
                annotator,
                unit["unit_id"],
                record["annotation"]["revision"],
                text,
                labels.note,
                labels.seconds,
                made_at,
            ),
        )
        return _receipt(text)


def _receipt(text: str) -> dict[str, Any]:
    result = check_bytes(text.encode())
    revision = json.loads(text)["annotation"]["revision"]
    return {"revision": revision, "record": result.record_digest, "endpoint": result.state()}

"""The fast road of the checker: accept a record that has no defect, else say nothing.

The record is decoded into the contract's structures and each part is encoded once; these bytes are canonical JSON, so
they are what the digests are taken over, and a text that equals them put together repeats no key. A text that is
spaced or ordered otherwise is read a second time for repeated keys alone.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import msgspec

from faithfuse.audit import endpoint
from faithfuse.audit.canonical import MAX_INTEGER
from faithfuse.audit.gate import RANK
from faithfuse.audit.priority import review_priority
from faithfuse.audit.record import ANSWER_DEPENDENT, Record
from faithfuse.audit.result import CheckResult
from faithfuse.audit.structure import is_digest, is_time

SUM_TOLERANCE = 1e-9
"""How far the weights' sum may lie from 1."""

_DECODE = msgspec.json.Decoder(Record).decode
_ENCODE = msgspec.json.Encoder(order="deterministic").encode


def _plain(value: float) -> bool:
    """Whether the encoder writes a float exactly as RFC 8785 does: no whole number, no exponent."""
    return 1e-4 <= abs(value) < 1e15 and not value.is_integer()


def _unique(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) != len(pairs):
        raise KeyError


_UNIQUE_KEYS = json.JSONDecoder(object_pairs_hook=_unique)


def _repeats_keys(raw: bytes) -> bool:
    try:
        _UNIQUE_KEYS.decode(raw.decode())
    except KeyError:
        return True
    return False


def accept(raw: bytes) -> CheckResult | None:
    """The result of a record without defects, else None; `raw` is one JSON text without blanks around it."""
    try:
        record = _DECODE(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    whole, note, stated = record.tuple, record.annotation, record.digests
    query, source, answer, pipeline = whole.query, whole.source, whole.answer, whole.pipeline

    query_bytes, source_bytes, answer_bytes = _ENCODE(query), _ENCODE(source), _ENCODE(answer)
    pipeline_bytes, note_bytes, tuple_id = _ENCODE(pipeline), _ENCODE(note), _ENCODE(whole.tuple_id)
    claim_bytes = b'"claim":%b' % _ENCODE(record.claim)
    middle = b'"dimensions":%b,"format":"faithfuse.audit/1","support":%b' % (
        _ENCODE(record.dimensions),
        _ENCODE(record.support),
    )
    end_bytes = b'"validation":%b,"weights":%b' % (_ENCODE(record.validation), _ENCODE(record.weights))
    canonical = b'{"annotation":%b,%b,"digests":%b,%b,"tuple":{"answer":%b,"pipeline":%b,"query":%b,' % (
        note_bytes, claim_bytes, _ENCODE(stated), middle, answer_bytes, pipeline_bytes, query_bytes,
    ) + b'"source":%b,"tuple_id":%b},%b}' % (source_bytes, tuple_id, end_bytes)  # fmt: skip
    if raw != canonical and _repeats_keys(raw):
        return None
    for name, value in pipeline.settings.items():
        if not name.isascii() or (type(value) is float and not _plain(value)):
            return None
        if type(value) is int and not -MAX_INTEGER <= value <= MAX_INTEGER:
            return None
    given = record.weights
    scale = (given.dQ, given.dI, given.dA, given.dM, given.dD)
    for weight in scale:
        if type(weight) is float and not _plain(weight):
            return None
    dimension = record.dimensions
    susceptibility = dimension.dQ
    if type(susceptibility) is float and not _plain(susceptibility):
        return None

    if (
        sha256(query_bytes).hexdigest() != stated.query
        or sha256(source_bytes).hexdigest() != stated.source
        or sha256(answer_bytes).hexdigest() != stated.answer
        or sha256(note_bytes).hexdigest() != stated.annotation
    ):
        return None
    identity = b'{"answer":"%b","pipeline":%b,"query":"%b","source":"%b","tuple_id":%b}' % (
        stated.answer.encode(), pipeline_bytes, stated.query.encode(), stated.source.encode(), tuple_id,
    )  # fmt: skip
    if sha256(identity).hexdigest() != stated.tuple:
        return None
    body = b'{"annotation":"%b",%b,%b,"tuple":"%b",%b}' % (
        stated.annotation.encode(), claim_bytes, middle, stated.tuple.encode(), end_bytes,
    )  # fmt: skip
    if sha256(body).hexdigest() != stated.record:
        return None

    window = source.window
    start, seen, end, answered, made = window.start, source.observed_at, window.end, answer.observed_at, note.made_at
    if not (start <= seen <= end and start <= answered <= end and answered <= made):
        return None
    if not (is_time(start) and is_time(seen) and is_time(end) and is_time(answered) and is_time(made)):
        return None
    replaces = note.replaces
    if (note.revision == 1) is not (replaces is None) or (replaces is not None and not is_digest(replaces)):
        return None
    for name in pipeline.evidence_selection:
        if name in ANSWER_DEPENDENT:
            return None

    judged, reasons, evidence = note.judgements, note.reasons, note.evidence
    relationship, adoption, materiality, disclosure = judged.I, judged.A, judged.M, judged.D
    query_text, source_text, answer_text = query.text, source.text, answer.text
    unresolved = ""
    for name, value, reason, spans in (
        ("I", relationship, reasons.I, evidence.I),
        ("A", adoption, reasons.A, evidence.A),
        ("M", materiality, reasons.M, evidence.M),
        ("D", disclosure, reasons.D, evidence.D),
    ):
        if value is None:
            if reason is None:
                return None
            unresolved += name
            admissible = True
        elif reason is not None:
            return None
        else:
            admissible = name == "M" and bool(spans)
        for item in spans:
            where = item.snapshot
            if where == "answer":
                text = answer_text
                if name != "I":
                    admissible = True
            elif where == "source":
                text = source_text
                if name == "I":
                    admissible = True
            else:
                text = query_text
            first, last = item.start, item.end
            if not first < last <= len(text):
                return None
            if sha256(text[first:last].encode()).hexdigest() != item.digest:
                return None
        if not admissible:
            return None

    if (
        dimension.dI != relationship
        or dimension.dA != adoption
        or dimension.dM != materiality
        or dimension.dD != (None if disclosure is None else 1 - disclosure)
    ):
        return None
    wq, wi, wa, wm, wd = scale
    if not -SUM_TOLERANCE <= wq + wi + wa + wm + wd - 1 <= SUM_TOLERANCE:
        return None
    level = record.validation.level
    if RANK[record.claim] > RANK[level] or (level == "contract") is not (record.validation.reference is None):
        return None
    return CheckResult(
        True,
        (),
        whole.tuple_id,
        stated.record,
        endpoint.omission_endpoint(relationship, adoption, materiality, disclosure),
        review_priority((susceptibility, dimension.dI, dimension.dA, dimension.dM, dimension.dD), scale),
        unresolved,
        record.claim,
        level,
    )

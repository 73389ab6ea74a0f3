"""The fast road of the checker: accept a record that has no defect, else say nothing.

The record is decoded into the contract's structures and each part is encoded once; these bytes are canonical JSON, so
they are what the digests are taken over, and a text that equals them put together repeats no key. A text that is
spaced or ordered otherwise is read a second time for repeated keys alone.
"""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import sha256
from typing import Any

import msgspec

from faithfuse.audit import endpoint
from faithfuse.audit.canonical import MAX_INTEGER, canonical_json
from faithfuse.audit.gate import RANK
from faithfuse.audit.priority import review_priority
from faithfuse.audit.record import ANSWER_DEPENDENT, FORMAT, Pipeline, Record
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


@lru_cache(maxsize=4096)
def _middle(da: Any, dd: Any, di: Any, dm: Any, dq: Any, support: Any) -> bytes:
    """Canonical members `dimensions`, `format` and `support`."""
    dimensions = canonical_json({"dA": da, "dD": dd, "dI": di, "dM": dm, "dQ": dq})
    return b'"dimensions":%b,"format":"%b","support":%b' % (dimensions, FORMAT.encode(), canonical_json(support))


@lru_cache(maxsize=4096)
def _claim_and_weights(
    claim: str, level: str, has_reference: bool, scale: tuple[float, ...]
) -> tuple[bytes, bytes] | None:
    """Canonical members `claim` and `weights`; null when the gate or the weights' sum refuses."""
    wq, wi, wa, wm, wd = scale
    if not -SUM_TOLERANCE <= wq + wi + wa + wm + wd - 1 <= SUM_TOLERANCE:
        return None
    if RANK[claim] > RANK[level] or (level == "contract") is has_reference:
        return None
    weights = canonical_json({"dA": wa, "dD": wd, "dI": wi, "dM": wm, "dQ": wq})
    return b'"claim":%b' % canonical_json(claim), b'"weights":%b' % weights


def _pipeline(pipeline: Pipeline) -> bytes | None:
    """The canonical pipeline; null when a setting is an integer that only the diagnosis can judge."""
    needs_care = False
    for name, value in pipeline.settings.items():
        kind = type(value)
        if kind is int and not -MAX_INTEGER <= value <= MAX_INTEGER:  # type: ignore[operator]
            return None
        needs_care = needs_care or not name.isascii() or (kind is float and not _plain(value))  # type: ignore[arg-type]
    return canonical_json(msgspec.to_builtins(pipeline)) if needs_care else _ENCODE(pipeline)


def accept(raw: bytes) -> CheckResult | None:
    """The result of a record without defects, else None; `raw` is one JSON text without blanks around it."""
    try:
        record = _DECODE(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    whole, note, stated = record.tuple, record.annotation, record.digests
    query, source, answer, pipeline = whole.query, whole.source, whole.answer, whole.pipeline
    claim, level, given, dimension = record.claim, record.validation.level, record.weights, record.dimensions

    scale = (given.dQ, given.dI, given.dA, given.dM, given.dD)
    members = _claim_and_weights(claim, level, record.validation.reference is not None, scale)
    pipeline_bytes = _pipeline(pipeline)
    if members is None or pipeline_bytes is None:
        return None
    claim_bytes = members[0]
    end_bytes = b'"validation":%b,%b' % (_ENCODE(record.validation), members[1])
    susceptibility = dimension.dQ
    middle = _middle(dimension.dA, dimension.dD, dimension.dI, dimension.dM, susceptibility, record.support)
    query_bytes, source_bytes, answer_bytes = _ENCODE(query), _ENCODE(source), _ENCODE(answer)
    note_bytes, tuple_id = _ENCODE(note), _ENCODE(whole.tuple_id)
    canonical = b'{"annotation":%b,%b,"digests":%b,%b,"tuple":{"answer":%b,"pipeline":%b,"query":%b,' % (
        note_bytes, claim_bytes, _ENCODE(stated), middle, answer_bytes, pipeline_bytes, query_bytes,
    ) + b'"source":%b,"tuple_id":%b},%b}' % (source_bytes, tuple_id, end_bytes)  # fmt: skip
    if raw != canonical and _repeats_keys(raw):
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
    return CheckResult(
        True,
        (),
        whole.tuple_id,
        stated.record,
        endpoint.omission_endpoint(relationship, adoption, materiality, disclosure),
        review_priority((susceptibility, dimension.dI, dimension.dA, dimension.dM, dimension.dD), scale),
        unresolved,
        claim,
        level,
    )

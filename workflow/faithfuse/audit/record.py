"""The record contract (arXiv 2609.29145, section III-E): one record is one query–source–answer tuple.

The structures below are the contract's single source: the fast reader decodes into them, the diagnosing checker
walks their type information, and `json_schema` publishes them. Fields stand in the order of their names, which is
the order of canonical JSON (RFC 8785), so an encoded structure is canonical as it is.

A missing key, the string "U", 0 and null are four different things: a missing key and "U" are defects, 0 is a
resolved judgement, and null is an unresolved one that needs a reason. Offsets count Unicode code points of the stored
text, which is never normalised; digests are SHA-256 in lower-case hexadecimal.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from faithfuse.audit.canonical import canonical_json

FORMAT = "faithfuse.audit/1"
PREDICATES = ("I", "A", "M", "D")
"""Relationship, adoption, materiality, disclosure: the paper's order."""
DIMENSIONS = ("dQ", "dI", "dA", "dM", "dD")
"""Query susceptibility, relationship evidence, adoption, materiality, disclosure deficit: the paper's order."""
ANSWER_DEPENDENT = ("dA", "dM", "dD")
"""Dimensions that need the answer, so that they cannot select evidence for it (section III-B)."""
ADMISSIBLE: dict[str, tuple[str, ...]] = {
    "I": ("source",),
    "A": ("answer",),
    "M": ("answer", "query", "source"),
    "D": ("answer",),
}
"""In which snapshots at least one span of a resolved predicate must lie."""
CLAIMS = ("conformance", "tuple", "population", "benefit")
"""What a record is used to assert, from the weakest to the strongest."""
LEVELS = ("contract", "independent_labels", "held_out", "paired_utility")
"""Validation levels in the order of the claims that they carry (section V)."""
DIGESTS = ("query", "source", "answer", "tuple", "annotation", "record")
"""The digests in the order in which they are checked: leaves first."""

Judgement = Literal[0, 1, None]
NonEmpty = Annotated[str, Meta(min_length=1)]
# Patterns go into the schema only: the checker compares digests and looks up times, which is faster than a
# regular expression in the reader.
DIGEST_PATTERN = "^[0-9a-f]{64}$"
TIME_PATTERN = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
Digest = Annotated[
    str,
    Meta(
        description="SHA-256, lower-case hexadecimal",
        extra_json_schema={"pattern": DIGEST_PATTERN, "maxLength": 64},
    ),
]
Time = Annotated[
    str,
    Meta(
        description="UTC to the second, e.g. 2026-01-31T09:00:00Z",
        extra_json_schema={"pattern": TIME_PATTERN, "maxLength": 20},
    ),
]
Role = Literal[
    "affiliate",
    "competitor",
    "employee_or_spokesperson",
    "first_party",
    "independent",
    "owner_or_subsidiary",
    "partner_or_supplier",
    "sponsored",
    "unknown",
    "user_generated",
]
Unit = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]


class Contract(msgspec.Struct, forbid_unknown_fields=True, frozen=True, gc=False):
    """Base of the contract's objects: every field is required, no other is allowed."""


class Span(Contract):
    """A passage of a stored snapshot: code points `start` (included) to `end` (excluded)."""

    digest: Annotated[Digest, Meta(description="SHA-256 of the passage in UTF-8")]
    end: Annotated[int, Meta(ge=1, description="code point after the last")]
    snapshot: Literal["answer", "query", "source"]
    start: Annotated[int, Meta(ge=0, description="first code point")]


class Evidence(Contract):
    """The spans behind each predicate; a resolved predicate has at least one in an admissible snapshot."""

    A: Annotated[list[Span], Meta(description="adoption; one span in the answer when resolved")]
    D: Annotated[list[Span], Meta(description="disclosure; one span in the answer when resolved")]
    I: Annotated[list[Span], Meta(description="relationship; one span in the source when resolved")]  # noqa: E741
    M: Annotated[list[Span], Meta(description="materiality; one span anywhere when resolved")]


class Judgements(Contract):
    """The four predicates: 1, 0, or null for unresolved."""

    A: Annotated[Judgement, Meta(description="the answer adopts the source's claim")]
    D: Annotated[Judgement, Meta(description="the answer discloses the relationship adequately")]
    I: Annotated[  # noqa: E741
        Judgement, Meta(description="the source has a relationship with the target of the query")
    ]
    M: Annotated[Judgement, Meta(description="the relationship is material to the reading of the answer")]


class Reasons(Contract):
    """Why a predicate is unresolved: a sentence where the judgement is null, null where it is resolved."""

    A: NonEmpty | None
    D: NonEmpty | None
    I: NonEmpty | None  # noqa: E741
    M: NonEmpty | None


class Annotation(Contract):
    """One revision of one annotator's judgements; a revision links to the annotation digest it replaces."""

    annotator: Annotated[NonEmpty, Meta(description="who judged: a person's pseudonym or a tool with its version")]
    codebook: Annotated[NonEmpty, Meta(description="version of the codebook")]
    evidence: Evidence
    judgements: Judgements
    made_at: Annotated[Time, Meta(description="when the judgements were made")]
    reasons: Reasons
    replaces: Annotated[Digest | None, Meta(description="annotation digest of the revision before; null for the first")]
    revision: Annotated[int, Meta(ge=1, le=2**31, description="1 for the first")]


class Digests(Contract):
    """SHA-256 over the canonical JSON (RFC 8785) of each part; see `preimage`."""

    annotation: Digest
    answer: Digest
    query: Digest
    record: Digest
    source: Digest
    tuple: Digest


class Dimensions(Contract):
    """The evidence vector (section III-B): dI = I, dA = A, dM = M, dD = 1 − D; null where the predicate is."""

    dA: Judgement
    dD: Annotated[Judgement, Meta(description="disclosure deficit, 1 − D")]
    dI: Judgement
    dM: Judgement
    dQ: Annotated[Unit | None, Meta(description="query susceptibility, 0 to 1; affects review priority only")]


class Answer(Contract):
    """The answer as it was observed."""

    id: NonEmpty
    observed_at: Time
    text: NonEmpty
    version: NonEmpty


class Pipeline(Contract):
    """What produced the answer."""

    evidence_selection: Annotated[
        list[Literal["dA", "dD", "dI", "dM", "dQ"]],
        Meta(description="dimensions that chose the evidence for this answer; dA, dM and dD are refused"),
    ]
    name: NonEmpty
    settings: Annotated[
        dict[str, str | int | float | bool | None], Meta(description="flat: text, numbers, true, false or null")
    ]
    version: NonEmpty


class Query(Contract):
    """The query as it was put."""

    id: NonEmpty
    text: NonEmpty


class Window(Contract):
    """From when to when the source was used in this version."""

    end: Time
    start: Time


class Source(Contract):
    """The archived source as it was observed; a `role` guides the annotator and resolves nothing."""

    id: Annotated[NonEmpty, Meta(description="URL or archive identifier")]
    observed_at: Time
    role: Role
    text: NonEmpty
    version: NonEmpty
    window: Window


class Tuple(Contract):
    """The audit unit: query, source and answer, with the pipeline that joined them."""

    answer: Answer
    pipeline: Pipeline
    query: Query
    source: Source
    tuple_id: NonEmpty


class Validation(Contract):
    """How far the judgements have been validated; above `contract`, `reference` names the study."""

    level: Literal["contract", "held_out", "independent_labels", "paired_utility"]
    reference: NonEmpty | None


class Weights(Contract):
    """Review-priority weights: 0 to 1 each, 1 in sum."""

    dA: Unit
    dD: Unit
    dI: Unit
    dM: Unit
    dQ: Unit


class Record(Contract):
    """One sealed audit record."""

    annotation: Annotation
    claim: Annotated[
        Literal["benefit", "conformance", "population", "tuple"],
        Meta(description="the strongest claim this record may be used for"),
    ]
    digests: Digests
    dimensions: Dimensions
    format: Literal["faithfuse.audit/1"]
    support: Annotated[Judgement, Meta(description="citation support, apart from source risk")]
    tuple: Tuple
    validation: Validation
    weights: Weights


def digest(data: bytes) -> str:
    """SHA-256 as lower-case hexadecimal."""
    return sha256(data).hexdigest()


def preimage(part: str, record: dict[str, Any], digests: dict[str, Any]) -> Any:
    """What the digest of a part is taken over, before canonicalisation.

    `query`, `source`, `answer` and `annotation` are the objects themselves. `tuple` is the tuple with the three
    snapshots replaced by their digests; `record` is the record without `digests`, with tuple and annotation replaced
    by theirs. So every byte of a record is under the record digest and a fault can be told from its consequences.

    Args:
        part: one of `DIGESTS`.
        record: a record; parts that are missing are left out.
        digests: the digests to put in the place of the parts.
    """
    if part == "annotation":
        return record["annotation"]
    if part == "record":
        rest = {key: value for key, value in record.items() if key != "digests"}
        return rest | {key: digests[key] for key in ("annotation", "tuple") if key in rest and key in digests}
    if part == "tuple":
        whole = record["tuple"]
        if not isinstance(whole, dict):
            return whole
        return whole | {key: digests[key] for key in ("query", "source", "answer") if key in whole and key in digests}
    return record["tuple"][part]


def seal(record: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of `record` with `digests` computed anew for every part that is there.

    Evidence-span digests are part of the annotation and stay as they are.

    Raises:
        ValueError: a value has no canonical JSON form (lone surrogate, NaN, too large an integer).
    """
    digests: dict[str, str] = {}
    for part in DIGESTS:
        try:
            data = preimage(part, record, digests)
        except (KeyError, TypeError):
            continue
        digests[part] = digest(canonical_json(data))
    return {key: value for key, value in record.items() if key != "digests"} | {"digests": digests}


def span(texts: dict[str, str], snapshot: str, start: int, end: int) -> dict[str, Any]:
    """An evidence span over code points `start` to `end` of a snapshot's text, with its digest."""
    passage = texts[snapshot][start:end].encode("utf-8")
    return {"digest": digest(passage), "end": end, "snapshot": snapshot, "start": start}


def texts(record: dict[str, Any]) -> dict[str, str]:
    """The three snapshot texts of a valid record."""
    return {name: record["tuple"][name]["text"] for name in ("query", "source", "answer")}


def dimensions(judgements: dict[str, int | None], susceptibility: float | None) -> dict[str, Any]:
    """The evidence vector that belongs to the judgements."""
    deficit = None if judgements["D"] is None else 1 - judgements["D"]
    return {
        "dA": judgements["A"],
        "dD": deficit,
        "dI": judgements["I"],
        "dM": judgements["M"],
        "dQ": susceptibility,
    }


def json_schema() -> dict[str, Any]:
    """The contract's structural part as JSON Schema 2020-12.

    What a schema cannot say (digests, offsets, admissible evidence, the mapping of dimensions, sums, order in time,
    the validation gate) is left to the checker.
    """
    schema = msgspec.json.schema(Record)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:faithfuse:audit:record:1",
        "title": "faithfuse audit record",
    }
    return head | schema

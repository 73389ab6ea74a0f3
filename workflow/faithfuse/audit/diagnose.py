"""The diagnosing road of the checker: every defect of a record, in the paper's order."""

from __future__ import annotations

from itertools import product
from typing import Any

from faithfuse.audit import canonical, endpoint
from faithfuse.audit.accept import SUM_TOLERANCE
from faithfuse.audit.canonical import JsonError, canonical_json, pointer
from faithfuse.audit.codes import ORDER
from faithfuse.audit.gate import RANK
from faithfuse.audit.priority import review_priority
from faithfuse.audit.record import (
    ADMISSIBLE,
    ANSWER_DEPENDENT,
    DIGESTS,
    DIMENSIONS,
    PREDICATES,
    digest,
    preimage,
)
from faithfuse.audit.result import CheckResult, Defect
from faithfuse.audit.structure import RECORD, Path, Walk, shown


def diagnose(raw: bytes) -> CheckResult:
    """The diagnosing road on the bytes of one JSON text: every defect, in the order of the check."""
    try:
        value = canonical.parse(raw)
    except JsonError as error:
        return _rejected([Defect(error.code, "", str(error))], None)
    walk = Walk()
    for code, path, found in canonical.irregularities(value):
        walk.report(code, path, f"{found} was found")
    if any(defect.code == "json.depth" for defect in walk.defects):
        return _rejected(walk.defects, value)
    walk.visit(RECORD, value, ())
    if isinstance(value, dict):
        _fields(walk, value)
        _hashes(walk, value)
        _predicates(walk, value)
        _numbers(walk, value)
        _gate(walk, value)
    if walk.defects:
        return _rejected(walk.defects, value)
    judged = value["annotation"]["judgements"]
    values, weights = value["dimensions"], value["weights"]
    return CheckResult(
        True,
        (),
        value["tuple"]["tuple_id"],
        value["digests"]["record"],
        endpoint.omission_endpoint(judged["I"], judged["A"], judged["M"], judged["D"]),
        review_priority([values[name] for name in DIMENSIONS], [weights[name] for name in DIMENSIONS]),
        "".join(name for name in PREDICATES if judged[name] is None),
        value["claim"],
        value["validation"]["level"],
    )


def _rejected(defects: list[Defect], value: Any) -> CheckResult:
    tuple_id = record_digest = None
    if isinstance(value, dict):
        whole, digests = value.get("tuple"), value.get("digests")
        tuple_id = whole.get("tuple_id") if isinstance(whole, dict) else None
        record_digest = digests.get("record") if isinstance(digests, dict) else None
    ordered = tuple(sorted(dict.fromkeys(defects), key=lambda defect: (ORDER[defect.code], defect.pointer)))
    return CheckResult(
        False,
        ordered,
        tuple_id if isinstance(tuple_id, str) and not canonical.has_surrogate(tuple_id) else None,
        record_digest if isinstance(record_digest, str) and record_digest.isascii() else None,
        None,
        None,
        "",
        None,
        None,
    )


_ABSENT = object()


def _get(value: Any, *path: str | int) -> Any:
    """What stands at a path, or `_ABSENT`."""
    for part in path:
        if isinstance(part, str) and isinstance(value, dict) and part in value:
            value = value[part]
        else:
            return _ABSENT
    return value


def _fields(walk: Walk, value: dict) -> None:
    """Conditions between fields: order in time, the chain of revisions, what selected the evidence."""
    window = ("tuple", "source", "window")
    places = {
        "start": (*window, "start"),
        "source": ("tuple", "source", "observed_at"),
        "answer": ("tuple", "answer", "observed_at"),
        "end": (*window, "end"),
        "made": ("annotation", "made_at"),
    }
    times = {
        name: _get(value, *path)
        for name, path in places.items()
        if walk.clean(*path) and _get(value, *path) is not _ABSENT
    }
    for early, late, blamed in (
        ("start", "end", "end"),
        ("start", "source", "source"),
        ("source", "end", "source"),
        ("start", "answer", "answer"),
        ("answer", "end", "answer"),
        ("answer", "made", "made"),
    ):
        if early in times and late in times and times[early] > times[late]:
            found = f"{times[early]} ({pointer(places[early])}) is after {times[late]} ({pointer(places[late])})"
            walk.add("time.order", places[blamed], found)
    revision, replaces = ("annotation", "revision"), ("annotation", "replaces")
    if walk.clean(*revision) and walk.clean(*replaces):
        number, before = _get(value, *revision), _get(value, *replaces)
        if _ABSENT not in (number, before) and (number == 1) is not (before is None):
            found = f"revision {number} replaces {'nothing' if before is None else 'another'}"
            walk.add("revision.chain", replaces, found)
    selection = _get(value, "tuple", "pipeline", "evidence_selection")
    for index, name in enumerate(selection if isinstance(selection, list) else []):
        if name in ANSWER_DEPENDENT:
            place = ("tuple", "pipeline", "evidence_selection", index)
            walk.add("selection.answer_dependent", place, f"{name} depends on the answer")


CHILDREN = {"tuple": ("query", "source", "answer"), "record": ("annotation", "tuple")}


def _hashes(walk: Walk, value: dict) -> None:
    """Digests, each judged on its own: a parent is at fault only if no stated or true digests of its parts fit it."""
    stated = value.get("digests")
    candidates: dict[str, list[str]] = {}
    for part in DIGESTS:
        shown = stated.get(part) if isinstance(stated, dict) and walk.clean("digests", part) else None
        known = [shown] if isinstance(shown, str) else []
        options = [[(child, one) for one in candidates.get(child, ())] or [None] for child in CHILDREN.get(part, ())]
        found: list[str] = []
        for chosen in product(*options):
            try:
                found.append(digest(canonical_json(preimage(part, value, dict(filter(None, chosen))))))
            except (KeyError, TypeError, ValueError):
                break  # not there, or without a canonical form: said already
            if found[-1] == shown:
                break
        candidates[part] = list(dict.fromkeys(known + found))
        if found and known and shown not in found:
            walk.add(f"digest.{part}", ("digests", part), f"the digest of the {part} does not fit its content")


def _predicates(walk: Walk, value: dict) -> None:
    """Reasons, and evidence spans by their offsets, digests and admissibility."""
    note = _get(value, "annotation")
    for name in PREDICATES:
        judged_at = ("annotation", "judgements", name)
        reason_at = ("annotation", "reasons", name)
        spans_at = ("annotation", "evidence", name)
        judgement = _get(note, *judged_at[1:]) if walk.clean(*judged_at) else _ABSENT
        reason = _get(note, *reason_at[1:]) if walk.clean(*reason_at) else _ABSENT
        if judgement is not _ABSENT and reason is not _ABSENT and (judgement is None) is (reason is None):
            found = "is unresolved without a reason" if judgement is None else "is resolved and has a reason not to be"
            walk.add("predicate.reason", reason_at, f"{name} {found}")
        spans = _get(note, *spans_at[1:])
        if not isinstance(spans, list):
            continue
        for index, item in enumerate(spans):
            _span(walk, value, item, (*spans_at, index))
        if judgement is _ABSENT or judgement is None:
            continue
        if not spans:
            found = f"{name} is {judgement} without an evidence span"
            walk.add("evidence.missing", spans_at, found)
        else:
            snapshots = [_get(item, "snapshot") for item in spans]
            known = [name_ for name_ in snapshots if isinstance(name_, str)]
            usable = all(walk.clean(*spans_at, index, "snapshot") for index in range(len(spans)))
            if usable and len(known) == len(spans) and not set(known) & set(ADMISSIBLE[name]):
                found = f"no span for {name} lies in {' or '.join(ADMISSIBLE[name])}"
                walk.add("evidence.inadmissible", spans_at, found)


def _span(walk: Walk, value: dict, item: Any, path: Path) -> None:
    parts = {key: _get(item, key) for key in ("snapshot", "start", "end", "digest")}
    usable = {key for key in parts if parts[key] is not _ABSENT and walk.clean(*path, key)}
    if not {"snapshot", "start", "end"} <= usable:
        return
    snapshot, start, end = parts["snapshot"], parts["start"], parts["end"]
    text = _get(value, "tuple", snapshot, "text")
    if not isinstance(text, str) or not walk.clean("tuple", snapshot, "text"):
        return
    if not start < end <= len(text):
        found = f"code points {start} to {end} of the {snapshot}, which has {len(text)}"
        walk.add("evidence.range", path, found)
        return
    if "digest" in usable and digest(text[start:end].encode("utf-8")) != parts["digest"]:
        found = f"the passage at code points {start} to {end} of the {snapshot} has another digest"
        walk.add("evidence.digest", (*path, "digest"), found)


def _numbers(walk: Walk, value: dict) -> None:
    """The mapping of dimensions to predicates, and the sum of the weights."""
    for name in PREDICATES:
        judged_at, dimension_at = ("annotation", "judgements", name), ("dimensions", f"d{name}")
        judgement, dimension = _get(value, *judged_at), _get(value, *dimension_at)
        if _ABSENT in (judgement, dimension) or not (walk.clean(*judged_at) and walk.clean(*dimension_at)):
            continue
        wanted = judgement if name != "D" or judgement is None else 1 - judgement
        if dimension != wanted:
            found = f"d{name} is {shown(dimension)} where {name} = {shown(judgement)} asks for {shown(wanted)}"
            walk.add("dimension.mapping", dimension_at, found)
    weights = [_get(value, "weights", name) for name in DIMENSIONS]
    if all(walk.clean("weights", name) for name in DIMENSIONS) and _ABSENT not in weights:
        total = sum(weights)
        if not -SUM_TOLERANCE <= total - 1 <= SUM_TOLERANCE:
            walk.add("weight.sum", ("weights",), f"the weights sum to {total!r}")


def _gate(walk: Walk, value: dict) -> None:
    """The claim against the validation level, and the level against its reference."""
    claim, level = _get(value, "claim"), _get(value, "validation", "level")
    reference = _get(value, "validation", "reference")
    level_known = level is not _ABSENT and walk.clean("validation", "level")
    if level_known and claim is not _ABSENT and walk.clean("claim") and RANK[claim] > RANK[level]:
        found = f"the claim {claim} needs more than validation level {level}"
        walk.add("gate.claim", ("claim",), found)
    reference_known = reference is not _ABSENT and walk.clean("validation", "reference")
    if level_known and reference_known and (level == "contract") is not (reference is None):
        found = f"level {level} {'has no' if reference is None else 'has a'} reference"
        walk.add("gate.reference", ("validation", "reference"), found)

"""Beyond the paper: every field removed, added or given another type, and every leaf given another value.

Expectations are written as tables over paths, apart from the checker; where a change leaves the record valid the
expectation is `accepted`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from faithfuse.audit.record import seal
from faithfuse.audit.suite import fixtures

Path = tuple[str | int, ...]
SETTINGS = ("tuple", "pipeline", "settings")
HEX = "0123456789abcdef" * 4
LATE, EARLY = "2026-01-30T00:00:00Z", "2025-01-01T00:00:00Z"


@dataclass(frozen=True)
class Change:
    """One edited record and the codes it must be rejected with; no codes: it must be accepted."""

    kind: str
    path: Path
    detail: str
    record: dict[str, Any]
    codes: frozenset[str]

    def name(self) -> str:
        """`path detail`, unique within a base record and a kind."""
        return "/" + "/".join(map(str, self.path)) + (f" {self.detail}" if self.detail else "")


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place in a value below the root, parents first."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield (*path, key), child
        yield from walk(child, (*path, key))


def _parent(record: Any, path: Path) -> Any:
    for part in path[:-1]:
        record = record[part]
    return record


def _edited(record: dict[str, Any], path: Path, value: Any, *, remove: bool = False) -> dict[str, Any]:
    edited = fixtures.copied(record)
    parent = _parent(edited, path)
    if remove:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    if path[0] == "digests":
        return edited
    sealed = seal(edited)
    return sealed | {"digests": record["digests"] | sealed["digests"]}


def removed(record: dict[str, Any]) -> Iterator[Change]:
    """Every field removed: `field.missing`, and nothing else; a setting may go."""
    for path, _ in walk(record):
        if isinstance(path[-1], str):
            codes = frozenset() if path[:-1] == SETTINGS else frozenset({"field.missing"})
            yield Change("removed", path, "", _edited(record, path, None, remove=True), codes)


def added(record: dict[str, Any]) -> Iterator[Change]:
    """A field added to every object: `field.unknown`; a setting may come."""
    for path, value in [((), record), *walk(record)]:
        if isinstance(value, dict):
            codes = frozenset() if path == SETTINGS else frozenset({"field.unknown"})
            yield Change("added", (*path, "extra"), "", _edited(record, (*path, "extra"), "x"), codes)


OTHERS: tuple[Any, ...] = (None, True, 7, 1.5, "text", [], {})


def retyped(record: dict[str, Any]) -> Iterator[Change]:
    """Every value replaced by one of each other JSON type."""
    for path, value in walk(record):
        for other in OTHERS:
            codes = _type_codes(path, value, other)
            if codes is not None:
                detail = f"-> {other!r}" if other is not None else "-> null"
                yield Change("retyped", path, detail, _edited(record, path, other), frozenset(codes))


def _kind(value: Any) -> str:
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "null" if value is None else "object" if isinstance(value, dict) else "array"


def _type_codes(path: Path, value: Any, other: Any) -> set[str] | None:
    """The expected codes when `other` takes the place of `value`; None: not a change of type, so left to `replaced`."""
    kind, new = _kind(value), _kind(other)
    numeric = ("integer", "number")
    if path[:-1] == SETTINGS:
        return {"field.type"} if new in ("array", "object") else set()
    if path[:2] == ("annotation", "judgements") and len(path) == 3:
        if new in ("null", "integer"):
            return None
        return {"predicate.value"} if new == "number" else {"predicate.type"}
    if path[0] == "dimensions" and len(path) == 2:
        return None if new in ("null", "integer") else {"dimension.value"}
    if path[0] == "weights" and len(path) == 2:
        return None if new in numeric else {"weight.value"}
    if path == ("support",):
        if new in ("null", "integer"):
            return None
        return {"field.value"} if new == "number" else {"field.type"}
    may_be_text = path[:2] == ("annotation", "reasons") or path[-1] in ("replaces", "reference")
    if len(path) > 1 and path != ("annotation", "reasons") and may_be_text:
        return None if new in ("null", "string") else {"field.type"}
    return None if new == kind else {"field.type"}


def replaced(record: dict[str, Any]) -> Iterator[Change]:
    """Every leaf replaced by other values of its own type."""
    for path, value in walk(record):
        if isinstance(value, dict) or (isinstance(value, list) and path[-1] != "evidence_selection"):
            continue
        for other, codes in _leaf_values(path, value, record):
            yield Change(
                "replaced", path, f"-> {_short(other)}", _edited(record, path, other), frozenset(codes.split())
            )


def _short(value: Any) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= 40 else f"{text[:24]}...({len(text)})"


def _leaf_values(path: Path, value: Any, record: dict[str, Any]) -> list[tuple[Any, str]]:
    last, head = path[-1], path[0]
    if head == "digests":
        flipped = value[:-1] + ("0" if value[-1] != "0" else "1")
        return [(flipped, f"digest.{last}"), (value.upper() + "A", "field.value"), ("", "field.value")]
    if path[:2] == ("annotation", "judgements"):
        return _judgement_values(value)
    if path[:2] == ("annotation", "reasons"):
        if value is None:
            return [("a reason too many", "predicate.reason"), ("", "field.value")]
        return [("another reason", ""), (None, "predicate.reason"), ("", "field.value")]
    if path[:2] == ("annotation", "evidence"):
        return _span_values(path, value, record)
    if head == "dimensions":
        if last == "dQ":
            return [(0.5, ""), (0, ""), (None, ""), (1.5, "dimension.value"), (-1, "dimension.value")]
        wrong = [other for other in (0, 1, None) if other != value or (other is None) is not (value is None)]
        return [(other, "dimension.mapping") for other in wrong] + [(2, "dimension.value"), (0.5, "dimension.value")]
    if head == "weights":
        return [(0.3, "weight.sum"), (0, "weight.sum"), (-0.1, "weight.value"), (1.1, "weight.value")]
    simple: dict[Path, list[tuple[Any, str]]] = {
        ("annotation", "made_at"): _times("", "time.order"),
        ("annotation", "replaces"): [(HEX, "revision.chain"), ("none", "field.value"), (HEX.upper(), "field.value")],
        ("annotation", "revision"): [(2, "revision.chain"), (0, "field.value"), (-1, "field.value")],
        ("claim",): [(claim, "gate.claim") for claim in ("tuple", "population", "benefit")] + [("all", "field.value")],
        ("format",): [("faithfuse.audit/2", "field.value"), ("", "field.value")],
        ("support",): [(0, ""), (1, ""), (None, ""), (2, "field.value"), (-1, "field.value")],
        ("tuple", "answer", "observed_at"): _times("time.order", "time.order"),
        ("tuple", "source", "observed_at"): _times("", "time.order"),
        ("tuple", "source", "window", "start"): _times("time.order", ""),
        ("tuple", "source", "window", "end"): _times("", "time.order"),
        ("tuple", "source", "role"): [("unknown", ""), ("independent", ""), ("friend", "field.value")],
        ("tuple", "pipeline", "evidence_selection"): [
            ([], ""),
            (["dI"], ""),
            (["dQ", "dA"], "selection.answer_dependent"),
            (["dM"], "selection.answer_dependent"),
            (["dD"], "selection.answer_dependent"),
            (["dX"], "field.value"),
        ],
        ("validation", "level"): [
            (level, "gate.reference") for level in ("independent_labels", "held_out", "paired_utility")
        ]
        + [("certified", "field.value")],
        ("validation", "reference"): [("study", "gate.reference"), ("", "field.value")],
    }
    if path in simple:
        return simple[path]
    if path[:-1] == SETTINGS:
        return [("other", ""), (3, ""), (0.25, ""), (1e21, ""), (1e-7, ""), (2**53 - 1, ""), (True, ""), (None, "")]
    if path[:3] == ("tuple", "pipeline", "evidence_selection"):
        return [("dI", ""), ("dA", "selection.answer_dependent"), ("dx", "field.value")]
    if last == "text":
        used = any(item["snapshot"] == path[1] for spans in record["annotation"]["evidence"].values() for item in spans)
        moved = "evidence.digest" if used else ""
        return [(value + " More.", ""), ("Before. " + value, moved), ("", "field.value")]
    return [(f"{value}-other", ""), ("", "field.value")]


def _times(late: str, early: str) -> list[tuple[Any, str]]:
    broken = ("yesterday", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00Z\n", "")
    return [(LATE, late), (EARLY, early)] + [(other, "field.value") for other in broken]


def _judgement_values(value: int | None) -> list[tuple[Any, str]]:
    out_of_range = [(2, "predicate.value"), (-1, "predicate.value")]
    if value is None:
        return [(other, "predicate.reason evidence.missing dimension.mapping") for other in (0, 1)] + out_of_range
    return [(1 - value, "dimension.mapping"), (None, "predicate.reason dimension.mapping"), *out_of_range]


def _span_values(path: Path, value: Any, record: dict[str, Any]) -> list[tuple[Any, str]]:
    predicate, field = path[2], path[-1]
    item = _parent(record, path)
    if field == "digest":
        return [(HEX, "evidence.digest"), ("abc", "field.value")]
    if field == "start":
        others = [(value + 1, "evidence.digest"), (value - 1, "evidence.digest"), (item["end"], "evidence.range")]
        return [*others, (item["end"] + 5, "evidence.range"), (-1, "field.value")]
    if field == "end":
        others = [(value + 1, "evidence.digest"), (value - 1, "evidence.digest"), (item["start"], "evidence.range")]
        return [*others, (2**40, "evidence.range"), (0, "field.value")]
    # Another snapshot: the passage there differs, the query is too short for the offsets.
    elsewhere = []
    for name in ("answer", "query", "source"):
        if name != value:
            codes = "evidence.range" if item["end"] > len(record["tuple"][name]["text"]) else "evidence.digest"
            admissible = {"M": True, "I": name == "source"}.get(predicate, name == "answer")
            elsewhere.append((name, codes + ("" if admissible else " evidence.inadmissible")))
    return [*elsewhere, ("page", "field.value")]


KINDS = (removed, added, retyped, replaced)


def changes(record: dict[str, Any]) -> Iterator[Change]:
    """All single-field changes of a record."""
    for kind in KINDS:
        yield from kind(record)

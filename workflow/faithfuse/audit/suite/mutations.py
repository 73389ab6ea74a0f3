"""The twelve defect types (section IV-D), each a function that breaks a record in one place.

A defect says whether the record is sealed again afterwards (all but the three digest defects), which code the checker
must give, and on which states it applies. The twelve touch different fields, so that pairs of them can be planted in
one record and both must be found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from faithfuse.audit.record import seal
from faithfuse.audit.suite import fixtures

Edit = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Defect:
    """One defect type: `needs` are predicates (letters of IAMD) that must be resolved for it to apply."""

    name: str
    code: str
    edit: Edit
    needs: str = ""
    resealed: bool = True

    def applies(self, state: str) -> bool:
        """Whether the state has what the defect breaks."""
        return all(state["IAMD".index(name)] != "U" for name in self.needs)


def _drop_key(record: dict[str, Any]) -> None:
    del record["support"]


def _add_key(record: dict[str, Any]) -> None:
    record["tuple"]["query"]["language"] = "en"


def _change_snapshot(record: dict[str, Any]) -> None:
    record["tuple"]["source"]["text"] += " Added after archiving."


def _take_other_identity(record: dict[str, Any]) -> None:
    other = fixtures.record("1111" if record["tuple"]["tuple_id"] != "state-1111" else "0000")
    record["digests"]["tuple"] = other["digests"]["tuple"]


def _break_checksum(record: dict[str, Any]) -> None:
    last = record["digests"]["record"][-1]
    record["digests"]["record"] = record["digests"]["record"][:-1] + ("0" if last != "0" else "1")


def _write_unknown_as_text(record: dict[str, Any]) -> None:
    record["annotation"]["judgements"]["A"] = "U"


def _write_two(record: dict[str, Any]) -> None:
    record["annotation"]["judgements"]["I"] = 2


def _drop_evidence(record: dict[str, Any]) -> None:
    record["annotation"]["evidence"]["D"] = []


def _move_offset(record: dict[str, Any]) -> None:
    record["annotation"]["evidence"]["M"][0]["end"] = 100_000


def _swap_passage(record: dict[str, Any]) -> None:
    record["annotation"]["evidence"]["A"][0]["start"] -= 1


def _break_mapping(record: dict[str, Any]) -> None:
    record["dimensions"]["dD"] = 0 if record["dimensions"]["dD"] in (1, None) else 1


def _overweight(record: dict[str, Any]) -> None:
    record["weights"]["dQ"] = 0.4


DEFECTS = (
    Defect("missing_field", "field.missing", _drop_key),
    Defect("unknown_field", "field.unknown", _add_key),
    Defect("snapshot_checksum", "digest.source", _change_snapshot, resealed=False),
    Defect("tuple_identity", "digest.tuple", _take_other_identity, resealed=False),
    Defect("record_checksum", "digest.record", _break_checksum, resealed=False),
    Defect("predicate_type", "predicate.type", _write_unknown_as_text),
    Defect("predicate_value", "predicate.value", _write_two),
    Defect("evidence_missing", "evidence.missing", _drop_evidence, needs="D"),
    Defect("evidence_offset", "evidence.range", _move_offset, needs="M"),
    Defect("evidence_digest", "evidence.digest", _swap_passage, needs="A"),
    Defect("dimension_mapping", "dimension.mapping", _break_mapping),
    Defect("weight_sum", "weight.sum", _overweight),
)
PAIRS = tuple(combinations(DEFECTS, 2))


def plant(record: dict[str, Any], *defects: Defect) -> dict[str, Any]:
    """A copy of a sealed record with the defects in it; those that are resealed come first, then the seal."""
    broken = fixtures.copied(record)
    for defect in defects:
        if defect.resealed:
            defect.edit(broken)
    if any(defect.resealed for defect in defects):
        broken = seal(broken)
    for defect in defects:
        if not defect.resealed:
            defect.edit(broken)
    return broken

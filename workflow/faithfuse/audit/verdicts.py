"""Check a stream of records: a verdict for each, counts over all."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TextIO

from faithfuse.audit.check import check_bytes
from faithfuse.audit.policy import Policy
from faithfuse.audit.result import CheckResult

COLUMNS = (
    "file",
    "position",
    "tuple_id",
    "record",
    "verdict",
    "endpoint",
    "priority",
    "unresolved",
    "reason",
    "claim",
    "level",
    "decision",
    "codes",
    "defects",
)
NAMES = {"I": "relationship", "A": "adoption", "M": "materiality", "D": "disclosure"}


@dataclass
class Summary:
    """Counts over a stream: states (`1`, `0`, `U`, `rejected`), reason codes, decisions."""

    states: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    decisions: Counter[str] = field(default_factory=Counter)
    unresolved: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return sum(self.states.values())

    @property
    def rejected(self) -> int:
        return self.states["rejected"]


@cache
def unresolved_reason(letters: str) -> str:
    """Why an endpoint is unresolved, in words; empty for a resolved one."""
    if not letters:
        return ""
    return "no judgement of " + ", ".join(f"{NAMES[letter]} ({letter})" for letter in letters)


def _row(file: str, position: int, result: CheckResult, state: str, decision: str) -> tuple[Any, ...]:
    unresolved = result.unresolved
    if result.accepted:
        return (
            file,
            position,
            result.tuple_id,
            result.record_digest,
            "accepted",
            state,
            "" if result.priority is None else repr(result.priority),
            unresolved,
            unresolved_reason(unresolved),
            result.claim,
            result.level,
            decision,
            "",
            "",
        )
    codes = " ".join(result.codes())
    defects = " | ".join(defect.sentence() for defect in result.defects)
    known = (result.tuple_id or "", result.record_digest or "")
    return (file, position, *known, "rejected", "", "", "", "", "", "", decision, codes, defects)


def _object(file: str, position: int, result: CheckResult, decision: str) -> dict[str, Any]:
    return {
        "file": file,
        "position": position,
        "tuple_id": result.tuple_id,
        "record": result.record_digest,
        "verdict": "accepted" if result.accepted else "rejected",
        "endpoint": result.state() if result.accepted else None,
        "priority": result.priority,
        "unresolved": list(result.unresolved),
        "reason": unresolved_reason(result.unresolved) or None,
        "claim": result.claim,
        "level": result.level,
        "decision": decision or None,
        "defects": [
            {"code": defect.code, "pointer": defect.pointer, "found": defect.found, "fix": defect.fix()}
            for defect in result.defects
        ],
    }


def check_stream(
    values: Iterable[tuple[str, int, bytes]],
    *,
    out: TextIO | None = None,
    as_lines: bool = False,
    policy: Policy | None = None,
    on_rejected: Callable[[str, int, CheckResult], None] | None = None,
) -> Summary:
    """Check (file, position, bytes) one after another; nothing is kept but counts.

    Args:
        values: the records.
        out: where a verdict per record goes, as CSV with `COLUMNS` or as JSON Lines.
        as_lines: write JSON Lines.
        policy: adds a decision word to each verdict.
        on_rejected: called for each rejected record.
    """
    summary = Summary()
    states = summary.states
    writer = csv.writer(out, lineterminator="\n") if out is not None and not as_lines else None
    if writer is not None:
        writer.writerow(COLUMNS)
    for file, position, raw in values:
        result = check_bytes(raw)
        state = result.state()
        decision = "" if policy is None else policy.decide(result)
        states[state] += 1
        if decision:
            summary.decisions[decision] += 1
        if result.unresolved:
            summary.unresolved[result.unresolved] += 1
        if not result.accepted:
            summary.codes.update(result.codes())
            if on_rejected is not None:
                on_rejected(file, position, result)
        if writer is not None:
            writer.writerow(_row(file, position, result, state, decision))
        elif out is not None:
            out.write(json.dumps(_object(file, position, result, decision), ensure_ascii=False) + "\n")
    return summary

"""The conformance cases as data, for implementations in any language (`tests/conformance/README.md` describes them).

A file is a list of groups; a group has a record and tests, each a patch of that record (`add`, `replace` and `remove`
of RFC 6902) or a text of its own, with what must come out.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from faithfuse.audit.canonical import canonical_json, pointer
from faithfuse.audit.files import writing
from faithfuse.audit.suite import extended, fixtures, mutations, oracle

Case = dict[str, Any]


def patch(before: Any, after: Any, path: tuple[str | int, ...] = ()) -> list[dict[str, Any]]:
    """The JSON patch (RFC 6902: add, replace, remove) that turns one value into another."""
    if isinstance(before, dict) and isinstance(after, dict):
        steps: list[dict[str, Any]] = []
        for key in sorted(before.keys() | after.keys()):
            place = (*path, key)
            if key not in after:
                steps.append({"op": "remove", "path": pointer(place)})
            elif key not in before:
                steps.append({"op": "add", "path": pointer(place), "value": after[key]})
            else:
                steps.extend(patch(before[key], after[key], place))
        return steps
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [step for index, (old, new) in pairs for step in patch(old, new, (*path, index))]
    if type(before) is type(after) and before == after:
        return []
    return [{"op": "replace", "path": pointer(path), "value": after}]


def _accepted(endpoint: str, priority: float | None) -> Case:
    return {"accepted": True, "codes": [], "endpoint": endpoint, "priority": priority}


def _rejected(codes: Iterable[str]) -> Case:
    return {"accepted": False, "codes": sorted(codes), "endpoint": None, "priority": None}


def _priority(values: Iterable[float | None]) -> float | None:
    """Equal weights over dQ, dI, dA, dM, dD, added in this order."""
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += 0.2 * value
    return total


def _state_priority(state: str) -> float | None:
    """The priority of a fixture: dQ is 1, dD is 1 − D."""
    numbers = [None if symbol == "U" else int(symbol) for symbol in state]
    return _priority([1, *numbers[:3], None if numbers[3] is None else 1 - numbers[3]])


def states() -> list[Case]:
    """All 81 states, one record each: as it is, with every evidence removed, other support, and without dQ."""
    groups = []
    for state in oracle.STATES:
        record, endpoint, priority = fixtures.record(state), oracle.expected(state), _state_priority(state)
        changed = [("resolves as section III-A says", record, _accepted(endpoint, priority))]
        for predicate, symbol in zip("IAMD", state, strict=True):
            if symbol != "U":
                edited = fixtures.without_evidence(record, predicate)
                changed.append((f"without evidence for {predicate}", edited, _accepted("U", None)))
        for support in (0, None):
            name = "null" if support is None else support
            edited = fixtures.record(state, support=support)
            changed.append((f"with support {name}", edited, _accepted(endpoint, priority)))
        edited = fixtures.record(state, susceptibility=None)
        changed.append(("without dQ", edited, _accepted(endpoint, None)))
        tests = [
            {"description": name, "expected": expected, "patch": patch(record, edited)}
            for name, edited, expected in changed
        ]
        groups.append({"description": f"state {state} (I, A, M, D)", "record": record, "tests": tests})
    return groups


def planted() -> list[Case]:
    """The 192 mutations: 16 complete states, twelve defects each."""
    groups = []
    for state in oracle.STATES:
        if "U" in state:
            continue
        record = fixtures.record(state)
        tests = [
            {
                "description": defect.name,
                "expected": _rejected([defect.code]),
                "patch": patch(record, mutations.plant(record, defect)),
            }
            for defect in mutations.DEFECTS
        ]
        groups.append({"description": f"twelve defects in state {state}", "record": record, "tests": tests})
    return groups


def fields() -> list[Case]:
    """Every field of the positive record removed, added to, given another type and another value."""
    state = "1110"
    record = fixtures.record(state)
    tests = []
    for change in extended.changes(record):
        if change.codes:
            expected = _rejected(change.codes)
        else:
            dimensions = change.record["dimensions"]
            values = [dimensions[name] for name in ("dQ", "dI", "dA", "dM", "dD")]
            expected = _accepted(oracle.expected(state), _priority(values))
        tests.append(
            {
                "description": f"{change.kind} {change.name()}",
                "expected": expected,
                "patch": patch(record, change.record),
            }
        )
    return [{"description": "one change in the positive record", "record": record, "tests": tests}]


def texts() -> list[Case]:
    """JSON texts that readers disagree on, as base64 of their bytes."""
    good = canonical_json(fixtures.record("1110"))
    spaced = json.dumps(json.loads(good), indent=2).encode()
    deep = good[:-1] + b',"extra":' + b"[" * 2_000 + b"]" * 2_000 + b"}"
    variants: list[tuple[str, bytes, list[str]]] = [
        ("canonical", good, []),
        ("indented, other escapes", spaced, []),
        ("whole float for an integer", good.replace(b'"revision":1}', b'"revision":1.0}'), []),
        ("exponent for a weight", good.replace(b'"dQ":0.2', b'"dQ":2e-1'), []),
        ("repeated key, same value", good.replace(b'"support":1', b'"support":1,"support":1'), ["json.duplicate_key"]),
        ("repeated key, other value", good.replace(b'"support":1', b'"support":0,"support":1'), ["json.duplicate_key"]),
        ("NaN", good.replace(b'"dQ":0.2', b'"dQ":NaN'), ["json.number"]),
        ("infinity", good.replace(b'"dQ":0.2', b'"dQ":-Infinity'), ["json.number"]),
        ("out of a double's range", good.replace(b'"dQ":0.2', b'"dQ":1e999'), ["json.number"]),
        ("integer beyond 2^53", good.replace(b'"revision":1}', b'"revision":9007199254740993}'), ["json.number"]),
        ("lone surrogate", good.replace(b'"support":1', b'"support":"\\ud800"'), ["json.surrogate"]),
        ("not UTF-8", good.replace(b"reliable", b"reliabl\xff"), ["json.encoding"]),
        ("cut short", good[:-10], ["json.syntax"]),
        ("two values", good + good, ["json.syntax"]),
        ("empty", b"", ["json.syntax"]),
        ("an array", b"[]", ["field.type"]),
        ("null", b"null", ["field.type"]),
        ("nested too deeply", deep, ["json.depth"]),
    ]
    tests = []
    for name, raw, codes in variants:
        expected = _rejected(codes) if codes else _accepted("1", _state_priority("1110"))
        tests.append({"description": name, "expected": expected, "text_base64": _packed(raw)})
    return [{"description": "texts of the positive record", "record": None, "tests": tests}]


def _packed(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


FILES = {"states": states, "mutations": planted, "fields": fields, "texts": texts}


def write_cases(out: Path) -> list[Path]:
    """Write every file of cases to `out`, atomically; the same program always writes the same bytes."""
    written = []
    for name, build in FILES.items():
        path = out / f"{name}.json"
        with writing(path) as stream:
            stream.write(json.dumps(build(), ensure_ascii=False, indent=1, sort_keys=True) + "\n")
        written.append(path)
    return written

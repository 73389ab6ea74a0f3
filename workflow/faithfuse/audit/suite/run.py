"""Run the conformance suite and write its tables.

Everything here is exhaustive and synthetic: the counts establish that the checker follows the specification, not that
its judgements are right about the world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faithfuse.audit import check as checker
from faithfuse.audit.canonical import canonical_json
from faithfuse.audit.files import read_csv, write_table
from faithfuse.audit.result import CheckResult
from faithfuse.audit.suite import baselines, extended, fixtures, mutations, oracle

Check = Callable[[bytes], CheckResult]
Row = dict[str, Any]

EXTENDED_BASES = ("1110", "10U1", "UUUU")
"""The states whose every field is removed, added to, retyped and replaced."""


@dataclass
class Table:
    """One CSV table."""

    columns: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)

    def add(self, *values: Any) -> None:
        self.rows.append(dict(zip(self.columns, values, strict=True)))


@dataclass
class Suite:
    """The suite's tables by file stem, and its failures as sentences that name the state or case."""

    tables: dict[str, Table]
    failures: list[str]


def run(check: Check = checker.check_bytes, reference: dict[str, tuple[str, str]] | None = None) -> Suite:
    """Run the whole suite.

    Args:
        check: the checker under test, from the bytes of one record to its result.
        reference: the paper's counts, quantity → (value, unit); see `read_reference`.
    """
    failures: list[str] = []
    tables = {
        "states": _states(check, failures),
        "baselines": _baselines(),
        "ablations": _ablations(check, failures),
        "coverage": _coverage(),
        "transitions": _transitions(check, failures),
        "support": _support(check, failures),
        "mutations": _mutations(check, failures),
        "mutations_extended": _extended(check, failures),
    }
    tables["counts"] = _counts(tables, reference or {}, failures)
    return Suite(tables, failures)


def _result(check: Check, record: dict[str, Any]) -> CheckResult:
    return check(canonical_json(record))


def _states(check: Check, failures: list[str]) -> Table:
    table = Table(("I", "A", "M", "D", "endpoint", "oracle"))
    for state in oracle.STATES:
        found, wanted = _result(check, fixtures.record(state)).state(), oracle.expected(state)
        table.add(*state, found, wanted)
        if found != wanted:
            failures.append(f"state {state} (I, A, M, D): the checker says {found}, the oracle {wanted}")
    return table


def _baselines() -> Table:
    table = Table(
        (
            "baseline",
            "guard",
            "states",
            "resolved",
            "resolved_incomplete",
            "complete_states",
            "complete_agreement",
            "missed_positives",
            "false_positives",
        )
    )
    for name, rule in baselines.BASELINES.items():
        for guard, variant in (("none", rule), ("complete", baselines.guarded(rule))):
            said = {state: variant(state, "1") for state in oracle.STATES}
            complete = [state for state in oracle.STATES if "U" not in state]
            table.add(
                name,
                guard,
                len(said),
                sum(symbol != "U" for symbol in said.values()),
                sum(symbol != "U" for state, symbol in said.items() if "U" in state),
                len(complete),
                sum(said[state] == oracle.expected(state) for state in complete),
                sum(said[state] != "1" for state in complete if oracle.expected(state) == "1"),
                sum(said[state] == "1" for state in complete if oracle.expected(state) == "0"),
            )
    return table


def _ablations(check: Check, failures: list[str]) -> Table:
    table = Table(("dropped", "states", "positives", "added_positives", "changed_endpoints", "changed_states"))
    for predicate in "IAMD":
        said = {state: baselines.without(predicate)(state, "1") for state in oracle.STATES}
        changed = [state for state in oracle.STATES if said[state] != oracle.expected(state)]
        positives = sum(symbol == "1" for symbol in said.values())
        table.add(predicate, len(said), positives, positives - 1, len(changed), " ".join(changed))
    # dQ is no conjunct: the records themselves go through the checker without it.
    said = {state: _result(check, fixtures.record(state, susceptibility=None)).state() for state in oracle.STATES}
    changed = [state for state in oracle.STATES if said[state] != oracle.expected(state)]
    failures.extend(f"state {state}: removing dQ changed the endpoint to {said[state]}" for state in changed)
    positives = sum(symbol == "1" for symbol in said.values())
    table.add("dQ", len(said), positives, positives - 1, len(changed), " ".join(changed))
    return table


def _coverage() -> Table:
    table = Table(("policy", "states", "resolved", "unresolved", "positive", "negative"))
    for name, rule in (
        ("complete_case", lambda state, _support: oracle.expected(state)),
        ("short_circuit", baselines.short_circuit),
    ):
        said = [rule(state, "1") for state in oracle.STATES]
        unresolved = said.count("U")
        table.add(name, len(said), len(said) - unresolved, unresolved, said.count("1"), said.count("0"))
    return table


def _transitions(check: Check, failures: list[str]) -> Table:
    table = Table(("state", "removed", "destination", "before", "after"))
    for state in oracle.STATES:
        record = fixtures.record(state)
        before = _result(check, record).state()
        for position, predicate in enumerate("IAMD"):
            if state[position] == "U":
                continue
            destination = state[:position] + "U" + state[position + 1 :]
            after = _result(check, fixtures.without_evidence(record, predicate)).state()
            table.add(state, predicate, destination, before, after)
            if after != "U":
                failures.append(f"state {state}: without evidence for {predicate} the checker says {after}, not U")
    return table


def _support(check: Check, failures: list[str]) -> Table:
    table = Table(("state", "support_1", "support_0", "support_null", "changed"))
    for state in oracle.STATES:
        said = [_result(check, fixtures.record(state, support=support)).state() for support in (1, 0, None)]
        table.add(state, *said, int(len(set(said)) > 1))
        if set(said) != {oracle.expected(state)}:
            failures.append(f"state {state}: toggling support gives {', '.join(said)}")
    return table


def _mutations(check: Check, failures: list[str]) -> Table:
    table = Table(("case", "defect", "rejected", "code", "expected_code"))
    for state in oracle.STATES:
        if "U" in state:
            continue
        record = fixtures.record(state)
        for defect in mutations.DEFECTS:
            result = _result(check, mutations.plant(record, defect))
            code = " ".join(result.codes())
            table.add(state, defect.name, int(not result.accepted), code, defect.code)
            if result.accepted or code != defect.code:
                failures.append(f"state {state}: {defect.name} gives {code or 'no defect'}, not {defect.code}")
    return table


def _extended_cases() -> Iterator[tuple[str, str, str, bytes | None, frozenset[str]]]:
    """Yield (base state, kind, change, bytes or None where it does not apply, expected codes)."""
    for state in oracle.STATES:
        record = fixtures.record(state)
        for kind, planned in (
            ("single", [(defect,) for defect in mutations.DEFECTS]),
            ("pair", mutations.PAIRS),
        ):
            for defects in planned:
                name = "+".join(defect.name for defect in defects)
                applies = all(defect.applies(state) for defect in defects)
                raw = canonical_json(mutations.plant(record, *defects)) if applies else None
                yield state, kind, name, raw, frozenset(defect.code for defect in defects)
    for state in EXTENDED_BASES:
        for change in extended.changes(fixtures.record(state)):
            yield state, change.kind, change.name(), canonical_json(change.record), change.codes


def _extended(check: Check, failures: list[str]) -> Table:
    table = Table(("case", "kind", "change", "outcome", "codes", "expected"))
    for state, kind, name, raw, wanted in _extended_cases():
        expected = " ".join(sorted(wanted)) or "accepted"
        if raw is None:
            table.add(state, kind, name, "not_applicable", "", expected)
            continue
        result = check(raw)
        codes = " ".join(sorted(result.codes()))
        table.add(state, kind, name, "accepted" if result.accepted else "rejected", codes, expected)
        if (codes or "accepted") != expected or result.accepted is bool(wanted):
            failures.append(f"state {state}, {kind} {name}: {codes or 'accepted'}, expected {expected}")
    return table


def _counts(tables: dict[str, Table], reference: dict[str, tuple[str, str]], failures: list[str]) -> Table:
    """The counts beside the paper's; a quantity that the paper does not report has an empty cell there."""
    states = tables["states"].rows
    outcomes = [row["endpoint"] for row in states]
    named = {(row["baseline"], row["guard"]): row for row in tables["baselines"].rows}
    ablated = {row["dropped"]: row for row in tables["ablations"].rows}
    covered = {row["policy"]: row for row in tables["coverage"].rows}
    planted = tables["mutations"].rows
    added = {ablated[name]["added_positives"] for name in "IAMD"}
    complete = [row for row in states if "U" not in (row["I"], row["A"], row["M"], row["D"])]
    ours: dict[str, tuple[Any, str]] = {
        "predicate_states": (len(states), "states"),
        "positive_states": (outcomes.count("1"), "states"),
        "negative_states": (outcomes.count("0"), "states"),
        "unresolved_states": (outcomes.count("U"), "states"),
        "oracle_agreement": (sum(row["endpoint"] == row["oracle"] for row in states), "states"),
        "evidence_removals_unresolved": (sum(row["after"] == "U" for row in tables["transitions"].rows), "transitions"),
        "malformed_rejected": (sum(row["rejected"] for row in planted), "records"),
        "malformed_defect_types": (len({row["defect"] for row in planted}), "types"),
        "complete_states": (len(complete), "states"),
        "guarded_support_only_agreement": (
            named["support_only", "complete"]["complete_agreement"],
            "of 16 complete states",
        ),
        "unguarded_support_only_resolved_incomplete": (named["support_only", "none"]["resolved_incomplete"], "states"),
        "ablation_added_positives_per_predicate": (" ".join(map(str, sorted(added))), "states"),
        "ablation_dQ_changes": (ablated["dQ"]["changed_endpoints"], "states"),
        "short_circuit_resolved": (covered["short_circuit"]["resolved"], "states"),
        "complete_case_resolved": (covered["complete_case"]["resolved"], "states"),
        "support_toggle_changes": (sum(row["changed"] for row in tables["support"].rows), "states"),
        "malformed_with_expected_code": (sum(row["code"] == row["expected_code"] for row in planted), "records"),
    }
    wider = tables["mutations_extended"].rows
    for outcome in ("accepted", "rejected", "not_applicable"):
        ours[f"extended_{outcome}"] = (sum(row["outcome"] == outcome for row in wider), "cases")
    ours["extended_as_expected"] = (
        sum((row["codes"] or "accepted") == row["expected"] for row in wider if row["outcome"] != "not_applicable"),
        "cases",
    )
    table = Table(("quantity", "ours", "paper", "unit"))
    for name, (value, unit) in ours.items():
        paper = reference.get(name, ("", ""))[0]
        table.add(name, value, paper, unit)
        if paper and str(value) != paper:
            failures.append(f"{name}: {value}, the paper reports {paper}")
    return table


def read_reference(path: Path) -> dict[str, tuple[str, str]]:
    """The paper's counts: quantity → (value, unit).

    Raises:
        InputError: the file is missing or lacks the columns quantity, value, unit.
    """
    return {row["quantity"]: (row["value"], row["unit"]) for _, row in read_csv(path, ("quantity", "value", "unit"))}


def write_tables(tables: dict[str, Table], out: Path) -> list[Path]:
    """Write each table as `out/NAME.csv`, atomically; the same tables always give the same bytes."""
    return [write_table(out / f"{name}.csv", table.columns, table.rows) for name, table in tables.items()]

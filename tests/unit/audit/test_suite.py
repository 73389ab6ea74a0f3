"""The suite reproduces the paper's counts, and finds a fault wherever one is planted."""

from __future__ import annotations

import ast
import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from faithfuse.audit import endpoint
from faithfuse.audit.check import check_bytes
from faithfuse.audit.suite import baselines, fixtures, oracle, run

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "config" / "reference" / "audit_counts.csv"
TIMINGS = {
    "endpoint_cost_median_batch_mean",
    "validation_and_audit_cost_median_batch_mean",
    "timing_repeats",
    "endpoint_tuples_per_repeat",
    "checker_tuples_per_repeat",
}


@pytest.fixture(scope="module")
def suite():
    return run.run(reference=run.read_reference(REFERENCE))


def test_every_count_of_the_paper_is_reproduced(suite):
    ours = {row["quantity"]: str(row["ours"]) for row in suite.tables["counts"].rows}
    with REFERENCE.open(encoding="utf-8", newline="") as stream:
        paper = {row["quantity"]: row["value"] for row in csv.DictReader(stream)}
    assert {name: ours[name] for name in paper.keys() - TIMINGS} == {
        name: value for name, value in paper.items() if name not in TIMINGS
    }


def test_no_case_departs_from_its_expectation(suite):
    assert suite.failures == []


def test_extended_mutations_are_thousands_and_all_kinds(suite):
    rows = suite.tables["mutations_extended"].rows
    assert {row["kind"] for row in rows} == {"single", "pair", "removed", "added", "retyped", "replaced"}
    assert len(rows) > 5000
    assert len({(row["case"], row["kind"], row["change"]) for row in rows}) == len(rows)


def test_the_command_in_another_process_writes_the_same_bytes(suite, tmp_path):
    command = [sys.executable, "-m", "faithfuse", "audit", "suite", "--out", "two", "--reference", str(REFERENCE)]
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    for path in run.write_tables(suite.tables, tmp_path / "one"):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_short_circuit_would_settle_a_state_that_the_contract_leaves_open():
    assert baselines.short_circuit("0UUU", "1") == "0"
    assert check_bytes_of("0UUU") == "U"


def check_bytes_of(state: str) -> str:
    from faithfuse.audit.canonical import canonical_json

    return check_bytes(canonical_json(fixtures.record(state))).state()


@pytest.mark.parametrize("state", oracle.STATES)
def test_a_fault_planted_in_one_state_is_found_and_named(state, monkeypatch):
    right = endpoint.omission_endpoint
    place = tuple(fixtures.VALUES[symbol] for symbol in state)
    for wrong in {1, 0, None} - {right(*place)}:

        def faulty(*predicates, wrong=wrong):
            return wrong if predicates == place else right(*predicates)

        monkeypatch.setattr(endpoint, "omission_endpoint", faulty)
        failures: list[str] = []
        run._states(check_bytes, failures)
        assert [failure.split()[1] for failure in failures] == [state]


def test_the_oracle_shares_no_code_with_the_checker():
    tree = ast.parse(Path(oracle.__file__).read_text("utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert {node.module for node in imports} == {"__future__", "itertools"}


# The report and other readers rely on these two.
@pytest.mark.parametrize(
    ("name", "columns"),
    [("states", "I,A,M,D,endpoint,oracle"), ("mutations", "case,defect,rejected,code,expected_code")],
)
def test_tables_have_the_documented_columns(suite, tmp_path, name, columns):
    run.write_tables(suite.tables, tmp_path)
    assert (tmp_path / f"{name}.csv").read_text("utf-8").splitlines()[0] == columns


def test_192_mutations_are_rejected_with_the_expected_code(suite):
    rows = suite.tables["mutations"].rows
    assert len(rows) == 192
    assert len({(row["case"], row["defect"]) for row in rows}) == 192
    assert all(row["rejected"] == 1 and row["code"] == row["expected_code"] for row in rows)


def test_a_planted_fault_fails_the_whole_suite(monkeypatch):
    right = endpoint.omission_endpoint
    monkeypatch.setattr(endpoint, "omission_endpoint", lambda *p: 0 if p == (1, 1, 1, 0) else right(*p))
    monkeypatch.setattr(run, "_extended", lambda *_: run.Table(("outcome", "codes", "expected")))
    failures = run.run(reference=run.read_reference(REFERENCE)).failures
    assert any("1110" in failure for failure in failures)
    assert any("positive_states" in failure for failure in failures)

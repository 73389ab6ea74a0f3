"""The six invariants of the record contract (arXiv 2609.29145, section III-E), over generated records."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithfuse.audit.canonical import canonical_json
from faithfuse.audit.check import check_bytes
from faithfuse.audit.policy import load_policy
from faithfuse.audit.record import ANSWER_DEPENDENT, CLAIMS, LEVELS, PREDICATES, digest, seal, texts
from faithfuse.audit.suite.generate import random_record
from faithfuse.audit.verdicts import check_stream

POLICY = Path(__file__).parents[3] / "config" / "audit" / "policy.yaml"
seeds = st.integers(0, 2**32)
few = settings(max_examples=60, deadline=None)


def valid(seed: int) -> dict:
    return random_record(random.Random(seed), high=60)


def checked(record: dict):
    return check_bytes(canonical_json(record))


def edited(record: dict, edit) -> dict:
    record = copy.deepcopy(record)
    edit(record)
    return seal(record)


@few
@given(seeds)
def test_support_and_source_risk_stay_separate(seed):
    record = valid(seed)
    results = [checked(edited(record, lambda r, s=s: r.update(support=s))) for s in (0, 1, None)]
    assert all(result.accepted for result in results)
    assert len({(result.endpoint, result.priority, result.unresolved) for result in results}) == 1


@few
@given(seeds, seeds, seeds)
def test_findings_are_local_to_a_tuple(tmp_path_factory, seed, other, another):
    folder = tmp_path_factory.mktemp("local")

    def verdicts(numbers):
        out = folder / "out.jsonl"
        with out.open("w", encoding="utf-8") as stream:
            check_stream((("f", 1, canonical_json(valid(number))) for number in numbers), out=stream, as_lines=True)
        return [json.loads(line) for line in out.read_text("utf-8").split("\n") if line]

    alone = verdicts([seed])[0]
    assert alone in verdicts([other, seed, another])
    assert alone in verdicts([another, other, seed])


@few
@given(seeds)
def test_evidence_pointers_survive_sealing_and_reading(seed):
    record = valid(seed)
    again = json.loads(canonical_json(record))
    snapshots = texts(again)
    for spans in again["annotation"]["evidence"].values():
        for item in spans:
            assert digest(snapshots[item["snapshot"]][item["start"] : item["end"]].encode()) == item["digest"]


@few
@given(seeds, st.sampled_from(PREDICATES), st.integers(-3, 3).filter(bool))
def test_a_moved_evidence_pointer_is_noticed(seed, predicate, shift):
    record = valid(seed)
    spans = record["annotation"]["evidence"][predicate]
    if not spans:
        return
    text = texts(record)[spans[0]["snapshot"]]
    start, end = spans[0]["start"] + shift, spans[0]["end"] + shift

    def move(r):
        r["annotation"]["evidence"][predicate][0].update(start=start, end=end)

    inside = 0 <= start < end <= len(text)
    same = inside and text[start:end] == text[spans[0]["start"] : spans[0]["end"]]
    assert checked(edited(record, move)).accepted is same


@few
@given(seeds, st.sampled_from(PREDICATES))
def test_missing_evidence_never_resolves_as_low_risk(seed, predicate):
    record = valid(seed)

    def drop_evidence(r):
        r["annotation"]["evidence"][predicate] = []

    def drop_judgement(r):
        drop_evidence(r)
        r["annotation"]["judgements"][predicate] = None
        r["annotation"]["reasons"][predicate] = "no evidence"
        r["dimensions"][f"d{predicate}"] = None

    if record["annotation"]["judgements"][predicate] is not None:
        assert checked(edited(record, drop_evidence)).codes() == ("evidence.missing",)
    result = checked(edited(record, drop_judgement))
    assert result.accepted
    assert result.endpoint is None
    assert result.priority is None
    assert load_policy(POLICY).decide(result) not in ("PASS", "CONTEXTUALIZE")


@few
@given(seeds, st.sampled_from(("dQ", "dI", "dA", "dM", "dD")))
def test_generation_and_review_stay_apart(seed, dimension):
    record = edited(valid(seed), lambda r: r["tuple"]["pipeline"].update(evidence_selection=[dimension]))
    result = checked(record)
    assert result.accepted is (dimension not in ANSWER_DEPENDENT)
    assert result.codes() == (() if result.accepted else ("selection.answer_dependent",))


@few
@given(seeds, st.one_of(st.none(), st.floats(0, 1)))
def test_query_susceptibility_orders_review_and_never_changes_the_endpoint(seed, susceptibility):
    record = valid(seed)
    changed = checked(edited(record, lambda r: r["dimensions"].update(dQ=susceptibility)))
    assert changed.accepted
    assert changed.endpoint == checked(record).endpoint


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_stronger_claim_needs_a_stronger_validation_level(claim, level):
    reference = None if level == "contract" else "study-1"
    record = valid(7) | {"claim": claim, "validation": {"level": level, "reference": reference}}
    result = checked(seal(record))
    strong_enough = CLAIMS.index(claim) <= LEVELS.index(level)
    assert result.accepted is strong_enough
    assert result.codes() == (() if strong_enough else ("gate.claim",))

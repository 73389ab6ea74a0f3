"""No valid record is rejected, and the checker's two roads agree."""

from __future__ import annotations

import json
import os
import random

import jsonschema
import pytest
import rfc8785

from faithfuse.audit.accept import accept
from faithfuse.audit.canonical import canonical_json
from faithfuse.audit.check import check_bytes
from faithfuse.audit.diagnose import diagnose
from faithfuse.audit.record import json_schema
from faithfuse.audit.suite import extended, fixtures
from faithfuse.audit.suite.generate import random_record

COUNT = 100_000 if os.environ.get("FAITHFUSE_SOAK") == "1" else 3_000


def test_no_generated_valid_record_is_rejected():
    rng = random.Random(20260131)
    for number in range(COUNT):
        record = random_record(rng)
        result = check_bytes(canonical_json(record))
        assert result.accepted, (number, [defect.sentence() for defect in result.defects])


def test_spacing_order_and_escapes_do_not_change_the_verdict():
    rng = random.Random(1)
    for _ in range(300):
        record = random_record(rng)
        shuffled = json.dumps(dict(reversed(record.items())), indent=1).encode()
        assert check_bytes(shuffled) == check_bytes(canonical_json(record))


def test_the_diagnosis_agrees_with_the_fast_road_on_valid_records():
    rng = random.Random(2)
    quick = 0
    for _ in range(300):
        raw = canonical_json(random_record(rng))
        result = accept(raw)
        slow = diagnose(raw)
        assert slow.accepted
        if result is not None:
            quick += 1
            assert result == slow
    assert quick > 50


@pytest.mark.parametrize("state", ["1110", "U1U0"])
def test_the_fast_road_accepts_no_changed_record_that_the_diagnosis_rejects(state):
    for change in extended.changes(fixtures.record(state)):
        raw = canonical_json(change.record)
        result = accept(raw)
        if change.codes:
            assert result is None, change.name()
        assert check_bytes(raw) == diagnose(raw), change.name()


def test_random_byte_faults_never_pass_both_roads_differently():
    rng = random.Random(3)
    raw = canonical_json(fixtures.record("1110"))
    for _ in range(3000):
        broken = bytearray(raw)
        for _ in range(rng.randint(1, 3)):
            broken[rng.randrange(len(broken))] = (
                rng.choice(b'01"\\{}[],:eE+-. \x00\xff') if rng.random() < 0.9 else 0x80
            )
        fast = accept(bytes(broken))
        if fast is not None:
            assert fast == diagnose(bytes(broken))


def test_valid_records_satisfy_the_published_schema():
    validator = jsonschema.Draft202012Validator(json_schema())
    rng = random.Random(4)
    for _ in range(100):
        validator.validate(json.loads(canonical_json(random_record(rng))))


def test_digests_are_over_the_canonical_form_that_another_library_writes():
    # rfc8785 (PyPI) is an independent implementation of RFC 8785
    rng = random.Random(5)
    for _ in range(300):
        record = random_record(rng)
        assert canonical_json(record) == rfc8785.dumps(record)


STRUCTURAL = {"predicate.type", "predicate.value", "dimension.value", "weight.value"} | {
    f"field.{what}" for what in ("missing", "unknown", "type", "value")
}


def test_the_published_schema_refuses_what_the_checker_refuses_for_its_structure():
    validator = jsonschema.Draft202012Validator(json_schema())
    for change in extended.changes(fixtures.record("1110")):
        no_such_day = "2026-02-30" in change.detail  # a pattern knows no calendar
        refused = not validator.is_valid(json.loads(canonical_json(change.record)))
        assert refused is (bool(change.codes & STRUCTURAL) and not no_such_day), change.name()

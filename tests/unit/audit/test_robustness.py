"""Whatever the bytes, the checker answers, names no other exception, and takes linear time."""

from __future__ import annotations

import json
import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithfuse.audit.canonical import canonical_json
from faithfuse.audit.check import check_bytes
from faithfuse.audit.codes import CODES
from faithfuse.audit.record import seal
from faithfuse.audit.suite import fixtures
from faithfuse.audit.suite.extended import walk

GOOD = canonical_json(fixtures.record("1110"))
PLACES = [path for path, _ in walk(fixtures.record("1110"))]
SOAK = os.environ.get("FAITHFUSE_SOAK") == "1"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["\ud800", "U", 10**30]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=3000 if SOAK else 300, deadline=None)
@given(st.sampled_from(PLACES), json_values)
def test_any_value_at_any_place_gets_a_verdict_with_known_codes(path, value):
    record = fixtures.record("1110")
    place = record
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    raw = json.dumps(record).encode()
    result = check_bytes(raw)
    assert result.accepted is (result.codes() == ())
    assert set(result.codes()) <= set(CODES)
    for defect in result.defects:
        defect.sentence().encode()  # can be printed


@settings(max_examples=3000 if SOAK else 300, deadline=None)
@given(json_values)
def test_a_record_that_is_any_other_value_is_rejected(value):
    assert not check_bytes(json.dumps(value).encode()).accepted


@settings(max_examples=3000 if SOAK else 300, deadline=None)
@given(st.binary(max_size=200), st.integers(0, len(GOOD)))
def test_any_bytes_get_a_verdict(noise, position):
    assert set(check_bytes(noise).codes()) <= set(CODES)
    assert set(check_bytes(GOOD[:position] + noise + GOOD[position:]).codes()) <= set(CODES)


def with_field(raw: bytes) -> bytes:
    return GOOD[:-1] + b',"zzz":' + raw + b"}"


def long_text(size: int) -> bytes:
    record = fixtures.record("UUUU")
    record["tuple"]["answer"]["text"] = "x" * size
    return canonical_json(seal(record))


HOSTILE = {
    "nested arrays": lambda n: with_field(b"[" * n + b"]" * n),
    "nested objects": lambda n: with_field(b'{"a":' * n + b"1" + b"}" * n),
    "unclosed brackets": lambda n: b"[" * n,
    "a long integer": lambda n: with_field(b"9" * n),
    "a long fraction": lambda n: with_field(b"0." + b"1" * n),
    "a long exponent": lambda n: with_field(b"1e" + b"9" * n),
    "one repeated key": lambda n: with_field(b"{" + b",".join([b'"a":1'] * (n // 6)) + b"}"),
    "many keys": lambda n: with_field(b"{" + b",".join(b'"%d":1' % i for i in range(n // 10)) + b"}"),
    "many elements": lambda n: with_field(b"[" + b",".join([b"1"] * (n // 2)) + b"]"),
    "many surrogates": lambda n: with_field(b'"' + b"\\ud800" * (n // 6) + b'"'),
    "many escapes": lambda n: with_field(b'"' + b"\\n" * (n // 2) + b'"'),
    "many blanks": lambda n: GOOD + b" " * n,
    "a long text": long_text,
    "a long text in another spacing": lambda n: long_text(n).replace(b",", b", "),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_takes_linear_time(name):
    build = HOSTILE[name]

    def seconds(size: int) -> float:
        raw, best = build(size), float("inf")
        for _ in range(3):
            start = time.process_time()  # of this process alone: other load on the machine is no cost of ours
            check_bytes(raw)
            best = min(best, time.process_time() - start)
        return best

    small, large = seconds(100_000), seconds(800_000)
    # Eight times the bytes: quadratic work would take 64 times as long. Times below 20 ms are noise.
    assert large < 24 * max(small, 0.02)


@pytest.mark.skipif(not SOAK, reason="takes 100 MB; set FAITHFUSE_SOAK=1")
def test_a_100_mb_string_is_checked_in_seconds():
    start = time.process_time()
    assert check_bytes(long_text(100_000_000)).accepted
    assert time.process_time() - start < 10

"""Canonical JSON against another implementation, and strict reading."""

from __future__ import annotations

import json
import struct

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from faithfuse.audit.canonical import JsonError, canonical_json, irregularities, number, parse, pointer

# Appendix B of RFC 8785: IEEE-754 bits and the number as it must be written.
RFC_NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555555", "333333333.3333333"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(("bits", "text"), RFC_NUMBERS)
def test_numbers_are_written_as_in_appendix_b_of_rfc_8785(bits, text):
    assert number(struct.unpack(">d", bytes.fromhex(bits))[0]) == text


@settings(max_examples=300, deadline=None)
@given(values)
def test_canonical_json_is_what_the_rfc8785_library_writes(value):
    assert canonical_json(value) == rfc8785.dumps(value)


@settings(max_examples=200, deadline=None)
@given(values)
def test_reading_canonical_json_gives_the_value_back(value):
    assert canonical_json(parse(canonical_json(value))) == canonical_json(value)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_but_a_json_error(raw):
    try:
        list(irregularities(parse(raw)))
    except JsonError as error:
        assert error.code in ("json.encoding", "json.syntax", "json.depth")


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ('{"a":1,"a":1}', "json.duplicate_key", "/a"),
        ('{"a":[{"b/c":1,"b/c":2}]}', "json.duplicate_key", "/a/0/b~1c"),
        ("[NaN]", "json.number", "/0"),
        ("[-Infinity]", "json.number", "/0"),
        ("[1e400]", "json.number", "/0"),
        ("[9007199254740993]", "json.number", "/0"),
        (f"[{'9' * 5000}]", "json.number", "/0"),
        (f"[0.{'1' * 5000}]", "json.number", "/0"),
        ('["\\ud83d"]', "json.surrogate", "/0"),
        ('{"\\udc00":1}', "json.surrogate", ""),
        ("[" * 40 + "]" * 40, "json.depth", "/0" * 32),
    ],
)
def test_what_readers_disagree_on_is_found_with_its_place(text, code, place):
    assert [(found, pointer(path)) for found, path, _ in irregularities(parse(text.encode()))] == [(code, place)]


def test_an_emoji_written_as_a_surrogate_pair_is_one_code_point():
    assert parse(b'"\\ud83d\\ude00"') == "\U0001f600"
    assert list(irregularities(json.loads('"\\ud83d\\ude00"'))) == []


@pytest.mark.parametrize("value", [float("nan"), 2**53, "\ud800", {1, 2}])
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises(ValueError):
        canonical_json([value])

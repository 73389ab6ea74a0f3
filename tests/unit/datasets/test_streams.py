"""Original files are read record by record, and every record knows its line."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithfuse.datasets.streams import (
    _CHUNK,
    iter_json_array,
    iter_json_object,
    iter_json_records,
    iter_table,
)
from faithfuse.errors import InputError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(VALUES, max_size=6), indent=st.sampled_from([None, 0, 2]))
def test_a_list_is_read_as_json_reads_it(tmp_path_factory, values, indent):
    path = tmp_path_factory.mktemp("list") / "list.json"
    path.write_text(json.dumps(values, indent=indent), encoding="utf-8")
    assert [value for _, value in iter_json_array(path)] == values


@settings(max_examples=60, deadline=None)
@given(values=st.dictionaries(st.text(max_size=5), VALUES, max_size=6), indent=st.sampled_from([None, 1]))
def test_an_object_is_read_as_json_reads_it(tmp_path_factory, values, indent):
    path = tmp_path_factory.mktemp("object") / "object.json"
    path.write_text(json.dumps(values, indent=indent), encoding="utf-8")
    assert {key: value for _, key, value in iter_json_object(path)} == values


@pytest.mark.parametrize("size", [_CHUNK - 3, _CHUNK, 3 * _CHUNK + 1])
def test_values_may_cross_the_reading_window_anywhere(tmp_path, size):
    values = [12345, "x" * size, 1.5, True, {"a": "ä" * size}, 678901234]
    path = tmp_path / "long.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    assert [value for _, value in iter_json_array(path)] == values


def test_each_record_knows_the_line_on_which_it_starts(tmp_path):
    path = tmp_path / "records.json"
    path.write_text('[\n {"a": 1},\n {\n  "a": 2\n },\n\n {"a": 3}\n]\n', encoding="utf-8")
    assert [(line, value["a"]) for line, value in iter_json_array(path)] == [(2, 1), (3, 2), (7, 3)]


def test_lines_lists_and_spread_out_records_are_told_apart_by_content_not_by_name(tmp_path):
    records = [{"id": 1}, {"id": 2}]
    texts = {
        "lines.json": "".join(json.dumps(record) + "\n" for record in records),
        "list.jsonl": json.dumps(records),
        "spread.json": "\n".join(json.dumps(record, indent=2) for record in records),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert [value for _, value in iter_json_records(tmp_path / name)] == records


def test_a_packed_file_is_read_like_an_unpacked_one(tmp_path):
    with gzip.open(tmp_path / "x.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.write('{"id": 1}\n{"id": 2}\n')
    assert [line for line, _ in iter_json_records(tmp_path / "x.jsonl.gz")] == [1, 2]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ('{"a": 1}', 1),
        ('[1,\n2,\n3"x"]', 3),
        ('[1,\n{"a": \n tru}]', 3),
        ("[1]\n[2]", 2),
        ('["a\nb"]', 1),
        ("[1,\n2", 2),
    ],
)
def test_what_is_no_list_is_refused_with_its_line(tmp_path, text, line):
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(iter_json_array(path))
    assert caught.value.line == line
    assert caught.value.path == path


def test_a_mistake_early_in_a_long_file_is_found_without_reading_on(tmp_path):
    path = tmp_path / "long.json"
    path.write_text('{"a": 1,\n"b": nothing,\n"c": "' + "x" * (40 * _CHUNK) + '"}', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(iter_json_object(path))
    assert caught.value.line == 2


def test_an_object_that_repeats_a_key_is_refused(tmp_path):
    path = tmp_path / "twice.json"
    path.write_text('{"a": 1,\n "a": 2}', encoding="utf-8")
    with pytest.raises(InputError, match="occurs again"):
        list(iter_json_object(path))


def test_cells_may_hold_newlines_and_rows_keep_their_first_line(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('a,b\n1,"x\ny"\n2,z\n', encoding="utf-8")
    assert list(iter_table(path, delimiter=",", columns=("a",))) == [
        (2, {"a": "1", "b": "x\ny"}),
        (4, {"a": "2", "b": "z"}),
    ]


def test_stray_quotation_marks_are_letters_where_cells_are_not_quoted(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_bytes(b'a\tb\r\n"x" y\t"z\r\n')
    assert list(iter_table(path, delimiter="\t", columns=("a", "b"), quoted=False)) == [(2, {"a": '"x" y', "b": '"z'})]


@pytest.mark.parametrize(
    ("text", "message"), [("a\tb\n1\n", "1 cells under 2"), ("a\n1\n", "no column b"), ("", "is empty")]
)
def test_a_table_that_lacks_something_is_refused(tmp_path, text, message):
    path = tmp_path / "table.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        list(iter_table(path, delimiter="\t", columns=("a", "b")))


def test_bytes_that_are_not_utf8_are_refused_with_their_line(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes(b"a,b\n1,2\n3,\xe9\n")
    with pytest.raises(InputError, match="UTF-8"):
        list(iter_table(path, delimiter=",", columns=("a",)))

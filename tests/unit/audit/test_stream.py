"""Records are read from any usual form of file, whole, in order, and in constant memory."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithfuse.audit import stream
from faithfuse.errors import InputError

RECORDS = [{"a": 'x, ]}[{ \\ " \u2028 é 😀', "b": [1, [2, {}]]}, {}, {"c": {"d": [[], {"e": "\\\\"}]}}]


def read(path, kind="auto"):
    return [(position, json.loads(raw)) for position, raw in stream.read_values(str(path), kind)]


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


LINES = "\n".join(json.dumps(record, ensure_ascii=False) for record in RECORDS)
FORMS = {
    "lines.jsonl": LINES,
    "lines_with_end.jsonl": LINES + "\n",
    "crlf.ndjson": LINES.replace("\n", "\r\n") + "\r\n",
    "bom.jsonl": "\ufeff" + LINES,
    "unnamed": LINES,
    "array.json": json.dumps(RECORDS, ensure_ascii=False),
    "array_indented.json": json.dumps(RECORDS, indent=2),
    "array_blank_first.json": "\n\n  " + json.dumps(RECORDS, indent=1) + "\n\n",
    "one_after_another.json": "\n".join(json.dumps(record, indent=1) for record in RECORDS),
    "no_blanks.json": "".join(json.dumps(record) for record in RECORDS),
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("packed", [False, True])
def test_every_form_gives_the_same_records(tmp_path, name, packed):
    content = FORMS[name].encode()
    path = written(tmp_path, name + (".gz" if packed else ""), gzip.compress(content) if packed else content)
    assert [value for _, value in read(path)] == RECORDS


def test_positions_of_lines_count_blank_lines(tmp_path):
    path = written(tmp_path, "blank.jsonl", '\n{"a":1}\n\n{"a":2}\n')
    assert read(path) == [(2, {"a": 1}), (4, {"a": 2})]


class OneByte(io.RawIOBase):
    """Gives one byte at a time, as a slow pipe may."""

    def __init__(self, content):
        self.content, self.at = content, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        piece = self.content[self.at : self.at + 1]
        buffer[: len(piece)] = piece
        self.at += len(piece)
        return len(piece)


@pytest.mark.parametrize("name", [name for name in FORMS if name.endswith(".json")])
def test_chunks_may_end_anywhere(name):
    content = FORMS[name].encode()
    source = io.BufferedReader(OneByte(content[1:]), 1)
    assert [json.loads(raw) for raw in stream._split(source, content[:1])] == RECORDS


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(st.text(), values, max_size=3), max_size=4), st.integers(1, 30))
def test_any_array_is_split_into_its_elements(records, cut):
    content = json.dumps(records).encode()
    source = io.BufferedReader(io.BytesIO(content[cut:]), 1)
    assert [json.loads(raw) for raw in stream._split(source, content[:cut])] == records


PIECES = ["{", "}", "[", "]", '"', "\\", ",", " ", "\n", "1", ":", '"x"', "{}", "[1]", '{"a":"]"}']


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=25).map("".join), st.integers(1, 25))
def test_reading_whole_values_at_once_gives_what_reading_symbol_by_symbol_gives(text, cut):
    def split():
        content, found = text.encode(), []
        source = io.BufferedReader(OneByte(content[cut:]), 1)
        try:
            found += stream._split(source, content[:cut])
        except InputError as error:
            found.append(str(error))
        return found

    at_once = split()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "_WHOLE", re.compile(rb"(?!)"))
        assert split() == at_once


def test_an_array_that_was_cut_short_is_an_error(tmp_path):
    path = written(tmp_path, "cut.json", '[{"a":1},{"a":2}')
    with pytest.raises(InputError, match="without an end"):
        read(path)


@pytest.mark.parametrize("text", ['[{"a":1},]', '[{"a":1},,{"a":2}]', '[{"a":1}] x'])
def test_a_malformed_array_yields_a_value_that_no_reader_accepts(tmp_path, text):
    with pytest.raises(json.JSONDecodeError):
        read(written(tmp_path, "bad.json", text))


def test_broken_gzip_is_an_error(tmp_path):
    path = written(tmp_path, "broken.jsonl.gz", gzip.compress(LINES.encode())[:-9])
    with pytest.raises(InputError, match="broken gzip"):
        read(path)


@pytest.mark.parametrize("separator", [" ", "\n"])
def test_a_first_line_longer_than_what_is_read_at_once_is_told_from_a_document(tmp_path, separator):
    records = [{"a": "x" * (3 * stream.CHUNK)}, {"b": 1}]
    path = written(tmp_path, "unnamed", separator.join(map(json.dumps, records)))
    assert [value for _, value in read(path)] == records


def test_blank_lines_before_a_long_line_are_counted(tmp_path):
    path = written(tmp_path, "late.jsonl", "\n" + " " * (stream.CHUNK + 5) + "\n" + '{"a":1}\n')
    assert read(path) == [(3, {"a": 1})]


@pytest.mark.parametrize("name", ["nowhere.jsonl", "."])
def test_what_cannot_be_read_is_an_error(tmp_path, name):
    with pytest.raises(InputError):
        read(tmp_path / name)


@pytest.mark.skipif(sys.platform != "linux", reason="measures peak memory the way Linux reports it")
def test_memory_does_not_grow_with_the_file(tmp_path):
    from faithfuse.audit.canonical import canonical_json
    from faithfuse.audit.suite import fixtures

    line = canonical_json(fixtures.record("1110")) + b"\n"
    program = (
        "import sys\n"
        "from faithfuse.audit.run_check import run_check\n"
        "from pathlib import Path\n"
        "run_check([sys.argv[1]], out=Path(sys.argv[2]))\n"
        "peak = [line for line in open('/proc/self/status') if line.startswith('VmHWM')]\n"
        "print(peak[0].split()[1])\n"
    )
    peaks = []
    for name, count, form in (("s.jsonl", 100, "lines"), ("l.jsonl", 20_000, "lines"), ("l.json", 5_000, "array")):
        path = tmp_path / name
        body = line * count if form == "lines" else b"[" + b",".join([line.strip()] * count) + b"]"  # one long line
        path.write_bytes(body)
        done = subprocess.run(
            [sys.executable, "-c", program, str(path), str(tmp_path / "v.csv")],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONHASHSEED": "0"},
        )
        peaks.append(int(done.stdout.split()[-1]))
    # 45 MB more of input, but no more than 8 MB more of memory (two buffers of 1 MiB and the allocator's slack).
    assert max(peaks) - peaks[0] < 8 * 1024

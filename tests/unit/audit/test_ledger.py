"""The ledger keeps everything that was appended, and names the first line that was tampered with."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from faithfuse.audit import ledger
from faithfuse.audit.canonical import canonical_json
from faithfuse.audit.record import digest, seal
from faithfuse.audit.suite import fixtures
from faithfuse.errors import InputError

STATES = ("1110", "1111", "U110", "0000")


def values(records):
    return [("records.jsonl", position, canonical_json(record)) for position, record in enumerate(records, start=1)]


def revised(record, **judgements):
    """The next revision of a record's annotation."""
    new = copy.deepcopy(record)
    note = new["annotation"]
    note["replaces"], note["revision"] = record["digests"]["annotation"], note["revision"] + 1
    note["made_at"] = "2026-01-04T00:00:00Z"
    for name, value in judgements.items():
        note["judgements"][name] = value
        new["dimensions"][f"d{name}"] = value if name != "D" else 1 - value
    return seal(new)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.jsonl"


@pytest.fixture
def filled(path):
    ledger.append(path, values(fixtures.record(state) for state in STATES))
    return path


def test_what_is_appended_can_be_verified_and_read(filled):
    assert ledger.verify(filled).lines == 4
    found = ledger.entries(filled)
    assert [entry["endpoint"] for entry in found] == ["1", "0", "U", "0"]
    assert [entry["index"] for entry in found] == [0, 1, 2, 3]
    assert found[0]["previous"] == "0" * 64
    assert found[2]["unresolved"] == "I"


def test_appending_never_changes_earlier_bytes(filled):
    before = filled.read_bytes()
    ledger.append(filled, values([fixtures.record("0101")]))
    assert filled.read_bytes().startswith(before)


def test_a_revision_is_a_new_entry_and_the_old_one_stays(filled):
    first = fixtures.record("1110")
    second = revised(first, D=1)
    ledger.append(filled, values([second]))
    history = ledger.entries(filled, tuple_id="state-1110")
    assert [entry["endpoint"] for entry in history] == ["1", "0"]
    assert history[1]["replaces"] == history[0]["annotation"]
    assert [entry["endpoint"] for entry in ledger.entries(filled, tuple_id="state-1110", current=True)] == ["0"]


def test_a_revision_must_replace_the_latest_one(filled):
    first = fixtures.record("1110")
    ledger.append(filled, values([revised(first, D=1)]))
    with pytest.raises(InputError, match="latest revision"):
        ledger.append(filled, values([revised(first, M=0)]))


def test_a_revision_of_something_unknown_is_refused(path):
    with pytest.raises(InputError, match="not in the ledger"):
        ledger.append(path, values([revised(fixtures.record("1110"), D=1)]))


def test_independent_annotators_have_threads_of_their_own(filled):
    other = fixtures.record("1110")
    other["annotation"]["annotator"] = "second-annotator"
    ledger.append(filled, values([seal(other)]))
    assert ledger.verify(filled).lines == 5


def test_a_record_is_appended_once(filled):
    with pytest.raises(InputError, match="already"):
        ledger.append(filled, values([fixtures.record("1110")]))
    assert ledger.append(filled, values([fixtures.record("1110")]), skip_known=True).entries == []


def test_a_rejected_record_stops_the_whole_append(filled):
    before = filled.read_bytes()
    bad = fixtures.record("0101") | {"support": 7}
    with pytest.raises(InputError, match=r"records.jsonl:2 .*field.value"):
        ledger.append(filled, values([fixtures.record("0011"), bad]))
    assert filled.read_bytes() == before


def lines_of(path):
    return path.read_bytes().splitlines(keepends=True)


def rewrite(path, line, **changes):
    """Change an entry and give it a digest that fits, as a careful forger would."""
    lines = lines_of(path)
    entry = json.loads(lines[line]) | changes
    del entry["digest"]
    lines[line] = canonical_json(entry | {"digest": digest(canonical_json(entry))}) + b"\n"
    path.write_bytes(b"".join(lines))


@pytest.mark.parametrize("line", range(4))
def test_any_changed_byte_is_found_at_its_line(filled, line):
    lines = lines_of(filled)
    for at in range(0, len(lines[line]) - 1, 37):
        changed = bytearray(lines[line])
        changed[at] ^= 1
        filled.write_bytes(b"".join([*lines[:line], bytes(changed), *lines[line + 1 :]]))
        with pytest.raises(InputError, match=rf"ledger.jsonl:{line + 1}: "):
            ledger.verify(filled)


def test_a_removed_line_is_found(filled):
    lines = lines_of(filled)
    filled.write_bytes(b"".join(lines[:1] + lines[2:]))
    with pytest.raises(InputError, match=r"jsonl:2: does not follow"):
        ledger.verify(filled)


def test_swapped_lines_are_found(filled):
    lines = lines_of(filled)
    filled.write_bytes(b"".join([lines[0], lines[2], lines[1], lines[3]]))
    with pytest.raises(InputError, match=r"jsonl:2: does not follow"):
        ledger.verify(filled)


def test_a_rewritten_entry_breaks_the_line_after_it(filled):
    rewrite(filled, 1, endpoint="1")
    with pytest.raises(InputError, match=r"jsonl:3: does not follow"):
        ledger.verify(filled)


@pytest.mark.parametrize("field", ["annotator", "endpoint", "index", "record", "tuple_id", "unresolved"])
@pytest.mark.parametrize("value", [[], {}, None, True])
def test_an_entry_with_a_field_of_another_type_is_named(filled, field, value):
    rewrite(filled, 1, **{field: value})
    with pytest.raises(InputError, match=r"jsonl:2: is no ledger entry"):
        ledger.verify(filled)


def test_a_broken_ledger_takes_no_entries(filled):
    rewrite(filled, 1, endpoint="1")
    with pytest.raises(InputError, match=r"jsonl:3"):
        ledger.append(filled, values([fixtures.record("0101")]))


@pytest.mark.parametrize("cut", [1, 10, 300])
def test_a_torn_line_is_set_aside_and_the_ledger_goes_on(filled, cut):
    whole = lines_of(filled)
    filled.write_bytes(b"".join(whole[:3]) + whole[3][:-cut])
    assert ledger.verify(filled).torn_bytes == len(whole[3]) - cut
    done = ledger.append(filled, values([fixtures.record("0000")]))
    assert done.torn_bytes == len(whole[3]) - cut
    assert ledger.torn_path(filled).read_bytes() == whole[3][:-cut] + b"\n"
    assert lines_of(filled) == whole
    assert ledger.verify(filled).torn_bytes == 0


APPEND_MANY = """
import sys
from pathlib import Path
from faithfuse.audit import ledger
from faithfuse.audit.canonical import canonical_json
from faithfuse.audit.record import seal
from faithfuse.audit.suite import fixtures
for number in range(int(sys.argv[3])):
    record = fixtures.record("1110")
    record["tuple"]["tuple_id"] = f"{sys.argv[2]}-{number}"
    ledger.append(Path(sys.argv[1]), [("-", 1, canonical_json(seal(record)))])
    print(number, flush=True)
"""


def appender(path, name, count):
    return subprocess.Popen(
        [sys.executable, "-c", APPEND_MANY, str(path), name, str(count)], stdout=subprocess.PIPE, text=True
    )


def test_processes_that_append_at_once_lose_nothing(path):
    workers = [appender(path, name, 25) for name in ("one", "two", "three")]
    for worker in workers:
        worker.communicate()
        assert worker.returncode == 0
    assert ledger.verify(path).lines == 75
    names = {entry["tuple_id"] for entry in ledger.entries(path)}
    assert names == {f"{name}-{number}" for name in ("one", "two", "three") for number in range(25)}


def test_a_killed_process_leaves_a_ledger_that_opens_again(path):
    worker = appender(path, "doomed", 10_000)
    done = [worker.stdout.readline() for _ in range(5)]
    time.sleep(0.05)
    os.kill(worker.pid, signal.SIGKILL)
    rest = worker.stdout.read().split("\n")
    worker.wait()
    reported = len(done) + len([line for line in rest if line])
    lines = ledger.verify(path).lines
    assert reported <= lines <= reported + 1
    ledger.append(path, values([fixtures.record("0000")]))
    assert ledger.verify(path).lines == lines + 1


HALF_WRITE = """
import os, sys
from pathlib import Path
from faithfuse.audit import ledger

write = os.write

def dying(descriptor, data):
    write(descriptor, data[: len(data) // 2])
    os.kill(os.getpid(), 9)

os.write = dying
ledger.append(Path(sys.argv[1]), [("-", 1, Path(sys.argv[2]).read_bytes())])
"""


def test_a_process_killed_in_the_middle_of_a_line_loses_nothing_before_it(path):
    ledger.append(path, values([fixtures.record("1110")]))
    record = path.with_name("record.json")
    record.write_bytes(canonical_json(fixtures.record("0000")))
    done = subprocess.run([sys.executable, "-c", HALF_WRITE, str(path), str(record)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not path.read_bytes().endswith(b"\n")
    found = ledger.verify(path)
    assert found.lines == 1
    assert found.torn_bytes > 100
    done = ledger.append(path, values([fixtures.record("0000")]))
    assert done.torn_bytes == found.torn_bytes
    assert ledger.verify(path).lines == 2


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from faithfuse.audit import ledger
from faithfuse.audit.stream import read_values
from faithfuse.errors import InputError

path = Path(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write past the limit then fails half-way, as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 1000,) * 2)
try:
    ledger.append(path, [("r", position, raw) for position, raw in read_values(sys.argv[2])])
except InputError as error:
    print(error)
"""


def test_an_append_that_finds_no_space_leaves_the_ledger_as_it_was(filled, tmp_path):
    before = filled.read_bytes()
    more = tmp_path / "more.jsonl"
    more.write_bytes(b"".join(canonical_json(fixtures.record(state)) + b"\n" for state in ("0101", "0011", "0110")))
    command = [sys.executable, "-c", FULL_DISK, str(filled), str(more)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "ledger.jsonl: cannot be written" in done.stdout
    assert filled.read_bytes() == before


def test_a_refused_append_leaves_a_torn_line_for_the_one_that_reports_it(filled):
    with filled.open("ab") as stream:
        stream.write(b'{"torn')
    with pytest.raises(InputError, match="already"):
        ledger.append(filled, values([fixtures.record("1110")]))
    assert not ledger.torn_path(filled).exists()
    assert ledger.append(filled, values([fixtures.record("0101")])).torn_bytes == 6


def test_nothing_to_append_is_an_error_and_makes_no_ledger(path):
    with pytest.raises(InputError, match="no record to append"):
        ledger.append(path, [])
    assert not path.exists()


@pytest.mark.parametrize("name", ["", "file/ledger.jsonl"])
def test_a_ledger_that_cannot_be_written_is_named(tmp_path, name):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(InputError, match="cannot be written"):
        ledger.append(tmp_path / name, values([fixtures.record("1110")]))


def test_a_record_with_whole_floats_gives_the_same_entry(path, tmp_path):
    raw = canonical_json(fixtures.record("1110"))
    ledger.append(path, [("r", 1, raw)])
    other = tmp_path / "other.jsonl"
    ledger.append(other, [("r", 1, raw.replace(b'"revision":1}', b'"revision":1.0}'))])
    assert path.read_bytes() == other.read_bytes()

"""What was acknowledged is on the disk, whatever happens to the process; one server at a time holds a study."""

from __future__ import annotations

import functools
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from faithfuse.annotate import judge
from faithfuse.annotate.store import Store
from faithfuse.annotate.study import Study
from faithfuse.errors import FaithfuseError, InputError

WRITER = """
import sys
from pathlib import Path
from faithfuse.annotate import judge
from faithfuse.annotate.store import Store
store = Store(Path(sys.argv[1]))
for turn in range(10**6):
    position = turn % 27 + 1
    base = judge.page(store, "anna", position).base
    likert = turn % 5 + 1
    event = judge.save(store, "anna", position, request_id=f"request-{turn}", base=base, likert=likert)
    print(event, likert, flush=True)
"""


def test_every_commit_is_flushed_to_the_disk(make_study, material):
    db = Store(make_study(material).database).read()
    assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert db.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL


def test_no_acknowledged_rating_is_lost_by_kill_9(make_study, material):
    study = make_study(material)
    for _ in range(2):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER.replace("request-", f"request-{os.urandom(4).hex()}-"), study.database],
            stdout=subprocess.PIPE,
            text=True,
        )
        said = [writer.stdout.readline() for _ in range(40)]
        writer.send_signal(signal.SIGKILL)
        said += [line for line in writer.communicate()[0].splitlines(keepends=True) if line.endswith("\n")]
        db = Store(study.database).read()
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        stored = dict(map(tuple, db.execute("SELECT event_id, likert FROM event")))
        acknowledged = dict(tuple(map(int, line.split())) for line in said)
        assert len(acknowledged) >= 40
        assert acknowledged.items() <= stored.items()


def test_a_transaction_that_fails_leaves_nothing(make_study, material):
    store = Store(make_study(material).database)
    with pytest.raises(RuntimeError), store.write() as db:
        db.execute("INSERT INTO fact VALUES ('half', 'done')")
        raise RuntimeError
    assert store.fact("half") is None


def test_a_second_server_on_the_same_study_is_refused_until_the_first_is_gone(make_study, material):
    study = make_study(material)
    command = [sys.executable, "-m", "faithfuse", "annotate", "serve", str(study.folder), "--port", "0"]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        for line in first.stdout:
            if line.startswith("Stop"):
                break
        second = subprocess.run(command, capture_output=True, text=True, timeout=30)
        assert second.returncode == 1
        assert "another server already serves this study" in second.stderr
        assert f"process {first.pid}" in second.stderr
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    with study.lock():
        pass


def test_two_threads_that_save_at_once_both_succeed(make_study, material):
    store = Store(make_study(material).database)
    threads = [
        threading.Thread(
            target=judge.save, args=(store, name, 1), kwargs=dict(request_id=f"{name}-1234567", base=0, likert=3)
        )
        for name in ("anna", "ben")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.read().execute("SELECT count(*) FROM standing").fetchone()[0] == 2


def add_fact(store: Store, name: str, failure: Exception | None = None) -> None:
    with store.write() as db:
        db.execute("INSERT INTO fact VALUES (?, 'x')", (name,))
        if failure:
            raise failure


def behind(store: Store, first, calls) -> list:
    """Run `first` in a block that stays open until all calls, in threads of their own, wait for their turn.

    Returns:
        What each returned or raised, `first` before the others.
    """
    open_now = threading.Event()

    def hold() -> None:
        with store.write() as db:
            open_now.set()
            time.sleep(0.5)
            first(db)

    def outcome(call):
        try:
            return call()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(calls) + 1) as pool:
        held = pool.submit(outcome, hold)
        open_now.wait()
        others = [pool.submit(outcome, call) for call in calls]
        return [held.result(), *(other.result() for other in others)]


def test_writes_that_wait_at_once_share_a_flush_and_one_that_fails_leaves_the_others(make_study, material):
    store = Store(make_study(material).database)
    commits = []

    def count(db: sqlite3.Connection) -> None:
        db.set_trace_callback(lambda statement: statement == "COMMIT" and commits.append(statement))

    calls = [
        functools.partial(add_fact, store, f"fact-{number:02d}", RuntimeError(number) if number % 5 == 4 else None)
        for number in range(20)
    ]
    _, *results = behind(store, count, calls)
    failed = [number for number, result in enumerate(results) if isinstance(result, RuntimeError)]
    assert failed == [4, 9, 14, 19]
    rows = store.read().execute("SELECT name FROM fact WHERE name LIKE 'fact-%' ORDER BY name")
    assert [row["name"] for row in rows] == [f"fact-{number:02d}" for number in range(20) if number not in failed]
    assert 1 <= len(commits) < 20


def test_nobody_is_told_saved_when_the_shared_commit_fails(make_study, material):
    store = Store(make_study(material).database)
    with store.write() as db:
        # A violation that SQLite finds at the commit alone, as it would a full disk.
        db.execute("CREATE TABLE late (unit INTEGER REFERENCES unit DEFERRABLE INITIALLY DEFERRED)")
    calls = [functools.partial(add_fact, store, f"fact-{n}") for n in range(5)]
    first, *others = behind(store, lambda db: db.execute("INSERT INTO late VALUES (-1)"), calls)
    stored = {row["name"] for row in store.read().execute("SELECT name FROM fact WHERE name LIKE 'fact-%'")}
    assert isinstance(first, sqlite3.IntegrityError)
    assert {f"fact-{n}" for n, result in enumerate(others) if result is None} == stored
    assert len(stored) < 5
    add_fact(store, "afterwards")
    assert store.fact("afterwards") == "x"


def test_a_port_that_is_taken_is_said_so(make_study, material):
    from faithfuse.annotate.server import bind, serve

    study = make_study(material)
    with bind("127.0.0.1", 0) as taken, pytest.raises(FaithfuseError, match="cannot listen"):
        serve(study.folder, host="127.0.0.1", port=taken.getsockname()[1], tokens=False)


def test_a_listening_socket_says_that_it_is_tcp():
    """asyncio sets TCP_NODELAY on such sockets alone; without it every page waits 40 ms for an acknowledgement."""
    import socket

    from faithfuse.annotate.server import bind

    with bind("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_a_folder_without_a_study_is_said_so(tmp_path):
    with pytest.raises(InputError, match="is no study"):
        Study(tmp_path)


def test_another_sqlite_file_is_not_taken_for_a_study(make_study, material):
    import sqlite3

    study = make_study(material)
    study.database.unlink()
    sqlite3.connect(study.database).execute("CREATE TABLE x (y)")
    with pytest.raises(InputError, match="format"):
        Store(study.database)


def test_a_study_and_the_key_of_its_links_are_for_their_owner_alone(make_study, material):
    folder = make_study(material).folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "secret").stat().st_mode & 0o777 == 0o600


def test_a_server_is_ready_within_seconds(make_study, material):
    study = make_study(material)
    start = time.monotonic()
    command = [sys.executable, "-m", "faithfuse", "annotate", "serve", str(study.folder), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert any(line.startswith("Stop") for line in server.stdout)
        assert time.monotonic() - start < 20  # 2 s are meant and measured in tests/benchmarks; machines are shared
    finally:
        server.terminate()
        server.wait()

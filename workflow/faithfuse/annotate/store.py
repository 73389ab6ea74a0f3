"""The study's database: SQLite in WAL mode with full synchronisation.

A write returns when SQLite has flushed it to the disk (`synchronous=FULL` flushes the log at every commit), so what a
page calls saved survives a killed process and a lost power supply. Writes that wait at the same time share one flush,
since the disk is what they wait for. Judgements are only ever added: a change is a new event or revision,
an undo is an event too.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from faithfuse.errors import InputError

FORMAT = 1
APPLICATION = 0x46466161  # "FFaa": tells a study from any other SQLite file
LARGEST_BATCH = 64
"""Writes that may share a flush; a bound, so that a steady stream of them holds nobody back."""

SCHEMA = """
CREATE TABLE item (item_id TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE response (
  item_id TEXT NOT NULL REFERENCES item, system TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (item_id, system)
);
-- What is judged in one go: a response, a point of one, or (system empty) an audit tuple.
CREATE TABLE unit (
  unit_id INTEGER PRIMARY KEY, item_id TEXT NOT NULL REFERENCES item, system TEXT NOT NULL, point INTEGER,
  shared INTEGER NOT NULL, expected TEXT
);
CREATE UNIQUE INDEX unit_key ON unit (item_id, system, coalesce(point, -1));
CREATE TABLE annotator (name TEXT PRIMARY KEY, link INTEGER NOT NULL DEFAULT 1);
CREATE TABLE assignment (
  annotator TEXT NOT NULL REFERENCES annotator, position INTEGER NOT NULL, unit_id INTEGER NOT NULL REFERENCES unit,
  PRIMARY KEY (annotator, position), UNIQUE (annotator, unit_id)
);
-- Ratings: every rating and every undo, in the order in which they came.
CREATE TABLE event (
  event_id INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT NOT NULL UNIQUE, annotator TEXT NOT NULL,
  unit_id INTEGER NOT NULL REFERENCES unit, kind TEXT NOT NULL CHECK (kind IN ('rate', 'undo')),
  likert INTEGER CHECK (likert BETWEEN 1 AND 5), note TEXT NOT NULL DEFAULT '', seconds REAL, made_at TEXT NOT NULL,
  undoes INTEGER UNIQUE REFERENCES event
);
CREATE INDEX event_unit ON event (annotator, unit_id);
-- The rating that stands, for speed; always derivable from the events.
CREATE TABLE standing (
  annotator TEXT NOT NULL, unit_id INTEGER NOT NULL, event_id INTEGER NOT NULL REFERENCES event,
  PRIMARY KEY (annotator, unit_id)
);
-- Audit labels: every revision as its sealed record.
CREATE TABLE label (
  label_id INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT NOT NULL UNIQUE, annotator TEXT NOT NULL,
  unit_id INTEGER NOT NULL REFERENCES unit, revision INTEGER NOT NULL, body TEXT NOT NULL,
  note TEXT NOT NULL DEFAULT '', seconds REAL, made_at TEXT NOT NULL, UNIQUE (annotator, unit_id, revision)
);
-- What was decided on disagreements, beside the originals; the highest revision counts.
CREATE TABLE adjudication (
  adjudication_id INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT NOT NULL UNIQUE, unit_id INTEGER NOT NULL
  REFERENCES unit, revision INTEGER NOT NULL, likert INTEGER CHECK (likert BETWEEN 1 AND 5), body TEXT,
  note TEXT NOT NULL DEFAULT '', made_at TEXT NOT NULL, UNIQUE (unit_id, revision)
);
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


def now() -> str:
    """The time as UTC to the second, in the form that audit records use."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class _Batch:
    """Writes that are committed together: how many, and how the commit went once it is settled."""

    def __init__(self) -> None:
        self.size = 0
        self.settled = False
        self.error: sqlite3.Error | None = None


class Store:
    """Connections to one study's database: one for the reading of each thread, and one that all threads write through.

    Args:
        path: the database file; it must exist unless `new`.
        new: create the file and its tables.
    """

    def __init__(self, path: Path, *, new: bool = False) -> None:
        self.path = path
        self._local = threading.local()
        self._turn = threading.Condition(threading.Lock())  # held by whoever uses the connection for writing
        self._settling = threading.Lock()
        self._counting = threading.Lock()
        self._waiting = 0  # threads that are about to take their turn
        self._writer: sqlite3.Connection | None = None
        self._batch: _Batch | None = None
        if new:
            db = self._connect()
            db.executescript(f"BEGIN;{SCHEMA}COMMIT;")
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {FORMAT}")
        self._check()

    def _check(self) -> None:
        try:
            found = self.read().execute("PRAGMA application_id").fetchone()[0]
            version = self.read().execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"is no study database ({error})", path=self.path, fix="Restore the study's backup."
            ) from None
        if found != APPLICATION or version != FORMAT:
            raise InputError(
                f"has format {version}, this version of faithfuse reads {FORMAT}",
                path=self.path,
                fix="Use the version of faithfuse that made the study.",
            )

    def _connect(self, *, shared: bool = False) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, isolation_level=None, timeout=30, check_same_thread=not shared)
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        return db

    def read(self) -> sqlite3.Connection:
        """This thread's connection, for reading."""
        if not hasattr(self._local, "db"):
            self._local.db = self._connect()
        return self._local.db

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A change that is on the disk when the block ends without an error, and leaves nothing when not.

        Blocks of several threads run one after the other, each under a savepoint of its own, in one transaction whose
        commit all of them wait for. A block sees what the blocks before it did.
        """
        failure: BaseException | None = None
        with self._counting:
            self._waiting += 1
        with self._turn:
            with self._counting:
                self._waiting -= 1
            try:
                if self._writer is None:
                    self._writer = self._connect(shared=True)
                db = self._writer
                if self._batch is None:
                    db.execute("BEGIN IMMEDIATE")
                    self._batch = _Batch()
                batch = self._batch
                batch.size += 1
                db.execute("SAVEPOINT block")
                try:
                    yield db
                except BaseException as error:
                    failure = error
                    if db.in_transaction:
                        db.execute("ROLLBACK TO block")
                if db.in_transaction:
                    db.execute("RELEASE block")
                else:  # SQLite gave up the whole transaction: the disk is full, or cannot be written
                    self._batch, batch.settled = None, True
                    batch.error = sqlite3.OperationalError("the transaction was given up")
            finally:
                self._turn.notify_all()
        # What a refusal says of other blocks has to be on the disk as well, so it waits too.
        self._settle(batch)
        if failure is not None:
            raise failure

    def _settle(self, batch: _Batch) -> None:
        """Wait until a batch is committed; the first to come lets in who waits already, then commits.

        Raises:
            sqlite3.Error: the commit failed; nothing of the batch is stored.
        """
        with self._settling:
            if not batch.settled:
                with self._turn:
                    self._turn.wait_for(lambda: not self._waiting or batch.size >= LARGEST_BATCH)
                    self._batch = None
                    batch.settled = True
                    try:
                        self._writer.execute("COMMIT")
                    except sqlite3.Error as error:
                        batch.error = error
                        if self._writer.in_transaction:
                            self._writer.execute("ROLLBACK")
        if batch.error is not None:
            raise type(batch.error)(*batch.error.args) from batch.error

    def fact(self, name: str) -> str | None:
        """A single fact about the study (`closed_at`), or None."""
        row = self.read().execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
        return row["value"] if row else None

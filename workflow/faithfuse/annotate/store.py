"""The study's database: SQLite in WAL mode with full synchronisation.

A write returns when SQLite has flushed it to the disk (`synchronous=FULL` flushes the log at every commit), so what a
page calls saved survives a killed process and a lost power supply. Judgements are only ever added: a change is a new
event or revision, an undo is an event too.
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


class Store:
    """Connections to one study's database, one for each thread.

    Args:
        path: the database file; it must exist unless `new`.
        new: create the file and its tables.
    """

    def __init__(self, path: Path, *, new: bool = False) -> None:
        self.path = path
        self._local = threading.local()
        self._writing = threading.Lock()
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

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, isolation_level=None, timeout=30)
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
        """A transaction that is on the disk when the block ends without an error, and leaves nothing when not."""
        with self._writing:
            db = self.read()
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def fact(self, name: str) -> str | None:
        """A single fact about the study (`closed_at`), or None."""
        row = self.read().execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
        return row["value"] if row else None

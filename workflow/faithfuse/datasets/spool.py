"""Sorting more records than fit into memory: they wait in a temporary database and leave it in key order."""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterator
from pathlib import Path

from faithfuse.errors import FaithfuseError, InputError
from faithfuse.records import Record, atomic_write, dump_line

# Texts compare by code point in SQLite (UTF-8 bytes) as in Python, so the order is that of `sort_key`.
_TABLE = 'CREATE TABLE "{}" (a TEXT, b TEXT, c TEXT, d INTEGER, line BLOB, PRIMARY KEY (a, b, c, d)) WITHOUT ROWID'
_CACHE_KIB = 8192
_WIDTH = 4


def open_store() -> sqlite3.Connection:
    """A private database that lives in a temporary file and goes with the connection."""
    store = sqlite3.connect("", isolation_level=None)
    store.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    store.execute("PRAGMA journal_mode = OFF")
    store.execute("PRAGMA synchronous = OFF")
    store.execute("BEGIN")
    return store


class Spool:
    """Records of one kind, each key once, to be written in the order of their keys.

    Args:
        kind: the kind of record; the first part of its key is its item's (or its own) id.
        store: a database that several spools share, so that they can be compared; a new one if None.
    """

    def __init__(self, kind: type[Record], store: sqlite3.Connection | None = None) -> None:
        self.kind, self.store = kind, store if store is not None else open_store()
        self.store.execute(_TABLE.format(kind.__name__))

    def add(self, record: Record) -> bool:
        """Append a record; False, and nothing is done, if there is one with the same key."""
        key = record.sort_key()
        cells = (*key, *([""] * (3 - len(key))), *([0] if len(key) < _WIDTH else ()))
        try:
            self.store.execute(
                f'INSERT INTO "{self.kind.__name__}" VALUES (?, ?, ?, ?, ?)',
                (*cells, (dump_line(record) + "\n").encode()),
            )
        except sqlite3.IntegrityError:
            return False
        except sqlite3.OperationalError as error:
            raise FaithfuseError(
                f"the temporary database cannot be written ({error}). Make room in the folder for temporary files, or "
                "name another one in SQLITE_TMPDIR."
            ) from None
        return True

    def add_new(self, record: Record) -> None:
        """Append a record.

        Raises:
            InputError: there is one with the same key.
        """
        if not self.add(record):
            raise InputError(
                f"the set gives two {self.kind.__name__} records with one key",
                record=" ".join(str(part) for part in record.sort_key()),
                fix="Check the original files for a record that is there twice.",
            )

    def line(self, first: str) -> bytes | None:
        """The line of the record whose key begins with `first` (the first such record); None if there is none."""
        query = f'SELECT line FROM "{self.kind.__name__}" WHERE a = ? LIMIT 1'
        row = self.store.execute(query, (first,)).fetchone()
        return None if row is None else row[0]

    def __len__(self) -> int:
        return self.store.execute(f'SELECT count(*) FROM "{self.kind.__name__}"').fetchone()[0]

    def without(self, other: Spool) -> Iterator[str]:
        """The ids that have a record here and none in `other`, in order; both must share a store."""
        mine, theirs = self.kind.__name__, other.kind.__name__
        query = f'SELECT a FROM "{mine}" EXCEPT SELECT a FROM "{theirs}" ORDER BY a'
        return (row[0] for row in self.store.execute(query))

    def pairs_without(self, other: Spool) -> Iterator[tuple[str, str]]:
        """As `without`, by the first two parts of the key."""
        mine, theirs = self.kind.__name__, other.kind.__name__
        return self.store.execute(f'SELECT a, b FROM "{mine}" EXCEPT SELECT a, b FROM "{theirs}" ORDER BY a, b')

    def remove(self, first: str) -> None:
        """Remove the records whose key begins with `first`."""
        self.store.execute(f'DELETE FROM "{self.kind.__name__}" WHERE a = ?', (first,))

    def lines(self, keep: Container[str] | None = None) -> Iterator[bytes]:
        """The records as lines, in order; with `keep`, those whose key begins with one of it."""
        query = f'SELECT a, line FROM "{self.kind.__name__}" ORDER BY a, b, c, d'
        return (line for first, line in self.store.execute(query) if keep is None or first in keep)

    def write(self, path: Path, keep: Container[str] | None = None) -> None:
        """Write the lines atomically."""
        with atomic_write(path, "wb") as target:
            for line in self.lines(keep):
                target.write(line)

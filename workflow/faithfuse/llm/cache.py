"""Finished batches on disk, so that a killed job goes on where it was.

A cache folder holds one folder per set of deciding settings (model and revision, weights, precision, device type,
threads, library versions, template digest, decoding settings), and in it lines of one finished batch each, keyed by
the SHA-256 of the batch itself: its token ids, order and layout. No file name or time is part of a key.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from faithfuse.records import atomic_write


def digest(value: Any) -> str:
    """SHA-256 of a value's canonical JSON, as hexadecimal."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


class BatchCache:
    """Results of batches under one set of deciding settings. Use as a context manager.

    Every writer appends to a file of its own (held by a lock), so jobs run side by side share one cache. A line
    that is broken is reported, set aside in `corrupt.txt` and computed again.

    Args:
        folder: cache folder; null keeps nothing.
        settings: all that decides a batch's result beside the batch.
        warn: receives one line about each broken line.
    """

    def __init__(self, folder: Path | None, settings: dict[str, Any], warn: Callable[[str], None]) -> None:
        self.folder = folder / "llm" / digest(settings)[:32] if folder else None
        self.settings = settings
        self.warn = warn
        self.known: dict[str, Any] = {}
        self._locks: list[Any] = []
        self._stream: Any = None

    def __enter__(self) -> BatchCache:
        if self.folder is None:
            return self
        self.folder.mkdir(parents=True, exist_ok=True)
        readme = self.folder / "settings.json"
        if not readme.exists():
            with atomic_write(readme) as stream:
                stream.write(json.dumps(self.settings, indent=1, sort_keys=True) + "\n")
        own: Path | None = None
        for path in sorted(self.folder.glob("batches-*.jsonl")):
            lock = self._try_lock(path)
            self._read(path, mine=lock is not None)
            if lock is not None and own is None:
                own = path
                self._locks.append(lock)
            elif lock is not None:
                lock.close()
        number = 0
        while own is None:
            path = self.folder / f"batches-{number:03d}.jsonl"
            if not path.exists():
                lock = self._try_lock(path)
                if lock is not None:
                    own = path
                    self._locks.append(lock)
            number += 1
        self._stream = own.open("ab")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()
        for lock in self._locks:
            lock.close()

    def get(self, key: str) -> Any | None:
        """The result of a batch, null when it is not known."""
        return self.known.get(key)

    def put(self, key: str, result: Any) -> None:
        """Keep a result; it is on disk when this returns."""
        self.known[key] = result
        if self._stream is None:
            return
        line = json.dumps({"key": key, "sum": digest(result), "result": result}, separators=(",", ":"))
        self._stream.write(line.encode() + b"\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def _try_lock(self, path: Path) -> Any | None:
        stream = path.with_suffix(".lock").open("w")
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            stream.close()
            return None
        return stream

    def _read(self, path: Path, mine: bool) -> None:
        """Take over the good lines; of a file that nobody writes, move the broken ones out."""
        raw = path.read_bytes()
        good, bad = [], []
        for line in raw.split(b"\n"):
            if not line:
                continue
            entry = None
            with contextlib.suppress(ValueError, KeyError, TypeError):
                parsed = json.loads(line)
                if digest(parsed["result"]) == parsed["sum"]:
                    entry = parsed
            if entry is None:
                bad.append(line)
            else:
                good.append(line)
                self.known[entry["key"]] = entry["result"]
        if not mine or (not bad and raw.endswith(b"\n") | (not raw)):
            return
        if bad:
            aside = path.with_name("corrupt.txt")
            with aside.open("ab") as stream:
                stream.write(b"\n".join(bad) + b"\n")
            self.warn(f"cache: {len(bad)} broken line(s) of {path} set aside in {aside.name}; computed again")
        with atomic_write(path, "wb") as stream:
            stream.write(b"".join(line + b"\n" for line in good))

"""Errors that tell a user what to do.

Every error a user can cause is a `FaithfuseError`; the command line prints it without a traceback and exits
with status 1. Anything else is a bug and keeps its traceback.
"""

from __future__ import annotations

from pathlib import Path


class FaithfuseError(Exception):
    """A problem that the user can mend; the message says how."""


class InputError(FaithfuseError):
    """Something read from a file is not as it must be.

    Args:
        found: what is wrong, in a sentence fragment ("rating 7 is outside 1–5").
        fix: what to do about it, as an instruction.
        path: the file, when there is one.
        line: one-based line number in `path`, when there is one.
        record: the id of the record concerned, when there is one.
    """

    def __init__(
        self,
        found: str,
        *,
        fix: str,
        path: Path | str | None = None,
        line: int | None = None,
        record: str | None = None,
    ) -> None:
        self.found, self.fix, self.path, self.line, self.record = found, fix, path, line, record
        place = ""
        if path is not None:
            place = str(path) + (f":{line}" if line is not None else "")
        if record is not None:
            place = f"{place} ({record})" if place else record
        super().__init__(f"{place + ': ' if place else ''}{found}. {fix}")


class ModelError(FaithfuseError):
    """A model cannot be obtained, verified or loaded."""

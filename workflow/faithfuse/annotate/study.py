"""A study: its folder, its settings, and the lock that lets one server at a time work on it.

A study folder holds `study.yaml` (settings a person may read and edit), `study.db` (SQLite: everything that was
asked and answered), `secret` (the key of links and sessions) and `lock`.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from faithfuse.errors import FaithfuseError, InputError
from faithfuse.records import atomic_write, describe

Scale = Literal["response", "point"]

ANCHORS: dict[str, dict[int, str]] = {
    "response": {
        1: "Wrong: contradicts the reference or the context, made up, or no answer",
        2: "Mostly wrong: something in it is true, or it is too vague to be of use",
        3: "Partly right: key information is missing, or there is a minor error or ambiguity",
        4: "Right with a small lack: hedged, vaguer than asked, or a detail missing",
        5: "Right and complete: all that matters, nothing wrong, nothing ambiguous",
    },
    "point": {
        1: "Wrong: not in the dialogue, or badly misleading",
        2: "Mostly wrong: something in it is true, but not what it says",
        3: "Partly right: a minor inconsistency, or it can be read two ways",
        4: "Right with a small lack: hedged, or a detail is off",
        5: "Right: fully supported by the dialogue and clear",
    },
}
"""Five anchors around the three that the paper's judge prompts give (0, 3 and 5; arXiv 2512.05700, appendix)."""


class Settings(BaseModel):
    """`study.yaml`. The first block may be edited at any time; the second is fixed when the study is made."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(default="Faithfulness ratings", description="Shown at the top of every page.")
    instructions: str = Field(default="", description="Shown before the first item; a blank line starts a paragraph.")
    anchors: dict[Scale, dict[int, str]] = Field(
        default_factory=lambda: {name: dict(texts) for name, texts in ANCHORS.items()},
        description="What 1 to 5 mean, for whole responses and for points of a summary.",
    )
    relevant_turns: int = Field(
        default=3, ge=0, le=10, description="Turns of a long dialogue to offer as jumps, by shared words; 0 for none."
    )

    kind: Literal["rating", "audit"] = Field(default="rating", description="What people do: rate, or label tuples.")
    seed: int = Field(default=0, ge=0, description="Seed of the sample, of the overlap and of every annotator's order.")
    sample: int | None = Field(default=None, ge=1, description="Items drawn per domain; all when null.")
    overlap: int | None = Field(
        default=None, ge=0, description="Items that all annotators judge; the others go to one each. All when null."
    )

    @field_validator("anchors")
    @classmethod
    def _five_each(cls, anchors: dict[str, dict[int, str]]) -> dict[str, dict[int, str]]:
        for name in ("response", "point"):
            texts = anchors.get(name, {})
            if sorted(texts) != [1, 2, 3, 4, 5] or not all(text.strip() for text in texts.values()):
                raise ValueError(f"anchors of {name} need a text for each of 1, 2, 3, 4 and 5")
        return anchors


class Study:
    """A study's folder.

    Args:
        folder: where the study is, made by `faithfuse annotate init`.

    Raises:
        InputError: there is no study in the folder, or its settings are malformed.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        if not self.database.is_file():
            raise InputError(
                "is no study", path=self.folder, fix="Make one with `faithfuse annotate init PROJECT --from DATA`."
            )
        self.settings = read_settings(self.folder / "study.yaml")
        try:
            self._secret = (self.folder / "secret").read_bytes()
        except OSError as error:
            raise InputError(
                f"cannot be read ({error.strerror})",
                path=self.folder / "secret",
                fix="Restore it with the study's backup; links and sessions hang on it.",
            ) from None

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.folder / "study.db"

    @property
    def secret(self) -> bytes:
        """The key of links and sessions; it never leaves the folder."""
        return self._secret

    @property
    def ident(self) -> str:
        """Eight hexadecimal digits that tell this study's cookies from another's on the same host."""
        return self.sign("ident")[:8]

    def sign(self, *parts: str) -> str:
        """HMAC-SHA-256 of the parts under the study's key, as hexadecimal."""
        return hmac.new(self._secret, "\x00".join(parts).encode(), hashlib.sha256).hexdigest()

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the study for one server; the system frees the lock when the process ends, however it ends.

        Raises:
            FaithfuseError: another server holds it.
        """
        with (self.folder / "lock").open("a+") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                stream.seek(0)
                raise FaithfuseError(
                    f"{self.folder}: another server already serves this study ({stream.read().strip() or 'unknown'}). "
                    "Use that one, or stop it first."
                ) from None
            stream.truncate(0)
            stream.write(f"process {os.getpid()}")
            stream.flush()
            yield


def create(folder: Path, settings: Settings) -> None:
    """Make a study's folder, for its owner's eyes alone, with its settings and its key.

    Raises:
        InputError: the folder holds something already.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            "exists and is not empty", path=folder, fix="Name a new folder; a study is never written over."
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / "secret", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(secrets.token_bytes(32))
    with atomic_write(folder / "study.yaml") as stream:
        stream.write(
            "# Settings of this study. title, instructions, anchors and relevant_turns may be edited (the server\n"
            "# reads them when it starts); kind, seed, sample and overlap record how the study was made.\n"
        )
        yaml.safe_dump(settings.model_dump(), stream, allow_unicode=True, sort_keys=False, width=110)


def read_settings(path: Path) -> Settings:
    """Read a `study.yaml`.

    Raises:
        InputError: it is missing, is no YAML, or a field is unknown or out of range.
    """
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", path=path, fix="Check the path and the permissions."
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"is no YAML ({' '.join(str(error).split())})", path=path, fix="Mend its syntax.") from None
    try:
        return Settings.model_validate(value or {})
    except ValidationError as error:
        raise InputError(describe(error), path=path, fix="See the settings in docs/annotate.md.") from None

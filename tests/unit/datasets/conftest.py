"""What the tests of data sets share: imports of the real sets, done once, and writers of small original files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from faithfuse.datasets.ratings import IMPORTERS
from faithfuse.datasets.ratings.base import write
from faithfuse.records import Item, Rating, Response, read_records


class Imported(NamedTuple):
    """The files of one import."""

    card: dict[str, Any]
    items: list[Item]
    responses: list[Response]
    ratings: list[Rating]

    def dropped(self, what: str) -> int:
        return sum(drop["count"] for drop in self.card["dropped"] if drop["what"] == what)

    def noted(self, words: str) -> int:
        return sum(note["count"] for note in self.card["notes"] if words in note["what"])


def read_import(folder: Path) -> Imported:
    return Imported(
        json.loads((folder / "card.json").read_text(encoding="utf-8")),
        read_records(folder / "items.jsonl", Item),
        read_records(folder / "responses.jsonl", Response),
        read_records(folder / "ratings.jsonl", Rating),
    )


@pytest.fixture
def import_set(tmp_path: Path) -> Callable[..., Imported]:
    """Import a set from a folder into a fresh one, and read what was written."""

    def run(name: str, root: Path, **options: Any) -> Imported:
        out = tmp_path / f"out-{name}"
        write(IMPORTERS[name], root, out, **options)
        return read_import(out)

    return run


@pytest.fixture(scope="session")
def real(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Imported]:
    """A real set as imported whole, repaired where its module documents damage; imported once per session."""
    folder = tmp_path_factory.mktemp("real")
    done: dict[str, Imported] = {}

    def run(name: str) -> Imported:
        if name not in done:
            write(IMPORTERS[name], real_data, folder / name, repair=name == "storysumm")
            done[name] = read_import(folder / name)
        return done[name]

    return run

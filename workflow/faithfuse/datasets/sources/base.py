"""What every loader of a source set shares: its description, and how its records are written out."""

from __future__ import annotations

import glob
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithfuse.datasets.folder import whole_folder
from faithfuse.datasets.ratings.base import Source, file_list, write_card
from faithfuse.datasets.schema import KINDS, SourceRecord, Subset, as_json
from faithfuse.datasets.spool import Spool
from faithfuse.errors import InputError


@dataclass(frozen=True)
class SourceSet:
    """One source set.

    Attributes:
        name: its name on the command line and in `source_set`.
        title: its name in print.
        subset: the part of the data set it goes to.
        home: its usual folder below a data folder.
        url, licence, citation: where it is from and on which terms.
        read: its records in any order; drops and notes go to the source.
        layout: which files it reads, in words.
        untested: what of the loader no original file was at hand for; empty if nothing.
        no_derivatives: its licence forbids to share adapted material.
    """

    name: str
    title: str
    subset: Subset
    home: str
    url: str
    licence: str
    citation: str
    read: Callable[[Source], Iterator[SourceRecord]]
    layout: str
    untested: str = ""
    no_derivatives: bool = False


def files(source: Source, *patterns: str) -> list[Path]:
    """All files of the set that match the patterns, in `root` or in its usual folder, sorted; listed in the card.

    The first of the two places that has any is taken, so that a data folder never mixes with a set's own.
    """
    for place in (source.root / source.home, source.root):
        found = sorted({Path(path) for pattern in patterns for path in glob.glob(str(place / pattern), recursive=True)})
        if found:
            source.files += [path for path in found if path not in source.files]
            return found
    return []


def some_files(source: Source, *patterns: str) -> list[Path]:
    """As `files`, but there must be one.

    Raises:
        InputError: there is none.
    """
    found = files(source, *patterns)
    if not found:
        raise InputError(
            f"has no file {' or '.join(patterns)}",
            path=source.root,
            fix="Point --root at the set's folder or at a data folder above it; docs/data.md shows the layouts.",
        )
    return found


def origin(source: Source, path: Path, line: int | str) -> str:
    """Where a record is from, as JSON text: the file relative to the root, and the line or key."""
    return as_json({"file": path.relative_to(source.root).as_posix(), "at": line})


def load(source_set: SourceSet, root: Path, out: Path) -> dict[str, Any]:
    """Load a source set: write all its records to `records.jsonl`, and `card.json`, in `out`.

    Returns:
        The card.

    Raises:
        InputError: a file is missing, broken or empty.
        FaithfuseError: `out` cannot be written. Nothing in `out` has changed in either case.
    """
    if not root.is_dir():
        raise InputError("is no folder", path=root, fix="Point --root at the folder with the original files.")
    source = Source(root=root, home=source_set.home)
    spool = Spool(KINDS[source_set.subset])
    for record in source_set.read(source):
        if not spool.add(record):
            place = json.loads(record.origin)
            source.drop("record", "the id is there already", Path(place["file"]), place["at"])
    if not len(spool) and not source.dropped:
        raise InputError("gives no record", path=root, fix="Check that the set's files are complete.")
    card = {
        "set": source_set.name,
        "title": source_set.title,
        "subset": str(source_set.subset),
        "records": len(spool),
        **source.account(),
        "untested": source_set.untested,
        "licence": source_set.licence,
        "no_derivatives": source_set.no_derivatives,
        "citation": source_set.citation,
        "url": source_set.url,
        "files": file_list(source),
    }
    with whole_folder(out) as new:
        spool.write(new / "records.jsonl")
        write_card(new / "card.json", card)
    return card

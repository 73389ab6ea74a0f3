"""The cross-domain data set: draw from the eight source sets, find duplicates, write it in every form.

Sizes are the paper's (arXiv 2512.05700, section III-G): 500 question-answer pairs, 500 conversational questions,
500 dialogues with summaries, 4,500 task-oriented dialogues. Each set gets an equal part of its subset; what one
cannot fill goes to the others. Within a set the draw is stratified (by relation, source, answerability, number
of speakers or services). The draw depends on ids and the seed alone, and is written as a file of ids.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from faithfuse.datasets.card import dataset_card, read_card
from faithfuse.datasets.folder import whole_folder
from faithfuse.datasets.parquet import write_parquet
from faithfuse.datasets.ratings.base import short_hash, write_card
from faithfuse.datasets.schema import KINDS, SourceRecord, Subset
from faithfuse.datasets.select import select
from faithfuse.datasets.spool import Spool
from faithfuse.datasets.streams import iter_table
from faithfuse.errors import InputError
from faithfuse.records import Item, atomic_write, describe

SIZES = {
    Subset.QUESTION_ANSWERING: 500,
    Subset.CONVERSATIONAL_QA: 500,
    Subset.SUMMARISATION: 500,
    Subset.TASK_ORIENTED: 4500,
}
SELECTION = "selection.csv"
DUPLICATES = "duplicates.csv"

_TEXTS = ("set", "title", "subset", "untested", "licence", "citation", "url")
_LOADED = dict.fromkeys(_TEXTS, str) | {"records": int, "no_derivatives": bool, "dropped": [dict], "notes": [dict]}


def equal_parts(available: Mapping[str, int], size: int) -> dict[str, int]:
    """Share `size` equally among sets; what a set cannot fill goes to those that can.

    >>> equal_parts({"a": 10, "b": 1000}, 500)
    {'a': 10, 'b': 490}
    """
    parts = {}
    left = min(size, sum(available.values()))
    # The smallest set first: it gets its part or all it has, and the others share what is left.
    for place, name in enumerate(sorted(available, key=lambda name: (available[name], name))):
        parts[name] = min(left // (len(available) - place), available[name])
        left -= parts[name]
    return dict(sorted(parts.items()))


def normalised(text: str) -> str:
    """Letters and digits only, one blank between words, case folded, compatibility forms unified."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


class _Library:
    """The source sets' records on disk: what is needed to draw, and where each record stands."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.cards: dict[str, dict[str, Any]] = {}
        self.strata: dict[Subset, dict[str, dict[str, str]]] = {s: defaultdict(dict) for s in Subset}
        self.texts: dict[str, list[str]] = defaultdict(list)
        self.places: dict[str, tuple[Path, int, type[SourceRecord]]] = {}
        for folder in folders:
            self._add(folder)

    def _add(self, folder: Path) -> None:
        fix = "Make it with `faithfuse data load SET --root DIR --out DIR`."
        card = read_card(folder, _LOADED, fix)
        if not (folder / "records.jsonl").is_file() or card["subset"] not in KINDS:
            raise InputError("holds no records of a source set", path=folder, fix=fix)
        name, kind = card["set"], KINDS[Subset(card["subset"])]
        if name in self.cards:
            raise InputError(f"is the second folder of {name}", path=folder, fix="Name each set once.")
        self.cards[name] = card
        for record, offset in _records(folder / "records.jsonl", kind):
            if record.record_id in self.places:
                raise InputError("is there twice", path=folder, record=record.record_id, fix="Load the set again.")
            self.places[record.record_id] = (folder / "records.jsonl", offset, kind)
            self.strata[kind.subset][name][record.record_id] = record.stratum()
            digest = short_hash(normalised(record.duplicate_text()))
            self.texts[f"{kind.subset}\x00{digest}"].append(record.record_id)

    def draw(self, sizes: Mapping[Subset, int], seed: int) -> dict[Subset, set[str]]:
        """The ids of each subset."""
        drawn: dict[Subset, set[str]] = {}
        for subset in Subset:
            sets = self.strata[subset]
            parts = equal_parts({name: len(ids) for name, ids in sets.items()}, sizes[subset])
            drawn[subset] = {i for name, size in parts.items() for i in select(sets[name], size, seed)}
        return drawn

    def drawn_before(self, path: Path) -> dict[Subset, set[str]]:
        """The ids of a selection file.

        Raises:
            InputError: it names a record that the sets do not have.
        """
        drawn: dict[Subset, set[str]] = {subset: set() for subset in Subset}
        for line, row in iter_table(path, delimiter=",", columns=("subset", "record_id")):
            place = self.places.get(row["record_id"])
            if place is None or place[2].subset != row["subset"]:
                raise InputError(
                    f"names {row['record_id']}, which the loaded sets do not have as {row['subset']}",
                    path=path,
                    line=line,
                    fix="Load the same files of the sets that the selection was made from.",
                )
            drawn[Subset(row["subset"])].add(row["record_id"])
        return drawn

    def record(self, record_id: str) -> SourceRecord:
        path, offset, kind = self.places[record_id]
        with path.open("rb") as stream:
            stream.seek(offset)
            return kind.model_validate_json(stream.readline())

    def duplicates(self, drawn: set[str]) -> Iterator[tuple[str, str, list[str], int]]:
        """(subset, digest, ids, how many of them are drawn) of every text that several records share."""
        for key in sorted(self.texts):
            ids = sorted(self.texts[key])
            if len(ids) > 1:
                subset, _, digest = key.partition("\x00")
                yield subset, digest, ids, sum(record_id in drawn for record_id in ids)


def _records(path: Path, kind: type[SourceRecord]) -> Iterator[tuple[SourceRecord, int]]:
    offset = 0
    with path.open("rb") as stream:
        for line, raw in enumerate(stream, start=1):
            try:
                record = kind.model_validate_json(raw)
            except ValidationError as error:
                raise InputError(
                    f"is no {kind.__name__}: {describe(error)}", path=path, line=line, fix="Load the set again."
                ) from None
            yield record, offset
            offset += len(raw)


def unify(
    folders: Sequence[Path],
    out: Path,
    *,
    sizes: Mapping[Subset, int] | None = None,
    seed: int = 0,
    selection: Path | None = None,
) -> dict[str, Any]:
    """Build the data set from loaded source sets.

    Writes to `out`: per subset `SUBSET.jsonl` and `SUBSET.parquet`; `selection.csv` (the ids drawn);
    `duplicates.csv`; `README.md` (the data card, Hugging Face format); `card.json`; and `items.jsonl` with empty
    `responses.jsonl` and `ratings.jsonl`, the form that the workflow reads.

    Args:
        folders: folders of `faithfuse data load`, one per set.
        out: the folder to write.
        sizes: records per subset (the paper's by default).
        seed: seed of the draw.
        selection: a `selection.csv`, to draw the same records again.

    Returns:
        The card.

    Raises:
        InputError: a folder is not what it must be, or the selection names a record that is not there.
    """
    sizes = dict(SIZES if sizes is None else sizes)
    library = _Library(folders)
    drawn = library.draw(sizes, seed) if selection is None else library.drawn_before(selection)
    everything = set().union(*drawn.values())

    duplicates = list(library.duplicates(everything))
    items = Spool(Item)
    with whole_folder(out) as new:
        for subset in Subset:
            spool = Spool(KINDS[subset])
            for record_id in sorted(drawn[subset]):
                record = library.record(record_id)
                spool.add_new(record)
                for item in record.items():
                    items.add_new(item)
            spool.write(new / f"{subset}.jsonl")
            write_parquet(KINDS[subset], new / f"{subset}.jsonl", new / f"{subset}.parquet")
        items.write(new / "items.jsonl")
        for name in ("responses.jsonl", "ratings.jsonl"):
            with atomic_write(new / name):
                pass
        _write_csv(
            new / SELECTION,
            ("subset", "record_id"),
            [(str(subset), record_id) for subset in Subset for record_id in sorted(drawn[subset])],
        )
        _write_csv(
            new / DUPLICATES,
            ("subset", "text_digest", "records", "drawn", "record_ids"),
            [(subset, digest, len(ids), count, " ".join(ids)) for subset, digest, ids, count in duplicates],
        )
        card = _card(library, drawn, sizes, seed if selection is None else None, duplicates, len(items))
        with atomic_write(new / "README.md") as stream:
            stream.write(dataset_card(card))
        write_card(new / "card.json", card)
    return card


def _card(
    library: _Library,
    drawn: Mapping[Subset, set[str]],
    sizes: Mapping[Subset, int],
    seed: int | None,
    duplicates: Sequence[tuple[str, str, list[str], int]],
    items: int,
) -> dict[str, Any]:
    subsets = []
    for subset in Subset:
        found = {name: len(ids) for name, ids in library.strata[subset].items()}
        by_set = Counter(record_id.partition(":")[0] for record_id in drawn[subset])
        subsets.append(
            {
                "subset": str(subset),
                "requested": sizes[subset],
                "drawn": len(drawn[subset]),
                "found": dict(sorted(found.items())),
                "drawn_by_set": {name: by_set[name] for name in sorted(found)},
            }
        )
    across = [ids for _, _, ids, _ in duplicates if len({i.partition(":")[0] for i in ids}) > 1]
    return {
        "set": "unified",
        "title": "faithfuse cross-domain faithfulness data set",
        "domain": None,
        "counts": {"items": items, "records": sum(len(ids) for ids in drawn.values())},
        "seed": seed,
        "subsets": subsets,
        "duplicates": {
            "texts": len(duplicates),
            "across_sets": len(across),
            "drawn_more_than_once": sum(count > 1 for *_, count in duplicates),
            "file": DUPLICATES,
        },
        "selection": SELECTION,
        "sets": [library.cards[name] for name in sorted(library.cards)],
    }


def _write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    with atomic_write(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)

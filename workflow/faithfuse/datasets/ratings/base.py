"""What every importer of human judgements shares: its description, what it counts, and how it is written out.

An importer reads the original files of one set and yields `Item`, `Response` and `Rating` records as it goes.
Whatever it leaves out it counts with the reason and the place. `write` sorts the stream into the three record
files and the card, in flat memory.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from faithfuse.datasets.folder import whole_folder
from faithfuse.datasets.select import select
from faithfuse.datasets.shapes import misfit
from faithfuse.datasets.spool import Spool, open_store
from faithfuse.datasets.streams import file_digest
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Record, Response, atomic_write, describe

_EXAMPLES = 5

YES, NO = 5.0, 1.0
"""A yes/no label on the Likert scale."""


@dataclass
class Source:
    """The original files of one import, and what was found wrong with them.

    Args:
        root: the folder with the set's files, or a folder that holds it under its usual name.
        only: the one file to read, where the user names it.
        repair: whether damage that the set's module documents may be mended.
    """

    root: Path
    only: Path | None = None
    repair: bool = False
    home: str = ""
    files: list[Path] = field(default_factory=list)
    dropped: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    dropped_count: Counter[tuple[str, str]] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)

    def find(self, name: str, *elsewhere: str) -> Path | None:
        """The file `name` of the set, or None; what is found is listed in the card.

        It is looked for in `root`, in the set's usual folder below `root` and in `elsewhere` (relative to root).
        """
        for place in (name, f"{self.home}/{name}", *elsewhere):
            path = self.only or self.root / place
            if path.is_file():
                if path not in self.files:
                    self.files.append(path)
                return path
        return None

    def require(self, name: str) -> Path:
        """The file `name` of the set.

        Raises:
            InputError: it is not there.
        """
        path = self.find(name)
        if path is None:
            raise InputError(
                f"has no {name}",
                path=self.root,
                fix=f"Point --root at the folder that holds {name}; docs/data.md says where to get it.",
            )
        return path

    def drop(self, what: str, reason: str, path: Path, line: int | str) -> None:
        """Count something that is left out; the card shows the first few places."""
        self.dropped_count[what, reason] += 1
        places, place = self.dropped.setdefault((what, reason), []), f"{path.name}:{line}"
        if len(places) < _EXAMPLES and place not in places:
            places.append(place)

    def note(self, what: str, count: int = 1) -> None:
        """Count something that is kept, but that a user should know of."""
        self.noted[what] += count

    def account(self) -> dict[str, Any]:
        """What was dropped and noted, for a card."""
        return {
            "dropped": [
                {"what": what, "reason": reason, "count": self.dropped_count[what, reason], "first": places}
                for (what, reason), places in sorted(self.dropped.items())
            ],
            "notes": [{"what": what, "count": self.noted[what]} for what in sorted(self.noted)],
        }


@dataclass(frozen=True)
class Importer:
    """One public set of human judgements.

    Attributes:
        name: its name on the command line and in the records' `source_set`.
        title: its name in print.
        domain: the domain of its items; None if each says its own.
        home: its usual folder below a data folder.
        url, licence, citation: where it is from and on which terms.
        scale: how its labels become Likert values, in words.
        read: the records in any order; drops and notes go to the source.
        stratum: what a limited draw keeps in proportion.
        evaluation_only: its authors ask that nothing be trained on it.
        reads: what it needs, in words.
    """

    name: str
    title: str
    domain: Domain | None
    home: str
    url: str
    licence: str
    citation: str
    scale: str
    read: Callable[[Source], Iterator[Record]]
    stratum: Callable[[Item], str] = lambda item: ""
    evaluation_only: bool = False
    reads: str = ""


def build(kind: type[Record], path: Path, line: int | str, **fields: Any) -> Any:
    """Make a record, or name the place in the original file that gave no valid one.

    Raises:
        InputError: the fields do not make a valid record.
    """
    try:
        return kind(**fields)
    except ValidationError as error:
        raise InputError(
            f"gives no valid {kind.__name__}: {describe(error)}",
            path=path,
            line=line if isinstance(line, int) else None,
            record=None if isinstance(line, int) else line,
            fix="Get the original file again; if it is the original, please report this.",
        ) from None


def response(path: Path, line: int, item_id: str, system: str, text: Any, **fields: Any) -> Response:
    """A recorded response; a null or blank text stays null with that reason.

    Raises:
        InputError: the text is neither a string nor null.
    """
    if text is not None and not isinstance(text, str):
        raise InputError(
            f"the answer of {system} is {text!r:.40}, not a text",
            path=path,
            line=line,
            fix="Get the original file again.",
        )
    reason = None
    if text is None or not text.strip():
        reason = "no answer in the original file" if text is None else "the answer is blank in the original file"
        text = None
        fields = {}
    return build(Response, path, line, item_id=item_id, system=system, text=text, reason=reason, **fields)


def question_group(question: str) -> str:
    """The leakage key of a question that stands alone: the same words give the same group in every set."""
    words = " ".join(question.casefold().split()).rstrip("?. ")
    return "question:" + hashlib.sha256(words.encode()).hexdigest()[:16]


def write(
    importer: Importer,
    root: Path,
    out: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    systems: Sequence[str] | None = None,
    repair: bool = False,
) -> dict[str, Any]:
    """Import a set: write `items.jsonl`, `responses.jsonl`, `ratings.jsonl` and `card.json` to `out`.

    With `limit`, that many items are drawn (seeded, in proportion to the importer's strata), with all their
    responses and ratings. With `systems`, only their responses are kept; an item none of them answered is then
    left out and counted. The same files and options give the same bytes.

    Returns:
        The card.

    Raises:
        InputError: a file is missing, broken or empty, or a system is unknown.
        FaithfuseError: `out` cannot be written. Nothing in `out` has changed in either case.
    """
    only = root if root.is_file() and not importer.home else None
    if not root.is_dir() and only is None:
        raise InputError("is no folder", path=root, fix="Point --root at the folder with the original files.")
    source = Source(root=root, only=only, repair=repair, home=importer.home)
    store = open_store()
    items, responses, ratings = (Spool(kind, store) for kind in (Item, Response, Rating))
    spools = {Item: items, Response: responses, Rating: ratings}
    seen: set[str] = set()
    for record in importer.read(source):
        if not isinstance(record, Item):
            seen.add(record.system)
            if systems and record.system not in systems:
                continue
        if not spools[type(record)].add(record):
            raise _repeated(record, items)
    _check_keys(items, responses, ratings)
    if not len(items):
        left_out = ", ".join(f"{count} × {what}: {why}" for (what, why), count in source.dropped_count.items())
        raise InputError(
            f"gives no item (left out: {left_out or 'nothing'})",
            path=root,
            fix="Check that the set's files are complete.",
        )
    if systems:
        _check_systems(systems, seen, root)
        for item_id in list(items.without(responses)):
            source.drop("item", "no response of the systems asked for", root, item_id)
            items.remove(item_id)

    available = len(items)
    keep = None if limit is None else _drawn(importer, items, limit, seed)
    card = {
        "set": importer.name,
        "title": importer.title,
        "domain": importer.domain and str(importer.domain),
        "counts": _counts(items, responses, ratings, keep),
        "selection": None if limit is None else {"items": limit, "of": available, "seed": seed},
        "systems": sorted(systems) if systems else None,
        **source.account(),
        "scale": importer.scale,
        "licence": importer.licence,
        "citation": importer.citation,
        "url": importer.url,
        "evaluation_only": importer.evaluation_only,
        "repaired": source.repair,
        "files": file_list(source),
    }
    with whole_folder(out) as new:
        items.write(new / "items.jsonl", keep)
        responses.write(new / "responses.jsonl", keep)
        ratings.write(new / "ratings.jsonl", keep)
        write_card(new / "card.json", card)
    return card


def write_card(path: Path, card: Mapping[str, Any]) -> None:
    """Write a card as JSON."""
    with atomic_write(path) as stream:
        json.dump(card, stream, ensure_ascii=False, indent=2, allow_nan=False)
        stream.write("\n")


def _repeated(record: Item | Response | Rating, items: Spool) -> InputError:
    """The error for a second record of one key; its place is the one that the first record's item is from."""
    first = items.line(record.item_id)
    place = {} if first is None else Item.model_validate_json(first).provenance
    line = place.get("line")
    return InputError(
        f"the set gives two {type(record).__name__} records with one key"
        + (", the first of an item read here" if place.get("file") else ""),
        path=place.get("file"),
        line=line if isinstance(line, int) else None,
        record=" ".join(str(part) for part in record.sort_key()),
        fix="Check the original files for a record that is there twice.",
    )


def _drawn(importer: Importer, items: Spool, limit: int, seed: int) -> set[str]:
    strata = {}
    for line in items.lines():
        item = Item.model_validate_json(line)
        strata[item.item_id] = importer.stratum(item)
    return select(strata, limit, seed)


def _counts(items: Spool, responses: Spool, ratings: Spool, keep: Container[str] | None) -> dict[str, int]:
    counts = dict.fromkeys(("items", "responses", "responses_without_text", "rated_responses", "ratings"), 0)
    counts["abstentions"] = 0
    systems: set[str] = set()
    raters: set[str] = set()
    last_rated: tuple[str, str] | None = None
    counts["items"] = sum(1 for _ in items.lines(keep))
    for fields in map(json.loads, responses.lines(keep)):
        counts["responses"] += 1
        counts["responses_without_text"] += fields["text"] is None
        systems.add(fields["system"])
    for fields in map(json.loads, ratings.lines(keep)):
        counts["ratings"] += 1
        counts["abstentions"] += fields["likert"] is None
        raters.add(fields["annotator"])
        # Ratings of one response stand together.
        if fields["likert"] is not None and last_rated != (fields["item_id"], fields["system"]):
            last_rated = (fields["item_id"], fields["system"])
            counts["rated_responses"] += 1
    return counts | {"raters": len(raters), "systems": len(systems)}


def file_list(source: Source) -> list[dict[str, Any]]:
    """The original files that were read, with their digests."""
    return [
        {"name": path.name, "bytes": path.stat().st_size, "sha256": file_digest(path)}
        for path in sorted(source.files, key=lambda path: (path.name, str(path)))
    ]


def _check_keys(items: Spool, responses: Spool, ratings: Spool) -> None:
    """Every response has its item, every rating its response."""
    for item_id in responses.without(items):
        raise InputError("a response has no item", record=item_id, fix="Please report this set.")
    for key in ratings.pairs_without(responses):
        raise InputError("a rating has no response", record=" ".join(key), fix="Please report this set.")


def _check_systems(asked: Sequence[str], seen: set[str], root: Path) -> None:
    unknown = sorted(set(asked) - seen)
    if unknown:
        raise InputError(
            f"has no responses of {', '.join(unknown)}",
            path=root,
            fix=f"Choose from {', '.join(sorted(seen))}.",
        )


def need(record: Any, shape: Mapping[str, Any], path: Path, line: int | str) -> dict[str, Any]:
    """The record itself, if it is an object of this shape (see `faithfuse.datasets.shapes`).

    Raises:
        InputError: it is not; the message names the member, what was found and what was expected.
    """
    wrong = misfit(record, shape)
    if wrong is not None:
        raise InputError(
            wrong,
            path=path,
            line=line if isinstance(line, int) else None,
            record=None if isinstance(line, int) else line,
            fix="Check that this is the original file of the set.",
        )
    return record


def label(value: Any, scale: Mapping[Any, float | None], path: Path, line: int, name: str) -> float | None:
    """A label on the Likert scale; null in `scale` means abstain.

    Raises:
        InputError: the scale does not know the label.
    """
    for known, likert in scale.items():
        if value == known and type(value) is type(known):
            return likert
    raise InputError(
        f"{name} is {value!r:.60}, which the set's scale does not know",
        path=path,
        line=line,
        fix=f"Known are {', '.join(map(repr, scale))}; get the original file again.",
    )


def short_hash(*parts: str) -> str:
    """The first 16 hexadecimal digits of the parts' SHA-256, for ids where a set has none."""
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:16]

"""A user's own judgements: one table, CSV or JSON Lines, one row per rating.

`--root` is the file, or a folder with `judgements.csv` or `judgements.jsonl`. Columns (fields):

| column | needed | what it holds |
|---|---|---|
| `item_id` | yes | the item's id; rows of one item must agree on the columns of the item |
| `domain` | yes | `short_form_qa`, `long_form_qa`, `conversational_qa` or `summarisation` |
| `question` | for QA | the question |
| `context` | conversations, summaries | one `Speaker: text` a line; in JSON also a list of such lines or of turns |
| `references` | yes | CSV: one a line; JSON: a list; of a summary, each is one whole summary |
| `group` | no | the leakage key (default: the item itself) |
| `system` | yes | who answered |
| `response` | yes | the answer; of a summary, the text, whose sentences are its points |
| `points` | no | the summary's points, if they are not its sentences: one a line, or a list |
| `annotator` | yes, if rated | who rated |
| `point` | no | number of the rated point, from 0; empty: the whole response |
| `likert` | no | 1 to 5; empty with an annotator: abstained; both empty: not rated |

Every other column is refused, so that a misspelt one is no silent loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faithfuse.datasets.points import sentences, text_lines, turns
from faithfuse.datasets.ratings.base import Importer, Source, build, response, short_hash
from faithfuse.datasets.shapes import misfit
from faithfuse.datasets.streams import iter_json_records, iter_table
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Record, References, Turn, dump_line

NEEDED = ("item_id", "domain", "references", "system", "response")
OPTIONAL = ("question", "context", "group", "points", "annotator", "point", "likert")


# The other fields are checked where they are read.
_SHAPE = {name: object for name in NEEDED} | {
    "item_id": str,
    "domain": str,
    "system": str,
    "question?": (str, None),
    "group?": (str, None),
    "annotator?": (str, None),
}


def _file(source: Source) -> Path:
    path = source.find("judgements.csv") or source.find("judgements.jsonl")
    if path is None:
        raise InputError(
            "has neither judgements.csv nor judgements.jsonl",
            path=source.root,
            fix="Point --root at your file; docs/data.md shows its columns.",
        )
    return path


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if path.suffix.lower() in (".csv", ".tsv"):
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        for line, row in iter_table(path, delimiter=delimiter, columns=NEEDED):
            _refuse_unknown(row, path, 1)
            yield line, row
        return
    for line, record in iter_json_records(path):
        _refuse_unknown(record if isinstance(record, dict) else (), path, line)
        wrong = misfit(record, _SHAPE)
        if wrong is not None:
            raise InputError(wrong, path=path, line=line, fix="docs/data.md shows the fields; one object a line.")
        yield line, record


def _refuse_unknown(names: Any, path: Path, line: int) -> None:
    unknown = sorted(set(names) - set(NEEDED) - set(OPTIONAL))
    if unknown:
        raise InputError(
            f"has the unknown column {', '.join(map(repr, unknown))}",
            path=path,
            line=line,
            fix=f"Known are {', '.join(NEEDED + OPTIONAL)}; rename or remove it.",
        )


def _texts(value: Any, path: Path, line: int, name: str) -> list[str]:
    """A list of texts, or the lines of one."""
    if value is None:
        return []
    texts = text_lines(value) if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(
            f"{name} is neither a text nor a list of texts, found {value!r:.60}",
            path=path,
            line=line,
            fix="Write one a line, or in JSON a list.",
        )
    return [text.strip() for text in texts if text.strip()]


def _context(value: Any, path: Path, line: int) -> list[Turn]:
    if isinstance(value, list) and value and all(isinstance(turn, dict) for turn in value):
        return [build(Turn, path, line, **turn) for turn in value]
    return turns(_texts(value, path, line, "context"))


def _item(row: dict[str, Any], path: Path, line: int) -> Item:
    references = _texts(row["references"], path, line, "references")
    domain = row["domain"]
    if domain == Domain.SHORT_FORM_QA:
        given = References(short=references)
    elif domain == Domain.SUMMARISATION:
        given = References(long=references, points=[s for text in references for s in sentences(text)])
    else:
        given = References(long=references)
    return build(
        Item,
        path,
        line,
        item_id=row["item_id"],
        domain=domain,
        source_set="own",
        question=(row.get("question") or "").strip() or None,
        context=_context(row.get("context"), path, line),
        references=given,
        group=(row.get("group") or "").strip() or row["item_id"],
        provenance={"file": path.name},
    )


def _rating(row: dict[str, Any], path: Path, line: int) -> Rating | None:
    annotator, likert, point = (row.get(name) for name in ("annotator", "likert", "point"))
    likert = None if likert in (None, "") else likert
    point = None if point in (None, "") else point
    if not annotator:
        if likert is not None or point is not None:
            raise InputError(
                "has a rating without an annotator",
                path=path,
                line=line,
                fix="Say who rated in the column annotator.",
            )
        return None
    try:
        # A flag is a number to Python, and `int` cuts 1.5 to 1.
        if isinstance(likert, bool) or isinstance(point, (bool, float)):
            raise TypeError
        number = None if likert is None else float(likert)
        place = None if point is None else int(point)
    except (TypeError, ValueError):
        raise InputError(
            f"likert {likert!r:.20} or point {point!r:.20} is no number",
            path=path,
            line=line,
            fix="Write likert as 1 to 5, point as a whole number from 0, or leave them empty.",
        ) from None
    return build(
        Rating,
        path,
        line,
        item_id=row["item_id"],
        system=row["system"],
        annotator=annotator,
        point=place,
        likert=number,
    )


def _read(source: Source) -> Iterator[Record]:
    path = _file(source)
    items: dict[str, tuple[int, str]] = {}
    answers: dict[tuple[str, str], tuple[int, str]] = {}
    rated: dict[str, int] = {}
    for line, row in _rows(path):
        item = _item(row, path, line)
        points = _texts(row.get("points"), path, line, "points")
        text = row["response"]
        if not points and item.domain == Domain.SUMMARISATION and isinstance(text, str):
            points = sentences(text)
        answer = response(path, line, item.item_id, row["system"], text, points=points)
        for record, seen, key in (
            (item, items, item.item_id),
            (answer, answers, (item.item_id, answer.system)),
        ):
            # Compared by digest, so that memory holds no texts.
            digest = short_hash(dump_line(record))
            if key not in seen:
                seen[key] = (line, digest)
                yield record
            elif seen[key][1] != digest:
                kind = "item" if record is item else "response"
                raise InputError(
                    f"gives the same {kind} otherwise than line {seen[key][0]}",
                    path=path,
                    line=line,
                    record=" ".join(key) if isinstance(key, tuple) else key,
                    fix=f"Repeat the {kind}'s columns unchanged, or give it another id.",
                )
        rating = _rating(row, path, line)
        if rating is not None:
            key = short_hash(*map(str, rating.sort_key()))
            if key in rated:
                raise InputError(
                    f"is a second rating by the same person; the first is in line {rated[key]}",
                    path=path,
                    line=line,
                    record=f"{rating.item_id} {rating.system} {rating.annotator}",
                    fix="Remove one of the two, or name another annotator or point.",
                )
            rated[key] = line
            yield rating


OWN = Importer(
    name="own",
    title="Your own judgements",
    domain=None,
    home="",
    url="",
    licence="your own",
    citation="",
    scale="Likert 1–5 as given; empty = abstain",
    read=_read,
    stratum=lambda item: str(item.domain),
    reads="judgements.csv or judgements.jsonl, or the file that --root names",
)

"""StorySumm: summaries of short stories by language models, judged sentence by sentence.

Source: `melaniesubbiah/storysumm`, `storysumm.json` (Subbiah et al., EMNLP 2024): an object of records `story`,
`summary` (list of sentences), `errors` (0 = the sentence has an error), `label`, `model`, `split`. Long text, not
dialogue. There is no reference summary: the story is the context, and the items have no reference.

The file is **not valid JSON** as published: line 1455 ends with a stray `"`. The import says so; with `--repair` a
`"` that opens a text at the end of a line, where none can be, is removed, and counted.

Mapping: per sentence 1 = 5, 0 = 1; the value of a summary is the mean of its sentences; the set's own `label`
(every sentence right) stays in the item's provenance. One record has 7 sentences and 6 flags: which sentence lacks
its flag cannot be known, so its ratings are left out.

Counts: 96 summaries of 32 stories, 579 sentences.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faithfuse.datasets.points import text_lines
from faithfuse.datasets.ratings.base import NO, YES, Importer, Source, build, label, need, response, short_hash
from faithfuse.datasets.streams import iter_json_object, read_text
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Record, References, Turn

FILE = "storysumm.json"

_SCALE = {1: YES, 0: NO}
_SHAPE = {"label": int, "story": str, "summary": [str], "errors": list, "split": str, "model": str}
_STRAY = re.compile(r'(,\s*)"\s*$')


def _members(source: Source, path: Path) -> Iterator[tuple[int, str, Any]]:
    """The records of the file; with `repair`, of a copy without the stray quotation marks."""
    if not source.repair:
        try:
            yield from iter_json_object(path)
        except InputError as error:
            if _stray_line(path, error) is None:
                raise
            raise InputError(
                error.found,
                path=path,
                line=error.line,
                fix='The line ends with a stray `"`, as in the published file: add --repair to leave it out.',
            ) from None
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        lines = read_text(path).split("\n")
        while True:
            copy.write_text("\n".join(lines), encoding="utf-8", newline="")
            try:
                members = list(iter_json_object(copy))
            except InputError as error:
                number = _stray_line(copy, error)
                if number is None:
                    raise InputError(error.found, path=path, line=error.line, fix=error.fix) from None
                lines[number - 1] = _STRAY.sub(r"\1", lines[number - 1])
                source.note('stray quotation marks left out (line ends with `"`)')
                continue
            yield from members
            return


def _stray_line(path: Path, error: InputError) -> int | None:
    """The line of a JSON error, if that line ends with a `"` that opens a text."""
    if error.line is None or "control character" not in error.found:
        return None
    line = read_text(path).split("\n")[error.line - 1]
    return error.line if _STRAY.search(line) else None


def _read(source: Source) -> Iterator[Record]:
    path = source.require(FILE)
    for line, key, record in _members(source, path):
        need(record, _SHAPE, path, line)
        item_id, system = f"storysumm:{short_hash(key)}", record["model"]
        yield build(
            Item,
            path,
            line,
            item_id=item_id,
            domain=Domain.SUMMARISATION,
            source_set="storysumm",
            context=[
                Turn(speaker="", text=paragraph.strip())
                for paragraph in text_lines(record["story"])
                if paragraph.strip()
            ],
            references=References(),
            group=f"storysumm:{short_hash(record['story'])}",
            provenance={
                "file": path.name,
                "line": line,
                "key": key,
                "split": record["split"],
                "label": record["label"],
            },
        )
        source.note("items without a reference summary")
        points = [sentence.strip() for sentence in record["summary"]]
        yield response(path, line, item_id, system, " ".join(points), points=points)
        if len(record["errors"]) != len(points):
            reason = f"{len(points)} sentences, but {len(record['errors'])} flags"
            for _ in points:
                source.drop("rating", reason, path, line)
            continue
        for place, flag in enumerate(record["errors"]):
            likert = label(flag, _SCALE, path, line, "an error flag")
            yield build(
                Rating,
                path,
                line,
                item_id=item_id,
                system=system,
                annotator="people",
                point=place,
                likert=likert,
            )


STORYSUMM = Importer(
    name="storysumm",
    title="StorySumm",
    domain=Domain.SUMMARISATION,
    home="human/storysumm",
    url="https://github.com/melaniesubbiah/storysumm",
    licence="MIT",
    citation="Subbiah et al., STORYSUMM: Evaluating Faithfulness in Story Summarization, EMNLP 2024",
    scale="per sentence without error = 5, with error = 1; a summary has the mean of its sentences; no reference",
    read=_read,
    stratum=lambda item: str(item.provenance["split"]),
    reads=FILE,
)

"""SummEdits: a summary and many small edits of it, each judged consistent with the dialogue or not.

Source: `salesforce/factualNLG` (Laban et al., EMNLP 2023). A JSON list per domain, here `summedits_samsum.json` and
`summedits_qmsumm.json`: `id`, `doc`, `summary`, `label` 0/1, `original_summary`, `edit_types`, `split`.

Mapping: label 1 = 5, 0 = 1. A document with its original summary is an item, `original_summary` its reference, and
every edit a response whose system is the last part of its id. The originals themselves (`…_og`, equal to the
reference) are left out and counted. In the SAMSum file the turns are joined by ` . `, newlines are lost: a turn
starts where ` . ` is followed by `Name: `.

Counts: SAMSum 664 summaries (242 consistent) of 22 dialogues; QMSumm 431 (183 consistent) of 17 summaries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from faithfuse.datasets.points import sentences, text_lines, turns
from faithfuse.datasets.ratings.base import NO, YES, Importer, Source, build, label, need, response
from faithfuse.datasets.streams import iter_json_records
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Record, References

FILES = ("summedits_samsum.json", "summedits_qmsumm.json")

_SCALE = {1: YES, 0: NO}
_SHAPE = {
    "id": str,
    "doc": str,
    "summary": str,
    "label": object,
    "original_summary": str,
    "edit_types": list,
    "split": str,
}
# What stands before the colon is a name only up to the next lost newline.
_NEW_TURN = re.compile(r" \. (?=(?:(?! \. )[\w'’.\- ]){1,40}:(?:\s|$))")


def document_lines(doc: str) -> list[str]:
    """The turns of a document: its lines, or its parts where newlines were written as ` . `.

    >>> document_lines("Ann: Buy butter. . Mike: Ok . I will. . Ann: Fine")
    ['Ann: Buy butter.', 'Mike: Ok . I will.', 'Ann: Fine']
    """
    return text_lines(doc) if "\n" in doc.strip() else _NEW_TURN.split(doc)


def _group(base: str) -> str:
    match = re.fullmatch(r"samsum_\w+?_(\d\S*)", base)
    return f"samsum:{match[1]}" if match else f"summedits:{base}"


def _read_file(source: Source, path: Path) -> Iterator[Record]:
    seen: dict[str, tuple[int, str, str]] = {}
    for line, record in iter_json_records(path):
        need(record, _SHAPE, path, line)
        base, _, edit = record["id"].rpartition("_")
        item_id = f"summedits:{base}"
        likert = label(record["label"], _SCALE, path, line, "label")
        if base not in seen:
            seen[base] = (line, record["doc"], record["original_summary"])
            summary = record["original_summary"]
            yield build(
                Item,
                path,
                line,
                item_id=item_id,
                domain=Domain.SUMMARISATION,
                source_set="summedits",
                context=turns(document_lines(record["doc"])),
                references=References(long=[summary], points=sentences(summary)),
                group=_group(base),
                provenance={"file": path.name, "line": line, "split": record["split"]},
            )
        elif seen[base][1:] != (record["doc"], record["original_summary"]):
            raise InputError(
                f"has another document or original summary than line {seen[base][0]}",
                path=path,
                line=line,
                record=record["id"],
                fix="Get the original file again.",
            )
        if edit == "og":
            source.drop("response", "it is the reference summary", path, line)
            continue
        if record["summary"] == record["original_summary"]:
            source.note("edits that are equal to the reference")
        yield response(path, line, item_id, edit, record["summary"], points=sentences(record["summary"]))
        yield build(Rating, path, line, item_id=item_id, system=edit, annotator="people", likert=likert)


def _read(source: Source) -> Iterator[Record]:
    for path in [source.require(name) for name in FILES]:
        yield from _read_file(source, path)


SUMMEDITS = Importer(
    name="summedits",
    title="SummEdits, SAMSum and QMSumm",
    domain=Domain.SUMMARISATION,
    home="human/summedits",
    url="https://github.com/salesforce/factualNLG",
    licence="Apache-2.0; the SAMSum dialogues are CC BY-NC-ND 4.0",
    citation="Laban et al., SummEdits: Measuring LLM Ability at Factual Reasoning Through The Lens of Summarization, "
    "EMNLP 2023",
    scale="consistent = 5, inconsistent = 1; the original summary is the reference",
    read=_read,
    stratum=lambda item: str(item.provenance["file"]),
    reads=", ".join(FILES),
)

"""DialSummEval: summaries of 100 SAMSum dialogues by 13 systems and people, rated 1–5 by three raters.

Source: `kite99520/DialSummEval` (Gao and Wan, NAACL 2022). `human_judgment.jsonl` has one line per dialogue and
system: `id` (of SAMSum's test split), `dialogue` (turns joined by ` | `, with a leading `| `), `summary`,
`annotations` (three of `consistency`, `relevance`, `fluency`, `coherence`, 1–5) and `model_id` A to N.

Mapping: `consistency` as it is. The raters have no names: `rater1` is the first of the three, not one person.
System A is the reference summary (lower-cased and tokenised by its makers); it becomes the item's reference, so
its 100 responses and 300 ratings are left out, and counted. Points are the sentences of a summary; the ratings
are of whole summaries.

Counts: 1,400 lines, 100 dialogues, 14 systems, 4,200 ratings of consistency.
"""

from __future__ import annotations

from collections.abc import Iterator

from faithfuse.datasets.points import sentences, turns
from faithfuse.datasets.ratings.base import Importer, Source, build, need, response
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Record, References, Turn, iter_json_lines

REFERENCE_SYSTEM = "A"
FILE = "human_judgment.jsonl"

_SHAPE = {
    "id": str,
    "dialogue": str,
    "summary": str,
    "annotations": [{"consistency": int}],
    "model_id": str,
}


def dialogue_turns(dialogue: str) -> list[Turn]:
    """The turns of a dialogue written as `| Speaker: text | Speaker: text`."""
    return turns(dialogue.removeprefix("| ").split(" | "))


def _read(source: Source) -> Iterator[Record]:
    path = source.require(FILE)
    references: dict[str, str] = {}
    seen: dict[str, tuple[int, str]] = {}
    for line, record in iter_json_lines(path):
        need(record, _SHAPE, path, line)
        seen.setdefault(record["id"], (line, record["dialogue"]))
        if seen[record["id"]][1] != record["dialogue"]:
            raise InputError(
                f"has another dialogue than line {seen[record['id']][0]} under the same id",
                path=path,
                line=line,
                record=record["id"],
                fix="Get the original file again.",
            )
        if record["model_id"] == REFERENCE_SYSTEM:
            references[record["id"]] = record["summary"]
            source.drop("response", "system A is the reference summary", path, line)
            for _ in record["annotations"]:
                source.drop("rating", "system A is the reference summary", path, line)
            continue
        item_id, system = f"dialsummeval:{record['id']}", record["model_id"]
        yield response(path, line, item_id, system, record["summary"], points=sentences(record["summary"]))
        for place, annotation in enumerate(record["annotations"], start=1):
            yield build(
                Rating,
                path,
                line,
                item_id=item_id,
                system=system,
                annotator=f"rater{place}",
                likert=annotation["consistency"],
            )
    for dialogue_id, (line, dialogue) in seen.items():
        if dialogue_id not in references:
            raise InputError(
                "has no summary by system A, the reference",
                path=path,
                line=line,
                record=dialogue_id,
                fix="Get the original file again.",
            )
        reference = references[dialogue_id]
        yield build(
            Item,
            path,
            line,
            item_id=f"dialsummeval:{dialogue_id}",
            domain=Domain.SUMMARISATION,
            source_set="dialsummeval",
            context=dialogue_turns(dialogue),
            references=References(long=[reference], points=sentences(reference)),
            group=f"samsum:{dialogue_id}",
            provenance={"file": path.name, "line": line, "samsum_id": dialogue_id, "reference": "system A"},
        )


DIALSUMMEVAL = Importer(
    name="dialsummeval",
    title="DialSummEval",
    domain=Domain.SUMMARISATION,
    home="human/dialsummeval",
    url="https://github.com/kite99520/DialSummEval",
    licence="none stated; the dialogues are SAMSum's, CC BY-NC-ND 4.0",
    citation="Gao and Wan, DialSummEval: Revisiting Summarization Evaluation for Dialogues, NAACL 2022",
    scale="consistency 1–5 as rated, three raters; system A is the reference and not rated here",
    read=_read,
    reads=FILE,
)

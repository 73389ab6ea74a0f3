"""SAMSum: chat dialogues with a summary; its key points are its sentences.

`train.json`, `val.json`, `test.json` (a JSON list, or JSON Lines) with `id`, `dialogue`, `summary`. Turns end in
`\\r\\n` or `\\n`, sometimes both in one file; `<file_photo>` and its like, and emoji, are kept. Ids are texts, some
with a suffix (`13728057-1`).
"""

from __future__ import annotations

from collections.abc import Iterator

from faithfuse.datasets.points import sentences, text_lines, turns
from faithfuse.datasets.ratings.base import Source, build, need
from faithfuse.datasets.schema import DialogueTurn, SourceRecord, Subset, SummaryRecord
from faithfuse.datasets.sources.base import SourceSet, origin, some_files
from faithfuse.datasets.streams import iter_json_records

LICENCE = "CC BY-NC-ND 4.0"


def _read(source: Source) -> Iterator[SourceRecord]:
    patterns = ("train.json", "val.json", "test.json", "*samsum.test.jsonl", "corpus*/*.json")
    for path in some_files(source, *patterns):
        split = next((s for s in ("train", "val", "test") if s in path.name), path.stem)
        for line, record in iter_json_records(path):
            need(record, {"id": str, "dialogue": str, "summary": str}, path, line)
            dialogue = [
                DialogueTurn(turn_id=str(number), speaker=turn.speaker, text=turn.text)
                for number, turn in enumerate(turns(text_lines(record["dialogue"])))
            ]
            summary = record["summary"].strip()
            if not dialogue or not summary:
                source.drop("sample", "empty dialogue or summary", path, line)
                continue
            if any(not turn.speaker for turn in dialogue):
                source.note("dialogues with a line that names no speaker")
            yield build(
                SummaryRecord,
                path,
                line,
                record_id=f"samsum:{record['id']}",
                source_set="samsum",
                split="dev" if split == "val" else split,
                licence=LICENCE,
                group=f"samsum:{record['id']}",
                origin=origin(source, path, line),
                dialogue=dialogue,
                summary=summary,
                key_points=sentences(summary),
            )


SAMSUM = SourceSet(
    name="samsum",
    title="SAMSum",
    subset=Subset.SUMMARISATION,
    home="raw/samsum",
    url="https://arxiv.org/abs/1911.12237",
    licence=LICENCE,
    citation="Gliwa et al., SAMSum Corpus: A Human-annotated Dialogue Dataset for Abstractive Summarization, 2019",
    read=_read,
    layout="train.json, val.json, test.json",
    no_derivatives=True,
)

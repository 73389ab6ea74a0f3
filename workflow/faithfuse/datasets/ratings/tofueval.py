"""TofuEval: topic-focused summaries of interviews and meetings by six models, judged sentence by sentence.

Source: `amazon-science/tofueval` (Tang et al., NAACL 2024). `factual_consistency/*.csv` has one row per sentence,
`completeness/*.csv` the key points of each topic (a Python list, numbered). **Evaluation only**: its authors ask
that nothing be trained on it, and `refuse_training` (in `faithfuse.datasets.ratings`) enforces that in `faithfuse fuse`
and `validate`.

Mapping: per sentence yes = 5, no = 1; the value of a summary is the mean of its sentences, which is the paper's
scheme of points. The key points are the reference. The transcripts are not in the release (ids only): put
them into `documents.jsonl` (`doc_id`, `text` with one turn a line) beside the two folders, else the items have no
context and say so.

Counts: 1,813 + 733 + 1,624 + 777 = 4,947 sentences, 1,777 summaries, 300 topics. Sentences are joined by document,
topic and model in the order of `sent_idx`; two summaries begin with sentence 2, and one has its first sentence
twice: the copy is left out. One topic has no key points, hence no reference; its summaries are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from faithfuse.datasets.points import text_lines, turns
from faithfuse.datasets.ratings.base import NO, YES, Importer, Source, build, label, need, response, short_hash
from faithfuse.datasets.ratings.haluquestqa import python_list
from faithfuse.datasets.streams import iter_json_records, iter_table
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Record, References, Turn

SETS = ("mediasum", "meetingbank")
COLUMNS = ("doc_id", "annotation_id", "topic", "model_name", "sent_idx", "summ_sent", "sent_label")

_SCALE = {"yes": YES, "no": NO}
_NUMBER = re.compile(r"^\s*\d+[.)]\s*")
_Sentences = dict[int, list[tuple[int, str, float | None]]]


def _key_points(source: Source) -> dict[tuple[str, str], list[str]]:
    points = {}
    for name in SETS:
        path = source.require(f"completeness/{name}_completeness_final.csv")
        for line, row in iter_table(path, delimiter=",", columns=("doc_id", "topic", "key_points")):
            texts = python_list(row["key_points"], path, line, "key_points")
            points[row["doc_id"], row["topic"]] = [_NUMBER.sub("", text).strip() for text in texts]
    return points


def _documents(source: Source) -> dict[str, list[Turn]]:
    path = source.find("documents.jsonl")
    if path is None:
        return {}
    documents = {}
    for line, record in iter_json_records(path):
        need(record, {"doc_id": str, "text": str}, path, line)
        documents[record["doc_id"]] = turns(text_lines(record["text"]))
    return documents


def _summaries(path: Path) -> dict[tuple[str, str, str], _Sentences]:
    summaries: dict[tuple[str, str, str], _Sentences] = {}
    for line, row in iter_table(path, delimiter=",", columns=COLUMNS):
        if not row["sent_idx"].isdecimal():
            found = f"sent_idx is {row['sent_idx']!r}, not a number"
            raise InputError(found, path=path, line=line, fix="Get the original file again.")
        likert = label(row["sent_label"], _SCALE, path, line, "sent_label")
        sentences = summaries.setdefault((row["doc_id"], row["topic"], row["model_name"]), {})
        sentences.setdefault(int(row["sent_idx"]), []).append((line, row["summ_sent"], likert))
    return summaries


def _read(source: Source) -> Iterator[Record]:
    points, documents = _key_points(source), _documents(source)
    seen: set[str] = set()
    for name in SETS:
        for split in ("dev", "test"):
            path = source.require(f"factual_consistency/{name}_factual_eval_{split}.csv")
            for (doc_id, topic, model), sentences in _summaries(path).items():
                item_id = f"tofueval:{short_hash(doc_id, topic)}"
                line = min(rows[0][0] for rows in sentences.values())
                if not points.get((doc_id, topic)):
                    source.drop("summary", "its topic has no key points, hence no reference", path, line)
                    for row in (row for rows in sentences.values() for row in rows):
                        source.drop("sentence", "its topic has no key points, hence no reference", path, row[0])
                    continue
                if item_id not in seen:
                    seen.add(item_id)
                    yield _item(source, item_id, doc_id, topic, split, points, documents, path, line)
                if min(sentences) != 1:
                    source.note("summaries whose first sentence is missing")
                kept: list[tuple[int, str, float | None]] = []
                for index in sorted(sentences):
                    for place, row in enumerate(sentences[index]):
                        if place and row[1:] == sentences[index][0][1:]:
                            source.drop("sentence", "it is there twice", path, row[0])
                        else:
                            if place:
                                source.note("sentences that share a number with another one, both kept")
                            kept.append(row)
                texts = [text.strip() for _, text, _ in kept]
                yield response(path, line, item_id, model, " ".join(texts), points=texts)
                for place, (row_line, _, likert) in enumerate(kept):
                    yield build(
                        Rating,
                        path,
                        row_line,
                        item_id=item_id,
                        system=model,
                        annotator="person",
                        point=place,
                        likert=likert,
                    )


def _item(
    source: Source,
    item_id: str,
    doc_id: str,
    topic: str,
    split: str,
    points: dict[tuple[str, str], list[str]],
    documents: dict[str, list[Turn]],
    path: Path,
    line: int,
) -> Item:
    provenance = {"file": path.name, "line": line, "doc_id": doc_id, "split": split, "use": "evaluation only"}
    if doc_id not in documents:
        provenance["context_missing"] = "the release has the transcript's id only"
        source.note("items without their transcript")
    return build(
        Item,
        path,
        line,
        item_id=item_id,
        domain=Domain.SUMMARISATION,
        source_set="tofueval",
        question=topic,
        context=documents.get(doc_id, []),
        references=References(points=points[doc_id, topic]),
        group=f"tofueval:{doc_id}",
        provenance=provenance,
    )


TOFUEVAL = Importer(
    name="tofueval",
    title="TofuEval",
    domain=Domain.SUMMARISATION,
    home="human/tofueval",
    url="https://github.com/amazon-science/tofueval",
    licence="MIT-0; transcripts (not included) on their own terms; evaluation only, by its authors' wish",
    citation="Tang et al., TofuEval: Evaluating Hallucinations of LLMs on Topic-Focused Dialogue Summarization, "
    "NAACL 2024",
    scale="per sentence yes = 5, no = 1; a summary has the mean of its sentences; the key points are the reference",
    read=_read,
    stratum=lambda item: f"{item.provenance['file']}",
    evaluation_only=True,
    reads="factual_consistency/*.csv, completeness/*.csv; documents.jsonl for the transcripts",
)

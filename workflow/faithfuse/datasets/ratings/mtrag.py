"""MTRAG: answers of two systems in document-grounded conversations, rated by two or three people.

Source: `IBM/mt-rag-benchmark`, `reference_subset_with_human_evaluations.json` (Katsis et al., 2025). One object:
`documents`, `tasks` (the conversation up to a question, the documents to answer from, the target) and
`evaluations` (three per task: the reference itself, llama-3.1-405b-instruct, gpt-4o).

Mapping: per rater v = `faithfulness`, written as "1" to "4": Likert = 1 + 4 (v - 1) / 3, so Likert >= 3 is
v >= 2.5. The target is the reference; the evaluations of "reference", which are of the target itself, are left out
and counted. An item's context is its documents (speaker `Document`, or `Document: title`), then the turns before
the question; an item of one turn without documents has none.

Counts: 159 tasks of 20 conversations, 477 evaluations, 9 tasks without documents, 12 evaluations with two raters.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faithfuse.datasets.ratings.base import Importer, Source, build, label, need, response
from faithfuse.datasets.streams import iter_json_object
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Record, References, Turn

FILE = "reference_subset_with_human_evaluations.json"
REFERENCE = "reference"

_TURN = {"speaker": str, "text": str}
_TASK = {
    "task_id": str,
    "input": [_TURN],
    "contexts": [{"document_id": str}],
    "targets": [_TURN],
    "Answerability": list,
    "Collection": str,
    "Turn": (str, int),
}
_EVALUATION = {"task_id": str, "model_id": str, "model_response": object, "annotations": dict}
_SCALE = {str(v): 1 + 4 * (v - 1) / 3 for v in (1, 2, 3, 4)}


def item_id(task_id: str) -> str:
    """The id of a task's item: `<::>` between conversation and turn becomes a colon."""
    return f"mtrag:{task_id.replace('<::>', ':')}"


def _whole_number(value: str | int, path: Path, task_id: str) -> int:
    if not str(value).isdecimal():
        found = f"Turn is {value!r:.20}, not a whole number"
        raise InputError(found, path=path, record=task_id, fix="Get the original file again.")
    return int(value)


def _item(source: Source, task: dict[str, Any], documents: dict[str, dict], line: int) -> Item:
    path = source.files[0]
    need(task, _TASK, path, line)
    unknown = [c["document_id"] for c in task["contexts"] if c["document_id"] not in documents]
    if unknown or len(task["targets"]) != 1 or not task["input"]:
        raise InputError(
            f"names the document {unknown[0]!r}, which is not there"
            if unknown
            else f"has {len(task['targets'])} targets and {len(task['input'])} turns instead of one and at least one",
            path=path,
            record=task["task_id"],
            fix="Get the original file again.",
        )
    context = []
    for reference in task["contexts"]:
        document = documents[reference["document_id"]]
        title = (document.get("title") or "").strip()
        context.append(Turn(speaker=f"Document: {title}" if title else "Document", text=document["text"]))
    context += [Turn(speaker=turn["speaker"], text=turn["text"]) for turn in task["input"][:-1]]
    provenance = {
        "file": path.name,
        "task_id": task["task_id"],
        "turn": _whole_number(task["Turn"], path, task["task_id"]),
        "answerability": task["Answerability"],
        "collection": task["Collection"],
    }
    if not task["contexts"]:
        source.note("items without documents")
    if not context:
        provenance["context_missing"] = "the first turn of a conversation, with no document to answer from"
        source.note("items without any context")
    return build(
        Item,
        path,
        task["task_id"],
        item_id=item_id(task["task_id"]),
        domain=Domain.CONVERSATIONAL_QA,
        source_set="mtrag",
        question=task["input"][-1]["text"],
        context=context,
        references=References(long=[task["targets"][0]["text"]]),
        group=f"mtrag:{task['task_id'].partition('<::>')[0]}",
        provenance=provenance,
    )


def _read(source: Source) -> Iterator[Record]:
    path = source.require(FILE)
    parts: dict[str, tuple[int, Any]] = {key: (line, value) for line, key, value in iter_json_object(path)}
    need(
        {key: value for key, (_, value) in parts.items()},
        {"documents": [{"document_id": str, "text": str, "title?": (str, None)}], "tasks": list, "evaluations": list},
        path,
        1,
    )
    documents = {document["document_id"]: document for document in parts["documents"][1]}
    line = parts["tasks"][0]
    for task in parts["tasks"][1]:
        yield _item(source, task, documents, line)
    line = parts["evaluations"][0]
    for evaluation in parts["evaluations"][1]:
        need(evaluation, _EVALUATION, path, line)
        place = f"{evaluation['task_id']} {evaluation['model_id']}"
        if evaluation["model_id"] == REFERENCE:
            source.drop("response", "it is the target itself", path, place)
            continue
        name, system = item_id(evaluation["task_id"]), evaluation["model_id"]
        yield response(path, line, name, system, evaluation["model_response"])
        raters = need(evaluation["annotations"], {"faithfulness": dict}, path, place)["faithfulness"]
        source.note(f"responses rated by {len(raters)} people")
        for rater, rating in raters.items():
            need(rating, {"value": object}, path, f"{place} {rater}")
            likert = label(rating["value"], _SCALE, path, line, f"faithfulness of {place} by {rater}")
            yield build(Rating, path, place, item_id=name, system=system, annotator=rater, likert=likert)


MTRAG = Importer(
    name="mtrag",
    title="MTRAG",
    domain=Domain.CONVERSATIONAL_QA,
    home="human/mtrag",
    url="https://github.com/IBM/mt-rag-benchmark",
    licence="Apache-2.0",
    citation="Katsis et al., MTRAG: A Multi-Turn Conversational Benchmark for Evaluating RAG Systems, 2025",
    scale='faithfulness v of "1"–"4" per rater: 1 + 4 (v - 1) / 3',
    read=_read,
    stratum=lambda item: " ".join(item.provenance["answerability"]),
    reads=FILE,
)

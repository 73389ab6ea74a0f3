"""HaluQuestQA: a person's and a model's answer to each question, errors marked by experts.

Source: `UKPLab/arxiv2024-lfqa-hallucination` (Sachdeva et al., 2024). `HaluQuestQA.csv` is separated by tabs,
whatever its name says; cells hold newlines and lists written as Python literals. Which of the two answers is the
model's stands in `ans1_label` and `ans2_label` of every row.

Mapping: the person's answer is the reference, the model's the response, with Likert = 1 + 4 x
`factuality_model_score` (0–1: the share of its sentences without a factual error). The spans that the expert marked
as wrong in the model's answer are kept in the item's provenance.

Counts: 698 questions of 7 fields. One `factuality_human_score` is -1.0; it is not used here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from faithfuse.datasets.ratings.base import Importer, Source, build, question_group, response, short_hash
from faithfuse.datasets.streams import iter_table
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Record, References

FILE = "HaluQuestQA.csv"
COLUMNS = (
    "annotator",
    "question_text",
    "ans1_text",
    "ans2_text",
    "ans1_label",
    "ans2_label",
    "category",
    "factuality_span",
    "factuality_label",
    "factuality_model_score",
)


def python_list(cell: str, path: Path, line: int, column: str) -> list[str]:
    """A cell that holds a list of texts as a Python literal; an empty cell is an empty list.

    Raises:
        InputError: it holds something else.
    """
    if not cell.strip():
        return []
    try:
        value = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise InputError(
            f"{column} is no list of texts in Python's notation, found {cell!r:.60}",
            path=path,
            line=line,
            fix="Get the original file again.",
        )
    return value


def _score(row: dict[str, str], path: Path, line: int) -> float | None:
    cell = row["factuality_model_score"].strip()
    if not cell:
        return None
    try:
        score = float(cell)
    except ValueError:
        score = -1.0
    if not 0 <= score <= 1:
        raise InputError(
            f"factuality_model_score is {cell!r:.20}, not a number from 0 to 1",
            path=path,
            line=line,
            fix="Get the original file again.",
        )
    return 1 + 4 * score


def _read(source: Source) -> Iterator[Record]:
    path = source.require(FILE)
    for line, row in iter_table(path, delimiter="\t", columns=COLUMNS):
        labels = (row["ans1_label"], row["ans2_label"])
        if set(labels) != {"human_answer", "model_answer"}:
            raise InputError(
                f"labels its answers {labels[0]!r} and {labels[1]!r}, not human_answer and model_answer",
                path=path,
                line=line,
                fix="Get the original file again.",
            )
        model = 1 + labels.index("model_answer")
        person = 3 - model
        spans = python_list(row["factuality_span"], path, line, "factuality_span")
        whose = python_list(row["factuality_label"], path, line, "factuality_label")
        if len(spans) != len(whose):
            source.note("rows whose marked spans and their answers differ in number; spans not kept")
            spans = whose = []
        item_id = f"haluquestqa:{short_hash(row['question_text'])}"
        yield build(
            Item,
            path,
            line,
            item_id=item_id,
            domain=Domain.LONG_FORM_QA,
            source_set="haluquestqa",
            question=row["question_text"].strip(),
            references=References(long=[row[f"ans{person}_text"]]),
            group=question_group(row["question_text"]),
            provenance={
                "file": path.name,
                "line": line,
                "category": row["category"],
                "factual_error_spans": [
                    span for span, answer in zip(spans, whose, strict=True) if answer == f"answer{model}"
                ],
            },
        )
        yield response(path, line, item_id, "model", row[f"ans{model}_text"])
        yield build(
            Rating,
            path,
            line,
            item_id=item_id,
            system="model",
            annotator=row["annotator"],
            likert=_score(row, path, line),
        )


HALUQUESTQA = Importer(
    name="haluquestqa",
    title="HaluQuestQA",
    domain=Domain.LONG_FORM_QA,
    home="human/haluquestqa",
    url="https://github.com/UKPLab/arxiv2024-lfqa-hallucination",
    licence="Apache-2.0",
    citation="Sachdeva et al., Localizing and Mitigating Errors in Long-form Question Answering, 2024",
    scale="1 + 4 x factuality_model_score (0–1) of one expert; the person's answer is the reference",
    read=_read,
    stratum=lambda item: str(item.provenance["category"]),
    reads=FILE,
)

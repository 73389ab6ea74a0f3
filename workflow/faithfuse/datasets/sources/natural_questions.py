"""Natural Questions, simplified and full format, with the filters of arXiv 2512.05700, section III-E.

One record a line (or one over many lines), `.jsonl`, `.json` or `.gz`. Simplified: `document_text` is cut at single
blanks into tokens, HTML tags among them. Full: `document_tokens` with `html_token`. Offsets are token offsets.

A sample is kept when

* all annotators give the same long answer, or only one gives any (docs/decisions/0600-nq-agreement.md);
* a ground truth without HTML is left. A long answer is a paragraph (its own `<P>` … `</P>` does not count); one
  with any other tag (a table, a list) is removed, and so is a short answer with a tag.

All short answers of all annotators are kept, and a yes or no. Quotation marks that the tokeniser wrote as two
back-ticks or two apostrophes become `"`; tokens are joined by blanks.

Faults handled: `example_id` is an integer or a string, and may be negative; the test file has no `annotations`; no
long answer is `candidate_index` -1; offsets count single blanks, so runs of blanks give empty tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faithfuse.datasets.ratings.base import Source, build, need, question_group
from faithfuse.datasets.schema import QaRecord, SourceRecord, Subset
from faithfuse.datasets.sources.base import SourceSet, origin, some_files
from faithfuse.datasets.streams import iter_json_records
from faithfuse.errors import InputError

LICENCE = "CC BY-SA 3.0"

_SPAN = {"start_token": int, "end_token": int}
_ANNOTATIONS = [{"long_answer": {"candidate_index": int, **_SPAN}, "short_answers": [_SPAN], "yes_no_answer": str}]
_SIMPLIFIED = {"annotations": _ANNOTATIONS, "document_text": str}
_FULL = {"annotations": _ANNOTATIONS, "document_tokens": [{"token": str, "html_token": bool}]}
_TAG = re.compile(r"</?[A-Za-z][^<>\s]*>|<[A-Za-z][\w-]*_[^<>]*>")
_QUOTES = {"``": '"', "''": '"'}


def tokens(record: dict[str, Any]) -> list[tuple[str, bool]]:
    """The document as (token, is an HTML tag), in either format."""
    if "document_tokens" in record:
        return [(token["token"], token["html_token"]) for token in record["document_tokens"]]
    return [(token, bool(_TAG.fullmatch(token))) for token in record["document_text"].split(" ")]


def text_of(span: list[tuple[str, bool]]) -> str | None:
    """The text of an answer, or None if it holds HTML beyond the paragraph's own tags."""
    if span and span[0][1] and span[0][0].lower() == "<p>":
        span = span[1:]
        if span and span[-1][1] and span[-1][0].lower() == "</p>":
            span = span[:-1]
    if any(is_tag for _, is_tag in span):
        return None
    return " ".join(_QUOTES.get(token, token) for token, _ in span if token)


def _cut(document: list[tuple[str, bool]], answer: dict[str, int], path: Path, line: int) -> list:
    start, end = answer["start_token"], answer["end_token"]
    if not 0 <= start < end <= len(document):
        raise InputError(
            f"has an answer at tokens {start} to {end} of {len(document)}",
            path=path,
            line=line,
            fix="Get the original file again.",
        )
    return document[start:end]


def _record(source: Source, record: dict[str, Any], path: Path, line: int) -> QaRecord | None:
    annotations = record["annotations"]
    given = [
        (a["long_answer"]["start_token"], a["long_answer"]["end_token"])
        for a in annotations
        if a["long_answer"]["candidate_index"] != -1
    ]
    if not given:
        source.drop("sample", "no long answer", path, line)
        return None
    if len(set(given)) > 1:
        source.drop("sample", "several long answers", path, line)
        return None
    if 1 < len(given) < len(annotations):
        source.drop("sample", "some annotators, but not all, give a long answer", path, line)
        return None
    document = tokens(record)
    long_answer = text_of(_cut(document, {"start_token": given[0][0], "end_token": given[0][1]}, path, line))
    if long_answer is None:
        source.drop("long answer", "HTML (a table, a list)", path, line)
    short: dict[str, None] = {}
    for annotation in annotations:
        if annotation["yes_no_answer"] not in ("NONE", ""):
            short[annotation["yes_no_answer"].lower()] = None
        for answer in annotation["short_answers"]:
            text = text_of(_cut(document, answer, path, line))
            if text is None:
                source.drop("short answer", "HTML (a table, a list)", path, line)
            elif text:
                short[text] = None
    if not long_answer and not short:
        source.drop("sample", "no ground truth without HTML", path, line)
        return None
    return build(
        QaRecord,
        path,
        line,
        record_id=f"natural_questions:{int(record['example_id'])}",
        source_set="natural_questions",
        split=_split(path),
        licence=LICENCE,
        group=question_group(record["question_text"]),
        origin=origin(source, path, line),
        question=record["question_text"],
        short_answers=list(short),
        long_answers=[long_answer] if long_answer else [],
    )


def _split(path: Path) -> str | None:
    return next((split for split in ("train", "dev", "test") if split in path.name), None)


def _read(source: Source) -> Iterator[SourceRecord]:
    for path in some_files(
        source,
        "simplified/*.jsonl*",
        "full_and_heads/*.json",
        "*nq-train*.jsonl*",
        "*nq-dev*.jsonl*",
        "nq-*-sample.jsonl*",
    ):
        for line, record in iter_json_records(path):
            need(record, {"example_id": (int, str), "question_text": str}, path, line)
            if "annotations" not in record:
                source.drop("sample", "no annotations (a test file)", path, line)
                continue
            need(record, _FULL if "document_tokens" in record else _SIMPLIFIED, path, line)
            if not re.fullmatch(r"-?\d+", str(record["example_id"])):
                found = f"example_id is {record['example_id']!r:.40}, not a whole number"
                raise InputError(found, path=path, line=line, fix="Get the original file again.")
            kept = _record(source, record, path, line)
            if kept is not None:
                yield kept


NATURAL_QUESTIONS = SourceSet(
    name="natural_questions",
    title="Natural Questions",
    subset=Subset.QUESTION_ANSWERING,
    home="raw/natural_questions",
    url="https://ai.google.com/research/NaturalQuestions",
    licence=LICENCE,
    citation="Kwiatkowski et al., Natural Questions: A Benchmark for Question Answering Research, TACL 2019",
    read=_read,
    layout="v1.0-simplified_nq-*.jsonl(.gz), nq-dev-*.jsonl.gz, nq-train-*.jsonl.gz",
    untested="only single records of both formats were at hand, not the released files",
)

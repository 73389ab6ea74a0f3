"""QAConv: questions on dialogues of several speakers.

Questions are in `trn.json`, `val.json`, `tst.json`; their dialogues in `article_segment.json`, an object of
`prev_ctx` and `seg_dialog` (turns of `id`, `speaker`, `text`) per segment. Answers carry no positions: every
occurrence in the segment's own turns is located here (case as it stands; else without regard to case), and an answer
that is found nowhere is counted. Empty `answers` is unanswerable. `sources` is the segment id, then the ids of the
whole articles (which misspell `newsdial` as `newsidal`; left as they are).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from faithfuse.datasets.ratings.base import Source, build, need
from faithfuse.datasets.schema import AnswerSpan, ConversationalQaRecord, DialogueTurn, SourceRecord, Subset
from faithfuse.datasets.sources.base import SourceSet, files, origin, some_files
from faithfuse.datasets.streams import iter_json_object, iter_json_records

LICENCE = "BSD-3-Clause"

_QUESTION = {
    "id": str,
    "article_segment_id": str,
    "article_full_id": [str],
    "QG": bool,
    "question": str,
    "answers": [str],
}


def locate(answer: str, dialogue: Sequence[DialogueTurn]) -> list[AnswerSpan]:
    """Every occurrence of an answer in the turns: as written, or if there is none, in any case."""
    for fold in (str, str.lower):
        found = []
        wanted = fold(answer)
        for turn in dialogue:
            text = fold(turn.text)
            if not wanted or len(text) != len(turn.text):
                continue
            start = text.find(wanted)
            while start != -1:
                found.append(AnswerSpan(answer=answer, turn_id=turn.turn_id, start=start, end=start + len(wanted)))
                start = text.find(wanted, start + len(wanted))
        if found:
            return found
    return []


def _turns(original: list[dict[str, str]], path: Path, line: int) -> list[DialogueTurn]:
    return [
        build(DialogueTurn, path, line, turn_id=turn["id"], speaker=turn["speaker"], text=turn["text"])
        for turn in (need(turn, {"id": str, "speaker": str, "text": str}, path, line) for turn in original)
    ]


def _record(
    source: Source, segment: dict[str, Any], question: dict[str, Any], path: Path, line: int, split: str
) -> ConversationalQaRecord:
    dialogue = _turns(segment["seg_dialog"], path, line)
    spans: list[AnswerSpan] = []
    for answer in question["answers"]:
        located = locate(answer, dialogue)
        if not located:
            source.note("answers found nowhere in their dialogue (no span)")
        spans += located
    if not question["answers"]:
        source.note("unanswerable questions")
    return build(
        ConversationalQaRecord,
        path,
        line,
        record_id=f"qaconv:{question['id']}",
        source_set="qaconv",
        split=split,
        licence=LICENCE,
        group=f"qaconv:{question['article_segment_id']}",
        origin=question["origin"],
        question=question["question"],
        answerable=bool(question["answers"]),
        answers=question["answers"],
        answer_spans=spans,
        dialogue=dialogue,
        previous_turns=_turns(segment.get("prev_ctx") or [], path, line),
        sources=[question["article_segment_id"], *question["article_full_id"]],
        machine_written=question["QG"],
    )


def _read(source: Source) -> Iterator[SourceRecord]:
    waiting: dict[str, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
    places: dict[str, tuple[Path, int]] = {}
    for path in some_files(source, "QAConv-V1.1/*.json", "t[rs][nt].json", "val.json"):
        for line, question in iter_json_records(path):
            need(question, _QUESTION, path, line)
            if question["id"] in places:
                source.drop("question", "the id is there already", path, line)
                continue
            places[question["id"]] = (path, line)
            question["origin"] = origin(source, path, line)
            split = {"trn": "train", "val": "dev", "tst": "test"}.get(path.name[:3], path.stem)
            waiting[question["article_segment_id"]].append((split, question))
    segments = files(source, "article_segment.json") or files(source, "*/article_segment.json")
    for path in segments:
        for line, segment_id, segment in iter_json_object(path):
            for split, question in waiting.pop(segment_id, []):
                need(segment, {"seg_dialog": list, "prev_ctx?": (list, None)}, path, line)
                yield _record(source, segment, question, path, line, split)
    for questions in waiting.values():
        for _, question in questions:
            path, line = places[question["id"]]
            source.drop("question", "its dialogue is not in article_segment.json", path, line)


QACONV = SourceSet(
    name="qaconv",
    title="QAConv",
    subset=Subset.CONVERSATIONAL_QA,
    home="raw/qaconv",
    url="https://github.com/salesforce/QAConv",
    licence=LICENCE,
    citation="Wu et al., QAConv: Question Answering on Informative Conversations, ACL 2022",
    read=_read,
    layout="trn.json, val.json, tst.json and article_segment.json",
    untested="one segment of article_segment.json was at hand",
)

"""EVOUNA: answers of five systems to open-domain questions, each judged right or wrong by one person.

Source: `wangcunxiang/QA-Eval`, folder `EVOUNA` (Wang et al., 2023, "Evaluating Open-QA Evaluation"). One JSON
list per source of questions; a record has `question`, `golden_answer` (aliases joined by `/`), `improper`, and
for each system `answer_SYSTEM` and `judge_SYSTEM`.

Mapping: judged true = 5, false = 1; null and the string "nan" (truthy, so never tested for truth) = abstain.
An item marked `improper` (unfit for judging) is dropped with all its judgements, whether or not it carries any.

Counts: NQ 3,610 records, 590 improper, 3,020 items; TQ 1,000 of the published 2,000 records, 39 improper.

Two faults of the published NQ file:

* Aliases are joined by the character that some of them hold ("1,228 km/h"). The lists they were joined from are
  those of NQ-open's development set; where that file lies beside this set (`NQ-open.dev.jsonl`) the aliases
  are taken from it, and without it the joined text is split by a rule: a slash beside a blank, and one before
  a unit of time that follows a number or unit, separates nothing. The rule cannot know "GNU/Linux".
* The letters "nan" were replaced by "null" everywhere ("finullcial", "Walter Brennull"). `--repair` puts
  them back inside words; words that are spelt with "null" (annulled, nullify) are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from faithfuse.datasets.ratings.base import NO, YES, Importer, Source, build, label, need, question_group, response
from faithfuse.datasets.streams import iter_json_array
from faithfuse.records import Domain, Item, Rating, Record, References, iter_json_lines

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")

# The labels are checked against the scale, the answers where they become responses.
_SHAPE = {f"{field}_{system}": object for system in SYSTEMS for field in ("answer", "judge")}
_SHAPE |= {"question": str, "golden_answer": (str, None), "improper": bool}
_SCALE = {True: YES, False: NO, None: None, "nan": None}

_UNIT_RATE = re.compile(r"(?:\d|bit|byte|[mk]|km|mi|miles?|[gl]|liters?|rev)$", re.IGNORECASE)
_UNIT_TIME = re.compile(r"(?:h|hr|hour|s|sec|second|min|minute|day|year|yr)\b(?!\w)", re.IGNORECASE)
_DAMAGED = re.compile(r"\b\w*null\w*\b", re.IGNORECASE)
_SPELT_WITH_NULL = re.compile(r"(?:dis)?(?:an)?null(?:s|ed|ing|if\w*|it\w*|ment\w*|ary)?", re.IGNORECASE)


def split_aliases(joined: str) -> list[str]:
    """Split a gold answer at the slashes that separate aliases (a rule; see the module).

    >>> split_aliases("Gatiman/160km/hour/Mumbai Rajdhani Express")
    ['Gatiman', '160km/hour', 'Mumbai Rajdhani Express']
    >>> split_aliases("Cymru / Wales/Wales")
    ['Cymru / Wales', 'Wales']
    """
    pieces, start = [], 0
    for match in re.finditer("/", joined):
        before, after = joined[start : match.start()], joined[match.end() :]
        beside_blank = before[-1:].isspace() or after[:1].isspace()
        rate = any(character.isdigit() for character in before) and _UNIT_RATE.search(before)
        if not before or not after or beside_blank or (rate and _UNIT_TIME.match(after)):
            continue
        pieces.append(before)
        start = match.end()
    pieces.append(joined[start:])
    return list(dict.fromkeys(piece.strip() for piece in pieces if piece.strip()))


def is_damaged(word: str) -> bool:
    """Whether a word holds "null" where "nan" was replaced by it.

    >>> [is_damaged(word) for word in ("finullcial", "Brennull", "annulled", "nullify", "null")]
    [True, True, False, False, False]
    """
    return "null" in word.lower() and not _SPELT_WITH_NULL.fullmatch(word)


def undo_damage(text: str) -> str:
    """Put "nan" back where it was replaced by "null" inside a word.

    >>> undo_damage("the finullcial crisis of annulled debts")
    'the financial crisis of annulled debts'
    """
    return _DAMAGED.sub(lambda match: match[0].replace("null", "nan") if is_damaged(match[0]) else match[0], text)


def _nq_open(source: Source) -> dict[str, list[list[str]]]:
    """NQ-open's alias lists by the text they give when joined, for the questions of the development set."""
    path = source.find(
        "NQ-open.dev.jsonl",
        "nq_open/NQ-open.dev.jsonl",
        "raw/natural_questions/nq_open/NQ-open.dev.jsonl",
        "../../raw/natural_questions/nq_open/NQ-open.dev.jsonl",
    )
    lists: dict[str, list[list[str]]] = {}
    if path is not None:
        for number, record in iter_json_lines(path):
            need(record, {"question": str, "answer": [str]}, path, number)
            lists.setdefault(record["question"], []).append(record["answer"])
    return lists


def _read(source: Source, *, set_name: str, file: str) -> Iterator[Record]:
    path = source.require(file)
    known = _nq_open(source) if set_name == "evouna_nq" else {}
    for number, (line, record) in enumerate(iter_json_array(path), start=1):
        need(record, _SHAPE, path, line)
        judgements = {s: label(record[f"judge_{s}"], _SCALE, path, line, f"judge_{s}") for s in SYSTEMS}
        if label(record["improper"], {True: YES, False: NO}, path, line, "improper") == YES:
            carried = any(value is not None for value in judgements.values())
            reason = "marked improper, though it carries a judgement" if carried else "marked improper"
            source.drop("item", reason, path, line)
            continue
        if not (record["golden_answer"] or "").strip():
            source.drop("item", "no golden answer", path, line)
            continue
        yield from _records(source, record, judgements, known, path, line, f"{set_name}:{number:04d}", set_name)


def _records(
    source: Source,
    record: dict[str, Any],
    judgements: dict[str, float | None],
    known: dict[str, list[list[str]]],
    path: Path,
    line: int,
    item_id: str,
    set_name: str,
) -> Iterator[Record]:
    question, gold = record["question"], record["golden_answer"]
    answers = {system: record[f"answer_{system}"] for system in SYSTEMS}
    mended = undo_damage(question)
    exact = next((a for a in known.get(mended, []) if "/".join(a) in (gold, undo_damage(gold))), None)
    damaged = [t for t in (question, gold, *answers.values()) if isinstance(t, str) and undo_damage(t) != t]
    if damaged:
        source.note(
            'texts with "nan" replaced by "null" inside a word' + (", mended" if source.repair else ""), len(damaged)
        )
    if source.repair:
        question, gold = mended, undo_damage(gold)
        answers = {s: undo_damage(text) if isinstance(text, str) else text for s, text in answers.items()}
    if exact is not None:
        short = list(dict.fromkeys(alias.strip() for alias in exact if alias.strip()))
        if "/" in gold:
            source.note("golden answers with a slash whose aliases are NQ-open's own list")
    else:
        short = split_aliases(gold)
        if "/" in gold:
            source.note("golden answers with a slash that were split by rule")
    yield build(
        Item,
        path,
        line,
        item_id=item_id,
        domain=Domain.SHORT_FORM_QA,
        source_set=set_name,
        question=question,
        references=References(short=short),
        group=question_group(mended),
        provenance={"file": path.name, "line": line},
    )
    for system in SYSTEMS:
        yield response(path, line, item_id, system, answers[system])
        if judgements[system] is None:
            source.note(f"unjudged answers of items that are fit ({system})")
        yield build(Rating, path, line, item_id=item_id, system=system, annotator="person", likert=judgements[system])


_SHARED = {
    "domain": Domain.SHORT_FORM_QA,
    "home": "human/evouna",
    "url": "https://github.com/wangcunxiang/QA-Eval",
    "licence": "Apache-2.0",
    "citation": "Wang et al., Evaluating Open-QA Evaluation, NeurIPS 2023 Datasets and Benchmarks",
    "scale": 'judged true = 5, false = 1; null, "nan" = abstain; improper items are left out',
}

NQ = Importer(
    name="evouna_nq",
    title="EVOUNA, Natural Questions",
    read=partial(_read, set_name="evouna_nq", file="NQ.json"),
    reads="NQ.json; NQ-open.dev.jsonl beside it gives the aliases exactly",
    **_SHARED,
)
TQ = Importer(
    name="evouna_tq",
    title="EVOUNA, TriviaQA",
    read=partial(_read, set_name="evouna_tq", file="TQ.json"),
    reads="TQ.json",
    **_SHARED,
)

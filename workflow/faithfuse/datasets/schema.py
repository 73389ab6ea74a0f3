"""The schema of the cross-domain data set: one kind of record per subset (arXiv 2512.05700, section III).

The task-oriented subset follows MultiWOZ 2.2 (dialogue, turns, frames with spans and state). What the sets say of
acts differs most, so acts, slots and slot values are lists that correspond by index (the paper's Figure 1): the
slots of `acts[i]` are `act_slots[i]`, and the values of `act_slots[i][j]` are `act_slot_values[i][j]`. Nothing of an
original turn is lost: what the schema has no field for is kept as JSON in `extra`.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import Field

from faithfuse.records import Domain, Item, Record, References, Turn


class Subset(StrEnum):
    """The four parts of the data set."""

    QUESTION_ANSWERING = "question_answering"
    CONVERSATIONAL_QA = "conversational_qa"
    SUMMARISATION = "dialogue_summarisation"
    TASK_ORIENTED = "task_oriented"


class SourceRecord(Record):
    """What all records of the data set carry.

    `record_id` is `set:id`; `group` is the leakage key; `origin` names the file and place in it, as JSON text.
    """

    subset: ClassVar[Subset]

    record_id: str = Field(min_length=1)
    source_set: str = Field(min_length=1)
    split: str | None = None
    licence: str
    group: str = Field(min_length=1)
    origin: str

    def sort_key(self) -> tuple:
        return (self.record_id,)

    def stratum(self) -> str:
        """What a draw keeps in proportion within a set."""
        return ""

    @abstractmethod
    def duplicate_text(self) -> str:
        """The text by which two records are the same, before case and punctuation are dropped."""

    @abstractmethod
    def items(self) -> list[Item]:
        """The record as items of the workflow."""

    def _item(self, suffix: str, domain: Domain, **fields: Any) -> Item:
        return Item(
            item_id=self.record_id + suffix,
            domain=domain,
            source_set=self.source_set,
            group=self.group,
            provenance={
                "licence": self.licence,
                "split": self.split,
                "origin": json.loads(self.origin),
                **self._further_provenance(),
            },
            **fields,
        )

    def _further_provenance(self) -> dict[str, Any]:
        """What an item keeps of its record beyond licence, split and origin."""
        return {}


class Fact(Record):
    """A fact tuple of PopQA: names, and the ids that PopQA gives them."""

    subject: str
    relation: str
    object: str
    subject_id: str
    relation_id: str
    object_id: str


class QaRecord(SourceRecord):
    """A question with all its short and long answers."""

    subset = Subset.QUESTION_ANSWERING

    question: str
    short_answers: list[str]
    long_answers: list[str]
    fact: Fact | None = None

    def stratum(self) -> str:
        if self.fact is not None:
            return self.fact.relation
        return f"{bool(self.short_answers)} {bool(self.long_answers)}"

    def duplicate_text(self) -> str:
        return self.question

    def _further_provenance(self) -> dict[str, Any]:
        if self.fact is None:
            return {}
        return {"fact_tuple": [self.fact.subject, self.fact.relation, self.fact.object]}

    def items(self) -> list[Item]:
        found = []
        references = References(short=self.short_answers, long=self.long_answers)
        if self.short_answers:
            found.append(self._item(":short", Domain.SHORT_FORM_QA, question=self.question, references=references))
        if self.long_answers:
            found.append(self._item(":long", Domain.LONG_FORM_QA, question=self.question, references=references))
        return found


class DialogueTurn(Record):
    """One turn with the id that its set gives it."""

    turn_id: str
    speaker: str
    text: str


class AnswerSpan(Record):
    """Where an answer stands: turn, and zero-based character offsets in the turn's text, end exclusive."""

    answer: str
    turn_id: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)


UNANSWERABLE = "unanswerable"
"""The gold answer of a question without one, as QAConv's own evaluation has it."""


class ConversationalQaRecord(SourceRecord):
    """A question on a dialogue; an unanswerable one has no answers."""

    subset = Subset.CONVERSATIONAL_QA

    question: str
    answerable: bool
    answers: list[str]
    answer_spans: list[AnswerSpan]
    dialogue: list[DialogueTurn]
    previous_turns: list[DialogueTurn]
    sources: list[str]
    machine_written: bool

    def stratum(self) -> str:
        return f"{self.sources[0].split('-')[0]} {self.answerable}"

    def duplicate_text(self) -> str:
        return f"{self.sources[0]} {self.question}"

    def items(self) -> list[Item]:
        references = References(short=self.answers if self.answerable else [UNANSWERABLE])
        context = [Turn(speaker=turn.speaker, text=turn.text) for turn in self.dialogue]
        return [
            self._item(
                "",
                Domain.CONVERSATIONAL_QA,
                question=self.question,
                context=context,
                references=references,
            )
        ]


class SummaryRecord(SourceRecord):
    """A dialogue, its summary, and the summary's key points (its sentences)."""

    subset = Subset.SUMMARISATION

    dialogue: list[DialogueTurn]
    summary: str
    key_points: list[str]

    def stratum(self) -> str:
        return "two speakers" if len({turn.speaker for turn in self.dialogue}) <= 2 else "more speakers"

    def duplicate_text(self) -> str:
        return " ".join(turn.text for turn in self.dialogue)

    def items(self) -> list[Item]:
        context = [Turn(speaker=turn.speaker, text=turn.text) for turn in self.dialogue]
        references = References(long=[self.summary], points=self.key_points)
        return [self._item("", Domain.SUMMARISATION, context=context, references=references)]


class SlotSpan(Record):
    """Where a slot's value stands in the utterance; offsets as the set gives them, end exclusive."""

    slot: str
    value: str | None = None
    start: int | None = None
    exclusive_end: int | None = None
    extra: str | None = Field(default=None, description="further members of the original span, as JSON")


class SlotValues(Record):
    """A slot and the alternatives for its value."""

    slot: str
    values: list[str]


class State(Record):
    """The dialogue state of one service after a turn."""

    active_intent: str
    requested_slots: list[str]
    slot_values: list[SlotValues]


class Frame(Record):
    """What a turn says with regard to one service."""

    service: str
    slots: list[SlotSpan]
    state: State | None = None
    extra: str | None = Field(default=None, description="further members of the original frame, as JSON")


class TodTurn(Record):
    """A turn of a task-oriented dialogue; acts, slots and values correspond by index (Figure 1).

    `act_frames[i]` is the frame (by index) that `acts[i]` belongs to, null where the set gives acts for the whole
    turn. `act_positions[i][j]` is the place of the pair among the original turn's acts, so that their order can be
    restored. `act_slots[i][j]` is null where the original names no slot.
    """

    turn_id: str
    speaker: str
    utterance: str
    acts: list[str]
    act_frames: list[int | None]
    act_slots: list[list[str | None]]
    act_slot_values: list[list[list[str]]]
    act_canonical_values: list[list[list[str]]]
    act_positions: list[list[int]]
    frames: list[Frame]
    extra: str | None = Field(default=None, description="further members of the original turn, as JSON")


class DialogueSummary(Record):
    """The whole dialogue at a glance: utterances, acts (once each) and slots with all their values, in order."""

    utterances: list[str]
    speakers: list[str]
    acts: list[str]
    slots: list[SlotValues]


class TodRecord(SourceRecord):
    """A task-oriented dialogue in the schema of MultiWOZ 2.2, with a summary dictionary."""

    subset = Subset.TASK_ORIENTED

    services: list[str]
    turns: list[TodTurn]
    summary: DialogueSummary
    extra: str | None = Field(default=None, description="further members of the original dialogue, as JSON")

    def stratum(self) -> str:
        return "one service" if len(self.services) <= 1 else "several services"

    def duplicate_text(self) -> str:
        return " ".join(turn.utterance for turn in self.turns)

    def items(self) -> list[Item]:
        context = [Turn(speaker=turn.speaker, text=turn.utterance) for turn in self.turns]
        return [self._item("", Domain.TASK_ORIENTED, context=context, references=References())]


KINDS: dict[Subset, type[SourceRecord]] = {
    kind.subset: kind for kind in (QaRecord, ConversationalQaRecord, SummaryRecord, TodRecord)
}


def as_json(value: Any) -> str:
    """JSON text with sorted keys and unescaped letters, for `extra` and `origin`."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)

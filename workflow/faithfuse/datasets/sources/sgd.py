"""SGD (Schema-Guided Dialogue): dialogues over several services.

`{train,dev,test}/dialogues_*.json`, a JSON list of dialogues; turns have frames, a frame has `service`, `slots`
(spans), `actions` and, on user turns, `state`; some system turns have a service call and its results, which are kept
in the frame's `extra`. `to_original` gives the original turn back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faithfuse.datasets.ratings.base import Source, build, need
from faithfuse.datasets.schema import (
    Frame,
    SlotSpan,
    SlotValues,
    SourceRecord,
    State,
    Subset,
    TodRecord,
    TodTurn,
)
from faithfuse.datasets.sources.base import SourceSet, origin, some_files
from faithfuse.datasets.streams import iter_json_records
from faithfuse.datasets.tod import Act, nest, rest, restore, summarise, unnest

LICENCE = "CC BY-SA 4.0"

FRAME = {
    "service": str,
    "slots": [{"slot": str, "start?": int, "exclusive_end?": int}],
    "state?": ({"active_intent": str, "requested_slots": [str], "slot_values": {"*": [str]}}, None),
}
_ACTION = {"act": str, "slot": (str, None), "values": [str], "canonical_values": [str]}
_TURN = {"speaker": str, "utterance": str, "frames": [{**FRAME, "actions": [_ACTION]}]}
_DIALOGUE = {"dialogue_id": str, "services": [str], "turns": [_TURN]}


def span_from_original(slot: dict[str, Any]) -> SlotSpan:
    """A span; a value that is a list (of a slot copied from another one) and further members go to `extra`."""
    value = slot.get("value")
    known = ("slot", "start", "exclusive_end", *(["value"] if isinstance(value, str) else []))
    return SlotSpan(
        slot=slot["slot"],
        value=value if isinstance(value, str) else None,
        start=slot.get("start"),
        exclusive_end=slot.get("exclusive_end"),
        extra=rest(slot, known),
    )


def span_to_original(span: SlotSpan) -> dict[str, Any]:
    """The span as its set writes it; the inverse of `span_from_original`."""
    return {**span.model_dump(exclude_none=True, exclude={"extra"}), **restore(span.extra)}


def frame_from_original(frame: dict[str, Any]) -> Frame:
    """A frame of SGD or MultiWOZ 2.2 without its actions."""
    state = frame.get("state")
    return Frame(
        service=frame["service"],
        slots=[span_from_original(slot) for slot in frame["slots"]],
        state=None
        if state is None
        else State(
            active_intent=state["active_intent"],
            requested_slots=state["requested_slots"],
            slot_values=[SlotValues(slot=slot, values=values) for slot, values in state["slot_values"].items()],
        ),
        extra=rest(frame, ("service", "slots", "state", "actions")),
    )


def frame_to_original(frame: Frame, actions: list[dict[str, Any]]) -> dict[str, Any]:
    """The frame as its set writes it; the inverse of `frame_from_original`."""
    original: dict[str, Any] = {
        "service": frame.service,
        "slots": [span_to_original(span) for span in frame.slots],
        "actions": actions,
        **restore(frame.extra),
    }
    if frame.state is not None:
        original["state"] = {
            "active_intent": frame.state.active_intent,
            "requested_slots": frame.state.requested_slots,
            "slot_values": {entry.slot: entry.values for entry in frame.state.slot_values},
        }
    return original


def from_original(turn: dict[str, Any], number: int) -> TodTurn:
    """A turn of SGD in the common schema."""
    acts = [
        Act(action["act"], action["slot"], action["values"], action["canonical_values"], index)
        for index, frame in enumerate(turn["frames"])
        for action in frame["actions"]
    ]
    return TodTurn(
        turn_id=str(number),
        speaker=turn["speaker"],
        utterance=turn["utterance"],
        frames=[frame_from_original(frame) for frame in turn["frames"]],
        extra=rest(turn, ("speaker", "utterance", "frames")),
        **nest(acts),
    )


def to_original(turn: TodTurn) -> dict[str, Any]:
    """The turn as SGD writes it; the inverse of `from_original`."""
    actions: list[list[dict[str, Any]]] = [[] for _ in turn.frames]
    for act in unnest(turn):
        actions[act.frame].append(
            {"act": act.act, "slot": act.slot, "values": act.values, "canonical_values": act.canonical}
        )
    return {
        "speaker": turn.speaker,
        "utterance": turn.utterance,
        "frames": [frame_to_original(*pair) for pair in zip(turn.frames, actions, strict=True)],
        **restore(turn.extra),
    }


def dialogue_record(
    source: Source,
    path: Path,
    line: int,
    key: str,
    split: str | None,
    licence: str,
    dialogue: dict[str, Any],
    turns: list[TodTurn],
) -> TodRecord:
    """The record of a dialogue of SGD or MultiWOZ 2.2, `key` being `<set>:…`."""
    return build(
        TodRecord,
        path,
        line,
        record_id=key,
        source_set=key.partition(":")[0],
        split=split,
        licence=licence,
        group=key,
        origin=origin(source, path, line),
        services=dialogue["services"],
        turns=turns,
        summary=summarise(turns),
        extra=rest(dialogue, ("dialogue_id", "services", "turns")),
    )


def _read(source: Source) -> Iterator[SourceRecord]:
    for path in some_files(source, "train/dialogues_*.json", "dev/dialogues_*.json", "test/dialogues_*.json"):
        for line, dialogue in iter_json_records(path):
            need(dialogue, _DIALOGUE, path, line)
            turns = [from_original(turn, number) for number, turn in enumerate(dialogue["turns"])]
            split = path.parent.name
            # SGD counts dialogues anew in every split.
            key = f"sgd:{split}:{dialogue['dialogue_id']}"
            yield dialogue_record(source, path, line, key, split, LICENCE, dialogue, turns)


SGD = SourceSet(
    name="sgd",
    title="Schema-Guided Dialogue",
    subset=Subset.TASK_ORIENTED,
    home="raw/sgd",
    url="https://github.com/google-research-datasets/dstc8-schema-guided-dialogue",
    licence=LICENCE,
    citation="Rastogi et al., Towards Scalable Multi-domain Conversational Agents, AAAI 2020",
    read=_read,
    layout="train/, dev/, test/ with dialogues_*.json",
)

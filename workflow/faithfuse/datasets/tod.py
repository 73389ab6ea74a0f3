"""What the task-oriented sets share: acts by index, the rest of a turn as JSON, the summary dictionary."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from faithfuse.datasets.schema import DialogueSummary, SlotValues, TodTurn, as_json
from faithfuse.errors import InputError


class Act(NamedTuple):
    """One act of an original turn, on one slot or on none.

    Attributes:
        act: its type.
        slot: the slot's name, or null.
        values: the slot's values as the set writes them.
        canonical: their canonical forms, where the set has them.
        frame: index of the frame it belongs to, or null.
    """

    act: str
    slot: str | None
    values: list[str]
    canonical: list[str]
    frame: int | None = None


def nest(acts: Sequence[Act]) -> dict[str, Any]:
    """The act fields of a `TodTurn`: pairs of one type and frame are gathered, in the order of first use."""
    groups: dict[tuple[int | None, str], list[int]] = {}
    for position, act in enumerate(acts):
        groups.setdefault((act.frame, act.act), []).append(position)
    return {
        "acts": [name for _, name in groups],
        "act_frames": [frame for frame, _ in groups],
        "act_slots": [[acts[p].slot for p in positions] for positions in groups.values()],
        "act_slot_values": [[acts[p].values for p in positions] for positions in groups.values()],
        "act_canonical_values": [[acts[p].canonical for p in positions] for positions in groups.values()],
        "act_positions": list(groups.values()),
    }


def unnest(turn: TodTurn) -> list[Act]:
    """The acts of a turn in their original order; the inverse of `nest`."""
    placed: dict[int, Act] = {}
    for i, name in enumerate(turn.acts):
        for j, position in enumerate(turn.act_positions[i]):
            placed[position] = Act(
                name,
                turn.act_slots[i][j],
                turn.act_slot_values[i][j],
                turn.act_canonical_values[i][j],
                turn.act_frames[i],
            )
    return [placed[position] for position in sorted(placed)]


def rest(original: dict[str, Any], known: Iterable[str]) -> str | None:
    """The members that the schema has no field for, as JSON text; null when there are none."""
    others = {name: value for name, value in original.items() if name not in set(known)}
    return as_json(others) if others else None


def restore(extra: str | None) -> dict[str, Any]:
    """The members that `rest` put away."""
    return {} if extra is None else json.loads(extra)


def check_pairs(dialog_act: Mapping[str, Any], path: Path, line: int) -> None:
    """Check that the acts are `{"Domain-Act": [[slot, value], …]}`.

    Raises:
        InputError: they are not.
    """
    for name, pairs in dialog_act.items():
        pairwise = isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
        if not pairwise or not all(isinstance(slot, str) for slot, _ in pairs):
            raise InputError(
                f"the act {name!r} has {pairs!r:.60}, not pairs of a slot and a value",
                path=path,
                line=line,
                fix="Get the original file again.",
            )


def acts_of_pairs(dialog_act: Mapping[str, Sequence[Sequence[Any]]]) -> tuple[list[Act], dict[str, Any]]:
    """The acts of MultiWOZ's and SpokenWOZ's `{"Domain-Act": [[slot, value], …]}`.

    Returns:
        The acts (one without slot for a type without pairs), and what they cannot carry: the original, if a value
        is no text.
    """
    acts: list[Act] = []
    for name, pairs in dialog_act.items():
        acts += [Act(name, slot, [text_value(value)], []) for slot, value in pairs] or [Act(name, None, [], [])]
    typed = any(not isinstance(part, str) for pairs in dialog_act.values() for pair in pairs for part in pair)
    return acts, {"dialog_act": dict(dialog_act)} if typed else {}


def pairs_of_acts(turn: TodTurn) -> dict[str, list[list[str]]]:
    """The inverse of `acts_of_pairs`, where all values are texts."""
    dialog_act: dict[str, list[list[str]]] = {}
    for act in unnest(turn):
        pairs = dialog_act.setdefault(act.act, [])
        if act.slot is not None:
            pairs.append([act.slot, act.values[0]])
    return dialog_act


def acts_of_list(acts: Sequence[Mapping[str, Any]]) -> tuple[list[Act], dict[str, Any]]:
    """The acts of DSTC's `[{"act": …, "slots": [[name, value], …]}, …]`.

    Returns:
        The acts (one without slot for an act without slots), and what they cannot carry: how many slots each
        original act has, and the original, if a value is no text.
    """
    found: list[Act] = []
    for act in acts:
        pairs = [Act(act["act"], name, [text_value(value)], []) for name, value in act["slots"]]
        found += pairs or [Act(act["act"], None, [], [])]
    rest_of: dict[str, Any] = {"slots_per_act": [len(act["slots"]) for act in acts]}
    members_known = all(set(act) == {"act", "slots"} for act in acts)
    if not members_known or any(not isinstance(part, str) for act in acts for pair in act["slots"] for part in pair):
        rest_of["acts"] = list(acts)
    return found, rest_of


def list_of_acts(turn: TodTurn, slots_per_act: Sequence[int]) -> list[dict[str, Any]]:
    """The inverse of `acts_of_list`, where all values are texts."""
    flat = iter(unnest(turn))
    original = []
    for count in slots_per_act:
        acts = [next(flat) for _ in range(max(count, 1))]
        original.append({"act": acts[0].act, "slots": [[act.slot, act.values[0]] for act in acts[:count]]})
    return original


def text_value(value: Any) -> str:
    """A slot's value as text: texts as they are, everything else (a count, a flag) as JSON."""
    return value if isinstance(value, str) else as_json(value)


def summarise(turns: Sequence[TodTurn]) -> DialogueSummary:
    """The summary dictionary of a dialogue (section III-E): all utterances, acts, slots and their values.

    Slots are gathered from acts and from the spans and states of frames; each value once, in order of first use.
    """
    acts: dict[str, None] = {}
    slots: dict[str, dict[str, None]] = {}

    def add(slot: str | None, values: Iterable[str]) -> None:
        if slot:
            slots.setdefault(slot, {}).update(dict.fromkeys(values))

    for turn in turns:
        acts.update(dict.fromkeys(turn.acts))
        for names, values in zip(turn.act_slots, turn.act_slot_values, strict=True):
            for name, found in zip(names, values, strict=True):
                add(name, found)
        for frame in turn.frames:
            for span in frame.slots:
                text = turn.utterance[span.start : span.exclusive_end] if span.start is not None else None
                value = span.value if span.value is not None else text
                add(span.slot, [value] if value else [])
                copied = restore(span.extra).get("value")
                add(span.slot, [text_value(part) for part in copied] if isinstance(copied, list) else [])
            if frame.state is not None:
                for entry in frame.state.slot_values:
                    add(entry.slot, entry.values)
    return DialogueSummary(
        utterances=[turn.utterance for turn in turns],
        speakers=[turn.speaker for turn in turns],
        acts=[act for act in acts if act],
        slots=[SlotValues(slot=slot, values=list(values)) for slot, values in slots.items()],
    )

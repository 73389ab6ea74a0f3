"""DSTC3: calls to a system that finds restaurants, pubs and cafes, in the original layout and a converted one.

Original: one folder per call with `log.json` (`turns`: `output` of the system with its `dialog-acts`, `input` with
recognition hypotheses) and `label.json` (`turns`: `transcription`, `semantics`, goal labels). An original turn becomes
two turns, the system's and the user's.

Converted (`json/*.json`): `dialogues` of `utterances` {`speaker` SYS/USR, `text`, `da_label`, `slots` (on system turns
only; they are the values of the user's turn before)}; and `text/*/*.txt`: `SYS|text|act` lines. They stay with the turn
where the file has them. `to_original` and its siblings give the original turns back.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from faithfuse.datasets.points import text_lines
from faithfuse.datasets.ratings.base import Source, build, need
from faithfuse.datasets.schema import SourceRecord, Subset, TodRecord, TodTurn, as_json
from faithfuse.datasets.sources.base import SourceSet, files, origin
from faithfuse.datasets.streams import iter_json_records, read_text
from faithfuse.datasets.tod import (
    Act,
    acts_of_list,
    check_pairs,
    list_of_acts,
    nest,
    rest,
    restore,
    summarise,
    text_value,
)
from faithfuse.errors import InputError

LICENCE = "terms of the data not stated by its distributors"
SPEAKERS = {"SYS": "SYSTEM", "USR": "USER"}
_INVERSE = {unified: own for own, unified in SPEAKERS.items()}
_ACTS = [{"act": str, "slots": [list]}]
_LOG = {"output": {"transcript": str, "dialog-acts": _ACTS}, "input": dict}
_LABEL = {"transcription": str, "semantics": {"json": _ACTS}}
_UTTERANCE = {"speaker": frozenset(SPEAKERS), "text": str, "da_label": str, "slots?": dict}
_DIALOGUE = {
    "dialogue_id": (str, int),
    "utterances": [_UTTERANCE],
    "scenario": {"db_id?": (str, int, None)},
}


class Call(NamedTuple):
    """One exchange of a call: the turn of `log.json` and the turn of `label.json`."""

    log: dict[str, Any]
    label: dict[str, Any]


def from_original(call: Call, number: int) -> list[TodTurn]:
    """The system's and the user's turn of one exchange."""
    output, semantics = call.log["output"], call.label["semantics"]
    said, said_rest = acts_of_list(output["dialog-acts"])
    heard, heard_rest = acts_of_list(semantics["json"])
    system_extra = {
        "acts": said_rest,
        "output": restore(rest(output, ("transcript", "dialog-acts"))),
        "log": restore(rest(call.log, ("output",))),
    }
    user_extra = {
        "acts": heard_rest,
        "semantics": restore(rest(semantics, ("json",))),
        "label": restore(rest(call.label, ("transcription", "semantics"))),
    }
    return [
        TodTurn(
            turn_id=f"{number}s",
            speaker="SYSTEM",
            utterance=output["transcript"],
            frames=[],
            extra=as_json(system_extra),
            **nest(said),
        ),
        TodTurn(
            turn_id=f"{number}u",
            speaker="USER",
            utterance=call.label["transcription"],
            frames=[],
            extra=as_json(user_extra),
            **nest(heard),
        ),
    ]


def to_original(turns: list[TodTurn]) -> Call:
    """The exchange as DSTC3 writes it; the inverse of `from_original`."""
    system, user = turns
    output, heard = restore(system.extra), restore(user.extra)
    log = {
        **output["log"],
        "output": {
            **output["output"],
            "transcript": system.utterance,
            "dialog-acts": output["acts"].get("acts", list_of_acts(system, output["acts"]["slots_per_act"])),
        },
    }
    label = {
        **heard["label"],
        "transcription": user.utterance,
        "semantics": {
            **heard["semantics"],
            "json": heard["acts"].get("acts", list_of_acts(user, heard["acts"]["slots_per_act"])),
        },
    }
    return Call(log, label)


def from_converted(utterance: dict[str, Any], number: int) -> TodTurn:
    """An utterance of the converted form."""
    slots = utterance.get("slots")
    acts = [Act(utterance["da_label"], name, [text_value(value)], []) for name, value in (slots or {}).items()]
    extra = restore(rest(utterance, ("speaker", "text", "da_label", "slots")))
    if "slots" in utterance:
        extra["has_slots"] = True
        if any(not isinstance(value, str) for value in slots.values()):
            extra["slots"] = slots
    return TodTurn(
        turn_id=str(number),
        speaker=SPEAKERS[utterance["speaker"]],
        utterance=utterance["text"],
        frames=[],
        extra=as_json(extra) if extra else None,
        **nest(acts or [Act(utterance["da_label"], None, [], [])]),
    )


def to_converted(turn: TodTurn) -> dict[str, Any]:
    """The utterance as the converted form writes it; the inverse of `from_converted`."""
    extra = restore(turn.extra)
    original: dict[str, Any] = {
        "speaker": _INVERSE[turn.speaker],
        "text": turn.utterance,
        "da_label": turn.acts[0],
    }
    if extra.pop("has_slots", False):
        names = [name for name in turn.act_slots[0] if name is not None]
        values = [values[0] for values in turn.act_slot_values[0] if values]
        original["slots"] = extra.pop("slots", dict(zip(names, values, strict=True)))
    return {**original, **extra}


def _record(
    source: Source, path: Path, line: int | str, name: str, turns: list[TodTurn], services: list[str], **fields: Any
) -> TodRecord:
    return build(
        TodRecord,
        path,
        line,
        record_id=f"dstc3:{name}",
        source_set="dstc3",
        licence=LICENCE,
        group=f"dstc3:{name}",
        origin=origin(source, path, line),
        services=services,
        turns=turns,
        summary=summarise(turns),
        **fields,
    )


def _original_calls(source: Source) -> Iterator[TodRecord]:
    for path in files(source, "**/log.json"):
        label_path = path.with_name("label.json")
        if not label_path.is_file():
            raise InputError(
                "has no label.json beside it", path=path, fix="Unpack the labels into the calls' folders as well."
            )
        source.files.append(label_path)
        line, log = next(iter_json_records(path))
        _, label = next(iter_json_records(label_path))
        need(log, {"session-id": str, "turns": [_LOG]}, path, line)
        need(label, {"turns": [_LABEL]}, label_path, 1)
        if len(log["turns"]) != len(label["turns"]):
            raise InputError(
                f"has {len(log['turns'])} turns, but label.json {len(label['turns'])}",
                path=path,
                line=line,
                fix="Get both files of this call again.",
            )
        for acts_path, turn_acts in (
            (path, [turn["output"]["dialog-acts"] for turn in log["turns"]]),
            (label_path, [turn["semantics"]["json"] for turn in label["turns"]]),
        ):
            for act in chain.from_iterable(turn_acts):
                check_pairs({act["act"]: act["slots"]}, acts_path, line)
        turns: list[TodTurn] = []
        for number, call in enumerate(zip(log["turns"], label["turns"], strict=True)):
            turns += from_original(Call(*call), number)
        others = {"log": restore(rest(log, ("turns",))), "label": restore(rest(label, ("turns",)))}
        yield _record(source, path, line, log["session-id"], turns, ["venue"], extra=as_json(others))


def _converted_calls(source: Source) -> Iterator[TodRecord]:
    for path in files(source, "json/*train*.json", "json/*test*.json"):
        for line, corpus in iter_json_records(path):
            need(corpus, {"dialogues": [_DIALOGUE]}, path, line)
            for dialogue in corpus["dialogues"]:
                name = dialogue["scenario"].get("db_id") or f"{path.stem}-{dialogue['dialogue_id']}"
                turns = [from_converted(u, number) for number, u in enumerate(dialogue["utterances"])]
                source.note("dialogues of the converted form (only the first act of a turn survived there)")
                extra = rest(dialogue, ("utterances",))
                yield _record(source, path, str(name), name, turns, ["venue"], split="train", extra=extra)
    for path in files(source, "text/*/*.txt"):
        turns = []
        for number, raw in enumerate(text_lines(read_text(path))):
            parts = raw.split("|")
            if not raw.strip():
                continue
            if len(parts) < 3 or parts[0] not in SPEAKERS:
                raise InputError(
                    f"is no SPEAKER|text|act, found {raw.strip()!r:.60}",
                    path=path,
                    line=number + 1,
                    fix="Get the original file again.",
                )
            utterance = {"speaker": parts[0], "text": "|".join(parts[1:-1]), "da_label": parts[-1]}
            turns.append(from_converted(utterance, number))
        source.note("dialogues of the converted form (only the first act of a turn survived there)")
        name = f"{path.parent.name}-{path.stem}"
        yield _record(source, path, 1, name, turns, ["venue"], split=path.parent.name)


def _read(source: Source) -> Iterator[SourceRecord]:
    found = False
    for record in chain(_original_calls(source), _converted_calls(source)):
        found = True
        yield record
    if not found:
        raise InputError(
            "has neither log.json files nor the converted json/ and text/",
            path=source.root,
            fix="Point --root at the folder with the calls; docs/data.md shows the layout.",
        )


DSTC3 = SourceSet(
    name="dstc3",
    title="DSTC3",
    subset=Subset.TASK_ORIENTED,
    home="raw/dstc3",
    url="https://github.com/matthen/dstc",
    licence=LICENCE,
    citation="Henderson et al., The Third Dialog State Tracking Challenge, SLT 2014",
    read=_read,
    layout="one folder per call with log.json and label.json; or the converted json/ and text/",
    untested="the original layout: tested on a constructed call",
)

"""MultiWOZ 2.2: dialogues over eight domains; its schema is the one of the task-oriented subset.

`{train,dev,test}/dialogues_*.json`, a JSON list of dialogues, and `dialog_acts.json`:
{dialogue: {turn: {`dialog_act`: {"Domain-Act": [[slot, value], …]}, `span_info`: …}}}. User turns list a frame for
every domain; acts are of the turn, not of a frame, and keep their full name (`Hotel-Inform`); pairs without a slot
are `["none", "none"]`. `to_original` gives the original turn and its acts back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from faithfuse.datasets.ratings.base import Source, need
from faithfuse.datasets.schema import SourceRecord, Subset, TodTurn, as_json
from faithfuse.datasets.sources.base import SourceSet, files, some_files
from faithfuse.datasets.sources.sgd import FRAME, dialogue_record, frame_from_original, frame_to_original
from faithfuse.datasets.spool import open_store
from faithfuse.datasets.streams import iter_json_object, iter_json_records
from faithfuse.datasets.tod import Act, acts_of_pairs, check_pairs, nest, pairs_of_acts, rest, restore

LICENCE = "MIT"

_TURN = {"turn_id": str, "speaker": str, "utterance": str, "frames": [{**FRAME, "actions?": list}]}
_DIALOGUE = {"dialogue_id": str, "services": [str], "turns": [_TURN]}


class OriginalTurn(NamedTuple):
    """A turn and its entry in `dialog_acts.json` (null where it has none)."""

    turn: dict[str, Any]
    acts: dict[str, Any] | None


def from_original(original: OriginalTurn) -> TodTurn:
    """A turn of MultiWOZ 2.2 with its acts in the common schema."""
    turn, entry = original
    acts: list[Act] = []
    extra = restore(rest(turn, ("speaker", "utterance", "frames", "turn_id")))
    frame_actions = [frame.get("actions") for frame in turn["frames"]]
    if any(frame_actions):
        extra["frame_actions"] = frame_actions
    if entry is not None:
        acts, typed = acts_of_pairs(entry["dialog_act"])
        extra["acts"] = {**typed, "rest": restore(rest(entry, ("dialog_act",)))}
    return TodTurn(
        turn_id=turn["turn_id"],
        speaker=turn["speaker"],
        utterance=turn["utterance"],
        frames=[frame_from_original(frame) for frame in turn["frames"]],
        extra=as_json(extra) if extra else None,
        **nest(acts),
    )


def to_original(turn: TodTurn) -> OriginalTurn:
    """The turn and its acts as MultiWOZ 2.2 writes them; the inverse of `from_original`."""
    extra = restore(turn.extra)
    actions = extra.pop("frame_actions", [[] for _ in turn.frames])
    kept = extra.pop("acts", None)
    frames = [frame_to_original(*pair) for pair in zip(turn.frames, actions, strict=True)]
    original = {
        "turn_id": turn.turn_id,
        "speaker": turn.speaker,
        "utterance": turn.utterance,
        "frames": frames,
        **extra,
    }
    if kept is None:
        return OriginalTurn(original, None)
    return OriginalTurn(original, {"dialog_act": kept.get("dialog_act", pairs_of_acts(turn)), **kept["rest"]})


class _Acts:
    """The acts of all dialogues; the published file is too long for memory, so they wait in a temporary database."""

    def __init__(self, source: Source) -> None:
        self.store = open_store()
        self.store.execute("CREATE TABLE acts (dialogue TEXT PRIMARY KEY, turns TEXT) WITHOUT ROWID")
        for path in files(source, "dialog_acts.json") or files(source, "*/dialog_acts.json"):
            for line, dialogue_id, turns in iter_json_object(path):
                need({"turns": turns}, {"turns": dict}, path, line)
                for turn_id, entry in turns.items():
                    need({turn_id: entry}, {turn_id: {"dialog_act": dict}}, path, line)
                    check_pairs(entry["dialog_act"], path, line)
                self.store.execute("INSERT OR REPLACE INTO acts VALUES (?, ?)", (dialogue_id, json.dumps(turns)))

    def of(self, dialogue_id: str) -> dict[str, Any] | None:
        """The entries of a dialogue's turns; None if it has none."""
        row = self.store.execute("SELECT turns FROM acts WHERE dialogue = ?", (dialogue_id,)).fetchone()
        return None if row is None else json.loads(row[0])


def _read(source: Source) -> Iterator[SourceRecord]:
    acts = _Acts(source)
    whole = [f"{split}/dialogues_*.json" for split in ("train", "dev", "test")]
    paths = some_files(source, *whole, "dialogstudio_original_examples.json", "*/*/dialogues_*.json")
    seen: set[str] = set()
    # Whole dialogues before cut ones: a folder of samples may hold both.
    for path in sorted(paths, key=lambda path: ("truncated" in str(path), path)):
        for line, dialogue in iter_json_records(path):
            need(dialogue, _DIALOGUE, path, line)
            name = dialogue["dialogue_id"]
            if name in seen:
                source.drop("dialogue", "the id is there already", path, line)
                continue
            seen.add(name)
            if "truncated" in str(path.relative_to(source.root)):
                source.note("dialogues cut to their first turns (a folder of truncated samples)")
            entries = acts.of(name)
            if entries is None:
                source.note("dialogues without an entry in dialog_acts.json")
            turns = []
            for turn in dialogue["turns"]:
                turns.append(from_original(OriginalTurn(turn, (entries or {}).get(turn["turn_id"]))))
            split = path.parent.name if path.parent.name in ("train", "dev", "test") else None
            key = f"multiwoz22:{name.removesuffix('.json')}"
            yield dialogue_record(source, path, line, key, split, LICENCE, dialogue, turns)


MULTIWOZ22 = SourceSet(
    name="multiwoz22",
    title="MultiWOZ 2.2",
    subset=Subset.TASK_ORIENTED,
    home="raw/multiwoz22",
    url="https://github.com/budzianowski/multiwoz",
    licence=LICENCE,
    citation="Zang et al., MultiWOZ 2.2: A Dialogue Dataset with Additional Annotation Corrections, 2020",
    read=_read,
    layout="train/, dev/, test/ with dialogues_*.json, and dialog_acts.json",
    untested="5 whole dialogues without acts and 21 cut ones with acts were at hand",
)

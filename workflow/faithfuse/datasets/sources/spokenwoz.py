"""SpokenWOZ: spoken dialogues over eight domains.

`data.json`: {dialogue: {`goal`, `log`: [{`tag` user/system, `text`, `dialog_act`: {"Domain-Act": [[slot, value], …]},
`span_info`, `metadata`, `words`}]}}, as MultiWOZ 2.1 with recognised words. Where it is missing, the transcripts
alone can be read: `text/*.json`, a list of {`speaker` A/B, `word`, `start`, `end`}; a run of words of one speaker is a
turn, A and B stay as they are (the file does not say who is the user). `to_original` and `to_words` give the
originals back.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from faithfuse.datasets.ratings.base import Source, build, need
from faithfuse.datasets.schema import SourceRecord, Subset, TodRecord, TodTurn, as_json
from faithfuse.datasets.sources.base import SourceSet, files, origin
from faithfuse.datasets.streams import iter_json_object, iter_json_records
from faithfuse.datasets.tod import Act, acts_of_pairs, check_pairs, nest, pairs_of_acts, rest, restore, summarise
from faithfuse.errors import InputError

LICENCE = "CC BY-NC 4.0"
SPEAKERS = {"user": "USER", "system": "SYSTEM"}
_INVERSE = {unified: own for own, unified in SPEAKERS.items()}
_ENTRY = {"tag": frozenset(SPEAKERS), "text": str, "dialog_act?": dict}
_WORD = {"speaker": str, "word": str, "start": object, "end": object}


def from_original(entry: dict[str, Any], number: int) -> TodTurn:
    """An entry of a dialogue's `log` in the common schema."""
    acts: list[Act] = []
    extra = restore(rest(entry, ("tag", "text", "dialog_act")))
    if "dialog_act" in entry:
        acts, typed = acts_of_pairs(entry["dialog_act"])
        extra["acts"] = typed
    return TodTurn(
        turn_id=str(number),
        speaker=SPEAKERS[entry["tag"]],
        utterance=entry["text"],
        frames=[],
        extra=as_json(extra) if extra else None,
        **nest(acts),
    )


def to_original(turn: TodTurn) -> dict[str, Any]:
    """The entry as SpokenWOZ writes it; the inverse of `from_original`."""
    extra = restore(turn.extra)
    original = {"tag": _INVERSE[turn.speaker], "text": turn.utterance}
    if "acts" in extra:
        original["dialog_act"] = extra.pop("acts").get("dialog_act", pairs_of_acts(turn))
    return {**original, **extra}


def from_words(words: list[dict[str, Any]]) -> list[TodTurn]:
    """A transcript, one turn for each run of words of one speaker; times stay in `extra`."""
    return [
        TodTurn(
            turn_id=str(number),
            speaker=speaker,
            utterance=" ".join(word["word"] for word in run),
            frames=[],
            extra=as_json({"words": run}),
            **nest([]),
        )
        for number, (speaker, run) in enumerate(
            (speaker, list(run)) for speaker, run in groupby(words, key=lambda word: word["speaker"])
        )
    ]


def to_words(turns: list[TodTurn]) -> list[dict[str, Any]]:
    """The transcript as its file has it; the inverse of `from_words`."""
    return [word for turn in turns for word in restore(turn.extra)["words"]]


def _record(source: Source, path: Any, line: int, name: str, turns: list[TodTurn], extra: str | None) -> TodRecord:
    services = dict.fromkeys(act.split("-")[0].lower() for turn in turns for act in turn.acts if "-" in act)
    return build(
        TodRecord,
        path,
        line,
        record_id=f"spokenwoz:{name.removesuffix('.json')}",
        source_set="spokenwoz",
        licence=LICENCE,
        group=f"spokenwoz:{name.removesuffix('.json')}",
        origin=origin(source, path, line),
        services=[service for service in services if service != "general"],
        turns=turns,
        summary=summarise(turns),
        extra=extra,
    )


def _read(source: Source) -> Iterator[SourceRecord]:
    annotated = files(source, "data.json") or files(source, "*/data.json")
    for path in annotated:
        for line, name, dialogue in iter_json_object(path):
            need(dialogue, {"log": [_ENTRY]}, path, line)
            turns = []
            for number, entry in enumerate(dialogue["log"]):
                check_pairs(entry.get("dialog_act", {}), path, line)
                turns.append(from_original(entry, number))
            yield _record(source, path, line, name, turns, rest(dialogue, ("log",)))
    transcripts = [] if annotated else files(source, "text/*.json")
    for path in transcripts:
        words = []
        for line, word in iter_json_records(path):
            words.append(need(word, _WORD, path, line))
        source.note("dialogues read from their transcript alone: no acts, slots or roles")
        yield _record(source, path, 1, path.stem, from_words(words), None)
    if not annotated and not transcripts:
        raise InputError(
            "has neither data.json nor text/*.json",
            path=source.root,
            fix="Point --root at the folder with data.json; docs/data.md says where to get it.",
        )


SPOKENWOZ = SourceSet(
    name="spokenwoz",
    title="SpokenWOZ",
    subset=Subset.TASK_ORIENTED,
    home="raw/spokenwoz",
    url="https://spokenwoz.github.io",
    licence=LICENCE,
    citation="Si et al., SpokenWOZ: A Large-Scale Speech-Text Benchmark for Spoken Task-Oriented Dialogue Agents, "
    "NeurIPS 2023",
    read=_read,
    layout="data.json; or the transcripts text/*.json",
    untested="data.json: tested on a constructed dialogue",
)

"""Shares of a stage joined: the same bytes as one job's, with the counts of the whole.

Every share took whole batches of one plan, so records only need to be put in the order of their keys; what is written
beside them is the settings, which all shares have in common, and counts made anew from the joined records.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from faithfuse.errors import InputError
from faithfuse.records import (
    Graph,
    Record,
    Response,
    Score,
    Verdict,
    atomic_write,
    read_json_object,
    read_records,
    write_records,
)


def gather(stage: str, shares: Sequence[Path], out: Path) -> int:
    """Join the files of all shares into `out`, with `<out>.meta.json` where the stage has one; how many records.

    Raises:
        InputError: the stage is unknown, shares were made with different settings, or two hold the same record.
    """
    if stage not in _STAGES:
        raise InputError(f"unknown stage {stage}", fix=f"Use one of {', '.join(_STAGES)}.")
    kind, summarise = _STAGES[stage]
    records = [record for path in shares for record in read_records(path, kind)]
    keys = Counter(record.sort_key() for record in records)
    twice = [key for key, times in keys.items() if times > 1]
    if twice:
        raise InputError(
            f"{len(twice)} records stand in two shares, first {twice[0]}", path=out, fix="Name each share once."
        )
    if summarise is None:
        write_records(out, records)
        return len(records)
    settings: dict[str, Any] = {}
    for path in shares:
        meta = read_json_object(meta_path(path), fix="Make the share anew.")
        counts = summarise([])
        mine = {key: value for key, value in meta.items() if key not in counts}
        differing = [key for key in mine if settings and settings.get(key) != mine[key]]
        if differing:
            raise InputError(
                f"was made with another {differing[0]} than {shares[0]}",
                path=path,
                fix="Make all shares anew with the same settings.",
            )
        settings = mine
    write_records(out, records)
    write_meta(out, {**settings, **summarise(records)})
    return len(records)


def meta_path(out: Path) -> Path:
    """Where settings and counts of a file of records stand."""
    return out.with_name(out.name + ".meta.json")


def write_meta(out: Path, meta: dict[str, Any]) -> None:
    """Write settings and counts beside the records."""
    with atomic_write(meta_path(out)) as stream:
        stream.write(json.dumps(meta, indent=1, ensure_ascii=False) + "\n")


def summarise_responses(responses: Sequence[Response]) -> dict[str, Any]:
    """How many responses there are, without text (by reason), and cut by the token limit."""
    return {
        "responses": len(responses),
        "without_text": dict(sorted(Counter(r.reason for r in responses if r.text is None).items())),
        "hit_token_limit": sum(bool(r.hit_token_limit) for r in responses),
    }


def summarise_verdicts(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """For each scope, kind and target: counts of verdicts, scored, off label, null by reason; the median label mass."""
    groups: dict[str, Any] = {}
    for name in sorted({_judging(v) for v in verdicts}):
        members = [v for v in verdicts if _judging(v) == name]
        masses = [v.label_mass for v in members if v.label_mass is not None]
        groups[name] = {
            "verdicts": len(members),
            "scored": sum(v.score is not None for v in members),
            "off_label": sum(v.off_label is not None for v in members),
            "median_label_mass": statistics.median_low(masses) if masses else None,
            "reasons": dict(sorted(Counter(v.reason for v in members if v.reason).items())),
        }
    return {"verdicts": groups}


def _judging(verdict: Verdict) -> str:
    """Scope and kind of a verdict; the target where it is not the usual one, as with a summary's reference."""
    unusual = verdict.scope != "answer" and verdict.target == "reference"
    return f"{verdict.scope} {verdict.kind}" + (" reference" if unusual else "")


def summarise_scores(scores: Sequence[Score]) -> dict[str, Any]:
    """How many scores there are."""
    return {"scores": len(scores)}


_STAGES: dict[str, tuple[type[Record], Callable[[Any], dict[str, Any]] | None]] = {
    "responses": (Response, summarise_responses),
    "verdicts": (Verdict, summarise_verdicts),
    "likelihood": (Score, summarise_scores),
    "graphs": (Graph, None),
}

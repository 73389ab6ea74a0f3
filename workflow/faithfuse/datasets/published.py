"""Metric values that the makers of a set published for its responses, as `Score` records.

DialSummEval: `models_eval_new/<system>/metrics.csv` holds 32 values per summary. Line i of it belongs to line i of
`<system>/summs.txt` and of `dials.txt`, in another order than `human_judgment.jsonl`, so rows are joined on the text of
the dialogue and the system, and the summary must be the one that was rated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from faithfuse.datasets.ratings import dialsummeval
from faithfuse.datasets.ratings.base import Source
from faithfuse.datasets.streams import iter_table, read_text
from faithfuse.errors import InputError
from faithfuse.records import Score, iter_json_lines

_ORIGINAL = "Get the original files again."


def _dialsummeval(root: Path) -> Iterator[Score]:
    source = Source(root, home=dialsummeval.DIALSUMMEVAL.home)
    rated: dict[tuple[str, str], str] = {}
    ids: dict[str, str] = {}
    for _, record in iter_json_lines(source.require(dialsummeval.FILE)):
        ids[record["dialogue"].strip()] = record["id"]
        rated[record["id"], record["model_id"]] = record["summary"].strip()
    order = _lines(source.require("models_eval_new/dials.txt"))
    for system in sorted({system for _, system in rated} - {dialsummeval.REFERENCE_SYSTEM}):
        summaries = _lines(source.require(f"models_eval_new/{system}/summs.txt"))
        path = source.require(f"models_eval_new/{system}/metrics.csv")
        rows = list(iter_table(path, delimiter=",", columns=()))
        if not len(rows) == len(summaries) == len(order):
            raise InputError(
                f"has {len(rows)} rows, but there are {len(order)} dialogues and {len(summaries)} summaries",
                path=path,
                fix=_ORIGINAL,
            )
        for (line, row), dialogue, summary in zip(rows, order, summaries, strict=True):
            key = ids.get(dialogue)
            if key is None or rated.get((key, system)) != summary:
                raise InputError(
                    f"belongs to a summary by {system} that nobody rated", path=path, line=line, fix=_ORIGINAL
                )
            for name, cell in row.items():
                yield Score(
                    item_id=f"dialsummeval:{key}",
                    system=system,
                    metric=f"DialSummEval {name}",
                    value=_number(cell, name, path, line),
                    reason=None if cell.strip() else "not published",
                )


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in read_text(path).split("\n") if line.strip()]


def _number(cell: str, name: str, path: Path, line: int) -> float | None:
    if not cell.strip():
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{name} is {cell!r:.40}, not a finite number", path=path, line=line, fix=_ORIGINAL)
    return value


PUBLISHED: dict[str, Callable[[Path], Iterator[Score]]] = {"dialsummeval": _dialsummeval}


def published_scores(name: str, root: Path) -> list[Score]:
    """The published metric values of a set's responses, in the order of the records' keys.

    Args:
        name: the set.
        root: its folder, or a data folder above it.

    Raises:
        InputError: the set has none, a file is missing, or its rows do not fit the rated responses.
    """
    if name not in PUBLISHED:
        raise InputError(f"no metric values are published with {name!r}", fix=f"Choose from {', '.join(PUBLISHED)}.")
    return sorted(PUBLISHED[name](root), key=lambda score: score.sort_key())

"""The data card, `README.md` in the Hugging Face format, generated from `card.json`; and reading a `card.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from faithfuse.datasets.parquet import arrow_schema
from faithfuse.datasets.schema import KINDS, Subset
from faithfuse.datasets.shapes import misfit
from faithfuse.errors import InputError

_SIZE_CLASSES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
_ABOUT = {
    Subset.QUESTION_ANSWERING: "Questions with short and long answers (Natural Questions) or fact tuples (PopQA).",
    Subset.CONVERSATIONAL_QA: "Questions on dialogues of several speakers, with answer spans and turn ids (QAConv).",
    Subset.SUMMARISATION: "Chat dialogues with a summary and its key points (SAMSum).",
    Subset.TASK_ORIENTED: "Task-oriented dialogues in the schema of MultiWOZ 2.2, each with a summary dictionary "
    "(SGD, DSTC3, SpokenWOZ, MultiWOZ 2.2).",
}


def dataset_card(card: Mapping[str, Any]) -> str:
    """The text of `README.md`.

    Args:
        card: what `unify` returns and writes as `card.json`.
    """
    parts = [
        _front_matter(card),
        f"# {card['title']}",
        "Built by `faithfuse data unify` after arXiv 2512.05700, section III: eight public sets, one schema per "
        "subset. The texts are the sets' own, on the sets' own terms; each record names its set, licence and origin.",
        "## Counts\n\n" + _counts(card),
        "## Sets\n\n" + _sets(card),
        "## What was left out, and why\n\n" + _dropped(card),
        "## Duplicates\n\n" + _duplicates(card),
        "## Fields\n\n" + _fields(),
        "## Use\n\n```python\nimport datasets\n\n"
        + "\n".join(
            f'{subset} = datasets.load_dataset("parquet", data_files="{subset}.parquet", split="train")'
            for subset in KINDS
        )
        + "\n```",
        ("Drawn after a selection file." if card["seed"] is None else f"Drawn with seed {card['seed']}.")
        + " `selection.csv` names every record drawn; `faithfuse data unify … --selection selection.csv` draws the "
        "same ones again.",
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(card: Mapping[str, Any]) -> str:
    size = next((name for limit, name in _SIZE_CLASSES if card["counts"]["records"] < limit), "n>100K")
    lines = [
        "---",
        "pretty_name: faithfuse cross-domain faithfulness data set",
        "language:\n- en",
        "license: other",
        "license_name: per-record",
        "task_categories:\n- question-answering\n- summarization",
        f"size_categories:\n- {size}",
        "configs:",
    ]
    for subset in card["subsets"]:
        lines += [f"- config_name: {subset['subset']}", f"  data_files: {subset['subset']}.parquet"]
    return "\n".join([*lines, "---"])


def _table(header: list[str], rows: list[list[Any]]) -> str:
    cells = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in cells)


def _counts(card: Mapping[str, Any]) -> str:
    rows = []
    for subset in card["subsets"]:
        found = sum(subset["found"].values())
        why = "" if subset["drawn"] >= subset["requested"] else f"only {found:,} records in the files at hand"
        by_set = ", ".join(f"{name} {n:,} of {subset['found'][name]:,}" for name, n in subset["drawn_by_set"].items())
        rows.append([subset["subset"], f"{subset['requested']:,}", f"{subset['drawn']:,}", by_set or "no set", why])
    return _table(["subset", "requested", "drawn", "by set (drawn of found)", "why fewer"], rows)


def _sets(card: Mapping[str, Any]) -> str:
    rows = [
        [
            f"[{entry['title']}]({entry['url']})",
            entry["subset"],
            f"{entry['records']:,}",
            entry["licence"] + (" (no derivatives: do not share adapted records)" if entry["no_derivatives"] else ""),
            f"untested on the original: {entry['untested']}" if entry["untested"] else "",
            entry["citation"],
        ]
        for entry in card["sets"]
    ]
    return _table(["set", "subset", "records found", "licence", "state of the loader", "citation"], rows)


def _dropped(card: Mapping[str, Any]) -> str:
    rows = []
    for entry in card["sets"]:
        rows += [
            [entry["set"], drop["what"], drop["reason"], f"{drop['count']:,}", ", ".join(drop["first"][:2])]
            for drop in entry["dropped"]
        ]
        rows += [[entry["set"], "kept", note["what"], f"{note['count']:,}", ""] for note in entry["notes"]]
    return _table(["set", "what", "why", "count", "first places"], rows) if rows else "Nothing."


def _duplicates(card: Mapping[str, Any]) -> str:
    found = card["duplicates"]
    return (
        f"{found['texts']:,} questions or dialogues occur in more than one record (compared without case and "
        f"punctuation), {found['across_sets']:,} of them in more than one set; {found['drawn_more_than_once']:,} were "
        f"drawn more than once. None was removed; `{found['file']}` lists them, and records that share a `group` "
        "must stay on one side of any split."
    )


def _type(arrow: pa.DataType) -> str:
    """A column's type in words, nested members by name."""
    if pa.types.is_list(arrow):
        return f"list of {_type(arrow.value_type)}"
    if pa.types.is_struct(arrow):
        return "{" + ", ".join(f"`{field.name}`: {_type(field.type)}" for field in arrow) + "}"
    return {"string": "text", "int64": "integer", "double": "number", "bool": "true/false"}[str(arrow)]


def _fields() -> str:
    parts = []
    for subset, kind in KINDS.items():
        rows = [[f"`{field.name}`", _type(field.type)] for field in arrow_schema(kind)]
        parts.append(f"### `{subset}`\n\n{_ABOUT[subset]}\n\n" + _table(["field", "type"], rows))
    parts.append(
        "`record_id` is `set:id`; `group` is the leakage key, shared by records of one dialogue, document or question; "
        "`origin` names, as JSON, the original file and the line or key in it. Offsets (`start`, `end`) count "
        "characters from 0, end exclusive. What a set does not give is null."
    )
    parts.append(
        "In `task_oriented`, `acts`, `act_slots` and `act_slot_values` of a turn correspond by index: the slots of "
        "`acts[i]` are `act_slots[i]`, the values of `act_slots[i][j]` are `act_slot_values[i][j]`. `extra` holds, as "
        "JSON, whatever of the original has no field, so that every original turn can be restored. "
        "`summary` is the summary dictionary: the whole dialogue with its acts, slots and utterances."
    )
    return "\n\n".join(parts)


def read_card(folder: Path, shape: Mapping[str, Any], fix: str) -> dict[str, Any]:
    """The `card.json` of a folder, if it is an object of this shape.

    Raises:
        InputError: it is missing, no JSON, or of another shape.
    """
    path = folder / "card.json"
    if not path.is_file():
        raise InputError("has no card.json", path=folder, fix=fix)
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", path=path, fix=fix) from None
    wrong = misfit(card, shape)
    if wrong is not None:
        raise InputError(wrong, path=path, fix=fix)
    return card

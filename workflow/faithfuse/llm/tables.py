"""A user's own items and responses as CSV, beside the JSON Lines of the records.

Items: `item_id`, `domain`, and as the domain needs `question`, `transcript` (lines `Speaker: text`), `short`, `long`,
`points` (several values separated by ` | `), `group` (default: the item's id), `source_set`.
Responses: `item_id`, `system`, `text`, and `points` as above.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from faithfuse.errors import InputError
from faithfuse.records import Item, Record, Response, describe, read_records

R = TypeVar("R", bound=Record)

ITEM_COLUMNS = ("item_id", "domain", "question", "transcript", "short", "long", "points", "group", "source_set")
RESPONSE_COLUMNS = ("item_id", "system", "text", "points")
SEPARATOR = " | "


def read_items(path: Path) -> list[Item]:
    """Items of a `.csv` or JSON Lines file.

    Raises:
        InputError: a row or line is not what an item must be, or two share an id.
    """
    return _read_csv(path, Item, ITEM_COLUMNS, _item) if path.suffix.lower() == ".csv" else read_records(path, Item)


def read_responses(paths: list[Path], items: list[Item]) -> list[Response]:
    """Responses of several `.csv` or JSON Lines files, checked against the items they belong to.

    Raises:
        InputError: a row or line is not what a response must be, a response belongs to no item, or two responses
            have the same item and system.
    """
    known = {item.item_id for item in items}
    origin: dict[tuple, Path] = {}
    responses: list[Response] = []
    for path in paths:
        if path.suffix.lower() == ".csv":
            found = _read_csv(path, Response, RESPONSE_COLUMNS, _response)
        else:
            found = read_records(path, Response)
        for response in found:
            if response.item_id not in known:
                raise InputError(
                    f"a response of {response.system} belongs to no item",
                    path=path,
                    record=response.item_id,
                    fix="Use an id of the items file, or add the item there.",
                )
            if response.sort_key() in origin:
                raise InputError(
                    f"repeats the response of {response.system} in {origin[response.sort_key()]}",
                    path=path,
                    record=response.item_id,
                    fix="Give the second system another name.",
                )
            origin[response.sort_key()] = path
            responses.append(response)
    return responses


def _read_csv(path: Path, kind: type[R], columns: tuple[str, ...], convert: Callable[[dict], dict]) -> list[R]:
    records: list[R] = []
    seen: dict[tuple, int] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            unknown = [name for name in reader.fieldnames or [] if name not in columns]
            if unknown or not reader.fieldnames:
                raise InputError(
                    f"has {f'the unknown column {unknown[0]!r}' if unknown else 'no header'}",
                    path=path,
                    line=1,
                    fix=f"Use the columns {', '.join(columns)}.",
                )
            for row in reader:
                line = reader.line_num
                if None in row or None in row.values():
                    raise InputError(
                        "has another number of cells than the header",
                        path=path,
                        line=line,
                        fix="Quote cells that hold commas.",
                    )
                try:
                    record = kind.model_validate(convert({k: v.strip() for k, v in row.items()}))
                except ValidationError as error:
                    raise InputError(
                        f"is no {kind.__name__}: {describe(error)}",
                        path=path,
                        line=line,
                        record=row.get("item_id"),
                        fix="See docs/judge.md, section Your own files.",
                    ) from None
                if record.sort_key() in seen:
                    raise InputError(
                        f"repeats the {kind.__name__} of line {seen[record.sort_key()]}",
                        path=path,
                        line=line,
                        record=" ".join(map(str, record.sort_key())),
                        fix="Give each its own id.",
                    )
                seen[record.sort_key()] = line
                records.append(record)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path, fix="Check the path.") from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8", path=path, fix="Save the file as UTF-8.") from None
    except csv.Error as error:
        raise InputError(f"is no CSV ({error})", path=path, fix="Mend the quoting.") from None
    return records


def _values(cell: str) -> list[str]:
    return [value.strip() for value in cell.split(SEPARATOR) if value.strip()]


def _item(row: dict[str, str]) -> dict[str, Any]:
    turns = []
    for line in row.get("transcript", "").splitlines():
        speaker, colon, text = line.partition(": ")
        if line.strip():
            turns.append({"speaker": speaker if colon else "", "text": text if colon else line})
    return {
        "item_id": row.get("item_id", ""),
        "domain": row.get("domain", ""),
        "source_set": row.get("source_set") or "csv",
        "question": row.get("question") or None,
        "context": turns,
        "references": {name: _values(row.get(name, "")) for name in ("short", "long", "points")},
        "group": row.get("group") or row.get("item_id", ""),
    }


def _response(row: dict[str, str]) -> dict[str, Any]:
    return {
        "item_id": row.get("item_id", ""),
        "system": row.get("system", ""),
        "text": row.get("text", ""),
        "points": _values(row.get("points", "")),
    }

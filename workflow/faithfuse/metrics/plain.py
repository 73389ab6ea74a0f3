"""Items and responses from a user's plain CSV files.

Items: `item_id`, `domain` (unless given beside the file), `question`, `transcript` (one `Speaker: text` line a
turn), `reference`, `reference_2`, `reference_3`, … (one reference each), `reference_points` (one a line) and
`group` (the item itself if empty). Responses: `item_id`, `system`, `text`, `points` (one a line) and `reason` (why
there is no text). Other columns are refused, so that a misspelt one is not lost.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from faithfuse.datasets.points import turns
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Record, References, Response, describe, read_records

R = TypeVar("R", bound=Record)

ITEM_COLUMNS = ("item_id", "domain", "question", "transcript", "reference", "reference_points", "group")
RESPONSE_COLUMNS = ("item_id", "system", "text", "points", "reason")
_NUMBERED_REFERENCE = re.compile(r"reference(_[0-9]+)?")
_BULLET = re.compile(r"^\s*[*•\-–]\s+")


def read_items(path: Path | str, domain: Domain | None = None) -> list[Item]:
    """Read items from JSON Lines, or from CSV if the name ends in `.csv`.

    Args:
        path: the file.
        domain: the domain of a CSV file's items that has no `domain` column.

    Raises:
        InputError: the file cannot be read, or a row is no item.
    """
    if not _is_csv(path):
        return read_records(path, Item)
    return _read(path, ("item_id",), lambda row: _item(row, domain, path), Item)


def read_responses(path: Path | str) -> list[Response]:
    """Read responses from JSON Lines, or from CSV if the name ends in `.csv`.

    Raises:
        InputError: the file cannot be read, or a row is no response.
    """
    if not _is_csv(path):
        return read_records(path, Response)
    return _read(path, ("item_id", "system", "text"), _response, Response)


def _is_csv(path: Path | str) -> bool:
    return Path(path).suffix.lower() == ".csv"


def _item(row: dict[str, str], domain: Domain | None, path: Path | str) -> dict:
    if not row.get("domain") and domain is None:
        raise InputError(
            "does not say its domain",
            path=path,
            record=row["item_id"],
            fix="Add the column `domain`, or pass --domain (such as --domain short_form_qa).",
        )
    texts = [text for name, text in row.items() if _NUMBERED_REFERENCE.fullmatch(name) and text]
    name = row.get("domain") or str(domain)
    short = name == Domain.SHORT_FORM_QA
    references = {"short": texts if short else [], "long": [] if short else texts}
    references["points"] = _lines(row.get("reference_points", ""))
    return {
        "item_id": row["item_id"],
        "domain": name,
        "source_set": "csv",
        "question": row.get("question") or None,
        "context": [turn.model_dump() for turn in turns(row.get("transcript", "").splitlines())],
        "references": References(**references).model_dump(),
        "group": row.get("group") or row["item_id"],
    }


def _response(row: dict[str, str]) -> dict:
    return {
        "item_id": row["item_id"],
        "system": row["system"],
        # An empty cell with a reason is a missing response; without one the record is refused.
        "text": row["text"] if row["text"] or not row.get("reason") else None,
        "points": _lines(row.get("points", "")),
        "reason": row.get("reason") or None,
    }


def _lines(cell: str) -> list[str]:
    stripped = (_BULLET.sub("", line).strip() for line in cell.splitlines())
    return [line for line in stripped if line]


def _read(
    path: Path | str, required: tuple[str, ...], build: Callable[[dict[str, str]], dict], kind: type[R]
) -> list[R]:
    allowed = ITEM_COLUMNS if kind is Item else RESPONSE_COLUMNS
    records: list[R] = []
    seen: dict[tuple, int] = {}
    for line, row in _rows(path, required, allowed):
        try:
            record = kind.model_validate(build(row))
        except ValidationError as error:
            raise InputError(
                f"is no {kind.__name__}: {describe(error)}",
                path=path,
                line=line,
                record=row.get("item_id"),
                fix="See the columns in docs/metrics.md.",
            ) from None
        key = record.sort_key()
        if key in seen:
            raise InputError(
                f"repeats the {kind.__name__} of line {seen[key]}",
                path=path,
                line=line,
                record=" ".join(map(str, key)),
                fix="Give each its own id; further references go in the columns reference_2, reference_3, ….",
            )
        seen[key] = line
        records.append(record)
    return records


def _rows(
    path: Path | str, required: tuple[str, ...], allowed: tuple[str, ...]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (the row's last line, cells by column)."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            header = reader.fieldnames or []
            missing = [name for name in required if name not in header]
            unknown = [
                name
                for name in header
                if name not in allowed and not (allowed is ITEM_COLUMNS and _NUMBERED_REFERENCE.fullmatch(name))
            ]
            repeated = sorted({name for name in header if header.count(name) > 1})
            if missing or unknown or repeated:
                problems = [
                    f"{what} {', '.join(map(repr, names))}"
                    for what, names in (("lacks", missing), ("does not know", unknown), ("repeats", repeated))
                    if names
                ]
                raise InputError(
                    f"the header {' and '.join(problems)}",
                    path=path,
                    line=1,
                    fix=f"Use the columns {', '.join(allowed)} (docs/metrics.md).",
                )
            for row in reader:
                if None in row or None in row.values():
                    raise InputError(
                        f"has {len(row) - (None in row) + len(row.get(None, ()))} cells"
                        if None in row
                        else f"has {sum(value is not None for value in row.values())} cells",
                        path=path,
                        line=reader.line_num,
                        fix=f"Write {len(header)} cells, and quote text that holds commas or line breaks.",
                    )
                yield reader.line_num, row
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", path=path, fix="Check the path and the permissions."
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 (byte {error.start + 1})", path=path, fix="Save the file as UTF-8.") from None
    except csv.Error as error:
        raise InputError(
            f"is not CSV ({error})", path=path, line=reader.line_num, fix="Quote text that holds commas or quotes."
        ) from None

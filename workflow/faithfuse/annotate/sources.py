"""What a study is made from: the workflow's own records, a CSV, Label Studio tasks, or audit tuples."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Record, Response, describe, iter_json_lines, read_records

COLUMNS = ("question", "response", "item_id", "system", "domain", "context", "references", "points", "group")
"""Columns of a CSV, and keys of a Label Studio task's `data`; only `response` must be there."""


class Material(NamedTuple):
    """Items and the responses to them, both in the order of their keys."""

    items: list[Item]
    responses: list[Response]


def load(paths: Sequence[Path], systems: Sequence[str] = ()) -> Material:
    """Read items and responses from files and folders.

    A folder holds `items.jsonl` (and `responses.jsonl`), or such folders, or response files. A `.jsonl` file holds
    items or responses, a `.csv` file one response a row, a `.json` file Label Studio tasks. Responses that lie where
    the workflow puts them (`results/responses`) find their items beside them (`results/items`).

    Args:
        paths: files and folders; the same record may stand in several, a different one under the same key may not.
        systems: keep only these systems' responses; all when empty.

    Raises:
        InputError: a file is malformed, two files disagree, a response has no item, or there is nothing to rate.
    """
    items: dict[tuple, tuple[Record, Path]] = {}
    responses: dict[tuple, tuple[Record, Path]] = {}
    for path in _files(paths):
        for record in _read(path):
            known = items if isinstance(record, Item) else responses
            other = known.setdefault(record.sort_key(), (record, path))
            if other[0] != record:
                raise InputError(
                    f"differs from the {type(record).__name__} of that key in {other[1]}",
                    path=path,
                    record=" ".join(record.sort_key()),
                    fix="Give each its own id, or pass one of the files alone.",
                )
    if any((item_id,) not in items for item_id, _ in responses):
        for path in _items_beside(paths):
            for item in read_records(path, Item):
                items.setdefault(item.sort_key(), (item, path))
    for (item_id, system), (_, path) in responses.items():
        if (item_id,) not in items:
            raise InputError(
                "answers an item that is in none of the files",
                path=path,
                record=f"{item_id} {system}",
                fix="Pass the items too: --from results/items/<domain>.",
            )
    kept = [record for record, _ in responses.values() if not systems or record.system in systems]
    if not any(response.text is not None for response in kept):
        raise InputError(
            "there is no response to rate" + (f" by {', '.join(systems)}" if systems else ""),
            path=paths[0],
            fix="Pass a file of responses beside the items, e.g. results/responses/<domain>.jsonl.",
        )
    return Material([items[key][0] for key in sorted(items)], sorted(kept, key=lambda response: response.sort_key()))


def _files(paths: Iterable[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        folders = [path] if (path / "items.jsonl").is_file() else sorted(p.parent for p in path.glob("*/items.jsonl"))
        found = [folder / name for folder in folders for name in ("items.jsonl", "responses.jsonl")]
        found = [file for file in found if file.is_file()] or sorted(path.glob("*.jsonl"))
        if not found:
            raise InputError(
                "holds neither items.jsonl nor response files",
                path=path,
                fix="Pass a folder that `faithfuse items` or `faithfuse respond` wrote.",
            )
        files += found
    return files


def _items_beside(paths: Iterable[Path]) -> list[Path]:
    """The workflow's item files that belong to its response files: `items/<domain>/items.jsonl` beside `responses/`."""
    return [
        file
        for path in paths
        for file in (
            sorted(path.parent.glob("items/*/items.jsonl"))
            if path.is_dir()
            else [path.parent.parent / "items" / path.stem / "items.jsonl"]
        )
        if file.is_file()
    ]


def _read(path: Path) -> list[Any]:
    if path.suffix == ".csv":
        return _from_rows(_csv_rows(path), path)
    if path.suffix == ".json":
        return _from_rows(task_rows(path), path)
    first = next(iter_json_lines(path), (0, {}))[1]
    return read_records(path, Response if isinstance(first, dict) and "system" in first else Item)


def _csv_rows(path: Path) -> list[tuple[str, dict[str, Any]]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", path=path, fix="Check the path and the permissions."
        ) from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8", path=path, fix="Save the file as UTF-8.") from None
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise InputError(
            f"is not CSV ({error})", path=path, fix="Quote fields that hold quotes or line ends."
        ) from None
    if not rows or "response" not in rows[0]:
        raise InputError(
            "has no rows with a column response", path=path, line=1, fix=f"Give it the columns {','.join(COLUMNS)}."
        )
    if any(None in row or None in row.values() for row in rows):
        raise InputError("has rows longer or shorter than its header", path=path, fix="Write one field per column.")
    return [(f"row-{number:05d}", row) for number, row in enumerate(rows, start=1)]


def read_tasks(path: Path) -> list[dict[str, Any]]:
    """The tasks of a Label Studio export or import file (JSON).

    Raises:
        InputError: the file is no JSON list of objects with `data`.
    """
    try:
        tasks = json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", path=path, fix="Check the path and the permissions."
        ) from None
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", path=path, fix="Export it from Label Studio as JSON.") from None
    if not isinstance(tasks, list) or not all(
        isinstance(task, dict) and isinstance(task.get("data"), dict) for task in tasks
    ):
        raise InputError("is no list of tasks with data", path=path, fix="Export it from Label Studio as JSON.")
    return tasks


def task_rows(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Label Studio tasks as rows; tasks that are points of one response are put together again."""
    rows: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
    for number, task in enumerate(read_tasks(path), start=1):
        name, data = f"task-{task.get('id', number)}", task["data"]
        rows.setdefault((str(data.get("item_id") or name), str(data.get("system") or "")), (name, data))
    return list(rows.values())


def _from_rows(rows: list[tuple[str, dict[str, Any]]], path: Path) -> list[Any]:
    records: dict[tuple, Any] = {}
    for name, row in rows:
        try:
            item, response = _row(name, row)
        except ValidationError as error:
            raise InputError(
                describe(error), path=path, record=name, fix=f"See the columns {','.join(COLUMNS)} in docs/annotate.md."
            ) from None
        for record in (item, response):
            if records.setdefault(record.sort_key(), record) != record:
                raise InputError(
                    f"differs from an earlier row with the same {'item_id' if record is item else 'response'}",
                    path=path,
                    record=" ".join(record.sort_key()),
                    fix="Repeat question, context and references for every response to an item, or give new ids.",
                )
    return list(records.values())


def _row(name: str, row: Mapping[str, Any]) -> tuple[Item, Response]:
    item_id = str(row.get("item_id") or name)
    context = row.get("context") or []
    turns = [_turn(line) for line in context.splitlines() if line.strip()] if isinstance(context, str) else context
    turns = [{"speaker": str(turn.get("speaker", "")), "text": str(turn.get("text", ""))} for turn in turns]
    question = str(row.get("question") or "") or None
    references = _lines(row.get("references"))
    domain = row.get("domain") or (
        Domain.SUMMARISATION if not question else Domain.CONVERSATIONAL_QA if turns else Domain.LONG_FORM_QA
    )
    short = domain == Domain.SHORT_FORM_QA
    item = Item.model_validate(
        {
            "item_id": item_id,
            "domain": domain,
            "source_set": "own",
            "question": question,
            "context": turns,
            "references": {"short": references if short else [], "long": [] if short else references},
            "group": str(row.get("group") or item_id),
        }
    )
    response = Response(
        item_id=item_id,
        system=str(row.get("system") or "response"),
        text=row.get("response"),
        points=_lines(row.get("points")),
    )
    return item, response


def _lines(value: Any) -> list[str]:
    if isinstance(value, str):
        value = value.splitlines()
    return [str(line).strip() for line in value or [] if str(line).strip()]


def _turn(line: str) -> dict[str, str]:
    speaker, colon, text = line.partition(": ")
    is_name = colon and len(speaker) <= 40 and len(speaker.split()) <= 3
    return {"speaker": speaker.strip(), "text": text.strip()} if is_name else {"speaker": "", "text": line.strip()}


def load_checks(path: Path) -> tuple[Material, dict[str, list[int]]]:
    """Attention checks from a CSV: the columns of a study plus `expected`, the ratings that pass (`1` or `1 2`).

    Returns:
        The material, and the expected ratings by item id.

    Raises:
        InputError: the file is malformed, or `expected` is no list of numbers from 1 to 5.
    """
    rows = [(f"check-{name}", row) for name, row in _csv_rows(path)]
    expected = {}
    for name, row in rows:
        row["item_id"] = f"check-{row.get('item_id') or name.removeprefix('check-')}"
        values = [value for value in (row.get("expected") or "").split()]
        if not values or not all(value in {"1", "2", "3", "4", "5"} for value in values):
            raise InputError(
                f"expected is {row.get('expected')!r}",
                path=path,
                record=name,
                fix="Write the ratings that pass, 1 to 5, with blanks between.",
            )
        expected[row["item_id"]] = sorted(int(value) for value in values)
    records = _from_rows(rows, path)
    items = sorted((r for r in records if isinstance(r, Item)), key=lambda item: item.sort_key())
    return Material(items, [r for r in records if isinstance(r, Response)]), expected


def load_tuples(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Audit tuples to label: sealed records, bare tuples, or the plain rows that `faithfuse audit seal` takes.

    Labels that a file holds are left out: annotators judge on their own.

    Returns:
        `{"tuple": …, "weights": …, "dQ": …}` each, in the order of `tuple_id`; equal weights and no dQ where the file
        gives none.

    Raises:
        InputError: a tuple does not follow the contract, or an id stands twice.
    """
    from faithfuse.audit.record import DIMENSIONS, PREDICATES
    from faithfuse.audit.sealing import Defaults, read_tuples, seal_tuple
    from faithfuse.audit.structure import RECORD, Walk

    defaults = Defaults({"annotator": "none", "codebook": "none", "pipeline": "unknown"})
    labels = {f"{prefix}{name}" for prefix in ("", "evidence_", "reason_") for name in PREDICATES}

    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        for number, (line, value) in enumerate(read_tuples(path), start=1):
            if isinstance(value.get("query"), str):
                row = {key: cell for key, cell in value.items() if key not in labels}
                try:
                    value = seal_tuple(row, defaults, number=number)
                except InputError as error:
                    raise InputError(error.found, path=path, line=line, record=error.record, fix=error.fix) from None
            record = value if "tuple" in value else {"tuple": value}
            given = record.get("dimensions")
            weights = record.get("weights") or dict.fromkeys(sorted(DIMENSIONS), 0.2)
            walk = Walk()
            walk.visit(RECORD.fields["tuple"], record["tuple"], ("tuple",))
            walk.visit(RECORD.fields["weights"], weights, ("weights",))
            if walk.defects:
                raise InputError(
                    "; ".join(defect.sentence() for defect in walk.defects),
                    path=path,
                    line=line,
                    fix="See the record contract in docs/audit.md.",
                )
            tuple_id = record["tuple"]["tuple_id"]
            if tuple_id in found:
                raise InputError(
                    "stands twice", path=path, line=line, record=tuple_id, fix="Keep one line per tuple_id."
                )
            susceptibility = given.get("dQ") if isinstance(given, dict) else record.get("dQ")
            found[tuple_id] = {"tuple": record["tuple"], "weights": weights, "dQ": susceptibility}
    if not found:
        raise InputError("has no tuples", path=paths[0], fix="Give one tuple or record a line.")
    return [found[tuple_id] for tuple_id in sorted(found)]

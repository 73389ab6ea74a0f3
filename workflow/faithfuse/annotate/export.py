"""What leaves a study and comes into it: the files that statistics read, and Label Studio's JSON."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from faithfuse.analysis.csvfile import starts_formula, write_csv
from faithfuse.annotate import adjudicate, figures
from faithfuse.annotate.judge import _base
from faithfuse.annotate.plan import check_name
from faithfuse.annotate.sources import read_tasks
from faithfuse.annotate.store import Store, now
from faithfuse.annotate.study import Settings
from faithfuse.audit.canonical import canonical_json
from faithfuse.errors import InputError
from faithfuse.records import EVALUATED_DOMAINS, Item, Rating, Response, atomic_write, write_records

RATING_COLUMNS = ("item_id", "system", "annotator", "point", "likert")

DICTIONARY: dict[str, dict[str, str]] = {
    "ratings.csv": {
        "item_id": "the item",
        "system": "what wrote the response; annotators never saw it",
        "annotator": "who rated",
        "point": "zero-based point of a summary; empty for the whole response",
        "likert": "1 to 5; empty for an abstention (Bool is Likert of 3 or more, never asked)",
    },
    "history.csv": {
        "event": "number of the event, in the order in which they were stored",
        "annotator": "who",
        "item_id": "the item",
        "system": "what wrote the response",
        "point": "zero-based point, empty for the whole response",
        "kind": "rate, or undo",
        "likert": "1 to 5; empty for an abstention and for an undo",
        "note": "the annotator's note (text that a spreadsheet would take for a formula has an apostrophe before it)",
        "seconds": "how long the page was visible",
        "made_at": "when the server stored it (UTC)",
        "undoes": "the event that an undo takes back",
        "stands": "true for the rating that counts",
        "shared": "true when all annotators judge the item",
        "expected": "attention checks: the ratings that pass; their ratings are in no other file",
    },
    "records.jsonl": {"": "audit: every revision of every annotator as its sealed record; `replaces` links them"},
    "labels.csv": {
        "tuple_id": "the tuple",
        "annotator": "who labelled",
        "revision": "revision of the record",
        "stands": "true for the latest revision",
        "I": "relationship: 1, 0 or empty for unknown",
        "A": "adoption, likewise",
        "M": "materiality, likewise",
        "D": "disclosure, likewise",
        "support": "citation support, likewise; apart from the four",
        "note": "the annotator's note (text that a spreadsheet would take for a formula has an apostrophe before it)",
        "seconds": "how long the page was visible",
        "made_at": "when the record was sealed (UTC)",
    },
    "adjudicated.csv": {
        "item_id": "the item, or the tuple",
        "system": "what wrote the response; empty for a tuple",
        "point": "zero-based point, empty for the whole",
        "field": "likert; or I, A, M, D, support",
        "value": "what was decided; empty for unknown",
        "note": "why (text that a spreadsheet would take for a formula has an apostrophe before it)",
        "revision": "how often it was decided; the latest is shown",
        "made_at": "when (UTC)",
    },
    "adjudicated.jsonl": {"": "audit: the decisions as sealed records of the annotator `adjudication`"},
    "coverage.csv": {
        "annotator": "who",
        "assigned": "units in the annotator's list",
        "done": "units judged",
        "median_seconds": "median time on a unit",
        "unresolved": "share of abstentions, or of unknown predicates",
        "changed": "judgements changed or taken back",
        "checks_done": "attention checks judged",
        "checks_passed": "attention checks passed; reported, never used",
    },
    "agreement.csv": {
        "field": "likert, bool; or I, A, M, D, support",
        "level": "level of measurement",
        "unknown": "whether an abstention or unknown is missing or a value of its own",
        "alpha": "Krippendorff's alpha on the original judgements; empty where undefined",
        "low": "lower end of the 95% bootstrap interval",
        "high": "upper end",
        "items": "items, or queries: what the bootstrap draws",
        "units": "units judged",
        "annotators": "people",
        "judgements": "judgements that are not missing",
        "unresolved": "share of abstentions, or of unknowns in this field",
        "reason": "why alpha or its interval is empty",
    },
    "confusion.csv": {
        "field": "as in agreement.csv",
        "one": "what one annotator said",
        "other": "what another said of the same unit",
        "pairs": "how many pairs of people, in either order",
    },
}
"""File → column → meaning: `data_dictionary.csv`."""
FOR_PEOPLE = ("history.csv", "labels.csv", "adjudicated.csv")
"""Tables with free text, for people and their spreadsheets; `ratings.csv` is for programs and keeps ids as they are."""


def study_records(store: Store, kind: type[Item] | type[Response]) -> list[Any]:
    """All items or responses of a study, those outside the sample too, attention checks left out."""
    table = "item" if kind is Item else "response"
    rows = store.read().execute(
        f"SELECT body FROM {table} WHERE item_id NOT IN (SELECT item_id FROM unit WHERE expected IS NOT NULL)"
    )
    return [kind.model_validate(json.loads(row["body"])) for row in rows]


def write_ratings(path: Path, ratings: Sequence[Rating]) -> None:
    """Ratings as the correlate stage reads them: CSV or, by the name's end, JSON Lines."""
    if path.suffix == ".jsonl":
        write_records(path, ratings)
        return
    write_csv(path, RATING_COLUMNS, [{**rating.model_dump(), "likert": _whole(rating.likert)} for rating in ratings])


def safe_in_spreadsheets(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row in which no text is a formula to a spreadsheet: an apostrophe goes before what would start one."""
    return {
        name: f"'{value}" if isinstance(value, str) and starts_formula(value) else value for name, value in row.items()
    }


def _whole(likert: float | None) -> int | None:
    return None if likert is None else int(likert)


def write_folder(store: Store, settings: Settings, out: Path) -> list[Path]:
    """Write everything a study holds, with a data dictionary; returns the files.

    A rating study also gives `items.jsonl`, `responses.jsonl` and `ratings.jsonl`, a data folder as the workflow's
    configuration takes it, and `run.yaml`, the configuration that runs the workflow on it.
    """
    tables: dict[str, Iterable[Mapping[str, Any]]] = {
        "coverage.csv": figures.coverage(store, settings),
        "agreement.csv": figures.agreement(store, settings),
        "confusion.csv": _confusion_rows(store, settings),
        "adjudicated.csv": adjudicated_rows(store, settings),
    }
    written = []
    if settings.kind == "rating":
        ratings = figures.ratings(store)
        for name, records in (
            ("items.jsonl", study_records(store, Item)),
            ("responses.jsonl", study_records(store, Response)),
            ("ratings.jsonl", ratings),
        ):
            write_records(out / name, records)
            written.append(out / name)
        write_ratings(out / "ratings.csv", ratings)
        with atomic_write(out / "run.yaml") as stream:
            stream.write(run_config(out, study_records(store, Item), ratings))
        written += [out / "ratings.csv", out / "run.yaml"]
        tables["history.csv"] = _history_rows(store)
    else:
        for name, lines in (("records.jsonl", record_lines(store)), ("adjudicated.jsonl", adjudicated_lines(store))):
            with atomic_write(out / name) as stream:
                stream.writelines(line + "\n" for line in lines)
            written.append(out / name)
        tables["labels.csv"] = _label_rows(store)
    for name, rows in tables.items():
        safe = map(safe_in_spreadsheets, rows) if name in FOR_PEOPLE else rows
        write_csv(out / name, tuple(DICTIONARY[name]), safe)
        written.append(out / name)
    present = {path.name for path in written}
    write_csv(
        out / "data_dictionary.csv",
        ("file", "column", "meaning"),
        [
            {"file": name, "column": column, "meaning": meaning}
            for name, columns in DICTIONARY.items()
            if name in present
            for column, meaning in columns.items()
        ],
    )
    return [*written, out / "data_dictionary.csv"]


def run_config(folder: Path, items: Iterable[Item], ratings: Iterable[Rating]) -> str:
    """The configuration with which the workflow goes on with what was rated, as YAML.

    Args:
        folder: the data folder, as seen from where the workflow runs.
        items: the study's items.
        ratings: its ratings; the run evaluates the domains that have any.
    """
    rated = {rating.item_id for rating in ratings}
    domains = {item.domain for item in items if item.item_id in rated}
    overlay = {
        "name": re.sub(r"[^\w-]+", "-", folder.resolve().name).strip("-") or "rated",
        "note": "",
        "data": [{"set": "folder", "root": folder.as_posix()}],
        "domains": [str(domain) for domain in EVALUATED_DOMAINS if domain in domains],
        "llm": {"respond": False},
    }
    return (
        f"# Goes on with these ratings: snakemake --cores 2 --configfile {(folder / 'run.yaml').as_posix()}\n"
        "# The responses are those that were rated, so none are generated anew.\n"
    ) + yaml.safe_dump(overlay, sort_keys=False, allow_unicode=True)


def zipped(store: Store, settings: Settings) -> bytes:
    """Everything that `write_folder` writes, as a ZIP archive; the same state gives the same bytes."""
    archive = io.BytesIO()
    with tempfile.TemporaryDirectory() as temporary, zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as stream:
        home = Path(temporary)
        for path in sorted(write_folder(store, settings, home / "study")):
            text = path.read_text(encoding="utf-8")
            if path.name == "run.yaml":  # it is unpacked where nobody knows yet
                text = text.replace((home / "study").as_posix(), "study")
            stream.writestr(zipfile.ZipInfo(f"study/{path.name}", (1980, 1, 1, 0, 0, 0)), text.encode())
    return archive.getvalue()


def _confusion_rows(store: Store, settings: Settings) -> list[dict[str, Any]]:
    return [
        {"field": table["field"], "one": one, "other": other, "pairs": table["counts"][i][j]}
        for table in figures.confusion(store, settings)
        for i, one in enumerate(table["values"])
        for j, other in enumerate(table["values"])
        if i <= j
    ]


def _history_rows(store: Store) -> list[dict[str, Any]]:
    rows = store.read().execute(
        "SELECT event.*, item_id, system, point, shared, expected, standing.event_id IS NOT NULL AS stands FROM event "
        "JOIN unit USING (unit_id) LEFT JOIN standing USING (event_id) ORDER BY event.event_id"
    )
    return [
        {**row, "event": row["event_id"], "stands": bool(row["stands"]), "shared": bool(row["shared"])}
        for row in map(dict, rows)
    ]


def _label_rows(store: Store) -> list[dict[str, Any]]:
    rows = [
        dict(row)
        for row in store.read().execute(
            "SELECT item_id AS tuple_id, label.* FROM label JOIN unit USING (unit_id) "
            "ORDER BY item_id, annotator, revision"
        )
    ]
    latest = {(row["tuple_id"], row["annotator"]): row["revision"] for row in rows}
    for row in rows:
        record = json.loads(row["body"])
        row |= record["annotation"]["judgements"] | {"support": record["support"]}
        row["stands"] = latest[row["tuple_id"], row["annotator"]] == row["revision"]
    return rows


def record_lines(store: Store, *, latest: bool = False) -> list[str]:
    """The sealed records of all annotators as canonical JSON, by tuple, annotator and revision.

    Args:
        store: the study's database.
        latest: only the revision that stands.
    """
    rows = list(
        store.read().execute(
            "SELECT item_id, annotator, body FROM label JOIN unit USING (unit_id) ORDER BY item_id, annotator, revision"
        )
    )
    if latest:
        return list({(row["item_id"], row["annotator"]): row["body"] for row in rows}.values())
    return [row["body"] for row in rows]


def adjudicated_lines(store: Store) -> list[str]:
    """The decisions that stand, as canonical JSON, by tuple."""
    records = [each["record"] for each in adjudicate.decisions(store.read()).values() if each["record"]]
    records.sort(key=lambda record: record["tuple"]["tuple_id"])
    return [canonical_json(record).decode() for record in records]


def adjudicated_rows(store: Store, settings: Settings) -> list[dict[str, Any]]:
    """The decisions that stand, one row per field."""
    db = store.read()
    units = {row["unit_id"]: dict(row) for row in db.execute("SELECT * FROM unit")}
    rows = []
    for unit_id, decided in adjudicate.decisions(db).items():
        fields = ("likert",) if settings.kind == "rating" else (*figures.PREDICATES, "support")
        for field in fields:
            value = decided["likert"] if settings.kind == "rating" else adjudicate.value_of(decided["record"], field)
            rows.append({**units[unit_id], **decided, "field": field, "value": value})
    return sorted(rows, key=lambda row: (row["item_id"], row["system"], -1 if row["point"] is None else row["point"]))


LABEL_CONFIG = """<View>
  <Header value="Question"/><Text name="question" value="$question"/>
  <Header value="Dialogue"/>
  <Paragraphs name="context" value="$context" nameKey="speaker" textKey="text" layout="dialogue"/>
  <Header value="References"/><Text name="references" value="$references"/>
  <Header value="Response"/><Text name="response" value="$judged"/>
  <Rating name="likert" toName="response" maxRating="5" required="true"/>
  <TextArea name="note" toName="response" rows="2"/>
</View>
"""
"""Label Studio's labelling interface for the tasks of `label_studio_tasks`."""


def label_studio_tasks(store: Store) -> list[dict[str, Any]]:
    """A rating study as Label Studio tasks: one per unit, with what was said so far as annotations.

    An abstention is a skipped task (`was_cancelled`). `data` names the system, so that ratings find their way back; the
    interface in `LABEL_CONFIG` does not show it.
    """
    db = store.read()
    items = {item.item_id: item for item in study_records(store, Item)}
    responses = {response.sort_key(): response for response in study_records(store, Response)}
    said: dict[int, list[dict[str, Any]]] = {}
    for row in db.execute("SELECT event.* FROM standing JOIN event USING (event_id) ORDER BY event.annotator"):
        result = [_result("likert", "rating", {"rating": row["likert"]})] if row["likert"] else []
        if row["note"]:
            result.append(_result("note", "textarea", {"text": [row["note"]]}))
        said.setdefault(row["unit_id"], []).append(
            {
                "completed_by": {"email": row["annotator"]},
                "was_cancelled": row["likert"] is None,
                "created_at": row["made_at"],
                "lead_time": row["seconds"],
                "result": result,
            }
        )
    tasks = []
    for unit in db.execute("SELECT * FROM unit WHERE expected IS NULL ORDER BY item_id, system, coalesce(point, -1)"):
        item, response = items[unit["item_id"]], responses[unit["item_id"], unit["system"]]
        data = {
            "item_id": item.item_id,
            "system": response.system,
            "point": unit["point"],
            "domain": str(item.domain),
            "group": item.group,
            "question": item.question or "",
            "context": [turn.model_dump() for turn in item.context],
            "references": "\n".join(item.gold()),
            "response": response.text,
            "points": response.points,
            "judged": response.text if unit["point"] is None else response.points[unit["point"]],
        }
        tasks.append({"id": unit["unit_id"], "data": data, "annotations": said.get(unit["unit_id"], [])})
    return tasks


def _result(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "response", "type": kind, "value": value}


def read_foreign(path: Path) -> list[tuple[Rating, str]]:
    """Ratings made elsewhere, with their notes: Label Studio JSON, CSV or JSON Lines.

    Raises:
        InputError: the file is malformed, or a rating is no whole number from 1 to 5.
    """
    if path.suffix != ".json":
        from faithfuse.analysis.ratings import read_ratings

        return [(rating, "") for rating in read_ratings(path)]
    found = []
    for number, task in enumerate(read_tasks(path), start=1):
        data = task["data"]
        for annotation in task.get("annotations") or []:
            where = f"task {task.get('id', number)}"
            if "item_id" not in data or "system" not in data:
                raise InputError(
                    "names no item_id and system",
                    path=path,
                    record=where,
                    fix="Import tasks into Label Studio with `faithfuse annotate export PROJECT --out tasks.json`.",
                )
            likert, note = _label_studio_answer(annotation, path, where)
            found.append(
                (
                    Rating(
                        item_id=str(data["item_id"]),
                        system=str(data["system"]),
                        annotator=_person(annotation.get("completed_by")),
                        point=data.get("point"),
                        likert=likert,
                    ),
                    note,
                )
            )
    return found


def _label_studio_answer(annotation: Mapping[str, Any], path: Path, where: str) -> tuple[int | None, str]:
    likert, note = None, ""
    for result in annotation.get("result") or []:
        value = result.get("value") or {}
        if "rating" in value or "number" in value or "choices" in value:
            given = value.get("rating", value.get("number", (value.get("choices") or [None])[0]))
            if str(given).lower() == "abstain":
                continue
            if str(given) not in {"1", "2", "3", "4", "5"}:
                raise InputError(
                    f"rates {given!r:.40}", path=path, record=where, fix="Ratings are whole numbers from 1 to 5."
                )
            likert = int(given)
        elif "text" in value:
            note = "\n".join(value["text"]) if isinstance(value["text"], list) else str(value["text"])
    return (None if annotation.get("was_cancelled") else likert), note


def _person(completed_by: Any) -> str:
    """A name for Label Studio's user: an e-mail address or number, with signs that names do not have replaced."""
    if isinstance(completed_by, Mapping):
        completed_by = completed_by.get("email") or completed_by.get("username") or completed_by.get("id")
    name = str(completed_by if completed_by is not None else "unknown")
    return re.sub(r"^[^\w]|[^\w.@+-]", "_", name)[:64]


def import_ratings(store: Store, path: Path) -> tuple[int, int]:
    """Take ratings made elsewhere into a study; the same file again adds nothing.

    Annotators that the study does not know are added with what they rated; a unit that somebody rated here already
    keeps that rating.

    Returns:
        How many ratings were added, and how many were there already.

    Raises:
        InputError: a rating is for no unit of the study, or not a whole number.
    """
    foreign = read_foreign(path)
    added = 0
    with store.write() as db:
        units = {(row["item_id"], row["system"], row["point"]): row for row in db.execute("SELECT * FROM unit")}
        for rating, note in foreign:
            key = f"{rating.item_id} {rating.system}" + (f" point {rating.point}" if rating.point is not None else "")
            unit = units.get((rating.item_id, rating.system, rating.point))
            if unit is None:
                raise InputError(
                    "is rated, but no unit of this study",
                    path=path,
                    record=key,
                    fix="Import into the study that the ratings belong to.",
                )
            if rating.likert is not None and rating.likert != int(rating.likert):
                raise InputError(
                    f"is rated {rating.likert}", path=path, record=key, fix="A study holds whole ratings from 1 to 5."
                )
            name = check_name(rating.annotator)
            db.execute("INSERT OR IGNORE INTO annotator (name) VALUES (?)", (name,))
            if _base(db, name, unit["unit_id"]):
                continue
            db.execute(
                "INSERT OR IGNORE INTO assignment SELECT ?, coalesce(max(position), 0) + 1, ? FROM assignment "
                "WHERE annotator = ?",
                (name, unit["unit_id"], name),
            )
            digest = hashlib.sha256(f"{name}\x00{unit['unit_id']}".encode()).hexdigest()[:32]
            event = db.execute(
                "INSERT INTO event (request_id, annotator, unit_id, kind, likert, note, made_at) "
                "VALUES (?, ?, ?, 'rate', ?, ?, ?)",
                (f"import-{digest}", name, unit["unit_id"], rating.likert and int(rating.likert), note, now()),
            ).lastrowid
            db.execute("INSERT INTO standing VALUES (?, ?, ?)", (name, unit["unit_id"], event))
            added += 1
    return added, len(foreign) - added


def write_csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], stream: Any) -> None:
    """Print a table as CSV."""
    from faithfuse.analysis.csvfile import cell

    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell(row.get(name)) for name in columns] for row in rows)

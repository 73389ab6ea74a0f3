"""What differs between the inputs of two runs: settings, packages, models, code, files, and single records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from faithfuse.errors import InputError
from faithfuse.provenance.record import RECORD, Record, read_record
from faithfuse.records import Item, Rating, Response, read_records

# More records of one kind than this are counted, not listed.
LISTED = 5


class Change(NamedTuple):
    """One input that differs.

    Attributes:
        kind: `configuration`, `package`, `lock`, `version`, `model`, `code`, `input`, `item`, `response` or `rating`.
        what: which one (key, package, model, file, or study for records).
        detail: what stands in the first run and what in the second.
    """

    kind: str
    what: str
    detail: str

    def label(self) -> str:
        """The change in one line, without what it was."""
        return f"{self.kind} {self.what}"


class RunFolder(NamedTuple):
    """A results folder with its manifest."""

    folder: Path
    record: Record

    @property
    def studies(self) -> list[str]:
        """The names of the run's studies, longest first, so that a prefix is matched to the right one."""
        return sorted(self.record.reproducible.signatures, key=lambda name: (-len(name), name))

    def file(self, name: str) -> Path:
        """A file of the run by its path below the results folder."""
        return self.folder / name


def open_run(folder: Path) -> RunFolder:
    """Read a run's manifest."""
    return RunFolder(folder, read_record(folder / RECORD))


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of a JSON value with their dotted keys; a list of plain values is a leaf."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from flat(each, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        for number, each in enumerate(value):
            yield from flat(each, f"{prefix}[{number}]")
    else:
        yield prefix, json.dumps(value, ensure_ascii=False)


def _compare(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for key in sorted(a.keys() | b.keys()):
        if a.get(key) != b.get(key):
            yield key, a.get(key), b.get(key)


def _said(value: Any) -> str:
    return "none" if value is None else str(value)


def input_changes(a: RunFolder, b: RunFolder) -> list[Change]:
    """Every input that differs between two runs, records last."""
    one, other = a.record.reproducible, b.record.reproducible
    changes = []
    if one.faithfuse != other.faithfuse:
        changes.append(Change("version", "faithfuse", f"{one.faithfuse} → {other.faithfuse}"))
    for key, was, now in _compare(dict(flat(one.configuration)), dict(flat(other.configuration))):
        changes.append(Change("configuration", key, f"{_said(was)} → {_said(now)}"))
    packages = list(_compare(one.packages, other.packages))
    changes += [Change("package", name, f"{_said(was)} → {_said(now)}") for name, was, now in packages]
    if one.lock_sha256 != other.lock_sha256 and not packages:
        changes.append(Change("lock", "envs/lock.txt", "another file, though the installed versions are the same"))
    for key in sorted(one.models.keys() & other.models.keys()):
        was, now = one.models[key], other.models[key]
        entries = list(_compare(dict(flat(was.registry)), dict(flat(now.registry))))
        shown = [f"{name} {_said(x)} → {_said(y)}" for name, x, y in entries if not name.startswith("sha256")]
        if was.sha256 != now.sha256:
            shown.append(f"weights {was.sha256[:12]} → {now.sha256[:12]}")
        if shown:
            changes.append(Change("model", key, "; ".join(shown)))
    for name, was, now in _compare(one.code.files, other.code.files):
        state = "edited" if was and now else "only in the first" if was else "only in the second"
        changes.append(Change("code", name, state))
    for name, was, now in _compare(one.inputs, other.inputs):
        state = "edited" if was and now else "only in the first" if was else "only in the second"
        changes.append(Change("input", name, state))
    for study in sorted(set(a.studies) | set(b.studies)):
        changes += record_changes(a, b, study)
    return changes


def record_changes(a: RunFolder, b: RunFolder, study: str) -> list[Change]:
    """Items, responses and ratings of a study that differ; of each kind at most `LISTED` by name, else their number."""
    changes = []
    for kind, name, model in (
        ("item", "items.jsonl", Item),
        ("response", "responses.jsonl", Response),
        ("rating", "ratings.jsonl", Rating),
    ):
        file = f"items/{study}/{name}"
        listed = f"results/{file}"
        if a.record.reproducible.results.get(listed) == b.record.reproducible.results.get(listed):
            continue
        was, now = _records(a.file(file), model), _records(b.file(file), model)
        found = [(key, was.get(key), now.get(key)) for key in sorted(was.keys() | now.keys(), key=str)]
        found = [each for each in found if each[1] != each[2]]
        if len(found) > LISTED:
            new, gone = sum(each[1] is None for each in found), sum(each[2] is None for each in found)
            detail = f"{len(found)} differ: {len(found) - new - gone} changed, {gone} gone, {new} new"
            changes.append(Change(kind, study, detail))
        else:
            changes += [Change(kind, study, f"{_key(key)}: {_difference(x, y)}") for key, x, y in found]
    return changes


def _records(path: Path, model: type) -> dict[tuple, dict[str, Any]]:
    if not path.is_file():
        return {}
    try:
        return {record.sort_key(): record.model_dump(mode="json") for record in read_records(path, model)}
    except InputError:
        return {}


def _key(key: tuple) -> str:
    return " ".join(str(part) for part in key if part != -1)


def _difference(was: dict[str, Any] | None, now: dict[str, Any] | None) -> str:
    if was is None or now is None:
        given = was if was is not None else now
        value = f" ({_said(given.get('likert'))})" if given and "likert" in given else ""
        return f"gone{value}" if now is None else f"new{value}"
    parts = [f"{field} {_short(was[field])} → {_short(now[field])}" for field in was if was[field] != now[field]]
    return ", ".join(parts)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "…"

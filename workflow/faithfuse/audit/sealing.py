"""Turn plain tuples (query, source, answer, judgements where there are any) into sealed records."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faithfuse.audit.canonical import MAX_INTEGER, JsonError, canonical_json, irregularities, parse, pointer
from faithfuse.audit.check import check_bytes
from faithfuse.audit.codes import CODES
from faithfuse.audit.files import read_csv
from faithfuse.audit.priority import EQUAL_WEIGHTS
from faithfuse.audit.record import ADMISSIBLE, DIMENSIONS, FORMAT, PREDICATES, dimensions, seal, span
from faithfuse.audit.stream import read_values
from faithfuse.errors import InputError

FIELDS = {
    "query": "the query's text",
    "source": "the archived source's text",
    "answer": "the answer's text",
    "tuple_id": "identifier of the tuple (default: the row's number)",
    "query_id": "identifier of the query (default: the tuple's)",
    "source_id": "URL or archive identifier of the source (default: the tuple's)",
    "source_version": "version of the source (default: 1)",
    "source_role": "role of the source (default: unknown)",
    "source_observed_at": "when the source was archived",
    "window_start": "from when the source was used (default: source_observed_at)",
    "window_end": "until when the source was used (default: answer_observed_at)",
    "answer_id": "identifier of the answer (default: the tuple's)",
    "answer_version": "version of the answer (default: 1)",
    "answer_observed_at": "when the answer was observed",
    "pipeline": "name of what produced the answer",
    "pipeline_version": "its version (default: unknown)",
    "annotator": "who judged",
    "codebook": "version of the codebook",
    "made_at": "when the judgements were made (default: answer_observed_at)",
    "revision": "1 for the first (default: 1)",
    "replaces": "annotation digest of the revision before",
    "support": "citation support: 1, 0 or empty",
    "dQ": "query susceptibility, 0 to 1, or empty",
} | {
    f"{prefix}{name}": text
    for name in PREDICATES
    for prefix, text in (
        ("", f"judgement {name}: 1, 0 or empty for unresolved"),
        ("evidence_", f"the passage behind {name}, word for word (JSON Lines: also a list of passages or spans)"),
        ("reason_", f"why {name} is unresolved (default: not judged)"),
    )
}
"""Every field of a plain tuple, with what it is; only query, source and answer have no default."""


@dataclass(frozen=True)
class Defaults:
    """Values for the fields that a row does not give, and the weights of all rows."""

    values: dict[str, str] = field(default_factory=dict)
    weights: tuple[float, ...] = EQUAL_WEIGHTS


def read_tuples(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, row) of a CSV file (by its name) or a JSON Lines file.

    Raises:
        InputError: the file cannot be read, or a line is no object, repeats a key, or holds what JSON readers disagree
            on.
    """
    if path.suffix.lower() == ".csv":
        for line, cells in read_csv(path):
            yield line, {key: value for key, value in cells.items() if value != ""}
        return
    for line, raw in read_values(str(path), "lines"):
        try:
            value = parse(raw)
        except JsonError as error:
            fix = CODES[error.code][1]
            raise InputError(f"is not JSON ({error})", path=path, line=line, fix=fix) from None
        for code, place, found in irregularities(value):
            raise InputError(f"holds {found} at {pointer(place)}", path=path, line=line, fix=CODES[code][1])
        if not isinstance(value, dict):
            raise InputError("is no object", path=path, line=line, fix="Write one object a line.")
        yield line, value


def seal_tuple(row: dict[str, Any], defaults: Defaults, *, number: int) -> dict[str, Any]:
    """The sealed record of one plain tuple.

    Args:
        row: fields of `FIELDS`; `setting.NAME` fields become pipeline settings.
        defaults: values for what the row leaves out.
        number: the row's number, for the default identifier.

    Raises:
        InputError: a field is unknown, missing or out of range, or the evidence cannot be found in its snapshot.
    """
    settings = {key.removeprefix("setting."): value for key, value in row.items() if key.startswith("setting.")}
    unknown = [key for key in row if key not in FIELDS and not key.startswith("setting.")]
    if unknown:
        fix = f"Known fields: {', '.join(FIELDS)}, setting.NAME."
        raise InputError(f"has the unknown field {unknown[0]!r}", fix=fix)
    given = {key: row[key] if row.get(key) is not None else defaults.values.get(key) for key in FIELDS}
    for name in ("query", "source", "answer"):
        if not isinstance(given[name], str) or not given[name]:
            raise InputError(f"has no {name}", fix=f"Give {FIELDS[name]} in the field {name}.")

    def text(name: str, fallback: str | None = None) -> str:
        value = given[name] if given[name] is not None else fallback
        if value is None:
            fix = f"Give {FIELDS[name]} in the field {name} or as --{name.replace('_', '-')}."
            raise InputError(f"has no {name}", fix=fix)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise InputError(f"has {value!r:.60} for {name}", fix="Write text.")
        return str(value)

    tuple_id = text("tuple_id", f"row-{number}")
    observed, answered = text("source_observed_at"), text("answer_observed_at")
    snapshots = {name: given[name] for name in ("query", "source", "answer")}
    judged = {name: _judgement(given[name], name) for name in PREDICATES}
    evidence = {name: _spans(given[f"evidence_{name}"], name, snapshots) for name in PREDICATES}
    for name in PREDICATES:
        if judged[name] is not None and not evidence[name]:
            fix = f"Give the passage behind it in evidence_{name}, or leave {name} empty."
            raise InputError(f"judges {name} = {judged[name]} without evidence", fix=fix)
    record = {
        "annotation": {
            "annotator": text("annotator"),
            "codebook": text("codebook"),
            "evidence": evidence,
            "judgements": judged,
            "made_at": text("made_at", answered),
            "reasons": {
                name: None if judged[name] is not None else text(f"reason_{name}", "not judged") for name in judged
            },
            "replaces": given["replaces"],
            "revision": 1 if given["revision"] is None else _number(given["revision"], "revision"),
        },
        "claim": "conformance",
        "dimensions": dimensions(judged, _number(given["dQ"], "dQ")),
        "format": FORMAT,
        "support": _judgement(given["support"], "support"),
        "tuple": {
            "answer": {
                "id": text("answer_id", tuple_id),
                "observed_at": answered,
                "text": given["answer"],
                "version": text("answer_version", "1"),
            },
            "pipeline": {
                "evidence_selection": [],
                "name": text("pipeline"),
                "settings": settings,
                "version": text("pipeline_version", "unknown"),
            },
            "query": {"id": text("query_id", tuple_id), "text": given["query"]},
            "source": {
                "id": text("source_id", tuple_id),
                "observed_at": observed,
                "role": text("source_role", "unknown"),
                "text": given["source"],
                "version": text("source_version", "1"),
                "window": {"end": text("window_end", answered), "start": text("window_start", observed)},
            },
            "tuple_id": tuple_id,
        },
        "validation": {"level": "contract", "reference": None},
        "weights": dict(zip(DIMENSIONS, defaults.weights, strict=True)),
    }
    try:
        sealed = seal(record)
    except ValueError as error:
        raise InputError(
            f"cannot be sealed ({error})", record=tuple_id, fix="Write JSON values in whole Unicode."
        ) from None
    result = check_bytes(canonical_json(sealed))
    if not result.accepted:
        first = result.defects[0]
        raise InputError(f"{first.pointer}: {first.found}", record=tuple_id, fix=first.fix())
    return sealed


def seal_file(path: Path, defaults: Defaults) -> Iterator[bytes]:
    """Yield the sealed records of a file as canonical JSON, in file order.

    Raises:
        InputError: with path and line, as `seal_tuple`; or there is no tuple.
    """
    number = 0
    for number, (line, row) in enumerate(read_tuples(path), start=1):
        try:
            yield canonical_json(seal_tuple(row, defaults, number=number))
        except InputError as error:
            raise InputError(error.found, path=path, line=line, record=error.record, fix=error.fix) from None
    if not number:
        raise InputError("holds no tuple", path=path, fix="Give a file with at least one tuple.")


def parse_weights(text: str) -> tuple[float, ...]:
    """Weights from `dQ=0.2,dI=0.2,dA=0.2,dM=0.2,dD=0.2`, in the order of `DIMENSIONS`.

    Raises:
        InputError: not five numbers with these names.
    """
    pairs = [part.strip().partition("=") for part in text.split(",")]
    try:
        weights = {name: float(value) for name, _, value in pairs}
    except ValueError:
        weights = {}
    if len(pairs) != len(DIMENSIONS) or set(weights) != set(DIMENSIONS):
        raise InputError(f"--weights {text!r} are no five weights", fix="Write dQ=0.2,dI=0.2,dA=0.2,dM=0.2,dD=0.2.")
    return tuple(weights[name] for name in DIMENSIONS)


def _judgement(value: Any, name: str) -> int | None:
    if value is None:
        return None
    if value in ("0", "1"):
        return int(value)
    if type(value) is int and value in (0, 1):
        return value
    fix = "Write 1, 0, or nothing (JSON: null) for unresolved."
    raise InputError(f"has {value!r} for {name}", fix=fix)


def _number(value: Any, name: str) -> int | float | None:
    if value is None:
        return None
    try:
        if isinstance(value, bool):
            raise ValueError
        number = float(value)
        if not math.isfinite(number):
            raise ValueError
        return int(number) if number.is_integer() and abs(number) <= MAX_INTEGER else number
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"has {value!r} for {name}", fix="Write a number, or nothing.") from None


def _spans(value: Any, predicate: str, snapshots: dict[str, str]) -> list[dict[str, Any]]:
    """Spans from a passage, a list of passages, or a list of {snapshot, quote} or {snapshot, start, end}."""
    if value is None:
        return []
    spans = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            spans.append(_find(item, ADMISSIBLE[predicate], predicate, snapshots))
        elif isinstance(item, dict) and set(item) == {"snapshot", "quote"} and item["snapshot"] in snapshots:
            spans.append(_find(str(item["quote"]), (item["snapshot"],), predicate, snapshots))
        elif isinstance(item, dict) and set(item) >= {"snapshot", "start", "end"} and item["snapshot"] in snapshots:
            start, end = item["start"], item["end"]
            if not (type(start) is int and type(end) is int and 0 <= start < end <= len(snapshots[item["snapshot"]])):
                fix = "Offsets count code points, start < end, within the text."
                raise InputError(f"has the evidence {json.dumps(item)[:80]} for {predicate}", fix=fix)
            spans.append(span(snapshots, item["snapshot"], start, end))
        else:
            fix = "Write the passage, or {snapshot, quote}, or {snapshot, start, end}."
            raise InputError(f"has the evidence {item!r:.60} for {predicate}", fix=fix)
    return spans


def _find(quote: str, where: tuple[str, ...], predicate: str, snapshots: dict[str, str]) -> dict[str, Any]:
    """The one place where a passage stands."""
    if not quote:
        raise InputError(f"has an empty passage for {predicate}", fix="Quote at least one character.")
    places = []
    for name in where:
        start = snapshots[name].find(quote)
        while start >= 0 and len(places) < 2:
            places.append((name, start))
            start = snapshots[name].find(quote, start + 1)
    if len(places) != 1:
        found = "more than once" if places else "nowhere"
        fix = "Quote word for word, as much as makes it unique, or give offsets in JSON Lines."
        raise InputError(f"quotes {quote!r:.60} for {predicate}, which stands {found} in {' or '.join(where)}", fix=fix)
    name, start = places[0]
    return span(snapshots, name, start, start + len(quote))

"""Cost of the audit as the paper measures it (arXiv 2609.29145, section IV-E), beside a floor and usual validators.

21 batches after warm-up in one process: 16,200 tuples a batch for the endpoint, 810 records for validation plus audit.
Every system of a task runs in turn in the same run; `ratio` is its median over ours, so the floor's is below 1.

* `floor`: decode the same bytes with msgspec and take one SHA-256 over them.
* `jsonschema`, `pydantic`: the structural part only (types, ranges, missing and unknown fields), from the same bytes.

The paper reports 0.49 µs a tuple for the endpoint and 51.20 µs for validation plus audit, on a machine of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, Union

import harness
import jsonschema
import msgspec
import numpy as np
import pydantic
from msgspec import inspect

from faithfuse.audit.canonical import canonical_json
from faithfuse.audit.check import check_bytes
from faithfuse.audit.endpoint import omission_endpoint, omission_endpoints
from faithfuse.audit.priority import EQUAL_WEIGHTS, review_priorities
from faithfuse.audit.record import Record, json_schema, seal
from faithfuse.audit.stream import read_values
from faithfuse.audit.suite import fixtures, oracle
from faithfuse.audit.verdicts import check_stream

REPEATS = 21
ENDPOINT_TUPLES = 16_200
CHECKER_TUPLES = 810
ARRAY_TUPLES = 1_000_000
STREAM_RECORDS = 1_000_000 if os.environ.get("FAITHFUSE_SOAK") == "1" else 100_000  # a million take 2.4 GB of disk


def pydantic_type(spec: Any) -> Any:
    """The Pydantic type that says what a msgspec type says."""
    match spec:
        case inspect.Metadata():
            pattern = (spec.extra_json_schema or {}).get("pattern")
            inner = pydantic_type(spec.type)
            return Annotated[inner, pydantic.Field(pattern=pattern)] if pattern else inner
        case inspect.UnionType():
            return Union[tuple(pydantic_type(part) for part in spec.types)]  # noqa: UP007
        case inspect.NoneType():
            return type(None)
        case inspect.LiteralType():
            values = Literal[tuple(value for value in spec.values if value is not None)]  # type: ignore[misc]
            return Optional[values] if None in spec.values else values  # noqa: UP045
        case inspect.StructType():
            fields = {part.name: (pydantic_type(part.type), ...) for part in spec.fields}
            strict = pydantic.ConfigDict(extra="forbid", strict=True)
            return pydantic.create_model(spec.cls.__name__, __config__=strict, **fields)
        case inspect.DictType():
            return dict[str, pydantic_type(spec.value_type)]  # type: ignore[misc]
        case inspect.ListType():
            return list[pydantic_type(spec.item_type)]  # type: ignore[misc]
        case inspect.StrType():
            return Annotated[str, pydantic.Field(min_length=spec.min_length)]
        case inspect.BoolType():
            return bool
        case inspect.IntType():
            return Annotated[int, pydantic.Field(ge=spec.ge, le=spec.le)]
        case inspect.FloatType():
            return Annotated[float, pydantic.Field(ge=spec.ge, le=spec.le)]
    raise TypeError(type(spec).__name__)


def lengthened(record: dict[str, Any]) -> dict[str, Any]:
    """The record with a source and an answer as long as pages and answers are."""
    record["tuple"]["source"]["text"] += " A sentence of a longer page, as found.\n" * 250
    record["tuple"]["answer"]["text"] += " A sentence of a longer answer." * 50
    return seal(record)


def over(function: Callable[[bytes], object], records: list[bytes]) -> Callable[[], None]:
    """One batch: the function over every record."""

    def batch() -> None:
        for record in records:
            function(record)

    return batch


def checker_systems(records: list[bytes]) -> dict[str, Callable[[], object]]:
    """The systems of the task `validation plus audit`."""
    decode, sha256 = msgspec.json.Decoder().decode, hashlib.sha256
    validator = jsonschema.Draft202012Validator(json_schema())
    model = pydantic_type(inspect.type_info(Record))

    def floor(raw: bytes) -> None:
        decode(raw)
        sha256(raw).digest()

    def structural(raw: bytes) -> None:
        if not validator.is_valid(json.loads(raw)):
            raise AssertionError("a valid record does not satisfy the schema")

    def accepted(raw: bytes) -> None:
        if not check_bytes(raw).accepted:
            raise AssertionError("a valid record was rejected")

    return {
        "ours": over(accepted, records),
        "floor": over(floor, records),
        "jsonschema": over(structural, records),
        "pydantic": over(model.model_validate_json, records),
    }


def main(out: Path) -> None:
    """Measure and write the table to `out`."""
    table: list[dict[str, object]] = []
    states = [state for state in product((1, 0, None), repeat=4) for _ in range(ENDPOINT_TUPLES // 81)]

    def endpoint() -> None:
        for relationship, adoption, materiality, disclosure in states:
            omission_endpoint(relationship, adoption, materiality, disclosure)

    table += harness.rows("endpoint, a tuple at a time", harness.time_in_turn({"ours": endpoint}, REPEATS), len(states))

    rng = np.random.default_rng(0)
    predicates = [rng.integers(-1, 2, ARRAY_TUPLES).astype(np.int8) for _ in range(4)]
    arrays = {"ours": lambda: omission_endpoints(*predicates)}
    table += harness.rows("endpoint, arrays", harness.time_in_turn(arrays, REPEATS), ARRAY_TUPLES)
    dimensions = rng.random((ARRAY_TUPLES, 5))
    arrays = {"ours": lambda: review_priorities(dimensions, EQUAL_WEIGHTS)}
    table += harness.rows("priority, arrays", harness.time_in_turn(arrays, REPEATS), ARRAY_TUPLES)

    fixed = [canonical_json(fixtures.record(state)) for state in oracle.STATES] * (CHECKER_TUPLES // 81)
    seconds = harness.time_in_turn(checker_systems(fixed), REPEATS)
    table += harness.rows("validation plus audit, the suite's records", seconds, CHECKER_TUPLES)

    longer = [canonical_json(lengthened(fixtures.record(state))) for state in oracle.STATES]
    seconds = harness.time_in_turn(checker_systems(longer), REPEATS)
    table += harness.rows("validation plus audit, source of 10,000 code points", seconds, len(longer))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "records.jsonl")
        path.write_bytes(b"".join(record + b"\n" for record in fixed[:81]) * (STREAM_RECORDS // 81))
        count = STREAM_RECORDS // 81 * 81

        def stream() -> None:
            with Path(folder, "verdicts.csv").open("w", encoding="utf-8", newline="") as verdicts:
                values = ((str(path), position, raw) for position, raw in read_values(str(path)))
                if check_stream(values, out=verdicts).total != count:
                    raise AssertionError("records were lost")

        seconds = harness.time_in_turn({"ours": stream}, 3, warmup=0)
        table += harness.rows("audit check of a JSON Lines file, verdicts to CSV", seconds, count)
    harness.write(out, table)

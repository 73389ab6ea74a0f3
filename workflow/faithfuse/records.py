"""The typed records that travel between stages, and how they are read and written.

Files are JSON Lines: UTF-8, `\\n` line ends, one record a line in the order of its key, floats in their
shortest exact form. So the same records always give the same bytes. Writing is atomic: a stage that fails
leaves the previous file as it was.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from faithfuse.errors import InputError


class Domain(StrEnum):
    """The evaluation domains of arXiv 2512.05700, section III; `task_oriented` exists in the data set alone."""

    SHORT_FORM_QA = "short_form_qa"
    LONG_FORM_QA = "long_form_qa"
    CONVERSATIONAL_QA = "conversational_qa"
    SUMMARISATION = "summarisation"
    TASK_ORIENTED = "task_oriented"


EVALUATED_DOMAINS = (
    Domain.SHORT_FORM_QA,
    Domain.LONG_FORM_QA,
    Domain.CONVERSATIONAL_QA,
    Domain.SUMMARISATION,
)


class Record(BaseModel):
    """Base of all records: unknown fields are refused, records are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def sort_key(self) -> tuple:
        """The record's key in its file; files are written in this order and keys are unique."""
        raise TypeError(f"{type(self).__name__} has no key")


class Turn(Record):
    """One utterance of a dialogue."""

    speaker: str
    text: str


class References(Record):
    """What people hold to be right: short answers (aliases), long answers, and the key points of a summary."""

    short: list[str] = Field(default_factory=list)
    long: list[str] = Field(default_factory=list)
    points: list[str] = Field(default_factory=list)


class Item(Record):
    """One question or dialogue to answer or summarise.

    `group` is the leakage key: items of one dialogue, document or question family share it, and no split
    ever separates them.
    """

    item_id: str = Field(min_length=1)
    domain: Domain
    source_set: str = Field(min_length=1)
    question: str | None = None
    context: list[Turn] = Field(default_factory=list)
    references: References
    group: str = Field(min_length=1)
    provenance: dict[str, Any] = Field(default_factory=dict)

    def sort_key(self) -> tuple:
        return (self.item_id,)

    @model_validator(mode="after")
    def _has_what_its_domain_needs(self) -> Item:
        needs_question = self.domain in (Domain.SHORT_FORM_QA, Domain.LONG_FORM_QA, Domain.CONVERSATIONAL_QA)
        if needs_question and not (self.question or "").strip():
            raise ValueError(f"a {self.domain} item needs a question")
        needs_context = self.domain in (Domain.CONVERSATIONAL_QA, Domain.SUMMARISATION)
        if needs_context and not self.context and not self.provenance.get("context_missing"):
            raise ValueError(
                f"a {self.domain} item needs a context (a list of speaker and text), or provenance.context_missing "
                "with the reason"
            )
        return self

    def gold(self) -> list[str]:
        """The reference texts of the item's own domain, all of them, in file order.

        Short answers for short-form QA; long answers (else short ones) for long-form and conversational QA;
        for summaries the long references, else the points joined by blanks.
        """
        refs = self.references
        if self.domain == Domain.SHORT_FORM_QA:
            return refs.short or refs.long
        if self.domain == Domain.SUMMARISATION:
            return refs.long or ([" ".join(refs.points)] if refs.points else [])
        if self.domain == Domain.CONVERSATIONAL_QA:
            return refs.short + refs.long
        return refs.long or refs.short

    def transcript(self) -> str:
        """The context as `Speaker: text` lines."""
        return "\n".join(f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text for turn in self.context)


class Response(Record):
    """What a system answered to an item; `text` is null only together with a `reason`."""

    item_id: str = Field(min_length=1)
    system: str = Field(min_length=1)
    text: str | None
    points: list[str] = Field(default_factory=list, description="a summary's points, in order")
    origin: Literal["recorded", "generated"] = "recorded"
    prompt_digest: str | None = None
    template_digest: str | None = None
    prompt_tokens: int | None = Field(default=None, ge=0)
    response_tokens: int | None = Field(default=None, ge=0)
    hit_token_limit: bool | None = None
    reason: str | None = Field(default=None, description="why there is no text")

    def sort_key(self) -> tuple:
        return (self.item_id, self.system)

    @field_validator("text")
    @classmethod
    def _not_blank(cls, text: str | None) -> str | None:
        if text is not None and not text.strip():
            raise ValueError("the response is empty")
        return text

    @model_validator(mode="after")
    def _null_has_a_reason(self) -> Response:
        if self.text is None and not self.reason:
            raise ValueError("a response without text needs a reason")
        return self


class Rating(Record):
    """One person's judgement of a response, or of one of its points (zero-based).

    `likert` is on 1–5 (fractions occur where a set's own scale is mapped), null for abstain.
    """

    item_id: str = Field(min_length=1)
    system: str = Field(min_length=1)
    annotator: str = Field(min_length=1)
    point: int | None = Field(default=None, ge=0)
    likert: float | None = Field(ge=1, le=5)

    def sort_key(self) -> tuple:
        return (self.item_id, self.system, self.annotator, -1 if self.point is None else self.point)

    def faithful(self) -> bool | None:
        """The paper's Bool: Likert three or more (section V-C); null for abstain."""
        return None if self.likert is None else self.likert >= 3


class Verdict(Record):
    """What the LLM judge says of a response or of one point.

    `scope` is `answer` (QA), `fact` (one summary point) or `full` (all points); `target` is what it is judged
    against; a summary's point may be judged against each of the reference's points (`reference_point`, zero-based).
    `score` is Confidence in 0–1 or the greedy Likert integer 0–5; `expected` the expected Likert
    value over 0–5 (null for Confidence). `label_logprobs` are natural logarithms of whole-label probabilities,
    end of turn included; `label_mass` is their summed probability. `off_label` is what the model would have said
    instead of a label, null when it says one.
    """

    item_id: str
    system: str
    point: int | None = None
    judge: str
    kind: Literal["confidence", "likert"]
    scope: Literal["answer", "fact", "full"]
    target: Literal["reference", "transcript"]
    reference_point: int | None = None
    label_logprobs: dict[str, float] | None = None
    label_mass: float | None = None
    choice: str | None = None
    off_label: str | None = None
    score: float | None = None
    expected: float | None = None
    prompt_digest: str | None = None
    template_digest: str | None = None
    prompt_tokens: int | None = None
    reason: str | None = None

    def sort_key(self) -> tuple:
        point = -1 if self.point is None else self.point
        reference_point = -1 if self.reference_point is None else self.reference_point
        return (self.item_id, self.system, self.scope, self.target, self.kind, point, reference_point)


class Graph(Record):
    """The AMR graph of one sentence, keyed by the sentence and the parser's signature."""

    graph_id: str
    sentence: str
    parser: str
    penman: str | None
    reason: str | None = None

    def sort_key(self) -> tuple:
        return (self.graph_id,)

    @staticmethod
    def key(sentence: str, parser: str) -> str:
        """SHA-256 of the sentence and the parser signature, as hexadecimal."""
        return hashlib.sha256(f"{parser}\x00{sentence}".encode()).hexdigest()


class Score(Record):
    """One metric's value of a response (`point` null) or of one of its points; null only with a reason."""

    item_id: str
    system: str
    point: int | None = None
    metric: str
    value: float | None
    reason: str | None = None

    def sort_key(self) -> tuple:
        return (self.item_id, self.system, self.metric, -1 if self.point is None else self.point)

    @model_validator(mode="after")
    def _null_has_a_reason(self) -> Score:
        if self.value is None and not self.reason:
            raise ValueError(f"{self.metric} is null without a reason")
        return self


R = TypeVar("R", bound=Record)


@contextlib.contextmanager
def atomic_write(path: Path | str, mode: str = "w") -> Iterator[Any]:
    """Open a temporary file beside `path` and move it there when the block ends without an error."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, mode, **text) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def iter_json_lines(path: Path | str) -> Iterator[tuple[int, Any]]:
    """Yield (one-based line number, value) of a JSON Lines file, blank lines left out.

    Raises:
        InputError: the file is missing, is not UTF-8, or a line is not JSON.
    """
    path = Path(path)
    try:
        stream = path.open("rb")
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", path=path, fix="Check the path and the permissions."
        ) from None
    with stream:
        for number, raw in enumerate(stream, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"byte {error.start + 1} of the line is not UTF-8",
                    path=path,
                    line=number,
                    fix="Save the file as UTF-8.",
                ) from None
            if not line.strip():
                continue
            try:
                yield number, json.loads(line, object_pairs_hook=_unique_keys)
            except (ValueError, RecursionError) as error:
                if isinstance(error, json.JSONDecodeError):
                    detail = f"{error.msg} at column {error.colno}"
                else:
                    # A repeated key or a number too long to read, or brackets without end.
                    detail = str(error) if isinstance(error, ValueError) else "nested too deeply"
                raise InputError(
                    f"is not JSON ({detail})",
                    path=path,
                    line=number,
                    fix="Write one whole JSON object a line.",
                ) from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands twice")
    return value


def read_records(path: Path | str, kind: type[R]) -> list[R]:
    """Read a JSON Lines file of one kind of record; keys must be unique.

    Raises:
        InputError: a line is broken, a field is missing, unknown or out of range, or two records share a key.
    """
    records: list[R] = []
    seen: dict[tuple, int] = {}
    for number, value in iter_json_lines(path):
        try:
            record = kind.model_validate(value)
        except ValidationError as error:
            raise InputError(
                f"is no {kind.__name__}: {describe(error)}",
                path=path,
                line=number,
                record=value.get("item_id") if isinstance(value, dict) else None,
                fix=f"See the fields of {kind.__name__} in docs/records.md.",
            ) from None
        key = record.sort_key()
        if key in seen:
            raise InputError(
                f"repeats the {kind.__name__} of line {seen[key]}",
                path=path,
                line=number,
                record=" ".join(str(part) for part in key),
                fix="Give each record its own id, or remove one of the two.",
            )
        seen[key] = number
        records.append(record)
    return records


def read_json_object(path: Path | str, fix: str = "Run the stage that writes it again.") -> dict[str, Any]:
    """Read a file that holds one JSON object.

    Args:
        path: the file.
        fix: what to do when it cannot be had.

    Raises:
        InputError: the file cannot be read, is not JSON, or holds something else than an object.
    """
    path = Path(path)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path, fix=fix) from None
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", path=path, fix=fix) from None
    if not isinstance(value, dict):
        raise InputError("holds no JSON object", path=path, fix=fix)
    return value


def describe(error: ValidationError) -> str:
    """A validation error in one line: each field, what was found and what was expected."""
    parts = []
    for problem in error.errors():
        field = ".".join(str(part) for part in problem["loc"]) or "the record"
        found = problem.get("input")
        shown = "" if problem["type"] == "missing" or isinstance(found, dict) else f", found {found!r:.60}"
        parts.append(f"{field}: {problem['msg']}{shown}")
    return "; ".join(parts)


def dump_line(record: Record) -> str:
    """A record as one line of JSON without its line end; keys in the model's order, text unescaped."""
    return json.dumps(record.model_dump(mode="json"), ensure_ascii=False, allow_nan=False)


def write_records(path: Path | str, records: Iterable[Record]) -> None:
    """Write records in the order of their keys, atomically."""
    with atomic_write(path) as stream:
        for record in sorted(records, key=lambda record: record.sort_key()):
            stream.write(dump_line(record) + "\n")

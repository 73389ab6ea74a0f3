"""Prompts as data: `config/prompts/<set>.yaml`, and what every set has in common, and how they become messages.

Common are `examples.yaml`, `variants.yaml` (summaries judged against the reference) and `likelihood.yaml`.

The wording is the paper's (arXiv 2512.05700, appendices A to C). A set's `separator` stands between the literals of a
prompt: nothing in `verbatim`, a line break in `repaired`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from string import Formatter
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, describe

Messages = list[dict[str, str]]
FIELDS = ("question", "transcript", "ground_truth", "response")
LIKERT_LABELS = tuple("012345")


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswerPrompt(_Data):
    """An answering prompt: the instruction stands once, before the first of the turns that pass a question."""

    source: str
    user: list[str] = Field(min_length=1)
    turn: list[str] = Field(min_length=1)


class JudgePrompt(_Data):
    """A judging prompt; with `faithful` and `unfaithful` it asks for Confidence, without them for Likert.

    `separator` stands in place of the set's.
    """

    source: str
    scope: Literal["answer", "fact", "full"]
    target: Literal["reference", "transcript"]
    separator: str | None = None
    system: list[str] = Field(default_factory=list)
    user: list[str] = Field(min_length=1)
    faithful: str | None = None
    unfaithful: str | None = None

    @model_validator(mode="after")
    def _both_labels_or_none(self) -> JudgePrompt:
        if (self.faithful is None) != (self.unfaithful is None):
            raise ValueError("`faithful` and `unfaithful` stand together")
        return self

    @property
    def kind(self) -> Literal["confidence", "likert"]:
        return "confidence" if self.faithful else "likert"

    @property
    def labels(self) -> tuple[str, ...]:
        """Both labels, the faithful one first; or the integers 0 to 5."""
        return (self.faithful, self.unfaithful) if self.faithful and self.unfaithful else LIKERT_LABELS


class LikelihoodPrompt(_Data):
    """A user turn whose reply is scored by its likelihood."""

    source: str
    user: list[str] = Field(min_length=1)


class Example(_Data):
    """One in-context example of an answering prompt."""

    question: str | None = None
    transcript: str | None = None
    answer: str


class PromptSet(_Data):
    """All prompts of one set; `variants` are judging prompts that are put only when they are asked for by name.

    `digest` is the SHA-256 of the set's and the examples' content, comments aside.
    """

    name: str
    digest: str
    source: str
    separator: str
    answer: dict[Domain, AnswerPrompt]
    judge: dict[Domain, dict[str, JudgePrompt]]
    variants: dict[Domain, dict[str, dict[str, JudgePrompt]]] = Field(default_factory=dict)
    likelihood: dict[Domain, dict[str, LikelihoodPrompt]] = Field(default_factory=dict)
    examples: dict[Domain, list[Example]]

    def _join(self, parts: list[str], values: dict[str, str]) -> str:
        # Fields are filled one literal at a time by plain replacement, so braces in a user's text mean nothing.
        return self.separator.join(_fill(part, values) for part in parts)

    def answering(self, item: Item) -> Messages:
        """The chat messages that ask for an answer to `item`, in-context examples first."""
        prompt = self.answer[item.domain]
        instruction = self.separator.join(prompt.user)
        messages: Messages = []
        turns = [*self.examples.get(item.domain, []), None]
        for number, example in enumerate(turns):
            if example is None:
                values = {"question": item.question or "", "transcript": item.transcript()}
            else:
                values = {"question": example.question or "", "transcript": example.transcript or ""}
            turn = self._join(prompt.turn, values)
            if number == 0:
                turn = instruction + self.separator * 2 + turn
            messages.append({"role": "user", "content": turn})
            if example is not None:
                messages.append({"role": "assistant", "content": example.answer})
        return messages

    def judges(self, domain: Domain, variants: Sequence[str] = ()) -> dict[str, JudgePrompt]:
        """The judging prompts of a domain by name, with those of the named variants that it has."""
        found = dict(self.judge.get(domain, {}))
        for variant, group in self.variants.get(domain, {}).items():
            if variant in variants:
                found |= {f"{variant} {name}": prompt for name, prompt in group.items()}
        return found

    def require_variants(self, names: Sequence[str]) -> None:
        """Raise an `InputError` for a variant that no domain has."""
        known = sorted({variant for group in self.variants.values() for variant in group})
        for name in names:
            if name not in known:
                raise InputError(f"there is no judging variant {name!r}", fix=f"Use one of {', '.join(known)}.")

    def judging(self, prompt: JudgePrompt, values: dict[str, str]) -> Messages:
        """The chat messages of a judging prompt."""
        messages: Messages = []
        if prompt.system:
            # A system message's literals carry their own blanks in the paper.
            messages.append({"role": "system", "content": "".join(prompt.system)})
        separator = self.separator if prompt.separator is None else prompt.separator
        messages.append({"role": "user", "content": separator.join(_fill(part, values) for part in prompt.user)})
        return messages

    def replying(self, prompt: LikelihoodPrompt, values: dict[str, str]) -> Messages:
        """The chat messages before a reply whose likelihood is measured."""
        return [{"role": "user", "content": "\n".join(_fill(part, values) for part in prompt.user)}]


def ground_truth(item: Item) -> str | None:
    """The reference answers of a QA item as one line for a judge, null when it has none.

    All references of the item's domain, in file order, repetitions (case aside) left out, joined by "; "
    (docs/decisions/0301-ground-truth-line.md).
    """
    kept: dict[str, str] = {}
    for text in item.gold():
        if text.strip():
            kept.setdefault(text.strip().casefold(), text.strip())
    return "; ".join(kept.values()) or None


def load_prompts(folder: Path | str, name: str) -> PromptSet:
    """Read a prompt set and the examples.

    Raises:
        InputError: a file is missing or is not what a prompt set must be.
    """
    folder = Path(folder)
    document, examples = _read(folder / f"{name}.yaml"), _read(folder / "examples.yaml")
    examples.pop("source", None)
    document["likelihood"] = _read(folder / "likelihood.yaml")
    document["variants"] = _read(folder / "variants.yaml")
    content = yaml.safe_dump([document, examples], sort_keys=True, allow_unicode=True)
    digest = hashlib.sha256(content.encode()).hexdigest()
    try:
        prompts = PromptSet.model_validate({**document, "name": name, "digest": digest, "examples": examples})
    except ValidationError as error:
        raise InputError(
            f"is no prompt set: {describe(error)}", path=folder / f"{name}.yaml", fix="Compare it with repaired.yaml."
        ) from None
    literals = [part for prompt in prompts.answer.values() for part in prompt.turn]
    literals += [part for group in prompts.judge.values() for prompt in group.values() for part in prompt.user]
    literals += [
        part
        for domain in prompts.variants.values()
        for group in domain.values()
        for prompt in group.values()
        for part in prompt.user
    ]
    literals += [part for group in prompts.likelihood.values() for prompt in group.values() for part in prompt.user]
    for literal in literals:
        unknown = {field for _, field, _, _ in Formatter().parse(literal) if field is not None} - set(FIELDS)
        if unknown:
            raise InputError(
                f"uses the unknown field {{{sorted(unknown)[0]}}}",
                path=folder / f"{name}.yaml",
                fix=f"Use {', '.join(FIELDS)}.",
            )
    return prompts


def _read(path: Path) -> dict:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", path=path, fix="Check --prompts and --prompt-set.") from None
    except yaml.YAMLError as error:
        raise InputError(f"is not YAML ({error})", path=path, fix="Mend the file's syntax.") from None
    if not isinstance(document, dict):
        raise InputError("is no mapping", path=path, fix="Compare it with repaired.yaml.")
    return document


def _fill(literal: str, values: dict[str, str]) -> str:
    pieces = []
    for text, field, _, _ in Formatter().parse(literal):
        pieces.append(text)
        if field is not None:
            pieces.append(values[field])
    return "".join(pieces)

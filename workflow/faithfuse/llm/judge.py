"""LLM Confidence and LLM Likert (arXiv 2512.05700, section IV-A; prompts A-B, B-B and C-B).

Both are read from log-probabilities of whole labels, never from prose. docs/judge.md works an example by hand.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from faithfuse.llm.batches import run_batches, shared_prefix
from faithfuse.llm.cache import BatchCache
from faithfuse.llm.model import LanguageModel, PackedState
from faithfuse.llm.plan import cut, split_group, tree_size, windows
from faithfuse.llm.points import read_points, reference_points
from faithfuse.llm.progress import Progress
from faithfuse.llm.prompts import FIELDS, JudgePrompt, PromptSet, ground_truth
from faithfuse.records import Domain, Item, Response, Verdict

WINDOW = 24
"""Items per planning window."""
BATCH_TOKENS = 1024
"""New tokens of one forward pass, the shared prefix not counted."""
DIGITS = 6
"""Decimals of a log-probability in a record; a score is computed from the rounded values, so a reader can check it."""
_LEADING_DIGIT = re.compile(r"\s*([0-5])(?!\d|[.,]\d)")
NO_DIGIT = "the model's own first tokens are no digit 0 to 5"


@dataclass(frozen=True)
class Request:
    """One question to the judge: whose answer, which prompt, its token ids and the labels' tokens."""

    item_id: str
    system: str
    point: int | None
    prompt: JudgePrompt
    group: str
    ids: list[int]
    prompt_digest: str
    reference_point: int | None
    labels: dict[str, list[int]]


def judge(
    items: Sequence[Item],
    responses: Sequence[Response],
    model: LanguageModel,
    prompts: PromptSet,
    *,
    cache: Path | None = None,
    shard: tuple[int, int] = (1, 1),
    batch_tokens: int = BATCH_TOKENS,
    off_label_tokens: int = 1,
    strict: bool = False,
    variants: Sequence[str] = (),
) -> list[Verdict]:
    """Judge every response: Confidence and Likert of QA answers; of summaries for each point and as a whole.

    Summaries are judged against their transcript; by the variant `full_reference` also against the reference summary,
    by `fact_reference` also each point against each point of the reference.

    Args:
        items: the items, in the order that plans follow.
        responses: what is judged; each must belong to one of the items.
        model: the judge.
        prompts: the prompt set.
        cache: folder of finished batches; null keeps none.
        shard: (K, N), this job's share of the plan's batches; the others' verdicts are left out of the result.
        batch_tokens: new tokens of one forward pass.
        off_label_tokens: how many tokens of what the model would say itself are decoded; the first is free.
        strict: make a verdict null when the model itself would say something else than a label.
        variants: names of variants to judge by as well.

    Returns:
        Verdicts in the order of their keys. One that cannot be had is null with its reason.
    """
    prompts.require_variants(variants)
    by_item: dict[str, list[Response]] = {}
    for response in responses:
        by_item.setdefault(response.item_id, []).append(response)
    requests: dict[tuple[Domain, str], list[list[Request]]] = {}
    labels: dict[tuple[Domain, str], dict[str, list[int]]] = {}
    verdicts: list[Verdict] = []
    for item in items:
        for name, prompt in prompts.judges(item.domain, variants).items():
            if (item.domain, name) not in labels:
                labels[item.domain, name] = _labels(model, prompts, prompt)
            asked, refused = _ask(
                item, by_item.get(item.item_id, []), prompt, prompts, model, labels[item.domain, name]
            )
            if shard[0] == 1:
                verdicts += refused
            requests.setdefault((item.domain, name), []).append(asked)
    total = sum(len(asked) for per_item in requests.values() for asked in per_item)
    settings = {**model.identity, "stage": "judge", "off_label_tokens": off_label_tokens}
    with Progress("judge", total) as progress, BatchCache(cache, settings, progress.say) as store:
        for (domain, name), per_item in requests.items():
            prompt = prompts.judges(domain, variants)[name]
            probes = [model.prompt_ids(prompts.judging(prompt, dict.fromkeys(FIELDS, text))) for text in "aZ7"]
            prefix = shared_prefix(probes)
            for known, plan in _plan(per_item, prefix, batch_tokens):
                runner = _Runner(model, known, off_label_tokens)
                results = run_batches(plan, runner.describe, runner.compute, runner.tokens, store, progress, shard)
                for number, rows in results.items():
                    for request, row in zip(plan[number], rows, strict=True):
                        verdicts.append(_verdict(model, request, row, strict))
    return sorted(verdicts, key=lambda verdict: verdict.sort_key())


def judged_points(response: Response) -> list[str]:
    """A summary's points: as recorded, else read from its text."""
    return response.points or read_points(response.text or "")


def confidence(faithful: float, unfaithful: float) -> float:
    """The paper's LLM Confidence from the two labels' log-probabilities.

    p is the probability of the label with the higher one, normalised over the two labels; the score is p if that is
    the faithful label and 1 - p if not (section V-A), so it lies in 0–1 and is above 0.5 exactly when the judge
    prefers "faithful".
    """
    return 1 / (1 + math.exp(min(unfaithful - faithful, 700.0)))


def expected_likert(logprobs: dict[str, float]) -> float:
    """The expected Likert value over 0–5, from log-probabilities of the digits normalised over the six."""
    top = max(logprobs.values())
    weights = {int(label): math.exp(value - top) for label, value in logprobs.items()}
    return sum(value * weight for value, weight in weights.items()) / sum(weights.values())


def greedy_likert(text: str) -> int | None:
    """The integer 0–5 that a reply begins with, null when it begins with anything else ("10", "4.5", "I rate")."""
    match = _LEADING_DIGIT.match(text)
    return int(match[1]) if match else None


def _labels(model: LanguageModel, prompts: PromptSet, prompt: JudgePrompt) -> dict[str, list[int]]:
    """Tokens of the prompt's labels; they do not depend on what is judged."""
    return model.label_ids(prompts.judging(prompt, dict.fromkeys(FIELDS, "a")), prompt.labels)


def _ask(
    item: Item,
    responses: Sequence[Response],
    prompt: JudgePrompt,
    prompts: PromptSet,
    model: LanguageModel,
    labels: dict[str, list[int]],
) -> tuple[list[Request], list[Verdict]]:
    """All requests that one prompt makes of an item, and null verdicts where it cannot."""
    requests: list[Request] = []
    refused: list[Verdict] = []
    truths: list[tuple[int | None, str]] = [(None, truth)] if (truth := ground_truth(item)) is not None else []
    if prompt.scope == "fact" and prompt.target == "reference":
        truths = list(enumerate(reference_points(item)))
    if prompt.target == "transcript":
        truths = [(None, truth or "")]
    longest = max(map(len, labels.values()))
    for response in sorted(responses, key=lambda response: response.system):
        if response.text is None:
            refused.append(_null(model, response, None, prompt, f"no response: {response.reason}"))
            continue
        texts: list[tuple[int | None, str]] = [(None, response.text)]
        if prompt.scope == "fact":
            texts = list(enumerate(judged_points(response)))
        if not truths:
            refused += [_null(model, response, n, prompt, "the item has no reference answer") for n, _ in texts]
        for (number, reference), (point, text) in product(truths, texts):
            values = {
                "question": item.question or "",
                "transcript": item.transcript(),
                "ground_truth": reference,
                "response": text,
            }
            messages = prompts.judging(prompt, values)
            ids = model.prompt_ids(messages)
            digest = hashlib.sha256(model.prompt_text(messages).encode()).hexdigest()
            if len(ids) + longest > model.context:
                reason = f"the prompt has {len(ids)} tokens, the model's context {model.context}"
                verdict = _null(model, response, point, prompt, reason, number)
                refused.append(verdict.model_copy(update={"prompt_tokens": len(ids), "prompt_digest": digest}))
                continue
            group = item.transcript() or item.item_id
            requests.append(Request(item.item_id, response.system, point, prompt, group, ids, digest, number, labels))
    return requests, refused


def _plan(
    per_item: Sequence[Sequence[Request]], prefix: Sequence[int], budget: int
) -> list[tuple[list[int], list[list[Request]]]]:
    """Batches of requests: of those that begin with the prefix, and of those that do not (with no prefix)."""
    plans = []
    for known in [list(prefix), []] if prefix else [[]]:
        chosen = [
            [request for request in requests if (request.ids[: len(prefix)] == list(prefix)) == bool(known)]
            for requests in per_item
        ]
        batches = [batch for window in windows(chosen, WINDOW) for batch in _cut_window(window, len(known), budget)]
        if batches:
            plans.append((known, batches))
    return plans


def _cut_window(window: Sequence[Sequence[Request]], skip: int, budget: int) -> list[list[Request]]:
    """Batches of one window; requests about one dialogue stay together as far as the budget allows."""
    groups: dict[str, list[Request]] = {}
    for request in (request for requests in window for request in requests):
        groups.setdefault(request.group, []).append(request)
    pieces = [
        (tree_size([request.ids[skip:] for request in piece]), piece)
        for group in groups.values()
        for piece in split_group(group, lambda request: request.ids[skip:], budget)
    ]
    return [[request for _, piece in batch for request in piece] for batch in cut(pieces, lambda p: p[0], budget)]


class _Runner:
    """Computes the batches of one shared prefix, which it encodes when the first batch needs it."""

    def __init__(self, model: LanguageModel, prefix: Sequence[int], off_label_tokens: int) -> None:
        self.model = model
        self.prefix = list(prefix)
        self.off_label_tokens = off_label_tokens
        self._encoded: Any = None

    def _groups(self, batch: Sequence[Request]) -> list[list[Request]]:
        groups: dict[str, list[Request]] = {}
        for request in batch:
            groups.setdefault(request.group, []).append(request)
        return list(groups.values())

    def describe(self, batch: Sequence[Request]) -> Any:
        return {
            "prefix": self.prefix,
            "groups": [[[r.ids, list(r.labels.values())] for r in group] for group in self._groups(batch)],
        }

    def tokens(self, batch: Sequence[Request]) -> int:
        return tree_size([request.ids[len(self.prefix) :] for request in batch])

    def compute(self, batch: Sequence[Request]) -> list[dict[str, Any]]:
        """For each request the labels' log-probabilities and the tokens that the model would say itself."""
        if self._encoded is None:
            self._encoded = self.model.encode_prefix(self.prefix)
        skip = len(self.prefix)
        groups = self._groups(batch)
        pairs = [[(r.ids[skip:], label) for r in group for label in r.labels.values()] for group in groups]
        scored, state = self.model.score(self._encoded, pairs)
        rows: list[dict[str, Any]] = []
        going: list[tuple[int, list[int], int]] = []
        cursor = 0
        for request in (r for group in groups for r in group):
            logprobs, said, clean = {}, [], False
            for label, ids in request.labels.items():
                result = scored[cursor]
                logprobs[label] = math.fsum(result.logprobs)
                agreed = 0
                while agreed < len(ids) and result.greedy[agreed] == ids[agreed]:
                    agreed += 1
                own = result.greedy[: min(agreed + 1, len(ids))]
                if len(own) > len(said) or not said:
                    said, clean = own, agreed == len(ids)
                    path = state.prompts[cursor] + state.replies[cursor][: len(own) - 1]
                cursor += 1
            rows.append({"logprobs": list(logprobs.values()), "said": said, "clean": clean})
            if not clean and len(said) < self.off_label_tokens and said[-1] not in self.model.end_tokens:
                going.append((len(rows) - 1, path, self.off_label_tokens - len(said) + 1))
        if going:
            packed = PackedState(state.key_values, [path for _, path, _ in going], state.replies, state.offset)
            more = self.model.extend(
                self._encoded,
                [(packed, range(len(going)))],
                [rows[n]["said"][-1] for n, _, _ in going],
                [limit for _, _, limit in going],
            )
            for (n, _, _), tokens in zip(going, more, strict=True):
                rows[n]["said"] = rows[n]["said"][:-1] + tokens
        # Requests were laid out group by group; give them back in the batch's own order.
        place = {id(r): n for n, r in enumerate(r for group in groups for r in group)}
        return [rows[place[id(request)]] for request in batch]


def _verdict(model: LanguageModel, request: Request, row: dict[str, Any], strict: bool) -> Verdict:
    prompt = request.prompt
    logprobs = {label: round(value, DIGITS) for label, value in zip(request.labels, row["logprobs"], strict=True)}
    said = model.decode(row["said"])
    verdict = _null(model, request, request.point, prompt, None, request.reference_point)
    expected, reason = None, None
    if prompt.kind == "confidence":
        faithful, unfaithful = logprobs.values()
        score: float | None = round(confidence(faithful, unfaithful), DIGITS)
        choice: str | None = str(prompt.faithful if faithful >= unfaithful else prompt.unfaithful)
    else:
        digit = greedy_likert(said)
        score, choice = (None, None) if digit is None else (float(digit), str(digit))
        reason = NO_DIGIT if digit is None else None
        expected = round(expected_likert(logprobs), DIGITS)
    if strict and not row["clean"]:
        score, expected, reason = None, None, "the model would say something else than a label (strict)"
    return verdict.model_copy(
        update={
            "label_logprobs": logprobs,
            "label_mass": round(math.fsum(math.exp(value) for value in logprobs.values()), DIGITS),
            "choice": choice,
            "off_label": None if row["clean"] else said,
            "score": score,
            "expected": expected,
            "reason": reason,
            "prompt_digest": request.prompt_digest,
            "prompt_tokens": len(request.ids),
        }
    )


def _null(
    model: LanguageModel,
    of: Response | Request,
    point: int | None,
    prompt: JudgePrompt,
    reason: str | None,
    reference_point: int | None = None,
) -> Verdict:
    return Verdict(
        item_id=of.item_id,
        system=of.system,
        point=point,
        judge=model.spec.key,
        kind=prompt.kind,
        scope=prompt.scope,
        target=prompt.target,
        reference_point=reference_point,
        template_digest=model.template.digest,
        reason=reason,
    )

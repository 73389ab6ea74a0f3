"""LLM likelihood: how probable the model finds a text given another.

An extension of this project in the manner of BARTScore (Yuan et al., 2021) and GPTScore (Fu et al., 2023); the paper
has no such metric. Each value is the mean natural log-probability per token, so it is at most 0 and comparable
between texts of unlike length:

* `LLM likelihood source`: of the response given the question, or the dialogue;
* `LLM likelihood reference`: of the response given the reference;
* `LLM likelihood recall`: of the reference given the response.

A summary's points have values of their own (`point` set): the mean over the point's tokens inside the whole response,
so each is conditioned on the points before it as well, and costs nothing beyond the response itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithfuse.llm.batches import run_batches, shared_prefix
from faithfuse.llm.cache import BatchCache
from faithfuse.llm.judge import BATCH_TOKENS, DIGITS, WINDOW, judged_points
from faithfuse.llm.model import LanguageModel
from faithfuse.llm.plan import cut, split_group, tree_size, windows
from faithfuse.llm.progress import Progress
from faithfuse.llm.prompts import FIELDS, LikelihoodPrompt, PromptSet, ground_truth
from faithfuse.records import Domain, Item, Response, Score

METRICS = {
    "source": "LLM likelihood source",
    "reference": "LLM likelihood reference",
    "recall": "LLM likelihood recall",
}


@dataclass(frozen=True)
class _Request:
    item_id: str
    system: str
    metric: str
    group: str
    ids: list[int]
    reply: list[int]
    spans: tuple[tuple[int, int] | None, ...]


def likelihood(
    items: Sequence[Item],
    responses: Sequence[Response],
    model: LanguageModel,
    prompts: PromptSet,
    *,
    cache: Path | None = None,
    shard: tuple[int, int] = (1, 1),
    batch_tokens: int = BATCH_TOKENS,
) -> list[Score]:
    """The likelihood metrics of every response, and of a summary's points.

    Arguments are those of `faithfuse.llm.judge.judge`. A value that cannot be had is null with its reason.
    """
    by_item: dict[str, list[Response]] = {}
    for response in responses:
        by_item.setdefault(response.item_id, []).append(response)
    scores: list[Score] = []
    requests: dict[tuple[Domain, str], list[list[_Request]]] = {}
    for item in items:
        for name, prompt in prompts.likelihood.get(item.domain, {}).items():
            asked, refused = _ask(item, by_item.get(item.item_id, []), name, prompt, prompts, model)
            if shard[0] == 1:
                scores += refused
            requests.setdefault((item.domain, name), []).append(asked)
    total = sum(len(asked) for per_item in requests.values() for asked in per_item)
    settings = {**model.identity, "stage": "likelihood"}
    with Progress("likelihood", total) as progress, BatchCache(cache, settings, progress.say) as store:
        for (domain, name), per_item in requests.items():
            prompt = prompts.likelihood[domain][name]
            probes = [model.prompt_ids(prompts.replying(prompt, dict.fromkeys(FIELDS, text))) for text in "aZ7"]
            prefix = shared_prefix(probes)
            for known in [prefix, []] if prefix else [[]]:
                chosen = [
                    [request for request in asked if (request.ids[: len(prefix)] == prefix) == bool(known)]
                    for asked in per_item
                ]
                plan = [b for window in windows(chosen, WINDOW) for b in _cut_window(window, len(known), batch_tokens)]
                runner = _Runner(model, known)
                results = run_batches(plan, runner.describe, runner.compute, runner.tokens, store, progress, shard)
                for number, rows in results.items():
                    for request, row in zip(plan[number], rows, strict=True):
                        scores += _scores(request, row)
    return sorted(scores, key=lambda score: score.sort_key())


def _ask(
    item: Item,
    responses: Sequence[Response],
    name: str,
    prompt: LikelihoodPrompt,
    prompts: PromptSet,
    model: LanguageModel,
) -> tuple[list[_Request], list[Score]]:
    metric = METRICS[name]
    requests: list[_Request] = []
    refused: list[Score] = []
    truth = reference_text(item)
    for response in sorted(responses, key=lambda response: response.system):

        def refuse(reason: str, response: Response = response) -> None:
            refused.append(
                Score(item_id=item.item_id, system=response.system, metric=metric, value=None, reason=reason)
            )

        if response.text is None:
            refuse(f"no response: {response.reason}")
            continue
        if name != "source" and truth is None:
            refuse("the item has no reference")
            continue
        values = {
            "question": item.question or "",
            "transcript": item.transcript(),
            "ground_truth": truth or "",
            "response": response.text,
        }
        text = str(truth) if name == "recall" else response.text
        ids = model.prompt_ids(prompts.replying(prompt, values))
        reply, offsets = model.plain_ids(text)
        if len(ids) + len(reply) > model.context:
            refuse(f"prompt and reply have {len(ids) + len(reply)} tokens, the model's context {model.context}")
            continue
        spans: tuple[tuple[int, int] | None, ...] = ()
        if item.domain == Domain.SUMMARISATION and name != "recall":
            spans = tuple(_token_spans(text, judged_points(response), offsets))
        group = item.transcript() if name == "source" and item.context else item.item_id
        requests.append(_Request(item.item_id, response.system, metric, group, ids, reply, spans))
    return requests, refused


def reference_text(item: Item) -> str | None:
    """The reference as a text of its own: the first long one, else all short ones as one line, null when none."""
    long = [text.strip() for text in item.references.long if text.strip()]
    if long:
        return long[0]
    return ground_truth(item)


def _token_spans(text: str, points: Sequence[str], offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int] | None]:
    """Which tokens each point takes up in the text; null for a point that does not stand there word for word."""
    spans: list[tuple[int, int] | None] = []
    cursor = 0
    for point in points:
        begin = text.find(point, cursor)
        if begin < 0:
            spans.append(None)
            continue
        cursor = end = begin + len(point)
        inside = [n for n, (start, stop) in enumerate(offsets) if stop > begin and start < end]
        spans.append((inside[0], inside[-1] + 1) if inside else None)
    return spans


def _cut_window(window: Sequence[Sequence[_Request]], skip: int, budget: int) -> list[list[_Request]]:
    groups: dict[str, list[_Request]] = {}
    for request in (request for asked in window for request in asked):
        groups.setdefault(request.group, []).append(request)

    def fed(request: _Request) -> list[int]:
        return request.ids[skip:] + request.reply[:-1]

    pieces = [
        (tree_size([fed(request) for request in piece]), piece)
        for group in groups.values()
        for piece in split_group(group, fed, budget)
    ]
    return [[request for _, piece in batch for request in piece] for batch in cut(pieces, lambda p: p[0], budget)]


class _Runner:
    def __init__(self, model: LanguageModel, prefix: Sequence[int]) -> None:
        self.model = model
        self.prefix = list(prefix)
        self._encoded: Any = None

    def _groups(self, batch: Sequence[_Request]) -> list[list[int]]:
        groups: dict[str, list[int]] = {}
        for number, request in enumerate(batch):
            groups.setdefault(request.group, []).append(number)
        return list(groups.values())

    def describe(self, batch: Sequence[_Request]) -> Any:
        pairs = [[r.ids, r.reply] for r in batch]
        return {"prefix": self.prefix, "pairs": pairs, "groups": self._groups(batch)}

    def tokens(self, batch: Sequence[_Request]) -> int:
        return tree_size([request.ids[len(self.prefix) :] + request.reply for request in batch])

    def compute(self, batch: Sequence[_Request]) -> list[list[float]]:
        """For each request the log-probability of every token of its reply."""
        if self._encoded is None:
            self._encoded = self.model.encode_prefix(self.prefix)
        skip = len(self.prefix)
        groups = self._groups(batch)
        pairs = [[(batch[n].ids[skip:], batch[n].reply) for n in numbers] for numbers in groups]
        scored, _ = self.model.score(self._encoded, pairs)
        order = [n for numbers in groups for n in numbers]
        rows: list[list[float]] = [[] for _ in batch]
        for n, result in zip(order, scored, strict=True):
            rows[n] = [round(value, DIGITS) for value in result.logprobs]
        return rows


def _scores(request: _Request, logprobs: Sequence[float]) -> list[Score]:
    def mean(values: Sequence[float]) -> float:
        return round(math.fsum(values) / len(values), DIGITS)

    common = {"item_id": request.item_id, "system": request.system, "metric": request.metric}
    scores = [Score(**common, value=mean(logprobs))]
    for point, span in enumerate(request.spans):
        if span is None:
            reason = "the point does not stand in the response word for word"
            scores.append(Score(**common, point=point, value=None, reason=reason))
        else:
            scores.append(Score(**common, point=point, value=mean(logprobs[span[0] : span[1]])))
    return scores

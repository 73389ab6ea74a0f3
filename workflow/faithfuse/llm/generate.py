"""Greedy answers and summaries (arXiv 2512.05700, section IV-A; prompts A-A, B-A and C-A)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithfuse.llm.batches import run_batches, shared_prefix
from faithfuse.llm.cache import BatchCache
from faithfuse.llm.model import LanguageModel
from faithfuse.llm.plan import cut, cut_padded, windows
from faithfuse.llm.points import read_points
from faithfuse.llm.progress import Progress
from faithfuse.llm.prompts import PromptSet
from faithfuse.records import Domain, Item, References, Response, Turn

WINDOW = 64
"""Items per planning window."""
DECODE_TOKENS = 16384
"""Padded tokens, new ones included, whose keys and values one decoding batch may hold."""
PREFILL_TOKENS = 1024
"""Prompt tokens of one forward pass."""


@dataclass(frozen=True)
class _Task:
    item: Item
    ids: list[int]
    prompt_digest: str
    limit: int


def respond(
    items: Sequence[Item],
    model: LanguageModel,
    prompts: PromptSet,
    *,
    max_new_tokens: int = 256,
    cache: Path | None = None,
    shard: tuple[int, int] = (1, 1),
    decode_tokens: int = DECODE_TOKENS,
) -> list[Response]:
    """Answer every item greedily; `system` is the model's key.

    A prompt that leaves no room in the model's context gives a null text with the reason. A response that reaches
    `max_new_tokens` (or the end of the context) without an end of turn is kept and flagged `hit_token_limit`.

    Args:
        items: items of any evaluated domains.
        model: the loaded model.
        prompts: the prompt set.
        max_new_tokens: token limit (paper: 256), end of turn included.
        cache: folder of finished batches; null keeps none.
        shard: (K, N), this job's share of the plan's batches; other items are left out of the result.
        decode_tokens: padded tokens that one batch may hold.

    Returns:
        Responses in file order of the items, domain by domain.
    """
    settings = {**model.identity, "stage": "respond"}
    responses: list[Response] = []
    chosen = [domain for domain in Domain if domain in prompts.answer]
    with Progress("respond", len(items)) as progress, BatchCache(cache, settings, progress.say) as store:
        for domain in chosen:
            members = [item for item in items if item.domain == domain]
            if members:
                responses += _respond_domain(
                    members, model, prompts, max_new_tokens, store, progress, shard, decode_tokens
                )
    return responses


def _respond_domain(
    items: Sequence[Item],
    model: LanguageModel,
    prompts: PromptSet,
    max_new_tokens: int,
    store: BatchCache,
    progress: Progress,
    shard: tuple[int, int],
    decode_tokens: int,
) -> list[Response]:
    responses: list[Response] = []
    tasks: list[_Task] = []
    for item in items:
        messages = prompts.answering(item)
        ids = model.prompt_ids(messages)
        digest = hashlib.sha256(model.prompt_text(messages).encode()).hexdigest()
        limit = min(max_new_tokens, model.context - len(ids))
        if limit < 1:
            if shard[0] == 1:
                reason = f"the prompt has {len(ids)} tokens, the model's context {model.context}"
                responses.append(_response(model, item, ids, digest, reason=reason))
            progress.advance(1)
            continue
        tasks.append(_Task(item, ids, digest, limit))
    prefix_ids = shared_prefix([model.prompt_ids(prompts.answering(_probe(items[0], text))) for text in "aZ7"])
    alike = [task for task in tasks if task.ids[: len(prefix_ids)] == prefix_ids]
    others = [task for task in tasks if task.ids[: len(prefix_ids)] != prefix_ids]
    for prefix, members in ((prefix_ids, alike), ([], others)):
        if not members:
            continue
        room = {task.item.item_id: len(task.ids) - len(prefix) + task.limit for task in members}
        batches = _plan(members, room, decode_tokens)
        runner = _Runner(model, prefix)
        results = run_batches(batches, runner.describe, runner.compute, runner.tokens, store, progress, shard)
        for number, rows in results.items():
            for task, new in zip(batches[number], rows, strict=True):
                responses.append(_read(model, task, new))
    order = {item.item_id: number for number, item in enumerate(items)}
    return sorted(responses, key=lambda response: order[response.item_id])


def _plan(tasks: Sequence[_Task], room: dict[str, int], decode_tokens: int) -> list[list[_Task]]:
    """Batches for decoding; `room` is how many tokens of keys and values each item may come to."""
    return [
        batch
        for window in windows(tasks, WINDOW)
        for batch in cut_padded(window, lambda task: room[task.item.item_id], decode_tokens, most=WINDOW)
    ]


class _Runner:
    """Computes the batches of one shared prefix, which it encodes when the first batch needs it."""

    def __init__(self, model: LanguageModel, prefix: Sequence[int]) -> None:
        self.model = model
        self.prefix = list(prefix)
        self._encoded: Any = None
        self._made = 0

    def describe(self, batch: Sequence[_Task]) -> Any:
        return {"prefix": self.prefix, "prompts": [task.ids for task in batch], "limits": [t.limit for t in batch]}

    def tokens(self, batch: Sequence[_Task]) -> int:
        return self._made

    def compute(self, batch: Sequence[_Task]) -> list[list[int]]:
        if self._encoded is None:
            self._encoded = self.model.encode_prefix(self.prefix)
        skip = len(self.prefix)
        # Prompts about one dialogue begin with it; prefilled together, it is computed once.
        groups: dict[str, list[int]] = {}
        for number, task in enumerate(batch):
            groups.setdefault(task.item.transcript() or task.item.item_id, []).append(number)
        states, order, first = [], [], []
        sizes = {key: sum(len(batch[n].ids) - skip for n in numbers) for key, numbers in groups.items()}
        for row in cut(list(groups), sizes.__getitem__, PREFILL_TOKENS):
            tokens, state = self.model.prefill(
                self._encoded, [[batch[n].ids[skip:] for n in groups[key]] for key in row]
            )
            states.append((state, range(len(tokens))))
            order += [n for key in row for n in groups[key]]
            first += tokens
        made = self.model.extend(self._encoded, states, first, [batch[n].limit for n in order])
        self._made = sum(map(len, made)) + sum(len(task.ids) - skip for task in batch)
        placed: list[list[int]] = [[] for _ in batch]
        for n, new in zip(order, made, strict=True):
            placed[n] = new
        return placed


def _probe(item: Item, text: str) -> Item:
    """An item of the same domain whose fields all read `text`."""
    context = [Turn(speaker="", text=text)] if item.context else []
    return Item(
        item_id="probe",
        domain=item.domain,
        source_set="probe",
        question=text if item.question is not None else None,
        context=context,
        references=References(),
        group="probe",
    )


def _read(model: LanguageModel, task: _Task, new: list[int]) -> Response:
    text = model.decode(new).strip()
    hit = new[-1] not in model.end_tokens
    if not text:
        reason = "the model ended its turn without a word"
        return _response(model, task.item, task.ids, task.prompt_digest, made=len(new), hit=hit, reason=reason)
    return _response(model, task.item, task.ids, task.prompt_digest, text=text, made=len(new), hit=hit)


def _response(
    model: LanguageModel,
    item: Item,
    ids: Sequence[int],
    prompt_digest: str,
    *,
    text: str | None = None,
    made: int | None = None,
    hit: bool | None = None,
    reason: str | None = None,
) -> Response:
    return Response(
        item_id=item.item_id,
        system=model.spec.key,
        text=text,
        points=read_points(text) if text and item.domain == Domain.SUMMARISATION else [],
        origin="generated",
        prompt_digest=prompt_digest,
        template_digest=model.template.digest,
        prompt_tokens=len(ids),
        response_tokens=made,
        hit_token_limit=hit,
        reason=reason,
    )

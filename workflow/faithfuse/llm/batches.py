"""Running a batch plan: cache first, then compute; every finished batch is kept before the next begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from faithfuse.llm.cache import BatchCache, digest
from faithfuse.llm.progress import Progress

T = TypeVar("T")


def shared_prefix(renderings: Sequence[Sequence[int]]) -> list[int]:
    """What prompts made from one template begin with, read off renderings with unlike fields.

    It depends on the template alone, so the items of a run do not change it.
    """
    shared: list[int] = []
    for tokens in zip(*renderings, strict=False):
        if len(set(tokens)) > 1:
            break
        shared.append(tokens[0])
    return shared


def run_batches(
    batches: Sequence[Sequence[T]],
    describe: Callable[[Sequence[T]], Any],
    compute: Callable[[Sequence[T]], list[Any]],
    tokens: Callable[[Sequence[T]], int],
    cache: BatchCache,
    progress: Progress,
    shard: tuple[int, int] = (1, 1),
) -> dict[int, list[Any]]:
    """Results of this shard's batches by their number in the plan.

    Args:
        batches: the whole plan.
        describe: all that decides a batch's results, as JSON; its digest is the cache's key.
        compute: results of a batch, one per entry, as JSON values.
        tokens: how many tokens computing a batch took, for the progress line.
        cache: finished batches.
        progress: reports entries done.
        shard: (K, N): this job takes batch K-1, K-1+N, … of the plan.
    """
    first, step = shard
    results: dict[int, list[Any]] = {}
    for number in range(first - 1, len(batches), step):
        batch = batches[number]
        key = digest(describe(batch))
        known = cache.get(key)
        if known is None or len(known) != len(batch):
            known = _without_exhaustion(batch, compute, progress)
            cache.put(key, known)
            progress.advance(len(batch), tokens(batch))
        else:
            progress.advance(len(batch))
        results[number] = known
    return results


def _without_exhaustion(
    batch: Sequence[T], compute: Callable[[Sequence[T]], list[Any]], progress: Progress
) -> list[Any]:
    """Compute a batch; when the device's memory does not hold it, in halves."""
    import torch

    try:
        return compute(batch)
    except torch.OutOfMemoryError:
        if len(batch) == 1:
            raise
    torch.cuda.empty_cache()
    progress.say(f"{progress.label}: out of memory with {len(batch)} prompts; going on in halves")
    middle = (len(batch) + 1) // 2
    return _without_exhaustion(batch[:middle], compute, progress) + _without_exhaustion(
        batch[middle:], compute, progress
    )

"""The batch plan: which prompts share a forward pass, decided before any sharding.

A plan is append-stable: prompts are cut into windows in file order, ordered by length inside a window, and cut into
batches by a token budget. Adding items at the end changes the last window alone, so results cached for the others
stay valid. Shards take whole batches, so no result depends on how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def windows(entries: Sequence[T], size: int) -> list[list[T]]:
    """Consecutive runs of `size` entries; the last may be shorter."""
    return [list(entries[start : start + size]) for start in range(0, len(entries), size)]


def cut(entries: Sequence[T], cost: Callable[[T], int], budget: int) -> list[list[T]]:
    """Batches of one window: by descending cost (ties in file order), each within `budget` where one entry allows."""
    batches: list[list[T]] = []
    room = 0
    for entry in sorted(entries, key=cost, reverse=True):
        if not batches or cost(entry) > room:
            batches.append([])
            room = budget
        batches[-1].append(entry)
        room -= cost(entry)
    return batches


def cut_padded(entries: Sequence[T], length: Callable[[T], int], budget: int, most: int) -> list[list[T]]:
    """Batches of one window for decoding, where every sequence takes the room of the longest.

    By descending length (ties in file order); each has at most `most` entries and `budget` padded tokens.
    """
    batches: list[list[T]] = []
    for entry in sorted(entries, key=length, reverse=True):
        last = batches[-1] if batches else None
        if last is None or len(last) >= most or (len(last) + 1) * length(last[0]) > budget:
            batches.append([entry])
        else:
            last.append(entry)
    return batches


def split_group(sequences: Sequence[T], tokens: Callable[[T], Sequence[int]], budget: int) -> list[list[T]]:
    """Cut a group of sequences with shared beginnings into pieces of at most `budget` distinct tokens, in order.

    A piece repeats the beginning it shares with the one before, so a group is cut only when it must be.
    """
    pieces: list[list[T]] = []
    seen: set[int] = set()
    for entry in sequences:
        nodes = path_hashes(tokens(entry))
        if not pieces or len(seen | nodes) > budget:
            pieces.append([])
            seen = set()
        pieces[-1].append(entry)
        seen |= nodes
    return pieces


def tree_size(sequences: Sequence[Sequence[int]]) -> int:
    """How many distinct tokens the sequences have when shared beginnings count once."""
    nodes: set[int] = set()
    for sequence in sequences:
        nodes |= path_hashes(sequence)
    return len(nodes)


def path_hashes(sequence: Sequence[int]) -> set[int]:
    """One number for each beginning of the sequence (hashes of integers do not depend on the process)."""
    nodes, value = set(), 0
    for token in sequence:
        value = hash((value, token))
        nodes.add(value)
    return nodes

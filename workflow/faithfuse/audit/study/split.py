"""A split that keeps target families, related domains and query templates on one side (section V-A)."""

from __future__ import annotations

import random
from pathlib import Path

from faithfuse.audit.study.tables import read_table
from faithfuse.errors import InputError

KEYS = ("target_family", "related_domain", "query_template")
COLUMNS = ("tuple_id", "side", "component", *KEYS)


def read_keys(path: Path) -> list[dict[str, str]]:
    """`tuple_id` and the three keys; an empty key ties a tuple to nothing.

    Raises:
        InputError: a column is missing or an id repeats.
    """
    return [row for _, row in read_table(path, ("tuple_id", *KEYS), key=("tuple_id",))]


def components(rows: list[dict[str, str]]) -> list[int]:
    """For each row the number of its component: rows that share a key, directly or through others, share it.

    Numbers count up in the order of the components' first tuple ids.
    """
    parent = list(range(len(rows)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    first: dict[tuple[str, str], int] = {}
    for index, row in enumerate(rows):
        for key in KEYS:
            if row[key]:
                other = first.setdefault((key, row[key]), index)
                parent[root(index)] = root(other)
    names: dict[int, int] = {}
    numbers = [0] * len(rows)
    for index in sorted(range(len(rows)), key=lambda index: rows[index]["tuple_id"]):
        numbers[index] = names.setdefault(root(index), len(names))
    return numbers


def grouped_split(rows: list[dict[str, str]], *, held_out: float, seed: int) -> list[dict[str, object]]:
    """Assign whole components to `development` or `held_out`.

    Components go in random order to the held-out side as long as that brings it nearer to its share.

    Args:
        rows: tuples with their keys.
        held_out: share of tuples to hold out, inside (0, 1).
        seed: of the order.

    Returns:
        Rows with `COLUMNS`, by tuple id.

    Raises:
        InputError: the share is out of range, or everything is one component, so that no split exists.
    """
    if not 0 < held_out < 1:
        raise InputError(f"{held_out} is no share", fix="Give a share between 0 and 1.")
    numbers = components(rows)
    sizes: dict[int, int] = {}
    for number in numbers:
        sizes[number] = sizes.get(number, 0) + 1
    if len(sizes) < 2:
        fix = "Use coarser templates or more targets; as they are, every split would leak."
        raise InputError("ties all tuples to each other", fix=fix)
    order = sorted(sizes)
    random.Random(seed).shuffle(order)
    wanted, chosen, size = held_out * len(rows), set(), 0
    for number in order:
        nearer = abs(size + sizes[number] - wanted) < abs(size - wanted)
        if nearer and len(chosen) < len(sizes) - 1:  # something stays for development
            chosen.add(number)
            size += sizes[number]
    if not chosen:  # every component overshoots: the smallest does so least
        chosen.add(min(order, key=lambda number: (sizes[number], number)))
    table = [
        {"tuple_id": row["tuple_id"], "side": "held_out" if number in chosen else "development", "component": number}
        | {key: row[key] for key in KEYS}
        for row, number in zip(rows, numbers, strict=True)
    ]
    return sorted(table, key=lambda row: str(row["tuple_id"]))


def leaks(table: list[dict[str, object]]) -> list[tuple[str, str]]:
    """The (key, value) pairs that stand on both sides; empty for a split that holds."""
    sides: dict[tuple[str, str], set[object]] = {}
    for row in table:
        for key in KEYS:
            if row[key]:
                sides.setdefault((key, str(row[key])), set()).add(row["side"])
    return sorted(pair for pair, found in sides.items() if len(found) > 1)

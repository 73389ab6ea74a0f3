"""Seeded, stratified selection that anybody can repeat, in any language, from ids alone."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping


def rank(item_id: str, seed: int) -> bytes:
    """The place of an id in the draw: SHA-256 of seed, a colon and the id. It does not depend on other ids."""
    return hashlib.sha256(f"{seed}:{item_id}".encode()).digest()


def select(strata: Mapping[str, str], size: int, seed: int) -> set[str]:
    """Draw `size` ids, each stratum in proportion to its share (largest remainders, ties by name).

    Args:
        strata: the stratum of each id.
        size: how many to draw; all of them if there are no more.
        seed: another seed gives another draw.

    Returns:
        The ids drawn: of each stratum those that come first by `rank`.
    """
    members: dict[str, list[str]] = defaultdict(list)
    for item_id, stratum in strata.items():
        members[stratum].append(item_id)
    if size >= len(strata):
        return set(strata)
    exact = {name: size * len(ids) / len(strata) for name, ids in members.items()}
    quota = {name: int(share) for name, share in exact.items()}
    rest = size - sum(quota.values())
    for name in sorted(members, key=lambda name: (quota[name] - exact[name], name))[:rest]:
        quota[name] += 1
    return {
        item_id
        for name, ids in members.items()
        for item_id in sorted(ids, key=lambda item_id: rank(item_id, seed))[: quota[name]]
    }

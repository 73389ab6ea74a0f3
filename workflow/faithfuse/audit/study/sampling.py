"""Sampling stratified by domain and prespecified risk bands (arXiv 2609.29145, section V-A).

Bands are cut from query susceptibility dQ, which needs no answer, at points that were fixed before; so the sample
cannot depend on what the answers say.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from faithfuse.audit.study.tables import read_table
from faithfuse.errors import InputError

COLUMNS = ("tuple_id", "domain", "band", "stratum_size", "stratum_sampled", "inclusion_probability", "weight")


def read_frame(path: Path) -> list[dict[str, str]]:
    """The sampling frame: `tuple_id, domain, dQ`.

    Raises:
        InputError: a column is missing, an id repeats, or dQ is no number from 0 to 1.
    """
    rows = read_table(path, ("tuple_id", "domain", "dQ"), key=("tuple_id",))
    for line, row in rows:
        try:
            valid = 0 <= float(row["dQ"]) <= 1
        except ValueError:
            valid = False
        if not valid:
            raise InputError(f"has dQ {row['dQ']!r}", path=path, line=line, fix="Write a number from 0 to 1.")
    return [row for _, row in rows]


def band_of(value: float, cuts: Sequence[float]) -> int:
    """The band of a value: 0 below the first cut, then one more at each cut that it reaches."""
    return sum(value >= cut for cut in cuts)


def stratified_sample(
    rows: list[dict[str, str]], *, per_stratum: int, cuts: Sequence[float], seed: int
) -> list[dict[str, object]]:
    """Draw the same number from each stratum (domain × band); a smaller stratum is taken whole.

    Args:
        rows: the frame.
        per_stratum: how many to draw from each.
        cuts: the prespecified band limits, ascending, inside (0, 1).
        seed: of the draw; the same frame in any order gives the same sample.

    Returns:
        Rows with `COLUMNS`, by domain, band and id; `weight` is the inverse inclusion probability.

    Raises:
        InputError: the cuts are not ascending inside (0, 1), or nothing is to be drawn.
    """
    if per_stratum < 1 or list(cuts) != sorted(set(cuts)) or any(not 0 < cut < 1 for cut in cuts):
        raise InputError(
            "asks for no sample that can be drawn", fix="Give a number above 0 and ascending cuts in (0, 1)."
        )
    strata: dict[tuple[str, int], list[str]] = {}
    for row in rows:
        strata.setdefault((row["domain"], band_of(float(row["dQ"]), cuts)), []).append(row["tuple_id"])
    sample = []
    for (domain, band), members in sorted(strata.items()):
        rng = random.Random(f"{seed}\x00{domain}\x00{band}")
        drawn = sorted(rng.sample(sorted(members), min(per_stratum, len(members))))
        share = len(drawn) / len(members)
        for name in drawn:
            values = (name, domain, band, len(members), len(drawn), share, len(members) / len(drawn))
            sample.append(dict(zip(COLUMNS, values, strict=True)))
    return sample

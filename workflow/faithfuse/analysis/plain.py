"""Fused scores as plain functions: no files but the model's own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from faithfuse.analysis.baselines import pearson
from faithfuse.analysis.model import FusedModel, clip, read_model
from faithfuse.errors import InputError


class FusedScore(NamedTuple):
    """The fused score of one response.

    Attributes:
        fused: 1–5, or None where every metric is missing.
        clipped: whether the model's own value lay outside 1–5.
        outside: metrics outside their training range.
        contributions: Likert points by metric; with the model's intercept they sum to the unclipped score.
    """

    fused: float | None
    clipped: bool
    outside: list[str]
    contributions: dict[str, float]


def fused_scores(model: FusedModel | Path | str, rows: Sequence[Mapping[str, float | None]]) -> list[FusedScore]:
    """Score responses from their metric values.

    Signatures cannot be checked here, since plain values carry none: compute the metrics with the settings of the
    model's card.

    Args:
        model: a model, or the folder that `faithfuse fuse` wrote.
        rows: per response a mapping of metric name to value; None, NaN or absent is missing. Other names are ignored.

    Raises:
        InputError: the model cannot be read, or a row has none of the model's metrics by name.
    """
    model = model if isinstance(model, FusedModel) else read_model(model)
    for number, row in enumerate(rows):
        if not any(name in row for name in model.metrics):
            raise InputError(
                f"response {number} has no metric of the model by name (found {', '.join(list(row)[:5]) or 'none'})",
                fix=f"Use the names of the model's card: {', '.join(model.metrics[:5])}, …",
            )
    values = np.array(
        [[math.nan if row.get(name) is None else float(row[name]) for name in model.metrics] for row in rows]
    ).reshape(len(rows), len(model.metrics))
    fused, clipped = clip(model.predict(values))
    outside, contributions = model.outside(values), model.metric_contributions(values)
    empty = np.isnan(values).all(axis=1)
    return [
        FusedScore(
            fused=None if empty[row] else float(fused[row]),
            clipped=bool(clipped[row]) and not empty[row],
            outside=[name for name, out in zip(model.metrics, outside[row], strict=True) if out],
            contributions={}
            if empty[row]
            else {name: float(v) for name, v in zip(model.metrics, contributions[row], strict=True)},
        )
        for row in range(len(rows))
    ]


def score_correlation(scores: Sequence[FusedScore], human: Sequence[float]) -> float | None:
    """Pearson correlation of fused scores with human ratings; None where it is undefined."""
    value = pearson(
        np.array([math.nan if score.fused is None else score.fused for score in scores]), np.asarray(human, dtype=float)
    )
    return None if math.isnan(value) else value

"""Applying a fused model to a metric table."""

from __future__ import annotations

import math

import numpy as np

from faithfuse.analysis.model import FusedModel, clip
from faithfuse.analysis.ratings import MetricTable

SCORE_COLUMNS = (
    "item_id",
    "system",
    "group",
    "fused",
    "unclipped",
    "clipped",
    "outside",
    "missing",
    "outside_metrics",
    "intercept",
)
CONTRIBUTION = "contribution: "


def score_columns(model: FusedModel) -> list[str]:
    """The columns of a score file: `SCORE_COLUMNS`, then one contribution per metric of the model."""
    return [*SCORE_COLUMNS, *(CONTRIBUTION + name for name in model.metrics)]


def score_rows(model: FusedModel, table: MetricTable) -> list[dict[str, object]]:
    """Score every row of a table.

    `fused` is within 1–5, `unclipped` what the model says; `clipped` tells whether they differ. `outside` counts the
    row's metrics outside their training range (named in `outside_metrics`), `missing` those without a value. The
    intercept and the contributions sum to `unclipped`. A row of which every metric is missing gets no score.

    Raises:
        InputError: the table lacks a metric of the model, or one has another signature.
    """
    values = model.select(table)
    unclipped = model.predict(values)
    fused, clipped = clip(unclipped)
    outside, missing = model.outside(values), np.isnan(values)
    contributions = model.metric_contributions(values)
    rows = []
    for row, (item, system) in enumerate(table.keys):
        empty = bool(missing[row].all())
        line: dict[str, object] = {
            "item_id": item,
            "system": system,
            "group": table.groups[row],
            "fused": math.nan if empty else float(fused[row]),
            "unclipped": math.nan if empty else float(unclipped[row]),
            "clipped": bool(clipped[row]) and not empty,
            "outside": int(outside[row].sum()),
            "missing": int(missing[row].sum()),
            "outside_metrics": "; ".join(name for name, out in zip(model.metrics, outside[row], strict=True) if out),
            "intercept": model.intercept,
        }
        if not empty:
            line |= {
                CONTRIBUTION + name: float(value) for name, value in zip(model.metrics, contributions[row], strict=True)
            }
        rows.append(line)
    return sorted(rows, key=lambda line: (line["item_id"], line["system"]))

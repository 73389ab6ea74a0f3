"""A fused metric on another domain or data set than it was trained on."""

from __future__ import annotations

import math

import numpy as np

from faithfuse.analysis.baselines import pearson
from faithfuse.analysis.columns import TRANSFER_COLUMNS
from faithfuse.analysis.correlation import PEARSON, correlate, difference_interval, pearson_without_each
from faithfuse.analysis.fusion import DIFFERENCE, FUSED, FUSED_METRIC, SINGLE
from faithfuse.analysis.model import FusedModel, clip
from faithfuse.analysis.ratings import Joined

NO_COMMON_METRIC = "none of the model's metrics is in this table"


def transfer(model: FusedModel, joined: Joined, domain: str) -> list[dict[str, object]]:
    """Correlate a fused score with ratings it was not trained on (`TRANSFER_COLUMNS`).

    Metrics that the table lacks, or has with another signature (a judge is asked about a summary otherwise than about
    an answer), count as missing, which the model has a bin for; the note names them. Beside it stands the best single
    metric as chosen in training, where the table has the same one. A table with none of the model's metrics gives one
    row without a value.
    """
    table, y = joined.table, joined.likert
    absent = [name for name in model.metrics if name not in table.names]
    unlike = model.unlike(table)
    if len(absent) + len(unlike) == len(model.metrics):
        row = dict.fromkeys(TRANSFER_COLUMNS) | {"trained_on": model.domain, "tested_on": domain, "system": FUSED}
        return [row | {"metric": FUSED_METRIC, "rows": len(y), "note": NO_COMMON_METRIC}]
    values = model.select(table, allow_missing=True)
    fused = clip(model.predict(values))[0]
    columns, names = [fused], [FUSED]
    chosen = model.training.get("best_single", {})
    single = chosen.get("metric")
    if single in table.names and single not in unlike:
        columns.append(chosen["sign"] * table.values[:, table.names.index(single)])
        names.append(SINGLE)
    x = np.column_stack(columns)
    estimates = correlate(x, y[:, None], table.groups, coefficients=(PEARSON,))
    lacking = [
        f"{len(left_out)} of {len(model.metrics)} metrics {what}: {', '.join(left_out)}"
        for left_out, what in ((absent, "not in this table"), (unlike, "with another signature in this table"))
        if left_out
    ]
    note = "; ".join(lacking)
    rows = []
    for index, name in enumerate(names):
        estimate = estimates[PEARSON, index, 0]
        remarks = [note if name == FUSED else "chosen in training", estimate.reason]
        rows.append(
            {
                "trained_on": model.domain,
                "tested_on": domain,
                "system": name,
                "metric": FUSED_METRIC if name == FUSED else single,
                "rows": estimate.pairs,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "note": "; ".join(filter(None, remarks)),
                "p_value": estimate.p_value,
            }
        )
    if len(names) == 2 and all(row["value"] is not None for row in rows):
        both = ~np.isnan(x[:, 1])
        groups = [group for group, keep in zip(table.groups, both, strict=True) if keep]
        values = [pearson(x[both, index], y[both]) for index in (0, 1)]
        if not any(math.isnan(value) for value in values):
            difference = values[0] - values[1]
            without = pearson_without_each(x[both], y[both], groups)
            low, high, reason = difference_interval(difference, without[:, 0] - without[:, 1])
            rows.append(
                {
                    "trained_on": model.domain,
                    "tested_on": domain,
                    "system": DIFFERENCE,
                    "metric": "Fused metric less best single metric",
                    "rows": int(both.sum()),
                    "value": difference,
                    "low": low,
                    "high": high,
                    "note": "; ".join(filter(None, ["paired, on rows where both are scored", reason])),
                    "p_value": None,
                }
            )
    return rows

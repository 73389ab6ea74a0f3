"""A fused metric on another domain or data set than it was trained on."""

from __future__ import annotations

import numpy as np

from faithfuse.analysis.correlation import PEARSON, bootstrap_pearson, correlate, percentile_interval
from faithfuse.analysis.fusion import DIFFERENCE, FUSED, SINGLE
from faithfuse.analysis.model import FusedModel, clip
from faithfuse.analysis.ratings import Joined
from faithfuse.errors import InputError

TRANSFER_COLUMNS = ("trained_on", "tested_on", "system", "metric", "rows", "value", "low", "high", "note", "p_value")


def transfer(
    model: FusedModel, joined: Joined, domain: str, *, resamples: int = 2000, seed: int = 0
) -> list[dict[str, object]]:
    """Correlate a fused score with ratings it was not trained on (`TRANSFER_COLUMNS`).

    Metrics that the table lacks count as missing, which the model has a bin for; those it has must have the
    model's signatures. Beside it stands the best single metric as chosen in training, where the table has it.

    Raises:
        InputError: a signature differs, or the table has none of the model's metrics.
    """
    table, y = joined.table, joined.likert
    values = model.select(table, allow_missing=True)
    absent = [name for name in model.metrics if name not in table.names]
    if len(absent) == len(model.metrics):
        raise InputError(
            "has no metric of the model", path=table.path, fix="Use metrics by the names of the model's card."
        )
    fused = clip(model.predict(values))[0]
    columns, names = [fused], [FUSED]
    chosen = model.training.get("best_single", {})
    single = chosen.get("metric")
    if single in table.names:
        columns.append(chosen["sign"] * table.values[:, table.names.index(single)])
        names.append(SINGLE)
    x = np.column_stack(columns)
    estimates = correlate(x, y[:, None], table.groups, coefficients=(PEARSON,), resamples=resamples, seed=seed)
    note = f"{len(absent)} of {len(model.metrics)} metrics not in this table: {', '.join(absent)}" if absent else ""
    rows = []
    for index, name in enumerate(names):
        estimate = estimates[PEARSON, index, 0]
        remarks = [note if name == FUSED else "chosen in training", estimate.reason]
        rows.append(
            {
                "trained_on": model.domain,
                "tested_on": domain,
                "system": name,
                "metric": "Fused metric" if name == FUSED else single,
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
        point = correlate(x[both], y[both][:, None], groups, coefficients=(PEARSON,), resamples=0)
        drawn = bootstrap_pearson(x[both], y[both][:, None], groups, resamples, seed)
        difference = drawn[:, 0, 0] - drawn[:, 1, 0]
        difference = difference[~np.isnan(difference)]
        enough = len(difference) >= 0.9 * resamples > 0 and rows[0]["low"] is not None
        low, high = percentile_interval(difference) if enough else (None, None)
        if all(point[PEARSON, index, 0].value is not None for index in (0, 1)):
            rows.append(
                {
                    "trained_on": model.domain,
                    "tested_on": domain,
                    "system": DIFFERENCE,
                    "metric": "Fused metric less best single metric",
                    "rows": int(both.sum()),
                    "value": point[PEARSON, 0, 0].value - point[PEARSON, 1, 0].value,
                    "low": low,
                    "high": high,
                    "note": "paired, on rows where both are scored",
                    "p_value": None,
                }
            )
    return rows

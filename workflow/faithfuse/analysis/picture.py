"""A fused score explained as a picture: what each metric adds to the intercept."""

from __future__ import annotations

from pathlib import Path

from faithfuse.analysis.model import HIGH, LOW, FusedModel
from faithfuse.analysis.ratings import MetricTable
from faithfuse.errors import InputError
from faithfuse.records import atomic_write

SHOWN = 12


def explain(model: FusedModel, table: MetricTable, item_id: str, system: str, out: Path) -> None:
    """Draw the largest contributions to one response's score as an SVG, the rest summed up in one bar.

    Raises:
        InputError: the table has no such response, or not the model's metrics and signatures.
    """
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    if (item_id, system) not in table.keys:
        raise InputError(
            "is not in the table",
            path=table.path,
            record=f"{item_id} {system}",
            fix="Give an item_id and system of it.",
        )
    row = table.rows([table.keys.index((item_id, system))])
    values = model.select(row)
    parts = model.metric_contributions(values)[0]
    unclipped = float(model.predict(values)[0])
    order = sorted(range(len(parts)), key=lambda i: (-abs(parts[i]), i))
    bars = [
        (f"{model.metrics[i]} = {'missing' if values[0, i] != values[0, i] else f'{values[0, i]:.3g}'}", parts[i])
        for i in order[:SHOWN]
    ]
    if order[SHOWN:]:
        bars.append((f"{len(order) - SHOWN} other metrics", sum(parts[i] for i in order[SHOWN:])))
    with pyplot.rc_context({"svg.hashsalt": "faithfuse", "svg.fonttype": "none", "font.size": 9}):
        figure, axes = pyplot.subplots(figsize=(7, 0.8 + 0.32 * (len(bars) + 1)), layout="constrained")
        level = model.intercept
        for position, (_, part) in enumerate(bars):
            axes.barh(position, part, left=level, color="#2b7a78" if part >= 0 else "#b3492f")
            level += part
        axes.axvline(model.intercept, color="grey", linewidth=0.8, linestyle=":")
        axes.axvline(unclipped, color="black", linewidth=0.8)
        axes.set_yticks(range(len(bars)), [label for label, _ in bars])
        axes.use_sticky_edges = False
        axes.invert_yaxis()
        shown = min(max(unclipped, LOW), HIGH)
        remark = "" if shown == unclipped else f", clipped from {unclipped:.2f}"
        axes.set_xlabel("human Likert points")
        axes.set_title(f"{item_id}, {system}: fused {shown:.2f}{remark} (dotted: intercept {model.intercept:.2f})")
        with atomic_write(out, "wb") as stream:
            figure.savefig(stream, format="svg", metadata={"Date": None})
        pyplot.close(figure)

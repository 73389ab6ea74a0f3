"""The card that stands beside a fused model: what it is, what it needs, how well it does on blind rows."""

from __future__ import annotations

from faithfuse.analysis.fusion import DIFFERENCE, FUSED, SINGLE, Fusion


def _value(row: dict[str, object]) -> str:
    value, low, high = row["value"], row["low"], row["high"]
    if value is None:
        return f"not defined ({row['note']})"
    interval = "no interval" if low is None else f"{low:.3f} to {high:.3f}"
    return f"{value:.3f} ({interval})"


def card_text(fusion: Fusion) -> str:
    """The card as Markdown."""
    model, training = fusion.model, fusion.model.training
    evaluation = {row["system"]: row for row in fusion.evaluation}
    splits = {row["system"]: row for row in fusion.splits}
    difference = splits[DIFFERENCE]
    lines = [
        f"# Fused faithfulness metric: {model.domain}",
        "",
        "An Explainable Boosting Machine over the metrics below (arXiv 2512.05700, section VI), in `model.json`.",
        "It predicts the mean human Likert rating (1–5; scores outside are clipped, and the output says so).",
        "",
        "## Trained on",
        "",
        f"* {training['rows']} responses in {training['groups']} groups with {training['ratings']} ratings;"
        f" seed {training['seed']}",
        f"* settings: {', '.join(f'{name} {value}' for name, value in training['settings'].items())}",
        f"* versions: {', '.join(f'{name} {value}' for name, value in training['versions'].items())}",
        *(f"* {name}: `{value}`" for name, value in training.items() if name.endswith("_sha256")),
        *([f"* {training['note']}"] if training.get("note") else []),
        "",
        "## Blind rows",
        "",
        f"{training['blind_rows']} responses in {training['blind_groups']} groups that training never saw. Pearson",
        "correlation with the human rating, 95% interval from a jackknife over groups:",
        "",
        f"* fused: {_value(evaluation[FUSED])}",
        f"* best single metric, {evaluation[SINGLE]['metric']}, {evaluation[SINGLE]['note']}:"
        f" {_value(evaluation[SINGLE])}",
        f"* difference: {_value(evaluation[DIFFERENCE])}; {evaluation[DIFFERENCE]['note']}",
        f"* over {difference['seeds']} splits, difference {_value(difference)}: {difference['note']}",
        "",
        "## Needs",
        "",
        "`faithfuse score` refuses a metric table whose signatures differ from these.",
        "",
        "| metric | class | training range | importance | signature |",
        "|---|---|---|---|---|",
    ]
    importances = model.importances()
    for index in sorted(range(len(model.metrics)), key=lambda i: (-importances[model.metrics[i]], i)):
        name, (low, high) = model.metrics[index], model.ranges[index]
        signature = model.signatures[index]
        lines.append(
            f"| {name} | {model.classes[index]} | {low:.4g} to {high:.4g} | {importances[name]:.3f} | "
            f"{f'`{signature}`' if signature else 'none stated'} |"
        )
    if model.dropped:
        lines += ["", "Not used: " + "; ".join(f"{name} ({why})" for name, why in sorted(model.dropped.items())) + "."]
    return "\n".join(lines) + "\n"

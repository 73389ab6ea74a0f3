"""The four figures: correlations with intervals, fusion importances, fused against best single metric, audit states.

Each function takes rows as their stage wrote them and returns an SVG document; the same rows give the same bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ParamSpec

from faithfuse.analysis.columns import HUMAN_CLASS
from faithfuse.errors import InputError
from faithfuse.report.inputs import (
    Row,
    Sheet,
    class_rank,
    class_title,
    domain_rank,
    domain_title,
    human_name,
    is_true,
)
from faithfuse.report.svg import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    INK,
    MUTED,
    NO_OMISSION,
    OMISSION,
    PAGE,
    STYLE,
    UNRESOLVED,
    Panel,
    box,
    canvas,
    compose,
    to_panel,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P = ParamSpec("P")
PaperValues = Mapping[tuple[str, str, str], float]
# A row with its value, lower and upper bound.
Entry = tuple[Row, float | None, float | None, float | None]

PANEL_WIDTH = 500.0
ROW_HEIGHT = 17.0
MOST_ROWS = 60
STATE_ORDER = ("1", "0", "U")
NOT_DRAWN = ("difference", "paper_way")
SYSTEM_TITLES = {
    "fused": "Fused metric",
    "best_single": "Best single metric",
    "difference": "Fused less best single",
    "mean_z": "Mean of z-scores",
    "ridge": "Ridge regression",
    "random_forest": "Random forest",
    "best_single_isotonic": "Best single, isotonic",
    "paper_way": "Best single on all rows (the paper's way)",
}


def styled(draw: Callable[P, str]) -> Callable[P, str]:
    """Run a drawing function under the report's style alone, whatever the user's own matplotlib settings."""

    @functools.wraps(draw)
    def inner(*args: P.args, **kwargs: P.kwargs) -> str:
        import matplotlib

        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(STYLE)
            return draw(*args, **kwargs)

    return inner


def human_title(human: str) -> str:
    """A human column as a reader knows it: `likert` becomes "human Likert"."""
    name = human_name(human)
    return "human " + {"likert": "Likert", "bool": "Bool"}.get(name, name.replace("_", " "))


def main_human(humans: Sequence[str]) -> str:
    """The human column that figures show: Likert where there is one, as in the paper's Table V."""
    return min(humans, key=lambda human: ("likert" not in human, human))


def class_colour(metric_class: str) -> str:
    return CLASS_COLOURS.get(metric_class.lower(), MUTED)


def _legend_panel(name: str, classes: Sequence[str], paper: bool, width: float) -> Panel:
    from matplotlib.lines import Line2D

    figure = canvas(width, 34)
    handles = [
        Line2D(
            [], [], marker=CLASS_MARKERS.get(item.lower(), "o"), color=class_colour(item), markersize=6, linewidth=1.5
        )
        for item in classes
    ]
    labels = [class_title(item) for item in classes]
    if paper:
        handles.append(Line2D([], [], marker="o", color=INK, markerfacecolor="none", markersize=7, linewidth=0))
        labels.append("published value")
    figure.legend(
        handles,
        labels,
        loc="center left",
        bbox_to_anchor=(0, 0.5),
        ncols=len(labels),
        frameon=False,
        handlelength=1.6,
        columnspacing=1.1,
        borderpad=0,
        handletextpad=0.5,
    )
    return to_panel(figure, name)


def _value_axes(axes: Axes, rows: int, low: float, high: float, label: str) -> None:
    axes.set_ylim(rows - 0.4, -0.6)
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(_tenths(low, high))
    axes.grid(axis="x")
    axes.axvline(0, color=MUTED, linewidth=1, zorder=1)
    axes.set_xlabel(label, loc="left")


def _tenths(low: float, high: float):
    from matplotlib.ticker import MultipleLocator

    return MultipleLocator(0.5 if high - low > 1.6 else 0.2 if high - low > 0.7 else 0.1)


def _limits(values: Sequence[float], least: float = 0.0) -> tuple[float, float]:
    """Axis limits around values, on whole tenths, never beyond a correlation's −1 to 1 and a little."""
    import math

    low = min([least, *values])
    high = max([0.2, *values])
    return math.floor(low * 10 - 0.2) / 10, math.ceil(high * 10 + 0.2) / 10


@styled
def correlation_figure(sheets: Sequence[Sheet], paper: PaperValues | None = None) -> str:
    """A dot with its 95% interval for each metric, a panel per domain, best first.

    Args:
        sheets: the correlation files, columns as in `CORRELATION_COLUMNS`; the coefficient `pearson` with
            the human Likert column is drawn (Bool where a domain has no Likert).
        paper: published values by (domain, metric, human), drawn as hollow circles.

    Metrics without a value are named below the others with the reason. Extensions carry a dagger; where a panel would
    have more than `MOST_ROWS` rows, the weakest extensions are left to the table and counted.

    Raises:
        InputError: a sheet holds no Pearson row.
    """
    paper = paper or {}
    chosen: dict[str, list[Entry]] = {}
    human_of: dict[str, str] = {}
    for sheet in sheets:
        pearson = [row for row in sheet.rows if row["coefficient"].lower() == "pearson"]
        if not pearson:
            raise InputError(
                "holds no row with the coefficient pearson", path=sheet.path, fix="Run the correlate stage again."
            )
        for domain in sorted({row["domain"] for row in pearson}, key=domain_rank):
            mine = [row for row in pearson if row["domain"] == domain]
            human_of[domain] = main_human(sorted({row["human"] for row in mine}))
            chosen[domain] = [
                (row, sheet.number(row, "value"), sheet.number(row, "low"), sheet.number(row, "high"))
                for row in mine
                if row["human"] == human_of[domain]
            ]
    published = {
        (domain, row["metric"]): paper.get((domain, row["metric"], human_name(human_of[domain])))
        for domain, entries in chosen.items()
        for row, *_ in entries
    }
    limits = _limits(
        [number for entries in chosen.values() for _, *numbers in entries for number in numbers if number is not None]
        + [number for number in published.values() if number is not None]
    )
    classes = sorted({row["metric_class"] for entries in chosen.values() for row, *_ in entries}, key=class_rank)
    legend = _legend_panel(
        "correlation-legend",
        classes,
        any(number is not None for number in published.values()),
        2 * PANEL_WIDTH + 16 if len(chosen) > 1 else PANEL_WIDTH,
    )
    panels = [
        _correlation_panel(domain, human_of[domain], entries, published, limits)
        for domain, entries in sorted(chosen.items(), key=lambda entry: domain_rank(entry[0]))
    ]
    return compose(
        "correlation",
        "Correlation of each metric with human judgement",
        "For each domain, every metric's Pearson correlation with the human rating, best first, with its 95% "
        "interval over groups; hollow circles are the values published in arXiv 2512.05700. The same numbers are in "
        "tables I to III.",
        [legend, *panels],
        columns=2 if len(panels) > 1 else 1,
    )


def _correlation_panel(
    domain: str,
    human: str,
    entries: Sequence[Entry],
    published: Mapping[tuple[str, str], float | None],
    limits: tuple[float, float],
) -> Panel:
    ranked = sorted(entries, key=lambda entry: (entry[1] is None, -(entry[1] or 0.0), entry[0]["metric"]))
    rows = _shortened(ranked)
    left_out = len(ranked) - len(rows)
    figure = canvas(PANEL_WIDTH, 34 + len(rows) * ROW_HEIGHT + 40)
    axes = figure.add_axes(box(212, 34, PANEL_WIDTH - 226, len(rows) * ROW_HEIGHT, figure))
    _value_axes(axes, len(rows), *limits, f"Pearson r with {human_title(human)}, 95% interval")
    labels = []
    for place, (row, value, low, high) in enumerate(rows):
        colour = class_colour(row["metric_class"])
        labels.append(row["metric"] + (" †" if _is_extension(row) else ""))
        if value is None:
            axes.text(limits[0], place, f" N/A: {_short(row['reason'])}", color=MUTED, va="center", fontsize=9.5)
        else:
            if low is not None and high is not None:
                axes.hlines(place, low, high, color=colour, linewidth=1.6, zorder=2)
            axes.plot(
                value,
                place,
                marker=CLASS_MARKERS.get(row["metric_class"].lower(), "o"),
                color=colour,
                markersize=10 if row["metric_class"] == HUMAN_CLASS else 6,
                linestyle="",
                zorder=3,
            )
        number = published[(domain, row["metric"])]
        if number is not None:
            axes.plot(
                number,
                place,
                marker="o",
                markerfacecolor="none",
                markeredgecolor=INK,
                markersize=7.5,
                linestyle="",
                zorder=4,
            )
    axes.set_yticks(range(len(rows)), labels)
    pairs = sorted(
        {int(float(row["pairs"])) for row, *_ in rows if row["pairs"] and row["metric_class"] != HUMAN_CLASS}
    )
    count = "–".join(str(number) for number in sorted({pairs[0], pairs[-1]})) if pairs else "0"
    more = f"; {left_out} more † in the table" if left_out else ""
    heading = 1 - 18 / (figure.get_figheight() * 72)
    figure.text(0, heading, domain_title(domain), fontsize=12.5, fontweight="bold")
    figure.text(212 / PANEL_WIDTH, heading, f"{count} rated responses{more}", fontsize=10, color=MUTED)
    return to_panel(figure, f"correlation-{domain}")


def _is_extension(row: Row) -> bool:
    return is_true(row["extension"]) and row["metric_class"] != HUMAN_CLASS


def _shortened(ranked: Sequence[Entry]) -> list[Entry]:
    """At most `MOST_ROWS` rows, and always the papers' metrics and the human ceiling: the last extensions go first."""
    spare = MOST_ROWS - sum(not _is_extension(row) for row, *_ in ranked)
    kept = []
    for entry in ranked:
        if _is_extension(entry[0]):
            if spare <= 0:
                continue
            spare -= 1
        kept.append(entry)
    return kept


def _short(reason: str, limit: int = 46) -> str:
    return reason if len(reason) <= limit else reason[: limit - 1].rstrip() + "…"


@styled
def importance_figure(sheets: Sequence[Sheet], paper: PaperValues | None = None) -> str:
    """Share of the fused metric's importance by metric class, a panel per domain.

    Args:
        sheets: the fusion stage's `importances.csv` files; shares are fractions of one, `share_low` and
            `share_high` their spread over seeds and blind splits.
        paper: published shares by (domain, class title, `importance_share`).
    """
    paper = paper or {}
    by_domain: dict[str, list[Entry]] = {}
    for sheet in sheets:
        for row in sheet.rows:
            by_domain.setdefault(row["domain"], []).append(
                (row, sheet.number(row, "share"), sheet.number(row, "share_low"), sheet.number(row, "share_high"))
            )
    published = {
        (domain, row["metric_class"]): paper.get((domain, class_title(row["metric_class"]), "importance_share"))
        for domain, entries in by_domain.items()
        for row, *_ in entries
    }
    numbers = [value for entries in by_domain.values() for _, *rest in entries for value in rest if value is not None]
    numbers += [value for value in published.values() if value is not None]
    high = _limits(numbers)[1]
    panels = []
    for domain in sorted(by_domain, key=domain_rank):
        rows = sorted(by_domain[domain], key=lambda entry: class_rank(entry[0]["metric_class"]))
        height = len(rows) * 26.0
        figure = canvas(PANEL_WIDTH, 34 + height + 40)
        axes = figure.add_axes(box(92, 34, PANEL_WIDTH - 106, height, figure))
        _value_axes(axes, len(rows), 0, high, "share of importance: mean and central 95% over seeds")
        for place, (row, value, low, top) in enumerate(rows):
            colour = class_colour(row["metric_class"])
            if value is None:
                axes.text(0, place, " N/A", color=MUTED, va="center")
            else:
                axes.barh(place, value, height=0.62, color=colour, alpha=0.35)
                if low is not None and top is not None:
                    axes.hlines(place, low, top, color=colour, linewidth=1.8)
                axes.plot(value, place, marker="|", color=colour, markersize=12, markeredgewidth=2.4, linestyle="")
            number = published[(domain, row["metric_class"])]
            if number is not None:
                axes.plot(
                    number, place, marker="o", markerfacecolor="none", markeredgecolor=INK, markersize=8, linestyle=""
                )
        axes.set_yticks(range(len(rows)), [class_title(row["metric_class"]) for row, *_ in rows])
        seeds = sorted({row["seeds"] for row, *_ in rows if row["seeds"]})
        heading = 1 - 18 / (figure.get_figheight() * 72)
        figure.text(0, heading, domain_title(domain), fontsize=12.5, fontweight="bold")
        if seeds:
            note = f"{', '.join(seeds)} seeds" + (
                "; hollow circle: published"
                if any(published[(domain, row["metric_class"])] for row, *_ in rows)
                else ""
            )
            figure.text(1 - 14 / PANEL_WIDTH, heading, note, fontsize=10, color=MUTED, ha="right")
        panels.append(to_panel(figure, f"importances-{domain}"))
    return compose(
        "importances",
        "Share of the fused metric's importance by metric class",
        "For each domain, the share of the Explainable Boosting Machine's importance that each class of metrics "
        "holds, with its spread over seeds; hollow circles are the published shares. The same numbers are in "
        "table IV.",
        panels,
        columns=2 if len(panels) > 1 else 1,
    )


@styled
def fusion_figure(sheets: Sequence[Sheet], paper: PaperValues | None = None) -> str:
    """The fused metric beside the best single one on the same blind rows, with intervals.

    Args:
        sheets: the fusion stage's `evaluation.csv` files. The systems measured on the blind rows are drawn, in file
            order; the difference of two of them and the paper's way (all rows) stand in the table alone.
        paper: published values by (domain, `Prev. Best` or `Fused Metric`, `likert`).
    """
    paper = paper or {}
    entries: list[tuple[str, dict[str, str], float | None, float | None, float | None]] = []
    for sheet in sheets:
        for row in sheet.rows:
            if row["system"] in NOT_DRAWN:
                continue
            entries.append(
                (row["domain"], row, sheet.number(row, "value"), sheet.number(row, "low"), sheet.number(row, "high"))
            )
    entries.sort(key=lambda entry: domain_rank(entry[0]))
    domains = list(dict.fromkeys(entry[0] for entry in entries))
    published = {
        (domain, kind): paper.get((domain, name, "likert"))
        for domain in domains
        for kind, name in (("fused", "Fused Metric"), ("best_single", "Prev. Best"))
    }
    numbers = [value for _, _, *rest in entries for value in rest if value is not None]
    limits = _limits(numbers + [value for value in published.values() if value is not None])
    panels = []
    for domain in domains:
        rows = [entry for entry in entries if entry[0] == domain]
        height = len(rows) * 28.0
        figure = canvas(PANEL_WIDTH, 34 + height + 40)
        axes = figure.add_axes(box(212, 34, PANEL_WIDTH - 226, height, figure))
        _value_axes(axes, len(rows), *limits, "Pearson r with people on blind rows, 95% interval")
        for place, (_, row, value, low, high) in enumerate(rows):
            colour = {"fused": CLASS_COLOURS["llm"], "best_single": CLASS_COLOURS["n-gram"]}.get(row["system"], MUTED)
            if value is None:
                axes.text(limits[0], place, f" N/A: {_short(row['note'])}", color=MUTED, va="center", fontsize=9.5)
                continue
            if low is not None and high is not None:
                axes.hlines(place, low, high, color=colour, linewidth=2)
            axes.plot(
                value,
                place,
                marker={"fused": "D", "best_single": "s"}.get(row["system"], "o"),
                color=colour,
                markersize=7 if row["system"] in ("fused", "best_single") else 5,
                linestyle="",
            )
            number = published.get((domain, row["system"]))
            if number is not None:
                axes.plot(
                    number, place, marker="o", markerfacecolor="none", markeredgecolor=INK, markersize=9, linestyle=""
                )
        axes.set_yticks(range(len(rows)), [_system_label(row["system"], row["metric"]) for _, row, *_ in rows])
        heading = 1 - 18 / (figure.get_figheight() * 72)
        figure.text(0, heading, domain_title(domain), fontsize=12.5, fontweight="bold")
        counts = sorted({int(float(row["rows"])) for _, row, *_ in rows if row["rows"]})
        if counts:
            figure.text(
                212 / PANEL_WIDTH,
                heading,
                f"{'–'.join(str(count) for count in sorted({counts[0], counts[-1]}))} blind rows"
                + ("; hollow circle: published" if published[(domain, "fused")] is not None else ""),
                fontsize=10,
                color=MUTED,
            )
        panels.append(to_panel(figure, f"fusion-{domain}"))
    return compose(
        "fusion",
        "The fused metric against the best single metric on the same blind rows",
        "For each domain, the correlation of the fused metric and of the best single metric with the human rating "
        "on the blind rows, with intervals; hollow circles are the values of the paper's Table V. The same numbers "
        "are in table V.",
        panels,
        columns=2 if len(panels) > 1 else 1,
    )


def system_title(system: str) -> str:
    """A system of the fusion evaluation in words."""
    return SYSTEM_TITLES.get(system, system.replace("_", " ").capitalize())


def _system_label(system: str, metric: str) -> str:
    return f"{system_title(system)}:\n{metric}" if system == "best_single" and metric else system_title(system)


@styled
def state_figure(sheet: Sheet) -> str:
    """The endpoint of each of the 81 predicate states as a 9 × 9 map, rows (I, A), columns (M, D).

    A cell whose endpoint differs from the oracle's carries both and a heavy frame.

    Args:
        sheet: the audit's `states.csv`; I, A, M, D, endpoint and oracle are 1, 0 or U.

    Raises:
        InputError: a state is missing, repeated or has another value.
    """
    states: dict[tuple[str, str, str, str], tuple[str, str]] = {}
    for number, row in enumerate(sheet.rows, start=2):
        key = (row["I"], row["A"], row["M"], row["D"])
        if not set((*key, row["endpoint"], row["oracle"])) <= set(STATE_ORDER) or key in states:
            raise InputError(
                f"state {','.join(key)} {'is repeated' if key in states else 'holds something else than 1, 0 and U'}",
                path=sheet.path,
                line=number,
                fix="Run `faithfuse audit suite` again.",
            )
        states[key] = (row["endpoint"], row["oracle"])
    if len(states) != 81:
        raise InputError(
            f"holds {len(states)} of the 81 states", path=sheet.path, fix="Run `faithfuse audit suite` again."
        )
    counts = {value: sum(endpoint == value for endpoint, _ in states.values()) for value in STATE_ORDER}
    agreeing = sum(endpoint == oracle for endpoint, oracle in states.values())

    from matplotlib.patches import Rectangle

    cell, left, top = 42.0, 104.0, 96.0
    figure = canvas(PANEL_WIDTH, top + 9 * cell + 52)
    axes = figure.add_axes(box(left, top, 9 * cell, 9 * cell, figure))
    axes.set_xlim(0, 9)
    axes.set_ylim(9, 0)
    axes.axis("off")
    pairs = [(first, second) for first in STATE_ORDER for second in STATE_ORDER]
    fills = {"1": OMISSION, "0": NO_OMISSION, "U": UNRESOLVED}
    inks = {"1": PAGE, "0": INK, "U": MUTED}
    for y, (relationship, adoption) in enumerate(pairs):
        for x, (materiality, disclosure) in enumerate(pairs):
            endpoint, oracle = states[(relationship, adoption, materiality, disclosure)]
            wrong = endpoint != oracle
            patch = Rectangle(
                (x + 0.03, y + 0.03),
                0.94,
                0.94,
                facecolor=fills[endpoint],
                edgecolor=INK if wrong else "none",
                linewidth=3 if wrong else 0,
            )
            patch.set_gid(f"state-{relationship}{adoption}{materiality}{disclosure}")
            axes.add_patch(patch)
            axes.text(
                x + 0.5,
                y + 0.5,
                f"{endpoint}≠{oracle}" if wrong else endpoint,
                ha="center",
                va="center",
                color=inks[endpoint],
                fontsize=13 if endpoint == "1" else 11.5,
                fontweight="bold" if endpoint == "1" else "normal",
            )
    for place, (first, second) in enumerate(pairs):
        axes.text(place + 0.5, -0.16, f"D={second}", ha="center", va="bottom", fontsize=9.5, color=MUTED)
        axes.text(-0.14, place + 0.5, f"A={second}", ha="right", va="center", fontsize=9.5, color=MUTED)
        if second == STATE_ORDER[1]:
            axes.text(place + 0.5, -0.58, f"M={first}", ha="center", va="bottom", fontsize=11)
            axes.text(-1.0, place + 0.5, f"I={first}", ha="right", va="center", fontsize=11)
    for place in (3, 6):
        axes.plot([place, place], [-0.95, 9], color=MUTED, linewidth=1, clip_on=False)
        axes.plot([-1.8, 9], [place, place], color=MUTED, linewidth=1, clip_on=False)
    total = figure.get_figheight() * 72
    figure.text(0, 1 - 18 / total, "Omission endpoint of the 81 states", fontsize=12.5, fontweight="bold")
    figure.text(0, 1 - 37 / total, f"{agreeing} of 81 agree with the oracle", fontsize=10, color=MUTED)
    key_y = 1 - (top + 9 * cell + 30) / total
    words = {"1": "omission", "0": "no omission", "U": "unresolved"}
    for place, value in enumerate(STATE_ORDER):
        x = (left + place * 128) / PANEL_WIDTH
        figure.patches.append(
            Rectangle(
                (x, key_y),
                15 / PANEL_WIDTH,
                15 / total,
                transform=figure.transFigure,
                facecolor=fills[value],
                figure=figure,
            )
        )
        figure.text(x + 21 / PANEL_WIDTH, key_y + 2 / total, f"{value}: {words[value]} ({counts[value]})", fontsize=10)
    return compose(
        "audit_states",
        "The audit's state map",
        f"The omission endpoint for every combination of relationship I, adoption A, materiality M and disclosure D, "
        f"each 1, 0 or unresolved: {counts['1']} omission, {counts['0']} without, {counts['U']} unresolved; "
        f"{agreeing} of 81 agree with the oracle.",
        [to_panel(figure, "audit_states-map")],
    )

"""Time of the statistics: intervals over groups and fusion, against the obvious way to get the same numbers.

Every task runs in one process on one thread, the fusion of all seeds in two processes; `ratio` is a system's time over
ours in the same run. Rows of `peak memory` are MiB that the work adds, as `tracemalloc` counts them, not seconds.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import harness
import numpy as np
import pandas as pd
import threadpoolctl
from scipy import stats

from faithfuse.analysis.correlation import COEFFICIENTS, PEARSON, SPEARMAN, correlate, group_codes
from faithfuse.analysis.ebm import LIBRARY_DEFAULTS, EbmSettings, fit_ebm
from faithfuse.analysis.fusion import fuse
from faithfuse.analysis.ratings import Human, Joined, MetricTable
from faithfuse.analysis.resampling import JACKKNIFE, Intervals

ITEMS, METRICS = 500, 60
FEW = 60
RESAMPLES = 10_000
FEW_RESAMPLES = 100
SEEDS = 50
CLASSES = ("llm", "n-gram", "embedding", "graph", "matching")


def _table(items: int, metrics: int, seed: int = 0) -> Joined:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=items)
    values = 0.4 * quality[:, None] + rng.normal(size=(items, metrics))
    likert = np.clip(np.round(3 + 1.2 * quality), 1, 5)
    names = [f"m{index:02d}" for index in range(metrics)]
    table = MetricTable(
        path=Path("constructed"),
        items=[f"q{index:05d}" for index in range(items)],
        systems=["s"] * items,
        groups=[f"g{index:05d}" for index in range(items)],
        names=names,
        values=values,
        classes={name: CLASSES[index % 5] for index, name in enumerate(names)},
        extension=dict.fromkeys(names, False),
    )
    return Joined(table, [Human(value, float(value >= 3), {}, 1) for value in likert], 0, 0)


def _obvious(joined: Joined, method: str, groups: int) -> np.ndarray:
    """Leave each of the first `groups` rows out and correlate the others: pandas for Pearson, SciPy for Spearman."""
    frame = pd.DataFrame(joined.table.values)
    human = pd.Series(joined.likert)
    without = []
    for row in range(groups):
        sample, people = frame.drop(row), human.drop(row)
        if method == PEARSON:
            without.append(sample.corrwith(people).to_numpy())
        else:
            without.append([stats.spearmanr(sample[column], people)[0] for column in sample])
    return np.std(without, axis=0)


def _obvious_draws(joined: Joined, resamples: int) -> np.ndarray:
    """Draw rows, correlate with pandas, repeat."""
    rng = np.random.default_rng(0)
    frame, human = pd.DataFrame(joined.table.values), pd.Series(joined.likert)
    drawn = []
    for _ in range(resamples):
        rows = rng.integers(0, len(frame), len(frame))
        sample, people = frame.iloc[rows].reset_index(drop=True), human.iloc[rows].reset_index(drop=True)
        drawn.append(sample.corrwith(people).to_numpy())
    return np.quantile(drawn, [0.025, 0.975], axis=0)


def main(out: Path) -> None:
    """Measure and write the table of the area `statistics`."""
    joined = _table(ITEMS, METRICS)

    def ours(
        coefficients: tuple[str, ...], of: Joined = joined, intervals: Intervals = JACKKNIFE
    ) -> Callable[[], object]:
        return lambda: correlate(
            of.table.values, of.likert[:, None], of.table.groups, coefficients=coefficients, intervals=intervals
        )

    size = f"{METRICS} metrics x {ITEMS} items"
    few = _table(FEW, METRICS)
    drawn = Intervals("bootstrap", RESAMPLES)
    small = _table(350, 40)
    codes = group_codes(small.table.groups)

    def fit(settings: EbmSettings) -> Callable[[], object]:
        return lambda: fit_ebm(small.table, small.likert, codes, settings, 0)

    without_pairs = replace(LIBRARY_DEFAULTS, interactions=0)
    tasks: list[tuple[str, int, int, dict[str, Callable[[], object]]]] = [
        (
            f"intervals of pearson, {size}",
            ITEMS,
            3,
            {"ours": ours((PEARSON,)), "obvious": lambda: _obvious(joined, PEARSON, ITEMS)},
        ),
        (f"intervals of pearson and spearman, {size}", ITEMS, 3, {"ours": ours((PEARSON, SPEARMAN))}),
        (f"intervals of all coefficients, {size}", ITEMS, 1, {"ours": ours(COEFFICIENTS)}),
        (
            f"intervals of spearman, {METRICS} metrics x {FEW} items",
            FEW,
            1,
            {"ours": ours((SPEARMAN,), few), "obvious": lambda: _obvious(few, SPEARMAN, FEW)},
        ),
        (
            f"bootstrap of pearson, {size}, {RESAMPLES} resamples",
            RESAMPLES,
            3,
            {"ours": ours((PEARSON,), intervals=drawn), "our jackknife": ours((PEARSON,))},
        ),
        (
            f"bootstrap of pearson and spearman, {size}, {RESAMPLES} resamples",
            RESAMPLES,
            1,
            {"ours": ours((PEARSON, SPEARMAN), intervals=drawn), "our jackknife": ours((PEARSON, SPEARMAN))},
        ),
        (
            f"bootstrap of pearson, {size}, {FEW_RESAMPLES} resamples",
            FEW_RESAMPLES,
            3,
            {
                "ours": ours((PEARSON,), intervals=Intervals("bootstrap", FEW_RESAMPLES)),
                "obvious": lambda: _obvious_draws(joined, FEW_RESAMPLES),
            },
        ),
        (
            "one EBM fit, 350 rows x 40 metrics",
            1,
            1,
            {"ours": fit(EbmSettings()), "interpret defaults without interactions": fit(without_pairs)},
        ),
        (
            f"fusion with class drops and baselines, {size}, {SEEDS} seeds and splits, 2 processes",
            SEEDS,
            1,
            {"ours": lambda: fuse(joined, "d", seeds=SEEDS, threads=2)},
        ),
    ]
    table = []
    with threadpoolctl.threadpool_limits(1):
        fit(EbmSettings())()  # imports interpret, which is not what is measured
        for task, units, repeats, systems in tasks:
            table += harness.rows(task, harness.time_in_turn(systems, repeats, warmup=0), units)
        for resamples in (RESAMPLES, 10 * RESAMPLES):
            peak = _peak(ours((PEARSON,), intervals=Intervals("bootstrap", resamples)))
            task = f"peak memory (MiB): bootstrap of pearson, {size}, {resamples} resamples"
            table += harness.rows(task, {"ours": [peak]}, resamples)
    harness.write(out, table)


def _peak(work: Callable[[], object]) -> float:
    """The most memory that some work takes at a time, in MiB."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20

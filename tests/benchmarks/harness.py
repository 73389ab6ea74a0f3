"""What the benchmarks share: timing in turn, and the table of ratios."""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from faithfuse.records import atomic_write

COLUMNS = ("task", "system", "median_seconds", "spread", "work_units", "ratio")


def time_in_turn(systems: Mapping[str, Callable[[], object]], repeats: int, warmup: int = 1) -> dict[str, list[float]]:
    """Run the systems one after another, `repeats` times round, so that a slow moment of the machine hits all.

    Returns:
        Seconds of each counted run, by system.
    """
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for turn in range(warmup + repeats):
        for name, function in systems.items():
            start = time.perf_counter()
            function()
            if turn >= warmup:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def rows(task: str, seconds: Mapping[str, list[float]], work_units: int) -> list[dict[str, object]]:
    """Rows of one task: `ratio` is a system's median over ours, `spread` the largest run less the smallest."""
    ours = statistics.median(seconds["ours"])
    return [
        {
            "task": task,
            "system": name,
            "median_seconds": round(statistics.median(values), 6),
            "spread": round(max(values) - min(values), 6),
            "work_units": work_units,
            "ratio": round(statistics.median(values) / ours, 3),
        }
        for name, values in seconds.items()
    ]


def write(out: Path, table: list[dict[str, object]]) -> None:
    """Write `results/benchmarks/<area>.csv` and print it."""
    with atomic_write(out) as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    print(out.read_text(encoding="utf-8"))

"""The rating app under load: how soon it starts, and how long twenty annotators wait for a page and for "saved".

Real connections on loopback, one process of the app, every save flushed to the disk. `one a second` is a fast annotator
(a page, a rating, a pause); `without pause` is more than people can do: the next request follows the answer.
"""

from __future__ import annotations

import csv
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from faithfuse.annotate import plan, sources
from faithfuse.annotate.access import Access
from faithfuse.annotate.store import Store
from faithfuse.annotate.study import Settings, Study, create
from faithfuse.records import atomic_write

COLUMNS = ("task", "annotators", "requests", "median_ms", "p95_ms", "max_ms")
SAMPLE = Path(__file__).resolve().parents[2] / "config" / "sample"
ANNOTATORS = [f"rater-{number:02d}" for number in range(20)]
STARTS = 3


def _study(folder: Path) -> Study:
    create(folder, Settings())
    material = sources.load([SAMPLE])
    plan.fill_ratings(Store(folder / "study.db", new=True), Settings(), material, ANNOTATORS)
    return Study(folder)


def _start(study: Study) -> tuple[subprocess.Popen, str, float]:
    """A server, its address, and the seconds until it answered."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "faithfuse", "annotate", "serve", str(study.folder), "--port", "0", "--tokens"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    base = ""
    for line in process.stdout:
        base = base or (re.search(r"http://[\d.]+:\d+", line) or [""])[0]
        if line.startswith("Stop"):
            break
    httpx.get(base)
    return process, base, time.perf_counter() - began


def _rate(base: str, token: str, ratings: int, pause: float, seed: int) -> tuple[list[float], list[float]]:
    """One annotator: seconds for every page and for every save."""
    pages, saves = [], []
    clock = random.Random(seed)
    with httpx.Client(base_url=base, headers={"origin": base}, follow_redirects=True, timeout=60) as client:
        following = "/next"
        client.get("/enter", params={"token": token})
        for _ in range(ratings):
            began = time.perf_counter()
            page = client.get(following)
            pages.append(time.perf_counter() - began)
            fields = {
                name: re.search(rf'name="{name}" value="([^"]*)"', page.text).group(1)
                for name in ("csrf", "request_id", "base")
            }
            time.sleep(clock.uniform(0.5, 1.5) * pause)  # people do not tick together
            began = time.perf_counter()
            answer = client.post(
                page.url.path, data=fields | {"likert": 4, "seconds": 2}, headers={"accept": "application/json"}
            )
            saves.append(time.perf_counter() - began)
            following = answer.json()["next"]
    return pages, saves


def _row(task: str, annotators: int, seconds: list[float]) -> dict[str, object]:
    milliseconds = sorted(1000 * value for value in seconds)
    return {
        "task": task,
        "annotators": annotators,
        "requests": len(seconds),
        "median_ms": round(statistics.median(milliseconds), 1),
        "p95_ms": round(milliseconds[-(-95 * len(milliseconds) // 100) - 1], 1),
        "max_ms": round(milliseconds[-1], 1),
    }


def main(out: Path) -> None:
    """Measure and write `results/benchmarks/annotate.csv`."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        study = _study(Path(folder) / "study")
        starts = []
        for _ in range(STARTS):
            process, _, seconds = _start(study)
            process.terminate()
            process.wait()
            starts.append(seconds)
        rows.append(_row("start", 0, starts))
        process, base, _ = _start(study)
        access = Access(study, Store(study.database), tokens=True)
        tokens = [access.token("annotator", name) for name in ANNOTATORS]
        try:
            for label, ratings, pause in (("one a second", 15, 1.0), ("without pause", 15, 0.0)):
                with ThreadPoolExecutor(len(tokens)) as pool:
                    done = list(pool.map(_rate, [base] * 20, tokens, [ratings] * 20, [pause] * 20, range(20)))
                for what, position in (("page", 0), ("save", 1)):
                    seconds = [value for each in done for value in each[position]]
                    rows.append(_row(f"{what}, {label}", len(tokens), seconds))
        finally:
            process.terminate()
            process.wait()
    with atomic_write(out) as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(Path("results/benchmarks/annotate.csv"))

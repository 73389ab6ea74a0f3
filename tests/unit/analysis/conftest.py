"""Constructed metric tables and ratings with a known truth."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from faithfuse.analysis.ratings import Joined, join, read_metrics, read_ratings

CLASS_NAMES = {
    "LLM Conf.": 0.8,
    "ROUGE-1": 0.6,
    "BERTScore": 0.5,
    "SMATCH mean": 0.4,
    "Lexical match": 0.3,
    "chrF": 0.0,
}


@dataclass(frozen=True)
class Files:
    """Two CSV files as a user has them."""

    metrics: Path
    ratings: Path

    def joined(self) -> Joined:
        return join(read_metrics(self.metrics), read_ratings(self.ratings), self.ratings)


@pytest.fixture
def planted(tmp_path):
    """Write a metric table whose metrics follow a hidden quality with given strength, and ratings of that quality."""

    def write(
        rows: int = 80,
        strength: dict[str, float] | None = None,
        seed: int = 0,
        *,
        raters: int = 1,
        per_group: int = 2,
        missing: float = 0.0,
        domain: str = "short_form_qa",
        noise_ratings: bool = False,
        folder: str = "in",
    ) -> Files:
        strength = CLASS_NAMES if strength is None else strength
        rng = np.random.default_rng(seed)
        home = tmp_path / folder
        home.mkdir(exist_ok=True)
        metrics, ratings = home / "METRICS.csv", home / "RATINGS.csv"
        quality = rng.normal(size=rows)
        rated = rng.normal(size=rows) if noise_ratings else quality
        table = ["item_id,system,group," + ",".join(strength)]
        given = ["item_id,system,annotator,point,likert"]
        for row in range(rows):
            cells = []
            for r in strength.values():
                value = r * quality[row] + np.sqrt(1 - r * r) * rng.normal()
                cells.append("" if rng.random() < missing else repr(float(0.5 + 0.15 * value)))
            table.append(f"q{row:04d},s,g{row // per_group:04d}," + ",".join(cells))
            for rater in range(raters):
                noise = 0.3 * rng.normal() if raters > 1 else 0.0
                likert = float(np.clip(3 + rated[row] + noise, 1, 5))
                given.append(f"q{row:04d},s,r{rater},,{likert!r}")
        metrics.write_text("\n".join(table) + "\n", encoding="utf-8")
        ratings.write_text("\n".join(given) + "\n", encoding="utf-8")
        meta = {"domain": domain, "metrics": {name: {"signature": f"{name}|v1"} for name in strength}}
        (home / "METRICS.csv.meta.json").write_text(json.dumps(meta), encoding="utf-8")
        return Files(metrics, ratings)

    return write

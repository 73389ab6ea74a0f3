"""The fused metric as a file: an Explainable Boosting Machine written to JSON, and its evaluation.

The model is an intercept plus one table of scores per metric (arXiv 2512.05700, section VI); with interactions it
also has tables over pairs. Nothing is pickled: any language can evaluate the file. `predict` is held equal to
interpret's own within 1e-9 by a test.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from faithfuse.analysis.ratings import MetricTable
from faithfuse.errors import InputError
from faithfuse.records import atomic_write

FORMAT = "faithfuse-fused-metric/1"
MODEL_FILE = "model.json"
LOW, HIGH = 1.0, 5.0


@dataclass(frozen=True)
class Term:
    """One additive term: the score of every bin of one metric, or of every cell of two metrics' bins.

    Attributes:
        metrics: one or two indices into the model's `metrics`.
        cuts: per metric of the term, the ascending bin edges; a value equal to an edge is in the bin above.
        scores: shape (bins of the first, bins of the second) or (bins,): the first bin is for a missing value.
        importance: mean absolute score over the training rows, in Likert points.
    """

    metrics: list[int]
    cuts: list[list[float]]
    scores: list
    importance: float


@dataclass(frozen=True)
class FusedModel:
    """A fused metric and what it needs.

    Attributes:
        domain: the domain it was trained on.
        metrics: metric names, in the order of the terms' indices.
        classes: a class per metric.
        signatures: a signature per metric; null where the training table stated none.
        ranges: smallest and largest value per metric on the training rows.
        intercept: in Likert points.
        terms: the additive terms.
        dropped: metrics of the training table that the model does not use, with the reason.
        training: what it was trained on: row, group and rating counts, seed, settings, versions, digests.
    """

    domain: str
    metrics: list[str]
    classes: list[str]
    signatures: list[str | None]
    ranges: list[tuple[float, float]]
    intercept: float
    terms: list[Term]
    dropped: dict[str, str] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)

    def contributions(self, values: np.ndarray) -> np.ndarray:
        """Each term's score for every row.

        Args:
            values: shape (rows, metrics) in the order of `metrics`; NaN is missing.

        Returns:
            Shape (rows, terms), in Likert points; with the intercept they sum to the unclipped score.
        """
        result = np.empty((len(values), len(self.terms)))
        for index, term in enumerate(self.terms):
            bins = tuple(
                _bins(values[:, metric], np.asarray(cuts)) for metric, cuts in zip(term.metrics, term.cuts, strict=True)
            )
            result[:, index] = np.asarray(term.scores, dtype=float)[bins]
        return result

    def metric_contributions(self, values: np.ndarray) -> np.ndarray:
        """Contributions by metric, shape (rows, metrics); a term of two metrics is halved between them."""
        by_term = self.contributions(values)
        result = np.zeros((len(values), len(self.metrics)))
        for index, term in enumerate(self.terms):
            for metric in term.metrics:
                result[:, metric] += by_term[:, index] / len(term.metrics)
        return result

    def predict(self, values: np.ndarray) -> np.ndarray:
        """The fused score before clipping to 1–5, shape (rows,)."""
        return self.intercept + self.contributions(values).sum(axis=1)

    def importances(self) -> dict[str, float]:
        """Importance per metric in Likert points; a term of two metrics is halved between them."""
        result = dict.fromkeys(self.metrics, 0.0)
        for term in self.terms:
            for metric in term.metrics:
                result[self.metrics[metric]] += term.importance / len(term.metrics)
        return result

    def class_shares(self) -> dict[str, float]:
        """Share of importance per metric class, summing to 1 (all 0 if no term has any importance).

        The rule of Table IV: a class's share is the sum over its terms' importances divided by the sum over all
        terms; a term of two metrics counts half for each one's class.
        """
        by_class = dict.fromkeys(self.classes, 0.0)
        for (_, importance), metric_class in zip(self.importances().items(), self.classes, strict=True):
            by_class[metric_class] += importance
        total = sum(by_class.values())
        return {name: value / total if total else 0.0 for name, value in by_class.items()}

    def outside(self, values: np.ndarray) -> np.ndarray:
        """Whether each value lies outside its metric's training range; shape (rows, metrics), missing is inside."""
        low, high = np.array(self.ranges).reshape(-1, 2).T
        with np.errstate(invalid="ignore"):
            return (values < low) | (values > high)

    def select(self, table: MetricTable, *, allow_missing: bool = False) -> np.ndarray:
        """The model's columns of a metric table, checked against the model's signatures.

        With `allow_missing` a metric that the table lacks, or has with another signature, is missing on every row
        instead of an error.

        Raises:
            InputError: a metric is missing, or was computed with other settings than in training.
        """
        missing = [name for name in self.metrics if name not in table.names]
        if missing and not allow_missing:
            raise InputError(
                f"lacks {len(missing)} of the {len(self.metrics)} metrics that the model needs "
                f"({', '.join(missing[:5])}{', …' if len(missing) > 5 else ''})",
                path=table.path,
                line=1,
                fix="Compute them with `faithfuse metrics`, with the settings that the model's card names.",
            )
        values = np.full((len(table.items), len(self.metrics)), np.nan)
        unlike = self.unlike(table)
        for index, (name, trained) in enumerate(zip(self.metrics, self.signatures, strict=True)):
            if name not in table.names or (allow_missing and name in unlike):
                continue
            if name in unlike:
                given = table.signatures.get(name)
                raise InputError(
                    f"{name} has the signature {given or 'none'}, the model was trained with {trained or 'none'}",
                    path=table.path,
                    fix="Compute the metric with the settings of the model's card, or fuse a new model.",
                )
            values[:, index] = table.values[:, table.names.index(name)]
        return values

    def unlike(self, table: MetricTable) -> list[str]:
        """The model's metrics that the table has with another signature than in training."""
        pairs = zip(self.metrics, self.signatures, strict=True)
        return [name for name, trained in pairs if name in table.names and table.signatures.get(name) != trained]


def _bins(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Bin numbers: 0 for missing, then 1 + the number of edges that the value reaches."""
    bins = np.searchsorted(cuts, values, side="right") + 1
    bins[np.isnan(values)] = 0
    return bins


def clip(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores clipped to 1–5, and which of them were outside."""
    return np.clip(scores, LOW, HIGH), (scores < LOW) | (scores > HIGH)


def write_model(path: Path | str, model: FusedModel) -> None:
    """Write a model as JSON, atomically; floats in their shortest exact form."""
    with atomic_write(path) as stream:
        json.dump({"format": FORMAT, **asdict(model)}, stream, ensure_ascii=False, allow_nan=False, indent=1)
        stream.write("\n")


def read_model(path: Path | str) -> FusedModel:
    """Read a model from its JSON file, or from the folder that `faithfuse fuse` wrote.

    Raises:
        InputError: there is none, or it is not one that this version reads.
    """
    path = Path(path)
    if path.is_dir():
        path = path / MODEL_FILE
    fix = "Give the folder that `faithfuse fuse` wrote."
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path, fix=fix) from None
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", path=path, fix=fix) from None
    found = stored.pop("format", None) if isinstance(stored, dict) else None
    if found != FORMAT:
        raise InputError(f"has the format {found!r:.40}, expected {FORMAT!r}", path=path, fix=fix)
    try:
        stored["terms"] = [Term(**term) for term in stored["terms"]]
        stored["ranges"] = [(float(low), float(high)) for low, high in stored["ranges"]]
        return FusedModel(**stored)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"is no fused model ({error})", path=path, fix=fix) from None

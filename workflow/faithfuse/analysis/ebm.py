"""Training an Explainable Boosting Machine on metric values (arXiv 2512.05700, section VI; library: interpret)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from faithfuse.analysis.model import FusedModel, Term
from faithfuse.analysis.ratings import MetricTable
from faithfuse.analysis.splits import validation_bags


@dataclass(frozen=True)
class EbmSettings:
    """Settings of the machine; why these, is measured in docs/decisions/0500-ebm-settings.md.

    `validation_fraction` of the groups stop each of the `outer_bags` early; the rest are as in interpret.
    """

    interactions: int | str = 0
    outer_bags: int = 4
    learning_rate: float = 0.1
    smoothing_rounds: int = 50
    early_stopping_rounds: int = 20
    max_bins: int = 1024
    min_samples_leaf: int = 4
    validation_fraction: float = 0.15


LIBRARY_DEFAULTS = EbmSettings(
    interactions="5x",
    outer_bags=14,
    learning_rate=0.04,
    smoothing_rounds=500,
    early_stopping_rounds=100,
)


def usable_metrics(values: np.ndarray, names: Sequence[str]) -> tuple[list[int], dict[str, str]]:
    """Columns that a model can learn from, and why the others cannot serve (by name)."""
    used, dropped = [], {}
    for index, name in enumerate(names):
        scored = values[~np.isnan(values[:, index]), index]
        if not len(scored):
            dropped[name] = "unscored on every training row"
        elif np.all(scored == scored[0]):
            dropped[name] = f"constant ({scored[0]:.6g}) on the training rows"
        else:
            used.append(index)
    return used, dropped


def fit_ebm(
    table: MetricTable,
    y: np.ndarray,
    codes: np.ndarray,
    settings: EbmSettings,
    seed: int,
    *,
    domain: str = "",
    exclude_class: str | None = None,
) -> FusedModel | None:
    """Fit a fused metric to the rows of a table.

    Args:
        table: the training rows; missing values stay missing and get a bin of their own.
        y: human Likert per row.
        codes: group number per row; early stopping never parts a group.
        settings: of the machine.
        seed: of the machine and its bags. The same seed gives the same model.
        domain: written into the model.
        exclude_class: leave the metrics of this class out.

    Returns:
        The model, or None where no metric can be learned from.
    """
    from interpret.glassbox import ExplainableBoostingRegressor

    used, dropped = usable_metrics(table.values, table.names)
    used = [index for index in used if table.classes[table.names[index]] != exclude_class]
    if not used or np.all(y == y[0]):
        return None
    x = table.values[:, used]
    options = asdict(settings)
    machine = ExplainableBoostingRegressor(
        feature_types=["continuous"] * len(used),
        validation_size=options.pop("validation_fraction"),
        n_jobs=1,
        random_state=seed,
        **options,
    )
    bags = validation_bags(y, codes, settings.outer_bags, settings.validation_fraction, seed)
    with warnings.catch_warnings():
        # Missing values are meant to be there; interpret warns that its own pictures do not show them.
        warnings.filterwarnings("ignore", message="Missing values detected")
        machine.fit(x, y, bags=bags)
    importances = machine.term_importances()
    terms = []
    for index, features in enumerate(machine.term_features_):
        # A feature's bins are coarser in pairs (level 1) than alone (level 0).
        levels = [machine.bins_[f][min(len(features), len(machine.bins_[f])) - 1] for f in features]
        scores = machine.term_scores_[index][tuple(slice(0, -1) for _ in features)]
        terms.append(
            Term(
                metrics=[int(f) for f in features],
                cuts=[[float(cut) for cut in level] for level in levels],
                scores=scores.tolist(),
                importance=float(importances[index]),
            )
        )
    names = [table.names[index] for index in used]
    return FusedModel(
        domain=domain,
        metrics=names,
        classes=[table.classes[name] for name in names],
        signatures=[table.signatures.get(name) for name in names],
        ranges=[(float(low), float(high)) for low, high in zip(np.nanmin(x, 0), np.nanmax(x, 0), strict=True)],
        intercept=float(np.ravel(machine.intercept_)[0]),
        terms=terms,
        dropped=dropped,
    )

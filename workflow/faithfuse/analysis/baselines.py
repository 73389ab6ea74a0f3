"""What a fused metric must beat: the best single metric and the simple ways to combine metrics.

Each baseline learns from the training rows alone and predicts for others. A missing value is replaced by the
metric's mean on the training rows where a method cannot do without (the random forest can).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BASELINES = ("mean_z", "ridge", "random_forest", "best_single_isotonic")
MIN_SCORED = 0.5
TREES = 200


@dataclass(frozen=True)
class BestSingle:
    """The metric with the strongest correlation on the training rows.

    Attributes:
        index: its column.
        sign: 1 or -1: the direction in which it agrees with people there.
        mean: its training mean, standing in for a missing value.
        spread: its standard deviation on the training rows.
    """

    index: int
    sign: int
    mean: float
    spread: float

    def predict(self, values: np.ndarray) -> np.ndarray:
        """The metric as a z-score of the training rows, turned so that more is better; shape (rows,).

        The z-score lets predictions of several folds, which may choose different metrics, stand in one column.
        """
        column = values[:, self.index]
        return self.sign * (np.where(np.isnan(column), self.mean, column) - self.mean) / self.spread

    def missing(self, values: np.ndarray) -> int:
        """How many rows needed the training mean."""
        return int(np.isnan(values[:, self.index]).sum())


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson's r over the rows where x is scored; NaN where undefined."""
    scored = ~np.isnan(x)
    x, y = x[scored], y[scored]
    if len(x) < 3 or np.all(x == x[0]) or np.all(y == y[0]):
        return float("nan")
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))


def best_single(values: np.ndarray, y: np.ndarray) -> BestSingle | None:
    """Choose the metric by |r| on the given (training) rows, among those scored on at least half of them."""
    best, best_r = None, 0.0
    for index in range(values.shape[1]):
        if np.mean(~np.isnan(values[:, index])) < MIN_SCORED:
            continue
        r = pearson(values[:, index], y)
        if not np.isnan(r) and abs(r) > abs(best_r):
            best, best_r = index, r
    if best is None:
        return None
    column = values[:, best]
    return BestSingle(best, 1 if best_r > 0 else -1, float(np.nanmean(column)), float(np.nanstd(column)))


def predict_baselines(
    train: np.ndarray, y: np.ndarray, test: np.ndarray, seed: int, names: tuple[str, ...] = BASELINES
) -> dict[str, np.ndarray]:
    """Predictions of each baseline for the test rows.

    Args:
        train: training values, shape (rows, metrics), NaN is missing; no column constant or empty.
        y: human Likert of the training rows.
        test: values of the rows to predict.
        seed: of the random forest.
        names: which baselines.

    Returns:
        Shape (test rows,) by name. `mean_z` is the mean of the z-scores a row has, each turned so that it agrees
        with people on the training rows; `ridge` takes its penalty by leave-one-out on the training rows.
    """
    mean, spread = np.nanmean(train, 0), np.nanstd(train, 0)
    z_train, z_test = (train - mean) / spread, (test - mean) / spread
    predictions = {}
    if "mean_z" in names:
        sign = np.array([np.sign(pearson(train[:, i], y)) for i in range(train.shape[1])])
        sign = np.nan_to_num(sign)
        scored = ~np.isnan(z_test)
        predictions["mean_z"] = np.where(scored, z_test * sign, 0).sum(1) / np.maximum(scored.sum(1), 1)
    if "ridge" in names:
        from sklearn.linear_model import RidgeCV

        machine = RidgeCV(np.logspace(-1, 4, 16)).fit(np.nan_to_num(z_train), y)
        predictions["ridge"] = machine.predict(np.nan_to_num(z_test))
    if "random_forest" in names:
        from sklearn.ensemble import RandomForestRegressor

        machine = RandomForestRegressor(TREES, min_samples_leaf=3, max_features=1 / 3, random_state=seed, n_jobs=1)
        predictions["random_forest"] = machine.fit(train, y).predict(test)
    if "best_single_isotonic" in names:
        from sklearn.isotonic import IsotonicRegression

        single = best_single(train, y)
        if single is not None:
            machine = IsotonicRegression(out_of_bounds="clip").fit(single.predict(train), y)
            predictions["best_single_isotonic"] = machine.predict(single.predict(test))
    return predictions

"""Krippendorff's alpha against the library and its published example."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from faithfuse.analysis.agreement import _alpha, _coincidences, agreement_rows, krippendorff_alpha
from faithfuse.records import Rating

# The reliability data of the library's own example (its README): three coders, fifteen units.
EXAMPLE = [
    "*    *    *    *    *    3    4    1    2    1    1    3    3    *    3",
    "1    *    2    1    3    3    4    3    *    *    *    *    *    *    *",
    "*    *    2    1    3    4    4    *    2    1    1    3    3    *    4",
]
VALUES = np.array([[np.nan if v == "*" else float(v) for v in row.split()] for row in EXAMPLE]).T
UNITS = [f"{unit:02d}" for unit in range(len(VALUES))]


def test_the_librarys_example_gives_its_published_alpha():
    assert krippendorff_alpha(VALUES, UNITS, "nominal", resamples=50).value == pytest.approx(0.691, abs=5e-4)
    assert krippendorff_alpha(VALUES, UNITS, "interval", resamples=50).value == pytest.approx(0.811, abs=5e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_the_vectorised_alpha_of_a_resample_is_the_librarys(level):
    rng = np.random.default_rng(1)
    values = rng.integers(1, 6, size=(25, 4)).astype(float)
    values[rng.random(values.shape) < 0.3] = np.nan
    values = values[np.count_nonzero(~np.isnan(values), axis=1) >= 2]
    domain = np.unique(values[~np.isnan(values)])
    per_unit = _coincidences(values, domain, np.arange(len(values)), len(values))
    for seed in range(5):
        drawn = np.random.default_rng(seed).integers(0, len(values), len(values))
        weights = np.bincount(drawn, minlength=len(values)).astype(float)
        summed = np.einsum("u,uab->ab", weights, per_unit)[None]
        expected = krippendorff.alpha(values[drawn].T, level_of_measurement=level)
        assert _alpha(summed, domain, level)[0] == pytest.approx(expected, abs=1e-12)


def test_raters_who_always_agree_reach_one_and_random_raters_about_zero():
    rng = np.random.default_rng(2)
    one = rng.integers(1, 6, size=200).astype(float)
    units = [f"{unit:03d}" for unit in range(200)]
    assert krippendorff_alpha(np.column_stack([one, one]), units, "interval", resamples=50).value == 1
    other = rng.integers(1, 6, size=200).astype(float)
    alpha = krippendorff_alpha(np.column_stack([one, other]), units, "interval", resamples=300)
    assert alpha.low < 0 < alpha.high


def test_what_has_no_alpha_has_a_reason():
    assert "two raters" in krippendorff_alpha(np.ones((5, 1)), UNITS[:5], "nominal").reason
    assert "every rating is 1" in krippendorff_alpha(np.ones((5, 2)), UNITS[:5], "nominal").reason
    few = krippendorff_alpha(VALUES[5:8], ["a", "b", "b"], "nominal")
    assert few.value is not None
    assert "2 groups" in few.reason


def test_abstentions_are_missing_and_points_are_units():
    ratings = [
        Rating(
            item_id=f"q{i}", system="s", annotator=who, point=point, likert=None if (i, who) == (0, "b") else 1 + i % 5
        )
        for i in range(10)
        for who in "ab"
        for point in (0, 1)
    ]
    rows = agreement_rows(ratings, resamples=50)
    assert [(row["human"], row["level"]) for row in rows] == [
        ("likert", "interval"),
        ("likert", "ordinal"),
        ("bool", "nominal"),
    ]
    assert rows[0]["units"] == 20
    assert rows[0]["ratings"] == 38
    assert all(row["alpha"] == 1 for row in rows)

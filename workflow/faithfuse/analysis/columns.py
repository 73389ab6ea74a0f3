"""Columns of the CSV files that the analysis writes and the report reads."""

from __future__ import annotations

CORRELATION_COLUMNS = (
    "domain",
    "metric",
    "metric_class",
    "extension",
    "human",
    "coefficient",
    "value",
    "low",
    "high",
    "pairs",
    "unscored",
    "reason",
    "p_value",
    "p_holm",
    "unscored_reasons",
)
IMPORTANCE_COLUMNS = (
    "domain",
    "metric_class",
    "share",
    "share_low",
    "share_high",
    "seeds",
    "blind_drop",
    "blind_drop_low",
    "blind_drop_high",
)
EVALUATION_COLUMNS = ("domain", "system", "metric", "rows", "value", "low", "high", "note", "p_value", "spearman")
BLIND_COLUMNS = ("item_id", "system", "group", "human", "fused", "best_single")
EXPLANATION_COLUMNS = ("item_id", "system", "metric", "metric_class", "value", "contribution")
SPLIT_COLUMNS = ("domain", "system", "seeds", "value", "low", "high", "note")
VALIDATION_COLUMNS = ("domain", "scheme", "system", "rows", "value", "low", "high", "note")
LEARNING_COLUMNS = ("domain", "system", "training_rows", "training_groups", "ratings", "value", "low", "high", "seeds")
AGREEMENT_COLUMNS = ("human", "level", "alpha", "low", "high", "items", "units", "raters", "ratings", "reason")
TRANSFER_COLUMNS = ("trained_on", "tested_on", "system", "metric", "rows", "value", "low", "high", "note", "p_value")

HUMAN_CLASS = "human"
"""The class of the human ceiling's row among the metrics."""

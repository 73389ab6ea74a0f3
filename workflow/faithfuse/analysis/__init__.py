"""Correlation with people, metric fusion, agreement and the papers' tables."""

"""Automatic metrics, one module per family."""

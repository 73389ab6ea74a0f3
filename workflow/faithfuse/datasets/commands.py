"""Command line of `faithfuse.datasets`."""

from __future__ import annotations

import typer

from faithfuse.datasets.items import register_items


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    register_items(app)

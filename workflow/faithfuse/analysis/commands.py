"""Command line of `faithfuse.analysis`."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""

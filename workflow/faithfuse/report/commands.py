"""Command line of `faithfuse.report`."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    from faithfuse.report.notebook import register_notebook

    register_notebook(app)

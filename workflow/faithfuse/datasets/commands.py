"""Command line of `faithfuse.datasets`."""

from __future__ import annotations

from pathlib import Path

import typer

from faithfuse.datasets.items import register_items


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    data = typer.Typer(
        help="Import public sets of human judgements; build the cross-domain data set.", no_args_is_help=True
    )
    app.add_typer(data, name="data")
    register_items(app)

    @data.command("import")
    def import_(
        set_: str = typer.Argument(..., metavar="SET", help="Name of the set; `faithfuse data describe` lists them."),
        root: Path = typer.Option(..., help="Folder with the set's original files, or a data folder above it."),
        out: Path = typer.Option(..., help="Folder for items, responses, ratings (.jsonl) and card.json."),
        limit: int | None = typer.Option(None, min=1, help="Draw this many items, with all their ratings."),
        seed: int = typer.Option(0, help="Seed of the draw."),
        system: list[str] | None = typer.Option(None, help="Keep only this system's responses (repeatable)."),
        repair: bool = typer.Option(False, help="Mend the damage that the set's module documents."),
    ) -> None:
        """Import a set of human judgements into items, responses and ratings, with a card."""
        from faithfuse.datasets.ratings import importer
        from faithfuse.datasets.ratings.base import write

        card = write(importer(set_), root, out, limit=limit, seed=seed, systems=system, repair=repair)
        counts = card["counts"]
        typer.echo(
            f"{set_}: {counts['items']} items, {counts['responses']} responses, {counts['ratings']} ratings "
            f"({counts['abstentions']} abstained)"
        )
        for drop in card["dropped"]:
            typer.echo(f"  left out: {drop['count']} × {drop['what']}: {drop['reason']}")

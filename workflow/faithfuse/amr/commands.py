"""Command line of `faithfuse.amr`: `parse`, `smatch` and `amr draw`."""

from __future__ import annotations

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    app.command("parse")(parse)


def parse(
    items: Path = typer.Argument(..., help="Items (JSON Lines)."),
    responses: list[Path] = typer.Argument(None, help="Responses (JSON Lines), any number of files."),
    parser: str = typer.Option("rules", help="`rules`, or a parser of the model registry."),
    models: Path = typer.Option(Path("config/models.yaml"), help="The model registry."),
    models_dir: Path = typer.Option(Path(".models"), help="Where fetched models are."),
    out: Path = typer.Option(..., help="Graphs (JSON Lines)."),
    cache: Path | None = typer.Option(None, help="Folder of the cache; graphs in it are not parsed again."),
    threads: int = typer.Option(1, min=1, help="Processes (rules) or torch threads (STOG)."),
    whole_transcript: bool = typer.Option(
        False, "--whole-transcript", help="Also parse each dialogue's transcript as one input."
    ),
) -> None:
    """Parse every sentence that a graph metric needs into an AMR graph."""
    from faithfuse.amr.parse import load_parser, parse_all
    from faithfuse.amr.sentences import item_sentences, response_sentences
    from faithfuse.errors import InputError
    from faithfuse.records import Item, Response, read_records, write_records

    loaded = read_records(items, Item)
    domains = {item.item_id: item.domain for item in loaded}
    sentences = [s for item in loaded for s in item_sentences(item, whole_transcript=whole_transcript)]
    for path in responses or []:
        for response in read_records(path, Response):
            if response.item_id not in domains:
                raise InputError(
                    "answers an item that is not among the items",
                    path=path,
                    record=response.item_id,
                    fix=f"Add the item to {items}, or remove the response.",
                )
            sentences += response_sentences(response, domains[response.item_id])
    graphs = parse_all(sentences, load_parser(parser, models, threads, models_dir=models_dir), cache)
    write_records(out, graphs)
    failed = [graph for graph in graphs if graph.penman is None]
    typer.echo(f"{len(graphs)} sentences parsed with {parser}, {len(failed)} without a graph")

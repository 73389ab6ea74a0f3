"""Command line of `faithfuse.datasets`."""

from __future__ import annotations

from pathlib import Path

import typer

from faithfuse.datasets.items import register_items

REGISTRY = Path("config/data.csv")


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    data = typer.Typer(
        help="Import public sets of human judgements; build the cross-domain data set.", no_args_is_help=True
    )
    app.add_typer(data, name="data")
    register_items(app)
    _register_ratings(data)
    _register_sources(data)


def _register_ratings(data: typer.Typer) -> None:
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
        _echo_account(card)

    @data.command()
    def published(
        set_: str = typer.Argument(..., metavar="SET", help="Name of the set: dialsummeval."),
        root: Path = typer.Option(..., help="Folder with the set's original files, or a data folder above it."),
        out: Path = typer.Option(..., help="Score records (JSON Lines), for `faithfuse metrics --scores`."),
    ) -> None:
        """Write the metric values that a set's authors published for its responses, as scores of ours."""
        from faithfuse.datasets.published import published_scores
        from faithfuse.records import write_records

        scores = published_scores(set_, root)
        write_records(out, scores)
        names = {score.metric for score in scores}
        typer.echo(f"{set_}: {len(names)} metrics of {len({(s.item_id, s.system) for s in scores})} responses")

    @data.command()
    def describe(
        folders: list[Path] | None = typer.Argument(None, help="Folders of `data import`; none: list the known sets."),
        out: Path | None = typer.Option(None, help="Write the table as CSV too."),
    ) -> None:
        """Print a table of sets: items, responses, ratings, raters and their agreement."""
        from faithfuse.datasets.describe import describe_folders, known_sets, show, write_table

        table = describe_folders(folders) if folders else known_sets()
        show(table)
        if out is not None:
            write_table(table, out)


def _register_sources(data: typer.Typer) -> None:
    @data.command()
    def load(
        set_: str = typer.Argument(
            ..., metavar="SET", help="Name of the source set; `faithfuse data describe` lists them."
        ),
        root: Path = typer.Option(..., help="Folder with the set's original files, or a data folder above it."),
        out: Path = typer.Option(..., help="Folder for records.jsonl and card.json."),
    ) -> None:
        """Load one source set of the cross-domain data set into the common schema."""
        from faithfuse.datasets.sources import source_set
        from faithfuse.datasets.sources.base import load as load_set

        card = load_set(source_set(set_), root, out)
        typer.echo(f"{set_}: {card['records']} records")
        _echo_account(card)

    @data.command()
    def unify(
        folders: list[Path] = typer.Argument(..., help="Folders of `data load`, one per set."),
        out: Path = typer.Option(..., help="Folder for the data set."),
        seed: int = typer.Option(0, help="Seed of the draw."),
        selection: Path | None = typer.Option(None, help="A selection.csv, to draw the same records again."),
    ) -> None:
        """Draw from the source sets and write the data set: Parquet, JSON Lines, data card, selection, duplicates."""
        from faithfuse.datasets.unify import unify as unify_sets

        card = unify_sets(folders, out, seed=seed, selection=selection)
        for subset in card["subsets"]:
            found = sum(subset["found"].values())
            typer.echo(f"{subset['subset']}: {subset['drawn']} of {subset['requested']} requested, {found} found")

    @data.command()
    def fetch(
        sets: list[str] = typer.Argument(..., metavar="SET...", help="Names of sets in the registry, or `all`."),
        out: Path = typer.Option(..., help="The data folder to fill; each set goes to its usual place."),
        registry: Path = typer.Option(REGISTRY, help="The registry of data sets."),
    ) -> None:
        """Fetch what may be fetched (resumed, verified), and say how to get the rest."""
        from faithfuse.datasets.fetch import fetch as fetch_sets

        for line in fetch_sets(sets, out, registry):
            typer.echo(line)

    @data.command()
    def nesting(
        records: Path = typer.Argument(..., help="Task-oriented records (JSON Lines)."),
        record: str | None = typer.Option(None, help="The record's id; the first by default."),
        turn: int = typer.Option(0, min=0, help="Which turn, from 0."),
        out: Path = typer.Option(..., help="The picture (SVG)."),
    ) -> None:
        """Draw how a task-oriented record nests acts, slots and values (the paper's Figure 1)."""
        from faithfuse.datasets.nesting import draw_nesting
        from faithfuse.datasets.schema import TodRecord
        from faithfuse.errors import InputError
        from faithfuse.records import atomic_write, read_records

        found = [each for each in read_records(records, TodRecord) if record in (None, each.record_id)]
        if not found:
            fix = "Give the record_id of one of its lines."
            raise InputError("holds no such record", path=records, record=record, fix=fix)
        picture = draw_nesting(found[0], turn)
        with atomic_write(out) as stream:
            stream.write(picture)
        typer.echo(f"wrote {out}")

    @data.command()
    def release(
        items: list[Path] = typer.Argument(..., help="Folders with items, responses and ratings (`faithfuse items`)."),
        responses: list[Path] | None = typer.Option(None, help="Generated responses (repeatable)."),
        graphs: list[Path] | None = typer.Option(None, help="Graphs (repeatable)."),
        metrics: list[Path] | None = typer.Option(None, help="Metric tables (repeatable)."),
        out: Path = typer.Option(..., help="Folder for the release."),
    ) -> None:
        """Join items with responses, graphs, metric values and ratings: what the paper's data set carries."""
        from faithfuse.datasets.release import release as release_set

        card = release_set(items, out, responses=responses or (), graphs=graphs or (), metrics=metrics or ())
        for domain, counts in card["domains"].items():
            typer.echo(f"{domain}: " + ", ".join(f"{count} {what}" for what, count in counts.items()))


def _echo_account(card: dict) -> None:
    for drop in card["dropped"]:
        typer.echo(f"  left out: {drop['count']} × {drop['what']}: {drop['reason']}")
    for note in card["notes"]:
        typer.echo(f"  kept, but know: {note['count']} × {note['what']}")

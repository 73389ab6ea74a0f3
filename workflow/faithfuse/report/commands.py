"""Command line of `faithfuse.report`."""

from __future__ import annotations

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    from faithfuse.report.notebook import register_notebook

    register_notebook(app)

    @app.command()
    def figures(
        correlations: list[Path] = typer.Option(..., help="Correlation files, one per domain (repeat the option)."),
        fusion: list[Path] = typer.Option(..., help="Folders that `faithfuse fuse` wrote, one per domain (repeat)."),
        out: Path = typer.Option(..., help="Folder for the SVG files."),
        audit: Path = typer.Option(None, help="Folder that `faithfuse audit suite` wrote; adds the state map."),
        reference: Path = typer.Option(
            None, help="Published values to mark; config/reference/paper_tables.csv where it exists."
        ),
    ) -> None:
        """Draw correlation.svg, importances.svg, fusion.svg and, with an audit, audit_states.svg."""
        from faithfuse.analysis.columns import CORRELATION_COLUMNS, EVALUATION_COLUMNS, IMPORTANCE_COLUMNS
        from faithfuse.records import atomic_write
        from faithfuse.report.figures import correlation_figure, fusion_figure, importance_figure, state_figure
        from faithfuse.report.inputs import (
            STATE_COLUMNS,
            paper_values,
            read_many,
            read_sheet,
        )

        default = Path("config/reference/paper_tables.csv")
        reference = reference or (default if default.is_file() else None)
        paper = paper_values(reference) if reference else {}
        # All are drawn before the first is written, so that a broken input leaves the old figures together.
        drawn = {
            "correlation": correlation_figure(read_many(correlations, CORRELATION_COLUMNS), paper),
            "importances": importance_figure(
                read_many([folder / "importances.csv" for folder in fusion], IMPORTANCE_COLUMNS), paper
            ),
            "fusion": fusion_figure(
                read_many([folder / "evaluation.csv" for folder in fusion], EVALUATION_COLUMNS), paper
            ),
        }
        if audit:
            drawn["audit_states"] = state_figure(read_sheet(audit / "states.csv", STATE_COLUMNS))
        for name, document in drawn.items():
            with atomic_write(out / f"{name}.svg") as stream:
                stream.write(document)
        typer.echo(f"{', '.join(f'{name}.svg' for name in drawn)} written to {out}")

    @app.command()
    def report(
        tables: Path = typer.Option(..., help="Folder with table_1.csv … table_5.csv."),
        figures: Path = typer.Option(..., help="Folder that `faithfuse figures` wrote."),
        correlations: list[Path] = typer.Option(..., help="Correlation files, one per domain (repeat the option)."),
        fusion: list[Path] = typer.Option(..., help="Folders that `faithfuse fuse` wrote, one per domain (repeat)."),
        meta: list[Path] = typer.Option(..., help="The metric tables' .meta.json files (repeat)."),
        out: Path = typer.Option(..., help="The HTML file."),
        responses: list[Path] = typer.Option(
            [], help="Responses generated in the run, DOMAIN.jsonl (repeat); counted, not shown."
        ),
        validation: list[Path] = typer.Option(
            [], help="Folders with validation.csv and agreement.csv, named by their domain (repeat)."
        ),
        transfer: list[Path] = typer.Option([], help="Files of `faithfuse transfer` (repeat)."),
        audit: Path = typer.Option(None, help="Folder that `faithfuse audit suite` wrote."),
        run: Path = typer.Option(None, help="The run's description (results/run.json)."),
        identity: Path = typer.Option(None, help="The file with the run's id (results/run_id.txt)."),
    ) -> None:
        """Write one self-contained HTML report of a run."""
        from faithfuse.records import atomic_write
        from faithfuse.report.html import render_report

        document = render_report(
            tables=tables,
            figures=figures,
            correlations=correlations,
            fusion=fusion,
            meta=meta,
            responses=responses,
            validation=validation,
            transfer=transfer,
            audit=audit,
            run=run,
            identity=identity,
        )
        with atomic_write(out) as stream:
            stream.write(document)
        typer.echo(f"{out}: {len(document.encode()) / 1024:.0f} KiB, open it in a browser")

"""Command line of `faithfuse.provenance`."""

from __future__ import annotations

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    manifest = typer.Typer(help="Checksum manifests that `sha256sum -c` accepts.", no_args_is_help=True)
    app.add_typer(manifest, name="manifest")

    @manifest.command()
    def write(
        files: list[Path] = typer.Argument(..., help="Files to list."),
        out: Path = typer.Option(..., help="The manifest."),
        root: Path = typer.Option(Path("."), help="Paths are written relative to this folder."),
    ) -> None:
        """Write a checksum manifest of files."""
        from faithfuse.provenance.manifest import write_manifest

        typer.echo(f"{write_manifest(files, out, root)} files listed in {out}")

    @manifest.command()
    def verify(
        manifest_file: Path = typer.Argument(Path("results/manifest.sha256"), help="The manifest."),
        root: Path = typer.Option(Path("."), help="The folder its paths are relative to."),
        watch: list[Path] = typer.Option(
            [Path("results/tables"), Path("results/audit")],
            help="Folders in which every file must be listed.",
        ),
    ) -> None:
        """Name every file that is changed, missing or extra; exit status 1 when there is one."""
        from faithfuse.provenance.manifest import read_manifest, verify_manifest

        difference = verify_manifest(manifest_file, root, watch)
        for kind, names in difference._asdict().items():
            for name in names:
                typer.echo(f"{kind}: {name}")
        if any(difference):
            raise typer.Exit(1)
        typer.echo(f"{manifest_file}: all {len(read_manifest(manifest_file))} files are as listed")

    @manifest.command()
    def describe(
        configuration: str = typer.Option(..., help="The resolved configuration, as JSON."),
        models: Path = typer.Option(Path("config/models.yaml"), help="The model registry."),
        lock: Path = typer.Option(Path("envs/lock.txt"), help="The pinned packages."),
        out: Path = typer.Option(..., help="The description, as JSON."),
    ) -> None:
        """Write down what a run is made of: configuration, models, packages."""
        import json

        from faithfuse.provenance.run import describe_run, dump
        from faithfuse.records import atomic_write

        with atomic_write(out) as stream:
            stream.write(dump(describe_run(json.loads(configuration), models, lock)))

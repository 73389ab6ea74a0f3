"""Command line of `faithfuse.provenance`."""

from __future__ import annotations

from pathlib import Path

import typer

RUN = typer.Option(..., "--run", help="The run's description (results/run.json).")
INPUTS = typer.Option([], "--input", help="NAME=PATH of a file or folder that the run read (repeat).")
CODE = typer.Option([], "--code", help="A source file behind the results (repeat).")
MODELS = typer.Option([], "--model", help="KEY=FOLDER of a model of the run (repeat).")


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    manifest = typer.Typer(
        help="What a run read, was made of and gave; whether it still is so; what differs between two.",
        no_args_is_help=True,
    )
    app.add_typer(manifest, name="manifest")
    _register_writing(manifest)
    _register_reading(manifest)


def _register_writing(manifest: typer.Typer) -> None:
    @manifest.command()
    def describe(
        configuration: str = typer.Option(..., help="The resolved configuration, as JSON."),
        models: Path = typer.Option(Path("config/models.yaml"), help="The model registry."),
        lock: Path = typer.Option(Path("envs/lock.txt"), help="The pinned packages."),
        out: Path = typer.Option(..., help="The description, as JSON."),
    ) -> None:
        """Write down what a run is made of: configuration, seeds, models, packages."""
        import json

        from faithfuse.provenance.run import describe_run, dump
        from faithfuse.records import atomic_write

        with atomic_write(out) as stream:
            stream.write(dump(describe_run(json.loads(configuration), models, lock)))

    @manifest.command()
    def identify(
        results: list[Path] = typer.Argument(..., help="Files that two runs reproduce byte for byte."),
        run: Path = RUN,
        inputs: list[str] = INPUTS,
        code: list[Path] = CODE,
        models: list[str] = MODELS,
        out: Path = typer.Option(..., help="The file for the run id."),
    ) -> None:
        """Write a run's id: the digest of its inputs, its code and its results."""
        from faithfuse.provenance.record import reproduce, run_id
        from faithfuse.records import atomic_write

        part = reproduce(description=run, results=results, inputs=_pairs(inputs), code=code, models=_pairs(models))
        with atomic_write(out) as stream:
            stream.write(run_id(part) + "\n")
        typer.echo(f"run {run_id(part)}")

    @manifest.command()
    def record(
        results: list[Path] = typer.Argument(..., help="Files that two runs reproduce byte for byte."),
        run: Path = RUN,
        inputs: list[str] = INPUTS,
        code: list[Path] = CODE,
        models: list[str] = MODELS,
        outside: list[Path] = typer.Option(
            [], help="A result that carries host facts, or the run id itself (repeat); listed, but not in the digest."
        ),
        benchmarks: Path = typer.Option(Path("results/benchmarks/rules"), help="Snakemake's benchmark files."),
        identity: Path = typer.Option(None, help="The file with the run id; it must be this run's."),
        out: Path = typer.Option(..., help="The manifest, as JSON."),
    ) -> None:
        """Write manifest.json: inputs, code, models, packages, results and signatures; and the host's facts apart."""
        from faithfuse.errors import InputError
        from faithfuse.provenance.host import describe_host
        from faithfuse.provenance.record import dump, make_record, reproduce
        from faithfuse.records import atomic_write

        places, homes = _pairs(inputs), _pairs(models)
        part = reproduce(description=run, results=results, inputs=places, code=code, models=homes)
        folders = {name: path for name, path in places.items() if name != path.as_posix() and "$" not in name}
        folders |= {f"models/{key}": folder for key, folder in homes.items()}
        metas = [path for path in outside if path.name.endswith(".meta.json")]
        host = describe_host(metas=metas, benchmarks=benchmarks, folders=folders)
        whole = make_record(part, outside, host)
        if identity and identity.read_text(encoding="utf-8").strip() != whole.run_id:
            raise InputError(
                f"holds another run id than {whole.run_id}",
                path=identity,
                fix="A file changed while the run went on: run the workflow again.",
            )
        with atomic_write(out) as stream:
            stream.write(dump(whole))
        typer.echo(f"run {whole.run_id}: {len(part.results)} results, {len(part.inputs)} inputs in {out}")

    @manifest.command()
    def write(
        files: list[Path] = typer.Argument(..., help="Files to list."),
        out: Path = typer.Option(..., help="The manifest."),
        root: Path = typer.Option(Path("."), help="Paths are written relative to this folder."),
    ) -> None:
        """Write a checksum manifest of files that `sha256sum -c` accepts."""
        from faithfuse.provenance.manifest import write_manifest

        typer.echo(f"{write_manifest(files, out, root)} files listed in {out}")


def _register_reading(manifest: typer.Typer) -> None:
    @manifest.command()
    def verify(
        folder: Path = typer.Argument(Path("results"), metavar="[DIR]", help="The results folder."),
        root: Path = typer.Option(None, help="Where inputs and code lie; the folder above DIR unless given."),
        results_only: bool = typer.Option(False, help="Look at results alone: DIR was copied without its inputs."),
    ) -> None:
        """Name every file that is changed, missing or extra; exit status 1 when there is one."""
        from faithfuse.provenance.verify import lines, verify_run

        found = verify_run(folder, root, inputs=not results_only)
        for line in lines(found.difference):
            typer.echo(line)
        if any(found.difference):
            counts = {kind: len(names) for kind, names in found.difference._asdict().items() if names}
            said = ", ".join(f"{count} {kind}" for kind, count in counts.items())
            typer.echo(f"run {found.run_id}: {said}")
            raise typer.Exit(1)
        said = ", ".join(f"{count} {kind}" for kind, count in found.counts.items())
        typer.echo(f"run {found.run_id}: all files are as listed ({said})")

    @manifest.command()
    def diff(
        a: Path = typer.Argument(..., help="Results folder of one run."),
        b: Path = typer.Argument(..., help="Results folder of another."),
        show: int = typer.Option(20, min=0, help="How many of the table values that differ to print."),
        out: Path = typer.Option(None, help="Write every value that differs, with its explanation, as CSV."),
    ) -> None:
        """Say which table values differ between two runs, and which input explains each; exit status 1 if one does.

        Differences of arithmetic (threads, processor, GPU) within the stated precision are told apart and are none.
        """
        from faithfuse.provenance.diff import compare, render, write_values

        found = compare(a, b)
        for line in render(found, show):
            typer.echo(line)
        if out is not None:
            write_values(found, out)
        if found.differs:
            raise typer.Exit(1)

    @manifest.command()
    def crate(
        folder: Path = typer.Argument(Path("results"), metavar="[DIR]", help="The results folder."),
        root: Path = typer.Option(None, help="Where inputs and code lie; the folder above DIR unless given."),
        author: list[str] = typer.Option([], help="A person who ran it, for the deposit (repeat)."),
        licence: str = typer.Option(None, help="Address of the licence that the crate is given under."),
        inputs: bool = typer.Option(True, help="Put the inputs that lie in the repository into the crate."),
        out: Path = typer.Option(..., help="The crate: a new folder, or a .zip file."),
    ) -> None:
        """Pack a verified run as an RO-Crate (Workflow Run Crate), ready to deposit."""
        from faithfuse.provenance.crate import write_crate

        said = write_crate(folder, out, root=root, authors=author, licence=licence, with_inputs=inputs)
        typer.echo(f"{out}: {said}")


def _pairs(options: list[str]) -> dict[str, Path]:
    """`NAME=PATH` options as a mapping.

    Raises:
        FaithfuseError: an option has no `=`.
    """
    from faithfuse.errors import FaithfuseError

    found = {}
    for option in options:
        name, sign, path = option.partition("=")
        if not (name and sign and path):
            raise FaithfuseError(f"{option!r} is not NAME=PATH. Give a name, an equals sign and a path.")
        found[name] = Path(path)
    return found

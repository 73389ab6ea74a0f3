"""Command line of `faithfuse.annotate`."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

annotate = typer.Typer(
    name="annotate",
    help="Rating and labelling by people: make a study, serve it as a local web app, take the ratings out.",
    no_args_is_help=True,
)

_PROJECT = typer.Argument(help="Folder of the study.", show_default=False)


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    app.add_typer(annotate)


@annotate.command("init")
def init(
    project: Path = _PROJECT,
    more: list[Path] = typer.Argument(None, help="More files, like --from.", show_default=False),
    source: list[Path] = typer.Option(
        ...,
        "--from",
        help="Items and responses (folder, .jsonl), a .csv, Label Studio .json; with --audit records or tuples.",
    ),
    annotator: list[str] = typer.Option(
        ["annotator-1", "annotator-2"], "--annotator", help="Name or pseudonym of an annotator (repeatable)."
    ),
    sample: int | None = typer.Option(None, min=1, help="Draw this many items per domain; all by default."),
    overlap: int | None = typer.Option(
        None, min=0, help="Items that all annotators judge, the others go to one each; all by default."
    ),
    seed: int | None = typer.Option(None, min=0, help="Seed of the draw and of every annotator's order; 0 by default."),
    system: list[str] = typer.Option([], "--system", help="Rate only this system's responses (repeatable)."),
    checks: Path | None = typer.Option(None, help="CSV of attention checks: a study's columns and `expected`."),
    config: Path | None = typer.Option(None, help="A study.yaml to start from; the options above win."),
    audit: bool = typer.Option(False, "--audit", help="Label audit tuples instead of rating responses."),
    codebook: Path = typer.Option(Path("config/audit/codebook.yaml"), help="Codebook of an audit study."),
    roles: Path = typer.Option(Path("config/audit/source_roles.yaml"), help="Source roles of an audit study."),
) -> None:
    """Make a study from the workflow's own files, a CSV, Label Studio tasks or audit tuples."""
    import shutil

    from faithfuse.annotate import plan, sources
    from faithfuse.annotate.codebook import load_codebook
    from faithfuse.annotate.store import Store
    from faithfuse.annotate.study import Settings, create, read_settings
    from faithfuse.audit.roles import load_roles
    from faithfuse.errors import FaithfuseError

    names = [plan.check_name(name) for name in annotator]
    if len(set(names)) != len(names):
        raise FaithfuseError("an annotator is named twice. Give each a name of their own.")
    settings = read_settings(config) if config else Settings(title="Audit labels" if audit else "Faithfulness ratings")
    given = {"seed": seed, "sample": sample, "overlap": overlap}
    settings = settings.model_copy(
        update={"kind": "audit" if audit else "rating"}
        | {name: value for name, value in given.items() if value is not None}
    )
    paths = [*source, *(more or [])]
    if audit:
        load_codebook(codebook), load_roles(roles)
        tuples = sources.load_tuples(paths)
        create(project, settings)
        shutil.copyfile(codebook, project / "codebook.yaml")
        shutil.copyfile(roles, project / "source_roles.yaml")
        store = Store(project / "study.db", new=True)
        plan.fill_tuples(store, settings, tuples, names)
    else:
        material = sources.load(paths, system)
        attention = sources.load_checks(checks) if checks else None
        create(project, settings)
        store = Store(project / "study.db", new=True)
        plan.fill_ratings(store, settings, material, names, attention)
    for row in store.read().execute("SELECT annotator, count(*) AS units FROM assignment GROUP BY annotator"):
        typer.echo(f"{row['annotator']}: {row['units']} to judge")
    typer.echo(f"Next: faithfuse annotate serve {project}")


@annotate.command("serve")
def serve_command(
    project: Path = _PROJECT,
    port: int = typer.Option(8765, min=0, max=65535, help="Port; 0 for a free one."),
    host: str = typer.Option("127.0.0.1", help="Address to listen on; with any but loopback, links are required."),
    tokens: bool = typer.Option(False, "--tokens", help="Require personal links on loopback too."),
    certificate: Path | None = typer.Option(None, help="Certificate chain (PEM), for HTTPS."),
    key: Path | None = typer.Option(None, help="Key of the certificate (PEM)."),
) -> None:
    """Serve a study as a web app."""
    from faithfuse.annotate.server import serve

    serve(project, host=host, port=port, tokens=tokens, certificate=certificate, key=key)


@annotate.command("annotators")
def annotators(
    project: Path = _PROJECT,
    add: str | None = typer.Option(None, help="Add an annotator, who judges what all judge."),
    take_over: str | None = typer.Option(None, help="With --add: also what this annotator has not judged yet."),
    renew: str | None = typer.Option(None, help="End this person's link (or `lead`) and give a new one."),
    base: str = typer.Option("http://127.0.0.1:8765", help="What the links start with."),
) -> None:
    """List everybody's personal link; add an annotator; renew a link."""
    from faithfuse.annotate.access import LEAD, Access
    from faithfuse.annotate.plan import add_annotator
    from faithfuse.annotate.server import links
    from faithfuse.errors import FaithfuseError

    study, store = _open(project)
    access = Access(study, store, tokens=True)
    if add:
        units = add_annotator(store, study.settings, add, take_over)
        typer.echo(f"{add}: {units} to judge")
    elif take_over:
        raise FaithfuseError("--take-over needs --add. Name the annotator who takes over.")
    if renew:
        if renew != LEAD and renew not in access.names():
            raise FaithfuseError(f"there is no annotator {renew}. The study has {', '.join(access.names())}.")
        access.renew(LEAD if renew == LEAD else "annotator", renew)
    for name, link in links(access, base.rstrip("/")).items():
        typer.echo(f"{name}: {link}")


@annotate.command("progress")
def progress_command(project: Path = _PROJECT) -> None:
    """Print coverage, time and abstentions per annotator as CSV."""
    from faithfuse.annotate import figures
    from faithfuse.annotate.export import write_csv_text

    study, store = _open(project)
    write_csv_text(figures.COVERAGE_COLUMNS, figures.coverage(store, study.settings), sys.stdout)


@annotate.command("agreement")
def agreement_command(
    project: Path = _PROJECT,
    out: Path | None = typer.Option(None, help="CSV file to write; without it the table is printed."),
    resamples: int = typer.Option(2000, min=0, help="Bootstrap draws for the 95% intervals."),
    seed: int = typer.Option(0, min=0, help="Seed of the bootstrap."),
) -> None:
    """Krippendorff's alpha per field, with intervals, on the original judgements."""
    from faithfuse.analysis.csvfile import write_csv
    from faithfuse.annotate import figures
    from faithfuse.annotate.export import write_csv_text

    study, store = _open(project)
    rows = figures.agreement(store, study.settings, resamples=resamples, seed=seed)
    if out:
        write_csv(out, figures.AGREEMENT_COLUMNS, rows)
        typer.echo(f"wrote {out}")
    else:
        write_csv_text(figures.AGREEMENT_COLUMNS, rows, sys.stdout)


@annotate.command("close")
def close_command(
    project: Path = _PROJECT,
    reopen: bool = typer.Option(False, "--reopen", help="Open again, while nothing is adjudicated."),
) -> None:
    """Close independent labelling, so that disagreements can be adjudicated."""
    from faithfuse.annotate import adjudicate
    from faithfuse.annotate.judge import Refused
    from faithfuse.errors import FaithfuseError

    _, store = _open(project)
    if reopen:
        try:
            adjudicate.reopen(store)
        except Refused as refused:
            raise FaithfuseError(f"{project}: {refused}") from None
        typer.echo("labelling is open")
    else:
        typer.echo(f"labelling is closed since {adjudicate.close(store)}")


@annotate.command("adjudicate")
def adjudicate_command(
    project: Path = _PROJECT,
    least: int = typer.Option(1, min=1, help="Smallest spread (ratings) or number of differing fields (labels)."),
) -> None:
    """List disagreements as CSV, the widest first; decide them on the lead's page."""
    from faithfuse.annotate import adjudicate
    from faithfuse.annotate.export import write_csv_text

    study, store = _open(project)
    rows = [
        {
            "item_id": row.item_id,
            "response": row.response,
            "point": row.point,
            "spread": row.spread,
            "fields": " ".join(row.fields),
            "decided": row.decided is not None,
        }
        for row in adjudicate.disagreements(store, study.settings.kind, least=least)
    ]
    write_csv_text(("item_id", "response", "point", "spread", "fields", "decided"), rows, sys.stdout)


@annotate.command("export")
def export_command(
    project: Path = _PROJECT,
    out: Path = typer.Option(
        ...,
        help="Ratings: .csv or .jsonl as correlate reads them, .json for Label Studio. Labels: .jsonl of sealed "
        "records. A folder: everything, with a data dictionary.",
    ),
) -> None:
    """Take ratings or labels out of a study."""
    import json

    from faithfuse.annotate import export, figures
    from faithfuse.errors import InputError
    from faithfuse.records import atomic_write

    study, store = _open(project)
    audit = study.settings.kind == "audit"
    allowed = {".jsonl", ""} if audit else {".csv", ".jsonl", ".json", ""}
    if out.suffix not in allowed and not out.is_dir():
        raise InputError(
            f"ends in {out.suffix}",
            path=out,
            fix=f"An export ends in {' or '.join(sorted(allowed - {''}))}, or names a folder.",
        )
    if out.is_dir() or not out.suffix:
        for path in export.write_folder(store, study.settings, out):
            typer.echo(f"wrote {path}")
        return
    if audit:
        lines = export.record_lines(store, latest=True)
        with atomic_write(out) as stream:
            stream.writelines(line + "\n" for line in lines)
        typer.echo(f"wrote {len(lines)} records to {out}")
    elif out.suffix == ".json":
        tasks = export.label_studio_tasks(store)
        with atomic_write(out) as stream:
            json.dump(tasks, stream, ensure_ascii=False, indent=1)
            stream.write("\n")
        with atomic_write(out.with_suffix(".xml")) as stream:
            stream.write(export.LABEL_CONFIG)
        typer.echo(f"wrote {len(tasks)} tasks to {out}, their interface to {out.with_suffix('.xml')}")
    else:
        ratings = figures.ratings(store)
        export.write_ratings(out, ratings)
        typer.echo(f"wrote {len(ratings)} ratings to {out}")


@annotate.command("import")
def import_command(
    project: Path = _PROJECT,
    ratings: Path = typer.Argument(help="Ratings: Label Studio .json, .csv or .jsonl.", show_default=False),
) -> None:
    """Take ratings made elsewhere into a rating study."""
    from faithfuse.annotate.export import import_ratings
    from faithfuse.errors import FaithfuseError

    study, store = _open(project)
    if study.settings.kind != "rating":
        raise FaithfuseError(f"{project}: is an audit study. Ratings can be imported into a rating study only.")
    added, known = import_ratings(store, ratings)
    typer.echo(f"{added} ratings added, {known} were there already")


def _open(project: Path):
    from faithfuse.annotate.store import Store
    from faithfuse.annotate.study import Study

    study = Study(project)
    return study, Store(study.database)

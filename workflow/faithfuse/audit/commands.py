"""Command line of `faithfuse.audit`."""

from __future__ import annotations

from pathlib import Path

import typer

audit = typer.Typer(
    name="audit",
    help="Claim-gated source-risk audit: seal, check, explain and log records; run the conformance suite.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    app.add_typer(audit)


@audit.command("suite")
def suite_command(
    out: Path = typer.Option(..., "--out", help="Folder for the tables."),
    reference: Path = typer.Option(
        Path("config/reference/audit_counts.csv"), "--reference", help="The paper's counts (quantity, value, unit)."
    ),
    cases: Path | None = typer.Option(None, "--cases", help="Also write the conformance cases as data to this folder."),
) -> None:
    """Run the conformance suite: 81 states, baselines, ablations, transitions, mutations; write one CSV each.

    Exits with status 1, naming every state or case at fault and leaving earlier tables in place, when the checker
    departs from the oracle or a count from the paper.
    """
    from faithfuse.audit.suite import run
    from faithfuse.audit.suite.cases import write_cases
    from faithfuse.errors import FaithfuseError

    result = run.run(reference=run.read_reference(reference))
    if result.failures:
        listed = "\n  ".join(result.failures[:50])
        raise FaithfuseError(f"the suite found {len(result.failures)} departures:\n  {listed}")
    for path in run.write_tables(result.tables, out):
        typer.echo(f"wrote {path}")
    if cases:
        for path in write_cases(cases):
            typer.echo(f"wrote {path}")
    for row in result.tables["counts"].rows:
        paper = f" (paper: {row['paper']})" if row["paper"] else ""
        typer.echo(f"{row['quantity']}: {row['ours']} {row['unit']}{paper}")


@audit.command("contract")
def contract_command(out: Path = typer.Option(Path("config/audit"), "--out", help="Folder for the two files.")) -> None:
    """Publish the record contract: its JSON Schema and the reason codes."""
    import json

    from faithfuse.audit.codes import CODES
    from faithfuse.audit.record import json_schema
    from faithfuse.records import atomic_write

    codes = {code: {"stage": stage, "fix": fix} for code, (stage, fix) in CODES.items()}
    for name, value in (("record.schema.json", json_schema()), ("reason_codes.json", codes)):
        with atomic_write(out / name) as stream:
            stream.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
        typer.echo(f"wrote {out / name}")

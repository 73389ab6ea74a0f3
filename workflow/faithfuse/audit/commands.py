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
    from faithfuse.audit.files import writing
    from faithfuse.audit.record import json_schema

    codes = {code: {"stage": stage, "fix": fix} for code, (stage, fix) in CODES.items()}
    for name, value in (("record.schema.json", json_schema()), ("reason_codes.json", codes)):
        with writing(out / name) as stream:
            stream.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
        typer.echo(f"wrote {out / name}")


FORMAT_HELP = "auto, lines (JSON Lines) or json (one value, an array, or several values)."


@audit.command("check")
def check_command(
    files: list[str] = typer.Argument(..., help="JSON or JSON Lines files, gzip or not; - for standard input."),
    out: Path | None = typer.Option(None, "--out", help="Verdict per record: NAME.csv or NAME.jsonl."),
    policy: Path | None = typer.Option(None, "--policy", help="Add decision words (proposed, not validated)."),
    kind: str = typer.Option("auto", "--format", help=FORMAT_HELP),
    show: int = typer.Option(20, "--show", min=0, help="How many rejected records to describe."),
    quiet: bool = typer.Option(False, "--quiet", help="No progress bar."),
) -> None:
    """Check records and print a summary; exits 0 when all are valid, 1 when some are rejected, 2 when it cannot run."""
    from faithfuse.audit.run_check import run_check
    from faithfuse.errors import FaithfuseError

    try:
        summary = run_check(files, out=out, policy_path=policy, kind=kind, show=show, progress=not quiet)
    except FaithfuseError as error:
        typer.echo(f"faithfuse: error: {error}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(1 if summary.rejected else 0)


@audit.command("seal")
def seal_command(
    tuples: Path = typer.Argument(..., help="CSV or JSON Lines with query, source, answer and optional judgements."),
    out: Path = typer.Option(..., "--out", help="Sealed records, JSON Lines."),
    annotator: str | None = typer.Option(None, "--annotator", help="Who judged, where a row does not say."),
    codebook: str | None = typer.Option(None, "--codebook", help="Version of the codebook."),
    pipeline: str | None = typer.Option(None, "--pipeline", help="What produced the answers."),
    pipeline_version: str | None = typer.Option(None, "--pipeline-version", help="Its version."),
    source_observed_at: str | None = typer.Option(None, "--source-observed-at", help="UTC, e.g. 2026-01-31T09:00:00Z."),
    answer_observed_at: str | None = typer.Option(None, "--answer-observed-at", help="UTC, as above."),
    made_at: str | None = typer.Option(None, "--made-at", help="When judged (default: answer observed)."),
    source_role: str | None = typer.Option(None, "--source-role", help="Role of the sources (default: unknown)."),
    weights: str = typer.Option("dQ=0.2,dI=0.2,dA=0.2,dM=0.2,dD=0.2", "--weights", help="Priority weights."),
) -> None:
    """Turn plain tuples into sealed records, each checked; docs/audit.md lists the columns."""
    from faithfuse.audit.files import writing
    from faithfuse.audit.sealing import Defaults, parse_weights, seal_file

    values = {
        "annotator": annotator,
        "answer_observed_at": answer_observed_at,
        "codebook": codebook,
        "made_at": made_at,
        "pipeline": pipeline,
        "pipeline_version": pipeline_version,
        "source_observed_at": source_observed_at,
        "source_role": source_role,
    }
    defaults = Defaults({key: value for key, value in values.items() if value is not None}, parse_weights(weights))
    count = 0
    with writing(out, "wb", inputs=[tuples]) as stream:
        for line in seal_file(tuples, defaults):
            stream.write(line + b"\n")
            count += 1
    typer.echo(f"wrote {count} sealed records to {out}")


@audit.command("explain")
def explain_command(
    file: str = typer.Argument(..., help="A record, or a file of records; - for standard input."),
    tuple_id: str | None = typer.Option(None, "--id", help="The tuple to explain."),
    position: int | None = typer.Option(None, "--line", min=1, help="The line (JSON: the count) to explain."),
    policy: Path | None = typer.Option(None, "--policy", help="Add the decision word (proposed, not validated)."),
    roles: Path | None = typer.Option(None, "--roles", help="Add what the source's role asks to look for."),
    kind: str = typer.Option("auto", "--format", help=FORMAT_HELP),
) -> None:
    """Say in plain words, with the quoted evidence, why a record resolves as it does (default: the first record)."""
    from faithfuse.audit.check import check_bytes
    from faithfuse.audit.explain import explain
    from faithfuse.audit.policy import load_policy
    from faithfuse.audit.roles import load_roles
    from faithfuse.audit.run_check import known_format
    from faithfuse.audit.stream import read_values
    from faithfuse.errors import InputError

    decided = load_policy(policy) if policy else None
    guides = load_roles(roles) if roles else None
    for found_at, raw in read_values(file, known_format(kind)):
        if position is not None and found_at != position:
            continue
        if tuple_id is not None and check_bytes(raw).tuple_id != tuple_id:
            continue
        typer.echo(explain(raw, policy=decided, roles=guides), nl=False)
        return
    raise InputError(
        "has no such record", path=file, fix="Check --id and --line; `faithfuse audit check` lists the ids."
    )


ledger = typer.Typer(name="ledger", help="The append-only claim ledger.", no_args_is_help=True)
audit.add_typer(ledger)


@ledger.command("append")
def ledger_append_command(
    path: Path = typer.Argument(..., help="The ledger."),
    files: list[str] = typer.Argument(..., help="Files of sealed records; - for standard input."),
    kind: str = typer.Option("auto", "--format", help=FORMAT_HELP),
    skip_known: bool = typer.Option(False, "--skip-known", help="Pass over records that are in the ledger already."),
) -> None:
    """Append the verdicts on records; a rejected record stops it before anything is written."""
    from faithfuse.audit import ledger as ledgers
    from faithfuse.audit.run_check import known_format
    from faithfuse.audit.stream import read_values

    values = ((name, position, raw) for name in files for position, raw in read_values(name, known_format(kind)))
    done = ledgers.append(path, values, skip_known=skip_known)
    if done.torn_bytes:
        aside = ledgers.torn_path(path)
        typer.echo(f"set a torn line of {done.torn_bytes} bytes aside in {aside}: append its record again", err=True)
    typer.echo(f"appended {len(done.entries)} entries to {path}")
    if done.entries:
        typer.echo(f"head {done.entries[-1]['digest']}")


@ledger.command("verify")
def ledger_verify_command(path: Path = typer.Argument(..., help="The ledger.")) -> None:
    """Check the hash chain; a broken ledger exits with status 1 and the first broken line."""
    from faithfuse.audit import ledger as ledgers

    found = ledgers.verify(path)
    typer.echo(f"{path}: {found.lines} entries hold, head {found.head}")
    if found.torn_bytes:
        typer.echo(
            f"after them stand {found.torn_bytes} bytes of a torn line; the next append sets them aside", err=True
        )


@ledger.command("show")
def ledger_show_command(
    path: Path = typer.Argument(..., help="The ledger."),
    tuple_id: str | None = typer.Option(None, "--id", help="Only the entries of this tuple."),
    current: bool = typer.Option(False, "--current", help="Leave out what a later revision replaces."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON Lines."),
) -> None:
    """Print the entries, oldest first."""
    import json

    from faithfuse.audit import ledger as ledgers
    from faithfuse.audit.files import printable

    for entry in ledgers.entries(path, tuple_id=tuple_id, current=current):
        if as_json:
            typer.echo(json.dumps(entry, ensure_ascii=False, sort_keys=True))
            continue
        unresolved = f" (no judgement of {', '.join(entry['unresolved'])})" if entry["unresolved"] else ""
        priority = "unresolved" if entry["priority"] is None else repr(entry["priority"])
        line = (
            f"{entry['index'] + 1}  {entry['made_at']}  {entry['tuple_id']}  revision {entry['revision']} by "
            f"{entry['annotator']}  endpoint {entry['endpoint']}{unresolved}  priority {priority}  "
            f"claim {entry['claim']}"
        )
        typer.echo(printable(line))


study = typer.Typer(
    name="study",
    help="Study tools on supplied labels: agreement, sampling, splits, errors, paired comparison, release check.",
    no_args_is_help=True,
)
audit.add_typer(study)
OUT = typer.Option(..., "--out", help="The table to write (CSV).")
SEED = typer.Option(0, "--seed", help="Of the random draws; the same seed gives the same bytes.")
RESAMPLES = typer.Option(2000, "--resamples", min=100, help="Bootstrap samples.")


def _shown(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _write_and_print(
    out: Path, columns: tuple[str, ...], rows: list[dict[str, object]], *, inputs: tuple[Path, ...]
) -> None:
    from faithfuse.audit.files import write_table

    write_table(out, columns, rows, inputs=inputs)
    for row in rows:
        typer.echo("  ".join(f"{name} {_shown(row.get(name))}" for name in columns if row.get(name) is not None))
    typer.echo(f"wrote {out}")


@study.command("agreement")
def study_agreement_command(
    labels: Path = typer.Argument(..., help="tuple_id, annotator, I, A, M, D with 1, 0, U or an empty cell."),
    out: Path = OUT,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> None:
    """Krippendorff's alpha per predicate on the original labels, U as a value and as missing."""
    from faithfuse.audit.study.agreement import COLUMNS, agreement, read_labels

    _write_and_print(out, COLUMNS, agreement(read_labels(labels), resamples=resamples, seed=seed), inputs=(labels,))


@study.command("sample")
def study_sample_command(
    frame: Path = typer.Argument(..., help="tuple_id, domain, dQ."),
    per_stratum: int = typer.Option(..., "--per-stratum", min=1, help="How many to draw from each stratum."),
    cuts: str = typer.Option(..., "--cuts", help="Prespecified band limits of dQ, e.g. 0.33,0.67."),
    out: Path = OUT,
    seed: int = SEED,
) -> None:
    """Draw a sample stratified by domain and prespecified risk band."""
    from faithfuse.audit.files import write_table
    from faithfuse.audit.study.sampling import COLUMNS, read_frame, stratified_sample
    from faithfuse.errors import InputError

    try:
        limits = [float(part) for part in cuts.split(",") if part]
    except ValueError:
        raise InputError(f"--cuts {cuts!r} are no numbers", fix="Write e.g. 0.33,0.67.") from None
    rows = stratified_sample(read_frame(frame), per_stratum=per_stratum, cuts=limits, seed=seed)
    write_table(out, COLUMNS, rows, inputs=[frame])
    short = {(row["domain"], row["band"]) for row in rows if row["stratum_sampled"] < per_stratum}  # type: ignore[operator]
    typer.echo(f"sampled {len(rows)} tuples; {len(short)} strata were smaller than asked and taken whole; wrote {out}")


@study.command("split")
def study_split_command(
    keys: Path = typer.Argument(..., help="tuple_id, target_family, related_domain, query_template."),
    held_out: float = typer.Option(0.3, "--held-out", help="Share of tuples to hold out."),
    out: Path = OUT,
    seed: int = SEED,
) -> None:
    """Split so that no target family, related domain or query template stands on both sides."""
    from faithfuse.audit.files import write_table
    from faithfuse.audit.study.split import COLUMNS, grouped_split, leaks, read_keys

    rows = grouped_split(read_keys(keys), held_out=held_out, seed=seed)
    write_table(out, COLUMNS, rows, inputs=[keys])
    held = sum(row["side"] == "held_out" for row in rows)
    parts = len({row["component"] for row in rows})
    typer.echo(f"{held} of {len(rows)} tuples held out; {parts} components; {len(leaks(rows))} leaks; wrote {out}")


@study.command("evaluate")
def study_evaluate_command(
    reference: Path = typer.Argument(..., help="Adjudicated labels: tuple_id, domain, I, A, M, D."),
    predicted: Path = typer.Argument(..., help="Labels to evaluate: tuple_id, I, A, M, D."),
    out: Path = OUT,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> None:
    """Predicate-level errors and unresolved coverage with domain-clustered bootstrap intervals."""
    from faithfuse.audit.study.evaluation import COLUMNS, evaluate, read_pair

    _write_and_print(
        out,
        COLUMNS,
        evaluate(*read_pair(reference, predicted), resamples=resamples, seed=seed),
        inputs=(reference, predicted),
    )


@study.command("paired")
def study_paired_command(
    pairs: Path = typer.Argument(..., help="pair_id, domain, settings and measures before and after (docs/audit.md)."),
    out: Path = OUT,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> None:
    """Compare matched answers before and after an intervention, with what it cost."""
    from faithfuse.audit.study.paired import COLUMNS, compare, read_pairs, warnings_of

    rows = compare(read_pairs(pairs), resamples=resamples, seed=seed)
    _write_and_print(out, COLUMNS, rows, inputs=(pairs,))
    for warning in warnings_of(rows):
        typer.echo(f"warning: {warning}", err=True)


@study.command("release")
def study_release_command(
    folder: Path = typer.Argument(..., help="A folder with release.yaml."),
    out: Path = OUT,
) -> None:
    """Check that a release holds its documents and says what redaction removed; exits 1 when it does not."""
    from faithfuse.audit.study.release import COLUMNS, check_release

    rows = check_release(folder)
    _write_and_print(out, COLUMNS, rows, inputs=(folder / "release.yaml",))
    if not all(row["holds"] for row in rows):
        raise typer.Exit(1)


@study.command("example")
def study_example_command(out: Path = typer.Option(..., "--out", help="Folder for the constructed inputs.")) -> None:
    """Write constructed inputs (made up, and called that) to try every study tool on."""
    from faithfuse.audit.study.example import write_example

    for path in write_example(out):
        typer.echo(f"wrote {path}")

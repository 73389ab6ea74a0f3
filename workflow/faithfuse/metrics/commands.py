"""Command line of `faithfuse.metrics`."""

from __future__ import annotations

from pathlib import Path

import typer

from faithfuse.records import Domain


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    app.command("metrics")(metrics)


def metrics(
    items: Path = typer.Argument(..., help="Items of one domain: JSON Lines, or CSV (docs/metrics.md)."),
    responses: list[Path] = typer.Argument(..., help="Responses: JSON Lines or CSV; several files are joined."),
    out: Path = typer.Option(..., help="The metric table to write, METRICS.csv."),
    verdicts: list[Path] = typer.Option([], help="The LLM judge's verdicts; may be repeated."),
    scores: list[Path] = typer.Option([], help="Further metrics as Score records; may be repeated."),
    graphs: Path | None = typer.Option(None, help="Graphs of the sentences, by one parser."),
    bertscore_model: Path | None = typer.Option(None, help="Folder of the encoder for BERTScore."),
    bertscore_layers: int | None = typer.Option(None, help="Hidden layer to compare; the last one by default."),
    domain: Domain | None = typer.Option(None, help="Domain of the items of a CSV file without that column."),
    stem: bool = typer.Option(False, "--stem", help="Porter stemming in ROUGE."),
    whole_transcript: bool = typer.Option(
        False, "--whole-transcript", help="Take the transcript's graph from the transcript parsed as one input."
    ),
    graph_seconds: float | None = typer.Option(
        None,
        min=0.01,
        help="Stop a graph alignment after so many seconds (counted as not proven; depends on the machine).",
    ),
    threads: int = typer.Option(1, min=1, help="CPU threads of the encoder, and graph pairs scored at a time."),
    gpus: int | None = typer.Option(
        None, min=0, help="GPUs to take from other jobs of this machine; 0: compute on the CPU."
    ),
) -> None:
    """Compute the metrics of responses: texts in, a metric table out.

    Without verdicts, graphs or an encoder their metrics are left out of the table.
    """
    from faithfuse.metrics.cases import build_cases, one_domain
    from faithfuse.metrics.described import model_signature, read_beside
    from faithfuse.metrics.given import read_scores
    from faithfuse.metrics.plain import read_items, read_responses
    from faithfuse.metrics.progress import reporting
    from faithfuse.metrics.table import meta, metric_columns, write_table
    from faithfuse.records import Graph, Verdict, read_records

    all_items = read_items(items, domain)
    items_domain = one_domain(all_items, items)
    cases = build_cases(all_items, [each for path in responses for each in read_responses(path)])
    judged = [verdict for path in verdicts for verdict in read_records(path, Verdict)]
    described = [read_beside(path) for path in verdicts]
    judges = {each["model"]["key"]: name for each in described if (name := model_signature(each)) is not None}
    given, signatures = read_scores(scores)
    book = encoder = None
    if graphs is not None:
        from faithfuse.metrics.graph import GraphBook

        book = GraphBook(read_records(graphs, Graph), graphs)
    if bertscore_model is not None:
        from faithfuse.llm.lease import lease_gpus, require_cuda
        from faithfuse.metrics.embedding import BertScore

        if lease_gpus(gpus):
            require_cuda()
        encoder = BertScore(bertscore_model, bertscore_layers, threads)
    with reporting(f"metrics of {items_domain}") as progress:
        columns = metric_columns(
            cases,
            verdicts=judged if verdicts else None,
            judges=judges,
            scores=given if scores else None,
            score_signatures=signatures,
            graphs=book,
            encoder=encoder,
            stemmer=stem,
            whole_transcript=whole_transcript,
            graph_seconds=graph_seconds,
            processes=threads,
            progress=progress,
        )
    known = {case.key for case in cases}
    for what, records in (("verdicts", judged), ("scores", given)):
        strangers = sum((record.item_id, record.system) not in known for record in records)
        if strangers:
            typer.echo(f"note: {strangers} {what} are of responses that are not given; they are left out", err=True)
    inputs = [items, *responses, *verdicts, *scores, *([graphs] if graphs else [])]
    write_table(out, cases, columns, meta(columns, items_domain, inputs))
    scored = sum(cell.value is not None for column in columns for cell in column.cells.values())
    typer.echo(
        f"{out}: {len(cases)} responses x {len(columns)} metrics, "
        f"{scored} values, {len(cases) * len(columns) - scored} unscored with their reasons beside it",
        err=True,
    )

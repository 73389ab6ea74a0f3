"""Command line of `faithfuse.analysis`: correlate, agreement, fuse, score, tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import typer

_METRICS = typer.Argument(help="Metric table: item_id,system,group and one column per metric.", show_default=False)
_RATINGS = typer.Argument(help="Ratings, .csv or .jsonl: item_id,system,annotator,point,likert.", show_default=False)
_SEED = typer.Option(0, min=0, help="Seed; the same seed gives the same bytes.")
_DOMAIN = typer.Option(None, help="Domain; by default what METRICS.csv.meta.json says.")
_EBM = typer.Option("small", help="EBM settings: small (few hundred ratings) or library (interpret's own).")
_INTERACTIONS = typer.Option(None, min=0, help="Pairs of metrics that the EBM may add; by default what --ebm says.")
UNSTATED = "unstated"


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    app.command()(correlate)
    app.command()(agreement)
    app.command()(fuse)
    app.command()(score)
    app.command()(explain)
    app.command()(validate)
    app.command()(transfer)
    app.command()(tables)


def _one_thread() -> None:
    """Keep linear algebra on one thread: its results then do not depend on how many cores there are."""
    import threadpoolctl

    threadpoolctl.threadpool_limits(1)


def _join(metrics: Path, ratings: Path):
    from faithfuse.analysis.ratings import join, read_metrics, read_ratings

    joined = join(read_metrics(metrics), read_ratings(ratings), ratings)
    print(
        f"{len(joined.human)} rated responses with metrics; {joined.unrated} without a rating left out",
        file=sys.stderr,
    )
    if joined.unmatched:
        print(
            f"warning: {joined.unmatched} rated responses of {ratings} are not in {metrics} and are left out",
            file=sys.stderr,
        )
    return joined


def _join_to_fit(metrics: Path, ratings: Path):
    """As `_join`, for what fits a model: sets that are for evaluation only are refused."""
    from faithfuse.datasets.ratings import refuse_training

    joined = _join(metrics, ratings)
    refuse_training(joined.table.items)
    return joined


def _settings(ebm: str, interactions: int | None):
    from dataclasses import replace

    from faithfuse.analysis.ebm import LIBRARY_DEFAULTS, EbmSettings
    from faithfuse.errors import FaithfuseError

    settings = {"small": EbmSettings(), "library": LIBRARY_DEFAULTS}.get(ebm)
    if settings is None:
        raise FaithfuseError(f"--ebm {ebm} is unknown. Use small or library.")
    return settings if interactions is None else replace(settings, interactions=interactions)


def correlate(
    metrics: Path = _METRICS,
    ratings: Path = _RATINGS,
    out: Path = typer.Option(..., help="CSV file to write."),
    domain: str = _DOMAIN,
    interval: Literal["jackknife", "bootstrap"] = typer.Option(
        "jackknife", help="95% intervals: groups left out in turn, or drawn at random (too narrow with few groups)."
    ),
    resamples: int = typer.Option(2000, min=100, help="Draws of groups; serves --interval bootstrap only."),
    seed: int = typer.Option(0, min=0, help="Seed of the draws; serves --interval bootstrap only."),
) -> None:
    """Correlate every metric with people's ratings (Tables I–III), with intervals and p-values."""
    from faithfuse.analysis.columns import CORRELATION_COLUMNS
    from faithfuse.analysis.correlation import correlation_rows, point_rows
    from faithfuse.analysis.csvfile import write_csv
    from faithfuse.analysis.ratings import read_points, read_ratings
    from faithfuse.analysis.resampling import Intervals

    _one_thread()
    joined = _join(metrics, ratings)
    intervals = Intervals(interval, resamples, seed)
    name = domain or joined.table.domain or UNSTATED
    rows = correlation_rows(joined, name, intervals)
    points = read_points(metrics)
    if points is not None:
        rows += point_rows(joined.table, points, read_ratings(ratings), name, intervals)
    write_csv(out, CORRELATION_COLUMNS, rows)
    print(f"wrote {out}", file=sys.stderr)


def agreement(
    ratings: Path = _RATINGS,
    out: Path = typer.Option(None, help="CSV file to write; without it the table is printed."),
    resamples: int = typer.Option(2000, min=0, help="Bootstrap draws for the 95% intervals."),
    seed: int = _SEED,
) -> None:
    """Say how far the raters agree: Krippendorff's alpha with a bootstrap interval over items."""
    from faithfuse.analysis.agreement import agreement_rows
    from faithfuse.analysis.columns import AGREEMENT_COLUMNS
    from faithfuse.analysis.csvfile import cell, write_csv
    from faithfuse.analysis.ratings import read_ratings

    _one_thread()
    rows = agreement_rows(read_ratings(ratings), resamples=resamples, seed=seed)
    if out is not None:
        write_csv(out, AGREEMENT_COLUMNS, rows)
        print(f"wrote {out}", file=sys.stderr)
        return
    print(",".join(AGREEMENT_COLUMNS))
    for row in rows:
        print(",".join(cell(row[name]) for name in AGREEMENT_COLUMNS))


def fuse(
    metrics: Path = _METRICS,
    ratings: Path = _RATINGS,
    out: Path = typer.Option(..., help="Folder to write the model and its evaluation into."),
    domain: str = _DOMAIN,
    seeds: int = typer.Option(10, min=1, help="Seeds, each with a split of its own."),
    blind_fraction: float = typer.Option(0.3, help="Share of the groups kept blind in a split."),
    seed: int = _SEED,
    threads: int = typer.Option(1, min=1, help="Worker processes; the result does not depend on it."),
    ebm: str = _EBM,
    interactions: int = _INTERACTIONS,
    note: str = typer.Option("", help="A sentence for the card: what the ratings are."),
) -> None:
    """Fuse the metrics into one that follows people's ratings, and evaluate it on blind rows (Tables IV and V)."""
    from faithfuse.analysis import columns
    from faithfuse.analysis import fusion as fusing
    from faithfuse.analysis.card import card_text
    from faithfuse.analysis.csvfile import write_csv
    from faithfuse.analysis.model import MODEL_FILE, write_model
    from faithfuse.analysis.ratings import digest
    from faithfuse.records import atomic_write

    _one_thread()
    settings = _settings(ebm, interactions)
    joined = _join_to_fit(metrics, ratings)
    fusion = fusing.fuse(
        joined,
        domain or joined.table.domain or UNSTATED,
        seeds=seeds,
        blind_fraction=blind_fraction,
        seed=seed,
        settings=settings,
        threads=threads,
        provenance={"metrics_sha256": digest(metrics), "ratings_sha256": digest(ratings), "note": note},
    )
    write_csv(out / "importances.csv", columns.IMPORTANCE_COLUMNS, fusion.importances)
    write_csv(out / "evaluation.csv", columns.EVALUATION_COLUMNS, fusion.evaluation)
    write_csv(out / "splits.csv", columns.SPLIT_COLUMNS, fusion.splits)
    write_csv(out / "blind.csv", columns.BLIND_COLUMNS, fusion.blind)
    write_csv(out / "explanations.csv", columns.EXPLANATION_COLUMNS, fusion.explanations)
    with atomic_write(out / "card.md") as stream:
        stream.write(card_text(fusion))
    write_model(out / MODEL_FILE, fusion.model)
    print(f"wrote {out}; read {out / 'card.md'} first", file=sys.stderr)


def explain(
    metrics: Path = _METRICS,
    model: Path = typer.Option(..., help="Folder that `faithfuse fuse` wrote, or its model.json."),
    item: str = typer.Option(..., help="item_id of the response."),
    system: str = typer.Option(..., help="system of the response."),
    out: Path = typer.Option(..., help="SVG file to write."),
) -> None:
    """Draw what each metric contributes to one response's fused score."""
    from faithfuse.analysis import picture
    from faithfuse.analysis.model import read_model
    from faithfuse.analysis.ratings import read_metrics

    picture.explain(read_model(model), read_metrics(metrics), item, system, out)
    print(f"wrote {out}", file=sys.stderr)


def validate(
    metrics: Path = _METRICS,
    ratings: Path = _RATINGS,
    out: Path = typer.Option(..., help="Folder for validation.csv and learning_curve.csv."),
    domain: str = _DOMAIN,
    repeats: int = typer.Option(5, min=1, help="Repeats of the grouped cross-validation."),
    folds: int = typer.Option(5, min=2, help="Folds of groups."),
    curve_seeds: int = typer.Option(10, min=0, help="Splits per point of the learning curve; 0 leaves it out."),
    seed: int = _SEED,
    threads: int = typer.Option(1, min=1, help="Worker processes; the result does not depend on it."),
    ebm: str = _EBM,
    interactions: int = _INTERACTIONS,
) -> None:
    """Say how far a fused metric can be trusted: cross-validation, systems left out, raters, learning curve."""
    from faithfuse.analysis import columns, validation
    from faithfuse.analysis.csvfile import write_csv

    _one_thread()
    settings = _settings(ebm, interactions)
    joined = _join_to_fit(metrics, ratings)
    name = domain or joined.table.domain or UNSTATED
    rows = validation.validate(
        joined,
        name,
        repeats=repeats,
        fold_count=folds,
        seed=seed,
        settings=settings,
        threads=threads,
    )
    write_csv(out / "validation.csv", columns.VALIDATION_COLUMNS, rows)
    print(f"wrote {out / 'validation.csv'}", file=sys.stderr)
    if curve_seeds:
        curve = validation.learning_curve(
            joined, name, seeds=curve_seeds, seed=seed, settings=settings, threads=threads
        )
        write_csv(out / "learning_curve.csv", columns.LEARNING_COLUMNS, curve)
        print(f"wrote {out / 'learning_curve.csv'}", file=sys.stderr)


def transfer(
    metrics: Path = _METRICS,
    ratings: Path = _RATINGS,
    model: list[Path] = typer.Option(..., help="Folder that `faithfuse fuse` wrote on another set (repeatable)."),
    out: Path = typer.Option(..., help="CSV file to write."),
    domain: str = _DOMAIN,
) -> None:
    """Test fused metrics on another domain or data set than they were trained on."""
    from faithfuse.analysis import columns
    from faithfuse.analysis import transfer as transferring
    from faithfuse.analysis.csvfile import write_csv
    from faithfuse.analysis.model import read_model

    _one_thread()
    joined = _join(metrics, ratings)
    name = domain or joined.table.domain or UNSTATED
    rows = [row for path in model for row in transferring.transfer(read_model(path), joined, name)]
    write_csv(out, columns.TRANSFER_COLUMNS, rows)
    print(f"wrote {out}", file=sys.stderr)


def score(
    metrics: Path = _METRICS,
    model: Path = typer.Option(..., help="Folder that `faithfuse fuse` wrote, or its model.json."),
    out: Path = typer.Option(..., help="CSV file to write."),
) -> None:
    """Score responses with a fused metric, 1–5, with the contribution of every metric."""
    from faithfuse.analysis.csvfile import write_csv
    from faithfuse.analysis.model import read_model
    from faithfuse.analysis.ratings import read_metrics
    from faithfuse.analysis.scoring import score_columns, score_rows

    _one_thread()
    fused = read_model(model)
    rows = score_rows(fused, read_metrics(metrics))
    write_csv(out, score_columns(fused), rows)
    clipped, outside = sum(row["clipped"] is True for row in rows), sum(row["outside"] != 0 for row in rows)
    print(f"wrote {out}: {len(rows)} responses, {clipped} clipped to 1–5", file=sys.stderr)
    if outside:
        print(
            f"warning: {outside} responses have a metric outside its training range (column outside_metrics)",
            file=sys.stderr,
        )


def tables(
    correlations: list[Path] = typer.Option([], help="File of `faithfuse correlate`; repeat per domain."),
    fusion: list[Path] = typer.Option([], help="Folder of `faithfuse fuse`; repeat per domain."),
    reference: Path = typer.Option(..., help="The papers' values: config/reference/paper_tables.csv."),
    out: Path = typer.Option(..., help="Folder for table_1.csv to table_5.csv."),
    note: str = typer.Option("", help="Put into every row: what the numbers were made from."),
    meta: list[Path] = typer.Option([], help="METRICS.csv.meta.json, for the counts of unproven graph scores; repeat."),
) -> None:
    """Write Tables I–V beside the paper's published values."""
    from faithfuse.analysis.tables import write_tables

    for path in write_tables(correlations, fusion, reference, out, note, meta):
        print(f"wrote {path}", file=sys.stderr)

"""Tables I–V of arXiv 2512.05700 from our own correlations and fusions, beside the published values.

A study is what one correlation file holds: a domain (`short_form_qa`, the paper's columns), or a further set of one
(`short_form_qa.evouna_tq`), which gets columns of its own after them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from faithfuse.analysis.columns import CORRELATION_COLUMNS, EVALUATION_COLUMNS, HUMAN_CLASS, IMPORTANCE_COLUMNS
from faithfuse.analysis.correlation import (
    AUROC,
    AUROC_POINT,
    BOOL,
    KENDALL,
    LIKERT,
    PEARSON,
    SPEARMAN,
    holm,
)
from faithfuse.analysis.csvfile import write_csv
from faithfuse.analysis.fusion import DIFFERENCE, FUSED, PAPER_WAY, SINGLE
from faithfuse.analysis.ratings import iter_csv
from faithfuse.errors import InputError
from faithfuse.metrics.registry import CLASSES, GRAPH, metric_info
from faithfuse.records import EVALUATED_DOMAINS

CORRELATION_TABLES = {
    1: ("I", ("short_form_qa", "long_form_qa")),
    2: ("II", ("conversational_qa",)),
    3: ("III", ("summarisation",)),
}
DOMAINS = tuple(str(domain) for domain in EVALUATED_DOMAINS)
REFERENCE_COLUMNS = ("table", "domain", "metric", "metric_class", "quantity", "value")
HUMANS = (LIKERT, BOOL)
NOT_COMPUTED = "not computed"
# A metric that most rated responses lack may correlate by accident and heads no table.
MIN_SCORED = 0.5
_SUFFIXES = (
    "low",
    "high",
    SPEARMAN,
    KENDALL,
    AUROC,
    AUROC_POINT,
    "pairs",
    "unscored",
    "reason",
    "p_holm",
    "paper",
    "difference",
)

# Columns of Tables I–III about a metric's values in a domain, and what its meta file calls them.
ASIDES = {
    "not_proven": "not_proven",
    "verdicts": "verdicts",
    "off_label": "off_label",
    "label_mass": "median_label_mass",
}

SYSTEM_ROWS = (
    (SINGLE, "Best single metric"),
    (FUSED, "Fused metric"),
    (DIFFERENCE, "Difference"),
    ("mean_z", "Mean of z-scores"),
    ("ridge", "Ridge regression"),
    ("random_forest", "Random forest"),
    ("best_single_isotonic", "Best single metric, isotonic"),
    (PAPER_WAY, "Best single metric on all rows (the paper's way)"),
)

Row = dict[str, str]


def write_tables(
    correlations: Sequence[Path],
    fusions: Sequence[Path],
    reference: Path,
    out: Path,
    note: str = "",
    metas: Sequence[Path] = (),
) -> list[Path]:
    """Write `table_1.csv` to `table_5.csv` into a folder.

    Args:
        correlations: files of `faithfuse correlate`, one per study.
        fusions: folders of `faithfuse fuse`, one per domain.
        reference: the papers' published values (`config/reference/paper_tables.csv`).
        out: the folder.
        note: put into the `note` of every row (what the numbers were made from).
        metas: `METRICS.csv.meta.json` of domains; of each, Tables I–III get the columns `DOMAIN_not_proven`, how many
            graph scores rest on an alignment that was not proven best, `DOMAIN_verdicts`, how many verdicts of the LLM
            judge are behind a metric, `DOMAIN_off_label`, how many of these it would not have begun with a label of
            its own accord, and `DOMAIN_label_mass`, the median probability (0–1) of the labels together.

    Returns:
        The files written.

    Raises:
        InputError: an input lacks a column, or a study comes twice.
    """
    published = [row for _, row in iter_csv(reference, REFERENCE_COLUMNS)]
    by_domain = _by_domain(correlations, CORRELATION_COLUMNS)
    importances = _by_domain([folder / "importances.csv" for folder in fusions], IMPORTANCE_COLUMNS)
    evaluations = _by_domain([folder / "evaluation.csv" for folder in fusions], EVALUATION_COLUMNS)
    finished = [
        (number, *correlation_table(name, domains, by_domain, published, note))
        for number, (name, domains) in CORRELATION_TABLES.items()
    ]
    asides = _asides(metas)
    finished = [(number, *_with_asides(columns, rows, asides)) for number, columns, rows in finished]
    finished.append((4, *importance_table(importances, published, note)))
    finished.append((5, *evaluation_table(evaluations, published, note)))
    paths = []
    for number, columns, rows in finished:
        paths.append(out / f"table_{number}.csv")
        write_csv(paths[-1], columns, rows, for_people=True)
    return paths


def _by_domain(paths: Iterable[Path], columns: Sequence[str]) -> dict[str, list[Row]]:
    result: dict[str, list[Row]] = {}
    source: dict[str, Path] = {}
    for path in paths:
        for line, row in iter_csv(path, columns):
            domain = row["domain"]
            if domain_of(domain) not in DOMAINS:
                raise InputError(
                    f"has the domain {domain!r:.40}, expected one of {', '.join(DOMAINS)}",
                    path=path,
                    line=line,
                    fix="Pass --domain to `faithfuse correlate` and `faithfuse fuse`.",
                )
            if source.setdefault(domain, path) != path:
                raise InputError(
                    f"has the domain {domain}, and so has {source[domain]}",
                    path=path,
                    line=line,
                    fix="Give one file per domain.",
                )
            result.setdefault(domain, []).append(row)
    return result


def _asides(metas: Iterable[Path]) -> dict[str, dict[str, dict[str, object]]]:
    """By domain and metric, what else Tables I–III say of its values (`ASIDES`)."""
    found: dict[str, dict[str, dict[str, object]]] = {}
    for path in metas:
        try:
            meta = json.loads(path.read_text(encoding="utf-8"))
            domain = found.setdefault(meta["domain"], {})
            for name, each in meta["metrics"].items():
                said = dict(each.get("judge", {}))
                if each["class"] == GRAPH:
                    said["not_proven"] = each.get("not_proven", 0)
                domain[name] = {column: said.get(key) for column, key in ASIDES.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"is no meta file of a metric table ({type(error).__name__})",
                path=path,
                fix="Give the METRICS.csv.meta.json that `faithfuse metrics` wrote.",
            ) from None
    return found


def _with_asides(
    columns: list[str], rows: list[dict[str, object]], asides: dict[str, dict[str, dict[str, object]]]
) -> tuple[list[str], list[dict[str, object]]]:
    for domain in DOMAINS:
        if domain in asides and f"{domain}_{LIKERT}" in columns:
            columns = [*columns[:-1], *(f"{domain}_{aside}" for aside in ASIDES), columns[-1]]
            none: dict[str, object] = dict.fromkeys(ASIDES)
            rows = [
                row
                | {f"{domain}_{aside}": value for aside, value in asides[domain].get(str(row["metric"]), none).items()}
                for row in rows
            ]
    return columns, rows


def _number(text: str) -> float | None:
    return float(text) if text else None


def domain_of(study: str) -> str:
    """The domain of a study."""
    return study.partition(".")[0]


def correlation_table(
    name: str, domains: Sequence[str], by_domain: dict[str, list[Row]], published: list[Row], note: str
) -> tuple[list[str], list[dict[str, object]]]:
    """Columns and rows of Table I, II or III.

    The paper's rows come first, then metrics that its table leaves out, then extensions, then the human ceiling; within
    each by our Pearson correlation with Likert in the first domain, highest first, then metrics scored on fewer than
    half of the rated responses, then those without a value. Holm's correction runs over every Pearson p-value of the
    paper's columns, and of each further set on its own, so that a further set does not move the others.
    """
    further = sorted(
        (study for study in by_domain if "." in study and domain_of(study) in domains),
        key=lambda study: (domains.index(domain_of(study)), study),
    )
    studies = [*domains, *further]
    paper: dict[tuple[str, str, str], str] = {}
    paper_order: dict[str, int] = {}
    for row in published:
        if row["table"] == name:
            human = row["quantity"].removeprefix("human_").removesuffix("_mean")
            paper[row["domain"], human, row["metric"]] = row["value"]
            paper_order.setdefault(row["metric"], len(paper_order))
    ours = {
        (row["domain"], row["human"], row["metric"], row["coefficient"]): row
        for domain in studies
        for row in by_domain.get(domain, [])
    }
    info: dict[str, tuple[str, bool]] = {}
    for metric in paper_order:
        info[metric] = metric_info(metric)[1:]
    for row in ours.values():
        info[row["metric"]] = (row["metric_class"], row["extension"] == "true")
    groups = [(domain, human) for domain in studies for human in HUMANS]
    corrected: dict[tuple[str, str, str], float | None] = {}
    for family in (domains, *([study] for study in further)):
        tested = [(*group, metric) for metric in info for group in groups if group[0] in family]
        p_values = [
            None if info[key[2]][0] == HUMAN_CLASS else _number(ours.get((*key, PEARSON), {}).get("p_value", ""))
            for key in tested
        ]
        corrected |= zip(tested, holm(p_values), strict=True)
    rated = {
        study: max(
            (
                int(row["pairs"]) + int(row["unscored"])
                for row in by_domain.get(study, [])
                if row["metric_class"] != HUMAN_CLASS
            ),
            default=0,
        )
        for study in studies
    }
    absent = {study: _absent_classes(by_domain.get(study, [])) for study in studies}

    def order(metric: str) -> tuple:
        metric_class, extension = info[metric]
        main = ours.get((*groups[0], metric, PEARSON))
        value = _number(main["value"]) if main else None
        section = 0 if metric in paper_order else 3 if metric_class == HUMAN_CLASS else 2 if extension else 1
        if value is None:
            return (section, 2, 0.0, paper_order.get(metric, 0), metric)
        return (section, int(is_sparse(main, rated[groups[0][0]])), -value, paper_order.get(metric, 0), metric)

    columns = ["metric", "metric_class", "extension"]
    for domain, human in groups:
        prefix = f"{domain}_{human}"
        columns += [prefix, *(f"{prefix}_{suffix}" for suffix in _SUFFIXES)]
    columns.append("note")
    rows = []
    for metric in sorted(info, key=order):
        line: dict[str, object] = {
            "metric": metric,
            "metric_class": info[metric][0],
            "extension": info[metric][1],
            "note": note,
        }
        for domain, human in groups:
            prefix = f"{domain}_{human}"
            main = ours.get((domain, human, metric, PEARSON))
            value = _number(main["value"]) if main else None
            stated = _number(paper.get((domain, human, metric), ""))
            line |= {
                prefix: value,
                f"{prefix}_low": _number(main["low"]) if main else None,
                f"{prefix}_high": _number(main["high"]) if main else None,
                f"{prefix}_pairs": main["pairs"] if main else None,
                f"{prefix}_unscored": main["unscored"] if main else None,
                f"{prefix}_reason": _reason(main, rated[domain])
                if main
                else absent[domain].get(info[metric][0], NOT_COMPUTED),
                f"{prefix}_p_holm": corrected[domain, human, metric],
                f"{prefix}_paper": stated,
                f"{prefix}_difference": None if value is None or stated is None else value - stated,
            }
            for coefficient in (SPEARMAN, KENDALL, AUROC, AUROC_POINT):
                other = ours.get((domain, human, metric, coefficient))
                line[f"{prefix}_{coefficient}"] = _number(other["value"]) if other else None
        rows.append(line)
    return columns, rows


def is_sparse(row: Row, rated: int) -> bool:
    """Whether a correlation rests on fewer than half of the rated responses (never so for the human ceiling)."""
    return row["metric_class"] != HUMAN_CLASS and int(row["pairs"]) < MIN_SCORED * rated


def _reason(row: Row, rated: int) -> str:
    scored = f"scored on {row['pairs']} of {rated} rated responses" if row["value"] and is_sparse(row, rated) else ""
    return "; ".join(filter(None, [scored, row["reason"]]))


def _absent_classes(rows: list[Row]) -> dict[str, str]:
    """Why a computed study lacks a metric, by class: no metric of that class was computed in it."""
    computed = {row["metric_class"] for row in rows}
    return {name: f"no {name} metric was computed on this set" for name in CLASSES if rows and name not in computed}


def importance_table(
    importances: dict[str, list[Row]], published: list[Row], note: str
) -> tuple[list[str], list[dict[str, object]]]:
    """Columns and rows of Table IV: the share of importance per metric class, and what the class is worth."""
    paper = {(row["domain"], row["metric"].lower()): row["value"] for row in published if row["table"] == "IV"}
    ours = {(domain, row["metric_class"]): row for domain, rows in importances.items() for row in rows}
    classes = [*CLASSES, *sorted({name for _, name in ours} - set(CLASSES))]
    columns = ["metric_class"]
    for domain in DOMAINS:
        columns += [f"{domain}_{part}" for part in ("share", "low", "high", "blind_drop", "paper")]
    columns += ["seeds", "note"]
    seeds = {domain: rows[0]["seeds"] for domain, rows in importances.items() if rows}
    seed_text = (
        next(iter(seeds.values()))
        if len(set(seeds.values())) == 1
        else "; ".join(f"{domain}: {count}" for domain, count in seeds.items())
    )
    rows = []
    for metric_class in classes:
        line: dict[str, object] = {"metric_class": metric_class, "seeds": seed_text}
        absent = []
        for domain in DOMAINS:
            row = ours.get((domain, metric_class))
            if row is None:
                absent.append(f"{domain}: " + ("no usable metric of this class" if domain in seeds else NOT_COMPUTED))
            line |= {
                f"{domain}_share": _number(row["share"]) if row else None,
                f"{domain}_low": _number(row["share_low"]) if row else None,
                f"{domain}_high": _number(row["share_high"]) if row else None,
                f"{domain}_blind_drop": _number(row["blind_drop"]) if row else None,
                f"{domain}_paper": _number(paper.get((domain, metric_class), "")),
            }
        line["note"] = "; ".join(filter(None, [note, *absent]))
        rows.append(line)
    return columns, rows


def evaluation_table(
    evaluations: dict[str, list[Row]], published: list[Row], note: str
) -> tuple[list[str], list[dict[str, object]]]:
    """Columns and rows of Table V: fused against the best single metric, both on the same blind rows.

    The paper's `Prev. Best` is a value over all its rows; it stands beside our row computed that way, and beside the
    best single metric, which it is read as.
    """
    paper: dict[tuple[str, str], float] = {}
    for domain in DOMAINS:
        values = {row["metric"]: row["value"] for row in published if (row["table"], row["domain"]) == ("V", domain)}
        best, fused = (_number(values.get(name, "")) for name in ("Prev. Best", "Fused Metric"))
        if best is not None:
            paper[domain, SINGLE] = paper[domain, PAPER_WAY] = best
        if fused is not None:
            paper[domain, FUSED] = fused
        if best is not None and fused is not None:
            paper[domain, DIFFERENCE] = round(fused - best, 3)
    columns = ["metric"]
    for domain in DOMAINS:
        columns += [f"{domain}_{part}" for part in ("value", "low", "high", "rows", "paper")]
    columns.append("note")
    columns += [f"{domain}_note" for domain in DOMAINS]
    ours = {(domain, row["system"]): row for domain, rows in evaluations.items() for row in rows}
    rows = []
    for system, label in SYSTEM_ROWS:
        line: dict[str, object] = {"metric": label, "note": note}
        for domain in DOMAINS:
            row = ours.get((domain, system))
            named = row and system in (SINGLE, PAPER_WAY, "best_single_isotonic")
            line |= {
                f"{domain}_value": _number(row["value"]) if row else None,
                f"{domain}_low": _number(row["low"]) if row else None,
                f"{domain}_high": _number(row["high"]) if row else None,
                f"{domain}_rows": row["rows"] if row else None,
                f"{domain}_paper": paper.get((domain, system)),
                f"{domain}_note": ": ".join(filter(None, [row["metric"] if named else "", row["note"]]))
                if row
                else NOT_COMPUTED,
            }
        rows.append(line)
    return columns, rows

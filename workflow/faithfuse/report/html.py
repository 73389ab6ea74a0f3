"""The HTML report: one self-contained file with the tables, the figures and the audit.

It needs no network and no JavaScript to be read, follows the reader's light or dark setting, and carries no time: the
same inputs give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from faithfuse import __version__
from faithfuse.analysis.columns import (
    AGREEMENT_COLUMNS,
    CORRELATION_COLUMNS,
    EVALUATION_COLUMNS,
    LEARNING_COLUMNS,
    SPLIT_COLUMNS,
    TRANSFER_COLUMNS,
    VALIDATION_COLUMNS,
)
from faithfuse.errors import InputError
from faithfuse.records import Response, read_json_object, read_records
from faithfuse.report import views
from faithfuse.report.inputs import (
    COUNT_COLUMNS,
    MUTATION_COLUMNS,
    class_rank,
    class_title,
    domain_title,
    read_many,
    read_sheet,
)
from faithfuse.report.svg import (
    CLASS_COLOURS,
    GRID,
    INK,
    MUTED,
    NO_OMISSION,
    OMISSION,
    PAGE,
    SVG,
    UNRESOLVED,
)

TEMPLATES = Path(__file__).parent / "templates"

THEME = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--rule",
    OMISSION: "--omission",
    NO_OMISSION: "--no-omission",
    UNRESOLVED: "--unresolved",
    PAGE: "--on-omission",
    **{colour: f"--class-{name}" for name, colour in CLASS_COLOURS.items() if colour != INK},
}
GLYPHS = {"llm": "●", "n-gram": "■", "embedding": "▲", "graph": "◆", "matching": "▼", "human": "★"}

TABLE_CAPTIONS = {
    1: "Table I. Question answering: correlation with human judgement",
    2: "Table II. Conversational QA: correlation with human judgement",
    3: "Table III. Summarisation: correlation with human judgement",
    4: "Table IV. Share of the fused metric's importance by metric class",
    5: "Table V. The fused metric against the best single metric on the same blind rows",
}
FIGURES = {
    "correlation": "Pearson correlation of each metric with the human rating, best first, with its 95% interval "
    "over groups.",
    "importances": "Share of the fused metric's importance by metric class, with its spread over seeds and blind "
    "splits.",
    "fusion": "The fused metric and the best single metric on the same blind rows, with their intervals.",
}

# What a reader must know of the parts that a run names, before trusting the rows made with them.
LIMITS = {
    "smollm2-135m": "a model of 135 million parameters, about sixty times smaller than the paper's Llama 3.1 8B. It is "
    "a weak judge: read the LLM rows as a test of the plumbing, not of LLM judging.",
    "rules": "rules over a dependency parse, made for this project. It is not the paper's parser (STOG BART large): "
    "graph rows are not comparable with the published ones.",
    "minilm-l6": "a sentence encoder that ships inside a Python package, not the model BERTScore was published with: "
    "its scores are not comparable with published BERTScore values.",
}

AUDIT_FILES = {
    "baselines": "Baselines, without and with the common completeness guard",
    "ablations": "Dropping one predicate or dimension at a time",
    "coverage": "States resolved by each policy",
}


@dataclass
class Fact:
    """One line of what was run: a term, its value, and what to know about it."""

    term: str
    value: str
    caution: str = ""


@dataclass
class Run:
    """What was run, as far as the run's description says."""

    name: str = ""
    note: str = ""
    facts: list[Fact] = field(default_factory=list)


def describe_run(description: dict[str, Any] | None) -> Run:
    """The run's description (`results/run.json`) as facts for the lede; nothing is guessed where it is silent."""
    if not description:
        return Run()
    settings = description.get("configuration", description)
    models = description.get("models", {})
    facts = []
    sources = settings.get("data", [])
    if sources:
        drawn = f"; a seeded draw of {settings['limit']} items per domain" if settings.get("limit") else ""
        facts.append(Fact("Data", "; ".join(_source_text(source) for source in sources) + drawn))
    if settings.get("domains"):
        facts += _further_facts(settings)
        facts.append(Fact("Domains", ", ".join(domain_title(domain) for domain in settings["domains"])))
    llm = settings.get("llm", {})
    if llm.get("model"):
        role = "Answers and judges" if llm.get("respond") else "Judge"
        value = _model_text(llm["model"], models)
        if llm.get("prompt_set"):
            value += f"; {llm['prompt_set']} prompts"
        if llm.get("respond") and llm.get("max_new_tokens"):
            value += f"; at most {llm['max_new_tokens']} new tokens"
        facts.append(Fact(role, value, LIMITS.get(llm["model"], "")))
    if settings.get("parser"):
        parser = settings["parser"]
        facts.append(Fact("AMR parser", _model_text(parser, models), LIMITS.get(parser, "")))
    embedding = settings.get("embedding", {})
    if embedding.get("model"):
        value = _model_text(embedding["model"], models)
        if embedding.get("layers"):
            value += f", layer {embedding['layers']}"
        facts.append(Fact("BERTScore encoder", value, LIMITS.get(embedding["model"], "")))
    bootstrap = settings.get("correlation", {}).get("interval") == "bootstrap"
    tables = "seeded bootstrap over groups" if bootstrap else "jackknife over groups, Student's t"
    facts.append(Fact("Intervals of Tables I–III", f"95%, {tables}"))
    fusion = settings.get("fusion", {})
    if fusion.get("seeds"):
        value = f"Explainable Boosting Machine, {fusion['seeds']} seeds"
        if fusion.get("blind_fraction"):
            value += f", {100 * fusion['blind_fraction']:g}% of groups held back as blind rows"
        facts.append(Fact("Fusion", value))
    version = description.get("faithfuse", __version__)
    facts.append(Fact("faithfuse", str(version)))
    return Run(str(settings.get("name", "")), str(settings.get("note", "")), facts)


def _further_facts(settings: dict[str, Any]) -> list[Fact]:
    """The further sets of a run, which reach Tables I–III and are never fused."""
    texts = [
        _source_text(source) + ("" if source.get("judge") else ", not judged") for source in settings.get("further", [])
    ]
    return [Fact("Further sets", "; ".join(texts))] if texts else []


def _source_text(source: dict[str, Any]) -> str:
    kind, root = source.get("set", ""), source.get("root", "")
    text = root if kind == "folder" else f"{kind} from {root}"
    if source.get("limit"):
        text += f" (a seeded draw of {source['limit']} items)"
    if source.get("systems"):
        text += f", systems {', '.join(source['systems'])}"
    return text


def _model_text(key: str, models: dict[str, Any]) -> str:
    entry = models.get(key) or {}
    source = entry.get("package") or entry.get("repo") or entry.get("url") or entry.get("path")
    return f"{key} ({source})" if source else key


def themed_panels(path: Path) -> list[str]:
    """The panels of one of our SVG files as markup for HTML, colours turned into the page's variables.

    The legend panel is left out; the page has its own.

    Raises:
        InputError: the file is missing or is no SVG of ours.
    """
    try:
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", path=path, fix="Run `faithfuse figures` first."
        ) from None
    except (ElementTree.ParseError, UnicodeDecodeError) as error:
        raise InputError(f"is no SVG ({error})", path=path, fix="Run `faithfuse figures` again.") from None
    description = root.findtext(f"{{{SVG}}}desc", "").strip()
    panels = [panel for panel in root.findall(f"{{{SVG}}}svg") if not panel.get("id", "").endswith("-legend")]
    if not panels:
        raise InputError("has no panels", path=path, fix="Run `faithfuse figures` again.")
    markup = []
    for panel in panels:
        for key in ("x", "y", "width", "height"):
            panel.attrib.pop(key, None)
        name = domain_title(panel.get("id", "").partition("-")[2])
        panel.set("role", "img")
        panel.set("aria-label", description if len(panels) == 1 else f"{name}. {description}")
        panel.set("class", "panel")
        panel.tail = None
        text = ElementTree.tostring(panel, encoding="unicode")
        text = re.sub(
            r"#[0-9a-f]{6}\b",
            lambda match: f"var({THEME[match[0]]})" if match[0] in THEME else match[0],
            text,
        )
        markup.append(text.replace("'DejaVu Sans', sans-serif", "inherit"))
    return markup


def legend(correlations: Sequence[Any]) -> list[tuple[str, str, str]]:
    """Metric classes that occur, as (class, title, glyph)."""
    classes = sorted({row["metric_class"] for sheet in correlations for row in sheet.rows}, key=class_rank)
    return [(name.lower(), class_title(name), GLYPHS.get(name.lower(), "●")) for name in classes]


def _audit(folder: Path) -> dict[str, Any]:
    counts, equal, compared = views.count_table(read_sheet(folder / "counts.csv", COUNT_COLUMNS))
    tables = [
        views.plain_table(read_sheet(folder / f"{name}.csv"), f"audit-{name}", caption)
        for name, caption in AUDIT_FILES.items()
        if (folder / f"{name}.csv").is_file()
    ]
    mutations = read_sheet(folder / "mutations.csv", MUTATION_COLUMNS)
    files = []
    for path in sorted(folder.glob("*.csv")):
        files.append((path.name, len(read_sheet(path).rows)))
    return {
        "counts": counts,
        "equal": equal,
        "compared": compared,
        "tables": tables,
        "mutations": views.mutation_table(mutations),
        "files": files,
    }


def render_report(
    *,
    tables: Path,
    figures: Path,
    correlations: Sequence[Path],
    fusion: Sequence[Path],
    meta: Sequence[Path],
    responses: Sequence[Path] = (),
    validation: Sequence[Path] = (),
    transfer: Sequence[Path] = (),
    audit: Path | None = None,
    run: Path | None = None,
    identity: Path | None = None,
) -> str:
    """Render the report.

    Args:
        tables: folder with `table_1.csv` … `table_5.csv`.
        figures: folder with `correlation.svg`, `importances.svg`, `fusion.svg` and, with an audit,
            `audit_states.svg`.
        correlations: the correlation files, one per domain.
        fusion: the fusion folders, one per domain, each with `evaluation.csv`; where all have `splits.csv`, the
            comparison over every seed's split is shown too.
        meta: the metric tables' `.meta.json` files.
        responses: the responses generated in the run, one file per domain, named by the domain.
        validation: folders named by their domain with `validation.csv`, `agreement.csv` and, where one was drawn,
            `learning_curve.csv`.
        transfer: the transfer files, one per study.
        audit: folder with the audit suite's CSV files; without it the report has no audit.
        run: the run's description (`run.json`); without it the lede says that it is not known.
        identity: the file with the run's id (`run_id.txt`); without it the page shows none.

    Returns:
        The document as text.

    Raises:
        InputError: a file is missing or is not what it should be.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    sheets = {number: read_sheet(tables / f"table_{number}.csv") for number in TABLE_CAPTIONS}
    correlation_sheets = read_many(correlations, CORRELATION_COLUMNS)
    evaluations = read_many([folder / "evaluation.csv" for folder in fusion], EVALUATION_COLUMNS)
    split_files = [folder / "splits.csv" for folder in fusion]
    splits = read_many(split_files, SPLIT_COLUMNS) if all(path.is_file() for path in split_files) else []
    metas = [_checked_meta(path) for path in meta]
    shown = {
        number: views.correlation_table(sheets[number], f"table-{number}", TABLE_CAPTIONS[number], extensions=False)
        for number in (1, 2, 3)
    }
    shown[4] = views.share_table(sheets[4], "table-4", TABLE_CAPTIONS[4])
    shown[5] = views.fusion_table(sheets[5], "table-5", TABLE_CAPTIONS[5])
    more = {
        number: views.correlation_table(
            sheets[number], f"table-{number}-extensions", f"Extensions to {_title(number)}", extensions=True
        )
        for number in (1, 2, 3)
    }
    further = {
        number: views.correlation_table(
            sheets[number],
            f"table-{number}-further",
            f"Further sets of {_title(number)}",
            extensions=False,
            further=True,
        )
        for number in (1, 2, 3)
    }
    curves = [path for folder in validation if (path := folder / "learning_curve.csv").is_file()]
    agreement = {folder.name: read_sheet(folder / "agreement.csv", AGREEMENT_COLUMNS) for folder in validation}
    trust = [
        views.validation_table(read_many([folder / "validation.csv" for folder in validation], VALIDATION_COLUMNS)),
        views.curve_table(read_many(curves, LEARNING_COLUMNS)),
        views.agreement_table(agreement),
        views.transfer_table([read_sheet(path, TRANSFER_COLUMNS) for path in transfer]),
    ]
    what = describe_run(read_json_object(run) if run else None)
    # What every table says of its numbers heads the report, once.
    notes = views.unique([what.note, *(views.split_note(sheet)[0] for sheet in sheets.values())])
    unscored, missing, total = views.unscored_table(metas)
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html").render(
        run=what,
        run_id=identity.read_text(encoding="utf-8").strip() if identity else "",
        notes=notes,
        glance=views.glance_table(correlation_sheets, evaluations),
        splits=views.split_table(splits),
        tables=shown,
        more=more,
        further=further,
        trust=[table for table in trust if table.rows],
        coefficients={
            number: views.coefficient_tables(sheets[number], f"coefficients-{number}") for number in (1, 2, 3)
        },
        figures={name: (caption, themed_panels(figures / f"{name}.svg")) for name, caption in FIGURES.items()},
        legend=legend(correlation_sheets),
        responses=views.response_table({path.stem: read_records(path, Response) for path in responses}),
        judge=views.judge_table(metas),
        unscored=unscored,
        missing=missing,
        total=total,
        signatures=views.signature_table(metas),
        audit=_audit(audit) if audit else None,
        state_map=themed_panels(figures / "audit_states.svg") if audit else [],
    )


def _title(number: int) -> str:
    return TABLE_CAPTIONS[number].split(".")[0]


def _checked_meta(path: Path) -> dict[str, Any]:
    meta = read_json_object(path)
    fields = {"class", "signature", "scored", "unscored", "reasons"}
    metrics = meta.get("metrics")
    if "domain" not in meta or not isinstance(metrics, dict):
        raise InputError(
            "lacks domain or metrics", path=path, fix="Give the .meta.json file that `faithfuse metrics` writes."
        )
    for name, entry in metrics.items():
        if not isinstance(entry, dict) or not fields <= entry.keys():
            raise InputError(
                f"metric {name} lacks {', '.join(sorted(fields - set(entry)))}",
                path=path,
                fix="Run `faithfuse metrics` again.",
            )
    return meta

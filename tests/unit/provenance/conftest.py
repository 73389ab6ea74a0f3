"""A small run: a repository with inputs, code and a model, and results with their manifests."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from faithfuse.provenance.host import describe_host
from faithfuse.provenance.manifest import write_manifest
from faithfuse.provenance.record import dump, make_record, reproduce
from faithfuse.provenance.run import describe_run
from faithfuse.provenance.run import dump as dump_run
from faithfuse.records import Item, Rating, Response, write_records

NOTE = "made for tests"
CONFIGURATION = {
    "name": "small",
    "note": NOTE,
    "data": [{"set": "folder", "root": "config/sample", "limit": None, "systems": None}],
    "domains": ["short_form_qa"],
    "limit": None,
    "seed": 0,
    "models_dir": ".models",
    "cache_dir": ".cache",
    "shards": 1,
    "llm": {"model": "tiny", "prompt_set": "repaired", "max_new_tokens": 8, "respond": False, "threads": 1},
    "parser": "rules",
    "embedding": {"model": "tiny", "layers": 1},
    "correlation": {"interval": "jackknife", "resamples": 200, "seed": 0},
    "fusion": {"seeds": 2, "seed": 0, "blind_fraction": 0.3},
    "audit": True,
}
REGISTRY = "tiny:\n  kind: causal-lm\n  provider: hub\n  repo: someone/tiny\n  revision: {revision}\n  licence: MIT\n"
SIGNATURE = "judge:tiny|weights:{weights}|torch==2.13.0|prompts:repaired-0123"


@dataclass
class Ingredients:
    """What a small run is made of; a test changes one thing and makes another run."""

    likert: list[float] = field(default_factory=lambda: [1, 3, 5, 4])
    response: str = "yes"
    metric: list[float] = field(default_factory=lambda: [0.1, 0.5, 0.9, 0.7])
    correlation: float = 0.9
    paper: float = 0.3
    share: float = 0.25
    count: int = 81
    revision: str = "a" * 40
    weights: bytes = b"weights"
    code: str = "VALUE = 1\n"
    rule: str = "# a rule\n"
    packages: dict[str, str] = field(default_factory=dict)
    configuration: dict[str, Any] = field(default_factory=dict)
    host: dict[str, Any] = field(default_factory=dict)


@dataclass
class MadeRun:
    """A repository in which a run has been made."""

    root: Path
    id: str
    record: Any

    @property
    def results(self) -> Path:
        return self.root / "results"


def _write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def _table(path: Path, header: list[str], rows: list[list[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])


def _fill(root: Path, made: Ingredients, repository: Path) -> None:
    fields = {"domain": "short_form_qa", "source_set": "t", "question": "?", "references": {"short": ["a"]}}
    items = [Item(item_id=f"q{n}", group="g", **fields) for n in range(4)]
    responses = [Response(item_id=f"q{n}", system="s", text=made.response if n == 0 else "no") for n in range(4)]
    ratings = [Rating(item_id=f"q{n}", system="s", annotator="r", likert=made.likert[n]) for n in range(4)]
    for folder in (root / "config/sample", root / "results/items/short_form_qa"):
        write_records(folder / "items.jsonl", items)
        write_records(folder / "responses.jsonl", responses)
        write_records(folder / "ratings.jsonl", ratings)
    _write(root / "config/prompts/repaired.yaml", "prompt: judge\n")
    _write(root / "config/reference/paper_tables.csv", f"table,value\nI,{made.paper}\n")
    _write(root / "config/models.yaml", REGISTRY.format(revision=made.revision))
    _write(root / "envs/lock.txt", "numpy==2.4.6\nnot-a-package==1.0\n")
    _write(root / "Snakefile", "rule all:\n")
    _write(root / "rules/correlate.smk", made.rule)
    _write(root / "workflow/faithfuse/analysis/correlation.py", made.code)
    _write(root / ".models/tiny/model.safetensors", made.weights)
    _write(root / ".models/tiny/config.json", "{}")
    results = root / "results"
    rows = [[f"q{n}", "s", "g", made.metric[n]] for n in range(4)]
    _table(results / "metrics/short_form_qa.csv", ["item_id", "system", "group", "LLM Conf."], rows)
    weights = made.weights.hex()[:16]
    meta = {"domain": "short_form_qa", "metrics": {"LLM Conf.": {"signature": SIGNATURE.format(weights=weights)}}}
    _write(results / "metrics/short_form_qa.csv.meta.json", json.dumps(meta))
    header = ["metric", "short_form_qa_likert", "short_form_qa_likert_paper", "short_form_qa_likert_difference", "note"]
    note = made.configuration.get("note", NOTE)
    difference = made.correlation - made.paper
    _table(results / "tables/table_1.csv", header, [["LLM Conf.", made.correlation, made.paper, difference, note]])
    _table(results / "tables/table_4.csv", ["metric_class", "short_form_qa_share", "seeds"], [["llm", made.share, 2]])
    _table(results / "audit/counts.csv", ["quantity", "ours", "paper"], [["predicate_states", made.count, 81]])
    _write(results / "report.html", "<html></html>")
    _write(
        results / "verdicts/short_form_qa.jsonl.meta.json",
        json.dumps({"model": {"key": "tiny", "device": "cpu", "threads": 1, "cpu": "AVX2"}}),
    )
    shutil.copy(repository / "LICENSE", root / "LICENSE")


@pytest.fixture
def make_run(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., MadeRun]:
    """Make a run in a folder of its own: `make_run("a", likert=[…])`."""

    def make(name: str, **changes: Any) -> MadeRun:
        made = Ingredients(**changes)
        root = tmp_path / name
        _fill(root, made, repository)
        monkeypatch.chdir(root)
        configuration = CONFIGURATION | made.configuration
        description = describe_run(configuration, Path("config/models.yaml"), Path("envs/lock.txt"))
        description["packages"] |= made.packages
        _write(root / "results/run.json", dump_run(description))
        outside = [Path("results/report.html"), Path("results/verdicts/short_form_qa.jsonl.meta.json")]
        results = sorted(path.relative_to(root) for path in Path(root / "results").rglob("*") if path.is_file())
        results = [path for path in results if path not in outside]
        inputs = {
            **{f"config/sample/{name}.jsonl": Path(f"config/sample/{name}.jsonl") for name in ("items", "ratings")},
            "config/prompts/repaired.yaml": Path("config/prompts/repaired.yaml"),
            "config/reference/paper_tables.csv": Path("config/reference/paper_tables.csv"),
        }
        code = [Path("Snakefile"), Path("rules/correlate.smk"), Path("workflow/faithfuse/analysis/correlation.py")]
        part = reproduce(
            description=Path("results/run.json"),
            results=results,
            inputs=inputs,
            code=code,
            models={"tiny": Path(".models/tiny")},
        )
        host = describe_host(
            metas=outside, benchmarks=Path("results/benchmarks"), folders={"models/tiny": Path(".models/tiny")}
        )
        record = make_record(part, outside, host | made.host)
        _write(root / "results/manifest.json", dump(record))
        _write(root / "results/run_id.txt", record.run_id + "\n")
        write_manifest([*results, outside[0], Path("results/run_id.txt")], Path("results/manifest.sha256"), Path("."))
        return MadeRun(root, record.run_id, record)

    return make

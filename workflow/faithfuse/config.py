"""The configuration of a run: Pydantic models, from which `config/schema.json` is generated.

`config/config.yaml` holds the embedded default; another file given with `--configfile` is laid over it key by key,
as Snakemake does. The models describe every field, refuse unknown ones and are the only place of defaults.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from faithfuse.errors import InputError
from faithfuse.records import EVALUATED_DOMAINS, Domain, describe


class Section(BaseModel):
    """Base of the configuration's blocks: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


def expanded(root: str) -> str:
    """A data root with its environment variables expanded; the configuration itself keeps their names.

    Raises:
        InputError: a variable is not set.
    """
    folder = os.path.expandvars(root)
    if "$" in folder:
        raise InputError(
            f"data root {root} names an environment variable that is not set",
            fix="Set it to the folder that holds the files, or write the folder itself.",
        )
    return folder


class DataSource(Section):
    """One source of items, responses and ratings."""

    set: str = Field(description="`folder` for files already in the records' form, else the name of an importer.")
    root: str = Field(description="Folder with the files; environment variables are expanded.")
    limit: int | None = Field(default=None, ge=1, description="Draw this many items (seeded); all when null.")
    systems: list[str] | None = Field(default=None, description="Keep only these systems' responses; all when null.")

    @model_validator(mode="after")
    def _limit_belongs_to_imports(self) -> DataSource:
        if self.set == "folder" and (self.limit is not None or self.systems is not None):
            raise ValueError("a folder is taken whole; draw items of it with the run's own `limit`")
        return self

    def folder(self) -> str:
        """`root` with its environment variables expanded; see `expanded`."""
        return expanded(self.root)


class FurtherSet(Section):
    """One more set of judgements: columns of its own in Tables I–III, and a test of the fused metrics on it."""

    set: str = Field(description="Name of an importer; its domain is the set's own.")
    root: str = Field(description="Folder with the files; environment variables are expanded.")
    limit: int | None = Field(default=None, ge=1, description="Draw this many items (seeded); all when null.")
    judge: bool = Field(default=False, description="Run the LLM stages on it; else it has no LLM metrics.")

    def folder(self) -> str:
        """`root` with its environment variables expanded; see `expanded`."""
        return expanded(self.root)


class Llm(Section):
    """The language model that answers and judges."""

    model: str = Field(description="Key in `config/models.yaml`.")
    prompt_set: Literal["repaired", "verbatim"] = Field(
        default="repaired",
        description="`verbatim`: the paper's prompts exactly as their literals concatenate; `repaired`: the same words "
        "with line breaks and the question that the conversational judge prompts announce but leave out.",
    )
    max_new_tokens: int = Field(default=256, ge=1, description="Token limit of a response (paper, section IV-A: 256).")
    judge: list[Domain] | None = Field(
        default=None, description="Domains whose responses the model judges; all when null, none when empty."
    )
    respond: bool = Field(default=True, description="Generate a response of the model to every item.")
    summary_variants: list[Literal["fact_reference", "full_reference"]] = Field(
        default=[],
        description="Also judge summaries against the reference: each point against each of its points, or the whole. "
        "Extensions of this project that cost LLM time; none by default.",
    )
    threads: int = Field(
        default=1, ge=1, description="CPU threads of one LLM job; part of what decides the last digits."
    )


class Embedding(Section):
    """The encoder behind BERTScore."""

    model: str = Field(default="minilm-l6", description="Key in `config/models.yaml`.")
    layers: int = Field(default=6, ge=1, description="The layer whose states BERTScore compares.")


class Correlation(Section):
    """How metrics are correlated with people."""

    interval: Literal["jackknife", "bootstrap"] = Field(
        default="jackknife",
        description="95% intervals over groups: each left out in turn, or drawn at random (narrow with few groups).",
    )
    resamples: int = Field(default=2000, ge=100, description="Draws of groups behind each interval; bootstrap only.")
    seed: int = Field(default=0, ge=0, description="Seed of the draws; bootstrap only.")


class Fusion(Section):
    """How metrics are fused by an Explainable Boosting Machine."""

    seeds: int = Field(default=50, ge=1, description="Seeds × blind splits behind Tables IV and V.")
    blind_fraction: float = Field(default=0.3, gt=0, lt=1, description="Share of groups held back as the blind test.")
    seed: int = Field(default=0, ge=0, description="First seed.")
    interactions: int = Field(default=0, ge=0, description="Pairs of metrics that the EBM may add.")
    repeats: int = Field(default=5, ge=1, description="Repeats of the grouped cross-validation in the validation.")
    folds: int = Field(default=5, ge=2, description="Its folds of groups.")
    curve_seeds: int = Field(default=10, ge=0, description="Splits per point of the learning curve; 0: no curve.")


class Run(Section):
    """A whole run."""

    name: str = Field(description="Short name of the run, shown in the report.")
    note: str = Field(default="", description="Sentence put into every table made from the ratings.")
    data: list[DataSource] = Field(min_length=1, description="Where items, responses and ratings come from.")
    further: list[FurtherSet] = Field(
        default=[], description="Sets beside the main ones: further columns of Tables I–III, never fused."
    )
    domains: list[Domain] = Field(
        default=list(EVALUATED_DOMAINS), min_length=1, description="The domains to evaluate, in table order."
    )
    limit: int | None = Field(
        default=None, ge=1, description="Draw this many items per domain (seeded); all when null."
    )
    seed: int = Field(default=0, ge=0, description="Seed of every draw of items.")
    models_dir: str = Field(default=".models", description="Folder that holds the models.")
    cache_dir: str = Field(default=".cache", description="Folder for LLM and graph results that later runs reuse.")
    llm: Llm
    shards: int = Field(
        default=1,
        ge=1,
        description="Jobs among which the LLM and graph stages of each domain are shared; results do not depend on it.",
    )
    parser: str = Field(default="rules", description="AMR parser: `rules` (embedded) or a key in `config/models.yaml`.")
    embedding: Embedding = Field(default_factory=Embedding)
    correlation: Correlation = Field(default_factory=Correlation)
    fusion: Fusion = Field(default_factory=Fusion)
    audit: bool = Field(default=True, description="Run the audit's conformance suite.")

    @field_validator("domains")
    @classmethod
    def _evaluated(cls, domains: list[Domain]) -> list[Domain]:
        if Domain.TASK_ORIENTED in domains:
            raise ValueError("task_oriented exists in the data set alone and cannot be evaluated")
        if len(set(domains)) != len(domains):
            raise ValueError("a domain is named twice")
        return domains

    @model_validator(mode="after")
    def _each_set_once(self) -> Run:
        from faithfuse.datasets.ratings import IMPORTERS

        known = sorted(name for name, importer in IMPORTERS.items() if importer.domain is not None)
        used = {source.set for source in self.data}
        for source in self.further:
            if source.set not in known:
                raise ValueError(f"further: there is no set {source.set}; choose from {', '.join(known)}")
            if source.set in used:
                raise ValueError(f"further: the set {source.set} is named twice")
            used.add(source.set)
        return self

    def studies(self) -> dict[str, FurtherSet]:
        """The further sets by the name that their results bear, `<domain>.<set>`, in order."""
        from faithfuse.datasets.ratings import IMPORTERS

        return {f"{IMPORTERS[source.set].domain}.{source.set}": source for source in self.further}


def parse_config(config: dict[str, Any], source: str = "config") -> Run:
    """Validate a configuration.

    Raises:
        InputError: a key is unknown or missing, or a value is out of range.
    """
    try:
        return Run.model_validate(config)
    except ValidationError as error:
        raise InputError(
            describe(error), path=source, fix="See config/schema.json for every key and its range."
        ) from None


def schema() -> str:
    """The JSON Schema of the configuration, as text."""
    document = Run.model_json_schema()
    document["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path("config/schema.json").write_text(schema(), encoding="utf-8")

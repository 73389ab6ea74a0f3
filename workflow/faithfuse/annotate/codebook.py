"""The codebook of an audit study: what each predicate asks, as data (arXiv 2609.29145, sections III-A and III-D)."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from faithfuse.audit.record import ADMISSIBLE, PREDICATES
from faithfuse.errors import InputError
from faithfuse.records import describe


class Predicate(BaseModel):
    """What an annotator reads about one predicate."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    question: str = Field(min_length=1)
    one: str = Field(min_length=1, description="when it is 1")
    zero: str = Field(min_length=1, description="when it is 0")
    not_evidence: list[str] = Field(default_factory=list)
    evidence_in: list[str] = Field(default_factory=list)


class Codebook(BaseModel):
    """A codebook; its version goes into every record."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str = Field(min_length=1)
    status: str
    unresolved: str
    predicates: dict[str, Predicate]
    support: str
    susceptibility: str = ""

    @field_validator("predicates")
    @classmethod
    def _the_four(cls, predicates: dict[str, Predicate]) -> dict[str, Predicate]:
        if sorted(predicates) != sorted(PREDICATES):
            raise ValueError(f"a codebook has the predicates {', '.join(PREDICATES)}")
        for name, predicate in predicates.items():
            if predicate.evidence_in and sorted(predicate.evidence_in) != sorted(ADMISSIBLE[name]):
                raise ValueError(f"the checker takes evidence for {name} in {', '.join(ADMISSIBLE[name])}")
        return {name: predicates[name] for name in PREDICATES}


def load_codebook(path: Path) -> Codebook:
    """Read a codebook from YAML.

    Raises:
        InputError: the file is missing or malformed.
    """
    fix = "See config/audit/codebook.yaml for the form."
    try:
        return Codebook.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path, fix=fix) from None
    except ValidationError as error:
        raise InputError(f"is no codebook: {describe(error)}", path=path, fix=fix) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"is no YAML ({' '.join(str(error).split())})", path=path, fix=fix) from None

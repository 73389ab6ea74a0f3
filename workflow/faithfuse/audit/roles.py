"""Source roles: what evidence to look for and what disclosure the codebook asks (arXiv 2609.29145, section III-D).

A role is never a risk score, and no role resolves a predicate: the form below has no place for either.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from faithfuse.audit.files import read_yaml
from faithfuse.audit.record import Role
from faithfuse.errors import InputError
from faithfuse.records import describe

ROLES: tuple[str, ...] = get_args(Role)


class RoleGuide(BaseModel):
    """What a role asks of the annotator."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    meaning: str = Field(min_length=1)
    evidence: list[str] = Field(min_length=1, description="what to look for in the archived source")
    disclosure: str = Field(min_length=1, description="what the answer has to say for D = 1")


def load_roles(path: Path) -> dict[str, RoleGuide]:
    """Read the guides from YAML, one for each role of the contract.

    Raises:
        InputError: the file is missing or broken, or its roles are not those of the contract.
    """
    fix = "See config/audit/source_roles.yaml for the form."
    try:
        guides = {name: RoleGuide.model_validate(value) for name, value in read_yaml(path, fix=fix)["roles"].items()}
    except ValidationError as error:
        raise InputError(f"is no role guide: {describe(error)}", path=path, fix=fix) from None
    except (AttributeError, KeyError, TypeError):
        raise InputError("has no roles", path=path, fix=fix) from None
    if set(guides) != set(ROLES):
        found = f"has other roles than the contract ({', '.join(sorted(map(str, set(guides) ^ set(ROLES))))})"
        raise InputError(found, path=path, fix=fix)
    return guides

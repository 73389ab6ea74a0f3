"""Source roles: what evidence to look for and what disclosure the codebook asks (arXiv 2609.29145, section III-D).

A role is never a risk score, and no role resolves a predicate: the form below has no place for either.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

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
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        guides = {name: RoleGuide.model_validate(value) for name, value in content["roles"].items()}
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path, fix=fix) from None
    except ValidationError as error:
        raise InputError(f"is no role guide: {describe(error)}", path=path, fix=fix) from None
    except (yaml.YAMLError, UnicodeDecodeError, AttributeError, KeyError, TypeError) as error:
        raise InputError(f"has no roles ({error})", path=path, fix=fix) from None
    if set(guides) != set(ROLES):
        found = f"has other roles than the contract ({', '.join(sorted(set(guides) ^ set(ROLES)))})"
        raise InputError(found, path=path, fix=fix)
    return guides

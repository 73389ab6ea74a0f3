"""Decision words over checked records: PASS, CONTEXTUALIZE, REVIEW, ABSTAIN (arXiv 2609.29145, section V-B).

The words are proposed interfaces, not validated production controls, and so is every policy read here: it must say
so. PASS means that the configured review requirement is met for the observed tuple, not that the publisher is
independent or reliable.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from faithfuse.audit.files import read_yaml
from faithfuse.audit.result import CheckResult
from faithfuse.errors import InputError
from faithfuse.records import describe

Decision = Literal["PASS", "CONTEXTUALIZE", "REVIEW", "ABSTAIN"]
State = Literal["1", "0", "U", "rejected"]
STATES: tuple[State, ...] = ("1", "0", "U", "rejected")


class Rule(BaseModel):
    """`decision` for the named states, when the priority reaches `priority_at_least` (unresolved never does)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: Decision
    states: list[State] = Field(min_length=1)
    priority_at_least: float | None = Field(default=None, ge=0, le=1)

    def applies(self, result: CheckResult) -> bool:
        """Whether the rule speaks of this result."""
        if result.state() not in self.states:
            return False
        limit = self.priority_at_least
        return limit is None or (result.priority is not None and result.priority >= limit)


class Policy(BaseModel):
    """Rules of which the first that applies decides."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    status: Literal["proposed, not validated"]
    rules: list[Rule] = Field(min_length=1)

    @model_validator(mode="after")
    def _decides_every_state(self) -> Policy:
        decided = {state for rule in self.rules if rule.priority_at_least is None for state in rule.states}
        missing = [state for state in STATES if state not in decided]
        if missing:
            raise ValueError(f"no rule without a priority decides {', '.join(missing)}")
        return self

    def decide(self, result: CheckResult) -> Decision:
        """The decision word for one checked record; it never changes the endpoint."""
        return next(rule.decision for rule in self.rules if rule.applies(result))


def load_policy(path: Path) -> Policy:
    """Read a policy from YAML.

    Raises:
        InputError: the file is missing, broken, leaves a state undecided, or does not call itself not validated.
    """
    fix = "See config/audit/policy.yaml for the form."
    try:
        return Policy.model_validate(read_yaml(path, fix=fix))
    except ValidationError as error:
        raise InputError(f"is no policy: {describe(error)}", path=path, fix=fix) from None

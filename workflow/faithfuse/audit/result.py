"""What the checker says: defects and the result of one record."""

from __future__ import annotations

import msgspec

from faithfuse.audit.codes import CODES


class Defect(msgspec.Struct, frozen=True, order=True):
    """One reason for rejection: a stable code, a JSON pointer (RFC 6901) to the place, and what was found."""

    code: str
    pointer: str
    found: str

    def fix(self) -> str:
        """What to do about it."""
        return CODES[self.code][1]

    def sentence(self) -> str:
        """Place, finding and remedy in one line."""
        return f"{self.pointer or 'the record'}: {self.found}. {self.fix()}"


class CheckResult(msgspec.Struct, frozen=True, gc=False):
    """What the checker says of one record.

    `endpoint` is 1, 0 or None (unresolved), `priority` a number in 0–1 or None; both are None too when the record is
    rejected, so read them together with `accepted`. `unresolved` names the predicates without a judgement, in the
    order I, A, M, D. `claim` and `level` are the validation gate's two sides.
    """

    accepted: bool
    defects: tuple[Defect, ...]
    tuple_id: str | None
    record_digest: str | None
    endpoint: int | None
    priority: float | None
    unresolved: str
    claim: str | None
    level: str | None

    def codes(self) -> tuple[str, ...]:
        """The distinct reason codes, in the order of the check."""
        return tuple(dict.fromkeys(defect.code for defect in self.defects))

    def state(self) -> str:
        """`rejected`, or the endpoint as `1`, `0` or `U`."""
        if not self.accepted:
            return "rejected"
        return "U" if self.endpoint is None else str(self.endpoint)

"""The checker (arXiv 2609.29145, section III-C): fields and hashes, predicates and evidence, dimensions and weights,
then endpoint, priority and validation gate.

Two roads lead to one verdict. A record without defects is accepted on the fast road (`accept`); everything else is
diagnosed (`diagnose`), which finds all defects. The fast road never rejects, and accepts nothing that the diagnosis
would reject.
"""

from __future__ import annotations

from faithfuse.audit.accept import accept
from faithfuse.audit.diagnose import diagnose
from faithfuse.audit.result import CheckResult, Defect

__all__ = ["CheckResult", "Defect", "check_bytes"]


def check_bytes(raw: bytes) -> CheckResult:
    """Check one record given as the bytes of a JSON text; blanks and line ends around it do not matter."""
    raw = raw.strip(b" \t\r\n")
    return accept(raw) or diagnose(raw)

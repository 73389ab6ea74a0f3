"""The validation gate: a stronger claim needs a stronger validation level (arXiv 2609.29145, sections III-E and V)."""

from __future__ import annotations

from faithfuse.audit.record import CLAIMS, LEVELS

RANK = {name: rank for names in (CLAIMS, LEVELS) for rank, name in enumerate(names)}

MEANING = {
    "conformance": "the record follows the contract and resolves as specified; nothing about the world",
    "tuple": "the judgements of this tuple hold, by independent labels",
    "population": "rates and errors in the sampled domain, by a held-out evaluation",
    "benefit": "an intervention helps, by paired evaluation of answers before and after",
}

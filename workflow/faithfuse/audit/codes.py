"""Reason codes: why a record is rejected, and what to do about it.

The codes are stable: a code never changes its meaning, and the conformance cases name them. They stand in the
paper's order of execution (section III-C).
"""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "json.encoding": ("text", "Save the record as UTF-8."),
    "json.syntax": ("text", "Write one whole JSON object."),
    "json.depth": ("text", "Write the record flat, as the contract has it."),
    "json.duplicate_key": ("text", "Keep one of the repeated keys."),
    "json.number": ("text", "Write a finite number that a double holds exactly as written."),
    "json.surrogate": ("text", "Write whole code points; a lone surrogate has no UTF-8 form."),
    "field.missing": ("fields", "Add the field; write null where the contract allows an unresolved value."),
    "field.unknown": ("fields", "Remove the field, or put it under tuple/pipeline/settings."),
    "field.type": ("fields", "Give the field the type that the contract names."),
    "field.value": ("fields", "Give the field a value that the contract allows."),
    "time.order": ("fields", "Put the times in order: both observations inside the source's window, judgements after."),
    "revision.chain": ("fields", "Revision 1 replaces nothing (null); a later one names the digest it replaces."),
    "selection.answer_dependent": (
        "fields",
        "Select evidence by dQ or dI only; dA, dM and dD need the answer that the evidence was for.",
    ),
    "digest.query": ("hashes", "Restore the archived query, or seal a new record."),
    "digest.source": ("hashes", "Restore the archived source, or seal a new record."),
    "digest.answer": ("hashes", "Restore the archived answer, or seal a new record."),
    "digest.tuple": ("hashes", "Restore the tuple's identity, or seal a new record."),
    "digest.annotation": ("hashes", "Restore the annotation, or seal it as a new revision."),
    "digest.record": ("hashes", "Restore the record, or seal a new one."),
    "predicate.type": ("predicates", 'Write 1, 0 or null; text such as "U" and true or false are no judgements.'),
    "predicate.value": ("predicates", "Write 1, 0 or null; no other number is a judgement."),
    "predicate.reason": ("predicates", "Give a reason where the judgement is null, and null where it is resolved."),
    "evidence.missing": ("evidence", "Add a span for the resolved predicate, or leave the predicate null."),
    "evidence.inadmissible": ("evidence", "Add a span in a snapshot that is admissible for this predicate."),
    "evidence.range": ("evidence", "Give code-point offsets with start < end within the snapshot's text."),
    "evidence.digest": ("evidence", "Point the span at the passage it was taken from, and digest that passage."),
    "dimension.value": ("dimensions", "Write 1, 0 or null (dQ: a number from 0 to 1, or null)."),
    "dimension.mapping": ("dimensions", "Set dI = I, dA = A, dM = M and dD = 1 − D, null where the predicate is."),
    "weight.value": ("weights", "Give every weight a number from 0 to 1."),
    "weight.sum": ("weights", "Scale the five weights so that they sum to 1."),
    "gate.claim": ("gate", "Weaken the claim, or validate the judgements at the level that the claim needs."),
    "gate.reference": ("gate", "Name the study behind a validation level above `contract`; else write null."),
}
"""Code → (stage of the check, what to do)."""

ORDER = {code: position for position, code in enumerate(CODES)}

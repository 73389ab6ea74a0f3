"""Say in plain words why a record resolves as it does, with the evidence it quotes."""

from __future__ import annotations

from typing import Any

from faithfuse.audit.canonical import parse
from faithfuse.audit.check import check_bytes
from faithfuse.audit.files import printable
from faithfuse.audit.gate import MEANING
from faithfuse.audit.policy import Policy
from faithfuse.audit.record import DIMENSIONS, PREDICATES, texts
from faithfuse.audit.result import CheckResult
from faithfuse.audit.roles import RoleGuide

QUESTIONS = {
    "I": ("Relationship (I)", "the source has a relationship with the target of the query", "no relationship"),
    "A": ("Adoption (A)", "the answer adopts the source's claim", "the answer does not adopt the source's claim"),
    "M": ("Materiality (M)", "the relationship matters to how the answer reads", "it does not matter here"),
    "D": ("Disclosure (D)", "the answer discloses the relationship adequately", "the answer does not disclose it"),
}
SUPPORT = {1: "the citation supports the answer", 0: "the citation does not support the answer", None: "not judged"}


def explain(raw: bytes, *, policy: Policy | None = None, roles: dict[str, RoleGuide] | None = None) -> str:
    """The explanation of one record, as lines of text.

    Args:
        raw: the bytes of the record.
        policy: adds the decision word, marked as proposed.
        roles: adds what the source's role asks the annotator to look for.
    """
    result = check_bytes(raw)
    lines = _rejection(result) if not result.accepted else _resolution(parse(raw), result, roles or {})
    if policy is not None:
        decision = policy.decide(result)
        lines += ["", f"Decision under policy {policy.name} ({policy.status}): {decision}."]
    return "".join(printable(line) + "\n" for line in lines)


def _rejection(result: CheckResult) -> list[str]:
    count = len(result.defects)
    lines = [f"Tuple {result.tuple_id or '(no identifier)'} is rejected: {count} defect{'s' if count > 1 else ''}."]
    return lines + [f"  {defect.code}: {defect.sentence()}" for defect in result.defects]


def _resolution(record: dict[str, Any], result: CheckResult, roles: dict[str, RoleGuide]) -> list[str]:
    whole, note = record["tuple"], record["annotation"]
    source = whole["source"]
    lines = [
        f"Tuple {whole['tuple_id']}: {_verdict(note['judgements'], result)}",
        "",
        f"Query:  {_line(whole['query']['text'])}",
        f"Source: {source['id']}, version {source['version']}, observed {source['observed_at']}, role {source['role']}",
        f"Answer: {whole['answer']['id']}, version {whole['answer']['version']}, by {whole['pipeline']['name']}",
        f"Judged by {note['annotator']} under codebook {note['codebook']}, revision {note['revision']}",
        "",
    ]
    snapshots = texts(record)
    for name in PREDICATES:
        title, yes, no = QUESTIONS[name]
        value = note["judgements"][name]
        if value is None:
            lines.append(f"{title} is unresolved: {note['reasons'][name]}.")
        else:
            lines.append(f"{title} = {value}: {yes if value else no}.")
        for item in note["evidence"][name]:
            quote = _line(snapshots[item["snapshot"]][item["start"] : item["end"]], limit=200)
            lines.append(f"    {item['snapshot']} {item['start']}–{item['end']}: “{quote}”")
    lines += ["", f"Citation support, apart from this: {SUPPORT[record['support']]}.", _priority(record, result)]
    if source["role"] in roles:
        guide = roles[source["role"]]
        lines.append(f"The role {source['role']} resolves nothing; it asks to look for: {'; '.join(guide.evidence)}.")
    gate = f"Validation level {result.level}; claim {result.claim}: {MEANING[result.claim or 'conformance']}."
    return [*lines, gate]


def _verdict(judged: dict[str, int | None], result: CheckResult) -> str:
    if result.endpoint == 1:
        return (
            "an omission. A related source's claim is adopted, the relationship is material, and the answer does not "
            "disclose it."
        )
    if result.endpoint == 0:
        failing = [QUESTIONS[name][0] for name in "IAM" if judged[name] == 0]
        failing += [QUESTIONS["D"][0]] if judged["D"] == 1 else []
        values = ["= 0" if name[-2] != "D" else "= 1" for name in failing]
        stated = ", ".join(f"{name} {value}" for name, value in zip(failing, values, strict=True))
        return f"no omission, since {stated}; an omission needs I = A = M = 1 and D = 0."
    names = ", ".join(QUESTIONS[name][0] for name in result.unresolved)
    return (
        f"unresolved, since there is no judgement of {names}. The endpoint needs all four; missing evidence is neither "
        "risk nor its absence."
    )


def _priority(record: dict[str, Any], result: CheckResult) -> str:
    values, weights = record["dimensions"], record["weights"]
    if result.priority is None:
        missing = ", ".join(name for name in DIMENSIONS if values[name] is None)
        return f"Review priority is unresolved: {missing} missing, whatever the weight."
    terms = " + ".join(f"{weights[name]:.6g}·{values[name]:.6g}" for name in DIMENSIONS)
    return f"Review priority {result.priority:.6g} = {terms} (dQ, dI, dA, dM, dD); it orders review only."


def _line(text: str, limit: int = 120) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"

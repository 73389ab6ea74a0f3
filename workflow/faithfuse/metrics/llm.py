"""From the LLM judge's verdicts to the columns of the metric table.

Question answering has one verdict a kind (`LLM Likert`, `LLM Conf.`). Summaries have one for the whole ("Full")
and one for each point ("Fact", then mean, maximum and minimum; arXiv 2512.05700, section V-C). What is judged
against the domain's usual target (the reference for answers, the transcript for summaries) bears the paper's
name; the other target adds `GT` or `Transcript`. A point judged against each of the reference's points takes
its best match, as the other metrics on points do.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from faithfuse.errors import InputError
from faithfuse.metrics.aggregate import Cell, Column, best, column, no_text, point_spread, spread_columns
from faithfuse.metrics.cases import Case, Key
from faithfuse.records import Domain, Verdict

_KINDS = {"likert": "LLM Likert", "confidence": "LLM Conf."}
_SCALE = {"likert": "greedy integer 0-5", "confidence": "0-1"}
NO_VERDICT = "the judge gave no verdict"
NO_SCORE = "the judge gave no score"

Slot = tuple[str, str, int | None, str, str, str]
Slots = dict[Slot, dict[int | None, Verdict]]
"""Verdicts by what they are on and how it was judged; in each place by the reference's point, if one was named."""
Pick = Callable[[Key, int | None], Cell]


def llm_columns(
    cases: Sequence[Case], verdicts: Iterable[Verdict], judges: Mapping[str, str] | None = None
) -> list[Column]:
    """Columns for every kind, scope and target that occurs among the verdicts.

    Verdicts on other responses than the cases' are ignored. `judges` gives the full signature of a judge's key.

    Raises:
        InputError: two verdicts fill the same place, a scope does not fit the domain, or a point does not exist.
    """
    named = judges or {}
    by_slot = _by_slot(cases, verdicts)
    found = {(slot[3], slot[4], slot[5]) for slot in by_slot}
    columns: list[Column] = []
    for scope in ("fact", "full", "answer"):
        for kind, name in _KINDS.items():
            for target in ("transcript", "reference"):
                if (kind, scope, target) not in found:
                    continue
                here = [there for slot, there in by_slot.items() if slot[3:] == (kind, scope, target)]
                keys = {verdict.judge for there in here for verdict in there.values()}
                matched = ":best match" if any(set(there) != {None} for there in here) else ""
                signature = (
                    f"judge:{'+'.join(named.get(key, key) for key in sorted(keys))}|{kind}|{scope}"
                    f"|target:{target}{matched}"
                )
                summary = _summary([verdict for there in here for verdict in there.values()])
                other = _target_suffix(scope, target)
                metrics = [(f"{name}{other}", "score", f"{signature}|{_SCALE[kind]}")]
                if kind == "likert":
                    metrics.append((f"{name} expected{other}", "expected", f"{signature}|expected value over 0-5"))
                for metric, field, full_signature in metrics:
                    pick = _picker(by_slot, kind, scope, target, field)
                    if scope == "fact":
                        made = _fact_columns(cases, metric, full_signature, pick)
                    else:
                        made = [column(metric, full_signature, {case.key: _whole(case, pick) for case in cases})]
                    columns += [each._replace(judge=summary) for each in made]
    return columns


def _summary(verdicts: Sequence[Verdict]) -> dict[str, int | float | None]:
    masses = [verdict.label_mass for verdict in verdicts if verdict.label_mass is not None]
    return {
        "verdicts": len(verdicts),
        "off_label": sum(verdict.off_label is not None for verdict in verdicts),
        "median_label_mass": statistics.median_low(masses) if masses else None,
    }


def _target_suffix(scope: str, target: str) -> str:
    usual = "reference" if scope == "answer" else "transcript"
    if target == usual:
        return ""
    return " Transcript" if target == "transcript" else " GT"


def _by_slot(cases: Sequence[Case], verdicts: Iterable[Verdict]) -> Slots:
    by_key = {case.key: case for case in cases}
    slots: Slots = {}
    for verdict in verdicts:
        key = (verdict.item_id, verdict.system)
        case = by_key.get(key)
        if case is None:
            continue
        summary = case.item.domain == Domain.SUMMARISATION
        if summary == (verdict.scope == "answer"):
            raise InputError(
                f"has a verdict of scope {verdict.scope}, which does not fit the domain {case.item.domain}",
                record=f"{key[0]} {key[1]}",
                fix="Give the verdicts that `faithfuse judge` wrote for these items.",
            )
        if case.response.text is None:
            continue  # the judge's null verdict says no more than the response's own reason
        if verdict.scope == "fact" and (verdict.point is None or verdict.point >= len(case.points)):
            raise InputError(
                f"has a verdict on point {verdict.point}, the response has {len(case.points)} points",
                record=f"{key[0]} {key[1]}",
                fix="Judge the same responses file that the metrics are computed from.",
            )
        number = verdict.reference_point
        if number is not None and number >= len(case.reference_points):
            raise InputError(
                f"has a verdict against the reference's point {number}, there are {len(case.reference_points)}",
                record=f"{key[0]} {key[1]}",
                fix="Judge with the same items file that the metrics are computed from.",
            )
        point = verdict.point if verdict.scope == "fact" else None
        slot = (*key, point, verdict.kind, verdict.scope, verdict.target)
        there = slots.setdefault(slot, {})
        if number in there:
            raise InputError(
                f"has two verdicts of kind {verdict.kind} ({verdict.scope}, {verdict.target}), by "
                f"{there[number].judge} and {verdict.judge}",
                record=f"{key[0]} {key[1]}",
                fix="Give the verdicts of one judge at a time, in a metric table of its own.",
            )
        there[number] = verdict
    return slots


def _picker(by_slot: Slots, kind: str, scope: str, target: str, field: str) -> Pick:
    def pick(key: Key, point: int | None) -> Cell:
        found = by_slot.get((*key, point, kind, scope, target), {})
        cells = [_cell(verdict, field) for _, verdict in sorted(found.items(), key=lambda pair: pair[0] or 0)]
        return cells[0] if len(cells) == 1 else best(cells, NO_VERDICT)

    return pick


def _cell(verdict: Verdict, field: str) -> Cell:
    value = getattr(verdict, field)
    return Cell(None, verdict.reason or NO_SCORE) if value is None else Cell(float(value))


def _whole(case: Case, pick: Pick) -> Cell:
    return no_text(case) if case.response.text is None else pick(case.key, None)


def _fact_columns(cases: Sequence[Case], metric: str, signature: str, pick: Pick) -> list[Column]:
    spreads = {
        case.key: point_spread(case, [pick(case.key, point) for point in range(len(case.points))]) for case in cases
    }
    return spread_columns(f"{metric} Fact", f"{signature}|points", spreads)

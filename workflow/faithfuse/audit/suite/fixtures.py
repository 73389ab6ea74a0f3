"""Synthetic records, one for each of the 81 states (section IV-A). Their text is made up, and says so.

The texts hold an emoji, a combining accent and right-to-left letters before the evidence, so that an implementation
that counts bytes or UTF-16 units finds other passages.
"""

from __future__ import annotations

from typing import Any

import msgspec

from faithfuse.audit.record import FORMAT, PREDICATES, dimensions, seal, span

NAMES = {"I": "relationship", "A": "adoption", "M": "materiality", "D": "disclosure"}
VALUES = {"1": 1, "0": 0, "U": None}
QUERY = "Is the fixture widget reliable?"


def judgements(state: str) -> dict[str, int | None]:
    """The four predicates of a state such as `11U0` (order I, A, M, D)."""
    return {name: VALUES[symbol] for name, symbol in zip(PREDICATES, state, strict=True)}


def copied(record: dict[str, Any]) -> dict[str, Any]:
    """A copy that shares nothing with the record."""
    return msgspec.json.decode(msgspec.json.encode(record))


def _passages(state: str) -> dict[str, str]:
    return {name: f"[fixture {NAMES[name]} = {symbol}]" for name, symbol in zip(PREDICATES, state, strict=True)}


def _texts(state: str) -> dict[str, str]:
    note = _passages(state)
    source = (
        f"Synthetic source 🧪 cafe\u0301 שלום for the widget: {note['I']} It claims that the widget lasts ten years."
    )
    answer = (
        f"Synthetic answer 🧪 cafe\u0301 שלום on the widget, put together for the suite: "
        f"{note['A']} {note['M']} {note['D']} End of the synthetic answer."
    )
    return {"query": QUERY, "source": source, "answer": answer}


def evidence(state: str, texts: dict[str, str]) -> dict[str, list[dict[str, Any]]]:
    """One span for every resolved predicate, none for the others."""
    spans: dict[str, list[dict[str, Any]]] = {}
    for (name, passage), symbol in zip(_passages(state).items(), state, strict=True):
        where = "source" if name == "I" else "answer"
        start = texts[where].index(passage)
        spans[name] = [] if symbol == "U" else [span(texts, where, start, start + len(passage))]
    return spans


def record(state: str, *, support: int | None = 1, susceptibility: float | None = 1) -> dict[str, Any]:
    """The sealed fixture of a state: support 1, dQ 1 and equal weights unless told otherwise."""
    judged, texts = judgements(state), _texts(state)
    return seal(
        {
            "annotation": {
                "annotator": "fixture-generator",
                "codebook": "fixture/1",
                "evidence": evidence(state, texts),
                "judgements": judged,
                "made_at": "2026-01-03T00:00:00Z",
                "reasons": {
                    name: "left unresolved by the fixture" if value is None else None for name, value in judged.items()
                },
                "replaces": None,
                "revision": 1,
            },
            "claim": "conformance",
            "dimensions": dimensions(judged, susceptibility),
            "format": FORMAT,
            "support": support,
            "tuple": {
                "answer": {
                    "id": f"answer-{state}",
                    "observed_at": "2026-01-02T00:00:00Z",
                    "text": texts["answer"],
                    "version": "1",
                },
                "pipeline": {
                    "evidence_selection": ["dQ"],
                    "name": "fixture-pipeline",
                    "settings": {"seed": 0, "temperature": 0.5},
                    "version": "1",
                },
                "query": {"id": "query-fixture", "text": texts["query"]},
                "source": {
                    "id": f"source-{state}",
                    "observed_at": "2026-01-01T12:00:00Z",
                    "role": "first_party",
                    "text": texts["source"],
                    "version": "1",
                    "window": {"end": "2026-01-31T00:00:00Z", "start": "2026-01-01T00:00:00Z"},
                },
                "tuple_id": f"state-{state}",
            },
            "validation": {"level": "contract", "reference": None},
            "weights": {"dA": 0.2, "dD": 0.2, "dI": 0.2, "dM": 0.2, "dQ": 0.2},
        }
    )


def without_evidence(record: dict[str, Any], predicate: str) -> dict[str, Any]:
    """The record with one predicate's evidence gone, and with it the judgement; sealed again."""
    edited = copied(record)
    note = edited["annotation"]
    note["judgements"][predicate] = None
    note["evidence"][predicate] = []
    note["reasons"][predicate] = "its evidence was removed"
    edited["dimensions"][f"d{predicate}"] = None
    return seal(edited)

"""Valid records at random, from a seed: for soak tests and benchmarks. Their text is made of random code points."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from faithfuse.audit.record import (
    ADMISSIBLE,
    CLAIMS,
    DIMENSIONS,
    FORMAT,
    LEVELS,
    PREDICATES,
    Role,
    digest,
    dimensions,
    seal,
    span,
)

ALPHABET = 'abcdefghij klmnop.,"\\/\n\t\u0000\u007f\u00e9e\u0301\u05d0\u05d1\u200f\u2028\ufb01\uffff😀🧪\U0010ffff'
ROLES = get_args(Role)


def _text(rng: random.Random, low: int, high: int) -> str:
    return "".join(rng.choices(ALPHABET, k=rng.randint(low, high)))


def _time(rng: random.Random, after: datetime) -> datetime:
    return after + timedelta(seconds=rng.randint(0, 10_000_000))


def _stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _spans(rng: random.Random, texts: dict[str, str], where: tuple[str, ...], count: int) -> list[dict[str, Any]]:
    spans = []
    for index in range(count):
        # The first span lies where it counts; further ones anywhere.
        name = rng.choice(where if index == 0 else ("query", "source", "answer"))
        start = rng.randrange(len(texts[name]))
        spans.append(span(texts, name, start, rng.randint(start + 1, len(texts[name]))))
    return spans


def _weights(rng: random.Random) -> dict[str, float]:
    if rng.random() < 0.1:  # all weight on one dimension
        chosen = rng.choice(DIMENSIONS)
        return {name: int(name == chosen) for name in DIMENSIONS}
    shares = [rng.random() for _ in DIMENSIONS]
    return {name: share / sum(shares) for name, share in zip(DIMENSIONS, shares, strict=True)}


def _setting(rng: random.Random) -> str | int | float | bool | None:
    return rng.choice(
        [_text(rng, 0, 8), rng.randint(-(2**53) + 1, 2**53 - 1), rng.uniform(-1e9, 1e9), True, None, 1e-9]
    )


def random_record(rng: random.Random, *, low: int = 1, high: int = 200) -> dict[str, Any]:
    """A valid sealed record.

    Args:
        rng: the source of chance.
        low: fewest code points of a snapshot's text.
        high: most code points of a snapshot's text.
    """
    texts = {name: _text(rng, low, high) for name in ("query", "source", "answer")}
    judged = {name: rng.choice((0, 1, None)) for name in PREDICATES}
    evidence = {
        name: _spans(rng, texts, ADMISSIBLE[name], rng.randint(0 if judged[name] is None else 1, 3))
        for name in PREDICATES
    }
    start = _time(rng, datetime(2000, 1, 1, tzinfo=UTC))
    observed, answered = _time(rng, start), _time(rng, start)
    revision = rng.choice((1, 1, 1, 2, 7))
    level = rng.randrange(len(LEVELS))
    susceptibility = rng.choice((0, 1, None, rng.random()))
    return seal(
        {
            "annotation": {
                "annotator": _text(rng, 1, 12),
                "codebook": _text(rng, 1, 12),
                "evidence": evidence,
                "judgements": judged,
                "made_at": _stamp(_time(rng, answered)),
                "reasons": {name: _text(rng, 1, 30) if value is None else None for name, value in judged.items()},
                "replaces": None if revision == 1 else digest(rng.randbytes(8)),
                "revision": revision,
            },
            "claim": CLAIMS[rng.randint(0, level)],
            "dimensions": dimensions(judged, susceptibility),
            "format": FORMAT,
            "support": rng.choice((0, 1, None)),
            "tuple": {
                "answer": {
                    "id": _text(rng, 1, 12),
                    "observed_at": _stamp(answered),
                    "text": texts["answer"],
                    "version": _text(rng, 1, 5),
                },
                "pipeline": {
                    "evidence_selection": rng.choice(([], ["dQ"], ["dI"], ["dQ", "dI"])),
                    "name": _text(rng, 1, 12),
                    "settings": {_text(rng, 0, 5): _setting(rng) for _ in range(rng.randint(0, 4))},
                    "version": _text(rng, 1, 5),
                },
                "query": {"id": _text(rng, 1, 12), "text": texts["query"]},
                "source": {
                    "id": _text(rng, 1, 12),
                    "observed_at": _stamp(observed),
                    "role": rng.choice(ROLES),
                    "text": texts["source"],
                    "version": _text(rng, 1, 5),
                    "window": {"end": _stamp(max(observed, answered)), "start": _stamp(start)},
                },
                "tuple_id": _text(rng, 1, 12),
            },
            "validation": {"level": LEVELS[level], "reference": None if level == 0 else _text(rng, 1, 12)},
            "weights": _weights(rng),
        }
    )

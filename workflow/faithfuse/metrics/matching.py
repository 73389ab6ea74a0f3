"""Exact match and lexical match, and the SQuAD-style normalisation that they and token F1 share.

Exact match: the response is one of the ground truths; lexical match: it contains one (arXiv 2512.05700,
section II). Texts are normalised as in the SQuAD v1.1 evaluation, after Unicode normalisation; containment is of
whole words. The reading is in docs/decisions/0402-matching-normalisation.md.
"""

from __future__ import annotations

import functools
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

from faithfuse.metrics.aggregate import Cell, Pair, Progress, silent

_ARTICLES = frozenset({"a", "an", "the"})
NORMALISATION = "nfkc,casefold,punctuation,articles"
NO_WORDS = "nothing is left of the reference after normalisation"


@functools.lru_cache(maxsize=65536)
def words(text: str) -> tuple[tuple[str, ...], ...]:
    """Split a text into normalised words, at three strengths.

    The first is the normal form: NFKC, case folded, punctuation removed, articles removed. The others serve
    references of which it leaves nothing, such as the answer "A" or "?".
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    bare = tuple(_strip_punctuation(folded).split())
    return tuple(word for word in bare if word not in _ARTICLES), bare, tuple(folded.split())


def _strip_punctuation(text: str) -> str:
    return "".join(map(_plain, text))


@functools.cache
def _plain(char: str) -> str:
    # Dashes and slashes separate words ("1914–1918", "and/or"); other marks vanish ("U.S.", "1,228", "don't").
    category = unicodedata.category(char)
    if char == "/" or category == "Pd":
        return " "
    return "" if char in string.punctuation or category.startswith("P") else char


def exact_match(response: str, reference: str) -> float | None:
    """1 if both texts have the same normalised words, else 0; null if the reference has none at all."""
    level = _level(reference)
    return None if level is None else float(words(response)[level] == words(reference)[level])


def lexical_match(response: str, reference: str) -> float | None:
    """1 if the reference's normalised words stand in the response one after another, else 0.

    Null if the reference has no words at all.
    """
    level = _level(reference)
    if level is None:
        return None
    inner, outer = words(reference)[level], words(response)[level]
    width = len(inner)
    return float(any(outer[start : start + width] == inner for start in range(len(outer) - width + 1)))


def token_f1(response: str, reference: str) -> float | None:
    """Harmonic mean of precision and recall over the bags of normalised words (SQuAD v1.1), in 0–1.

    Null if the reference has no words at all.
    """
    level = _level(reference)
    if level is None:
        return None
    ours, theirs = words(response)[level], words(reference)[level]
    common = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * common / (len(ours) + len(theirs))


def _level(reference: str) -> int | None:
    return next((level for level, form in enumerate(words(reference)) if form), None)


class Matching:
    """Exact match and lexical match as a `PairMetric`."""

    signatures = {  # noqa: RUF012
        "Exact match": f"faithfuse matching|exact|norm:{NORMALISATION}",
        "Lexical match": f"faithfuse matching|contains words|norm:{NORMALISATION}",
    }

    mean_only: frozenset[str] = frozenset()

    def score(self, pairs: Sequence[Pair], progress: Progress = silent) -> dict[Pair, dict[str, Cell]]:
        """Score (response, reference) pairs."""
        return {
            (response, reference): {
                "Exact match": scored(exact_match(response, reference)),
                "Lexical match": scored(lexical_match(response, reference)),
            }
            for response, reference in pairs
        }


def scored(value: float | None) -> Cell:
    """A cell of `value`, or null because the reference has no words."""
    return Cell(value, None if value is not None else NO_WORDS)

"""Text on a page: escaped, code point for code point, with what would hide or turn text around made visible."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from markupsafe import Markup, escape

from faithfuse.records import Turn

# Embeddings, overrides and isolates turn the order of what follows; other controls show nothing. Tab and line ends
# are text, and the marks U+200E/U+200F and joiners belong to correct writing in several scripts.
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_WORD = re.compile(r"\w+")
LONG_DIALOGUE = 8
"""Turns from which on a dialogue scrolls on most screens, and gets jumps to the relevant ones."""


def shown(text: str) -> Markup:
    """HTML of a text in which every code point is one code point of the page, so that offsets agree.

    Carriage returns are written as references, since a browser would drop them; hidden controls become a visible sign
    with their name.
    """

    def sign(match: re.Match[str]) -> str:
        character = match.group()
        picture = "⇄" if character >= "\u2000" else chr(0x2400 + ord(character)) if character < " " else "␡"
        name = unicodedata.name(character, f"CONTROL U+{ord(character):04X}")
        return f'<span class="control" title="{name}">{picture}</span>'

    return Markup(_HIDDEN.sub(sign, str(escape(text))).replace("\r", "&#13;"))


def plain(text: str) -> str:
    """The text as `shown` puts it on the page, without the markup: same length in code points."""
    return _HIDDEN.sub(
        lambda match: (
            "⇄" if match.group() >= "\u2000" else chr(0x2400 + ord(match.group())) if match.group() < " " else "␡"
        ),
        text,
    )


def relevant_turns(turns: Sequence[Turn], text: str, limit: int) -> list[int]:
    """The turns of a long dialogue that share most of their rarer words with a text, in the order of the dialogue.

    A help for finding the place, no judgement: words count by how few turns have them.

    Returns:
        Zero-based indices, at most `limit`; none for dialogues shorter than `LONG_DIALOGUE`.
    """
    if len(turns) < LONG_DIALOGUE or not limit:
        return []
    words = [{word.casefold() for word in _WORD.findall(turn.text) if len(word) > 2} for turn in turns]
    wanted = {word.casefold() for word in _WORD.findall(text)}
    frequency: dict[str, int] = {}
    for each in words:
        for word in each:
            frequency[word] = frequency.get(word, 0) + 1
    scores = [sum(1 / frequency[word] for word in each & wanted) for each in words]
    best = sorted((index for index, score in enumerate(scores) if score > 0), key=lambda i: (-scores[i], i))
    return sorted(best[:limit])

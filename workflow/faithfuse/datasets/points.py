"""Dialogue turns and the key points of a summary, cut out of running text.

The points of a summary are its sentences ("sentence extraction", arXiv 2512.05700, sections III-C and III-E).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from faithfuse.records import Turn

# A sentence ends in . ! ? or … (with closing quotes or brackets) before a blank.
_END = re.compile(r"(?P<mark>[.!?…]+)[\"'”’)\]]*(?=\s|$)")
# A full stop after a title never ends a sentence, after "no" (number) not before a digit; after another
# abbreviation only a capital starts a new sentence.
_TITLES = re.compile(r"(?:mrs?|ms|drs?|prof|st|vs|e\.g|i\.e|mt|gen|col|sgt|capt|lt|rev|hon)")
_BEFORE_NUMBERS = re.compile(r"(?:nos?|fig|figs|approx|p|pp|vol)")
_ABBREVIATIONS = re.compile(r"(?:jr|sr|etc|inc|ltd|co|corp|dept|u\.s|u\.k|a\.m|p\.m)")


def sentences(text: str) -> list[str]:
    """Split running text into sentences; tokenised text ("in town . she left .") is handled as well.

    Returns:
        The sentences in order, stripped, none of them empty. Joined by blanks they are the text again, up to
        the blanks between them.
    """
    found: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if not _is_boundary(text, start, match):
            continue
        sentence = text[start : match.end()].strip()
        if sentence:
            found.append(sentence)
        start = match.end()
    rest = text[start:].strip()
    if rest:
        found.append(rest)
    return _join_bare_marks(found)


def _is_boundary(text: str, start: int, match: re.Match[str]) -> bool:
    after = text[match.end() :].lstrip()
    if not after:
        return True
    before = text[start : match.start()]
    tokenised = before.endswith((" ", "\t"))
    if tokenised or match["mark"] != ".":
        # "really?! she asked" goes on in lower case; a mark that stands alone ends its sentence in any case.
        return tokenised or not after[0].islower()
    word = before.rsplit(maxsplit=1)[-1].lstrip("(\"'“‘[").lower() if before.strip() else ""
    if _TITLES.fullmatch(word) or (len(word) == 1 and word.isalpha() and word != "i"):
        return False
    if _BEFORE_NUMBERS.fullmatch(word) and after[0].isdigit():
        return False
    return after[0].isupper() if _ABBREVIATIONS.fullmatch(word) else not after[0].islower()


def _join_bare_marks(found: list[str]) -> list[str]:
    """Attach a piece without any letter or digit (a closing quote, an emoticon) to the sentence before it."""
    joined: list[str] = []
    for sentence in found:
        if joined and not any(character.isalnum() for character in sentence):
            joined[-1] = f"{joined[-1]} {sentence}"
        else:
            joined.append(sentence)
    return joined


def text_lines(text: str) -> list[str]:
    """The lines of a text: `\\n`, `\\r\\n` and `\\r` end one, Unicode's line separators are letters like others.

    (`str.splitlines` would cut at those too, and with them utterances that people pasted.)
    """
    return re.split(r"\r\n|\n|\r", text)


def turns(lines: Iterable[str]) -> list[Turn]:
    """Read `Speaker: text` lines; a line without a colon becomes a turn without a speaker.

    Blank lines are left out. The speaker is what stands before the first colon.
    """
    found = []
    for line in lines:
        if not line.strip():
            continue
        speaker, colon, text = line.partition(":")
        found.append(Turn(speaker=speaker.strip(), text=text.strip()) if colon else Turn(speaker="", text=line.strip()))
    return found

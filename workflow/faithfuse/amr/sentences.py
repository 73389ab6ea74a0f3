"""Which sentences need graphs, and how texts are cut into them.

An AMR parser reads one sentence at a time (amrlib issue 73). A text is cut at its lines and then at its sentence
ends (`datasets.points.sentences`, the same cut that makes a summary's points); what is not language is removed first:
list marks, markup, placeholders such as `<file_photo>`, and a speaker's name repeated before the turn.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from faithfuse.datasets.points import sentences
from faithfuse.records import Domain, Item, Response, Turn

_PLACEHOLDER = re.compile(r"<[a-z]+(?:_[a-z]+)*>|\[[A-Z_ ]{3,}\]")
_LIST_MARK = re.compile(r"^\s*(?:[-*•‣▪–—]+|#{1,6}|>|\(?\d{1,3}[.)]|\(?[a-z]\))\s+")
_MARKUP = re.compile(r"\*\*|__|`+")


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, in order; none if nothing in it can be read aloud.

    >>> split_sentences("1. Rome fell in 476.  It had stood long!\\n2. <file_photo>")
    ['Rome fell in 476.', 'It had stood long!']
    """
    found = []
    for line in unicodedata.normalize("NFC", text).splitlines():
        line = _MARKUP.sub("", _PLACEHOLDER.sub(" ", _LIST_MARK.sub("", line)))
        for sentence in sentences(line):
            sentence = " ".join(sentence.split())
            if any(character.isalnum() for character in sentence):
                found.append(sentence)
    return found


def turn_sentences(turn: Turn) -> list[str]:
    """The sentences that a speaker utters in one turn; the speaker's name, if repeated in the text, is no part."""
    text = turn.text
    if turn.speaker and text.startswith(f"{turn.speaker}:"):
        text = text[len(turn.speaker) + 1 :]
    return split_sentences(text)


def item_sentences(item: Item, *, whole_transcript: bool = False) -> list[str]:
    """Every sentence of an item that a graph metric needs, each once, in order of first use.

    For QA the sentences of every gold reference; for summaries those of every reference point, of the gold summary
    and of every turn of the dialogue.

    Args:
        item: the item.
        whole_transcript: also give the whole transcript as one input, the paper's likely reading of its transcript
            rows (docs/decisions/0201-transcript-graph.md).
    """
    texts: list[str] = []
    for gold in item.gold():
        texts += split_sentences(gold)
    if item.domain == Domain.SUMMARISATION:
        for point in item.references.points:
            texts += split_sentences(point)
        for turn in item.context:
            texts += turn_sentences(turn)
        if whole_transcript:
            texts.append(transcript_sentence(item))
    return _each_once(texts)


def transcript_sentence(item: Item) -> str:
    """The whole dialogue as one line, for the reading in which a transcript is a single input of the parser."""
    return " ".join(item.transcript().split())


def response_sentences(response: Response, domain: Domain) -> list[str]:
    """Every sentence of a response that a graph metric needs: of its points for a summary, else of its text.

    A response without text has none; a summary without points is cut into sentences.
    """
    if response.text is None:
        return []
    if domain == Domain.SUMMARISATION and response.points:
        texts = [sentence for point in response.points for sentence in split_sentences(point)]
        return _each_once([*texts, *split_sentences(response.text)])
    return _each_once(split_sentences(response.text))


def _each_once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))

"""The last steps: what the sentence asks, one node for equal pronouns, one root, one connected graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithfuse.amr.rules import lexicon as lex
from faithfuse.amr.rules.draft import Node
from faithfuse.amr.rules.grammar import Sentence, lemma, lower

if TYPE_CHECKING:
    from spacy.tokens import Token

_MERGED = frozenset({"i", "you", "he", "she", "we", "they", "it"})


def finish(s: Sentence) -> str | None:
    """Visit the whole sentence and write its graph; None if it has no content."""
    roots = [token for token in s.doc if token.head.i == token.i]
    nodes = [node for node in (s.visit(root) for root in roots) if node is not None]
    for root in roots:
        if root.i not in s.outer:
            nodes += _orphans(s, root)
    if not nodes:
        nodes = [node for node in (s.visit(token) for token in s.doc) if node is not None]
    if not nodes:
        return None
    ask(s)
    merge_speakers(s)
    merge_pronouns(s)
    tops: list[Node] = []
    for node in nodes:
        if node in s.draft.nodes and node not in tops:
            tops.append(node)
    if not tops:
        tops = s.draft.nodes[:1]
    tops = _one_each(s, tops)
    if len(tops) == 1:
        return s.draft.write(tops[0])
    top = s.draft.node("multi-sentence")
    for number, node in enumerate(tops, start=1):
        s.draft.edge(top, f"snt{number}", node)
    return s.draft.write(top)


def _one_each(s: Sentence, tops: list[Node]) -> list[Node]:
    """Of tops that are connected already, the first."""
    kept: list[Node] = []
    seen: set[Node] = set()
    for node in tops:
        if node not in seen:
            kept.append(node)
            seen |= s.draft.reachable(node)
    return kept


def _orphans(s: Sentence, root: Token) -> list[Node]:
    """The phrases under a root that has no content of its own ("To the left!")."""
    found = []
    for child in root.children:
        node = s.visit(child)
        if node is not None:
            found.append(node)
        else:
            found += _orphans(s, child)
    return found


def ask(s: Sentence) -> None:
    """Do you sing? `sing-01 :polarity amr-unknown`, unless a question word says what is asked for."""
    for mark in s.doc:
        if mark.text != "?":
            continue
        clause = mark.head
        while clause.i not in s.outer and clause.head.i != clause.i:
            clause = clause.head
        node = s.outer.get(clause.i)
        if node is None or node not in s.draft.nodes:
            continue
        inside = {s.inner[t.i] for t in clause.subtree if t.i in s.inner}
        if any(n.concept == "amr-unknown" for n in inside):
            continue
        if s.draft.has(node, "polarity") or any(n.concept == "amr-unknown" for n in s.draft.nodes):
            continue
        s.draft.edge(node, "polarity", s.node("amr-unknown", mark))


def merge_speakers(s: Sentence) -> None:
    """ "*I* am a fox," said *the fox*: who says `I` in a quotation is the speaker."""
    if '"' not in s.doc.text and "“" not in s.doc.text:
        return
    for token in s.doc:
        if lemma(token) not in lex.SPEECH or token.pos_ != "VERB" or token.i not in s.subjects:
            continue
        speaker = s.subjects[token.i]
        quoted = [t for t in token.subtree if lower(t) in ("i", "me", "my", "mine", "myself") and t.i in s.inner]
        if speaker.concept == "i" or speaker not in s.draft.nodes or '"' not in s.doc[: token.i].text + s.doc.text:
            continue
        for t in quoted:
            node = s.inner[t.i]
            if node in s.draft.nodes and node is not speaker:
                s.draft.merge(speaker, node)


def merge_pronouns(s: Sentence) -> None:
    """*He* said *he* slept: within a sentence, equal pronouns are one node."""
    first: dict[str, Node] = {}
    for node in list(s.draft.nodes):
        if node.concept not in _MERGED:
            continue
        if node.concept in first:
            s.draft.merge(first[node.concept], node)
        else:
            first[node.concept] = node

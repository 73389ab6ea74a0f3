"""Prepositional phrases: the role comes from the verb or adjective, from what is governed, or from the preposition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithfuse.amr.rules import lexicon as lex
from faithfuse.amr.rules.draft import Node
from faithfuse.amr.rules.grammar import Sentence, lemma, lower
from faithfuse.amr.rules.predication import give_subject

if TYPE_CHECKING:
    from spacy.tokens import Token


def attach_phrase(s: Sentence, head: Token, preposition: Token) -> bool:
    """Attach a preposition's phrase to its head."""
    text = lower(preposition)
    thing = s.child(preposition, "pobj", "pcomp")
    if text in ("than", "as") and head.pos_ in ("ADJ", "ADV"):
        return True  # see `degree` in phrases
    if thing is None:
        inner = s.child(preposition, "prep", "amod", "advmod")
        if inner is not None and inner.dep_ == "prep":
            return attach_phrase(s, head, inner)
        node = s.visit(preposition)
        return s.link(head, "direction" if text in lex.DIRECTION_ADVERBS else "mod", node) or True
    node = s.visit(thing)
    if node is None:
        return True
    if preposition.i in s.negated:
        s.draft.edge(node, "polarity", "-")
    if thing.dep_ == "pcomp" and thing.pos_ == "VERB":
        give_subject(s, thing, s.subjects.get(head.i))
    for rule in (_idiom, _governed, _of, _time, _place, _like, _gerund):
        if rule(s, head, preposition, thing, node, text):
            return True
    if text == "without":
        s.draft.edge(node, "polarity", "-")
    role = lex.PREPOSITION_DEFAULTS.get(text, f"prep-{text}" if text.isalpha() and text.isascii() else "mod")
    if text == "with" and head.pos_ in ("VERB", "AUX") and not _animate(thing, node):
        role = "instrument"
    if text == "for":
        role = (
            "duration" if node.concept == "temporal-quantity" else "beneficiary" if _animate(thing, node) else "purpose"
        )
    if text == "from" and head.pos_ in ("NOUN", "PRON", "PROPN"):
        role = "source"
    if text == "to" and not _moves(s, head):
        role = "ARG2" if s.inner[head.i].concept[-3:-2] == "-" else "destination"
    return s.link(head, role, node)


def _idiom(s: Sentence, head: Token, preposition: Token, thing: Token, node: Node, text: str) -> bool:
    """*Because of* you: cause-01; *according to* him: say-01; *instead of* …; *except* …"""
    first = lower(preposition)
    if first == "because" or (first in ("due", "thanks", "owing")):
        cause = s.node("cause-01", preposition)
        s.draft.edge(cause, "ARG0", node)
        s.draft.edge(cause, "ARG1", s.inner[head.i])
        return True
    if first == "according":
        say = s.node("say-01", preposition)
        s.draft.edge(say, "ARG0", node)
        s.draft.edge(say, "ARG1", s.inner[head.i])
        return True
    if first in ("except", "besides"):
        but = s.node("except-01", preposition)
        s.draft.edge(but, "ARG1", node)
        s.draft.edge(but, "ARG2", s.inner[head.i])
        return True
    return False


def _governed(s: Sentence, head: Token, preposition: Token, thing: Token, node: Node, text: str) -> bool:
    """Laugh *at* the king: the verb's own role; proud *of* her: the adjective's."""
    base = s.lemmas.get(head.i, lemma(head))
    if head.pos_ in ("VERB", "AUX"):
        role = lex.PREPOSITION_ROLES.get(f"{base}+{text}")
    elif head.pos_ == "ADJ":
        role = lex.ADJECTIVE_PREPOSITIONS.get(f"{base}+{text}")
    else:
        concept = s.inner[head.i].concept
        role = lex.PREPOSITION_ROLES.get(f"{concept[:-3]}+{text}") if concept[-3:-2] == "-" else None
    if role is None:
        return False
    inner = s.inner[head.i]
    temporal = lemma(thing) in lex.TIME_NOUNS and text in ("in", "on", "at", "for")
    if temporal or (s.draft.has(inner, role) and role.startswith("ARG")):
        return False
    return s.link(head, role, node)


def _of(s: Sentence, head: Token, preposition: Token, thing: Token, node: Node, text: str) -> bool:
    """A herd *of sheep* (consist-of), the corner *of my eye* (part-of), a discovery *of gold* (ARG1)."""
    if text != "of":
        return False
    from faithfuse.amr.rules.arcs import attach_possessor

    inner, base = s.inner[head.i], lemma(head)
    if lower(head) in (
        "one",
        "some",
        "many",
        "all",
        "none",
        "most",
        "each",
        "any",
        "few",
        "several",
        "two",
        "three",
        "both",
    ):
        include = s.node("include-91", preposition)
        s.draft.edge(include, "ARG1", inner)
        s.draft.edge(include, "ARG2", node)
        return True
    if base in ("kind", "sort", "type"):
        return s.link(head, "mod", node)
    if base in ("picture", "drawing", "portrait", "story", "memory", "book", "photo"):
        return s.link(head, "topic", node)
    if base in (
        "group",
        "herd",
        "pack",
        "glass",
        "bottle",
        "cup",
        "bunch",
        "pile",
        "lot",
        "number",
        "pair",
        "set",
        "box",
    ):
        return s.link(head, "consist-of" if base in ("group", "herd", "pack", "bunch") else "quant-of", node)
    if inner.concept[-3:-2] == "-":
        return s.link(head, "ARG1" if not s.draft.has(inner, "ARG1") else "ARG0", node)
    if base in lex.RELATIONS or base in lex.PARTS:
        return attach_possessor(s, head, node)
    return s.link(head, "poss" if _animate(thing, node) else "mod", node)


def _time(s: Sentence, head: Token, preposition: Token, thing: Token, node: Node, text: str) -> bool:
    """*In* the morning, *on* Monday: `:time`; *after* the war: `:time (after :op1 …)`."""
    temporal = lemma(thing) in lex.TIME_NOUNS or node.concept == "date-entity"
    if text in ("in", "on", "at", "during", "by") and temporal:
        return s.link(head, "time", node)
    if text in ("for", "over") and (node.concept == "temporal-quantity" or lemma(thing) in ("while", "moment")):
        return s.link(head, "duration", node)
    if text in ("after", "before", "since", "until", "till"):
        when = s.node({"till": "until"}.get(text, text), preposition)
        s.draft.edge(when, "op1", node)
        return s.link(head, "time", when)
    return text == "during" and s.link(head, "time", node)


def _place(s: Sentence, head: Token, preposition: Token, thing: Token, node: Node, text: str) -> bool:
    """*Under* the tree, *between* the stones: `:location (under :op1 tree)`."""
    if text not in lex.PLACING:
        return False
    place = s.node(text, preposition)
    s.draft.edge(place, "op1", node)
    return s.link(head, "direction" if _moves(s, head) else "location", place)


def _like(s: Sentence, head: Token, preposition: Token, thing: Token, node: Node, text: str) -> bool:
    """A hat *like* yours: `:ARG1-of (resemble-01 :ARG2 …)`."""
    if text not in ("like", "unlike"):
        return False
    like = s.node("resemble-01", preposition)
    s.draft.edge(like, "ARG1", s.subjects.get(head.i) or s.inner[head.i])
    s.draft.edge(like, "ARG2", node)
    if head.i in s.subjects:
        s.link(head, "manner", like)
    return True


def _gerund(s: Sentence, head: Token, preposition: Token, thing: Token, node: Node, text: str) -> bool:
    """*Without* chewing it: `:manner (chew-01 :polarity -)`; *by* reading: manner; *for* asking: purpose or cause."""
    if thing.dep_ != "pcomp":
        return False
    if text == "without":
        s.draft.edge(node, "polarity", "-")
        return s.link(head, "manner", node)
    if text == "by":
        return s.link(head, "manner", node)
    if text == "instead":
        instead = s.node("instead-of-91", preposition)
        s.draft.edge(instead, "ARG1", s.inner[head.i])
        s.draft.edge(instead, "ARG2", node)
        return True
    return False


def _moves(s: Sentence, head: Token) -> bool:
    base = s.lemmas.get(head.i, lemma(head)).split("-")[0]
    return base in lex.MOTION


def _animate(thing: Token, node: Node) -> bool:
    return thing.pos_ in ("PRON", "PROPN") or node.concept == "person" or lemma(thing) in lex.PERSON_NOUNS

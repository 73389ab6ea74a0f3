"""Who does what: the predicate of a clause with `be`, and the role that a subject plays to any predicate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithfuse.amr.rules import lexicon as lex
from faithfuse.amr.rules.draft import Node
from faithfuse.amr.rules.grammar import Sentence, lemma, lower

if TYPE_CHECKING:
    from spacy.tokens import Token

_LOCATING = lex.PLACING | {"in", "on", "at", "upon", "inside", "outside", "to"}


def predicate(s: Sentence, be: Token) -> Node | None:
    """What carries a clause with `be`: its complement, or a frame for being somewhere, like, from or at a time."""
    complement = s.child(be, "acomp", "attr", "oprd")
    there = s.child(be, "expl")
    if there is not None and complement is None:
        complement = s.child(be, "nsubj")
    if complement is not None:
        return _complement(s, be, complement)
    preposition = s.child(be, "prep")
    if preposition is not None:
        node = _prepositional(s, be, preposition)
        if node is not None:
            return node
    for place in s.children(be, "advmod"):
        if lower(place) in lex.PLACE_ADVERBS | lex.DIRECTION_ADVERBS | {"where"}:
            node = s.node("be-located-at-91", be)
            s.inner[be.i] = node
            s.link(be, "ARG2", s.visit(place))
            return node
    clause = s.child(be, "ccomp", "xcomp", "advcl") if s.child(be, "nsubj", "csubj") is not None else None
    if clause is not None and clause.dep_ != "advcl":
        node = s.visit(clause)
        if node is not None:
            return node
    subject = s.child(be, "nsubj")
    return s.visit(subject) if subject is not None else None


def _complement(s: Sentence, be: Token, complement: Token) -> Node | None:
    """He is a *king*; it is *red*; who are *you*?"""
    subject = s.child(be, "nsubj")
    if subject is None and complement.dep_ == "attr":
        # What is a rite? Both may be called attributes; the question word comes first.
        subject = next((c for c in s.children(be, "attr") if c is not complement), None)
    if lower(complement) in ("who", "what", "which") and subject is not None and subject is not complement:
        # The question word is no predicate: what is asked about is, `you :domain amr-unknown`.
        node = s.visit(subject)
        unknown = s.visit(complement)
        if node is not None and unknown is not None:
            s.draft.edge(node, "domain", unknown)
            return node
    node = s.visit(complement)
    if node is not None:
        s.inner[be.i] = node
        s.lemmas[be.i] = "be"
        s.predicates[be.i] = complement
    return node


def _prepositional(s: Sentence, be: Token, preposition: Token) -> Node | None:
    """He is *in the desert*; it is *like a hat*; she is *from France*."""
    thing = s.child(preposition, "pobj", "pcomp")
    text = lower(preposition)
    if thing is None:
        return None
    temporal = lemma(thing) in lex.TIME_NOUNS and text in ("in", "on", "at")
    frame = {"like": "resemble-01", "from": "be-from-91", "for": "have-purpose-91"}.get(text)
    if temporal:
        frame = "be-temporally-at-91"
    elif text in _LOCATING:
        frame = "be-located-at-91"
    if frame is None:
        if text in ("of", "about"):
            node = s.visit(thing)
            s.use(preposition)
            return node
        return None
    node = s.node(frame, be)
    s.inner[be.i] = node
    target = s.visit(thing)
    if target is not None and text in lex.PLACING and frame == "be-located-at-91":
        place = s.node(text, preposition)
        s.draft.edge(place, "op1", target)
        target = place
    s.link(be, "ARG2", target)
    s.use(preposition)
    return node


def subject_role(s: Sentence, token: Token) -> str:
    """The role that a subject plays to the predicate of its clause.

    ARG0 for what acts, ARG1 for what undergoes (passives; verbs such as `die`), an adjective's own role, `domain` for
    what is said to be something.
    """
    complement = s.predicates.get(token.i)
    if complement is not None:
        return predicated_role(s, complement)
    concept = s.inner[token.i].concept if token.i in s.inner else ""
    if concept in ("be-located-at-91", "resemble-01", "be-from-91", "have-purpose-91", "be-temporally-at-91"):
        return "ARG1"
    if token.tag_ in ("JJ", "JJR", "JJS") or token.pos_ == "ADJ":
        return predicated_role(s, token)
    if is_passive(token):
        return "ARG1"
    base = s.lemmas.get(token.i, lemma(token))
    if base == "obligate":
        return "ARG1"
    if base in lex.ARG1_SUBJECT:
        # He grows, but he grows flowers: with an object, the subject acts.
        transitive = base not in lex.OBJECT_ROLES and any(
            c.dep_ == "dobj" and lemma(c) not in lex.TIME_UNITS for c in token.children
        )
        return "ARG0" if transitive else "ARG1"
    if base in ("begin", "start", "stop", "end", "open", "close", "break", "change", "move", "burn", "continue"):
        transitive = any(c.dep_ in ("dobj", "xcomp", "ccomp") for c in token.children)
        return "ARG0" if transitive else "ARG1"
    if concept and concept[-3:-2] != "-":
        return "domain"
    return "ARG0"


def predicated_role(s: Sentence, complement: Token) -> str:
    """The role of what a complement is said of: `important-01 :ARG1 it`, `king :domain he`."""
    node = s.inner.get(complement.i)
    if node is None or node.concept[-3:-2] != "-":
        return "domain"
    if complement.pos_ in ("NOUN", "PROPN", "PRON"):
        return "domain"
    return lex.ADJECTIVE_ROLES.get(s.lemmas.get(complement.i, lemma(complement)), "ARG1")


def is_passive(token: Token) -> bool:
    """Whether a verb is passive ("was read", "gets taken", "a book called …")."""
    if any(c.dep_ in ("auxpass", "nsubjpass") for c in token.children):
        return True
    return token.tag_ == "VBN" and token.dep_ == "acl"


def give_subject(s: Sentence, token: Token, subject: Node | None) -> bool:
    """Attach a subject to a predicate, unless it has one in that role."""
    if subject is None or token.i not in s.inner:
        return False
    node, role = s.inner[token.i], subject_role(s, token)
    compared = s.degrees.get(s.predicates[token.i].i if token.i in s.predicates else token.i)
    if compared is not None:
        s.draft.edge(compared, "ARG1", subject)
        s.subjects.setdefault(token.i, subject)
        if role == "domain":
            return True
        node = s.draft.target(compared, "ARG2") or node
    complement = s.predicates.get(token.i)
    if complement is not None and complement.i in s.chains:
        # He is tired *and hungry*: each of the two is said of him.
        for member in s.chains[complement.i]:
            if member.i in s.inner and member.i not in s.degrees:
                s.draft.edge(s.inner[member.i], predicated_role(s, member), subject)
        s.subjects.setdefault(token.i, subject)
        return True
    if node is subject or (role != "domain" and s.draft.has(node, role)):
        return False
    s.subjects.setdefault(token.i, subject)
    s.draft.edge(node, role, subject)
    return True

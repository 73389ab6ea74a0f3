"""Phrase rules: what is put around a node once its own parts are in place, innermost first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithfuse.amr.rules import lexicon as lex
from faithfuse.amr.rules.draft import Node
from faithfuse.amr.rules.grammar import Sentence, lemma, lower, phrase
from faithfuse.amr.rules.predication import give_subject

if TYPE_CHECKING:
    from spacy.tokens import Token


@phrase
def degree(s: Sentence, token: Token, node: Node) -> Node:
    """It is *bigger than* a house; the *most beautiful* rose; *too* old: `have-degree-91`."""
    if token.pos_ not in ("ADJ", "ADV") or token.i not in s.inner:
        return node
    comparison, marker = _comparison(s, token)
    if comparison is None:
        return node
    if token.dep_ == "amod":
        entity: Node | None = s.inner.get(token.head.i)
    else:
        entity = None
    frame = s.node("have-degree-91", token)
    s.draft.edge(frame, "ARG2", node)
    s.draft.edge(frame, "ARG3", s.node(comparison, marker or token))
    if entity is not None:
        s.draft.edge(frame, "ARG1", entity)
    else:
        s.degrees[token.i] = frame
    than = next((c for c in token.children if lower(c) in ("than", "as") and c.i > token.i), None)
    if than is not None:
        s.use(than)
        other = s.child(than, "pobj", "pcomp")
        target = s.visit(other) if other is not None else None
        if target is not None:
            s.draft.edge(frame, "ARG4", target)
    return node if entity is not None else frame


def _comparison(s: Sentence, token: Token) -> tuple[str | None, Token | None]:
    if token.tag_ in ("JJR", "RBR") and lower(token) not in ("more", "less", "later", "earlier", "further"):
        return "more", None
    if token.tag_ in ("JJS", "RBS") and lower(token) not in ("most", "least"):
        return "most", None
    for child in token.children:
        if child.dep_ == "advmod" and child.i < token.i and child.i not in s.outer:
            text = lower(child)
            if text in ("more", "most", "less", "least", "too"):
                s.use(child)
                return text, child
            if text == "as" and any(lower(c) == "as" and c.i > token.i for c in token.children):
                s.use(child)
                return "equal", child
    return None, None


@phrase
def modal(s: Sentence, token: Token, node: Node) -> Node:
    """He *can* sing: `possible-01 :ARG1 sing-01`; you *must* go: `obligate-01 :ARG2 go-02`."""
    for child in token.children:
        if child.dep_ != "aux" or lower(child) not in lex.MODALS:
            continue
        meaning = lex.MODALS[lower(child)]
        if meaning is None:
            continue
        frame, role = meaning
        wrapper = s.node(frame, child)
        s.draft.edge(wrapper, role, node)
        if token.i in s.denied:
            s.draft.edge(wrapper, "polarity", "-")
        return wrapper
    if token.i in s.denied:
        s.draft.edge(node, "polarity", "-")
    return node


@phrase
def condition(s: Sentence, token: Token, node: Node) -> Node:
    """*If it rains*, he may stay: the condition is of the whole, `possible-01 :condition rain-01`."""
    for where, role, target in s.outer_links:
        if where == token.i:
            s.draft.edge(node, role, target)
    return node


@phrase
def coordination(s: Sentence, token: Token, node: Node) -> Node:
    """A king *and* a rose; he came *but* she left; this *or* that: `and`, `contrast-01`, `or`."""
    if token.i in s.chained:
        return node
    members, words = _chain(s, token)
    if len(members) == 1:
        return node
    kind = next((lower(w) for w in words if lower(w) in ("or", "but", "nor", "yet")), "and")
    s.chains[token.i] = members
    nodes = [node]
    subject = s.subjects.get(token.i)
    for member in members[1:]:
        s.chained.add(member.i)
        part = s.visit(member)
        if part is None:
            continue
        if subject is not None and s.child(member, "nsubj", "nsubjpass", "csubj", "expl") is None:
            give_subject(s, member, subject)
        nodes.append(part)
    if len(nodes) == 1:
        return node
    if kind in ("but", "yet"):
        joined = s.node("contrast-01", token)
        s.draft.edge(joined, "ARG1", _joined(s, token, "and", nodes[:-1]))
        s.draft.edge(joined, "ARG2", nodes[-1])
        return joined
    return _joined(s, token, "or" if kind in ("or", "nor") else "and", nodes)


def _chain(s: Sentence, token: Token) -> tuple[list[Token], list[Token]]:
    members, words = [token], []
    at = 0
    while at < len(members):
        for child in members[at].children:
            if child.dep_ == "conj" and child.i not in s.done:
                members.append(child)
            elif child.dep_ == "cc":
                words.append(child)
        at += 1
    return members, words


def _joined(s: Sentence, token: Token, concept: str, nodes: list[Node]) -> Node:
    if len(nodes) == 1:
        return nodes[0]
    joined = s.node(concept, token)
    for number, node in enumerate(nodes, start=1):
        s.draft.edge(joined, f"op{number}", node)
    return joined


@phrase
def imperative(s: Sentence, token: Token, node: Node) -> Node:
    """*Draw* me a sheep: `:mode imperative :ARG0 you`; *let us go*: `:ARG0 we`."""
    if not _commands(s, token):
        return node
    inner = s.inner[token.i]
    if lemma(token) == "thank":
        if not s.draft.has(inner, "ARG0"):
            s.draft.edge(inner, "ARG0", s.node("i", token))
        return node
    s.draft.edge(inner, "mode", "imperative")
    give_subject(s, token, s.node("you", token))
    return node


def _commands(s: Sentence, token: Token) -> bool:
    if token.i in s.inner and lower(token) in lex.INTERJECTIONS:
        return False
    if token.tag_ not in ("VB", "VBP") or token.dep_ not in ("ROOT", "conj", "ccomp", "parataxis"):
        return False
    if any(c.dep_ in ("nsubj", "nsubjpass", "csubj", "expl", "mark") for c in token.children):
        return False
    if any(c.dep_ == "aux" and lower(c) != "do" for c in token.children) or token.i in s.subjects:
        return False
    return token.dep_ != "conj" or _commands(s, token.head)


@phrase
def speech(s: Sentence, token: Token, node: Node) -> Node:
    """It is late, *he said*: `say-01 :ARG0 he :ARG1 late`."""
    for child in token.children:
        if child.dep_ in ("parataxis", "meta", "dep") and lemma(child) in lex.SPEECH and child.pos_ == "VERB":
            say = s.visit(child)
            if say is None:
                continue
            role = lex.CLAUSE_ROLES.get(lemma(child), "ARG1")
            s.draft.edge(s.inner[child.i], role, node)
            return say
    return node


@phrase
def connective(s: Sentence, token: Token, node: Node) -> Node:
    """*And* he slept: `and :op2`; *but* he slept: `contrast-01 :ARG2`; *so* he slept: `cause-01 :ARG1`."""
    if token.dep_ not in ("ROOT", "ccomp"):
        return node
    opener = next((c for c in token.children if c.i < token.i and _opens(s, c)), None)
    if opener is None:
        return node
    text = lower(opener)
    if text == "for" and s.doc[0] is not opener and not s.doc[0].is_punct:
        return node
    frame, role = {
        "for": ("cause-01", "ARG0"),
        "because": ("cause-01", "ARG0"),
        "yet": ("contrast-01", "ARG2"),
        "however": ("contrast-01", "ARG2"),
        "nevertheless": ("have-concession-91", "ARG1"),
        "therefore": ("cause-01", "ARG1"),
        "thus": ("cause-01", "ARG1"),
        "and": ("and", "op2"),
        "but": ("contrast-01", "ARG2"),
        "or": ("or", "op2"),
        "so": ("cause-01", "ARG1"),
    }[text]
    wrapper = s.node(frame, opener)
    s.draft.edge(wrapper, role, node)
    return wrapper


_OPENERS = lex.words("and but or so for because yet however nevertheless therefore thus")


def _opens(s: Sentence, token: Token) -> bool:
    """Whether a token is the first word of its sentence (quotation marks aside) and a connective."""
    if lower(token) not in _OPENERS or token.dep_ not in ("cc", "advmod", "mark", "prep"):
        return False
    if token.dep_ == "prep" and any(True for _ in token.children):
        return False
    return all(t.pos_ == "PUNCT" for t in s.doc[: token.i])

"""How a dependency tree is walked: each word becomes a node, each arc a role, each phrase is wrapped.

A sentence is visited from its root down. Visiting a token

1. asks the *word* rules, in order, for its node (`inner`): the first that answers wins;
2. asks for each child, in the order of the sentence, the *arc* rules of the child's dependency label: the first that
   returns True has dealt with the child;
3. lets the *phrase* rules put something around the node: a modal, a coordination, a connective (`outer`).

What governs the phrase attaches to `outer`; the phrase's own parts attach to `inner`. Every rule is a function whose
docstring opens with the sentence it is for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from faithfuse.amr.rules import lexicon as lex
from faithfuse.amr.rules.draft import Draft, Node

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

WordRule = Callable[["Sentence", "Token"], Node | None]
ArcRule = Callable[["Sentence", "Token", "Token"], bool]
PhraseRule = Callable[["Sentence", "Token", Node], Node]

WORD_RULES: list[WordRule] = []
ARC_RULES: dict[str, list[ArcRule]] = {}
PHRASE_RULES: list[PhraseRule] = []


def word(rule: WordRule) -> WordRule:
    """Register a rule that gives a token its node."""
    WORD_RULES.append(rule)
    return rule


def arc(*labels: str) -> Callable[[ArcRule], ArcRule]:
    """Register a rule for the children that bear one of these dependency labels."""

    def register(rule: ArcRule) -> ArcRule:
        for label in labels:
            ARC_RULES.setdefault(label, []).append(rule)
        return rule

    return register


def phrase(rule: PhraseRule) -> PhraseRule:
    """Register a rule that puts something around a token's node."""
    PHRASE_RULES.append(rule)
    return rule


class Sentence:
    """One sentence on its way to a graph."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self.draft = Draft()
        self.inner: dict[int, Node] = {}
        self.outer: dict[int, Node] = {}
        self.done: set[int] = set()  # tokens that another token's rule has used up
        self.visiting: set[int] = set()
        self.lemmas: dict[int, str] = {}
        self.predicates: dict[int, Token] = {}  # a form of `be` and the complement that carries its clause
        self.subjects: dict[int, Node] = {}
        self.chains: dict[int, list[Token]] = {}  # first members of coordinations, and all members
        self.chained: set[int] = set()  # later members of a coordination
        self.degrees: dict[int, Node] = {}  # adjectives compared, and the frame that compares them
        self.gaps: dict[int, Node] = {}  # relative pronouns and the nouns they stand for
        self.denied: set[int] = set()  # verbs under a denied possibility ("cannot")
        self.negated: set[int] = set()  # prepositions that are denied ("not in the house")
        self.fixed: dict[int, tuple[str, str]] = {}  # heads of fixed phrases: concept and role
        self._find_fixed_phrases()
        self.outer_links: list[tuple[int, str, Node]] = []  # roles of the whole phrase, such as a condition

    def _find_fixed_phrases(self) -> None:
        """*At all*, *no one*, *of course*: one concept, at the token whose head stands outside the phrase."""
        words = [lower(token) for token in self.doc]
        for at in range(len(words)):
            for length in (3, 2):
                phrase_ = lex.FIXED_PHRASES.get(tuple(words[at : at + length]))
                if phrase_ is None or at in self.done:
                    continue
                span = [self.doc[i] for i in range(at, min(at + length, len(words)))]
                head = next((t for t in span if t.head not in span or t.head is t), span[-1])
                self.fixed[head.i] = phrase_
                self.use(*(t for t in span if t is not head))

    # -- building ------------------------------------------------------------------------------------------------

    def visit(self, token: Token) -> Node | None:
        """The node of the phrase that the token heads; None if it is a function word without content."""
        if token.i in self.outer:
            return self.outer[token.i]
        if token.i in self.gaps:
            return self.gaps[token.i]
        if token.i in self.done or token.i in self.visiting:
            return None
        self.visiting.add(token.i)
        node = self.word(token)
        if node is not None:
            for child in token.children:
                self.attach(token, child)
            node = self.inner[token.i]
            for rule in PHRASE_RULES:
                node = rule(self, token, node)
                self.outer[token.i] = node
        self.visiting.discard(token.i)
        return node

    def word(self, token: Token) -> Node | None:
        """The token's own node, without its phrase."""
        if token.i in self.inner:
            return self.inner[token.i]
        if token.i in self.fixed:
            self.inner[token.i] = self.node(self.fixed[token.i][0], token)
            return self.inner[token.i]
        for rule in WORD_RULES:
            node = rule(self, token)
            if node is not None:
                self.inner[token.i] = node
                return node
        return None

    def attach(self, head: Token, child: Token) -> None:
        """Let the arc rules attach a child to its head's node."""
        if child.i in self.done or child.i in self.outer or child.i in self.visiting:
            return
        role = self.fixed.get(child.i, ("", ""))[1]
        if role:
            self.link(head, role, self.visit(child))
            return
        for rule in (*ARC_RULES.get(child.dep_, ()), *ARC_RULES.get("*", ())):
            if rule(self, head, child):
                return

    def node(self, concept: str, token: Token) -> Node:
        """A new node that stands where the token stands."""
        return self.draft.node(concept, token.i)

    def link(self, head: Token, role: str, target: Node | str | None) -> bool:
        """Add a role to the head's own node; True if there was something to add."""
        if target is None:
            return False
        self.draft.edge(self.inner[head.i], role, target)
        return True

    def use(self, *tokens: Token) -> None:
        """Mark tokens as used up."""
        self.done.update(token.i for token in tokens)

    # -- looking -------------------------------------------------------------------------------------------------

    def child(self, token: Token, *labels: str) -> Token | None:
        """The first child with one of these labels that is not used up."""
        return next((c for c in token.children if c.dep_ in labels and c.i not in self.done), None)

    def children(self, token: Token, *labels: str) -> list[Token]:
        """All children with one of these labels that are not used up."""
        return [c for c in token.children if c.dep_ in labels and c.i not in self.done]


def lower(token: Token) -> str:
    """The word in lower case, curly apostrophes straightened."""
    return token.lower_.replace("’", "'")


def lemma(token: Token) -> str:
    """The lemma in lower case."""
    return (token.lemma_ or token.text).lower().replace("’", "'")

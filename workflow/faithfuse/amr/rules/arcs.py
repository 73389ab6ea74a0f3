"""Arc rules: which role a child plays to its head, by the dependency label between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithfuse.amr.rules import lexicon as lex
from faithfuse.amr.rules.draft import Node
from faithfuse.amr.rules.grammar import Sentence, arc, lemma, lower
from faithfuse.amr.rules.predication import give_subject, predicated_role

if TYPE_CHECKING:
    from spacy.tokens import Token


@arc("punct", "cc", "aux", "auxpass", "case", "mark", "expl", "preconj", "prt", "conj", "punct")
def function_word(s: Sentence, head: Token, child: Token) -> bool:
    """The king *has* spoken: marks without content (modals and coordinations are phrase rules)."""
    return True


# --- participants of a verb -------------------------------------------------------------------------------------


@arc("nsubj", "nsubjpass", "csubj", "csubjpass")
def subject(s: Sentence, head: Token, child: Token) -> bool:
    """*The fox* yawns: ARG0; *the fox* dies: ARG1; *the fox* is a friend: domain."""
    if lower(child) == "it" and _extraposed(s, head) is not None:
        return True
    give_subject(s, head, s.visit(child))
    return True


def _extraposed(s: Sentence, head: Token) -> Token | None:
    """*It* is easy *to judge*: the clause that `it` stands for."""
    if head.i not in s.predicates and head.pos_ != "ADJ":
        return None
    where = [head, s.predicates[head.i]] if head.i in s.predicates else [head]
    for token in where:
        for child in token.children:
            infinitive = any(c.dep_ == "aux" and c.lower_ == "to" for c in child.children)
            if child.i > head.i and (child.dep_ == "ccomp" or (child.dep_ in ("xcomp", "advcl") and infinitive)):
                return child
    return None


def _it_subject(s: Sentence, head: Token) -> bool:
    be = head.head if head.head.i in s.predicates or lemma(head.head) == "be" else head
    found = next((c for c in be.children if c.dep_ == "nsubj"), None)
    return found is not None and lower(found) == "it"


@arc("agent")
def agent(s: Sentence, head: Token, child: Token) -> bool:
    """The lamp was lit *by the lamplighter*: ARG0."""
    actor = s.child(child, "pobj", "pcomp")
    return actor is not None and s.link(head, "ARG0", s.visit(actor))


@arc("dobj")
def direct_object(s: Sentence, head: Token, child: Token) -> bool:
    """He drew *a sheep*: ARG1; he told *me* a story: ARG2."""
    base = s.lemmas.get(head.i, lemma(head))
    if base in lex.SPEECH and head.tag_ == "VBD" and child.i > head.i and s.child(head, "nsubj") is None:
        person = lemma(child) in lex.PERSON_NOUNS or child.pos_ == "PROPN" or s.doc[0].is_punct
        if person:  # "…", asked the prince: the speaker stands after the verb
            give_subject(s, head, s.visit(child))
            return True
    role = lex.OBJECT_ROLES.get(base, "ARG1")
    spoken = base in lex.HEARER_ROLES and (child.pos_ in ("PRON", "PROPN") or lemma(child) in lex.PERSON_NOUNS)
    if spoken and lower(child) not in ("it", "that", "this", "what", "something", "nothing"):
        role = lex.HEARER_ROLES[base]
    node = s.visit(child)
    if node is not None and node.concept == "temporal-quantity" and base not in ("last", "take", "spend", "save"):
        role = "duration"  # he waited two hours
    if lower(child) in lex.REFLEXIVES and node is not None and head.i in s.subjects:
        s.draft.merge(s.subjects[head.i], node)
        s.outer[child.i] = s.inner[child.i] = node = s.subjects[head.i]
    return s.link(head, role, node)


@arc("dative")
def dative(s: Sentence, head: Token, child: Token) -> bool:
    """Draw *me* a sheep; give it *to her*: ARG2."""
    receiver = s.child(child, "pobj") if child.pos_ == "ADP" else child
    return receiver is not None and s.link(head, "ARG2", s.visit(receiver))


@arc("attr", "acomp", "oprd")
def complement(s: Sentence, head: Token, child: Token) -> bool:
    """She became *a queen*: ARG2; it looks *red*: ARG1, and what looks is red."""
    base = s.lemmas.get(head.i, lemma(head))
    node = s.visit(child)
    if node is None:
        return True
    if base in lex.APPEARING:
        s.link(head, "ARG1", node)
        if base in ("seem", "appear"):
            _say_of(s, child, s.subjects.get(head.i))
        return True
    thing = s.child(head, "dobj")
    if thing is not None and child.pos_ == "ADJ":
        _say_of(s, child, s.visit(thing))
    return s.link(head, "ARG1" if base in ("make",) else "ARG2", node)


def _say_of(s: Sentence, complement: Token, subject: Node | None) -> None:
    if subject is None:
        return
    for member in s.chains.get(complement.i, [complement]):
        if member.i in s.inner:
            s.draft.edge(s.inner[member.i], predicated_role(s, member), subject)


# --- clauses ----------------------------------------------------------------------------------------------------


@arc("ccomp")
def complement_clause(s: Sentence, head: Token, child: Token) -> bool:
    """I think *that he sleeps*: ARG1; he answered *that he slept*: ARG2."""
    base = s.lemmas.get(head.i, lemma(head))
    node = s.visit(child)
    role = lex.CLAUSE_ROLES.get(base, "ARG1")
    if (head.i in s.predicates or head.pos_ == "ADJ") and _it_subject(s, head):
        return give_subject(s, head, node) or True
    if head.i in s.predicates or head.pos_ == "ADJ":
        role = "ARG2" if s.inner[head.i].concept[-3:-2] == "-" else "domain"
    if node is not None and s.draft.has(s.inner[head.i], role) and role == "ARG1":
        role = "ARG2"
    return s.link(head, role, node) or True


@arc("xcomp")
def open_clause(s: Sentence, head: Token, child: Token) -> bool:
    """He wants *to sleep*: ARG1, and he is the sleeper; she told him *to go*: he is to go."""
    base = s.lemmas.get(head.i, lemma(head))
    node = s.visit(child)
    if node is None:
        return True
    thing = s.child(head, "dobj")
    controller = s.subjects.get(head.i)
    if thing is not None and base not in ("promise",):
        controller = s.visit(thing)
    if (head.i in s.predicates or head.pos_ == "ADJ") and _it_subject(s, head):
        return give_subject(s, head, node) or True
    give_subject(s, child, controller)
    role = lex.CLAUSE_ROLES.get(base, "ARG1")
    if head.pos_ == "ADJ" or head.i in s.predicates:
        role = "ARG2"
    if base == "obligate":
        role = "ARG2"
    if s.draft.has(s.inner[head.i], role) and role == "ARG1":
        role = "ARG2"
    return s.link(head, role, node)


@arc("advcl")
def adverbial_clause(s: Sentence, head: Token, child: Token) -> bool:
    """He smiled *because she came* (cause), *when she came* (time), *if she came*, *to see her* (purpose)."""
    marker = next((c for c in child.children if c.dep_ in ("mark", "advmod") and lower(c) in lex.SUBORDINATORS), None)
    if marker is None:
        return _bare_clause(s, head, child)
    kind = lex.SUBORDINATORS[lower(marker)]
    s.use(marker)
    if any(c.dep_ == "mark" and lower(c) == "if" for c in child.children) and lower(marker) == "as":
        kind = "conj-as-if"
    node = s.visit(child)
    if node is None:
        return True
    if kind == "cause":
        cause = s.node("cause-01", marker)
        s.draft.edge(cause, "ARG0", node)
        s.draft.edge(cause, "ARG1", s.inner[head.i])
    elif kind == "concession":
        but = s.node("have-concession-91", marker)
        s.draft.edge(but, "ARG1", s.inner[head.i])
        s.draft.edge(but, "ARG2", node)
    elif kind in ("before", "after", "until", "since"):
        when = s.node(kind, marker)
        s.draft.edge(when, "op1", node)
        s.link(head, "time", when)
    elif kind == "condition":
        if lower(marker) == "unless":
            s.draft.edge(node, "polarity", "-")
        s.outer_links.append((head.i, "condition", node))
    elif kind == "contrast":
        s.link(head, "concession", node)
    else:
        if kind == "purpose":
            give_subject(s, child, s.subjects.get(head.i))
        s.link(head, kind, node)
    return True


def _bare_clause(s: Sentence, head: Token, child: Token) -> bool:
    node = s.visit(child)
    if node is None:
        return True
    give_subject(s, child, s.subjects.get(head.i))
    infinitive = any(c.dep_ == "aux" and c.lower_ == "to" for c in child.children)
    if infinitive:
        adjective = head.pos_ == "ADJ" or head.i in s.predicates
        if adjective and _it_subject(s, head):
            return give_subject(s, head, node) or True
        return s.link(head, "ARG2" if adjective else "purpose", node)
    if child.tag_ == "VBG":
        return s.link(head, "manner", node)
    return s.link(head, "time" if child.tag_ == "VBN" else "manner", node)


@arc("relcl")
def relative_clause(s: Sentence, head: Token, child: Token) -> bool:
    """The man *who sings*: `man :ARG0-of sing-01`; the book *I read*: `book :ARG1-of read-01`."""
    noun = s.inner[head.i]
    pronoun = next(
        (t for t in child.subtree if t.tag_ in ("WP", "WDT", "WP$", "WRB") or (t.lower_ == "that" and t.dep_ in _GAPS)),
        None,
    )
    adverbial = None
    if pronoun is not None and pronoun.i < child.i + 1:
        if lower(pronoun) in ("where", "when", "why"):
            adverbial = {"where": "location", "when": "time", "why": "cause"}[lower(pronoun)]
            s.use(pronoun)
        else:
            s.outer[pronoun.i] = s.inner[pronoun.i] = noun
            # The child is already placed, so its own arc rule has to be called here.
    _visit_with_gap(s, child, pronoun, noun)
    if child.i not in s.inner:
        return True
    verb = s.inner[child.i]
    if adverbial is not None:
        s.draft.edge(verb, adverbial, noun)
    elif not _touches(s, verb, noun):
        role = "ARG1"
        if lemma(head) in lex.TIME_NOUNS:
            role = "time"
        elif s.draft.has(verb, "ARG1") and child.i not in s.predicates:
            role = "ARG0" if not s.draft.has(verb, "ARG0") else "location"
        s.draft.edge(verb, role, noun)
    return True


_GAPS = ("nsubj", "nsubjpass", "dobj", "pobj", "attr")


def _visit_with_gap(s: Sentence, clause: Token, pronoun: Token | None, noun: Node) -> None:
    placed = pronoun is not None and pronoun.i in s.outer and s.outer[pronoun.i] is noun
    if not placed:
        s.visit(clause)
        return
    # Let the arc rules see the pronoun as an ordinary child that stands for the noun.
    del s.outer[pronoun.i]
    s.gaps[pronoun.i] = noun
    s.visit(clause)


def _touches(s: Sentence, a: Node, b: Node) -> bool:
    return any((e[0] is a and e[2] is b) or (e[0] is b and e[2] is a) for e in s.draft.edges)


@arc("acl")
def noun_clause(s: Sentence, head: Token, child: Token) -> bool:
    """A book *called Emma* (ARG1-of), a boy *singing* (ARG0-of), a reason *to go* (purpose)."""
    node = s.visit(child)
    if node is None or child.i not in s.inner:
        return True
    verb, noun = s.inner[child.i], s.inner[head.i]
    infinitive = any(c.dep_ == "aux" and c.lower_ == "to" for c in child.children)
    if infinitive:
        if s.draft.has(noun, "ord"):  # the first to come
            return give_subject(s, child, noun) or True
        if head.pos_ == "NOUN" and noun.concept[-3:-2] == "-":
            return s.link(head, "ARG1", node)
        return s.link(head, "purpose", node)
    if child.tag_ == "VBG":
        give_subject(s, child, noun)
    else:
        s.draft.edge(verb, "ARG1", noun)
    return True


@arc("parataxis", "meta", "dep")
def side_clause(s: Sentence, head: Token, child: Token) -> bool:
    """It is late, *he said*: the saying verb takes the rest as its ARG1 (see `speech` in phrases)."""
    if lemma(child) in lex.SPEECH and child.pos_ == "VERB" and s.child(child, "nsubj") is not None:
        return True
    node = s.visit(child)
    if node is not None:
        s.link(head, "mod", node)
    return True


# --- prepositions -----------------------------------------------------------------------------------------------


@arc("prep")
def prepositional_phrase(s: Sentence, head: Token, child: Token) -> bool:
    """He sat *under a tree*, laughed *at the king*, left *after the war*."""
    from faithfuse.amr.rules.prepositions import attach_phrase

    return attach_phrase(s, head, child)


# --- adverbs ----------------------------------------------------------------------------------------------------


@arc("neg")
def negation(s: Sentence, head: Token, child: Token) -> bool:
    """He did *not* sleep: `:polarity -`; *never*: `:time ever` as well; *cannot*: the possibility is denied."""
    if lower(child) == "never":
        s.link(head, "time", s.node("ever", child))
    if any(c.dep_ == "aux" and lower(c) in ("can", "could", "ca") for c in head.children):
        s.denied.add(head.i)
        return True
    return s.link(head, "polarity", "-")


@arc("advmod", "npadvmod", "quantmod")
def adverbial(s: Sentence, head: Token, child: Token) -> bool:
    """He came *suddenly* (manner), *yesterday* (time), *here* (location); it is *very* red (degree)."""
    text = lower(child)
    if text in ("how", "when", "where", "why") and child.tag_ == "WRB":
        return _question_adverb(s, head, child)
    if text == "ago" or (child.dep_ == "npadvmod" and s.child(child, "advmod") is not None and text in lex.TIME_UNITS):
        return _ago(s, head, child)
    connects = text in ("so", "however", "nevertheless", "therefore", "thus", "yet") and head.pos_ in ("VERB", "AUX")
    if connects and head.dep_ in ("ROOT", "ccomp") and all(t.is_punct for t in s.doc[: child.i]):
        return True  # see `connective` in phrases
    if text in ("at", "of", "as") and child.pos_ == "ADP":
        return True
    if head.pos_ in ("ADJ", "ADV") and text in ("more", "most", "less", "least", "too", "as") and child.i < head.i:
        return True  # see `degree` in phrases
    node = s.visit(child)
    if node is None:
        return True
    if text in ("never", "nowhere"):
        s.draft.edges = [e for e in s.draft.edges if not (e[0] is node and e[1] == "polarity")]
        s.link(head, "polarity", "-")
    if node.concept.endswith("-quantity"):
        return s.link(head, "duration" if head.pos_ in ("VERB", "AUX") else "quant", node)
    return s.link(head, _adverb_role(s, head, child, text), node)


def _adverb_role(s: Sentence, head: Token, child: Token, text: str) -> str:
    if lemma(child) in lex.TIME_NOUNS or text in lex.TIME_ADVERBS or text == "never":
        return "time"
    if text in lex.FREQUENCY_ADVERBS:
        return "frequency"
    if text in lex.MOD_ADVERBS:
        return "mod"
    if text in lex.PLACE_ADVERBS:
        return "location"
    if head.pos_ in ("ADJ", "ADV") or text in lex.DEGREE_ADVERBS:
        return "degree"
    if text in lex.DIRECTION_ADVERBS:
        return "direction"
    if head.pos_ in ("NOUN", "PROPN", "PRON", "NUM"):
        return "mod"
    return "manner"


def _question_adverb(s: Sentence, head: Token, child: Token) -> bool:
    """*Why* do you drink? `:ARG1-of (cause-01 :ARG0 amr-unknown)`; *how* old; *where*; *when*."""
    node = s.visit(child)
    if node is None:
        return True
    text = lower(child)
    if text == "why":
        cause = s.node("cause-01", child)
        s.draft.edge(cause, "ARG0", node)
        s.draft.edge(cause, "ARG1", s.inner[head.i])
        return True
    if text == "how" and head.pos_ in ("ADJ", "ADV"):
        return s.link(head, "quant" if lower(head) in ("many", "much") else "degree", node)
    return s.link(head, {"how": "manner", "when": "time", "where": "location"}[text], node)


def _ago(s: Sentence, head: Token, child: Token) -> bool:
    """He died *two years ago*: `:time (before :op1 now :quant (temporal-quantity …))`."""
    if lower(child) == "ago":
        quantity = next((c for c in child.children if c.dep_ in ("npadvmod", "advmod")), None)
    else:
        quantity = child
        ago = s.child(child, "advmod")
        if ago is None or lower(ago) not in ("ago", "later"):
            node = s.visit(child)
            return s.link(head, "time", node) or True
        s.use(ago)
    before = s.node("before", child)
    s.draft.edge(before, "op1", s.node("now", child))
    if quantity is not None:
        node = s.visit(quantity)
        if node is not None:
            s.draft.edge(before, "quant", node)
    return s.link(head, "time", before)


# --- inside a noun phrase ---------------------------------------------------------------------------------------


@arc("amod")
def attribute(s: Sentence, head: Token, child: Token) -> bool:
    """A *red* rose: `:ARG1-of red-02`; a *little* prince: `:mod little`; his *first* day: `:ord`."""
    node = s.visit(child)
    if node is None or child.i not in s.inner:
        return True
    inner = s.inner[child.i]
    if inner.concept == "ordinal-entity":
        return s.link(head, "ord", inner)
    if lower(child) in ("many", "much", "several", "few", "enough", "more", "most", "less"):
        return s.link(head, "quant", inner)
    noun = s.inner[head.i]
    if child.tag_ in ("VBN", "VBD"):
        s.draft.edge(inner, "ARG1", noun)
    elif child.tag_ == "VBG":
        s.draft.edge(inner, "ARG0", noun)
    elif inner.concept[-3:-2] == "-":
        s.draft.edge(inner, predicated_role(s, child), noun)
    else:
        s.draft.edge(noun, "mod", inner)
    return True


@arc("det", "predet")
def determiner(s: Sentence, head: Token, child: Token) -> bool:
    """*This* flower: `:mod this`; *no* flower: `:polarity -`; *which* flower: `:mod amr-unknown`."""
    text = lower(child)
    if text == "no":
        return s.link(head, "polarity", "-")
    if text in ("what", "which", "whatever"):
        node = s.visit(child)
        return s.link(head, "mod", node) or True
    if text in lex.DETERMINERS:
        role, concept = lex.DETERMINERS[text]
        return s.link(head, role, s.node(concept, child))
    return True


@arc("nummod")
def count(s: Sentence, head: Token, child: Token) -> bool:
    """*Three* volcanoes: `:quant 3`; Chapter *2*: `:mod 2`."""
    from faithfuse.amr.rules.words import number_value

    value = number_value(s, child)
    s.use(*child.subtree)
    if value is None:
        return True
    return s.link(head, "mod" if child.i > head.i else "quant", value)


@arc("compound", "nmod", "flat")
def compound(s: Sentence, head: Token, child: Token) -> bool:
    """A *street* lamp: `lamp :mod street`."""
    node = s.visit(child)
    return s.link(head, "mod", node) or True


@arc("poss")
def possessor(s: Sentence, head: Token, child: Token) -> bool:
    """*His* planet: `:poss`; *his* head: `:part-of`; *her* question: ARG0; *their* father: `have-rel-role-91`."""
    node = s.visit(child)
    return node is None or attach_possessor(s, head, node)


def attach_possessor(s: Sentence, head: Token, owner: Node) -> bool:
    """Attach whose the noun is, by the kind of noun."""
    noun = s.inner[head.i]
    base = lemma(head)
    if base in lex.RELATIONS and head.pos_ == "NOUN":
        role = s.node("have-rel-role-91", head)
        noun.concept = "person"
        s.draft.edge(role, "ARG0", noun)
        s.draft.edge(role, "ARG1", owner)
        s.draft.edge(role, "ARG2", s.node(base, head))
        return True
    if noun.concept[-3:-2] == "-":
        return s.link(head, "ARG1" if s.draft.has(noun, "ARG0") else "ARG0", owner)
    if base in lex.PARTS:
        return s.link(head, "part-of", owner)
    return s.link(head, "poss", owner)


@arc("appos")
def apposition(s: Sentence, head: Token, child: Token) -> bool:
    """My friend, *a painter*, came: `:mod`."""
    node = s.visit(child)
    return s.link(head, "mod", node) or True


@arc("intj")
def interjection(s: Sentence, head: Token, child: Token) -> bool:
    """*Please*, draw me a sheep: `:polite +`; *oh*, I see: `:mod (oh :mode expressive)`."""
    if lower(child) in lex.POLITE:
        return s.link(head, "polite", "+")
    node = s.visit(child)
    if (
        lemma(head) in lex.SPEECH
        and s.child(head, "ccomp", "dobj") is None
        and not s.draft.has(s.inner[head.i], "ARG1")
    ):
        return s.link(head, lex.CLAUSE_ROLES.get(lemma(head), "ARG1"), node) or True
    return s.link(head, "mod", node) or True


@arc("*")
def anything_else(s: Sentence, head: Token, child: Token) -> bool:
    """A label that no rule knows: what it carries still modifies its head."""
    node = s.visit(child)
    if node is not None:
        s.link(head, "mod", node)
    return True

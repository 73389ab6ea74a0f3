"""Word rules: which node a token is. Names, dates and quantities come first, then pronouns, then classes of words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faithfuse.amr.rules import lexicon as lex
from faithfuse.amr.rules.draft import Node
from faithfuse.amr.rules.grammar import Sentence, lemma, lower, word

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

WH = frozenset({"who", "whom", "whose", "what", "which", "where", "when", "why", "how", "whatever", "whoever"})
_NUMBER = re.compile(r"[+-]?\d+(?:,\d+)*(?:\.\d+)?")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?\s*(am|pm|a\.m\.?|p\.m\.?|o'clock)?", re.IGNORECASE)
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_WORD = re.compile(r"\w")


# --- names ------------------------------------------------------------------------------------------------------


@word
def nationality(s: Sentence, token: Token) -> Node | None:
    """A *French* singer arrived: `country :name "France"`."""
    country = lex.PEOPLES.get(lower(token))
    if country is None or token.pos_ not in ("ADJ", "PROPN") or not token.text[0].isupper():
        return None
    return _named(s, token, "country", [country])


@word
def name(s: Sentence, token: Token) -> Node | None:
    """*Bruno Mars* sang: `person :name (name :op1 "Bruno" :op2 "Mars")`, the type from the entity recogniser."""
    span = next((span for span in s.doc.ents if span.root.i == token.i and span.label_ in lex.NAME_TYPES), None)
    if (
        span is None
        or span[0].lower_ in ("chapter", "section", "part")
        or not any(t.text[0].isupper() or t.text[0].isdigit() for t in span)
    ):
        return None
    tokens = [t for t in span if t.i not in s.done]
    while tokens and (tokens[0].pos_ in ("DET", "PUNCT") or tokens[0].lower_ in ("the", "a")):
        tokens.pop(0)
    while tokens and (tokens[-1].pos_ in ("PART", "PUNCT") or not _WORD.search(tokens[-1].text)):
        tokens.pop()
    if not tokens or token not in tokens or all(t.pos_ in ("PRON", "INTJ") for t in tokens):
        return None
    if len(tokens) == 1 and tokens[0].pos_ not in ("PROPN", "NOUN", "X", "NUM", "ADJ") and tokens[0].i == 0:
        return None
    s.use(*(t for t in tokens if t.i != token.i))
    return _named(s, token, _name_type(span, tokens), [t.text for t in tokens])


@word
def proper_noun(s: Sentence, token: Token) -> Node | None:
    """*Aria* has met *Charlie Evans*: a capitalised proper noun that the recogniser missed is a person."""
    if token.tag_ not in ("NNP", "NNPS") or not token.text[0].isupper() or not token.text[0].isalpha():
        return None
    if lower(token) in lex.WEEKDAYS or lower(token) in lex.MONTHS or lower(token) in lex.INTERJECTIONS:
        return None
    before = [t for t in token.lefts if t.dep_ in ("compound", "flat") and t.text[0].isupper() and t.i not in s.done]
    if token.i == 0 and not before and len(s.doc) > 1 and token.head.i != token.i and token.dep_ not in _ARGUMENTS:
        return None
    tokens = [*before, token]
    s.use(*before)
    kind = _place(" ".join(t.text for t in tokens).lower())
    if kind is None and lower(token) in lex.NAMED_NOUNS and before:
        kind = lower(token)
    return _named(s, token, kind or "person", [t.text for t in tokens])


_ARGUMENTS = ("nsubj", "nsubjpass", "dobj", "pobj", "dative", "poss", "conj", "npadvmod", "attr", "appos", "compound")


def _named(s: Sentence, token: Token, kind: str, parts: list[str]) -> Node:
    node = s.node(kind, token)
    label = s.node("name", token)
    s.draft.edge(node, "name", label)
    for number, part in enumerate(parts, start=1):
        s.draft.edge(label, f"op{number}", part)
    return node


def _name_type(span: Span, tokens: list[Token]) -> str:
    text = " ".join(t.text for t in tokens).lower()
    known = _place(text)
    if known:
        return known
    if tokens[-1].lower_ in lex.NAMED_NOUNS and len(tokens) > 1:
        return tokens[-1].lower_
    label = span.label_
    if label == "GPE" and len(tokens) == 1 and _beside_person(span):
        return "person"
    if label in ("ORG", "GPE", "PRODUCT", "FAC", "WORK_OF_ART", "LOC", "NORP") and len(tokens) == 1:
        # A single capitalised word that acts, or is spoken to, is more often a person than what the recogniser says.
        head = span.root
        acts = head.dep_ in ("nsubj", "dative", "npadvmod") or (head.dep_ == "conj" and head.head.dep_ == "nsubj")
        if acts and tokens[0].text.istitle() and label != "NORP":
            return "person"
    return lex.NAME_TYPES[label]


def _beside_person(span: Span) -> bool:
    """Whether an entity is coordinated with a person ("Beyonce and Bruno Mars")."""
    mates = [span.root.head] if span.root.dep_ == "conj" else []
    mates += [t for t in span.root.children if t.dep_ == "conj"]
    return any(mate.ent_type_ == "PERSON" for mate in mates)


def _place(text: str) -> str | None:
    text = text.removeprefix("the ")
    if text in lex.COUNTRIES or text in ("united states", "united kingdom", "united states of america"):
        return "country"
    if text in lex.STATES or text in ("new york state", "north carolina", "south carolina"):
        return "state"
    if text in lex.CONTINENTS or text in ("north america", "south america"):
        return "continent"
    return "planet" if text in lex.PLANETS else None


# --- dates and quantities ---------------------------------------------------------------------------------------


@word
def date(s: Sentence, token: Token) -> Node | None:
    """He came on *Monday, June 5, 2012*: `date-entity :weekday monday :month 6 :day 5 :year 2012`."""
    text = lower(token)
    span = next((span for span in s.doc.ents if span.label_ == "DATE" and span.start <= token.i < span.end), None)
    group = list(span) if span is not None else [token]
    starts = text in lex.WEEKDAYS or (text.rstrip(".") in lex.MONTHS and token.text[0].isupper())
    year = _YEAR.fullmatch(text) and (span is not None or token.dep_ == "pobj") and token.dep_ != "nummod"
    if not (starts and token.pos_ in ("PROPN", "NOUN")) and not year:
        return None
    if year and any(t.lower_.rstrip(".") in lex.MONTHS for t in group) and token.dep_ == "nummod":
        return None
    node = s.node("date-entity", token)
    for part in group:
        if part.i in s.done:
            continue
        value = lower(part).rstrip(".,")
        if value in lex.WEEKDAYS:
            s.draft.edge(node, "weekday", s.node(value, part))
        elif value in lex.MONTHS and part.text[0].isupper():
            s.draft.edge(node, "month", lex.MONTHS[value])
        elif _YEAR.fullmatch(value):
            s.draft.edge(node, "year", value)
        elif re.fullmatch(r"\d{1,2}(?:st|nd|rd|th)?", value) and 1 <= int(re.sub(r"\D", "", value)) <= 31:
            s.draft.edge(node, "day", str(int(re.sub(r"\D", "", value))))
        elif part.pos_ == "PUNCT" or value == "of":
            pass
        else:
            continue
        if part.i != token.i:
            s.use(part)
    return node


@word
def clock(s: Sentence, token: Token) -> Node | None:
    """We meet at *8:30 pm*: `date-entity :time "20:30"`."""
    span = next((span for span in s.doc.ents if span.label_ == "TIME" and span.start <= token.i < span.end), None)
    text = lower(token)
    with_suffix = span.text.lower() if span is not None else text
    found = _CLOCK.fullmatch(with_suffix.strip()) if span is not None or ":" in text else None
    if found is None or not (found[2] or found[3]) or int(found[1]) > 24:
        return None
    hour = int(found[1])
    if found[3] and found[3].startswith("p") and hour < 12:
        hour += 12
    node = s.node("date-entity", token)
    s.draft.edge(node, "time", f"{hour}:{found[2] or '00'}")
    s.use(*(t for t in (span or ()) if t.i != token.i))
    return node


@word
def unit(s: Sentence, token: Token) -> Node | None:
    """He slept *two hours*: `temporal-quantity :quant 2 :unit hour`; the same for distance, mass and money."""
    kind = next(
        (
            kind
            for kind, units in (
                ("temporal-quantity", lex.TIME_UNITS),
                ("distance-quantity", lex.DISTANCE_UNITS),
                ("mass-quantity", lex.MASS_UNITS),
                ("monetary-quantity", lex.MONEY_UNITS),
            )
            if lemma(token) in units
        ),
        None,
    )
    if kind is None or token.pos_ not in ("NOUN", "PROPN", "X"):
        return None
    count = next((c for c in token.children if c.dep_ == "nummod"), None)
    some = next((c for c in token.children if lower(c) in ("several", "many", "few") and c.dep_ == "amod"), None)
    quantity = number_value(s, count) if count is not None else None
    one = any(c.lower_ in ("a", "an") for c in token.children) and not any(c.dep_ == "amod" for c in token.children)
    if quantity is None and one and token.dep_ in ("npadvmod", "pobj", "attr", "ROOT") and token.head.lower_ != "of":
        quantity = "1"
    if quantity is None and some is None:
        return None
    node = s.node(kind, token)
    s.draft.edge(node, "quant", quantity if quantity is not None else s.node(lower(some), some))
    s.draft.edge(node, "unit", s.node(lemma(token), token))
    used = count if quantity is not None else some
    if used is not None:
        s.use(used, *used.subtree)
    return node


@word
def part_of_day(s: Sentence, token: Token) -> Node | None:
    """I work in the *morning*: `date-entity :dayperiod morning`."""
    if lower(token) not in ("morning", "afternoon", "evening", "night") or token.dep_ != "pobj":
        return None
    if token.head.lower_ not in ("in", "at", "during", "by", "on"):
        return None
    node = s.node("date-entity", token)
    s.draft.edge(node, "dayperiod", s.node(lower(token), token))
    return node


@word
def money(s: Sentence, token: Token) -> Node | None:
    """It cost *$20*: `monetary-quantity :quant 20 :unit dollar`."""
    sign = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}
    marks = [t for t in token.children if t.text in sign] if token.pos_ == "NUM" else []
    if token.text in sign:
        marks, token_value = [token], next((t for t in token.children if t.like_num), None)
    else:
        token_value = token
    if not marks or token_value is None:
        return None
    value = number_value(s, token_value)
    if value is None:
        return None
    node = s.node("monetary-quantity", token)
    s.draft.edge(node, "quant", value)
    s.draft.edge(node, "unit", s.node(sign[marks[0].text], token))
    s.use(*(t for t in (*marks, token_value) if t.i != token.i))
    return node


def number_value(s: Sentence, token: Token) -> str | None:
    """The value of a number written in digits or words ("fifty - three", "2 million", "1,500"), else None."""
    words = [t for t in token.subtree if t.pos_ not in ("PUNCT",) and t.lower_ not in ("and", "a", "about", "over")]
    words = [t for t in words if t.dep_ in ("compound", "nummod", "quantmod") or t.i == token.i or t.like_num]
    value, total = 0.0, 0.0
    for part in words:
        text = part.lower_
        if _NUMBER.fullmatch(text):
            value += float(text.replace(",", ""))
        elif text in lex.NUMBERS:
            value += float(lex.NUMBERS[text])
        elif text in lex.MULTIPLIERS:
            value = (value or 1.0) * lex.MULTIPLIERS[text]
            if lex.MULTIPLIERS[text] >= 1000:
                total, value = total + value, 0.0
        elif "-" in text and all(piece in lex.NUMBERS for piece in text.split("-")):
            value += sum(float(lex.NUMBERS[piece]) for piece in text.split("-"))
        else:
            return None
    total += value
    if not words:
        return None
    return str(int(total)) if total == int(total) else repr(total)


# --- pronouns and question words --------------------------------------------------------------------------------


@word
def question_word(s: Sentence, token: Token) -> Node | None:
    """*What* do you want?: `amr-unknown`; in *what he said*, `thing`."""
    if lower(token) not in WH or token.tag_ not in ("WP", "WP$", "WDT", "WRB"):
        return None
    if is_relative(token):
        return None
    if is_question(s, token):
        return s.node("amr-unknown", token)
    return s.node(
        {"who": "person", "whom": "person", "where": "location", "when": "time"}.get(lower(token), "thing"), token
    )


def is_relative(token: Token) -> bool:
    """Whether a wh-word belongs to a relative clause ("the man *who* came")."""
    clause = clause_of(token)
    return clause is not None and clause.dep_ == "relcl"


def clause_of(token: Token) -> Token | None:
    """The verb of the clause that a token stands in."""
    while token.head.i != token.i:
        token = token.head
        if token.pos_ in ("VERB", "AUX") or token.dep_ in ("ROOT", "relcl", "ccomp", "advcl"):
            return token
    return token


def is_question(s: Sentence, token: Token) -> bool:
    """Whether the sentence that a token stands in asks something."""
    clause = clause_of(token)
    if clause is not None and clause.dep_ in ("ccomp", "pcomp", "csubj", "advcl") and "?" not in s.doc.text:
        return False
    return "?" in s.doc.text


@word
def pronoun(s: Sentence, token: Token) -> Node | None:
    """*She* loves *him*: `she`, `he`; cases and possessives share one concept."""
    text = lower(token)
    if text == "'s" or (text == "one" and token.tag_ != "PRP"):
        return None
    if (
        text in lex.PRONOUNS
        and token.tag_ in ("PRP", "PRP$", "NN", "NNP", "UH", "JJ", "NNS", "FW", "VBP")
        and (token.pos_ == "PRON" or text in ("u", "ur", "ya", "i", "mine"))
    ):
        return s.node(lex.PRONOUNS[text], token)
    if text in ("us", "'s") and token.pos_ == "PRON":
        return s.node("we", token)
    return None


@word
def demonstrative(s: Sentence, token: Token) -> Node | None:
    """*Those* are mine: `that`."""
    if token.pos_ not in ("PRON", "DET") or lower(token) not in ("this", "that", "these", "those"):
        return None
    return s.node({"these": "this", "those": "that"}.get(lower(token), lower(token)), token)


# --- nouns ------------------------------------------------------------------------------------------------------


@word
def greeting(s: Sentence, token: Token) -> Node | None:
    """*Thanks* a lot: `thank-01`."""
    frame = lex.GREETINGS.get(lower(token))
    if frame is None or token.dep_ not in ("ROOT", "intj", "dep", "ccomp", "parataxis"):
        return None
    return s.node(frame, token)


@word
def reply_word(s: Sentence, token: Token) -> Node | None:
    """*Ok*; *lol*; *yes*: an interjection that stands alone, whatever the tagger calls it."""
    if lower(token) not in lex.INTERJECTIONS or token.dep_ != "ROOT" or any(not c.is_punct for c in token.children):
        return None
    return interjection(s, token)


@word
def agent_noun(s: Sentence, token: Token) -> Node | None:
    """The *teacher* smiled: `person :ARG0-of teach-01`."""
    frame = lex.AGENT_NOUNS.get(lemma(token)) if token.pos_ in ("NOUN", "PROPN") else None
    if frame is None:
        return None
    node = s.node("person", token)
    action = s.node(frame, token)
    s.draft.edge(action, "ARG0", node)
    return node


@word
def result_noun(s: Sentence, token: Token) -> Node | None:
    """My *drawing* is here: what was drawn, `thing :ARG1-of draw-01`."""
    frame = lex.RESULT_NOUNS.get(lower(token)) if token.pos_ in ("NOUN", "PROPN") else None
    if frame is None:
        return None
    node = s.node("thing", token)
    s.draft.edge(s.node(frame, token), "ARG1", node)
    return node


@word
def event_noun(s: Sentence, token: Token) -> Node | None:
    """Her *question* was short: `question-01`."""
    frame = lex.EVENT_NOUNS.get(lemma(token)) if token.pos_ == "NOUN" else None
    return s.node(frame, token) if frame else None


@word
def hyphenated(s: Sentence, token: Token) -> Node | None:
    """A *mother-in-law*: what is joined by hyphens is one word."""
    first = token.i
    doc = s.doc
    while first >= 2 and doc[first - 1].text == "-" and doc[first - 2].text.isalpha():
        first -= 2
    if first == token.i or token.pos_ not in ("NOUN", "ADJ", "PROPN") or not token.text.isalpha():
        return None
    before = [doc[i] for i in range(first, token.i)]
    if any(t.i in s.outer or t.i in s.visiting for t in before) or any(token.is_ancestor(t) is False for t in before):
        return None
    s.use(*before)
    return s.node("-".join([*(lower(t) for t in before if t.text != "-"), lemma(token)]), token)


@word
def common_noun(s: Sentence, token: Token) -> Node | None:
    """The *sheep* eats: the lemma."""
    if token.pos_ not in ("NOUN", "PROPN", "X", "SYM"):
        return None
    if not _WORD.search(token.text):
        return None
    text = lemma(token)
    return s.node({"people": "person", "men": "man", "children": "child", "drawing": "picture"}.get(text, text), token)


# --- verbs ------------------------------------------------------------------------------------------------------


@word
def copula(s: Sentence, token: Token) -> Node | None:
    """The flower *is* red; he *is* a king; they *are* here: the predicate carries the clause."""
    if (
        lemma(token) not in ("be", "'s", "'re", "'m")
        or token.pos_ not in ("AUX", "VERB")
        or token.dep_ in ("aux", "auxpass")
    ):
        return None
    from faithfuse.amr.rules.predication import predicate

    return predicate(s, token)


@word
def light_have(s: Sentence, token: Token) -> Node | None:
    """You *have to* go: `obligate-01`, its ARG2 the duty."""
    if lemma(token) != "have" or token.pos_ not in ("VERB", "AUX") or s.child(token, "dobj"):
        return None
    duty = s.child(token, "xcomp")
    if duty is None or not any(t.dep_ == "aux" and t.lower_ == "to" for t in duty.children):
        return None
    node = s.node("obligate-01", token)
    s.lemmas[token.i] = "obligate"
    return node


@word
def verb(s: Sentence, token: Token) -> Node | None:
    """He *puts out* the lamp: the frame of the verb and its particle."""
    if token.pos_ not in ("VERB", "AUX") or token.dep_ in ("aux", "auxpass"):
        return None
    if not _WORD.search(token.text):
        return None
    base = lemma(token)
    particle = s.child(token, "prt")
    if particle is not None:
        pair = f"{base}+{lower(particle)}"
        s.use(particle)
        s.lemmas[token.i] = f"{base}-{lower(particle)}"
        if pair not in lex.PARTICLE_FRAMES and lower(particle) in (
            "down",
            "back",
            "away",
            "along",
            "around",
            "forward",
        ):
            node = s.node(lex.FRAMES.get(base, f"{base}-01"), token)
            s.draft.edge(node, "direction", s.node(lower(particle), particle))
            return node
        return s.node(lex.PARTICLE_FRAMES.get(pair, f"{base}-{lower(particle)}-00"), token)
    s.lemmas[token.i] = base
    if base in lex.ADJECTIVE_FRAMES and token.tag_ in ("JJ",):
        return s.node(lex.ADJECTIVE_FRAMES[base], token)
    complement = s.child(token, "acomp", "oprd")
    if base in ("look",) and complement is not None:
        return s.node("look-02", token)
    if base == "get" and complement is not None:
        return s.node("get-03", token)
    if base == "grow" and complement is not None:
        return s.node("grow-02", token)
    if base == "make" and s.child(token, "ccomp", "xcomp", "acomp", "oprd") is not None:
        return s.node("make-02", token)
    if base == "leave" and token.tag_ != "VBN" and s.child(token, "dobj") is None:
        return s.node("leave-11", token)
    if not base.isascii() or not base.replace("-", "").isalpha():
        return s.node(base, token)
    return s.node(lex.FRAMES.get(base, f"{base}-01"), token)


# --- adjectives, adverbs, numbers and the rest ------------------------------------------------------------------


@word
def age(s: Sentence, token: Token) -> Node | None:
    """She is *six years old*; *how old* is he? `age-01 :ARG1 she :ARG2 (temporal-quantity …)`."""
    measure = next(
        (c for c in token.children if c.dep_ in ("npadvmod", "advmod") and lemma(c) in (*lex.TIME_UNITS, "how")), None
    )
    if lower(token) != "old" or measure is None:
        return None
    node = s.node("age-01", token)
    s.draft.edge(node, "ARG2", s.visit(measure) or s.node("amr-unknown", measure))
    s.use(measure)
    return node


@word
def adjective(s: Sentence, token: Token) -> Node | None:
    """A *beautiful* rose: `beautiful-02` if the adjective is a frame, else the word."""
    if token.pos_ != "ADJ" and token.tag_ not in ("JJ", "JJR", "JJS"):
        return None
    text = lemma(token) if token.tag_ in ("JJR", "JJS") else lower(token)
    text = {"better": "good", "best": "good", "worse": "bad", "worst": "bad", "older": "old"}.get(text, text)
    s.lemmas[token.i] = text
    if not _WORD.search(text):
        return None
    if text in lex.ORDINALS:
        node = s.node("ordinal-entity", token)
        s.draft.edge(node, "value", lex.ORDINALS[text])
        return node
    node = s.node(lex.ADJECTIVE_FRAMES.get(text, text), token)
    if text in lex.NEGATIVE_ADJECTIVES:
        s.draft.edge(node, "polarity", "-")
    return node


@word
def adverb(s: Sentence, token: Token) -> Node | None:
    """She spoke *gently*: `gentle`."""
    if token.pos_ != "ADV" and token.tag_ not in ("RB", "RBR", "RBS", "WRB"):
        return None
    text = lower(token)
    if text in ("n't", "not"):
        return None
    text = {"further": "far", "farther": "far", "better": "well", "best": "well"}.get(text, text)
    node = s.node(adverb_concept(text), token)
    if text in lex.NEGATIVE_ADVERBS:
        s.draft.edge(node, "polarity", "-")
    return node


def adverb_concept(text: str) -> str:
    """The concept of an adverb: listed, or the adjective without -ly ("suddenly" is sudden, "happily" happy)."""
    if text in lex.ADVERB_CONCEPTS:
        return lex.ADVERB_CONCEPTS[text]
    if text.endswith("ily") and len(text) > 5:
        return f"{text[:-3]}y"
    if text.endswith("ically") and len(text) > 8:
        return text[:-4]
    if text.endswith("bly") and len(text) > 5:
        return f"{text[:-1]}e"
    if text.endswith("ly") and len(text) > 4:
        return text[:-2]
    return text


@word
def number(s: Sentence, token: Token) -> Node | None:
    """I bought *two*: a number that stands alone."""
    if token.pos_ != "NUM" and not token.like_num:
        return None
    if lower(token) == "one":
        return s.node("one", token)
    value = number_value(s, token)
    node = s.node(value if value is not None else lower(token), token)
    if value is not None:
        s.use(*(t for t in token.subtree if t.i != token.i and (t.like_num or t.lower_ in lex.MULTIPLIERS)))
    return node


@word
def interjection(s: Sentence, token: Token) -> Node | None:
    """*Oh*, I see: `oh :mode expressive`."""
    if token.pos_ != "INTJ" and lower(token) not in lex.INTERJECTIONS:
        return None
    node = s.node(lower(token), token)
    if lower(token) not in lex.POLITE | lex.SALUTATIONS and lower(token) not in ("yes", "no"):
        s.draft.edge(node, "mode", "expressive")
    return node


@word
def quantifier(s: Sentence, token: Token) -> Node | None:
    """*All* came; *something* moved: the word itself."""
    if token.pos_ not in ("PRON", "DET") or token.dep_ in ("expl",) or lower(token) in ("the", "a", "an", "there"):
        return None
    return s.node(lower(token).replace(" ", "-"), token)


@word
def preposition(s: Sentence, token: Token) -> Node | None:
    """*Under* the tree: a preposition or particle that heads a phrase of its own."""
    if token.pos_ not in ("ADP", "SCONJ", "PART") or token.dep_ not in (
        "ROOT",
        "advmod",
        "prep",
        "conj",
        "pcomp",
        "prt",
    ):
        return None
    if lower(token) in ("'s", "to", "n't", "not", "of"):
        return None
    return s.node(lower(token), token)

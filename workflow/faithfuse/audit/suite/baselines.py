"""Baselines, ablations and the short-circuit alternative (sections IV-B and IV-C), over states as text.

Each rule reads a state `IAMD` and the support label and returns 1, 0 or U.
"""

from __future__ import annotations

from collections.abc import Callable

Rule = Callable[[str, str], str]

NEGATED = {"1": "0", "0": "1", "U": "U"}


def _and(*symbols: str) -> str:
    if "U" in symbols:
        return "U"
    return "1" if set(symbols) == {"1"} else "0"


def support_only(state: str, support: str) -> str:
    """An omission is an unsupported answer."""
    return NEGATED[support]


def relationship_only(state: str, support: str) -> str:
    """An omission is any related source."""
    return state[0]


def disclosure_only(state: str, support: str) -> str:
    """An omission is any missing disclosure."""
    return NEGATED[state[3]]


def relationship_without_disclosure(state: str, support: str) -> str:
    """An omission is a related source that is not disclosed."""
    return _and(state[0], NEGATED[state[3]])


BASELINES: dict[str, Rule] = {
    rule.__name__: rule for rule in (support_only, relationship_only, disclosure_only, relationship_without_disclosure)
}


def guarded(rule: Rule) -> Rule:
    """The rule behind the common completeness guard: unresolved unless all four predicates are observed."""
    return lambda state, support: "U" if "U" in state else rule(state, support)


def without(predicate: str) -> Rule:
    """The complete-case endpoint with one conjunct dropped; the guard still asks for all four judgements."""
    position = "IAMD".index(predicate)

    def rule(state: str, support: str) -> str:
        if "U" in state:
            return "U"
        conjuncts = [state[0], state[1], state[2], NEGATED[state[3]]]
        del conjuncts[position]
        return _and(*conjuncts)

    return rule


def short_circuit(state: str, support: str) -> str:
    """Resolve 0 as soon as one conjunct is known to fail, else as the complete case."""
    conjuncts = [state[0], state[1], state[2], NEGATED[state[3]]]
    return "0" if "0" in conjuncts else _and(*conjuncts)

"""A PENMAN string as the triples that Smatch counts, read by the rules of `smatch` 1.0.4 (`amr.AMR`).

Those rules decide a graph's triple total, so published values only agree if they are kept, oddities included:

* roles and values are compared in lower case, and the quote marks of a string are ignored;
* of a quoted string with blanks, only the first word is kept (`:op1 "New York"` counts as `New`);
* `:ROLE-of` is turned round, `:mod` becomes `:domain` turned round; `:prep-on-behalf-of`, `:prep-out-of` and
  `:consist-of` are not inverse roles;
* a turned role whose end is a constant (`:mod 1`) has no node to start from and is dropped;
* the root bears one attribute, `TOP`, whose value is the same in every graph.

In three things this reader differs from `smatch`, which would crash or give scores above 1: comment lines and line
breaks are allowed, a malformed graph raises an error, and a triple that is repeated counts once.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from faithfuse.errors import InputError

_NOT_INVERSE = frozenset({"prep-on-behalf-of", "prep-out-of", "consist-of"})
_TOKENS = re.compile(r'"[^"]*"?|[()/:]|[^()/:"]+')
_FIX = "Write one graph in PENMAN notation, such as (s / sing-01 :ARG0 (b / bird))."


class Triples(NamedTuple):
    """A graph's triples; nodes are numbered in the order of the text, the root is node 0.

    `attributes` are (role, node, value), `edges` are (role, source node, target node); both sorted, none repeated.
    """

    variables: tuple[str, ...]
    concepts: tuple[str, ...]
    attributes: tuple[tuple[str, int, str], ...]
    edges: tuple[tuple[str, int, int], ...]

    @property
    def total(self) -> int:
        """How many triples Smatch counts: one of each node, attribute (`TOP` included) and edge."""
        return len(self.concepts) + len(self.attributes) + len(self.edges)


def one_line(text: str) -> str:
    """Drop comment lines and join the rest by blanks, as a graph is before any text rule applies to it."""
    lines = (line.strip() for line in text.splitlines())
    return re.sub(r"\s+", " ", " ".join(line for line in lines if line and not line.startswith("#")))


def normal(text: str) -> str:
    """The form in which roles, concepts and values are compared (`smatch.normalize`)."""
    return text.lower().rstrip("_")


@lru_cache(maxsize=65536)
def read_triples(penman: str, *, repeated: bool = False) -> Triples:
    """Read one graph.

    Args:
        penman: the graph; comment lines and line breaks are allowed.
        repeated: keep triples that occur more than once (needed where the text rule of Unlabeled F1 makes two
            different edges look the same).

    Raises:
        InputError: the text is not one whole graph.
    """
    return _triples(*_scan(one_line(penman)), repeated=repeated)


def read_roles(penman: str) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """The graph as written: variables with their concepts, and (source, role, target), nothing turned or normalised.

    Raises:
        InputError: the text is not one whole graph.
    """
    return _scan(one_line(penman))


def _scan(line: str) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """The nodes (variable to concept, in order) and the roles as written (source, role, target).

    As in `smatch`, roles whose end is unknown when they are read come last.
    """
    nodes: dict[str, str] = {}
    roles: list[tuple[str, str, str]] = []
    later: list[tuple[str, str, str]] = []  # roles whose end is a constant, or a node that is not defined yet
    stack: list[str] = []
    held: list[str] = []  # the text since the last significant mark
    after = ""  # the last significant mark: "(", "/", ":", ")" or "" at the start
    role = ""

    def fail(problem: str) -> InputError:
        return InputError(f"{problem} in the graph {line[:80]!r}", fix=_FIX)

    def close_value() -> None:
        """`:op1 w` or `/ want-01` ends here."""
        text = "".join(held)
        held.clear()
        if after == "/":
            nodes[stack[-1]] = text
        elif after == ":":
            words = text.split()
            if len(words) < 2:
                raise fail(f"the role {text.strip()!r} has no value")
            (roles if nodes.get(words[1]) else later).append((stack[-1], words[0], words[1]))

    for token in _TOKENS.findall(line):
        if token == "(":
            if after == ":":
                role = "".join(held).strip()
                if not role:
                    raise fail("a role has no name")
            elif after:
                raise fail("an opening bracket stands where a role is due")
            held.clear()
            after = "("
        elif token == "/":
            if after != "(":
                raise fail("a slash stands outside a node")
            variable = "".join(held)
            held.clear()
            if variable in nodes or variable in stack:
                raise fail(f"the variable {variable!r} is defined twice")
            if stack:
                roles.append((stack[-1], role, variable))
            stack.append(variable)
            nodes[variable] = ""
            after = "/"
        elif token == ":":
            if not stack:
                raise fail("a role stands outside the graph")
            if after == "(":
                raise fail("a node has no concept")
            close_value()
            after = ":"
        elif token == ")":
            if not stack or after == "(":
                raise fail("a closing bracket closes nothing" if after != "(" else "a node has no concept")
            close_value()
            stack.pop()
            after = ")"
        elif token[0] == '"':
            if token[-1] != '"' or len(token) == 1:
                raise fail("a string is not closed")
            held.append((token[1:-1] if after == ":" else token[1:-1].replace(" ", "")) + "_")
        else:
            held.append(token if after == ":" else token.replace(" ", ""))
    if stack:
        raise fail("a bracket is not closed")
    if not nodes:
        raise fail("there is no node")
    return nodes, roles + later


def _triples(nodes: dict[str, str], roles: list[tuple[str, str, str]], *, repeated: bool) -> Triples:
    number = {variable: index for index, variable in enumerate(nodes)}
    attributes: list[tuple[str, int, str]] = [("top", 0, "top")]
    edges: list[tuple[str, int, int]] = []
    for source, role, target in roles:
        if role.endswith("-of") and role not in _NOT_INVERSE:
            source, role, target = target, role[:-3], source
        elif role == "mod":
            source, role, target = target, "domain", source
        if source not in number:
            continue
        if target in number:
            edges.append((normal(role), number[source], number[target]))
        else:
            attributes.append((normal(role), number[source], normal(target)))
    if not repeated:
        attributes, edges = list(set(attributes)), list(set(edges))
    return Triples(
        tuple(nodes), tuple(normal(c) for c in nodes.values()), tuple(sorted(attributes)), tuple(sorted(edges))
    )

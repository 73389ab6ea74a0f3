"""The graph under construction: nodes, roles between them, and its PENMAN text."""

from __future__ import annotations

import re

# Roles that end in -of without being turned round (as Smatch reads them).
_NOT_INVERSE = frozenset({"consist-of", "prep-out-of", "prep-on-behalf-of"})
_PLAIN = re.compile(r"[^\s()\"/:~]+")
_VALUE = re.compile(r"-|[+]|-?\d+(?:\.\d+)?|imperative|expressive")


class Node:
    """A node of the draft; its concept may still change."""

    def __init__(self, concept: str, position: int) -> None:
        self.concept = concept
        self.position = position  # the token it stands for: siblings are written in the order of the sentence

    def __repr__(self) -> str:
        return f"<{self.concept}>"


class Draft:
    """Nodes and the edges between them, in the order in which they were made.

    An edge is (source, role, target); the target is a node or the text of a constant. Inverse roles are turned round
    when they are added, so every relation is stored in one way.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.edges: list[tuple[Node, str, Node | str]] = []

    def node(self, concept: str, position: int = -1) -> Node:
        node = Node(_clean(concept), position)
        self.nodes.append(node)
        return node

    def edge(self, source: Node, role: str, target: Node | str) -> None:
        """Add `:role`; a repeated edge, or one from a node to itself, is left out."""
        if isinstance(target, Node):
            if role.endswith("-of") and role not in _NOT_INVERSE:
                source, role, target = target, role[:-3], source
            elif role == "domain":
                source, role, target = target, "mod", source
        if source is target or (source, role, target) in self.edges:
            return
        self.edges.append((source, role, target))

    def has(self, source: Node, role: str) -> bool:
        """Whether the node has the role already."""
        return any(edge[0] is source and edge[1] == role for edge in self.edges)

    def target(self, source: Node, role: str) -> Node | None:
        """The node at the end of a role, if there is one."""
        return next((t for s, r, t in self.edges if s is source and r == role and isinstance(t, Node)), None)

    def merge(self, kept: Node, other: Node) -> None:
        """Let two nodes be one."""
        edges, self.edges = self.edges, []
        self.nodes.remove(other)
        for source, role, target in edges:
            self.edge(kept if source is other else source, role, kept if target is other else target)

    def drop(self, node: Node) -> None:
        """Take a node and its edges out."""
        self.nodes.remove(node)
        self.edges = [edge for edge in self.edges if edge[0] is not node and edge[2] is not node]

    def reachable(self, root: Node) -> set[Node]:
        """All nodes connected with the root, roles followed both ways."""
        around: dict[Node, list[Node]] = {}
        for source, _, target in self.edges:
            if isinstance(target, Node):
                around.setdefault(source, []).append(target)
                around.setdefault(target, []).append(source)
        seen, todo = {root}, [root]
        while todo:
            for node in around.get(todo.pop(), ()):
                if node not in seen:
                    seen.add(node)
                    todo.append(node)
        return seen

    def write(self, root: Node) -> str:
        """The graph in PENMAN notation, on one line; nodes that are not connected with the root are left out."""
        names = self._variables(root)
        out: dict[Node, list[tuple[str, Node | str, int]]] = {}
        for number, (source, role, target) in enumerate(self.edges):
            out.setdefault(source, []).append((role, target, number))
            if isinstance(target, Node):
                out.setdefault(target, []).append((_inverse(role), source, number))
        used: set[int] = set()
        written: set[Node] = set()

        def text(node: Node) -> str:
            written.add(node)
            parts = [f"({names[node]} / {node.concept}"]
            for role, target, number in out.get(node, ()):
                if number in used:
                    continue
                used.add(number)
                if isinstance(target, str):
                    parts.append(f":{role} {_constant(target)}")
                elif target in written:
                    parts.append(f":{role} {names[target]}")
                else:
                    parts.append(f":{role} {text(target)}")
            return " ".join(parts) + ")"

        return text(root)

    def _variables(self, root: Node) -> dict[Node, str]:
        names: dict[Node, str] = {}
        count: dict[str, int] = {}
        reachable = self.reachable(root)
        for node in self.nodes:
            if node in reachable:
                letter = node.concept[0].lower() if node.concept[0].isascii() and node.concept[0].isalpha() else "x"
                count[letter] = count.get(letter, 0) + 1
                names[node] = f"{letter}{count[letter]}" if count[letter] > 1 else letter
        return names


def _inverse(role: str) -> str:
    return "domain" if role == "mod" else f"{role}-of"


def _constant(value: str) -> str:
    if _VALUE.fullmatch(value):
        return value
    return '"' + value.replace("\\", "").replace('"', "'") + '"'


def _clean(concept: str) -> str:
    """A concept that PENMAN can hold without quotes."""
    cleaned = "-".join(_PLAIN.findall(concept)).strip("-")
    return cleaned or "thing"

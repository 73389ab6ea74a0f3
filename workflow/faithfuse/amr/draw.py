"""A picture of an AMR graph, as SVG: the same graph always gives the same bytes.

The graph is drawn as it is written: a tree from the root down, its leaves side by side; a variable that is used
again (a reentrancy) is a dashed curve to the node.
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple

import penman

from faithfuse.amr.parse import check_graph
from faithfuse.errors import InputError

_ROW, _GAP, _HEIGHT, _CHARACTER, _MARGIN = 84, 18, 28, 7.4, 16
_STYLE = (
    "text{font:13px ui-monospace,Menlo,Consolas,monospace;text-anchor:middle;fill:#1f2933}"
    ".role{font-size:11px;fill:#486581;paint-order:stroke;stroke:#fff;stroke-width:4px}"
    ".note{font-size:11px;fill:#627d98}"
    ".node{fill:#e6f0fa;stroke:#2f6fab}.frame{fill:#fdf1dc;stroke:#b7791f}.value{fill:#f4f4f5;stroke:#9aa5b1}"
    ".edge{fill:none;stroke:#829ab1}.again{stroke-dasharray:4 3;stroke:#c05621}"
)


class _Box(NamedTuple):
    text: str
    kind: str
    x: float
    y: float
    width: float


class _Line(NamedTuple):
    role: str
    source: int
    target: int
    again: bool


def draw(graph: str, title: str = "", note: str = "") -> str:
    """Draw one graph.

    Args:
        graph: PENMAN text.
        title: shown above the graph, such as its sentence.
        note: shown below the graph, such as the parser that it is from.

    Raises:
        InputError: the text is not a graph.
    """
    line, reason = check_graph(graph, decoded=False)
    if line is None:
        raise InputError(f"{reason}: {graph[:60]!r}", fix="Give one graph in PENMAN notation.")
    tree = penman.parse(line)
    boxes: list[_Box] = []
    lines: list[_Line] = []
    where: dict[str, int] = {}
    later: list[tuple[str, int, str]] = []
    variables = {node[0] for node in tree.nodes()}

    def place(text: str, kind: str, left: float, depth: int) -> int:
        width = len(text) * _CHARACTER + 18
        boxes.append(_Box(text, kind, left + width / 2, depth * _ROW, width))
        return len(boxes) - 1

    def node(item: tuple, left: float, depth: int) -> tuple[int, float]:
        """Lay out a subtree from `left` on; its box and its right end."""
        variable, branches = item
        concept = next((str(target) for role, target in branches if role == "/"), "")
        kind = "frame" if concept[-3:-2] == "-" and concept[-2:].isdigit() else "node"
        index = place(f"{variable} / {concept}", kind, left, depth)
        where[variable] = index
        right, centres = left, []
        for role, target in branches:
            if role == "/":
                continue
            if isinstance(target, tuple):
                child, end = node(target, right, depth + 1)
            elif target in variables:
                later.append((role, index, target))
                continue
            else:
                child = place(str(target), "value", right, depth + 1)
                end = right + boxes[child].width
            lines.append(_Line(role, index, child, False))
            centres.append(boxes[child].x)
            right = end + _GAP
        own = boxes[index]
        middle = (centres[0] + centres[-1]) / 2 if centres else own.x
        boxes[index] = own._replace(x=max(middle, left + own.width / 2))
        return index, max(right - _GAP, left + own.width, boxes[index].x + own.width / 2)

    _, right = node(tree.node, 0.0, 0)
    lines += [_Line(role, source, where[target], True) for role, source, target in later]
    return _svg(boxes, lines, right, title, note)


def _svg(boxes: list[_Box], lines: list[_Line], right: float, title: str, note: str) -> str:
    top = 34 if title else 0
    width = max(right, len(title) * _CHARACTER, len(note) * _CHARACTER) + 2 * _MARGIN
    height = max(box.y for box in boxes) + _HEIGHT + 2 * _MARGIN + top + (26 if note else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
        f"<title>{escape(title or boxes[0].text)}</title><style>{_STYLE}</style>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>',
    ]
    if title:
        parts.append(f'<text x="{width / 2:.1f}" y="24">{escape(title)}</text>')

    if note:
        parts.append(f'<text class="note" x="{width / 2:.1f}" y="{height - 12:.1f}">{escape(note)}</text>')

    def at(box: _Box) -> tuple[float, float]:
        return box.x + _MARGIN, box.y + _MARGIN + top + _HEIGHT / 2

    labels = []
    for line in lines:
        (x1, y1), (x2, y2) = at(boxes[line.source]), at(boxes[line.target])
        if line.again:
            bend = 40 + abs(x1 - x2) * 0.1
            parts.append(
                f'<path class="edge again" d="M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} '
                f'{x2:.1f} {y2 + bend:.1f} {x2:.1f} {y2 + _HEIGHT / 2:.1f}"/>'
            )
            label_at = ((x1 + x2) / 2, (y1 + y2) / 2 + 0.75 * bend)
        else:
            parts.append(f'<path class="edge" d="M{x1:.1f} {y1 + _HEIGHT / 2:.1f}L{x2:.1f} {y2 - _HEIGHT / 2:.1f}"/>')
            label_at = (x1 + (x2 - x1) * 0.62, y1 + (y2 - y1) * 0.62)
        labels.append(f'<text class="role" x="{label_at[0]:.1f}" y="{label_at[1]:.1f}">{escape(line.role)}</text>')
    for box in boxes:
        x, y = at(box)
        parts.append(
            f'<rect class="{box.kind}" x="{x - box.width / 2:.1f}" y="{y - _HEIGHT / 2:.1f}" '
            f'width="{box.width:.1f}" height="{_HEIGHT}" rx="{3 if box.kind == "value" else 9}"/>'
            f'<text x="{x:.1f}" y="{y + 4.5:.1f}">{escape(box.text)}</text>'
        )
    return "\n".join([*parts, *labels, "</svg>"]) + "\n"

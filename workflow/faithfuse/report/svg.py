"""SVG drawing with matplotlib that gives the same bytes every time.

A figure of the report is one SVG made of panels: nested `<svg>` elements with fixed ids, each drawn by matplotlib on
its own. So a page can lay the panels out anew for a narrow screen, and no id occurs twice in a document.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)

INK, MUTED, GRID, PAGE = "#1b1f24", "#59636e", "#d5dae0", "#ffffff"

# Okabe and Ito's colour-blind safe set, darkened where a small dot on white needs it; shapes say the same again.
CLASS_COLOURS = {
    "llm": "#0072b2",
    "n-gram": "#d55e00",
    "embedding": "#00805d",
    "graph": "#a8528a",
    "matching": "#946c00",
    "human": INK,
}
CLASS_MARKERS = {"llm": "o", "n-gram": "s", "embedding": "^", "graph": "D", "matching": "v", "human": "*"}
MARGIN = 16.0
OMISSION, NO_OMISSION, UNRESOLVED = "#b84a00", "#cfe3f2", "#eef0f2"

STYLE = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10.5,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 10,
    "axes.titlesize": 12.5,
    "axes.titleweight": "bold",
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": INK,
    "ytick.major.size": 0,
    "text.color": INK,
    "axes.unicode_minus": True,
    "svg.fonttype": "none",
    "path.simplify": False,
}


class Panel(NamedTuple):
    """One drawn part of a figure: its id, its size in SVG units, and the element."""

    name: str
    width: float
    height: float
    element: ElementTree.Element


def canvas(width: float, height: float) -> Figure:
    """An empty figure of a size in SVG units."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 72, height / 72), dpi=72)
    FigureCanvasSVG(figure)
    return figure


def box(left: float, top: float, width: float, height: float, of: Figure) -> tuple[float, float, float, float]:
    """A rectangle given in SVG units from the upper left corner, as matplotlib's figure fractions."""
    total_width, total_height = of.get_size_inches() * 72
    return (left / total_width, 1 - (top + height) / total_height, width / total_width, height / total_height)


def to_panel(figure: Figure, name: str) -> Panel:
    """Write a figure as a panel whose ids all begin with its name.

    Must run inside `matplotlib.rc_context(STYLE)`, as the drawing must.
    """
    import matplotlib

    stream = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(
            stream,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    root = ElementTree.fromstring(stream.getvalue())
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    for definitions in root.findall(f"{{{SVG}}}defs"):
        for style in definitions.findall(f"{{{SVG}}}style"):
            definitions.remove(style)
        if len(definitions) == 0:
            root.remove(definitions)
    # Matplotlib says this in a `*` rule, which would reach the whole page when the SVG stands in HTML.
    root.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    for element in root.iter():
        for key in ("id", f"{{{XLINK}}}href", "clip-path"):
            value = element.get(key)
            if value is not None:
                element.set(key, re.sub(r"^(url\(#|#|)", rf"\g<1>{name}-", value))
        # One family with a generic fall-back instead of matplotlib's whole list.
        style_text = element.get("style")
        if style_text is not None and "font" in style_text:
            element.set("style", re.sub(r"'DejaVu Sans'[^;]*", "'DejaVu Sans', sans-serif", style_text))
        for attribute in ("text", "tail"):
            text = getattr(element, attribute)
            if text is not None and not text.strip():
                setattr(element, attribute, None)
        if element.get("d"):
            element.set("d", " ".join(element.get("d", "").split()))
    root.set("id", name)
    width, height = (float(part) for part in root.get("viewBox", "").split()[2:])
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    return Panel(name, width, height, root)


def compose(name: str, title: str, description: str, panels: Sequence[Panel], columns: int = 1, gap: float = 16) -> str:
    """Lay panels out in columns, read downwards, as one SVG document as low as that order allows.

    A panel wider than a column (a legend) spans all of them and must come first.

    Returns:
        The document as text, ending in a line end.
    """
    column_width = max((panel.width for panel in panels[1:]), default=panels[0].width)
    spanning = [panel for panel in panels if panel.width > column_width]
    stacks = _stacks(panels[len(spanning) :], columns, gap)
    total = len(stacks) * column_width + (len(stacks) - 1) * gap + 2 * MARGIN
    placed: list[tuple[Panel, float, float]] = []
    top = MARGIN
    for panel in spanning:
        placed.append((panel, MARGIN, top))
        top += panel.height + gap
    height = top
    for column, stack in enumerate(stacks):
        y = top
        for panel in stack:
            placed.append((panel, MARGIN + column * (column_width + gap), y))
            y += panel.height + gap
        height = max(height, y)
    height += MARGIN - gap
    root = ElementTree.Element(
        f"{{{SVG}}}svg", {"id": name, "role": "img", "aria-labelledby": f"{name}-title {name}-description"}
    )
    ElementTree.SubElement(root, f"{{{SVG}}}title", {"id": f"{name}-title"}).text = title
    ElementTree.SubElement(root, f"{{{SVG}}}desc", {"id": f"{name}-description"}).text = description
    background = ElementTree.SubElement(
        root, f"{{{SVG}}}rect", {"width": "100%", "height": "100%", "fill": PAGE, "id": f"{name}-background"}
    )
    background.tail = "\n"
    for panel, x, y in placed:
        for key, value in (("x", x), ("y", y), ("width", panel.width), ("height", panel.height)):
            panel.element.set(key, f"{value:g}")
        panel.element.tail = "\n"
        root.append(panel.element)
    root.set("width", f"{total:g}")
    root.set("height", f"{height:g}")
    root.set("viewBox", f"0 0 {total:g} {height:g}")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _stacks(panels: Sequence[Panel], columns: int, gap: float) -> list[list[Panel]]:
    """Cut panels, in order, into at most `columns` stacks whose tallest is as low as possible."""

    def tallest(stacks: list[list[Panel]]) -> float:
        return max(sum(panel.height + gap for panel in stack) for stack in stacks)

    cuts = itertools.combinations(range(1, len(panels)), min(columns, len(panels)) - 1)
    divided = ([list(panels[i:j]) for i, j in itertools.pairwise((0, *cut, len(panels)))] for cut in cuts)
    return min(divided, key=tallest)

"""Reading the points of a generated summary (arXiv 2512.05700, appendix C-A: `*` marks each point)."""

from __future__ import annotations

import re

from faithfuse.datasets.points import sentences
from faithfuse.records import Item

# A marker is only a marker at the start of a line, with a blank after it; a bare `*` may touch its text.
_BULLET = re.compile(r"^\s*(?:[-–—•‣◦▪·+]\s+|\*+(?!\*)\s*|\(?\d{1,2}[.)]\s+)(?P<text>.*)$")
_BOLD_HEADING = re.compile(r"^\s*\*\*[^*]+\*\*:?\s*$")


def read_points(text: str) -> list[str]:
    """The summary's points, in order, without their markers.

    Lines that begin with `*`, `-`, `•` or a number are points. A line without a marker continues the point right
    above it, is a point of its own after an empty line, and before the first marker is a preamble ("Here is the
    summary:") and left out. Several ` * ` inside one line separate points, too. A text without any marker is taken
    sentence by sentence, as the paper splits reference summaries (section III-E). Empty points are left out; a text
    with words always gives at least one point.
    """
    lines = [line.rstrip() for line in text.strip().splitlines()]
    if len(lines) == 1 and lines[0].count(" * ") >= 1 and lines[0].lstrip().startswith("*"):
        lines = ["* " + part for part in re.split(r"(?:^|\s)\*\s", lines[0]) if part.strip()]
    points: list[str] = []
    after_gap = False
    for line in lines:
        if not line.strip() or _BOLD_HEADING.match(line):
            after_gap = True
            continue
        match = _BULLET.match(line)
        if match:
            points.append(match["text"].strip())
        elif points and after_gap:
            points.append(line.strip())
        elif points:
            points[-1] = f"{points[-1]} {line.strip()}".strip()
        after_gap = False
    points = [point for point in (_plain(point) for point in points) if re.search(r"\w", point)]
    return points or _running_text(text)


def reference_points(item: Item) -> list[str]:
    """The points of an item's reference summary: as recorded, else the sentences of its long references."""
    given = [point for point in item.references.points if point.strip()]
    return given or [point for text in item.references.long for point in sentences(text)]


def _running_text(text: str) -> list[str]:
    """The sentences of each line, the same cut that gives recorded summaries their points and the parser its input."""
    found = [_plain(sentence) for line in text.splitlines() for sentence in sentences(line)]
    kept = [sentence for sentence in found if re.search(r"\w", sentence)]
    return kept or ([text.strip()] if text.strip() else [])


def _plain(text: str) -> str:
    """Without the emphasis marks that models add around words."""
    return re.sub(r"\*\*(.+?)\*\*", r"\1", text).strip()

"""A picture of how a task-oriented record nests acts, slots and values (arXiv 2512.05700, Figure 1), as SVG.

One turn is shown: `acts[i]` beside `act_slots[i]` and `act_slot_values[i]`, whose members correspond by index. The same
record always gives the same bytes.
"""

from __future__ import annotations

from html import escape

from faithfuse.datasets.schema import TodRecord
from faithfuse.errors import InputError

_CHARACTER, _LINE, _PAD, _GAP, _MARGIN, _HEAD = 7.9, 26, 8, 26, 18, 24
_COLUMNS = ("acts", "act_slots", "act_slot_values")
_STYLE = (
    "text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#1f2933}"
    ".key{fill:#486581;font-size:12px}.index{fill:#627d98;font-size:11px;text-anchor:end}"
    ".record{fill:#fff;stroke:#2f6fab}.turn{fill:#f5f9fd;stroke:#2f6fab}.group{fill:#fff;stroke:#829ab1}"
    ".acts{fill:#fdf1dc;stroke:#b7791f}.act_slots{fill:#e6f0fa;stroke:#2f6fab}.act_slot_values{fill:#e6f4ea;stroke:#2f855a}"
    ".link{stroke:#829ab1;fill:none}"
)


def draw_nesting(record: TodRecord, turn: int = 0) -> str:
    """Draw one turn of a record.

    Args:
        record: a task-oriented dialogue.
        turn: which of its turns, from 0.

    Raises:
        InputError: the record has no such turn.
    """
    if not 0 <= turn < len(record.turns):
        raise InputError(
            f"has {len(record.turns)} turns, no turn {turn}",
            record=record.record_id,
            fix="Give the number of a turn, from 0.",
        )
    shown = record.turns[turn]
    groups = [
        (
            act,
            ["null" if slot is None else slot for slot in shown.act_slots[i]],
            [", ".join(values) if values else "[]" for values in shown.act_slot_values[i]],
        )
        for i, act in enumerate(shown.acts)
    ]
    texts = ([act for act, _, _ in groups], *([t for group in groups for t in group[part]] for part in (1, 2)))
    widths = [
        max(map(len, [*column, f"{name}[i][j]"])) * _CHARACTER + 2 * _PAD + 40
        for column, name in zip(texts, _COLUMNS, strict=True)
    ]
    summary = [
        ("utterances", f"{len(record.summary.utterances)} texts"),
        ("acts", ", ".join(record.summary.acts)),
        *((f"slots[{k}]", f"{slot.slot} = {', '.join(slot.values)}") for k, slot in enumerate(record.summary.slots)),
    ]
    heads = [("record_id", record.record_id), ("services", ", ".join(record.services))]
    speech = [("speaker", shown.speaker), ("utterance", shown.utterance)]
    lines = [*heads, *speech, *summary]
    inner = max(sum(widths) + 2 * _GAP, max((len(key) + len(text) + 2) * _CHARACTER for key, text in lines) + 2 * _PAD)
    width = inner + 6 * _MARGIN
    parts: list[str] = []
    y = _MARGIN + _HEAD + _PAD

    def fields(pairs: list[tuple[str, str]], left: float) -> None:
        nonlocal y
        for key, text in pairs:
            parts.append(
                f'<text x="{left:.1f}" y="{y + 17:.1f}"><tspan class="key">{escape(key)}: </tspan>{escape(text)}</text>'
            )
            y += _LINE

    def frame(kind: str, top: float, left: float, right: float, title: str, at: int) -> None:
        parts[at:at] = [
            _rectangle(kind, left, top, right - left, y - top, 8),
            f'<text class="key" x="{left + _PAD:.1f}" y="{top + 17:.1f}">{escape(title)}</text>',
        ]

    fields(heads, 2 * _MARGIN)
    top, at = y + _PAD, len(parts)
    y = top + _HEAD
    fields(speech, 3 * _MARGIN)
    y += _PAD
    lefts = [2 * _MARGIN + _MARGIN]
    for column in widths[:-1]:
        lefts.append(lefts[-1] + column + _GAP)
    for left, name in zip(lefts, ("acts[i]", "act_slots[i][j]", "act_slot_values[i][j]"), strict=True):
        parts.append(f'<text class="key" x="{left:.1f}" y="{y + 12:.1f}">{name}</text>')
    y += _HEAD
    for i, (act, slots, values) in enumerate(groups):
        rows = max(len(slots), 1)
        height = rows * _LINE + 2
        for left, column, kind in zip(lefts, widths, _COLUMNS, strict=True):
            parts.append(_rectangle("group", left, y, column, height + 6, 6))
            if kind == "acts":
                parts += _cell(kind, left, y + 3, column, height, f"{i}", act)
            else:
                for j, text in enumerate(slots if kind == "act_slots" else values):
                    parts += _cell(kind, left, y + 3 + j * _LINE, column, _LINE, f"{i},{j}", text)
        for left, column in zip(lefts[:2], widths[:2], strict=True):
            middle, start, end = y + height / 2 + 3, left + column, left + column + _GAP
            parts.append(f'<path class="link" d="M{start:.1f} {middle:.1f}H{end:.1f}"/>')
        y += height + 6 + _PAD
    y += _PAD
    frame("turn", top, 2 * _MARGIN, width - 2 * _MARGIN, f"turns[{turn}]", at)
    y += _PAD
    top, at = y, len(parts)
    y += _HEAD
    fields(summary, 3 * _MARGIN)
    y += _PAD
    frame("turn", top, 2 * _MARGIN, width - 2 * _MARGIN, "summary", at)
    y += _MARGIN
    frame("record", _MARGIN, _MARGIN, width - _MARGIN, "task-oriented record", 0)
    height = y + _MARGIN
    title = "A task-oriented record: slots and values stand under their act, at the same index"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style>",
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _cell(kind: str, left: float, top: float, width: float, height: float, index: str, text: str) -> list[str]:
    middle = top + height / 2 + 4.5
    return [
        _rectangle(kind, left + 4, top + 2, width - 8, height - 4, 4),
        f'<text x="{left + _PAD + 4:.1f}" y="{middle:.1f}">{escape(text)}</text>',
        f'<text class="index" x="{left + width - 8:.1f}" y="{middle:.1f}">{index}</text>',
    ]


def _rectangle(kind: str, left: float, top: float, width: float, height: float, radius: int) -> str:
    box = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" {box} rx="{radius}"/>'

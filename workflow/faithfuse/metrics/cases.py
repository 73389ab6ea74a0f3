"""What the metrics work on: each response beside its item, with a summary's points and the references' points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from faithfuse.errors import InputError
from faithfuse.llm.points import read_points, reference_points
from faithfuse.records import EVALUATED_DOMAINS, Domain, Item, Response

Key = tuple[str, str]


class Case(NamedTuple):
    """One response with its item.

    `points` are the generated points of a summary and `reference_points` the ground truth's, both empty for the
    question-answering domains. `gold` are the item's reference texts, blank ones left out.
    """

    item: Item
    response: Response
    gold: tuple[str, ...]
    points: tuple[str, ...]
    reference_points: tuple[str, ...]

    @property
    def key(self) -> Key:
        """`(item_id, system)`, the row of the metric table."""
        return (self.item.item_id, self.response.system)

    def full_text(self) -> str:
        """The whole response: a summary's points joined by blanks (without bullets), else the text."""
        return " ".join(self.points) or self.response.text or ""


def one_domain(items: Sequence[Item], path: Path | str | None = None) -> Domain:
    """The domain all items share.

    Raises:
        InputError: there are no items, they are of several domains, or of one that is not evaluated.
    """
    if not items:
        raise InputError("holds no items", path=path, fix="Give a file with at least one item.")
    domain = items[0].domain
    for item in items:
        if item.domain != domain:
            raise InputError(
                f"is of domain {item.domain}, the items before it of {domain}",
                path=path,
                record=item.item_id,
                fix="Metrics differ by domain: make one file of each domain (`faithfuse items --domain D`).",
            )
    if domain not in EVALUATED_DOMAINS:
        raise InputError(
            f"has items of domain {domain}, for which no metrics are defined",
            path=path,
            fix=f"Use one of {', '.join(EVALUATED_DOMAINS)}.",
        )
    return domain


def build_cases(items: Sequence[Item], responses: Sequence[Response]) -> list[Case]:
    """Pair responses with their items, in the order of `(item_id, system)`.

    A summary without points is cut into points as the judge cuts it; a reference summary into its sentences.

    Args:
        items: items of one domain.
        responses: their responses; an item may have none, or several systems'.

    Raises:
        InputError: a response's item is missing, or a system has two responses to an item.
    """
    by_id = {item.item_id: item for item in items}
    cases: dict[Key, Case] = {}
    known: dict[str, tuple[str, ...]] = {}
    for response in sorted(responses, key=lambda response: response.sort_key()):
        item = by_id.get(response.item_id)
        if item is None:
            raise InputError(
                f"is answered by {response.system}, and no such item is given",
                record=response.item_id,
                fix="Give the items file that the responses were made from.",
            )
        key = (response.item_id, response.system)
        if key in cases:
            raise InputError(
                f"has two responses of system {response.system}",
                record=response.item_id,
                fix="Give the systems different names, or remove one of the two.",
            )
        gold = tuple(text for text in item.gold() if text.strip())
        points: tuple[str, ...] = ()
        if item.domain == Domain.SUMMARISATION:
            if item.item_id not in known:
                known[item.item_id] = tuple(reference_points(item))
            if response.text is not None:
                points = tuple(response.points) or tuple(read_points(response.text))
        cases[key] = Case(item, response, gold, points, known.get(item.item_id, ()))
    return list(cases.values())

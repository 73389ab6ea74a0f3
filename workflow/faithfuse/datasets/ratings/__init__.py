"""One importer per public human-judgement set."""

from __future__ import annotations

from collections.abc import Iterable

from faithfuse.datasets.ratings import (
    begin_wow,
    claims,
    dialsummeval,
    evouna,
    expertqa,
    faceval,
    haluquestqa,
    mtrag,
    openqa_eval,
    own,
    storysumm,
    summedits,
    tofueval,
)
from faithfuse.datasets.ratings.base import Importer
from faithfuse.errors import InputError

IMPORTERS: dict[str, Importer] = {
    importer.name: importer
    for importer in (
        evouna.NQ,
        evouna.TQ,
        openqa_eval.OPENQA_EVAL,
        expertqa.EXPERTQA,
        haluquestqa.HALUQUESTQA,
        claims.FACTOOL,
        claims.FACTCHECK,
        mtrag.MTRAG,
        begin_wow.BEGIN_WOW,
        dialsummeval.DIALSUMMEVAL,
        faceval.FACEVAL,
        summedits.SUMMEDITS,
        tofueval.TOFUEVAL,
        storysumm.STORYSUMM,
        own.OWN,
    )
}


def importer(name: str) -> Importer:
    """The importer of a set.

    Raises:
        InputError: there is none of that name.
    """
    try:
        return IMPORTERS[name]
    except KeyError:
        raise InputError(f"there is no set {name!r}", fix=f"Choose from {', '.join(sorted(IMPORTERS))}.") from None


def refuse_training(item_ids: Iterable[str]) -> None:
    """Refuse to train on sets whose authors ask for evaluation only; whatever fits a model calls this first.

    Raises:
        InputError: one of the items is of such a set.
    """
    forbidden = {name: known for name, known in IMPORTERS.items() if known.evaluation_only}
    for item_id in item_ids:
        known = forbidden.get(item_id.partition(":")[0])
        if known is not None:
            raise InputError(
                f"is of {known.title}, which is for evaluation only by its authors' wish",
                record=item_id,
                fix="Leave this set out of the fusion; score it with a model that was fitted without it.",
            )

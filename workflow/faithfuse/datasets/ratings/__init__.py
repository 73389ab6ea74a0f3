"""One importer per public human-judgement set."""

from __future__ import annotations

from faithfuse.datasets.ratings import dialsummeval, evouna
from faithfuse.datasets.ratings.base import Importer
from faithfuse.errors import InputError

IMPORTERS: dict[str, Importer] = {
    importer.name: importer for importer in (evouna.NQ, evouna.TQ, dialsummeval.DIALSUMMEVAL)
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

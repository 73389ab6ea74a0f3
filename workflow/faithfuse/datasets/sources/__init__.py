"""One loader per source set of the cross-domain data set (arXiv 2512.05700, section III)."""

from __future__ import annotations

from faithfuse.datasets.sources import (
    dstc3,
    multiwoz22,
    natural_questions,
    popqa,
    qaconv,
    samsum,
    sgd,
    spokenwoz,
)
from faithfuse.datasets.sources.base import SourceSet
from faithfuse.errors import InputError

SOURCES: dict[str, SourceSet] = {
    source.name: source
    for source in (
        natural_questions.NATURAL_QUESTIONS,
        popqa.POPQA,
        qaconv.QACONV,
        samsum.SAMSUM,
        sgd.SGD,
        dstc3.DSTC3,
        spokenwoz.SPOKENWOZ,
        multiwoz22.MULTIWOZ22,
    )
}


def source_set(name: str) -> SourceSet:
    """The loader of a source set.

    Raises:
        InputError: there is none of that name.
    """
    try:
        return SOURCES[name]
    except KeyError:
        raise InputError(f"there is no source set {name!r}", fix=f"Choose from {', '.join(SOURCES)}.") from None

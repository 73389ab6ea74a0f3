"""Which metrics exist, under the names of the paper's tables, and the class each belongs to.

The class is the metric's own (arXiv 2512.05700, Table I), not the cross in the paper's Table II, which has
several misplaced (docs/decisions/0003-metric-classes.md). `extension` marks metrics the paper's tables do not have.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LLM, NGRAM, GRAPH, EMBEDDING, MATCHING = "llm", "n-gram", "graph", "embedding", "matching"
CLASSES = (LLM, NGRAM, EMBEDDING, GRAPH, MATCHING)
OTHER = "other"
"""Class of a metric that a user brings under a name of their own."""

_AGGREGATES = r"(?: (?:mean|max|min))?"
_GRAPH_CORE = r"(?:SMATCH|Unlabeled F1|No WSD F1|Entity F1)"

_PATTERNS: tuple[tuple[str, str, bool], ...] = (
    (rf"LLM (?:Likert|Conf\.)(?: Fact{_AGGREGATES})?", LLM, False),
    (r"LLM .*", LLM, True),
    (rf"ROUGE-[12L]{_AGGREGATES}", NGRAM, False),
    (r"(?:ROUGE|chrF|BLEU|Token F1).*", NGRAM, True),
    (rf"BERTScore{_AGGREGATES}", EMBEDDING, False),
    (r"BERTScore.*", EMBEDDING, True),
    (r"(?:Exact|Lexical) match", MATCHING, False),
    (r"(?:Exact|Lexical) match.*", MATCHING, True),
    (rf"(?:Transcript |Turn GT |Turn Transcript )?{_GRAPH_CORE}{_AGGREGATES}", GRAPH, False),
    (r".*(?:SMATCH|AMR|Unlabeled|No WSD|Entity|Concepts|Frames|Negations|Reentrancies|SRL|Fact tuple).*", GRAPH, True),
)


class MetricInfo(NamedTuple):
    """What the tables need to know of a metric."""

    name: str
    metric_class: str
    extension: bool


def metric_info(name: str) -> MetricInfo:
    """Look up a metric by its table name.

    Raises:
        KeyError: the name follows none of the known patterns (a user's own metric; pass its class explicitly).
    """
    for pattern, metric_class, extension in _PATTERNS:
        if re.fullmatch(pattern, name):
            return MetricInfo(name, metric_class, extension)
    raise KeyError(name)

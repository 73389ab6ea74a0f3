"""Fused scores straight from texts, as a plain function: what `faithfuse metrics` and `faithfuse score` do in files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from faithfuse.analysis.model import FusedModel, read_model
from faithfuse.analysis.plain import FusedScore, fused_scores
from faithfuse.errors import InputError
from faithfuse.metrics.cases import Case, build_cases
from faithfuse.metrics.graph import GraphBook
from faithfuse.metrics.registry import EMBEDDING, GRAPH, MATCHING, NGRAM
from faithfuse.records import EVALUATED_DOMAINS, Domain, Item, References, Response

SYSTEM = "text"


class TextScores(NamedTuple):
    """Fused scores of texts.

    Attributes:
        scores: one per response.
        missing: the model's metrics that were not computed and count as missing: those of an LLM judge, those of other
            classes for which no encoder was given, and a user's own.
    """

    scores: list[FusedScore]
    missing: list[str]


def fused_scores_of_texts(
    model: FusedModel | Path | str,
    texts: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    transcripts: Sequence[str] | None = None,
    encoder: Path | str | None = None,
    layers: int | None = None,
) -> TextScores:
    """Score responses from their texts.

    The model's n-gram, matching and graph metrics are computed (graphs by the embedded parser), and with an encoder its
    BERTScore too. A summary is cut into points as the judge cuts it, a reference summary into its sentences.

    Args:
        model: a model, or the folder that `faithfuse fuse` wrote; its domain says what the texts are.
        texts: answers or summaries.
        references: per response its right answers, or its reference summaries.
        transcripts: per response its dialogue, one `Speaker: text` line a turn; for summaries.
        encoder: folder of the encoder of BERTScore.
        layers: its hidden layer; the last one by default.

    Raises:
        InputError: the lengths differ, the model's domain is none of ours, a response has no reference, or a metric
            was computed with other settings than the model's.
    """
    model = model if isinstance(model, FusedModel) else read_model(model)
    domain = _domain(model)
    if len(references) != len(texts) or (transcripts is not None and len(transcripts) != len(texts)):
        raise InputError(f"{len(texts)} texts need as many references and transcripts", fix="Give one of each.")
    cases = build_cases(
        [_item(number, domain, given, transcripts) for number, given in enumerate(references)],
        [Response(item_id=f"{number:09d}", system=SYSTEM, text=text) for number, text in enumerate(texts)],
    )
    columns = {column.name: column for column in _columns(cases, model, encoder, layers)}
    trained = dict(zip(model.metrics, model.signatures, strict=True))
    for name in trained.keys() & columns.keys():
        if trained[name] not in (None, columns[name].signature):
            raise InputError(
                f"{name} has the signature {columns[name].signature}, the model was trained with {trained[name]}",
                fix="Use the settings of the model's card, or leave out the encoder: its metrics are then missing.",
            )
    used = [name for name in model.metrics if name in columns]
    if not used:
        raise InputError(
            "the model has no metric that is computed of texts alone",
            fix="Score a metric table with `faithfuse score` or `fused_scores`.",
        )
    rows = [{name: columns[name].cells[case.key].value for name in used} for case in cases]
    return TextScores(fused_scores(model, rows), [name for name in model.metrics if name not in columns])


def _domain(model: FusedModel) -> Domain:
    if model.domain not in EVALUATED_DOMAINS:
        raise InputError(
            f"the model's domain is {model.domain!r}, so it is not known what its texts are",
            fix=f"Fuse with --domain, one of {', '.join(EVALUATED_DOMAINS)}.",
        )
    return Domain(model.domain)


def _item(number: int, domain: Domain, references: Sequence[str], transcripts: Sequence[str] | None) -> Item:
    from faithfuse.datasets.points import turns

    given = [text for text in references if text.strip()]
    if isinstance(references, str) or not given:
        raise InputError(f"response {number} has no list of references", fix="Give each response a list of texts.")
    short = domain == Domain.SHORT_FORM_QA
    context = turns(transcripts[number].splitlines()) if transcripts is not None else []
    return Item(
        item_id=f"{number:09d}",
        domain=domain,
        source_set=SYSTEM,
        # No metric of texts alone looks at the question; a record wants one.
        question=None if domain == Domain.SUMMARISATION else "?",
        context=context,
        references=References(short=given if short else [], long=[] if short else given),
        group=f"{number:09d}",
        provenance={} if context else {"context_missing": "not given"},
    )


def _columns(cases: Sequence[Case], model: FusedModel, encoder: Path | str | None, layers: int | None):
    from faithfuse.metrics.table import metric_columns

    wanted = set(model.classes)
    scorer = None
    if encoder is not None and EMBEDDING in wanted:
        from faithfuse.metrics.embedding import BertScore

        scorer = BertScore(encoder, layers)
    book = _graphs(cases) if GRAPH in wanted else None
    columns = metric_columns(cases, encoder=scorer, graphs=book)
    return [column for column in columns if column.metric_class in (NGRAM, EMBEDDING, GRAPH, MATCHING)]


def _graphs(cases: Sequence[Case]) -> GraphBook:
    from faithfuse.amr.parse import load_parser, parse_all
    from faithfuse.amr.sentences import item_sentences, response_sentences

    sentences = {sentence for case in cases for sentence in item_sentences(case.item)}
    sentences |= {sentence for case in cases for sentence in response_sentences(case.response, case.item.domain)}
    return GraphBook(parse_all(sorted(sentences), load_parser("rules", Path(), 1), None))

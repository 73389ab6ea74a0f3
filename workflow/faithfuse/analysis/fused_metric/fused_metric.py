"""A fused faithfulness metric as a module for Hugging Face `evaluate`, loaded from a local path.

From metric values:

    import evaluate
    fused = evaluate.load("workflow/faithfuse/analysis/fused_metric")
    fused.compute(predictions=[{"ROUGE-1": 0.4, "LLM Conf.": 0.9}], model="results/fusion/short_form_qa")

From texts, with their references:

    fused = evaluate.load("workflow/faithfuse/analysis/fused_metric", "texts")
    fused.compute(predictions=["It was Bob Dylan."], references=[["Bob Dylan"]], model="results/fusion/short_form_qa")

It needs no hub. A prediction of values holds the metric values of one response, by the names of the model's card; with
references (human ratings) the result has their Pearson correlation too. Of texts, what a judge would say is missing,
and BERTScore too unless `encoder` names the encoder's folder; `missing` in the result lists what is.
"""

from __future__ import annotations

import json
import math

import datasets
import evaluate

from faithfuse.analysis.plain import fused_scores, score_correlation
from faithfuse.analysis.texts import fused_scores_of_texts

_DESCRIPTION = "A fused faithfulness score, 1-5, from metric values or texts, by a model that `faithfuse fuse` wrote."
_CITATION = "arXiv 2512.05700, section VI"
_INPUTS = """
predictions: one mapping of metric names to values per response (or the same as JSON text), null is missing; or texts.
references: of values, optional human ratings, 1-5; of texts, a list of reference texts per response.
model: the folder that `faithfuse fuse` wrote.
transcripts, encoder, layers: of texts alone, as `faithfuse.analysis.texts.fused_scores_of_texts` takes them.
"""
TEXTS = "texts"


class FusedMetric(evaluate.Metric):
    """See the module's description; `compute` also takes predictions as mappings."""

    def _info(self) -> evaluate.MetricInfo:
        of_texts = self.config_name == TEXTS
        references = datasets.Sequence(datasets.Value("string")) if of_texts else datasets.Value("float64")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": datasets.Value("string"), "references": references}),
        )

    def compute(self, *, predictions=None, references=None, **kwargs):
        """Score responses; mappings become JSON text on the way through `evaluate`'s cache."""
        if predictions is not None:
            if self.config_name != TEXTS:
                predictions = [
                    prediction if isinstance(prediction, str) else json.dumps(dict(prediction))
                    for prediction in predictions
                ]
                # `evaluate` wants the same columns every time; NaN says that there is no rating.
                references = [math.nan] * len(predictions) if references is None else references
            kwargs |= {"predictions": predictions, "references": references}
        return super().compute(**kwargs)

    def _compute(self, predictions, references, model, **options):
        if self.config_name == TEXTS:
            scored = fused_scores_of_texts(model, predictions, references, **options)
            return _result(scored.scores) | {"missing": scored.missing}
        scores = fused_scores(model, [json.loads(prediction) for prediction in predictions])
        result = _result(scores)
        if not all(math.isnan(rating) for rating in references):
            result["pearson"] = score_correlation(scores, references)
        return result


def _result(scores):
    return {"fused": [score.fused for score in scores], "clipped": [score.clipped for score in scores]}

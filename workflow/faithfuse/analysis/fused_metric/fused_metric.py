"""A fused faithfulness metric as a module for Hugging Face `evaluate`, loaded from a local path.

    import evaluate
    fused = evaluate.load("workflow/faithfuse/analysis/fused_metric")
    fused.compute(predictions=[{"ROUGE-1": 0.4, "LLM Conf.": 0.9}], model="results/fusion/short_form_qa")

It needs no hub. A prediction holds the metric values of one response, by the names of the model's card; with
references (human ratings) the result has their Pearson correlation too.
"""

from __future__ import annotations

import json
import math

import datasets
import evaluate

from faithfuse.analysis.plain import fused_scores, score_correlation

_DESCRIPTION = "A fused faithfulness score, 1-5, from metric values, by a model that `faithfuse fuse` wrote."
_CITATION = "arXiv 2512.05700, section VI"
_INPUTS = """
predictions: one mapping of metric names to values per response (or the same as JSON text); null is missing.
references: optional human ratings, 1-5.
model: the folder that `faithfuse fuse` wrote.
"""


class FusedMetric(evaluate.Metric):
    """See the module's description; `compute` also takes predictions as mappings."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {"predictions": datasets.Value("string"), "references": datasets.Value("float64")}
            ),
        )

    def compute(self, *, predictions=None, references=None, **kwargs):
        """Score responses; mappings become JSON text on the way through `evaluate`'s cache."""
        if predictions is not None:
            kwargs["predictions"] = [
                prediction if isinstance(prediction, str) else json.dumps(dict(prediction))
                for prediction in predictions
            ]
            # `evaluate` wants the same columns every time; NaN says that there is no rating.
            kwargs["references"] = [math.nan] * len(predictions) if references is None else references
        return super().compute(**kwargs)

    def _compute(self, predictions, references, model):
        rows = [json.loads(prediction) for prediction in predictions]
        scores = fused_scores(model, rows)
        result = {"fused": [score.fused for score in scores], "clipped": [score.clipped for score in scores]}
        if not all(math.isnan(rating) for rating in references):
            result["pearson"] = score_correlation(scores, references)
        return result

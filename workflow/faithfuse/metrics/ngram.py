"""n-gram metrics: ROUGE, chrF, BLEU and token F1, each of one candidate against one reference.

ROUGE-1, -2 and -L are `rouge-score`'s (Lin 2004) F1 without stemming; chrF (Popović 2015) and sentence BLEU are
`sacrebleu`'s, divided by 100; token F1 is SQuAD's. All are in 0–1.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from faithfuse.metrics.aggregate import (
    Cell,
    Column,
    Pair,
    Progress,
    best,
    column,
    no_text,
    point_spread,
    silent,
    spread_columns,
)
from faithfuse.metrics.cases import Case, Key
from faithfuse.metrics.matching import NORMALISATION, scored, token_f1
from faithfuse.records import Domain

_ROUGE = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL"}
NO_REFERENCE_TOKENS = "ROUGE's tokenizer (a–z, 0–9) leaves nothing of the reference"
NO_CANDIDATE_TOKENS = "ROUGE's tokenizer (a–z, 0–9) leaves nothing of the response"
NO_CONTEXT = "the item has no context"


class Ngram:
    """ROUGE-1/2/L (F1, precision, recall), chrF, BLEU and token F1 as a `PairMetric`.

    Args:
        stemmer: apply Porter stemming in ROUGE; stated in the signature.
    """

    def __init__(self, *, stemmer: bool = False) -> None:
        from rouge_score.rouge_scorer import RougeScorer
        from rouge_score.tokenizers import DefaultTokenizer
        from sacrebleu.metrics import BLEU, CHRF

        self._tokenizer = DefaultTokenizer(stemmer)
        self._rouge = RougeScorer(list(_ROUGE.values()), tokenizer=self._tokenizer)
        self._chrf = CHRF()
        self._bleu = BLEU(effective_order=True)
        self._rouge_signature = f"rouge-score=={version('rouge-score')}|stemmer:{'yes' if stemmer else 'no'}"
        self.signatures = {name: f"{self._rouge_signature}|f1" for name in _ROUGE}
        self.signatures |= {
            f"{name} {part}": f"{self._rouge_signature}|{part}" for name in _ROUGE for part in ("precision", "recall")
        }
        sacrebleu = f"sacrebleu=={version('sacrebleu')}"
        chrf = self._chrf
        self.signatures["chrF"] = (
            f"{sacrebleu}|chrF{chrf.beta}|case:mixed|nc:{chrf.char_order}|nw:{chrf.word_order}|space:no|scale:0-1"
        )
        self.signatures["BLEU"] = f"{sacrebleu}|sentence|case:mixed|eff:yes|tok:13a|smooth:exp|scale:0-1"
        self.mean_only = frozenset(f"{name} {part}" for name in _ROUGE for part in ("precision", "recall"))
        self.signatures["Token F1"] = f"faithfuse matching|token F1|norm:{NORMALISATION}"

    def score(self, pairs: Sequence[Pair], progress: Progress = silent) -> dict[Pair, dict[str, Cell]]:
        """Score (candidate, reference) pairs.

        ROUGE of a text of which its tokenizer leaves nothing (no Latin letters or digits) is null. ROUGE-2 of a
        one-word text is 0, as `rouge-score` has it.
        """
        scores = {}
        for done, (candidate, reference) in enumerate(pairs, start=1):
            cells = self._rouge_cells(candidate, reference)
            cells["chrF"] = Cell(self._chrf.sentence_score(candidate, [reference]).score / 100)
            cells["BLEU"] = Cell(self._bleu.sentence_score(candidate, [reference]).score / 100)
            cells["Token F1"] = scored(token_f1(candidate, reference))
            scores[candidate, reference] = cells
            progress("n-gram", done, len(pairs))
        return scores

    def _rouge_cells(self, candidate: str, reference: str) -> dict[str, Cell]:
        reason = None
        if not self._tokenizer.tokenize(reference):
            reason = NO_REFERENCE_TOKENS
        elif not self._tokenizer.tokenize(candidate):
            reason = NO_CANDIDATE_TOKENS
        if reason is not None:
            return {
                name: Cell(None, reason)
                for rouge in _ROUGE
                for name in (rouge, f"{rouge} precision", f"{rouge} recall")
            }
        cells = {}
        for name, score in zip(_ROUGE, self._rouge.score(reference, candidate).values(), strict=True):
            cells[name] = Cell(float(score.fmeasure))
            cells[f"{name} precision"] = Cell(float(score.precision))
            cells[f"{name} recall"] = Cell(float(score.recall))
        return cells

    def transcript_columns(self, cases: Sequence[Case]) -> list[Column]:
        """ROUGE precision against the transcript: how much of the response the source itself says.

        An extension for the domains with a context: `ROUGE-N Transcript precision`, and for summaries its mean,
        maximum and minimum over the points too.
        """
        names = [f"{rouge} precision" for rouge in _ROUGE]
        whole: dict[str, dict[Key, Cell]] = {name: {} for name in names}
        points: dict[str, dict[Key, dict[str, Cell]]] = {name: {} for name in names}
        for case in cases:
            transcript = case.item.transcript()
            text = case.full_text() if case.points or case.item.domain != Domain.SUMMARISATION else ""
            cells = self._against(text, transcript) if text else dict.fromkeys(names, no_text(case))
            by_point = [self._against(point, transcript) for point in case.points]
            for name in names:
                whole[name][case.key] = cells[name]
                points[name][case.key] = point_spread(case, [scores[name] for scores in by_point])
        columns = []
        for rouge, name in zip(_ROUGE, names, strict=True):
            metric = f"{rouge} Transcript precision"
            signature = f"{self._rouge_signature}|precision|reference:transcript"
            columns.append(column(metric, signature, whole[name]))
            if cases and cases[0].item.domain == Domain.SUMMARISATION:
                columns += spread_columns(metric, f"{signature}|points", points[name])
        return columns

    def _against(self, text: str, transcript: str) -> dict[str, Cell]:
        if not transcript.strip():
            return {f"{rouge} precision": Cell(None, NO_CONTEXT) for rouge in _ROUGE}
        return {name: best([cell], NO_CONTEXT) for name, cell in self._rouge_cells(text, transcript).items()}

"""BERTScore (Zhang et al. 2019) with the `bert-score` library and a local encoder.

The library's own batching pads texts of different lengths together, in an order that changes from process to
process, which moves the last digits. Here a batch holds texts of one length only, so nothing is padded and a
text's embedding does not depend on the others; pairs are then compared one by one. Values are rounded to six
decimals, about what float32 carries.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from faithfuse.errors import ModelError
from faithfuse.metrics.aggregate import (
    Cell,
    Column,
    Pair,
    Progress,
    best,
    point_spread,
    silent,
    spread_columns,
)
from faithfuse.metrics.cases import Case

_PARTS = ("precision", "recall", "f1")
_BATCH = 32
NO_TOKENS = "the encoder's tokenizer leaves nothing of one of the texts"
NO_CONTEXT = "the item has no context"


class BertScore:
    """BERTScore F1, precision and recall as a `PairMetric`; no idf weights, no baseline rescaling.

    Args:
        folder: a transformers model folder with its tokenizer.
        layers: which hidden layer to compare, counted from 1; the encoder's last one if None. (`bert-score`
            chose 17 for roberta-large; for all-MiniLM-L6-v2 see docs/decisions/0403-bertscore.md.)
        threads: CPU threads for torch.

    Raises:
        ModelError: the folder holds no encoder, or the encoder has no such layer.
    """

    def __init__(self, folder: Path | str, layers: int | None = None, threads: int = 1) -> None:
        import torch
        import transformers

        folder = Path(folder)
        if not (folder / "config.json").is_file():
            raise ModelError(
                f"{folder}: holds no encoder (config.json is missing). "
                "Run `make models`, or give --bertscore-model a transformers model folder."
            )
        torch.set_num_threads(threads)
        transformers.utils.logging.disable_progress_bar()
        try:
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
            depth = getattr(config, "num_hidden_layers", None)
            layers = depth if layers is None else layers
            if depth is None or not 1 <= layers <= depth:
                raise ModelError(
                    f"{folder}: the encoder has {depth} layers, layer {layers} was asked for. "
                    f"Give --bertscore-layers a number from 1 to {depth}."
                )
            self._load(folder, layers, config)
        except (OSError, ValueError, KeyError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise ModelError(
                f"{folder}: the encoder cannot be loaded ({reason}). Obtain the folder again (`make models`)."
            ) from error
        signature = "|".join(
            [
                f"bert-score=={version('bert-score')}",
                f"transformers=={version('transformers')}",
                f"torch=={version('torch').partition('+')[0]}",
                f"model:{config.model_type}-{depth}x{config.hidden_size}-{_weights_digest(folder)[:16]}",
                f"layer:{layers}",
                "idf:no",
                "rescaled:no",
                "decimals:6",
            ]
        )
        self.signatures = {
            "BERTScore": f"{signature}|f1",
            "BERTScore precision": f"{signature}|precision",
            "BERTScore recall": f"{signature}|recall",
        }
        self.mean_only = frozenset({"BERTScore precision", "BERTScore recall"})

    def _load(self, folder: Path, layers: int, config: Any) -> None:
        import torch
        from bert_score.utils import get_model, get_tokenizer

        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._tokenizer = get_tokenizer(str(folder), True)
        self._model = get_model(str(folder), layers).to(self._device)
        positions = getattr(config, "max_position_embeddings", None) or self._tokenizer.model_max_length
        # RoBERTa's positions start after its padding index.
        reserved = self._tokenizer.pad_token_id + 1 if "roberta" in config.model_type else 0
        self.max_tokens = min(positions - reserved, self._tokenizer.model_max_length)
        self._tokenizer.model_max_length = self.max_tokens
        self._idf = defaultdict(lambda: 1.0)
        for special in (self._tokenizer.sep_token_id, self._tokenizer.cls_token_id):
            self._idf[special] = 0

    def score(self, pairs: Sequence[Pair], progress: Progress = silent) -> dict[Pair, dict[str, Cell]]:
        """Score (candidate, reference) pairs.

        A pair with a text longer than the encoder reads is null, not cut.
        """
        import torch
        from bert_score.utils import greedy_cos_idf

        embeddings, unusable = self._embed({text for pair in pairs for text in pair}, progress)
        names = dict(zip(_PARTS, ("BERTScore precision", "BERTScore recall", "BERTScore"), strict=True))
        scores = {}
        for candidate, reference in pairs:
            reason = unusable.get(candidate) or unusable.get(reference)
            if reason is not None:
                scores[candidate, reference] = {name: Cell(None, reason) for name in names.values()}
                continue
            # greedy_cos_idf normalises its inputs in place, so it gets copies.
            stats = [part.clone() for text in (reference, candidate) for part in embeddings[text]]
            with torch.no_grad():
                values = greedy_cos_idf(*stats)
            scores[candidate, reference] = {
                names[part]: Cell(round(value.item(), 6)) for part, value in zip(_PARTS, values, strict=True)
            }
        return scores

    def _embed(self, texts: set[str], progress: Progress) -> tuple[dict[str, tuple], dict[str, str]]:
        """Embeddings, attention masks and idf weights (each with a batch axis of 1), and why texts have none."""
        from bert_score.utils import get_bert_embedding

        by_length: dict[int, list[str]] = defaultdict(list)
        unusable: dict[str, str] = {}
        for text in sorted(texts):
            tokens = self._tokenizer.encode(text.strip(), truncation=False, verbose=False)
            if len(tokens) > self.max_tokens:
                unusable[text] = f"longer than the encoder's {self.max_tokens} tokens"
            elif all(self._idf[token] == 0 for token in tokens):
                unusable[text] = NO_TOKENS
            else:
                by_length[len(tokens)].append(text)
        embeddings: dict[str, tuple] = {}
        total = sum(map(len, by_length.values()))
        for _, group in sorted(by_length.items()):
            for start in range(0, len(group), _BATCH):
                batch = group[start : start + _BATCH]
                tensors = get_bert_embedding(batch, self._model, self._tokenizer, self._idf, device=self._device)
                hidden, masks, idf = (tensor.cpu() for tensor in tensors)
                for row, text in enumerate(batch):
                    one = slice(row, row + 1)
                    embeddings[text] = (hidden[one], masks[one], idf[one])
                progress("BERTScore", len(embeddings), total)
        return embeddings, unusable

    def turn_columns(self, cases: Sequence[Case], progress: Progress = silent) -> list[Column]:
        """`BERTScore Turn Transcript precision mean|max|min`: each point of a summary against its best turn.

        An extension; the paper gives BERTScore against the ground truth only.
        """
        name = "BERTScore precision"
        turns = {case.key: [turn.text for turn in case.item.context if turn.text.strip()] for case in cases}
        pairs = sorted({(point, turn) for case in cases for point in case.points for turn in turns[case.key]})
        scores = self.score(pairs, progress)
        spreads = {
            case.key: point_spread(
                case,
                [best((scores[point, turn][name] for turn in turns[case.key]), NO_CONTEXT) for point in case.points],
            )
            for case in cases
        }
        signature = f"{self.signatures[name]}|reference:turns|points:best match"
        return spread_columns("BERTScore Turn Transcript precision", signature, spreads)


def _weights_digest(folder: Path) -> str:
    """SHA-256 over the folder's weight files, in the order of their names."""
    files = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))
    if not files:
        raise ModelError(f"{folder}: holds no weights (*.safetensors). Obtain the folder again (`make models`).")
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            for block in iter(lambda: stream.read(1 << 20), b""):
                digest.update(block)
    return digest.hexdigest()

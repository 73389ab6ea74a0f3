"""The LLM stages on a GPU: Llama 3.1-8B's architecture with random weights, nothing downloaded.

The model is built straight on the GPU in bf16. Judge and generation run on the bundled sample through the same code as
a real run; a tokenizer trained on the sample itself stands in for Llama's, so prompts have about its lengths. Random
weights never end a turn, so every response has as many tokens as the limit allows.

Beside tokens per second and memory stand the shares of two ceilings measured in the same run: of what the GPU's matrix
products reach (a forward pass costs two operations per weight and token), and of what copying memory reaches (a
decoding step must read every weight, and the keys and values of what came before, once).
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from faithfuse.llm.generate import respond
from faithfuse.llm.judge import judge
from faithfuse.llm.model import ATTENTION, GIB, LanguageModel, memory_needed, prove, require_memory
from faithfuse.llm.prompts import PromptSet, load_prompts
from faithfuse.llm.registry import ModelSpec
from faithfuse.records import Domain, Item, Response, atomic_write, read_records

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ("task", "measure", "value", "unit")
MAX_NEW = 64
SPECIAL = ["<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>"]
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n"
    "{{ message['content'] }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)


def main(out: Path) -> None:
    """Measure on the first CUDA device and write the table."""
    if not torch.cuda.is_available():
        sys.exit(f"bench-gpu: torch {torch.__version__} sees no CUDA device; nothing was measured")
    items, responses = sample()
    table = measure(llama_8b(), torch.bfloat16, "cuda:0", items, responses, gib=2.0)
    with atomic_write(out) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(table)
    print(out.read_text(encoding="utf-8"))


def sample() -> tuple[list[Item], list[Response]]:
    """The bundled sample."""
    folder = ROOT / "config" / "sample"
    return read_records(folder / "items.jsonl", Item), read_records(folder / "responses.jsonl", Response)


def llama_8b() -> Any:
    """The architecture of Llama 3.1-8B: 8.03 billion weights."""
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=128256,
        hidden_size=4096,
        intermediate_size=14336,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=8,
        max_position_embeddings=131072,
        rms_norm_eps=1e-5,
        bos_token_id=0,
        eos_token_id=[1],
        tie_word_embeddings=False,
        rope_parameters={
            "rope_type": "llama3",
            "rope_theta": 500000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
    )


@dataclass
class Work:
    """What the forward passes of one task had to do."""

    tokens: int = 0
    """Tokens processed, prompts and new ones."""
    steps: int = 0
    """Decoding steps; each reads all weights once."""
    read: int = 0
    """Bytes of keys and values that the decoding steps read."""


class Counted(LanguageModel):
    """A language model that notes what its forward passes do."""

    work: Work

    def _call(self, ids: torch.Tensor, positions: torch.Tensor, layout: Any) -> torch.Tensor:
        self.work.tokens += ids.numel()
        if hasattr(layout, "own"):
            key = layout.own[0][0]
            shared = layout.prefix[0][0].shape[1] if layout.prefix else 0
            columns = len(ids) * (layout.column + 1) + shared
            self.work.steps += 1
            self.work.read += 2 * len(layout.own) * columns * key.shape[1] * key.shape[3] * key.element_size()
        return super()._call(ids, positions, layout)


def build(config: Any, dtype: torch.dtype, device: str, prompts: PromptSet, texts: Sequence[str]) -> Counted:
    """The architecture with random weights on the device, with a tokenizer trained on the texts.

    Raises:
        ModelError: the device has too little memory.
    """
    from transformers import AutoModelForCausalLM, GenerationConfig
    from transformers.modeling_utils import AttentionInterface

    from faithfuse.llm.tree import tree_attention

    require_memory("llama-3.1-8b (random)", config, dtype, device)
    AttentionInterface.register(ATTENTION, tree_attention)
    torch.manual_seed(0)
    with torch.device(device):
        network = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation=ATTENTION)
    network.generation_config = GenerationConfig(bos_token_id=0, eos_token_id=[1])
    network.eval()
    spec = ModelSpec(key="random", kind="causal-lm", provider="path", path=".", licence="none")
    identity = {"dtype": str(dtype).removeprefix("torch."), "device": torch.device(device).type}
    model = Counted(network, _tokenizer(texts), spec, identity)
    model.work = Work()
    prove(model)
    return model


def _tokenizer(texts: Sequence[str]) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=8000, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=SPECIAL[0], eos_token=SPECIAL[1])
    fast.chat_template = TEMPLATE
    return fast


def measure(
    config: Any,
    dtype: torch.dtype,
    device: str,
    items: Sequence[Item],
    responses: Sequence[Response],
    *,
    gib: float,
    max_new_tokens: int = MAX_NEW,
) -> list[tuple[str, str, float | str, str]]:
    """Rows of `COLUMNS`: the device and its ceilings, then judge and generation.

    Args:
        config: architecture.
        dtype: precision of the weights.
        device: `cuda:0`; `cpu` in tests.
        items: items of any evaluated domains.
        responses: what is judged.
        gib: size of the tensor that is copied to measure the memory's bandwidth.
        max_new_tokens: token limit of a response.
    """
    gpu = torch.device(device).type == "cuda"
    prompts = load_prompts(ROOT / "config/prompts", "repaired")
    texts = [r.text for r in responses if r.text] + [i.transcript() or i.question or "" for i in items]
    texts += [literal for group in prompts.judge.values() for prompt in group.values() for literal in prompt.user]
    seconds, model = _timed(lambda: build(config, dtype, device, prompts, texts), gpu)
    multiplied = [p for name, p in model.network.named_parameters() if p.ndim == 2 and "embed_tokens" not in name]
    weights = sum(p.numel() for p in multiplied)
    weight_bytes = weights * dtype.itemsize
    operations = _matrix_ceiling(multiplied, gpu)
    bandwidth = _bandwidth_ceiling(device, gib, gpu)
    name = torch.cuda.get_device_name(torch.device(device)) if gpu else "CPU"
    table: list[tuple[str, str, float | str, str]] = [
        ("setting", "device", name, ""),
        ("setting", "torch", torch.__version__, ""),
        ("setting", "weights", model.network.num_parameters(), "parameters"),
        ("setting", "memory estimated before loading", memory_needed(config, dtype) / GIB, "GiB"),
        ("setting", "building", seconds, "s"),
        ("ceiling", "matrix products", operations / 1e12, "TFLOP/s"),
        ("ceiling", "copying memory", bandwidth / 1e9, "GB/s"),
    ]
    domains = [domain for domain in Domain if domain in prompts.answer]
    first = [next(item for item in items if item.domain == domain) for domain in domains if _has(items, domain)]
    of_first = [r for r in responses if r.item_id in {item.item_id for item in first}]
    runs: dict[str, Callable[[Sequence[Item], Sequence[Response]], object]] = {
        "judge": lambda some, theirs: judge(some, theirs, model, prompts),
        "generation": lambda some, _: respond(some, model, prompts, max_new_tokens=max_new_tokens),
    }
    for task, run in runs.items():
        run(first, of_first)
        model.work = Work()
        if gpu:
            torch.cuda.reset_peak_memory_stats(torch.device(device))
        seconds, found = _timed(lambda run=run: run(items, responses), gpu)
        work = model.work
        # The output layer runs for chosen positions only; its weights are counted for decoding alone.
        head = model.head.weight.numel()
        done = 2 * (weights - head) * work.tokens
        table += [
            (task, "results", len(found), "records"),
            (task, "tokens computed", work.tokens, "tokens"),
            (task, "time", seconds, "s"),
            (task, "speed", work.tokens / seconds, "tokens/s"),
            (task, "share of the matrix ceiling", done / seconds / operations, ""),
        ]
        if work.steps:
            read = work.steps * weight_bytes + work.read
            table += [
                (task, "decoding steps", work.steps, "steps"),
                (task, "share of the bandwidth ceiling", read / seconds / bandwidth, ""),
            ]
        if gpu:
            peak = torch.cuda.max_memory_allocated(torch.device(device))
            table.append((task, "peak memory", peak / GIB, "GiB"))
    return [(*row[:2], round(row[2], 4) if isinstance(row[2], float) else row[2], row[3]) for row in table]


def _has(items: Sequence[Item], domain: Domain) -> bool:
    return any(item.domain == domain for item in items)


def _timed(call: Callable[[], Any], gpu: bool) -> tuple[float, Any]:
    if gpu:
        torch.cuda.synchronize()
    start = time.perf_counter()
    result = call()
    if gpu:
        torch.cuda.synchronize()
    return time.perf_counter() - start, result


def _matrix_ceiling(matrices: Sequence[torch.Tensor], gpu: bool, rows: int = 4096, rounds: int = 3) -> float:
    """Operations a second of the model's largest product, many rows at once; the best of a few rounds."""
    weight = max(matrices[:-1] or matrices, key=torch.Tensor.numel)
    rows = rows if gpu else 256
    inputs = torch.randn(rows, weight.shape[1], dtype=weight.dtype, device=weight.device)
    repeats = 20 if gpu else 2
    best = 0.0
    with torch.inference_mode():
        for _ in range(rounds + 1):
            seconds, _ = _timed(lambda: [torch.nn.functional.linear(inputs, weight) for _ in range(repeats)], gpu)
            best = max(best, 2 * rows * weight.numel() * repeats / seconds)
    return best


def _bandwidth_ceiling(device: str, gib: float, gpu: bool, rounds: int = 3) -> float:
    """Bytes a second read and written when a large tensor is copied; the best of a few rounds."""
    source = torch.zeros(int(gib * GIB), dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    best = 0.0
    for _ in range(rounds + 1):
        seconds, _ = _timed(lambda: target.copy_(source), gpu)
        best = max(best, 2 * source.numel() / seconds)
    return best


if __name__ == "__main__":
    main(ROOT / "results/benchmarks/gpu.csv")

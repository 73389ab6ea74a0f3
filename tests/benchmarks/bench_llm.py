"""Judging and answering with the embedded model: ours, the obvious transformers code, lm-evaluation-harness.

Two threads. `FAITHFUSE_BENCH_ITEMS` sets how many QA items are taken (default 24; dialogues: a quarter of it);
`FAITHFUSE_LMEVAL_PYTHON` names an interpreter that has lm_eval, whose rows are left out otherwise. Loading a model is
not counted for anybody. Rows `matrix-products` are the time that the model's matrix products alone take for the
tokens we compute, measured in the same run: the ceiling.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import harness
import torch

from faithfuse.llm.batches import shared_prefix
from faithfuse.llm.generate import respond
from faithfuse.llm.judge import judge
from faithfuse.llm.model import ATTENTION, LanguageModel, load
from faithfuse.llm.plan import tree_size
from faithfuse.llm.prompts import ground_truth, load_prompts
from faithfuse.llm.registry import load_registry, locate
from faithfuse.records import Domain, Item, Response, read_records

ROOT = Path(__file__).resolve().parents[2]
THREADS = 2
MAX_NEW = 64
LM_EVAL = """
import json, sys, time, torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
torch.set_num_threads(int(sys.argv[3]))
lm = HFLM(pretrained=sys.argv[1], device="cpu", dtype="float32", batch_size=16, add_bos_token=False)
pairs = json.load(open(sys.argv[2]))
asked = [Instance("loglikelihood", {}, tuple(pair), n) for n, pair in enumerate(pairs)]
start = time.perf_counter()
found = lm.loglikelihood(asked)
print(json.dumps({"seconds": time.perf_counter() - start, "logprobs": [value for value, _ in found]}))
"""


def main(out: Path) -> None:
    """Measure all tasks and write the table."""
    count = int(os.environ.get("FAITHFUSE_BENCH_ITEMS", "24"))
    spec = load_registry(ROOT / "config/models.yaml")["smollm2-135m"]
    folder = locate(spec, ROOT / ".models")
    model = load(spec, folder, threads=THREADS, device="cpu")
    prompts = load_prompts(ROOT / "config/prompts", "repaired")
    items, responses = _sample(count)
    table: list[dict[str, object]] = []
    table += _confidence(model, folder, prompts, items[Domain.SHORT_FORM_QA], responses)
    table += _answers(model, prompts, items[Domain.SHORT_FORM_QA][: max(4, count // 2)])
    table += _points(model, prompts, items[Domain.SUMMARISATION])
    harness.write(out, table)


def _sample(count: int) -> tuple[dict[Domain, list[Item]], dict[str, Response]]:
    records = read_records(ROOT / "config/sample/items.jsonl", Item)
    chosen = {
        Domain.SHORT_FORM_QA: [item for item in records if item.domain == Domain.SHORT_FORM_QA][:count],
        Domain.SUMMARISATION: [item for item in records if item.domain == Domain.SUMMARISATION][: max(2, count // 4)],
    }
    found = read_records(ROOT / "config/sample/responses.jsonl", Response)
    return chosen, {response.item_id: response for response in found}


def _confidence(model, folder, prompts, items, responses) -> list[dict[str, object]]:
    domain = Domain.SHORT_FORM_QA
    prompt = prompts.judge[domain]["confidence"]
    alone = prompts.model_copy(update={"judge": {domain: {"confidence": prompt}}})
    answers = [responses[item.item_id] for item in items]
    texts, asked = [], []
    for item, answer in zip(items, answers, strict=True):
        values = {
            "question": item.question,
            "transcript": "",
            "ground_truth": ground_truth(item),
            "response": answer.text,
        }
        messages = prompts.judging(prompt, values)
        texts.append(model.prompt_text(messages))
        asked.append(model.prompt_ids(messages))
    labels = model.label_ids(prompts.judging(prompt, dict.fromkeys(values, "a")), prompt.labels)
    said: dict[str, list] = {}

    def ours() -> None:
        said["ours"] = judge(items, answers, model, alone)

    def obvious() -> None:
        said["obvious"] = _generate(model, asked, max(map(len, labels.values())), scores=True)

    seconds = harness.time_in_turn({"ours": ours, "obvious": obvious}, repeats=3)
    by_item = {verdict.item_id: verdict for verdict in said["ours"]}
    for item, tokens in zip(items, said["obvious"], strict=True):
        for label, ids in labels.items():
            # Where the obvious code gives a label at all, it must be the one that we say the model would say.
            if tokens[: len(ids)] == ids and by_item[item.item_id].off_label is not None:
                raise AssertionError(f"{item.item_id}: the obvious code says {label}, we say off label")
    prefix = shared_prefix(asked)
    fed = [ids[len(prefix) :] + label[:-1] for ids in asked for label in labels.values()]
    tokens = len(prefix) + sum(tree_size(fed[n : n + len(labels)]) for n in range(0, len(fed), len(labels)))
    seconds["matrix-products"] = [_matrix_seconds(model, tokens) for _ in range(3)]
    interpreter = os.environ.get("FAITHFUSE_LMEVAL_PYTHON")
    if interpreter:
        pairs = [[text, label + "<|im_end|>"] for text in texts for label in labels]
        runs = [_lm_eval(interpreter, folder, pairs) for _ in range(2)]
        seconds["lm-eval"] = [run["seconds"] for run in runs]
        flat = [v for item in items for v in by_item[item.item_id].label_logprobs.values()]
        gap = max(abs(a - b) for a, b in zip(flat, runs[0]["logprobs"], strict=True))
        print(f"largest difference of a label's log-probability from lm-eval's: {gap:.2g}")
    else:
        print("lm-eval: left out; set FAITHFUSE_LMEVAL_PYTHON to an interpreter that has lm_eval")
    return harness.rows("confidence", seconds, len(items))


def _answers(model, prompts, items) -> list[dict[str, object]]:
    asked = [model.prompt_ids(prompts.answering(item)) for item in items]
    said: dict[str, list] = {}

    def ours() -> None:
        said["ours"] = respond(items, model, prompts, max_new_tokens=MAX_NEW)

    def obvious() -> None:
        said["obvious"] = _generate(model, asked, MAX_NEW)

    seconds = harness.time_in_turn({"ours": ours, "obvious": obvious}, repeats=3)
    for response, tokens in zip(said["ours"], said["obvious"], strict=True):
        if response.text != model.decode(tokens).strip():
            raise AssertionError(f"{response.item_id}: answers differ from generate's")
    return harness.rows("answers", seconds, len(items))


def _points(model, prompts, items) -> list[dict[str, object]]:
    """The first point's cost, and what each further point adds."""
    name = "fact_confidence"
    domain = Domain.SUMMARISATION
    alone = prompts.model_copy(update={"judge": {domain: {name: prompts.judge[domain][name]}}})
    stock = ["They meet again.", "One of them is late today.", "Nobody found the key.", "It rained all day long."]

    def responses(points: int) -> list[Response]:
        return [
            Response(item_id=item.item_id, system="a", text=" ".join(stock[:points]), points=stock[:points])
            for item in items
        ]

    runs = harness.time_in_turn(
        {
            "one": lambda: judge(items, responses(1), model, alone),
            "four": lambda: judge(items, responses(4), model, alone),
        },
        repeats=3,
    )
    further = [(four - one) / 3 for one, four in zip(runs["one"], runs["four"], strict=True)]
    return harness.rows("further point", {"ours": further, "first point": runs["one"]}, len(items))


def _generate(model: LanguageModel, prompts: list[list[int]], limit: int, scores: bool = False) -> list[list[int]]:
    """The obvious code: transformers' `generate`, one prompt at a time."""
    model.network.set_attn_implementation("sdpa")
    try:
        produced = []
        for ids in prompts:
            out = model.network.generate(
                torch.tensor([ids]),
                attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                max_new_tokens=limit,
                do_sample=False,
                output_scores=scores,
                return_dict_in_generate=True,
            )
            produced.append(out.sequences[0, len(ids) :].tolist())
        return produced
    finally:
        model.network.set_attn_implementation(ATTENTION)


def _matrix_seconds(model: LanguageModel, tokens: int) -> float:
    """Seconds of the decoder's matrix products for so many tokens in one row, and nothing else."""
    weights = [p for name, p in model.decoder.named_parameters() if p.ndim == 2 and "embed" not in name]
    inputs = {w.shape[1]: torch.randn(tokens, w.shape[1]) for w in weights}
    with torch.inference_mode():
        start = time.perf_counter()
        for weight in weights:
            torch.nn.functional.linear(inputs[weight.shape[1]], weight)
        return time.perf_counter() - start


def _lm_eval(interpreter: str, folder: Path, pairs: list[list[str]]) -> dict:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as stream:
        json.dump(pairs, stream)
        stream.flush()
        command = [interpreter, "-c", LM_EVAL, str(folder), stream.name, str(THREADS)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"lm-eval failed: {done.stderr[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main(ROOT / "results/benchmarks/llm.csv")

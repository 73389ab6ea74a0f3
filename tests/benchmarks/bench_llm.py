"""Judging and answering with the embedded model: ours, the obvious transformers code, lm-evaluation-harness.

200 items of EVOUNA-NQ (the short answers of FiD) and 20 dialogues of DialSummEval from the folder FAITHFUSE_DATA; the
bundled sample where that is missing. FAITHFUSE_BENCH_ITEMS takes fewer items (dialogues: a tenth). Two threads. Loading
a model is not counted for anybody.

* `confidence`: the probabilities of the two whole labels. `obvious` generates as many tokens as the longest label has,
  one prompt at a time, with scores; `lm-eval` asks lm-evaluation-harness's Hugging Face backend for both labels' log-
  likelihoods in batches of 16; it counts the line break that ends the prompt to the label, so its log-probabilities
  are lower than ours by that token's. Its interpreter is FAITHFUSE_LMEVAL_PYTHON, or one that is made under .cache/
  with pip.
* `confidence, sentences`: the same for a quarter of the items with the longer answers of ChatGPT.
* `answers`, `summaries`: greedy decoding; `obvious` is transformers' `generate`, one prompt at a time.
* `further point`: what each of three further points of a dialogue adds to the judging of its first.
* `matrix-products`: the time that the model's matrix products alone take, measured between the others, for the tokens
  that we compute: the ceiling. Its ratio is the share of the ceiling that ours reaches.

All are measured in turn on one slice of the items after another. Slices already measured are kept beside the table
until it is written: a bench that is stopped goes on where it was. FAITHFUSE_BENCH_SECONDS stops it after so long. On a
machine that others use, FAITHFUSE_BENCH_CPU=1 takes one thread and counts its processor time.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import harness
import torch

from faithfuse.llm.batches import shared_prefix
from faithfuse.llm.generate import respond
from faithfuse.llm.judge import judge
from faithfuse.llm.model import ATTENTION, LanguageModel, load
from faithfuse.llm.plan import tree_size
from faithfuse.llm.points import read_points
from faithfuse.llm.prompts import PromptSet, ground_truth, load_prompts
from faithfuse.llm.registry import load_registry, locate
from faithfuse.records import Domain, Item, Response, read_records

ROOT = Path(__file__).resolve().parents[2]
LM_EVAL = "lm_eval==0.4.13"
CPU = bool(os.environ.get("FAITHFUSE_BENCH_CPU"))
CLOCK = "process_time" if CPU else "perf_counter"
clock: Callable[[], float] = getattr(time, CLOCK)
THREADS = 1 if CPU else 2
MAX_NEW = 64
SLICES = 4
ROW = 1024
"""Rows of the ceiling's matrix products, as in our batches."""
LM_EVAL_CODE = """
import json, sys, time, torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
torch.set_num_threads(int(sys.argv[2]))
clock = getattr(time, sys.argv[3])
lm = HFLM(pretrained=sys.argv[1], device="cpu", dtype="float32", batch_size=16, add_bos_token=False)
print("ready", flush=True)
for line in sys.stdin:
    asked = [Instance("loglikelihood", {}, tuple(pair), n) for n, pair in enumerate(json.loads(line))]
    start = clock()
    found = lm.loglikelihood(asked, disable_tqdm=True)
    print(json.dumps({"seconds": clock() - start, "logprobs": [value for value, _ in found]}), flush=True)
"""

Answered = list[tuple[Item, Response]]
Timings = dict[str, float]


def main(out: Path) -> None:
    """Measure all tasks slice by slice and write the table."""
    began = time.monotonic()
    budget = float(os.environ.get("FAITHFUSE_BENCH_SECONDS", "inf"))
    spec = load_registry(ROOT / "config/models.yaml")["smollm2-135m"]
    folder = locate(spec, ROOT / ".models")
    model = load(spec, folder, threads=THREADS, device="cpu")
    prompts = load_prompts(ROOT / "config/prompts", "repaired")
    answered, sentences, summarised, source = _material()
    print(f"{len(answered)} questions and {len(summarised)} dialogues of {source}", flush=True)
    quarters = [answered[n::SLICES] for n in range(SLICES)]
    halves = [summarised[n::2] for n in range(2)]
    other: list[_LmEval] = []  # started by the first slice that needs it

    def confidence(part: Answered) -> Timings:
        other or other.append(_LmEval(folder))
        return _confidence(model, other[0], prompts, part)

    tasks: dict[str, list[tuple[int, Callable[[], Timings]]]] = {
        "confidence": [(len(part), lambda part=part: confidence(part)) for part in quarters],
        "confidence, sentences": [(len(sentences), lambda: confidence(sentences))],
        "answers": [(len(part), lambda part=part: _answers(model, prompts, part)) for part in quarters],
        "summaries": [(len(part), lambda part=part: _answers(model, prompts, part)) for part in halves],
        "further point": [(len(part), lambda part=part: _points(model, prompts, part)) for part in halves],
    }
    source = f"{source}, {THREADS} thread(s), {CLOCK}"
    state = out.with_suffix(".slices.jsonl")
    state.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(line) for line in state.read_text().splitlines()] if state.exists() else []
    known = {(line["task"], line["slice"]): line["seconds"] for line in lines if line["source"] == source}
    for task, slices in tasks.items():
        for number, (size, measure) in enumerate(slices):
            if (task, number) in known:
                continue
            if time.monotonic() - began > budget:
                sys.exit(f"stopped before {task}, slice {number + 1} of {len(slices)}; run it again to go on")
            known[task, number] = measure()
            print(f"{task} {number + 1}/{len(slices)} ({size}): {known[task, number]}", flush=True)
            with state.open("a") as stream:
                line = {"source": source, "task": task, "slice": number, "seconds": known[task, number]}
                stream.write(json.dumps(line) + "\n")
    table: list[dict[str, object]] = []
    for task, slices in tasks.items():
        columns = [known[task, number] for number in range(len(slices))]
        table += harness.rows(task, {name: [column[name] for column in columns] for name in columns[0]}, slices[0][0])
    harness.write(out, table)
    state.unlink()


def _material() -> tuple[Answered, Answered, Answered, str]:
    """Questions with short answers and with sentences, dialogues with summaries, and where they are from."""
    count = int(os.environ.get("FAITHFUSE_BENCH_ITEMS", "200"))
    dialogues, quarter = max(2, count // 10), max(2, count // 4)
    data = os.environ.get("FAITHFUSE_DATA")
    if not data:
        folder = ROOT / "config/sample"
        short = _answered(folder, Domain.SHORT_FORM_QA, count)
        long = _answered(folder, Domain.LONG_FORM_QA, quarter)
        return short, long, _answered(folder, Domain.SUMMARISATION, dialogues), f"the sample ({count})"
    with tempfile.TemporaryDirectory() as temporary:
        for name, human in (("evouna_nq", "evouna"), ("dialsummeval", "dialsummeval")):
            command = [sys.executable, "-m", "faithfuse", "data", "import", name, "--root", f"{data}/human/{human}"]
            command += ["--limit", str(max(count, 100) if name == "evouna_nq" else 100), "--out", f"{temporary}/{name}"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        questions = Path(temporary, "evouna_nq")
        short = _answered(questions, Domain.SHORT_FORM_QA, count, "fid")
        long = _answered(questions, Domain.SHORT_FORM_QA, quarter, "chatgpt")
        summaries = _answered(Path(temporary, "dialsummeval"), Domain.SUMMARISATION, dialogues)
    return short, long, summaries, f"EVOUNA-NQ and DialSummEval ({count})"


def _answered(folder: Path, domain: Domain, count: int, system: str | None = None) -> Answered:
    """Items with one recorded response each: of the named system, else of each system in turn."""
    responses: dict[str, list[Response]] = {}
    for response in read_records(folder / "responses.jsonl", Response):
        if response.text is not None and response.system == (system or response.system):
            responses.setdefault(response.item_id, []).append(response)
    items = [i for i in read_records(folder / "items.jsonl", Item) if i.domain == domain and i.item_id in responses]
    return [(i, responses[i.item_id][n % len(responses[i.item_id])]) for n, i in enumerate(items[:count])]


def _timed(call: Callable[[], object]) -> tuple[float, object]:
    start = clock()
    result = call()
    return clock() - start, result


def _confidence(model: LanguageModel, other: _LmEval, prompts: PromptSet, part: Answered) -> Timings:
    domain = part[0][0].domain
    prompt = prompts.judge[domain]["confidence"]
    alone = prompts.model_copy(update={"judge": {domain: {"confidence": prompt}}})
    texts, asked = [], []
    for item, answer in part:
        values = {"question": item.question, "ground_truth": ground_truth(item), "response": answer.text}
        messages = prompts.judging(prompt, values)
        texts.append(model.prompt_text(messages))
        asked.append(model.prompt_ids(messages))
    labels = model.label_ids(prompts.judging(prompt, dict.fromkeys(values, "a")), prompt.labels)
    longest = max(map(len, labels.values()))
    judge([part[0][0]], [part[0][1]], model, alone)
    seconds: Timings = {}
    seconds["ours"], verdicts = _timed(lambda: judge([i for i, _ in part], [a for _, a in part], model, alone))
    seconds["obvious"], said = _timed(lambda: _generate(model, asked, longest, scores=True))
    by_item = {verdict.item_id: verdict for verdict in verdicts}
    for (item, _), tokens in zip(part, said, strict=True):
        given = [label for label, ids in labels.items() if tokens[: len(ids)] == ids]
        verdict = by_item[item.item_id]
        # Where the obvious code gives a label at all, it must be the one that we say the model would say.
        if given != ([] if verdict.off_label is not None else [verdict.choice]):
            raise AssertionError(f"{item.item_id}: the obvious code says {given}, we {verdict.choice}")
    pairs = [[text, label + "<|im_end|>"] for text in texts for label in labels]
    found = other.ask(pairs)
    if found:
        seconds["lm-eval"] = found["seconds"]
        flat = [v for item, _ in part for v in by_item[item.item_id].label_logprobs.values()]
        gap = max(abs(a - b) for a, b in zip(flat, found["logprobs"], strict=True))
        print(f"largest difference of a label's log-probability from lm-eval's: {gap:.2g}")
    prefix = shared_prefix(asked)
    fed = [[ids[len(prefix) :] + label[:-1] for label in labels.values()] for ids in asked]
    tokens = len(prefix) + sum(map(tree_size, fed))
    heads = sum(1 + sum(len(label) - 1 for label in labels.values()) for _ in asked)
    seconds["matrix-products"] = _matrix_seconds(model, tokens, heads)
    print(f"{tokens} tokens computed by us, {sum(map(len, asked))} in the prompts")
    return seconds


def _answers(model: LanguageModel, prompts: PromptSet, part: Answered) -> Timings:
    items = [item for item, _ in part]
    asked = [model.prompt_ids(prompts.answering(item)) for item in items]
    seconds: Timings = {}
    seconds["ours"], mine = _timed(lambda: respond(items, model, prompts, max_new_tokens=MAX_NEW))
    seconds["obvious"], theirs = _timed(lambda: _generate(model, asked, MAX_NEW))
    by_item = {response.item_id: response for response in mine}
    for item, tokens in zip(items, theirs, strict=True):
        response = by_item[item.item_id]
        if response.text != (model.decode(tokens).strip() or None) or response.response_tokens != len(tokens):
            raise AssertionError(f"{item.item_id}: answers differ from generate's")
    prefix = shared_prefix(asked)
    tokens = len(prefix) + tree_size([ids[len(prefix) :] for ids in asked])
    print(f"{tokens} prompt tokens computed, {sum(map(len, theirs))} new ones")
    return seconds


def _points(model: LanguageModel, prompts: PromptSet, part: Answered) -> Timings:
    """The cost of each dialogue's first point, and what each of three further points adds."""
    domain, name = Domain.SUMMARISATION, "fact_confidence"
    alone = prompts.model_copy(update={"judge": {domain: {name: prompts.judge[domain][name]}}})
    found = [read_points(answer.text) for _, answer in part]
    stock = [point for points in found for point in points]

    def four(number: int) -> list[str]:
        return [*found[number], *(stock[(number * 7 + n) % len(stock)] for n in range(4))][:4]

    def responses(points: int) -> list[Response]:
        return [
            Response(item_id=item.item_id, system="a", text=" ".join(four(n)[:points]), points=four(n)[:points])
            for n, (item, _) in enumerate(part)
        ]

    items = [item for item, _ in part]
    first, _ = _timed(lambda: judge(items, responses(1), model, alone))
    all_four, _ = _timed(lambda: judge(items, responses(4), model, alone))
    return {"ours": (all_four - first) / 3, "first point": first}


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


def _matrix_seconds(model: LanguageModel, tokens: int, heads: int) -> float:
    """Seconds of the matrix products alone: the decoder's for `tokens` rows, the output layer's for `heads` rows."""
    weights = [p for name, p in model.decoder.named_parameters() if p.ndim == 2 and "embed" not in name]
    with torch.inference_mode():
        total = 0.0
        for rows, matrices in ((ROW, weights), (64, [model.head.weight])):
            inputs = {w.shape[1]: torch.randn(rows, w.shape[1]) for w in matrices}
            torch.nn.functional.linear(inputs[matrices[0].shape[1]], matrices[0])
            start = clock()
            for weight in matrices:
                torch.nn.functional.linear(inputs[weight.shape[1]], weight)
            total += (clock() - start) / rows * (tokens if rows == ROW else heads)
        return total


class _LmEval:
    """lm-evaluation-harness in an interpreter of its own, with the model loaded; it waits while others are timed."""

    def __init__(self, folder: Path) -> None:
        self.process = None
        interpreter = os.environ.get("FAITHFUSE_LMEVAL_PYTHON") or _lm_eval_interpreter()
        if not interpreter:
            print("lm-eval: left out; set FAITHFUSE_LMEVAL_PYTHON to an interpreter that has lm_eval")
            return
        command = [interpreter, "-c", LM_EVAL_CODE, str(folder), str(THREADS), CLOCK]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
        )
        atexit.register(self.process.kill)
        if "ready" not in self._lines():
            sys.exit(f"lm-eval: {interpreter} could not load the model")

    def _lines(self) -> Iterator[str]:
        for line in self.process.stdout:
            yield line.strip()

    def ask(self, pairs: list[list[str]]) -> dict | None:
        """Log-likelihood of each (context, continuation), and the seconds it took."""
        if self.process is None:
            return None
        self.process.stdin.write(json.dumps(pairs) + "\n")
        self.process.stdin.flush()
        for line in self._lines():
            if line.startswith('{"seconds"'):
                return json.loads(line)
        sys.exit("lm-eval ended before it answered")


def _lm_eval_interpreter() -> str | None:
    """An environment that has lm_eval beside this one's torch and transformers; made once."""
    folder = ROOT / ".cache" / "bench" / "lm_eval"
    interpreter = folder / "bin" / "python"
    if not (folder / "complete").exists():
        print(f"installing {LM_EVAL} into {folder}", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        ours = next(path for path in sys.path if path.endswith("site-packages"))
        theirs = next(folder.glob("lib/python*/site-packages"))
        (theirs / "shared.pth").write_text(f"{ours}\n")
        pip = [interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", LM_EVAL]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"lm-eval: pip could not install it: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
            return None
        (folder / "complete").touch()
    return str(interpreter)


if __name__ == "__main__":
    main(ROOT / "results/benchmarks/llm.csv")

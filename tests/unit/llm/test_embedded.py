"""The embedded model: the same promises on real weights."""

from pathlib import Path

import pytest

from faithfuse.llm.judge import judge
from faithfuse.llm.model import ATTENTION, load
from faithfuse.llm.prompts import ground_truth
from faithfuse.llm.registry import is_complete, load_registry
from faithfuse.records import Item, Response, read_records

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def embedded():
    spec = load_registry(ROOT / "config/models.yaml")["smollm2-135m"]
    folder = ROOT / ".models" / spec.key
    if not is_complete(spec, folder):
        pytest.skip("run `make models` first")
    return load(spec, folder, device="cpu")


def test_its_template_injects_a_system_message_that_is_recorded(embedded):
    assert "helpful AI assistant named SmolLM" in embedded.template.injected_system
    messages = [{"role": "user", "content": "Hello"}]
    ids = embedded.prompt_ids(messages)
    assert embedded.decode(ids).count("SmolLM") == 1
    assert embedded.tokenizer(embedded.prompt_text(messages))["input_ids"] == ids


def test_batches_agree_with_batch_one_on_real_weights(embedded, prompts):
    items = [i for i in read_records(ROOT / "config/sample/items.jsonl", Item) if i.domain == "conversational_qa"][:3]
    ids = {item.item_id for item in items}
    responses = [r for r in read_records(ROOT / "config/sample/responses.jsonl", Response) if r.item_id in ids]
    together = judge(items, responses, embedded, prompts)
    for one, other in zip(judge(items, responses, embedded, prompts, batch_tokens=1), together, strict=True):
        assert (other.sort_key(), other.choice, other.off_label) == (one.sort_key(), one.choice, one.off_label)
        for label, value in one.label_logprobs.items():
            assert other.label_logprobs[label] == pytest.approx(value, abs=1e-4)


def test_label_log_probabilities_are_those_of_the_plain_forward_pass(embedded, prompts):
    import torch

    item = next(i for i in read_records(ROOT / "config/sample/items.jsonl", Item) if i.domain == "short_form_qa")
    answer = Response(item_id=item.item_id, system="a", text="Nobody knows.")
    prompt = prompts.judge[item.domain]["confidence"]
    values = {"question": item.question, "ground_truth": ground_truth(item), "response": answer.text}
    messages = prompts.judging(prompt, values)
    ids = embedded.prompt_ids(messages)
    (verdict,) = [v for v in judge([item], [answer], embedded, prompts) if v.kind == "confidence"]
    embedded.network.set_attn_implementation("sdpa")
    try:
        for label, tokens in embedded.label_ids(messages, prompt.labels).items():
            with torch.inference_mode():
                logits = embedded.network(torch.tensor([[*ids, *tokens]]), use_cache=False).logits[0]
            # A float32 log_softmax over 49,152 tokens is off by up to 1e-4 itself; float64 is not.
            rows = logits.double().log_softmax(-1)[len(ids) - 1 : -1]
            expected = rows.gather(1, torch.tensor(tokens)[:, None]).sum().item()
            assert verdict.label_logprobs[label] == pytest.approx(expected, abs=1e-4)
    finally:
        embedded.network.set_attn_implementation(ATTENTION)

"""The embedded model: the same promises on real weights."""

from pathlib import Path

import pytest

from faithfuse.llm.judge import judge
from faithfuse.llm.model import load
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

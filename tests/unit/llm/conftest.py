"""A tiny random model with the architecture settings of Llama 3.1, built here: no download, loads in a blink."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from faithfuse.llm.model import LanguageModel, load
from faithfuse.llm.prompts import PromptSet, load_prompts
from faithfuse.llm.registry import ModelSpec
from faithfuse.records import Item, Response

ROOT = Path(__file__).parents[3]
SPECIAL = [
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eom_id|>",
    "<|eot_id|>",
]
# In the manner of Llama 3.1's: one beginning-of-text, headers, a system message of its own that names the date.
TEMPLATE = (
    "{{ bos_token }}<|start_header_id|>system<|end_header_id|>\n\nToday: {{ strftime_now('%d %b %Y') }}\n"
    "{% if messages[0]['role'] == 'system' %}{{ messages[0]['content'] }}{% set rest = messages[1:] %}"
    "{% else %}{% set rest = messages %}{% endif %}<|eot_id|>"
    "{% for message in rest %}<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n"
    "{{ message['content'] }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)


def _write_tiny_llama(folder: Path, **changes: object) -> None:
    """A random Llama checkpoint: grouped-query attention, llama3 rope scaling, several end-of-turn ids."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    corpus = [literal for path in (ROOT / "config/prompts").glob("*.yaml") for literal in path.read_text().splitlines()]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=900, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(corpus, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=SPECIAL[0], eos_token="<|eot_id|>")
    fast.chat_template = TEMPLATE
    settings = {
        "vocab_size": len(fast),
        "hidden_size": 64,
        "intermediate_size": 160,
        "num_hidden_layers": 3,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        "rope_parameters": {
            "rope_type": "llama3",
            "rope_theta": 500000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 256,
        },
        "bos_token_id": 0,
        "eos_token_id": [1, 4, 5],
        "initializer_range": 0.2,
        **changes,
    }
    torch.manual_seed(7)
    network = LlamaForCausalLM(LlamaConfig(**settings))
    network.generation_config = GenerationConfig(bos_token_id=0, eos_token_id=[1, 4, 5])
    network.save_pretrained(folder)
    fast.save_pretrained(folder)


def _spec_of(folder: Path, **changes: object) -> ModelSpec:
    entry = {"key": "tiny", "kind": "causal-lm", "provider": "path", "path": str(folder), "licence": "none"}
    return ModelSpec.model_validate({**entry, **changes})


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    _write_tiny_llama(folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tiny_folder: Path) -> LanguageModel:
    return load(_spec_of(tiny_folder), tiny_folder, device="cpu")


@pytest.fixture(scope="session")
def prompts() -> PromptSet:
    return load_prompts(ROOT / "config/prompts", "repaired")


@pytest.fixture(scope="session")
def registry_file(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("registry") / "models.yaml"
    entry = {"kind": "causal-lm", "provider": "path", "path": str(tiny_folder), "licence": "none"}
    path.write_text(yaml.safe_dump({"tiny": entry}))
    return path


def _qa_item(number: int, domain: str = "short_form_qa", **changes: object) -> Item:
    base = {
        "item_id": f"q{number:02}",
        "domain": domain,
        "source_set": "test",
        "question": f"How many lamps stand in hall {number}, {'the long one ' * (number % 4)}by night?",
        "references": {"short": [f"{number} lamps", str(number)]},
        "group": f"g{number}",
    }
    return Item.model_validate({**base, **changes})


def _dialogue_item(number: int, **changes: object) -> Item:
    turns = [
        {"speaker": "Ada", "text": f"Did parcel {number} come?"},
        {"speaker": "Ben", "text": "It waits at the gate. " * (1 + number % 3)},
    ]
    base = {
        "item_id": f"d{number:02}",
        "domain": "summarisation",
        "source_set": "test",
        "context": turns,
        "references": {"long": [f"Parcel {number} waits at the gate."], "points": [f"Parcel {number} came."]},
        "group": f"d{number}",
    }
    return Item.model_validate({**base, **changes})


@pytest.fixture(scope="session")
def study() -> tuple[list[Item], list[Response]]:
    """QA, conversational and summarisation items with two responses each."""
    items = [_qa_item(n) for n in range(9)] + [_dialogue_item(n) for n in range(4)]
    items += [
        _dialogue_item(
            n // 2,
            item_id=f"c{n}",
            domain="conversational_qa",
            question=f"Where is it, asked {n} times?",
            references={"short": ["at the gate"]},
        )
        for n in range(4)
    ]
    responses = []
    for item in items:
        if item.domain == "summarisation":
            texts = ["* A parcel came.\n* It waits at the gate.", "Nothing came. Ben is at sea."]
        else:
            texts = [f"It is {item.item_id}.", "At the gate, by the long wall."]
        responses += [
            Response(item_id=item.item_id, system=name, text=text)
            for name, text in zip(("alpha", "beta"), texts, strict=True)
        ]
    return items, responses


@pytest.fixture(scope="session")
def write_tiny_llama() -> Callable[..., None]:
    return _write_tiny_llama


@pytest.fixture(scope="session")
def spec_of() -> Callable[..., ModelSpec]:
    return _spec_of


@pytest.fixture(scope="session")
def qa_item() -> Callable[..., Item]:
    return _qa_item


@pytest.fixture(scope="session")
def dialogue_item() -> Callable[..., Item]:
    return _dialogue_item

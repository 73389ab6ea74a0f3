"""Loading a causal language model, its chat template, and the forward passes that everything else is made of."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithfuse.errors import ModelError
from faithfuse.llm.prompts import Messages
from faithfuse.llm.registry import ModelSpec, weights_digest

if TYPE_CHECKING:
    import torch

    from faithfuse.llm.tree import DecodeLayout, KeyValues, TreeLayout

ATTENTION = "faithfuse_tree"
# Templates that print today's date would give other tokens every day; Llama 3.1's own default date is used.
FIXED_DATE = datetime.datetime(2024, 7, 26)
GIB = 1024**3


@dataclass(frozen=True)
class Scored:
    """What the model says of one continuation.

    Attributes:
        logprobs: natural log-probability of each continuation token given all before it.
        greedy: the most probable token in place of each continuation token; `greedy[0]` is what the model would say.
    """

    logprobs: list[float]
    greedy: list[int]


@dataclass(frozen=True)
class Template:
    """The chat template as a record keeps it: its digest and the system message it adds of its own accord."""

    digest: str
    injected_system: str | None


class LanguageModel:
    """A causal language model with its tokenizer, held in memory once.

    Use `load`. All methods are deterministic for one batch on one machine.
    """

    def __init__(self, network: Any, tokenizer: Any, spec: ModelSpec, identity: dict[str, Any]) -> None:
        self.network = network
        self.tokenizer = tokenizer
        self.spec = spec
        self.identity = identity
        self.decoder = network.get_decoder()
        self.head = network.get_output_embeddings()
        self.device = next(network.parameters()).device
        self.context = int(network.config.max_position_embeddings)
        self.end_tokens = _end_tokens(network, tokenizer)
        self.template = _template(tokenizer, spec.key)

    # -- text to tokens ------------------------------------------------------------------------------------------

    def prompt_ids(self, messages: Messages) -> list[int]:
        """Token ids of the messages through the chat template, up to where the assistant begins to speak."""
        return _render(self.tokenizer, messages, add_generation_prompt=True)

    def prompt_text(self, messages: Messages) -> str:
        """The same prompt as text."""
        return self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, **_fixed_clock()
        )

    def reply_ids(self, messages: Messages, reply: str) -> list[int]:
        """Token ids of an assistant's reply after `messages`, its end-of-turn token included.

        Raises:
            ModelError: with the reply, the template renders the prompt itself differently, so the reply's tokens do
                not simply follow it.
        """
        prompt = self.prompt_ids(messages)
        whole = _render(self.tokenizer, [*messages, {"role": "assistant", "content": reply}])
        if whole[: len(prompt)] != prompt:
            raise ModelError(
                f"model {self.spec.key}: its chat template does not continue the prompt's tokens with the reply"
                f" {reply!r:.40}. Such a template cannot be judged by label probabilities; use another model."
            )
        rest = whole[len(prompt) :]
        ends = [number for number, token in enumerate(rest) if token in self.end_tokens]
        if not ends:
            raise ModelError(
                f"model {self.spec.key}: its chat template closes a reply with none of its end tokens"
                f" {sorted(self.end_tokens)}. Correct generation_config.json (eos_token_id)."
            )
        return rest[: ends[0] + 1]

    def label_ids(self, messages: Messages, labels: Sequence[str]) -> dict[str, list[int]]:
        """Whole token sequences of the labels through end of turn.

        Raises:
            ModelError: a label does not come back from its tokens, or one label's tokens begin another's.
        """
        found = {label: self.reply_ids(messages, label) for label in labels}
        for label, ids in found.items():
            if self.tokenizer.decode(ids[:-1]).strip() != label:
                raise ModelError(
                    f"model {self.spec.key}: its tokenizer turns the label {label!r} into"
                    f" {self.tokenizer.decode(ids[:-1])!r}. Use another model or other labels."
                )
        return found

    def plain_ids(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Token ids of a text without any special token, and the characters that each covers."""
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return list(encoded["input_ids"]), [tuple(span) for span in encoded["offset_mapping"]]

    def decode(self, ids: Sequence[int]) -> str:
        """Text of tokens, special ones left out."""
        return self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)

    # -- forward passes ------------------------------------------------------------------------------------------

    def encode_prefix(self, ids: Sequence[int]) -> KeyValues:
        """Keys and values of a shared prefix, one (key, value) pair per layer; none for an empty one."""
        from faithfuse.llm.tree import TreeLayout, build_tree

        if not ids:
            return []
        tree = build_tree([[list(ids)]], chunk=len(ids))
        layout = TreeLayout(tree.segments, prefix=None, keep=True)
        self._forward(tree.tokens, tree.depths, layout)
        return layout.kept

    def score(
        self, prefix: KeyValues, groups: Sequence[Sequence[tuple[Sequence[int], Sequence[int]]]]
    ) -> tuple[list[Scored], PackedState]:
        """Log-probabilities of continuations, all in one forward pass.

        Args:
            prefix: keys and values of what all prompts begin with.
            groups: for each group its (prompt without the prefix, continuation) pairs; shared beginnings within a
                group are computed once. Prompts must not be empty.

        Returns:
            One `Scored` per pair in order, and the state from which `extend` can go on.
        """
        import torch

        from faithfuse.llm.tree import TreeLayout, build_tree

        # The last token of a continuation is predicted, never fed.
        fed = [[[*prompt, *reply[:-1]] for prompt, reply in group] for group in groups]
        pairs = [pair for group in groups for pair in group]
        tree = build_tree(fed)
        layout = TreeLayout(tree.segments, prefix=prefix or None, keep=True)
        offset = prefix[0][0].shape[1] if prefix else 0
        with torch.inference_mode():
            hidden = self._forward(tree.tokens, [depth + offset for depth in tree.depths], layout)
            asked = [
                (path[len(prompt) - 1 + step], token)
                for (prompt, reply), path in zip(pairs, tree.paths, strict=True)
                for step, token in enumerate(reply)
            ]
            rows = sorted({row for row, _ in asked})
            place = {row: number for number, row in enumerate(rows)}
            at = torch.tensor([place[row] for row, _ in asked], device=hidden.device)
            token = torch.tensor([token for _, token in asked], device=hidden.device)
            logprobs, best = self._label_logprobs(hidden[torch.tensor(rows, device=hidden.device)], at, token)
        results, cursor = [], 0
        for _, reply in pairs:
            stop = cursor + len(reply)
            results.append(Scored(logprobs[cursor:stop], [best[place[row]] for row, _ in asked[cursor:stop]]))
            cursor = stop
        prompts = [path[: len(prompt)] for (prompt, _), path in zip(pairs, tree.paths, strict=True)]
        replies = [path[len(prompt) :] for (prompt, _), path in zip(pairs, tree.paths, strict=True)]
        return results, PackedState(layout.kept, prompts, replies, offset)

    def prefill(self, prefix: KeyValues, groups: Sequence[Sequence[Sequence[int]]]) -> tuple[list[int], PackedState]:
        """Process prompts (without the prefix) and return each one's most probable next token, with the state."""
        import torch

        from faithfuse.llm.tree import TreeLayout, build_tree

        tree = build_tree(groups)
        layout = TreeLayout(tree.segments, prefix=prefix or None, keep=True)
        offset = prefix[0][0].shape[1] if prefix else 0
        with torch.inference_mode():
            hidden = self._forward(tree.tokens, [depth + offset for depth in tree.depths], layout)
            ends = torch.tensor([path[-1] for path in tree.paths], device=hidden.device)
            first = self._logits(hidden[ends]).argmax(dim=-1).tolist()
        return first, PackedState(layout.kept, tree.paths, [[] for _ in tree.paths], offset)

    def extend(
        self,
        prefix: KeyValues,
        states: Sequence[tuple[PackedState, Sequence[int]]],
        first: Sequence[int],
        limits: Sequence[int],
    ) -> list[list[int]]:
        """Greedy decoding from processed prompts.

        Args:
            prefix: keys and values of what all prompts begin with.
            states: packed states and, for each, which of its sequences go on.
            first: the first new token of each going sequence.
            limits: how many new tokens each may have at most, the first one included.

        Returns:
            The new tokens of each sequence, its end-of-turn token included when it was reached.
        """
        import torch

        from faithfuse.llm.tree import DecodeLayout

        produced = [[token] for token in first]
        alive = [n for n, token in enumerate(first) if token not in self.end_tokens and limits[n] > 1]
        if not alive:
            return produced
        with torch.inference_mode():
            room = max(limits) - 1
            own, start, positions = _gather(states, room)
            width = own[0][0].shape[2] - room
            columns = torch.arange(width + room)
            mask = torch.zeros(len(first), width + room, dtype=own[0][0].dtype)
            mask.masked_fill_(columns[None] < torch.tensor(start)[:, None], -torch.inf)
            held = list(range(len(first)))
            if len(alive) < len(held):
                own, mask, held = _keep(own, mask, held, alive)
            layout = DecodeLayout(prefix or None, own, mask.to(self.device), width)
            step = 1
            while alive:
                # Finished sequences ride along until a quarter of the batch is idle; copying costs more than they do.
                if len(alive) <= 0.75 * len(held):
                    layout.own, layout.mask, held = _keep(layout.own, layout.mask, held, alive)
                ids = torch.tensor([[produced[n][-1]] for n in held], device=self.device)
                where = torch.tensor([[positions[n] + step - 1] for n in held], device=self.device)
                hidden = self._call(ids, where, layout)[:, 0]
                tokens = self._logits(hidden).argmax(dim=-1).tolist()
                running = set(alive)
                for n, token in zip(held, tokens, strict=True):
                    if n in running:
                        produced[n].append(token)
                alive = [n for n in alive if produced[n][-1] not in self.end_tokens and len(produced[n]) < limits[n]]
                layout.column += 1
                step += 1
        return produced

    def _forward(self, tokens: Sequence[int], positions: Sequence[int], layout: TreeLayout) -> torch.Tensor:
        """Hidden states [tokens, hidden size] of one packed row."""
        import torch

        ids = torch.tensor([list(tokens)], device=self.device)
        where = torch.tensor([list(positions)], device=self.device)
        with torch.inference_mode():
            return self._call(ids, where, layout)[0]

    def _call(self, ids: torch.Tensor, positions: torch.Tensor, layout: TreeLayout | DecodeLayout) -> torch.Tensor:
        return self.decoder(input_ids=ids, position_ids=positions, use_cache=False, layout=layout).last_hidden_state

    def _logits(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.head(hidden).float()

    def _label_logprobs(
        self, hidden: torch.Tensor, at: torch.Tensor, token: torch.Tensor, block: int = 64
    ) -> tuple[list[float], list[int]]:
        """Log-probability of `token[i]` at row `at[i]` of `hidden`, and every row's best token; float32 soft-max."""
        import torch

        picked = torch.empty(len(at))
        best: list[int] = []
        for begin in range(0, len(hidden), block):
            logits = self._logits(hidden[begin : begin + block])
            best += logits.argmax(dim=-1).tolist()
            inside = (at >= begin) & (at < begin + block)
            rows = at[inside] - begin
            normaliser = logits.logsumexp(dim=-1)
            picked[inside.cpu()] = (logits[rows, token[inside]] - normaliser[rows]).cpu()
        return picked.tolist(), best


@dataclass
class PackedState:
    """Keys and values of a packed row and where the tokens of each prompt, and of what follows it, stand in it."""

    key_values: KeyValues
    prompts: list[list[int]]
    replies: list[list[int]]
    offset: int


def _gather(states: Sequence[tuple[PackedState, Sequence[int]]], room: int) -> tuple[KeyValues, list[int], list[int]]:
    """Copy chosen sequences out of packed rows into per-sequence buffers, right-aligned, with `room` free columns."""
    import torch

    chosen = [(state, state.prompts[n]) for state, picks in states for n in picks]
    width = max(len(path) for _, path in chosen)
    start = [width - len(path) for _, path in chosen]
    positions = [state.offset + len(path) for state, path in chosen]
    layers: KeyValues = []
    for layer, (sample, _) in enumerate(chosen[0][0].key_values):
        heads, _, size = sample.shape
        pair = []
        for part in (0, 1):
            buffer = torch.zeros(len(chosen), heads, width + room, size, dtype=sample.dtype, device=sample.device)
            for number, (state, path) in enumerate(chosen):
                index = torch.tensor(path, device=sample.device)
                buffer[number, :, start[number] : width] = state.key_values[layer][part][:, index]
            pair.append(buffer)
        layers.append((pair[0], pair[1]))
    return layers, start, positions


def _keep(
    own: KeyValues, mask: torch.Tensor, held: list[int], alive: list[int]
) -> tuple[KeyValues, torch.Tensor, list[int]]:
    import torch

    place = {n: row for row, n in enumerate(held)}
    rows = torch.tensor([place[n] for n in alive])
    kept = []
    for key, value in own:
        index = rows.to(key.device)
        kept.append((key.index_select(0, index), value.index_select(0, index)))
    return kept, mask.index_select(0, rows.to(mask.device)), list(alive)


def load(spec: ModelSpec, folder: Path, *, threads: int = 1, device: str | None = None) -> LanguageModel:
    """Load a model and prove its fast path against the plain forward pass.

    Args:
        spec: registry entry.
        folder: its transformers folder (safetensors).
        threads: CPU threads.
        device: `cpu`, `cuda`, …; null takes a GPU when there is one. On a CPU the precision is float32, on a GPU
            the registry's.

    Raises:
        ModelError: not a causal language model, no chat template, too large for the device, or its attention is of
            a kind that shared prefixes do not reproduce.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch
    import transformers
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    from transformers.modeling_utils import AttentionInterface
    from transformers.utils import logging

    from faithfuse.llm.tree import tree_attention

    if spec.kind != "causal-lm":
        raise ModelError(
            f"model {spec.key} is no causal language model (kind: {spec.kind}). Choose another with --model."
        )
    if not any(folder.glob("*.safetensors")):
        raise ModelError(f"model {spec.key}: {folder} holds no safetensors weights. Others are refused.")
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    torch.set_num_threads(threads)
    AttentionInterface.register(ATTENTION, tree_attention)
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = getattr(torch, spec.dtype) if device.startswith("cuda") else torch.float32
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise ModelError(f"model {spec.key}: {folder} cannot be read ({error})") from None
    _refuse_unsupported(spec, config, tokenizer)
    if isinstance(tokenizer.chat_template, str):
        tokenizer.chat_template = stop_clock(tokenizer.chat_template)
    require_memory(spec.key, config, dtype, device)
    spread = device_map(device)
    network = AutoModelForCausalLM.from_pretrained(
        folder,
        dtype=dtype,
        attn_implementation=ATTENTION,
        use_safetensors=True,
        trust_remote_code=False,
        device_map=spread,
    )
    if spread is None:
        network.to(device)
    network.eval()
    identity = {
        "model": spec.identity(),
        "weights": weights_digest(folder),
        "dtype": str(dtype).removeprefix("torch."),
        "device": torch.device(device).type,
        "threads": threads,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "cpu": torch.backends.cpu.get_cpu_capability(),
    }
    if device.startswith("cuda"):
        identity["gpu"] = torch.cuda.get_device_name()
    model = LanguageModel(network, tokenizer, spec, identity)
    identity["template"] = model.template.digest
    prove(model)
    return model


def device_map(device: str) -> str | None:
    """How accelerate places a model: over all GPUs when there are several and none in particular was named."""
    import torch

    return "auto" if device == "cuda" and torch.cuda.device_count() > 1 else None


def memory_needed(config: Any, dtype: torch.dtype, tokens: int = 16384) -> int:
    """Bytes that a model needs: its weights, and keys and values of `tokens` tokens with working space.

    The weights are counted by `accelerate` on empty tensors, so nothing is loaded.
    """
    from accelerate import init_empty_weights
    from transformers import AutoModelForCausalLM

    size = dtype.itemsize
    with init_empty_weights():
        empty = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    empty.tie_weights()
    weights = sum(parameter.numel() for parameter in {id(p): p for p in empty.parameters()}.values())
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    per_token = 2 * config.num_hidden_layers * config.num_key_value_heads * head
    # A block of 64 logit rows in float32, twice, and a dozen activations of a packed row.
    work = 2 * 64 * config.vocab_size * 4 + 2048 * 12 * max(config.intermediate_size, config.hidden_size) * size
    return weights * size + tokens * per_token * size + work


def require_memory(key: str, config: Any, dtype: torch.dtype, device: str) -> None:
    """Refuse a model that cannot fit, before anything of it is loaded.

    Raises:
        ModelError: it needs more than the device has free.
    """
    import torch

    needed = memory_needed(config, dtype)
    if device.startswith("cuda"):
        devices = range(torch.cuda.device_count()) if device == "cuda" else [torch.device(device).index]
        free = sum(torch.cuda.mem_get_info(number)[0] for number in devices)
    else:
        free = _free_memory()
    if needed > free:
        raise ModelError(
            f"model {key} needs about {needed / GIB:.1f} GiB in {str(dtype).removeprefix('torch.')}, {device} has"
            f" {free / GIB:.1f} GiB free. Use a smaller model, a larger machine or more GPUs, or close other programs."
        )


def _free_memory() -> int:
    """Free main memory in bytes, a container's limit respected."""
    info = (
        dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        if os.path.exists("/proc/meminfo")
        else {}
    )
    if not info:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    free = int(info["MemAvailable"].split()[0]) * 1024
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        if limit != "max":
            free = min(free, int(limit) - used)
    except OSError:
        pass
    return free


def _refuse_unsupported(spec: ModelSpec, config: Any, tokenizer: Any) -> None:
    def refuse(what: str, fix: str) -> None:
        raise ModelError(f"model {spec.key} {what}. {fix}")

    if not tokenizer.chat_template:
        refuse("has no chat template", "Use an instruction-tuned model, or add chat_template.jinja to its folder.")
    if getattr(config, "auto_map", None) and config.model_type not in _known_types():
        refuse("needs code from its repository", "Such code is never run; use a model that transformers knows.")
    if getattr(config, "quantization_config", None):
        refuse("is quantised", "Label probabilities are promised for plain weights; use the unquantised model.")
    rope = getattr(config, "rope_parameters", None) or {}
    if rope.get("rope_type") in ("dynamic", "longrope"):
        refuse(
            f"scales its positions by prompt length (rope_type {rope['rope_type']})",
            "Shared prefixes would change its results; use another model.",
        )
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    window = getattr(config, "sliding_window", None)
    if kinds != {"full_attention"} or (window and getattr(config, "use_sliding_window", True)):
        refuse("has sliding-window or other local attention", "Use a model with full attention in every layer.")


def _known_types() -> set[str]:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return set(CONFIG_MAPPING_NAMES)


def prove(model: LanguageModel) -> None:
    """Compare the tree path with the plain forward pass of the same weights on a short prompt.

    Raises:
        ModelError: they differ by more than rounding, so the architecture has something that the tree path lacks.
    """
    import torch

    ids = model.prompt_ids([{"role": "user", "content": "Which day follows Monday? Answer in one word."}])[-48:]
    prompt, reply = ids[: len(ids) // 2], ids[len(ids) // 2 :]
    cut = max(1, len(prompt) // 2)
    scored, _ = model.score(model.encode_prefix(prompt[:cut]), [[(prompt[cut:], reply)]])
    model.network.set_attn_implementation("sdpa")
    try:
        with torch.inference_mode():
            logits = model.network(torch.tensor([ids], device=model.device), use_cache=False).logits[0].float()
        plain = logits.log_softmax(dim=-1)[len(prompt) - 1 : -1]
        expected = plain.gather(1, torch.tensor(reply, device=plain.device)[:, None])[:, 0].cpu()
    finally:
        model.network.set_attn_implementation(ATTENTION)
    gap = (torch.tensor(scored[0].logprobs) - expected).abs().max().item()
    allowed = 1e-3 if model.identity["dtype"] == "float32" else 0.5
    if not gap <= allowed:
        raise ModelError(
            f"model {model.spec.key}: shared prefixes change its log-probabilities by {gap:.3g}, so its architecture"
            f" ({model.network.config.model_type}) is not supported. Use a Llama-like model."
        )


def _end_tokens(network: Any, tokenizer: Any) -> frozenset[int]:
    configured = network.generation_config.eos_token_id
    if configured is None:
        configured = tokenizer.eos_token_id
    ends = configured if isinstance(configured, list) else [configured]
    return frozenset(int(token) for token in ends if token is not None)


def stop_clock(template: str) -> str:
    """The chat template with every `strftime_now("…")` replaced by the fixed date in that form.

    Raises:
        ModelError: the template asks for the date in a form it computes.
    """
    stopped = re.sub(
        r"""strftime_now\(\s*(["'])(.*?)\1\s*\)""", lambda call: repr(FIXED_DATE.strftime(call[2])), template
    )
    if re.search(r"strftime_now\s*\(", stopped):
        raise ModelError("the chat template reads the clock in a way that cannot be fixed. Write the date into it.")
    return stopped


def _fixed_clock() -> dict[str, Any]:
    # Templates of the Llama 3.1 kind take their date from here; transformers passes plain data on, but no functions.
    return {"date_string": FIXED_DATE.strftime("%d %b %Y")}


def _render(tokenizer: Any, messages: Messages, add_generation_prompt: bool = False) -> list[int]:
    ids = tokenizer.apply_chat_template(
        messages, tokenize=True, return_dict=False, add_generation_prompt=add_generation_prompt, **_fixed_clock()
    )
    return list(ids)


def _template(tokenizer: Any, key: str) -> Template:
    """Check that the template and the tokenizer add up, and note what the template adds of its own accord.

    Raises:
        ModelError: the template drops a system or user message, or a text tokenised by hand gets another beginning
            (two beginning-of-sequence tokens) than the template's.
    """
    probe = [{"role": "user", "content": "Qwertyuiop."}]
    with_system = [{"role": "system", "content": "Asdfghjkl."}, *probe]
    try:
        rendered = tokenizer.apply_chat_template(with_system, tokenize=False, **_fixed_clock())
    except Exception as error:
        raise ModelError(
            f"model {key}: its chat template takes no system message ({error}). The judging prompts need one (arXiv"
            " 2512.05700, B-B and C-B); use another model or follow its card in a template of your own."
        ) from None
    if "Asdfghjkl." not in rendered or "Qwertyuiop." not in rendered:
        raise ModelError(f"model {key}: its chat template drops a system or user message. Use another model.")
    text = tokenizer.apply_chat_template(probe, tokenize=False, add_generation_prompt=True, **_fixed_clock())
    ids = _render(tokenizer, probe, add_generation_prompt=True)
    if list(tokenizer(text, add_special_tokens=False)["input_ids"]) != ids:
        raise ModelError(f"model {key}: its tokenizer adds tokens that its chat template does not write.")
    bos = tokenizer.bos_token_id
    if bos is not None and len(ids) > 1 and ids[0] == ids[1] == bos:
        raise ModelError(f"model {key}: its chat template writes the beginning-of-sequence token twice.")
    injected = text.split("Qwertyuiop.")[0] if "system" in text.split("Qwertyuiop.")[0] else None
    template = tokenizer.chat_template
    source = template if isinstance(template, str) else json.dumps(template, sort_keys=True)
    return Template(hashlib.sha256(source.encode()).hexdigest(), injected)

"""Prompts as token trees: every shared beginning is computed once.

The prompts of a batch are merged into a trie of token ids. Its nodes are laid out as one row of tokens without any
padding, and each token attends to its ancestors in the trie alone, which is what it would see in its own prompt. The
instruction that a whole domain shares stays outside, as a prefix whose keys and values are computed once per job.
So sharing is found in the token ids themselves; nothing relies on where one text ends and another begins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F

KeyValues = list[tuple[torch.Tensor, torch.Tensor]]
"""Per layer: keys and values, each of shape [key-value heads, tokens, head size]."""


@dataclass
class Segment:
    """A run of tokens that attends to the prefix, to whole earlier runs, and within itself.

    `allowed[i, j]` says whether the run's token i sees its token j.
    """

    start: int
    stop: int
    spans: list[tuple[int, int]]
    allowed: torch.Tensor


@dataclass
class Tree:
    """A batch of token sequences laid out as one row.

    Attributes:
        tokens: token id of each node.
        depths: number of ancestors of each node, the prefix not counted.
        paths: for each sequence, the row positions of its tokens.
        segments: how the row is cut for attention.
    """

    tokens: list[int]
    depths: list[int]
    paths: list[list[int]]
    segments: list[Segment]


def build_tree(groups: Sequence[Sequence[Sequence[int]]], chunk: int = 256) -> Tree:
    """Lay out groups of token sequences; sequences share beginnings within their group only.

    Args:
        groups: for each group its sequences, without the common prefix; none may be empty.
        chunk: subtrees of at most this many tokens attend as one block.
    """
    tokens: list[int] = []
    depths: list[int] = []
    paths: list[list[int]] = []
    segments: list[Segment] = []
    for group in groups:
        trie = _Trie(group)
        position = trie.lay_out(len(tokens), chunk, segments)
        base = len(tokens)
        order = sorted(position, key=position.__getitem__)
        assert [position[node] for node in order] == list(range(base, base + len(order)))
        tokens.extend(trie.token[node] for node in order)
        depths.extend(trie.depth[node] for node in order)
        paths.extend([position[node] for node in path] for path in trie.paths)
    return Tree(tokens, depths, paths, segments)


class _Trie:
    def __init__(self, sequences: Sequence[Sequence[int]]) -> None:
        self.token: list[int] = []
        self.depth: list[int] = []
        self.parent: list[int] = []
        self.children: list[list[int]] = []
        self.roots: list[int] = []
        self.paths: list[list[int]] = []
        known: dict[tuple[int, int], int] = {}
        for sequence in sequences:
            if not sequence:
                raise ValueError("an empty sequence has no place in a tree")
            parent, path = -1, []
            for token in sequence:
                node = known.get((parent, token))
                if node is None:
                    node = known[parent, token] = len(self.token)
                    self.token.append(token)
                    self.parent.append(parent)
                    self.depth.append(0 if parent < 0 else self.depth[parent] + 1)
                    self.children.append([])
                    (self.roots if parent < 0 else self.children[parent]).append(node)
                path.append(node)
                parent = node
            self.paths.append(path)
        self.size = [1] * len(self.token)
        for node in range(len(self.token) - 1, -1, -1):
            if self.parent[node] >= 0:
                self.size[self.parent[node]] += self.size[node]

    def lay_out(self, base: int, chunk: int, segments: list[Segment]) -> dict[int, int]:
        """Give each node its place in the row, in depth-first order, and cut the row into segments."""
        position: dict[int, int] = {}
        # Each entry: sibling nodes still to place, and the segments above them.
        stack: list[tuple[list[int], list[tuple[int, int]]]] = [(self.roots, [])]
        while stack:
            siblings, above = stack.pop()
            block: list[int] = []
            for node in siblings:
                if self.size[node] > chunk:
                    self._place(block, base, position, above, segments)
                    block = []
                    stem = [node]
                    while len(self.children[stem[-1]]) == 1:
                        stem.append(self.children[stem[-1]][0])
                    self._place_nodes(stem, base, position, above, segments)
                    below = self.children[stem[-1]]
                    if below:
                        stack.append((below, [*above, (segments[-1].start, segments[-1].stop)]))
                elif sum(self.size[member] for member in block) + self.size[node] > chunk:
                    self._place(block, base, position, above, segments)
                    block = [node]
                else:
                    block.append(node)
            self._place(block, base, position, above, segments)
        return position

    def _place(
        self,
        roots: list[int],
        base: int,
        position: dict[int, int],
        above: list[tuple[int, int]],
        segments: list[Segment],
    ) -> None:
        """Place whole subtrees as one segment."""
        nodes: list[int] = []
        pending = list(reversed(roots))
        while pending:
            node = pending.pop()
            nodes.append(node)
            pending.extend(reversed(self.children[node]))
        if nodes:
            self._place_nodes(nodes, base, position, above, segments)

    def _place_nodes(
        self,
        nodes: list[int],
        base: int,
        position: dict[int, int],
        above: list[tuple[int, int]],
        segments: list[Segment],
    ) -> None:
        start = base + len(position)
        local = {node: number for number, node in enumerate(nodes)}
        allowed = torch.zeros(len(nodes), len(nodes), dtype=torch.bool)
        for node, number in local.items():
            parent = local.get(self.parent[node])
            if parent is not None:
                allowed[number] = allowed[parent]
            allowed[number, number] = True
            position[node] = start + number
        segments.append(Segment(start, start + len(nodes), list(above), allowed))


@dataclass
class TreeLayout:
    """How one forward pass over a tree's row attends; collects the row's keys and values when asked to."""

    segments: list[Segment]
    prefix: KeyValues | None
    keep: bool = False
    kept: KeyValues = field(default_factory=list)
    _masks: dict[tuple, list[torch.Tensor]] = field(default_factory=dict)

    def _mask(self, query: torch.Tensor) -> list[torch.Tensor]:
        """Additive masks of all segments, [1, 1, tokens, keys]; made once per device and precision."""
        place = (query.device, query.dtype)
        if place not in self._masks:
            shared = self.prefix[0][0].shape[1] if self.prefix else 0
            masks = []
            for segment in self.segments:
                above = shared + sum(stop - start for start, stop in segment.spans)
                mask = torch.zeros(len(segment.allowed), above + len(segment.allowed), dtype=query.dtype)
                mask[:, above:].masked_fill_(~segment.allowed, -math.inf)
                masks.append(mask[None, None].to(query.device))
            self._masks[place] = masks
        return self._masks[place]

    def attend(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float
    ) -> torch.Tensor:
        """Attention of one layer: query [1, heads, tokens, size] to [1, tokens, heads, size]."""
        output = torch.empty_like(query)
        if self.keep:
            self.kept.append((key[0], value[0]))
        for segment, mask in zip(self.segments, self._mask(query), strict=True):
            keys, values = [], []
            if self.prefix:
                prefix_key, prefix_value = self.prefix[layer]
                keys.append(prefix_key[None].to(query.device))
                values.append(prefix_value[None].to(query.device))
            for start, stop in [*segment.spans, (segment.start, segment.stop)]:
                keys.append(key[:, :, start:stop])
                values.append(value[:, :, start:stop])
            output[:, :, segment.start : segment.stop] = F.scaled_dot_product_attention(
                query[:, :, segment.start : segment.stop],
                torch.cat(keys, dim=2),
                torch.cat(values, dim=2),
                attn_mask=mask,
                scale=scaling,
                enable_gqa=query.shape[1] != key.shape[1],
            )
        return output.transpose(1, 2)


@dataclass
class DecodeLayout:
    """Attention of one decoding step: each sequence sees the shared prefix and its own keys and values.

    `own` holds, per layer, buffers [sequences, key-value heads, room, size]; columns before `start[b]` are padding,
    and the step writes column `column`. The prefix is read once for all sequences.
    """

    prefix: KeyValues | None
    own: KeyValues
    mask: torch.Tensor
    column: int

    def attend(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float
    ) -> torch.Tensor:
        """Attention of one layer: query [sequences, heads, 1, size] to [sequences, 1, heads, size]."""
        count, heads, _, size = query.shape
        own_key, own_value = self.own[layer]
        own_key[:, :, self.column] = key[:, :, 0]
        own_value[:, :, self.column] = value[:, :, 0]
        keys, values = own_key[:, :, : self.column + 1], own_value[:, :, : self.column + 1]
        grouped = keys.shape[1]
        query = query.view(count, grouped, heads // grouped, size) * scaling
        scores = query @ keys.transpose(2, 3) + self.mask[:, None, None, : self.column + 1].to(query.device)
        shared = 0
        if self.prefix:
            prefix_key, prefix_value = (tensor.to(query.device) for tensor in self.prefix[layer])
            shared = prefix_key.shape[1]
            folded = query.transpose(0, 1).reshape(grouped, -1, size)
            to_prefix = (folded @ prefix_key.transpose(1, 2)).view(grouped, count, -1, shared).transpose(0, 1)
            scores = torch.cat([to_prefix, scores], dim=-1)
        weights = scores.softmax(dim=-1, dtype=torch.float32).to(query.dtype)
        output = weights[..., shared:] @ values
        if self.prefix:
            folded = weights[..., :shared].transpose(0, 1).reshape(grouped, -1, shared)
            output = output + (folded @ prefix_value).view(grouped, count, -1, size).transpose(0, 1)
        return output.reshape(count, 1, heads, size)


def tree_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float,
    dropout: float = 0.0,
    *,
    layout: TreeLayout | DecodeLayout,
    **_: object,
) -> tuple[torch.Tensor, None]:
    """The attention function that transformers calls in place of its own (`AttentionInterface`)."""
    return layout.attend(module.layer_idx, query, key, value, scaling), None

"""Shares of a stage, as the LLM and graph stages take them on the command line."""

from __future__ import annotations

from faithfuse.errors import InputError


def parse_shard(text: str) -> tuple[int, int]:
    """Read `K/N`, shard K of N counted from 1.

    Raises:
        InputError: it is not of that form.
    """
    first, _, second = text.partition("/")
    if first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second):
        return int(first), int(second)
    raise InputError(f"shard {text!r} is not of the form K/N", fix="Use 1/5 for the first of five shards.")

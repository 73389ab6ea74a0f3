"""The suite's oracle: what the paper says each state resolves to, written apart from the checker.

It shares no code with `faithfuse.audit.endpoint` and reads states as text, so that a fault there cannot hide here.
"""

from __future__ import annotations

from itertools import product

STATES = tuple("".join(symbols) for symbols in product("10U", repeat=4))
"""All 81 states as four symbols in the order I, A, M, D; from `1111` to `UUUU`."""


def expected(state: str) -> str:
    """The endpoint of a state such as `1110` as one symbol: 1, 0 or U (section III-A)."""
    if len(state) != 4 or set(state) - set("10U"):
        raise ValueError(f"{state!r} is no state")
    if state.find("U") >= 0:
        return "U"
    return {"1110": "1"}.get(state, "0")

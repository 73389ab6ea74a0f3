"""What a record of an original file must look like before its members are used, and what is said when it does not.

A shape is a type (`str`, `int`, `float`, `bool`, `list`, `dict`, `object` for anything), `None`, a tuple of shapes
(any of them), a frozenset of texts (one of them), a list of one shape (a list of such values), or a mapping from
members to shapes (an object that has them; a name that ends in `?` may be missing, and `*` is any other member).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    None: "null",
}


def misfit(value: Any, shape: Any, name: str = "") -> str | None:
    """What is wrong with a value, as a sentence fragment that names the member; None if it fits.

    >>> misfit({"id": 3, "turns": [{"text": None}]}, {"id": int, "turns": [{"text": str}]})
    'turns.0.text is None, not a text'
    >>> misfit({"id": 3}, {"id": (str, int), "turns": list})
    'has no turns'
    """
    if isinstance(shape, Mapping):
        return _object_misfit(value, shape, name)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return _not(value, list, name)
        found = (misfit(part, shape[0], _member(name, place)) for place, part in enumerate(value))
        return next((wrong for wrong in found if wrong is not None), None)
    options = shape if isinstance(shape, tuple) else (shape,)
    return None if any(_is(value, option) for option in options) else _not(value, shape, name)


def _object_misfit(value: Any, shape: Mapping[str, Any], name: str) -> str | None:
    if not isinstance(value, dict):
        return _not(value, dict, name)
    missing = [member for member in shape if member != "*" and not member.endswith("?") and member not in value]
    if missing:
        return f"{name + ' ' if name else ''}has no {', '.join(missing)}"
    shapes = {member.removesuffix("?"): inner for member, inner in shape.items()}
    found = (
        misfit(part, shapes.get(member, shapes.get("*", object)), _member(name, member))
        for member, part in value.items()
    )
    return next((wrong for wrong in found if wrong is not None), None)


def _is(value: Any, option: Any) -> bool:
    if option is None:
        return value is None
    if isinstance(option, (Mapping, list)):
        return misfit(value, option) is None
    if isinstance(option, frozenset):
        return isinstance(value, str) and value in option
    if option is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    # A flag is an integer to Python.
    return isinstance(value, option) and not (option is int and isinstance(value, bool))


def _member(name: str, member: str | int) -> str:
    return f"{name}.{member}" if name else str(member)


def _not(value: Any, shape: Any, name: str) -> str:
    options = shape if isinstance(shape, tuple) else (shape,)
    words = " or ".join(_word(option) for option in options)
    return f"{name + ' ' if name else ''}is {value!r:.60}, not {words}"


def _word(option: Any) -> str:
    if isinstance(option, Mapping):
        return _WORDS[dict]
    if isinstance(option, frozenset):
        return " or ".join(map(repr, sorted(option)))
    return _WORDS[list] if isinstance(option, list) else _WORDS[option]

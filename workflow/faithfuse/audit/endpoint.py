"""The complete-case omission endpoint RO (arXiv 2609.29145, section III-A)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

UNRESOLVED = -1
"""How arrays write an unresolved predicate or endpoint."""


def omission_endpoint(
    relationship: int | None, adoption: int | None, materiality: int | None, disclosure: int | None
) -> int | None:
    """1 only for (1, 1, 1, 0), 0 for the other 15 complete states, null for the 65 incomplete ones.

    States that short-circuit reasoning could settle, such as (0, null, 1, 1), stay unresolved: the endpoint needs
    all four documented judgements.

    Args:
        relationship: predicate I as 1, 0 or None; likewise adoption A, materiality M and disclosure D.
    """
    if relationship is None or adoption is None or materiality is None or disclosure is None:
        return None
    return relationship & adoption & materiality & (1 - disclosure)


def omission_endpoints(
    relationship: np.ndarray, adoption: np.ndarray, materiality: np.ndarray, disclosure: np.ndarray
) -> np.ndarray:
    """The endpoint of many tuples at once.

    Args:
        relationship: `int8` array of any shape with 1, 0 and −1 (`UNRESOLVED`); the other three alike.

    Returns:
        `int8` array of that shape with 1, 0 and −1.

    Raises:
        ValueError: the shapes differ, a type is not `int8`, or a value is none of the three.
    """
    import numpy as np

    arrays = [np.ascontiguousarray(array) for array in (relationship, adoption, materiality, disclosure)]
    if any(array.dtype != np.int8 or array.shape != arrays[0].shape for array in arrays):
        raise ValueError("the four predicates must be int8 arrays of one shape")
    if any(array.size and (array.min() < -1 or array.max() > 1) for array in arrays):
        raise ValueError("a predicate is 1, 0 or -1 for unresolved")
    i, a, m, d = arrays
    # The sign bit of a bitwise or is set exactly when one of the four is -1.
    incomplete = (i | a | m | d) >> 7
    return (i & a & m & (1 - d)) & ~incomplete | incomplete

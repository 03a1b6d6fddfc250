"""How the tensors of a call lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

LAYOUTS = ("contiguous", "transposed", "stepped")


def lay_out(array: Array, layout: str) -> Array:
    """The same elements: in order, with the last two axes exchanged in memory, or in every second place of the last axis."""
    if layout == "contiguous" or array.ndim < 2:
        return array
    if layout == "transposed":
        return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)
    result = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    result[..., ::2] = array
    return result[..., ::2]


def arrays(arguments: dict[str, Any]) -> dict[str, Array]:
    """The tensors of a call by name; those of a list have a number, too."""
    found = {}
    for name, value in arguments.items():
        if isinstance(value, list):
            found |= {f"{name}[{place}]": one for place, one in enumerate(value) if isinstance(one, np.ndarray)}
        elif isinstance(value, np.ndarray):
            found[name] = value
    return found


def whole(array: Array) -> Array:
    """The memory block that a view is of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def place(array: Array) -> tuple[tuple[int, ...], int]:
    """Strides and offset of a view in its block, in elements."""
    start = array.__array_interface__["data"][0] - whole(array).__array_interface__["data"][0]
    return tuple(stride // array.itemsize for stride in array.strides), start // array.itemsize

"""Kernels that are marked to be compiled as a whole like those of plans: what operators run inside of larger ones, or on other shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

LANES, ROW = (4, 8), (4, 1)
"""What a kernel is given: a number for each element, or one for each row."""


class Mark(NamedTuple):
    """A kernel, and an example of what it is called with."""

    kernel: Callable[..., Any]
    shapes: tuple[tuple[int, int], ...]
    attributes: dict[str, Any]


MARKS: list[Mark] = []
_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def whole(*shapes: tuple[int, int], **attributes: Any) -> Callable[[_Kernel], _Kernel]:
    """Have a kernel compiled as a whole for arguments of these shapes."""

    def mark(kernel: _Kernel) -> _Kernel:
        MARKS.append(Mark(kernel, shapes, attributes))
        return kernel

    return mark

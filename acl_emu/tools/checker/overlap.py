"""Whether two strided pieces of memory have a byte in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu.core.observe import Span

_MOST_WORK = 100_000
"""Deciding it exactly can take for ever for strides chosen with malice."""


def is_dense(span: Span) -> bool:
    """Whether every byte from the first to the last belongs to it."""
    width = span.item
    for stride, count in sorted((s, n) for n, s in zip(span.shape, span.strides, strict=True) if n > 1):
        if stride > width:
            return False
        width += (count - 1) * stride
    return True


def overlap(one: Span, other: Span) -> bool:
    """Whether there is a byte in both."""
    if one.end <= other.address or other.end <= one.address or one.empty or other.empty:
        return False
    if is_dense(one) and is_dense(other):
        return True
    try:
        return bool(np.shares_memory(_array(one), _array(other), max_work=_MOST_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return False


def is_same(one: Span, other: Span) -> bool:
    """Whether both are the same elements in the same order."""
    if one is other:
        return True

    def layout(span: Span) -> list[tuple[int, int]]:
        return [(n, s) for n, s in zip(span.shape, span.strides, strict=True) if n != 1]

    return one.address == other.address and one.item == other.item and layout(one) == layout(other)


class _Described:
    """Memory that numpy is told of and never looks at."""

    def __init__(self, span: Span) -> None:
        self.__array_interface__ = {
            "version": 3,
            "shape": span.shape,
            "strides": span.strides,
            "typestr": f"|V{span.item}",
            "data": (span.address, True),
        }


def _array(span: Span) -> npt.NDArray[Any]:
    return np.asarray(_Described(span))

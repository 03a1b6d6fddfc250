"""One number for each channel of each sample: all axes behind them are reduced to length 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from acl_emu.core.dtypes import DType
from acl_emu.spec import Array, Example, Operand, Plan, mapped, numbers, same_dtype, shape_is

RANKS = (4, 8)


def pooled(kernel: Callable[..., Array], self: Operand, out: Operand) -> Plan:
    """``kernel(self, axes=…)``."""
    same_dtype(self, out)
    shape_is(out, self.shape[:2] + (1,) * (self.rank - 2), "with 1 behind the first two dimensions")
    return mapped(kernel, reads=(self,), writes=(out,), dtype=self.dtype, axes=tuple(range(2, self.rank)))


def examples(types: tuple[DType, ...]) -> Iterator[Example]:
    """Planes, volumes, and more."""
    for dtype, shape in zip(types, ((2, 3, 4, 5), (2, 2, 3, 1, 4), (1, 3, 2, 2, 2, 2), (2, 1, 5, 5)), strict=False):
        yield {"self": numbers(shape, dtype, 1), "out": numbers(shape[:2] + (1,) * (len(shape) - 2), dtype, 2)}


def largest(x: Array, *, axes: tuple[int, ...]) -> Any:
    """NaN where there is one."""
    return x.max(axis=axes, keepdims=True)


def mean(x: Array, *, axes: tuple[int, ...]) -> Any:
    """In float64."""
    return x.mean(axis=axes, keepdims=True)

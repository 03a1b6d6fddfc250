"""aclnnEinsum: two sums of products that are known by their equation."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT16, INT32, INT64, UINT16, UINT32, UINT64
from acl_emu.spec import (
    Array,
    Example,
    In,
    ListOf,
    Operand,
    Out,
    Plan,
    Product,
    StringKind,
    mapped,
    numbers,
    operator,
    rank_in,
    require,
    same_dtype,
    shape_is,
)

TYPES = (FLOAT16, FLOAT, INT16, UINT16, INT32, UINT32, INT64, UINT64)
INFERENCE = {Product.A310P: tuple(dtype for dtype in TYPES if dtype is not FLOAT)}


def outer(x: Array, y: Array) -> Any:
    """Every product of two."""
    return x * y


def along_last(x: Array, y: Array) -> Any:
    """The products of vectors."""
    return (x * y).sum(axis=-1, dtype=np.float64 if x.dtype.kind == "f" else x.dtype)


EQUATIONS: dict[str, tuple[tuple[int, int], Callable[..., Any]]] = {
    "abcd,abced->abce": ((4, 5), along_last),
    "a,b->ab": ((1, 1), outer),
}
"""The ranks, and the formula."""


@operator(products=frozenset({Product.A950, Product.A3, Product.A2, Product.A310P}))
def aclnnEinsum(
    tensors: Annotated[list[Operand], ListOf(In(*TYPES, on=INFERENCE))],
    equation: Annotated[str, StringKind()],
    output: Annotated[Operand, Out(*TYPES, on=INFERENCE)],
) -> Plan:
    """Sum products over the indices that an equation does not name in its result."""
    require(equation in EQUATIONS, f"equation is {equation!r}, expected one of {', '.join(EQUATIONS)}")
    require(len(tensors) == 2, f"tensors has {len(tensors)} members, expected 2")
    first, second = tensors
    same_dtype(first, second, output)
    ranks, formula = EQUATIONS[equation]
    rank_in(first, ranks[0])
    rank_in(second, ranks[1])
    if formula is outer:
        shape_is(output, (*first.shape, *second.shape), "the lengths of both")
        reads = (first.with_axis(1), second.with_axis(0))
    else:
        *batch, inner = first.shape
        shape_is(second, (*batch, second.shape[3], inner), "lengths by the names of their indices")
        shape_is(output, (*batch, second.shape[3]), "lengths by the names of their indices")
        reads = (first.with_axis(3), second)
    return mapped(formula, reads=reads, writes=(output,), dtype=first.dtype)


@aclnnEinsum.example
def examples() -> Iterator[Example]:
    """Both equations, of floating-point and of integers."""
    for dtype in (FLOAT16, INT32):
        yield {
            "tensors": [numbers((2, 3, 4, 7), dtype, 1, 3), numbers((2, 3, 4, 5, 7), dtype, 2, 3)],
            "equation": "abcd,abced->abce",
            "output": numbers((2, 3, 4, 5), dtype, 3),
        }
        yield {
            "tensors": [numbers((3,), dtype, 1, 9), numbers((4,), dtype, 2, 9)],
            "equation": "a,b->ab",
            "output": numbers((3, 4), dtype, 3),
        }

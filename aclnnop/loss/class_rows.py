"""What the cross entropy of rows of logits and its gradient share: kinds, rules, and working some rows at a time."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.dtypes import FLOAT
from acl_emu.spec import Array, In, Operand, Product, Reduction, StringKind, require, shape_is

ClassWeight = Annotated[Operand | None, In(FLOAT, optional=True)]
REDUCTIONS = {"none": Reduction.NONE, "mean": Reduction.MEAN, "sum": Reduction.SUM}
NAME = StringKind("char*", optional=True, choices=tuple(REDUCTIONS))
ReductionName = Annotated[str | None, NAME]
BLOCK_ELEMENTS = 1 << 18
PRODUCTS = frozenset({Product.A950, Product.A3, Product.A2})


def check_rows(logits: Operand, target: Operand, weight: Operand | None) -> None:
    """Rows of at least one class, a target for each row, a weight for each class."""
    require(logits.rank == 2 and logits.shape[1] > 0, f"{logits.name} has shape {list(logits.shape)}, expected (N, C) with C above 0")
    shape_is(target, logits.shape[:1], f"N of {logits.name}")
    if weight is not None:
        shape_is(weight, logits.shape[1:], f"C of {logits.name}")


def reduction_named(name: str | None) -> Reduction:
    """The reduction of a name; none given means mean."""
    if name is None:
        return Reduction.MEAN
    NAME.check_choice("reductionOptional", name)
    return REDUCTIONS[name]


def class_weights(weight: Array | None, classes: int) -> Array:
    """One weight for each class in float64, 1 where none are given."""
    return np.ones(classes) if weight is None else weight.astype(np.float64)


def row_blocks(matrix: Array) -> Iterator[slice]:
    """Some rows of a matrix at a time, so that what is held in float64 does not grow with it."""
    rows, width = matrix.shape
    step = max(1, BLOCK_ELEMENTS // width)
    return (slice(first, first + step) for first in range(0, rows, step))

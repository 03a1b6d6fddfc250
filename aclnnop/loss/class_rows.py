"""What the cross entropy of rows of logits and its gradient share: kinds and rules."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT
from acl_emu.engine.calls import code_of
from acl_emu.engine.chain import Chain, Part
from acl_emu.spec import In, Operand, Product, Reduction, StringKind, require, shape_is

ClassWeight = Annotated[Operand | None, In(FLOAT, optional=True)]
REDUCTIONS = {"none": Reduction.NONE, "mean": Reduction.MEAN, "sum": Reduction.SUM}
NAME = StringKind("char*", optional=True, choices=tuple(REDUCTIONS))
ReductionName = Annotated[str | None, NAME]
THREADED_ROWS = 1 << 12
"""From how many on a second thread is worth while."""
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


class Choice:
    """What the targets of rows choose, for the steps of a chain: the class of each, what stands there, and its weight."""

    def __init__(self, chain: Chain, source: Operand, target: Operand, weight: Operand | None, ignored: int) -> None:
        self.threaded = source.shape[0] >= THREADED_ROWS
        self.rows, classes = source.shape
        self.classes = chain.buffer((self.rows,), np.int64)
        self.values, self.weights = chain.buffer((self.rows,)), chain.buffer((self.rows,))
        x, item = source.view.layout, source.dtype.itemsize
        weight_stride = 0 if weight is None else weight.view.layout.strides[0]
        numbers = (
            *(self.rows, classes, ignored, code_of(source.dtype), item, *x.strides, code_of(target.dtype)),
            *(target.view.layout.strides[0], weight is not None, weight_stride),
        )
        reads = (chain.of(source), chain.of(target), self.classes if weight is None else chain.of(weight))
        chain.call("acl_emu_rows_choose", numbers, (*reads, *self.parts), threaded=self.threaded)

    @property
    def parts(self) -> tuple[Part, Part, Part]:
        """All three of them."""
        return self.classes, self.values, self.weights

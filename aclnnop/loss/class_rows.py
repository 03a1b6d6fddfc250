"""What the cross entropy of rows of logits and its gradient share: kinds and rules."""

from typing import Annotated

from acl_emu.dtypes import FLOAT
from acl_emu.spec import In, Operand, Product, Reduction, StringKind, require, shape_is

ClassWeight = Annotated[Operand | None, In(FLOAT, optional=True)]
REDUCTIONS = {"none": Reduction.NONE, "mean": Reduction.MEAN, "sum": Reduction.SUM}
NAME = StringKind("char*", optional=True, choices=tuple(REDUCTIONS))
ReductionName = Annotated[str | None, NAME]
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

"""aclnnStridedSliceAssignV2: a tensor into slices of another one."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import (
    Example,
    HandleKind,
    In,
    InOut,
    IntArrayIn,
    Operand,
    Plan,
    Product,
    broadcasts_to,
    numbers,
    operator,
    require,
    same_dtype,
    wrap_dim,
)
from aclnnop.conversion.moves import copied, narrowed, window
from aclnnop.conversion.slicing import bounds

TYPES = (FLOAT16, FLOAT, BF16, INT32, INT64, DOUBLE, INT8)


@operator(products=frozenset({Product.A3, Product.A2}))
def aclnnStridedSliceAssignV2(
    varRef: Annotated[Operand, InOut(*TYPES, const=False, rank=(1, 8))],
    inputValue: Annotated[Operand, In(*TYPES)],
    begin: IntArrayIn,
    end: IntArrayIn,
    strides: IntArrayIn,
    axesOptional: Annotated[IntArray | None, HandleKind(IntArray, optional=True)],
) -> Plan:
    """Write ``inputValue`` into the slices from ``begin`` to ``end`` in steps; without axes these are for the first dimensions."""
    same_dtype(varRef, inputValue)
    axes = tuple(range(len(begin))) if axesOptional is None else axesOptional.values
    for name, values in (("end", end.values), ("strides", strides.values), ("axesOptional", axes)):
        require(len(values) == len(begin), f"{name} has {len(values)} values, expected {len(begin)} as begin")
    target = varRef
    for dim, first, last, step in zip(axes, begin.values, end.values, strides.values, strict=True):
        require(step > 0, f"strides is {strides}, expected values of at least 1")
        axis = wrap_dim(dim, varRef, "axesOptional")
        target = narrowed(target, axis, *bounds(varRef.shape[axis], first, last, step), step)
    broadcasts_to(target.shape, "the slices of varRef", inputValue)
    added = target.rank - inputValue.rank
    steps = [
        0 if own != length else stride
        for own, length, stride in zip(inputValue.shape, target.shape[added:], inputValue.view.strides, strict=True)
    ]
    return copied(window(inputValue, target.shape, [0] * added + steps), target)


@aclnnStridedSliceAssignV2.example
def examples() -> Iterator[Example]:
    """The first dimensions, and a named one."""
    for dtype, begin, end, strides, axes, shape in (
        (FLOAT, [0, 1], [3, 4], [2, 1], None, (2, 3)),
        (BF16, [1], [5], [3], [1], (3, 2)),
    ):
        settings = {"begin": begin, "end": end, "strides": strides, "axesOptional": axes}
        yield {"varRef": numbers((3, 5), dtype, 1, 9), "inputValue": numbers(shape, dtype, 2, 9), **settings}

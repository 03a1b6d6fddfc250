"""aclnnConfusionTranspose: another shape and another order of dimensions, in either order."""

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.constants import ACLNN_ERR_INNER_NULLPTR
from acl_emu.core.dtypes import FLOAT, INT8
from acl_emu.spec import Array, Bool, Example, In, IntArrayIn, Operand, Out, Plan, Product, numbers, operator, require, same_dtype, shape_is
from acl_emu.spec.tiling import in_tiling
from aclnnop.conversion.moves import SIMPLE, rearranged

TYPES = tuple(dtype for dtype in SIMPLE if dtype.kind != "bool")


@operator(products=frozenset({Product.A950}))
def aclnnConfusionTranspose(
    x: Annotated[Operand, In(*TYPES, rank=(1, 8))],
    perm: IntArrayIn,
    shape: IntArrayIn,
    transposeFirst: Bool,
    out: Annotated[Operand, Out(*TYPES)],
) -> Plan:
    """Put the dimensions in the order ``perm`` and then into ``shape``, or the other way round."""
    same_dtype(x, out)
    permuted = x.shape if transposeFirst else shape.values
    with in_tiling(ACLNN_ERR_INNER_NULLPTR):
        require(math.prod(shape.values) == x.size, f"shape is {shape}, expected {x.size} elements as x")
        require(sorted(perm.values) == list(range(len(permuted))), f"perm is {perm}, expected every dimension of {list(permuted)} once")
        shape_is(out, shape.values if transposeFirst else [permuted[axis] for axis in perm.values], "that of the result")
    return rearranged(both, (x,), out, perm=perm.values, shape=shape.values, first=transposeFirst)


@aclnnConfusionTranspose.example
def examples() -> Iterator[Example]:
    """Both orders."""
    for dtype, perm, first, result in ((FLOAT, [1, 0, 2], True, (6, 4)), (INT8, [1, 0], False, (4, 6))):
        yield {
            "x": numbers((2, 3, 4), dtype, 1, 9),
            "perm": perm,
            "shape": [6, 4],
            "transposeFirst": first,
            "out": numbers(result, dtype, 2),
        }


def both(x: Array, *, perm: tuple[int, ...], shape: tuple[int, ...], first: bool) -> Array:
    """One after the other."""
    return np.transpose(x, perm).reshape(shape) if first else np.transpose(x.reshape(shape), perm)

"""aclnnQuantMatmulV2: the product of two matrices of integers, with a packed scale for each column."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT16, INT8, INT32, UINT64
from acl_emu.spec import Array, Bool, Example, In, Operand, Out, Plan, Product, direct, nothing, operator, require, shape_is
from aclnnop.matmul.cube import product_shape
from aclnnop.matmul.quant_matmul_v4 import example
from aclnnop.matmul.quant_product import Parameters, quant_product

Factor = Annotated[Operand, In(INT8, rank=(2, 3))]
STEP = 16
"""There are as many scales as columns, rounded up to a multiple of this."""


@operator(products=frozenset({Product.A3, Product.A2}))
def aclnnQuantMatmulV2(
    x1: Factor,
    x2: Factor,
    bias: Annotated[Operand | None, In(INT32, rank=1, optional=True)],
    deqScale: Annotated[Operand, In(UINT64, rank=1)],
    adjX1: Bool,
    adjX2: Bool,
    out: Annotated[Operand, Out(FLOAT16, rank=(2, 3))],
) -> Plan:
    """Multiply matrices of integers; sums are exact, then scaled by column."""
    left, right = x1.transposed() if adjX1 else x1, x2.transposed() if adjX2 else x2
    shape = product_shape(left, right)
    padded = -(-shape[-1] // STEP) * STEP
    require(
        deqScale.shape == (padded,),
        f"deqScale has shape {list(deqScale.shape)}, expected [{padded}]: the columns of x2, rounded up to a multiple of {STEP}",
    )
    if 0 in shape or 0 in x1.shape:
        shape_is(out, shape, "that of x1 @ x2")
        require(bias is None or 0 in shape, "bias has a value, expected a null pointer where x1 has no columns")
        return nothing() if 0 in shape else direct(clear, reads=(), writes=(out,), scratch={})
    scale = deqScale.in_view(shape[-1:], deqScale.view.strides)
    return quant_product(x1, x2, Parameters(scale, None, None, bias), (adjX1, adjX2), out)


def clear(out: Array) -> None:
    """The sum of nothing."""
    out[...] = 0


@aclnnQuantMatmulV2.example
def examples() -> Iterator[Example]:
    """As of the fourth version."""
    one = example(token=False)
    names = {"deqScale": "scale", "adjX1": "transposeX1", "adjX2": "transposeX2"}
    scale = one["scale"]
    one["scale"] = np.concatenate((scale, np.zeros(-len(scale) % STEP, scale.dtype)))
    yield {name: one[names.get(name, name)] for name in aclnnQuantMatmulV2.names}

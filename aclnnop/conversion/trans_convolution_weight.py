"""aclnnTransConvolutionWeight, and how much memory it needs: kernels of convolutions in blocks (FRACTAL_Z)."""

import math
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.constants import ACL_FORMAT_FRACTAL_Z, ACL_FORMAT_NCHW
from acl_emu.core.dtypes import BY_CODE, FLOAT, FLOAT16, dtype_name
from acl_emu.runtime.tensor import make_view
from acl_emu.spec import (
    Array,
    Bool,
    DataType,
    Example,
    In,
    Int,
    IntArrayIn,
    IntKind,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_shape,
)
from acl_emu.spec.single_phase import Result, single_phase
from aclnnop.conversion.private_formats import into_blocks, storage_shape

PRODUCTS = frozenset({Product.A310P})
NAMED = frozenset({ACL_FORMAT_NCHW})
COLUMNS = 16
"""Channels of a block."""
MOST_GROUPS = 65535


def check_attributes(transposed: bool, groups: int) -> None:
    """What both functions say about the convolution."""
    require(not transposed, "transposed is True, expected False")
    require(1 <= groups <= MOST_GROUPS, f"groups is {groups}, expected 1 to {MOST_GROUPS}")


@single_phase(products=PRODUCTS)
def aclnnCalculateConvolutionWeightSize(
    tensorShape: IntArrayIn, transposed: Bool, groups: Int, dataType: DataType
) -> Annotated[int, Result("uint64_t", "weightTensorSize")]:
    """Count the elements of a kernel in blocks."""
    check_attributes(transposed, groups)
    require(BY_CODE.get(dataType) is FLOAT16, f"dataType is {dtype_name(dataType)}, expected {FLOAT16}")
    shape = tensorShape.values
    require(len(shape) == 4 and min(shape) >= 0, f"tensorShape is {tensorShape}, expected four lengths of at least 0")
    return 0 if 0 in shape else math.prod(storage_shape(shape, ACL_FORMAT_NCHW, ACL_FORMAT_FRACTAL_Z, COLUMNS))


@operator(products=PRODUCTS)
def aclnnTransConvolutionWeight(
    weightIn: Annotated[Operand, In(FLOAT16, FLOAT, rank=4, formats=NAMED)],
    transposed: Bool,
    groups: Annotated[int, IntKind("const int64_t")],
    weightOut: Annotated[Operand, Out(FLOAT16, rank=4, formats=NAMED)],
) -> Plan:
    """Put a kernel into blocks; from here on ``weightOut`` is a tensor in FRACTAL_Z."""
    check_attributes(transposed, groups)
    same_shape(weightIn, weightOut)
    if 0 in weightIn.shape:
        return nothing()
    view = weightOut.view
    storage = storage_shape(weightIn.shape, ACL_FORMAT_NCHW, ACL_FORMAT_FRACTAL_Z, COLUMNS)
    plan = direct(split, reads=(weightIn,), writes=(weightOut.in_view(storage),), scratch={})
    restated = make_view(weightIn.shape, view.dtype_code, None, view.offset, ACL_FORMAT_FRACTAL_Z, storage)
    plan.restated = (Operand(weightOut.name, restated, weightOut.place),)
    return plan


def split(source: Array, target: Array) -> None:
    """Blocks of channels and filters, place by place in the kernel."""
    blocks = into_blocks(source.astype(target.dtype), ACL_FORMAT_NCHW, ACL_FORMAT_FRACTAL_Z, COLUMNS)
    target[...] = blocks.reshape(target.shape)


@aclnnTransConvolutionWeight.example
def examples() -> Iterator[Example]:
    """Whole blocks: what fills up others lies behind the tensor."""
    for dtype in (FLOAT16, FLOAT):
        yield {
            "weightIn": numbers((16, 32, 2, 3), dtype, 1),
            "transposed": False,
            "groups": 1,
            "weightOut": numbers((16, 32, 2, 3), FLOAT16, 2),
        }

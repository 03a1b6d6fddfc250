"""aclnnWeightQuantBatchMatmulNz: the product of a matrix and a weight of few bits in blocks."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT4_E2M1, FLOAT8_E8M0, FLOAT16, INT4, INT8, INT32
from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import Example, In, Operand, Out, Plan, Product, operator, require
from aclnnop.matmul.weight_quant import NARROW_BLOCKS, weight_product
from aclnnop.matmul.weight_quant_batch_matmul_v2 import HALVES, GroupSize, example

Reserved = Annotated[Operand | None, In(optional=True)]


@operator(products=frozenset({Product.A950}), elsewhere=AclnnRuntime)
def aclnnWeightQuantBatchMatmulNz(
    x: Annotated[Operand, In(*HALVES, rank=2)],
    weight: Annotated[Operand, In(INT8, INT4, INT32, FLOAT, FLOAT4_E2M1, rank=2, formats=NARROW_BLOCKS)],
    antiquantScale: Annotated[Operand, In(*HALVES, FLOAT8_E8M0, rank=(1, 2))],
    antiquantOffsetOptional: Annotated[Operand | None, In(*HALVES, rank=(1, 2), optional=True)],
    quantScaleOptional: Reserved,
    quantOffsetOptional: Reserved,
    biasOptional: Annotated[Operand | None, In(FLOAT16, BF16, FLOAT, rank=(1, 2), optional=True)],
    antiquantGroupSize: GroupSize,
    y: Annotated[Operand, Out(*HALVES, rank=2, const=True)],
) -> Plan:
    """Multiply a matrix by a weight of few bits in blocks, for whose numbers there are scales and offsets."""
    for operand in (quantScaleOptional, quantOffsetOptional):
        require(operand is None, "quantScaleOptional and quantOffsetOptional have values, expected null pointers")
    scales = (antiquantScale, antiquantOffsetOptional, None, None)
    return weight_product(x, weight, *scales, biasOptional, antiquantGroupSize, y, columns_first=False)


@aclnnWeightQuantBatchMatmulNz.example
def examples() -> Iterator[Example]:
    """Whole blocks."""
    one = example((40,), offset=True)
    yield {**one, "weight": one["weight"][:, :32].copy(), **{name: one[name][..., :32].copy() for name in PER_COLUMN}}


PER_COLUMN = ("antiquantScale", "antiquantOffsetOptional", "biasOptional", "y")

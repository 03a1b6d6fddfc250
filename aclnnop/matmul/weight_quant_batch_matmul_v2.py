"""aclnnWeightQuantBatchMatmulV2: the product of a matrix and a weight of few bits."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import (
    BF16,
    FLOAT,
    FLOAT4_E2M1,
    FLOAT8_E4M3FN,
    FLOAT8_E8M0,
    FLOAT16,
    HIFLOAT8,
    INT4,
    INT8,
    INT32,
    INT64,
    UINT64,
)
from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import Example, In, IntKind, Operand, Out, Plan, Product, between, numbers, operator
from aclnnop.matmul.cube import BLOCKED
from aclnnop.matmul.weight_quant import weight_product

NEWER = frozenset({Product.A950, Product.A3, Product.A2})
HALVES = (FLOAT16, BF16)
OLD = {Product.A310P: (FLOAT16,)}

X = Annotated[Operand, In(*HALVES, rank=(2, 6), on=OLD)]
Weight = Annotated[
    Operand,
    In(
        INT8,
        INT4,
        INT32,
        rank=(2, 6),
        formats=BLOCKED,
        on={Product.A950: (INT8, INT4, INT32, FLOAT8_E4M3FN, HIFLOAT8, FLOAT, FLOAT4_E2M1), Product.A310P: (INT8,)},
    ),
]
Scale = Annotated[Operand, In(*HALVES, UINT64, INT64, rank=(1, 2), on={Product.A950: (*HALVES, FLOAT8_E8M0), Product.A310P: (FLOAT16,)})]
Offset = Annotated[Operand | None, In(*HALVES, INT32, rank=(1, 2), optional=True, on={Product.A950: HALVES, Product.A310P: (FLOAT16,)})]
QuantScale = Annotated[Operand | None, In(UINT64, rank=(1, 2), optional=True)]
QuantOffset = Annotated[Operand | None, In(FLOAT, rank=(1, 2), optional=True)]
Bias = Annotated[
    Operand | None, In(FLOAT16, FLOAT, rank=(1, 6), optional=True, on={Product.A950: (FLOAT16, FLOAT, BF16), Product.A310P: (FLOAT16,)})
]
GroupSize = Annotated[int, IntKind("int")]
Y = Annotated[Operand, Out(*HALVES, INT8, rank=(2, 6), const=True, on={Product.A950: HALVES, Product.A310P: (FLOAT16,)})]


@operator(products=NEWER | {Product.A310P}, elsewhere=AclnnRuntime)
def aclnnWeightQuantBatchMatmulV2(
    x: X,
    weight: Weight,
    antiquantScale: Scale,
    antiquantOffsetOptional: Offset,
    quantScaleOptional: QuantScale,
    quantOffsetOptional: QuantOffset,
    biasOptional: Bias,
    antiquantGroupSize: GroupSize,
    y: Y,
) -> Plan:
    """Multiply a matrix by a weight of few bits, for whose numbers there are scales and offsets."""
    return weight_product(
        x,
        weight,
        antiquantScale,
        antiquantOffsetOptional,
        quantScaleOptional,
        quantOffsetOptional,
        biasOptional,
        antiquantGroupSize,
        y,
    )


@aclnnWeightQuantBatchMatmulV2.example
def examples() -> Iterator[Example]:
    """One scale for each column, and none but one."""
    yield example((40,), offset=True)
    yield example((1,), offset=False)


def example(shape: tuple[int, ...], *, offset: bool, group: int = 0) -> Example:
    """A call with weights of eight bits."""
    return {
        "x": numbers((5, 64), FLOAT16, 1),
        "weight": numbers((64, 40), INT8, 2, 30),
        "antiquantScale": between(0.01, 0.1, shape, FLOAT16, 3),
        "antiquantOffsetOptional": numbers(shape, FLOAT16, 4) if offset else None,
        "quantScaleOptional": None,
        "quantOffsetOptional": None,
        "biasOptional": numbers((40,), FLOAT16, 5) if offset else None,
        "antiquantGroupSize": group,
        "y": numbers((5, 40), FLOAT16, 6),
    }


@aclnnWeightQuantBatchMatmulV2.example_on(*NEWER)
def examples_of_groups() -> Iterator[Example]:
    """Groups of rows; numbers of four bits, packed."""
    yield example((2, 40), offset=True, group=32)
    yield {**example((40,), offset=True), "weight": between(-(2**31), 2**31 - 1, (64, 5), INT32, 2)}

"""aclnnWeightQuantBatchMatmulV3: the second version, with a choice of precision."""

import enum
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import Example, IntKind, Plan, operator
from aclnnop.matmul.weight_quant import weight_product
from aclnnop.matmul.weight_quant_batch_matmul_v2 import (
    NEWER,
    Bias,
    GroupSize,
    Offset,
    QuantOffset,
    QuantScale,
    Scale,
    Weight,
    X,
    Y,
    example,
    examples_of_groups,
)


class InnerPrecise(enum.IntEnum):
    """Precise, or fast; here both are the same."""

    HIGH_PRECISION = 0
    HIGH_PERFORMANCE = 1


@operator(products=NEWER, elsewhere=AclnnRuntime)
def aclnnWeightQuantBatchMatmulV3(
    x: X,
    weight: Weight,
    antiquantScale: Scale,
    antiquantOffsetOptional: Offset,
    quantScaleOptional: QuantScale,
    quantOffsetOptional: QuantOffset,
    biasOptional: Bias,
    antiquantGroupSize: GroupSize,
    innerPrecise: Annotated[int, IntKind("int", choices=InnerPrecise)],
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


@aclnnWeightQuantBatchMatmulV3.example
def examples() -> Iterator[Example]:
    """Both precisions."""
    yield {**example((40,), offset=True), "innerPrecise": 0}
    for one in examples_of_groups():
        yield {**one, "innerPrecise": 1}

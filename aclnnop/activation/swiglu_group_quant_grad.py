"""aclnnSwigluGroupQuantGrad: the gradients of the unit that aclnnSwigluGroupQuant quantises, with respect to its input and its weights."""

from typing import Annotated

from acl_emu.core.dtypes import FLOAT, INT64
from acl_emu.spec import Double, In, Operand, Out, Plan, Product, length_is, operator, require, same_dtype, same_shape
from acl_emu.spec.tiling import in_tiling
from aclnnop.activation.gated import result_fits, split_axis
from aclnnop.activation.swiglu_group import checked_limit
from aclnnop.activation.swiglu_group_gradient import gradient_examples, gradient_plan
from aclnnop.activation.swiglu_rows import RANKS_IN_TILING, row_count
from aclnnop.math.unary import FLOATS

Rows = Annotated[Operand, In(*FLOATS, rank=(2, 8))]


@operator(products=frozenset({Product.A950}), checks=RANKS_IN_TILING)
def aclnnSwigluGroupQuantGrad(
    gradY: Rows,
    x: Rows,
    weightOptional: Annotated[Operand | None, In(FLOAT, rank=(1, 8), optional=True)],
    yOriginOptional: Annotated[Operand | None, In(*FLOATS, rank=(2, 8), optional=True)],
    groupIndexOptional: Annotated[Operand | None, In(INT64, rank=1, optional=True)],
    clampLimit: Double,
    gradXOut: Annotated[Operand, Out(*FLOATS, rank=(2, 8), const=True)],
    gradWeightOutOptional: Annotated[Operand | None, Out(FLOAT, rank=(1, 8), optional=True, const=True)],
) -> Plan:
    """Give both halves of every row their gradients, and every weight its own; rows behind those of the groups get zero."""
    with in_tiling():
        same_dtype(x, gradY, yOriginOptional, gradXOut)
        axis = split_axis(x, -1)
        result_fits(x, axis, gradY)
        same_shape(x, gradXOut)
        limit = checked_limit(clampLimit)
        if weightOptional is not None:
            length_is(weightOptional, row_count(x, axis), "one for each row of x")
        if yOriginOptional is not None:
            same_shape(gradY, yOriginOptional)
        if gradWeightOutOptional is not None:
            needed = weightOptional is not None and yOriginOptional is not None
            require(needed, "gradWeightOutOptional is given, expected weightOptional and yOriginOptional too")
            assert weightOptional is not None
            same_shape(weightOptional, gradWeightOutOptional)
    return gradient_plan(
        gradY,
        x,
        weightOptional,
        yOriginOptional,
        groupIndexOptional,
        limit,
        gradXOut,
        gradWeightOutOptional,
        masked_weight=True,
    )


aclnnSwigluGroupQuantGrad.example(lambda: gradient_examples((2, 3), -1.0))

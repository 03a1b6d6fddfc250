"""aclnnSwigluGroupGrad: the gradients of aclnnSwigluGroup with respect to its input and its weights."""

from typing import Annotated

from acl_emu.core.dtypes import FLOAT, INT64
from acl_emu.spec import Float, In, Operand, Out, Plan, Product, operator, require, same_dtype, same_shape, shape_is
from aclnnop.activation.gated import result_fits, split_axis
from aclnnop.activation.swiglu_group_gradient import gradient_examples, gradient_plan
from aclnnop.math.unary import FLOATS

Rows = Annotated[Operand, In(*FLOATS, rank=(2, 3))]


@operator(products=frozenset({Product.A950}))
def aclnnSwigluGroupGrad(
    gradY: Rows,
    x: Rows,
    weightOptional: Annotated[Operand | None, In(FLOAT, rank=(2, 3), optional=True)],
    yOriginOptional: Annotated[Operand | None, In(*FLOATS, rank=(2, 3), optional=True)],
    groupIndexOptional: Annotated[Operand | None, In(INT64, rank=1, optional=True)],
    clampLimit: Float,
    gradXOut: Annotated[Operand, Out(*FLOATS, rank=(2, 3))],
    gradWeightOutOptional: Annotated[Operand | None, Out(FLOAT, rank=(2, 3), optional=True)],
) -> Plan:
    """Give both halves of every row their gradients, and every weight its own; rows behind those of the groups get zero in ``gradXOut``."""
    require(clampLimit >= 0, f"clampLimit is {clampLimit}, expected a value of at least 0")
    same_dtype(x, gradY, yOriginOptional, gradXOut)
    axis = split_axis(x, -1)
    result_fits(x, axis, gradY)
    same_shape(x, gradXOut)
    both = (weightOptional is None) == (yOriginOptional is None)
    require(both, "only one of weightOptional and yOriginOptional is given, expected both or none")
    if weightOptional is not None and yOriginOptional is not None:
        shape_is(weightOptional, (*gradY.shape[:-1], 1), "one for each row of x")
        same_shape(gradY, yOriginOptional)
    if gradWeightOutOptional is not None:
        require(weightOptional is not None, "gradWeightOutOptional is given, expected weightOptional too")
        shape_is(gradWeightOutOptional, (*gradY.shape[:-1], 1), "one for each row of x")
    require(groupIndexOptional is None or groupIndexOptional.size > 0, "groupIndexOptional is empty, expected at least 1 element")
    return gradient_plan(
        gradY,
        x,
        weightOptional,
        yOriginOptional,
        groupIndexOptional,
        clampLimit or float("inf"),
        gradXOut,
        gradWeightOutOptional,
        masked_weight=False,
    )


aclnnSwigluGroupGrad.example(lambda: gradient_examples((2, 3, 1), 0.0))

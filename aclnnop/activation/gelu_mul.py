"""aclnnGeluMul: the Gaussian error linear unit of one half of every row, times the other half."""

from typing import Annotated

from acl_emu.spec import Array, In, Operand, Out, Plan, StringKind, operator, require, same_dtype
from aclnnop.activation.curves import GELU
from aclnnop.activation.gated import examples, gated, result_fits, split_axis
from aclnnop.activation.pointwise import NEWER
from aclnnop.math.unary import FLOATS

Rows = Annotated[Operand, In(*FLOATS, rank=(2, 8))]
RowsOut = Annotated[Operand, Out(*FLOATS, rank=(2, 8), const=True)]


@operator(products=NEWER)
def aclnnGeluMul(input: Rows, approximateOptional: Annotated[str | None, StringKind("char*", optional=True)], out: RowsOut) -> Plan:
    """Multiply the unit of the first half of every row with the second half; null stands for the error function."""
    mode = approximateOptional or "none"
    require(mode in ("none", "tanh"), f"approximateOptional is {mode!r}, expected one of none, tanh")
    same_dtype(input, out)
    axis = split_axis(input, -1)
    result_fits(input, axis, out)
    unit = GELU[mode == "tanh"]

    def kernel(gate: Array, linear: Array) -> Array:
        product: Array = unit(gate) * linear
        return product

    return gated(kernel, input, axis, (out,))


aclnnGeluMul.example(
    lambda: examples(aclnnGeluMul, {"approximateOptional": "tanh"}, {"approximateOptional": None}, {"approximateOptional": "none"})
)

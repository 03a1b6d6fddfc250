"""aclnnGeGlu and aclnnGeGluV3: one half of a tensor, gated by the Gaussian error linear unit of the other."""

from collections.abc import Callable

from acl_emu.spec import Array, Bool, Int, Operand, Plan, Product, operator, same_dtype
from aclnnop.activation.curves import GELU
from aclnnop.activation.gated import Values, ValuesOut, examples, gated, result_fits, split_axis
from aclnnop.activation.pointwise import NEWER

PRODUCTS = NEWER | {Product.A310P}
TANH = 1
"""The approximation that is not the error function."""


@operator(products=PRODUCTS)
def aclnnGeGlu(self: Values, dim: Int, approximate: Int, out: ValuesOut, outGelu: ValuesOut) -> Plan:
    """Multiply the first half along ``dim`` with the unit of the second, which is a result too."""
    return with_gate(self, dim, approximate, out, outGelu, left=False)


@operator(products=PRODUCTS)
def aclnnGeGluV3(self: Values, dim: Int, approximate: Int, activateLeft: Bool, out: ValuesOut, outGelu: ValuesOut) -> Plan:
    """Multiply one half along ``dim`` with the unit of the other, which is a result too."""
    return with_gate(self, dim, approximate, out, outGelu, left=activateLeft)


aclnnGeGlu.example(lambda: examples(aclnnGeGlu, {"dim": -1, "approximate": 1}, {"dim": 1, "approximate": 0}))
aclnnGeGluV3.example(
    lambda: examples(aclnnGeGluV3, {"dim": -1, "approximate": 1, "activateLeft": True}, {"dim": 1, "approximate": 0, "activateLeft": False})
)


def with_gate(self: Operand, dim: int, approximate: int, out: Operand, gelu: Operand, *, left: bool) -> Plan:
    """The plan of both."""
    same_dtype(self, out, gelu)
    axis = split_axis(self, dim)
    result_fits(self, axis, out, gelu)
    return gated(geglu(GELU[approximate == TANH]), self, axis, (out, gelu), left=left)


def geglu(unit: Callable[[Array], Array]) -> Callable[[Array, Array], tuple[Array, Array]]:
    """The formula with one of the approximations."""

    def kernel(gate: Array, linear: Array) -> tuple[Array, Array]:
        opened = unit(gate)
        return opened * linear, opened

    return kernel

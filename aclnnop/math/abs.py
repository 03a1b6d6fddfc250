"""aclnnAbs: the magnitude of every element."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import COMPLEX32, COMPLEX64, FLOAT, FLOAT16
from acl_emu.spec import ALL, Array, In, Operand, Out, Plan, Product, direct, nothing, operator, require, same_shape
from aclnnop.math.unary import INTEGRAL, OLDER, REALS, applied, examples

TYPES = (*REALS, *INTEGRAL)
PARTS = {COMPLEX32: FLOAT16, COMPLEX64: FLOAT}
"""Complex numbers, and what their magnitudes are."""


@operator(products=ALL - {Product.A310B})
def aclnnAbs(self: Annotated[Operand, In(*TYPES, *PARTS, on=dict.fromkeys(OLDER, TYPES))], out: Annotated[Operand, Out(*TYPES)]) -> Plan:
    """Take the magnitude of every element."""
    wanted = PARTS.get(self.dtype, self.dtype)
    require(out.dtype is wanted, f"out has dtype {out.dtype}, expected {wanted} where self has dtype {self.dtype}")
    same_shape(self, out)
    if self.dtype in PARTS:
        return direct(lengths, reads=(self,), writes=(out,), scratch={}) if self.size else nothing()
    return applied(np.abs, np.abs, self.dtype, self, out)


aclnnAbs.example(lambda: examples(aclnnAbs))


def lengths(x: Array, out: Array) -> None:
    """Of complex numbers, whose parts may be half numbers."""
    real, imaginary = (x["real"], x["imag"]) if x.dtype.names else (x.real, x.imag)
    out[...] = np.hypot(real.astype(np.float64), imaginary.astype(np.float64))

"""aclnnNorm: vector norms along some dimensions."""

from acl_emu.spec import Bool, FloatIn, FloatOut, IntArrayIn, Plan, ScalarIn, operator
from aclnnop.math.reduction import norm, reduced, reduced_axes, reduction_examples


@operator()
def aclnnNorm(self: FloatIn, pScalar: ScalarIn, dim: IntArrayIn, keepdim: Bool, out: FloatOut) -> Plan:
    """Take the norm of order ``pScalar`` of every slice along ``dim``; that of nothing is 0."""
    order = pScalar.as_real()
    return reduced(norm, self, reduced_axes(dim, self, "dim"), keepdim, out, dtype=self.dtype, of_none=0.0, order=order)


aclnnNorm.example(lambda: reduction_examples(aclnnNorm, pScalar=(2.0, 3.0)))

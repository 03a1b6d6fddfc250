"""aclnnDropoutDoMask: dropout with a mask that is given."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, UINT8
from acl_emu.spec import ALL, Double, Example, FloatIn, FloatOut, In, Operand, Plan, Product, between, numbers, operator
from aclnnop.random.dropout_masks import check_shapes, mask_bytes, masked, require_probability, scale_of, unchanged, zeros


@operator(products=ALL - {Product.A310B})
def aclnnDropoutDoMask(self: FloatIn, mask: Annotated[Operand, In(UINT8)], prob: Double, out: FloatOut) -> Plan:
    """Keep the elements whose bit is set, times ``1 / (1 - prob)``, and make the others 0."""
    require_probability("prob", prob)
    check_shapes(self, mask, out)
    if prob in (0, 1):
        return zeros(out) if prob else unchanged(self, out)
    return masked(self, mask, scale_of(prob), out)


@aclnnDropoutDoMask.example
def examples() -> Iterator[Example]:
    """Each type; a result of another type; what is certain."""
    for dtype, out, prob in (
        (FLOAT, FLOAT, 0.5),
        (FLOAT16, FLOAT16, 0.1),
        (BF16, FLOAT, 0.3),
        (FLOAT, FLOAT, 0.0),
        (FLOAT16, FLOAT16, 1.0),
    ):
        mask = between(0, 256, (mask_bytes(135),), UINT8, 2)
        yield {"self": numbers((9, 15), dtype, 1), "mask": mask, "prob": prob, "out": numbers((9, 15), out, 3)}

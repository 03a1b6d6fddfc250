"""aclnnRmsNormQuantV3: as aclnnRmsNormQuant, by multiplication or division, and with the factors of the rows."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT16, INT4, INT8, INT32
from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import Bool, Double, Example, In, Operand, Out, Plan, Product, numbers, operator
from aclnnop.math.unary import FLOATS
from aclnnop.norm.quantising import EIGHT_BITS
from aclnnop.norm.rms_norm_quant import call as plain_call
from aclnnop.norm.rms_norm_quant import quantised_rows


@operator(products=frozenset({Product.A950}))
def aclnnRmsNormQuantV3(
    x: Annotated[Operand, In(*FLOATS, rank=(1, 8))],
    gamma: Annotated[Operand, In(*FLOATS, rank=(1, 2))],
    scale: Annotated[Operand, In(*FLOATS, rank=1)],
    offsetOptional: Annotated[Operand | None, In(*FLOATS, INT8, INT32, rank=1, optional=True)],
    betaOptional: Annotated[Operand | None, In(*FLOATS, rank=(1, 2), optional=True)],
    epsilon: Double,
    divMode: Bool,
    outputRstd: Bool,
    y: Annotated[Operand, Out(INT32, INT4, *EIGHT_BITS, rank=(1, 8))],
    rstd: Annotated[Operand | None, Out(FLOAT, optional=True)],
) -> Plan:
    """Divide each row by the root of its mean square, scale and shift it; divide by ``scale`` or multiply, and add the offset."""
    if outputRstd and rstd is None:
        raise AclnnNullptr("rstd must not be a null pointer where outputRstd is true")
    factors = rstd if outputRstd else None
    return quantised_rows(x, gamma, betaOptional, scale, offsetOptional, epsilon, y, factors, product=Product.A950, divides=divMode)


@aclnnRmsNormQuantV3.example
def examples() -> Iterator[Example]:
    """Both ways to scale, with and without offsets and factors."""
    calls = (
        (FLOAT, FLOAT, FLOAT, FLOAT8_E4M3FN, 16),
        (FLOAT16, FLOAT16, INT8, INT8, 1),
        (BF16, FLOAT, INT32, INT32, 1),
        (BF16, BF16, BF16, FLOAT8_E5M2, 1),
    )
    for turn, types in enumerate(calls):
        example = plain_call(*types)
        offset, beta = example.pop("offset"), example.pop("beta")
        yield {
            **example,
            "offsetOptional": offset if turn != 1 else None,
            "betaOptional": beta if turn != 2 else None,
            "divMode": turn % 2 == 0,
            "outputRstd": turn != 3,
            "rstd": numbers((2, 3, 1), FLOAT, 6) if turn != 3 else None,
        }

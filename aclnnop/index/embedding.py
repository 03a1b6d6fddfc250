"""aclnnEmbedding: rows of a table."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, FLOAT, FLOAT16, INT32, INT64
from acl_emu.core.soc import Product
from acl_emu.spec import ALL, Example, In, Operand, Out, Plan, between, numbers, operator, require, same_dtype, shape_is
from aclnnop.index.gathering import NUMBERS, PLACES, except_on, gathered

OLDER = except_on(NUMBERS, (BF16,), Product.A910, Product.A310P, Product.A310B)


@operator(products=ALL)
def aclnnEmbedding(
    weight: Annotated[Operand, In(*NUMBERS, on=OLDER)],
    indices: Annotated[Operand, In(*PLACES)],
    out: Annotated[Operand, Out(*NUMBERS, on=OLDER, const=True)],
) -> Plan:
    """Take the row of ``weight`` that each index chooses."""
    same_dtype(weight, out)
    require(weight.rank > 0, f"weight has {weight.rank} dimensions, expected rows")
    shape_is(out, (*indices.shape, *weight.shape[1:]), "a row of weight for each of indices")
    return gathered(weight, indices, out, 0)


@aclnnEmbedding.example
def examples() -> Iterator[Example]:
    """Indices of one dimension, of none and of several."""
    for dtype, places, shape in (
        (FLOAT, INT64, (4,)),
        (FLOAT16, INT32, ()),
        (BF16, INT64, (2, 3)),
        (BOOL, INT32, (5,)),
        (COMPLEX64, INT64, (2,)),
    ):
        yield {"weight": numbers((10, 3), dtype, 1, 9), "indices": between(0, 10, shape, places, 2), "out": numbers((*shape, 3), dtype, 3)}

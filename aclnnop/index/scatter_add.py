"""aclnnScatterAdd: elements that are added along one dimension, each at an index of its own."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, FLOAT, FLOAT16, INT8, INT32, INT64
from acl_emu.spec import Example, In, Int, Operand, Out, Plan, between, numbers, operator
from aclnnop.conversion.moves import NEWER
from aclnnop.index.gathering import NUMBERS, PLACES
from aclnnop.index.scattering import Combine, scattered

AnyIn = Annotated[Operand, In(*NUMBERS)]


@operator(products=NEWER)
def aclnnScatterAdd(
    self: AnyIn, dim: Int, index: Annotated[Operand, In(*PLACES)], src: AnyIn, out: Annotated[Operand, Out(*NUMBERS)]
) -> Plan:
    """Add every element of ``src`` to that of ``self`` at its index along ``dim``."""
    return scattered(self, dim, index, src, out, Combine.ADD)


@aclnnScatterAdd.example
def examples() -> Iterator[Example]:
    """Fewer indices than elements, the same index more than once."""
    for dtype, dim, places, shape in (
        (FLOAT, 0, INT64, (3, 4)),
        (FLOAT16, 1, INT32, (4, 7)),
        (BF16, -1, INT64, (2, 2)),
        (INT8, -2, INT32, (4, 4)),
        (COMPLEX64, 0, INT64, (2, 3)),
        (BOOL, 1, INT64, (1, 4)),
    ):
        yield {
            "self": numbers((4, 4), dtype, 1, 9),
            "dim": dim,
            "index": between(0, 4, shape, places, 2),
            "src": numbers((4, 7), dtype, 3, 9),
            "out": numbers((4, 4), dtype, 4),
        }

"""aclnnLinalgQr: an orthogonal and an upper triangular matrix whose product is a given one."""

import enum
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import COMPLEX64, FLOAT, FLOAT16
from acl_emu.spec import Example, IntKind, Plan, Product, numbers, operator
from aclnnop.math.qr import MatrixIn, MatrixOut, factors


class Mode(enum.IntEnum):
    """What is computed, as numpy calls it."""

    REDUCED = 0
    COMPLETE = 1
    R = 2


@operator(products=frozenset({Product.A3, Product.A2, Product.A910}))
def aclnnLinalgQr(self: MatrixIn, mode: Annotated[int, IntKind(choices=Mode)], Q: MatrixOut, R: MatrixOut) -> Plan:
    """Decompose matrices; ``mode`` 2 gives ``R`` alone."""
    return factors(self, Mode(mode).name.lower(), Q, R)


@aclnnLinalgQr.example
def examples() -> Iterator[Example]:
    """Each mode."""
    for dtype, mode, inner in ((FLOAT, Mode.REDUCED, 3), (FLOAT16, Mode.COMPLETE, 4), (COMPLEX64, Mode.R, 3)):
        yield {
            "self": numbers((2, 4, 3), dtype, 1),
            "mode": int(mode),
            "Q": numbers((0,) if mode is Mode.R else (2, 4, inner), dtype, 2),
            "R": numbers((2, inner, 3), dtype, 3),
        }

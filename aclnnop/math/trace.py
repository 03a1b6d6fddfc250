"""aclnnTrace: the sum of a matrix's diagonal."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import ALL, Array, Example, In, Operand, Out, Plan, Product, direct, numbers, operator, require, same_dtype, shape_is

REAL = (BF16, FLOAT16, FLOAT, DOUBLE, COMPLEX64, COMPLEX128)
INTEGRAL = (INT32, INT64, INT16, INT8, UINT8, BOOL)


@operator(products=ALL - {Product.A310B})
def aclnnTrace(self: Annotated[Operand, In(*REAL, *INTEGRAL, rank=2)], out: Annotated[Operand, Out(*REAL, INT64, rank=0)]) -> Plan:
    """Add up the elements whose row and column have the same number; integers as INT64."""
    if self.dtype in REAL:
        same_dtype(self, out)
    require(self.dtype in REAL or out.dtype is INT64, f"out has dtype {out.dtype}, expected ACL_INT64 for self of dtype {self.dtype}")
    shape_is(out, (), "a single number")
    return direct(diagonal_sum, reads=(self,), writes=(out,), scratch={})


def diagonal_sum(matrix: Array, out: Array) -> None:
    """Floating-point numbers are added in double precision."""
    wide = {"c": np.complex128, "i": np.int64}.get(out.dtype.kind, np.float64)
    out[...] = dtypes.round_to(np.asarray(np.diagonal(matrix).astype(wide).sum()), dtypes.from_numpy(out.dtype))


@aclnnTrace.example
def examples() -> Iterator[Example]:
    """Each kind of type."""
    for dtype in (FLOAT, BF16, COMPLEX64, INT8, BOOL):
        yield {"self": numbers((4, 3), dtype, 1, 9), "out": numbers((), dtype if dtype in REAL else INT64, 2)}

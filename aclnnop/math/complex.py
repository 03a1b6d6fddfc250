"""aclnnComplex: complex numbers from their parts."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import COMPLEX32, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import Array, Example, In, Operand, Out, Plan, broadcast_shape, numbers, operator, require, same_dtype, shape_is
from aclnnop.conversion.moves import EVERY, rearranged

COMPLEX_OF = {FLOAT: COMPLEX64, FLOAT16: COMPLEX32, DOUBLE: COMPLEX128}


@operator(products=EVERY)
def aclnnComplex(
    real: Annotated[Operand, In(*COMPLEX_OF)],
    imag: Annotated[Operand, In(*COMPLEX_OF)],
    out: Annotated[Operand, Out(COMPLEX64, COMPLEX32, COMPLEX128)],
) -> Plan:
    """Make complex numbers of a real and an imaginary part each."""
    same_dtype(real, imag)
    wanted = COMPLEX_OF[real.dtype]
    require(out.dtype is wanted, f"out has dtype {out.dtype}, expected {wanted} for parts of {real.dtype}")
    shape_is(out, broadcast_shape(real, imag), "that of the result")
    return rearranged(paired, (real, imag), out, dtype=out.dtype.storage)


@aclnnComplex.example
def examples() -> Iterator[Example]:
    """Tensors that broadcast."""
    for dtype in (FLOAT, DOUBLE):
        yield {"real": numbers((3, 4), dtype, 1), "imag": numbers((4,), dtype, 2), "out": numbers((3, 4), COMPLEX_OF[dtype], 3)}


def paired(real: Array, imag: Array, *, dtype: np.dtype[np.void]) -> Array:
    """Pairs of halves have names."""
    found: Array = np.empty(np.broadcast_shapes(real.shape, imag.shape), dtype)
    if dtype.names:
        found["real"], found["imag"] = real, imag
    else:
        found.real, found.imag = real, imag
    return found

"""aclnnAddr and aclnnInplaceAddr: a matrix plus every product of the elements of two vectors."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    Array,
    Example,
    HandleKind,
    In,
    InOut,
    Operand,
    Out,
    Plan,
    Product,
    broadcasts_to,
    castable,
    mapped,
    numbers,
    operator,
    promote,
    require,
    shape_is,
)

TYPES = (FLOAT, FLOAT16, DOUBLE, INT8, INT16, INT32, INT64, UINT8, BOOL, BF16)
PRODUCTS = frozenset({Product.A950, Product.A3, Product.A2, Product.A910})
VectorIn = Annotated[Operand, In(*TYPES, rank=1)]
Factor = Annotated[Scalar | None, HandleKind(Scalar, *TYPES, optional=True)]


@operator(products=PRODUCTS)
def aclnnAddr(
    self: Annotated[Operand, In(*TYPES, rank=(0, 2))],
    vec1: VectorIn,
    vec2: VectorIn,
    betaOptional: Factor,
    alphaOptional: Factor,
    out: Annotated[Operand, Out(*TYPES)],
) -> Plan:
    """Add ``beta × self`` to ``alpha`` times every product of an element of ``vec1`` with one of ``vec2``."""
    return sum_with_outer(self, vec1, vec2, betaOptional, alphaOptional, out)


@operator(products=PRODUCTS)
def aclnnInplaceAddr(
    selfRef: Annotated[Operand, InOut(*TYPES, rank=2, const=False)],
    vec1: VectorIn,
    vec2: VectorIn,
    betaOptional: Factor,
    alphaOptional: Factor,
) -> Plan:
    """Replace ``selfRef`` by ``beta`` times itself plus ``alpha`` times every product of the elements of two vectors."""
    return sum_with_outer(selfRef, vec1, vec2, betaOptional, alphaOptional, selfRef)


def sum_with_outer(added: Operand, vec1: Operand, vec2: Operand, beta: Scalar | None, alpha: Scalar | None, out: Operand) -> Plan:
    """The plan of both; a factor that is not given is 1."""
    dtype = promote(added, vec1, vec2)
    shape = (*vec1.shape, *vec2.shape)
    broadcasts_to(shape, "the lengths of vec1 and vec2", added)
    for name, scalar in (("betaOptional", beta), ("alphaOptional", alpha)):
        if scalar is not None:
            require(
                scalar.dtype is not BOOL or dtype is BOOL,
                f"{name} has dtype {scalar.dtype}, expected another one as the tensors are combined in {dtype}",
            )
            require(
                scalar.dtype.kind != "float" or dtype.kind == "float",
                f"{name} has dtype {scalar.dtype}, expected an integer as the tensors are combined in {dtype}",
            )
    castable(dtype, out)
    shape_is(out, shape, "the lengths of vec1 and vec2")
    factors: dict[str, Any] = {name: 1 if one is None else one.converted(dtype)[()] for name, one in (("beta", beta), ("alpha", alpha))}
    kernel = any_of_both if dtype is BOOL else weighted
    return mapped(kernel, reads=(added, vec1.with_axis(1), vec2.with_axis(0)), writes=(out,), dtype=dtype, **factors)


def weighted(added: Array, x: Array, y: Array, *, alpha: float, beta: float) -> Any:
    """In one type."""
    number = added.dtype.type
    return added * number(beta) + x * y * number(alpha)


def any_of_both(added: Array, x: Array, y: Array, *, alpha: bool, beta: bool) -> Any:
    """The same of truth values."""
    return (added & np.bool_(beta)) | (x & y & np.bool_(alpha))


def examples_of(in_place: bool) -> Iterator[Example]:
    """Three kinds of types; what is added broadcasts, unless it is changed in place."""
    for dtype, shape, beta, alpha in ((FLOAT, (4,), 1.5, 0.5), (FLOAT16, (3, 1), None, 2.0), (INT32, (3, 4), np.int64(2), None)):
        added = numbers((3, 4) if in_place else shape, dtype, 1, 9)
        yield {
            **({"selfRef": added} if in_place else {"self": added, "out": numbers((3, 4), dtype, 4)}),
            "vec1": numbers((3,), dtype, 2, 9),
            "vec2": numbers((4,), dtype, 3, 9),
            "betaOptional": beta,
            "alphaOptional": alpha,
        }


aclnnAddr.example(lambda: examples_of(in_place=False))
aclnnInplaceAddr.example(lambda: examples_of(in_place=True))

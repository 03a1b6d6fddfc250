"""aclnnBernoulli, aclnnBernoulliTensor and what they are in place: ones with a probability, zeros else."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.engine import apply
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    Array,
    Example,
    HandleKind,
    In,
    InOut,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    between,
    in_place,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
)
from aclnnop.random.drawing import DIGITS, TRAINING, Seed, below, drawn, fractions, require_block_offset, threshold

REAL = (FLOAT16, FLOAT, DOUBLE)
INTEGERS = (UINT8, INT8, INT16, INT32, INT64, BOOL)
EVERYTHING = (*REAL, *INTEGERS, BF16)
REAL_ON = dict.fromkeys((Product.A3, Product.A2, Product.A910), (*REAL, BF16))


@operator(products=TRAINING)
def aclnnBernoulli(
    self: Annotated[Operand, In(*EVERYTHING)],
    prob: Annotated[Scalar, HandleKind(Scalar, *REAL, BF16)],
    seed: Int,
    offset: Int,
    out: Annotated[Operand, Out(*EVERYTHING)],
) -> Plan:
    """Draw ones with one probability for all elements; ``self`` gives the shape."""
    same_dtype(self, out)
    probability = float(prob.value)
    require(0 <= probability <= 1, f"prob is {probability}, expected a value from 0 to 1")
    same_shape(self, out)
    require_block_offset(offset)
    return drawn(ones, Seed(seed, offset), out, width=1, limit=threshold(probability))


aclnnInplaceBernoulli = in_place(aclnnBernoulli, const=True)


@operator(products=TRAINING)
def aclnnBernoulliTensor(
    self: Annotated[Operand, In(*EVERYTHING, on=REAL_ON)],
    prob: Annotated[Operand, In(*REAL, BF16)],
    seed: Int,
    offset: Int,
    out: Annotated[Operand, Out(*EVERYTHING, on=REAL_ON)],
) -> Plan:
    """Draw ones, each element with a probability of its own; ``self`` gives the shape."""
    same_dtype(self, out)
    same_shape(self, out)
    return of_tensor(prob, seed, offset, out)


@operator(products=TRAINING)
def aclnnInplaceBernoulliTensor(
    selfRef: Annotated[Operand, InOut(*REAL, *INTEGERS, BF16)], prob: Annotated[Operand, In(*REAL, BF16)], seed: Int, offset: Int
) -> Plan:
    """Replace every element by a one with a probability of its own, by a zero else."""
    return of_tensor(prob, seed, offset, selfRef)


def of_tensor(prob: Operand, seed: int, offset: int, out: Operand) -> Plan:
    """Probabilities belong to elements in their order, whatever the shapes; where there are too few, they begin again."""
    require_block_offset(offset)
    return drawn(ones_by_element, Seed(seed, offset), out, reads=(prob,), spread=np.resize, width=2 if prob.dtype is DOUBLE else 1)


def ones(words: Array, out: Array, *, limit: int) -> None:
    """A piece of them."""
    apply(below, [words[: out.size]], [out], dtype=words.dtype, limit=limit)


def ones_by_element(words: Array, prob: Array, out: Array) -> None:
    """A piece of them."""
    precise = prob.dtype == np.float64
    given = (words.view(np.uint64) if precise else words)[: out.size]
    uniform = np.empty(out.size, np.float64 if precise else np.float32)
    apply(fractions, [given], [uniform], dtype=given.dtype, digits=DIGITS[DOUBLE if precise else FLOAT])
    apply(is_smaller, [uniform, prob], [out], dtype=uniform.dtype)


def is_smaller(uniform: Array, prob: Array) -> Array:
    """A number below 1 is smaller than ``prob`` with this probability."""
    found: Array = uniform < prob
    return found


@aclnnBernoulli.example
def examples() -> Iterator[Example]:
    """Each kind of type; what is certain."""
    for dtype, prob in ((FLOAT, 0.25), (INT64, np.float64(0.5)), (BOOL, np.float16(0.75)), (BF16, 0.0), (UINT8, 1.0)):
        yield {"self": numbers((3, 5), dtype), "prob": prob, "seed": 1234, "offset": 8, "out": numbers((3, 5), dtype, 1)}


@aclnnBernoulliTensor.example
def of_probabilities() -> Iterator[Example]:
    """As many as elements, and another number of them."""
    for dtype, of, shape in ((FLOAT, FLOAT, (3, 5)), (DOUBLE, DOUBLE, (3, 5)), (FLOAT16, FLOAT, (3, 2)), (BF16, FLOAT16, (4, 5))):
        prob = between(0, 1, shape, of, 2)
        yield {"self": numbers((3, 5), dtype), "prob": prob, "seed": 1234, "offset": 8, "out": numbers((3, 5), dtype, 1)}


@aclnnInplaceBernoulliTensor.example
def of_probabilities_in_place() -> Iterator[Example]:
    """A real type, a whole one and truth values."""
    for dtype, of in ((FLOAT, FLOAT), (INT32, FLOAT), (BOOL, FLOAT), (BF16, BF16)):
        yield {"selfRef": numbers((3, 5), dtype), "prob": between(0, 1, (3, 5), of, 2), "seed": 1234, "offset": 8}

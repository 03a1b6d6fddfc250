"""aclnnNormalFloatFloat and its relatives: normally distributed numbers, their mean and deviation numbers or tensors."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import (
    Example,
    Float,
    In,
    Int,
    Operand,
    Out,
    Plan,
    between,
    broadcast_shape,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.random.drawing import TRAINING, Seed
from aclnnop.random.normal_numbers import REAL, normal

RealIn = Annotated[Operand, In(*REAL)]
RealOut = Annotated[Operand, Out(*REAL)]


@operator(products=TRAINING)
def aclnnNormalFloatFloat(mean: Float, std: Float, seed: Int, offset: Int, out: RealOut) -> Plan:
    """Draw normal numbers with one mean and one standard deviation."""
    return normal(out, mean, std, Seed(seed, offset))


@operator(products=TRAINING)
def aclnnNormalFloatTensor(mean: Float, std: RealIn, seed: Int, offset: Int, out: RealOut) -> Plan:
    """Draw normal numbers with one mean, each with a standard deviation of its own."""
    return one_for_each(std, out) or normal(out, mean, std, Seed(seed, offset))


@operator(products=TRAINING)
def aclnnNormalTensorFloat(mean: RealIn, std: Float, seed: Int, offset: Int, out: RealOut) -> Plan:
    """Draw normal numbers with one standard deviation, each with a mean of its own."""
    return one_for_each(mean, out) or normal(out, mean, std, Seed(seed, offset))


@operator(products=TRAINING)
def aclnnNormalTensorTensor(mean: RealIn, std: RealIn, seed: Int, offset: Int, out: RealOut) -> Plan:
    """Draw normal numbers, each with a mean and a standard deviation of its own."""
    same_dtype(mean, std, out)
    shape_is(out, broadcast_shape(mean, std), "that mean and std broadcast to")
    return normal(out, mean, std, Seed(seed, offset))


def one_for_each(given: Operand, out: Operand) -> Plan | None:
    """Rules for a single tensor; a plan where there is nothing to do."""
    same_dtype(given, out)
    require(given.size > 0, f"{given.name} has shape {list(given.shape)}, expected at least one element")
    if given.size == 1 and out.size == 0 and given.rank == out.rank:
        return nothing()
    same_shape(given, out)
    return None


DRAW = {"seed": 5, "offset": 4}


@aclnnNormalFloatFloat.example
def of_numbers() -> Iterator[Example]:
    """Each type."""
    for dtype in (FLOAT, FLOAT16, BF16, DOUBLE):
        yield {"mean": 1.5, "std": 0.5, **DRAW, "out": numbers((3, 5), dtype)}


@aclnnNormalFloatTensor.example
def of_deviations() -> Iterator[Example]:
    """Deviations, each of another size."""
    for dtype in (FLOAT, BF16, DOUBLE):
        yield {"mean": 1.5, "std": between(0, 3, (3, 5), dtype, 1), **DRAW, "out": numbers((3, 5), dtype)}


@aclnnNormalTensorFloat.example
def of_means() -> Iterator[Example]:
    """Means."""
    for dtype in (FLOAT, FLOAT16, DOUBLE):
        yield {"mean": numbers((3, 5), dtype, 1, 9), "std": 0.5, **DRAW, "out": numbers((3, 5), dtype)}


@aclnnNormalTensorTensor.example
def of_both() -> Iterator[Example]:
    """They broadcast."""
    for dtype in (FLOAT, FLOAT16, DOUBLE):
        yield {"mean": numbers((3, 1), dtype, 1, 9), "std": between(0, 3, (2, 1, 5), dtype, 2), **DRAW, "out": numbers((2, 3, 5), dtype)}

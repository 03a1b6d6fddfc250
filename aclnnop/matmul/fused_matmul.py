"""aclnnFusedMatmul: a product, and one more step on its elements."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.core.errors import AclnnNullptr
from acl_emu.engine import apply
from acl_emu.engine.matmul import Sum, Taken, matmul
from acl_emu.spec import (
    Array,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    StringKind,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.activation.curves import gelu, tanh_gelu
from aclnnop.matmul.cube import CubeMath, CubeMathType, combined_dtype, product_shape, rounding

FLOATS, HALVES = (FLOAT, FLOAT16, BF16), (FLOAT16, BF16)


class Step(NamedTuple):
    """What is done with sums."""

    kernel: Callable[..., Any]
    most_rank: int
    types: tuple[DType, ...]
    bias: bool
    """Whether there may be one."""
    other: bool
    """Whether there is a third matrix."""


def plain(values: Array) -> Any:
    """As they are."""
    return values


def relu(values: Array) -> Any:
    """Negative numbers become zero."""
    return np.maximum(values, 0)


def added(values: Array, other: Array) -> Any:
    """The sum with another matrix."""
    return values + other


def multiplied(values: Array, other: Array) -> Any:
    """The product with another matrix, element by element."""
    return values * other


STEPS = {
    "": Step(plain, 6, FLOATS, True, False),
    "16cast32": Step(plain, 2, HALVES, True, False),
    "add": Step(added, 3, FLOATS, True, True),
    "mul": Step(multiplied, 3, FLOATS, True, True),
    "gelu_erf": Step(gelu, 2, HALVES, False, False),
    "gelu_tanh": Step(tanh_gelu, 2, HALVES, False, False),
    "relu": Step(relu, 6, FLOATS, True, False),
}


@operator(products=frozenset({Product.A950}))
def aclnnFusedMatmul(
    x1: Annotated[Operand, In(*FLOATS, rank=(2, 6))],
    x2: Annotated[Operand, In(*FLOATS, rank=(2, 6))],
    bias: Annotated[Operand | None, In(*FLOATS, rank=(1, 2), optional=True)],
    x3: Annotated[Operand | None, In(*FLOATS, rank=(2, 3), optional=True)],
    fusedOpType: Annotated[str, StringKind()],
    cubeMathType: CubeMath,
    y: Annotated[Operand, Out(*FLOATS, rank=(2, 6), const=True)],
) -> Plan:
    """Multiply matrices, add a bias, and take one more step."""
    require(fusedOpType in STEPS, f"fusedOpType is {fusedOpType!r}, expected one of {', '.join(map(repr, STEPS))}")
    step = STEPS[fusedOpType]
    if step.other and x3 is None:
        raise AclnnNullptr(f"x3 must not be a null pointer where fusedOpType is {fusedOpType!r}")
    if bias is not None and not step.bias:
        raise AclnnNullptr(f"bias has a value, expected a null pointer where fusedOpType is {fusedOpType!r}")
    dtype = combined_dtype(x1, x2)
    for operand in (x1, x2):
        require(operand.dtype in step.types, f"{operand.name} has dtype {operand.dtype}, not supported with {fusedOpType!r}")
        require(
            operand.rank <= step.most_rank,
            f"{operand.name} has {operand.rank} dimensions, expected at most {step.most_rank} where fusedOpType is {fusedOpType!r}",
        )
    other = x3 if step.other else None
    wanted = FLOAT if fusedOpType == "16cast32" else dtype
    require(y.dtype is wanted, f"y has dtype {y.dtype}, expected {wanted}")
    if other is not None:
        same_dtype(x1, other)
    require(
        dtype is not FLOAT or cubeMathType == CubeMathType.USE_HF32,
        f"cubeMathType is {cubeMathType}, expected {CubeMathType.USE_HF32} for {FLOAT}",
    )
    taken = rounding(cubeMathType, dtype)
    require(x1.shape[:-2] == x2.shape[:-2], f"x2 has shape {list(x2.shape)}, expected the batch of x1 of shape {list(x1.shape)}")
    shape = product_shape(x1, x2)
    shape_is(y, shape, "that of x1 @ x2")
    if bias is not None:
        require(bias.shape in (shape[-1:], (1, *shape[-1:])), f"bias has shape {list(bias.shape)}, expected [{shape[-1]}]")
    if other is not None:
        fits = other.shape[-2:] == shape[-2:] and other.shape[:-2] in ((), (1,), shape[:-2])
        require(fits, f"x3 has shape {list(other.shape)}, expected that of y: {list(shape)}")
    if 0 in shape:
        return nothing()
    return direct(
        multiply,
        reads=(x1, x2, bias, other),
        writes=(y,),
        scratch={"sums": (shape, np.float32)},
        taken=taken,
        step=step.kernel,
    )


def multiply(
    x1: Array, x2: Array, bias: Array | None, x3: Array | None, y: Array, *, taken: Taken, step: Callable[..., Any], sums: Array
) -> None:
    """Sums in FLOAT, rounded once behind the step."""
    matmul(x1, x2, sums, plus=None if bias is None else Sum(bias, 1.0, 1.0), taken=taken)
    apply(step, (sums,) if x3 is None else (sums, x3), (y,))


@aclnnFusedMatmul.example
def examples() -> Iterator[Example]:
    """All steps."""
    for name, step in STEPS.items():
        batch = () if step.most_rank == 2 else (2,)
        dtype = BF16 if step.other else FLOAT16
        yield {
            "x1": numbers((*batch, 5, 40), dtype, 1),
            "x2": numbers((*batch, 40, 7), dtype, 2),
            "bias": numbers((7,), dtype, 3) if step.bias else None,
            "x3": numbers((5, 7), dtype, 4) if step.other else None,
            "fusedOpType": name,
            "cubeMathType": 0,
            "y": numbers((*batch, 5, 7), FLOAT if name == "16cast32" else dtype, 5),
        }

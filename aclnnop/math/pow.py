"""aclnnPowTensorScalar, aclnnInplacePowTensorScalar and aclnnPowScalarTensor: powers where base or exponent is a number."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Example, HandleKind, In, Operand, Out, Plan, Product, in_place, operator, require
from aclnnop.math.binary import EVERY, NUMBERS, common
from aclnnop.math.pow_tensor_tensor import BaseIn, aclnnPowTensorTensor
from aclnnop.math.power import WITHOUT_BOOL, raised
from aclnnop.math.unary import without_bf16

ConstPowerOut = Annotated[Operand, Out(*EVERY, const=True, on={Product.A310B: without_bf16(EVERY)})]
NumberOut = Annotated[
    Operand,
    Out(*(dtype for dtype in EVERY if dtype.kind != "bool"), const=True),
]


@operator()
def aclnnPowTensorScalar(self: BaseIn, exponent: Annotated[Scalar, HandleKind(Scalar, *NUMBERS)], out: ConstPowerOut) -> Plan:
    """Raise every element to the power of a number."""
    plan = raised(self, exponent, out)
    dtype = common("self", self, "exponent", exponent)
    held = exponent.converted(dtype)
    if dtype.kind == "integer":
        require(exponent.value >= 0, f"exponent is {exponent.value}, expected a value of at least 0 where the result is of {dtype}")
        require(held == exponent.value, f"exponent is {exponent.value}, expected a value that {dtype} holds")
    else:
        require(
            bool(np.isfinite(held) or not np.isfinite(exponent.value)), f"exponent is {exponent.value}, expected a value that {dtype} holds"
        )
    return plan


aclnnInplacePowTensorScalar = in_place(
    aclnnPowTensorScalar, *WITHOUT_BOOL, ref="self", const=True, instead={"exponent": HandleKind(Scalar, *WITHOUT_BOOL)}
)


@operator()
def aclnnPowScalarTensor(
    self: Annotated[Scalar, HandleKind(Scalar, *WITHOUT_BOOL)], exponent: Annotated[Operand, In(*WITHOUT_BOOL)], out: NumberOut
) -> Plan:
    """Raise a number to the power of every element."""
    return raised(self, exponent, out)


@aclnnPowTensorScalar.example
def number_as_exponent() -> Iterator[Example]:
    """Those of two tensors, with the first exponent for all."""
    for example in aclnnPowTensorTensor.examples():
        yield {**example, "exponent": example["exponent"].ravel()[0]}


@aclnnPowScalarTensor.example
def number_as_base() -> Iterator[Example]:
    """Those of two tensors, with the first base for all, and base and exponent exchanged."""
    for example in aclnnPowTensorTensor.examples():
        yield {**example, "self": example["exponent"].ravel()[0], "exponent": example["self"]}

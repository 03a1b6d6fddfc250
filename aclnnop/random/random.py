"""aclnnInplaceRandom and its relatives: integers, every one as likely, in all elements of a tensor."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, COMPLEX128, FLOAT, FLOAT16, INT8, INT64, UINT8
from acl_emu.spec import Example, InOut, Int, Operand, Plan, Product, numbers, operator
from aclnnop.random.drawing import NEWER, NEWEST, TRAINING, Seed, SeedTensor
from aclnnop.random.uniform_numbers import INTEGERS, REAL, integer_between, integer_to_the_largest

TYPES = (*REAL, *INTEGERS, BOOL)
Ref = Annotated[Operand, InOut(*TYPES, COMPLEX64, COMPLEX128, on={Product.A950: TYPES})]
NarrowRef = Annotated[Operand, InOut(FLOAT, FLOAT16, BF16, *INTEGERS, BOOL)]


@operator(products=TRAINING)
def aclnnInplaceRandom(selfRef: Ref, from_: Int, to: Int, seed: Int, offset: Int) -> Plan:
    """Fill a tensor with integers from ``from`` to ``to - 1``."""
    return integer_between(selfRef, from_, to, Seed(seed, offset))


@operator(products=NEWER)
def aclnnInplaceRandomTensor(selfRef: Ref, from_: Int, to: Int, seedTensor: SeedTensor, offsetTensor: SeedTensor, offset: Int) -> Plan:
    """Fill a tensor with integers from ``from`` to ``to - 1``; seed and offset stand in tensors, ``offset`` is added."""
    return integer_between(selfRef, from_, to, Seed.in_tensors(seedTensor, offsetTensor, offset))


@operator(products=NEWEST)
def aclnnInplaceRandomWithoutFromTo(selfRef: NarrowRef, seed: Int, offset: Int) -> Plan:
    """Fill a tensor with integers from 0 to the last of those that its type holds without a gap."""
    return integer_to_the_largest(selfRef, Seed(seed, offset))


@operator(products=NEWEST)
def aclnnInplaceRandomWithoutFromToTensor(selfRef: NarrowRef, seedTensor: SeedTensor, offsetTensor: SeedTensor, offset: Int) -> Plan:
    """Fill a tensor with integers that its type holds without a gap; seed and offset stand in tensors, ``offset`` is added."""
    return integer_to_the_largest(selfRef, Seed.in_tensors(seedTensor, offsetTensor, offset))


SEED = {"seed": 1234, "offset": 8}
SEEDS = {"seedTensor": np.array([7]), "offsetTensor": np.array([392]), "offset": 100}


@aclnnInplaceRandom.example
def examples() -> Iterator[Example]:
    """Each kind of type, and limits that 32 bits do not hold."""
    for dtype, low, high in ((FLOAT, 0, 10), (BF16, -3, 3), (INT8, -128, 128), (INT64, -(2**63), 2**63 - 1), (BOOL, 0, 2)):
        yield {"selfRef": numbers((3, 5), dtype), "from": low, "to": high, **SEED}


@aclnnInplaceRandom.example_on(*(TRAINING - NEWEST))
def of_complex_numbers() -> Iterator[Example]:
    """Their real parts."""
    yield {"selfRef": numbers((3, 5), COMPLEX64), "from": 0, "to": 10, **SEED}


@aclnnInplaceRandomTensor.example
def with_tensors() -> Iterator[Example]:
    """A real type and a whole one."""
    for dtype in (FLOAT16, UINT8):
        yield {"selfRef": numbers((3, 5), dtype), "from": 0, "to": 200, **SEEDS}


@aclnnInplaceRandomWithoutFromTo.example
def without_limits() -> Iterator[Example]:
    """Each kind of type."""
    for dtype in (FLOAT, BF16, INT64, BOOL):
        yield {"selfRef": numbers((3, 5), dtype), **SEED}


@aclnnInplaceRandomWithoutFromToTensor.example
def without_limits_with_tensors() -> Iterator[Example]:
    """A real type and a whole one."""
    for dtype in (FLOAT16, INT8):
        yield {"selfRef": numbers((3, 5), dtype), **SEEDS}

"""aclnnInplaceUniform and aclnnInplaceUniformTensor: uniformly distributed numbers in all elements of a tensor."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT8, INT64, UINT64
from acl_emu.spec import ALL, Double, Example, In, InOut, Operand, Plan, Product, numbers, operator
from aclnnop.random.drawing import NEWER, Seed, UInt64
from aclnnop.random.uniform_numbers import INTEGERS, REAL, between, require_held

Ref = Annotated[Operand, InOut(*REAL, *INTEGERS)]
EitherSeed = Annotated[Operand, In(UINT64, INT64, rank=(0, 1))]


@operator(products=ALL - {Product.A310B})
def aclnnInplaceUniform(selfRef: Ref, from_: Double, to: Double, seed: UInt64, offset: UInt64) -> Plan:
    """Fill a tensor with numbers from ``from`` to ``to``, which is none of them; whole types keep what stands before the point."""
    return between(selfRef, from_, to, Seed(seed, offset))


@operator(products=NEWER)
def aclnnInplaceUniformTensor(
    selfRef: Ref, from_: Double, to: Double, seedTensor: EitherSeed, offsetTensor: EitherSeed, offset: UInt64
) -> Plan:
    """Fill a tensor with uniformly distributed numbers; seed and offset stand in tensors, ``offset`` is added."""
    plan = between(selfRef, from_, to, Seed.in_tensors(seedTensor, offsetTensor, offset))
    require_held(selfRef, from_, to)
    return plan


@aclnnInplaceUniform.example
def examples() -> Iterator[Example]:
    """Each kind of type; an interval of a single number."""
    for dtype, high in ((FLOAT, 2.5), (FLOAT16, 2.5), (BF16, -0.75), (DOUBLE, 9), (INT8, 100), (INT64, 1e12), (FLOAT, -0.75)):
        yield {"selfRef": numbers((3, 5), dtype), "from": -0.75, "to": high, "seed": 2**64 - 3, "offset": 8}


@aclnnInplaceUniformTensor.example
def with_tensors() -> Iterator[Example]:
    """Seeds of either type."""
    for dtype, code in ((FLOAT, UINT64), (INT64, INT64)):
        seeds = {"seedTensor": np.array([7], code.numpy), "offsetTensor": np.array([392], code.numpy), "offset": 100}
        yield {"selfRef": numbers((3, 5), dtype), "from": 0.0, "to": 50.0, **seeds}

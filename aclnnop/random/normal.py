"""aclnnInplaceNormal and aclnnInplaceNormalTensor: normally distributed numbers in all elements of a tensor."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT32
from acl_emu.spec import Example, Float, InOut, Int, Operand, Plan, Product, numbers, operator
from aclnnop.random.drawing import NEWER, NEWEST, TRAINING, Seed, SeedTensor
from aclnnop.random.normal_numbers import COUNTED, REAL, filled

EVERYTHING = (*REAL, *COUNTED)


@operator(products=TRAINING)
def aclnnInplaceNormal(
    selfRef: Annotated[Operand, InOut(*REAL, on={Product.A950: EVERYTHING})], mean: Float, std: Float, seed: Int, offset: Int
) -> Plan:
    """Fill a tensor with normally distributed numbers."""
    return filled(selfRef, mean, std, Seed(seed, offset))


@aclnnInplaceNormal.example
def examples() -> Iterator[Example]:
    """An odd and an even number of elements."""
    for dtype, shape in ((FLOAT, (3, 5)), (FLOAT16, (4, 5)), (BF16, (7,)), (DOUBLE, (3, 3))):
        yield {"selfRef": numbers(shape, dtype), "mean": 0.5, "std": 2.0, "seed": 1234, "offset": 8}


@aclnnInplaceNormal.example_on(*NEWEST)
def of_integers() -> Iterator[Example]:
    """Rounded towards zero."""
    yield {"selfRef": numbers((3, 5), INT32), "mean": 0.5, "std": 20.0, "seed": -1, "offset": 0}


@operator(products=NEWER)
def aclnnInplaceNormalTensor(
    selfRef: Annotated[Operand, InOut(*EVERYTHING)], mean: Float, std: Float, seedTensor: SeedTensor, offsetTensor: SeedTensor, offset: Int
) -> Plan:
    """Fill a tensor with normally distributed numbers; seed and offset stand in tensors, ``offset`` is added."""
    return filled(selfRef, mean, std, Seed.in_tensors(seedTensor, offsetTensor, offset))


@aclnnInplaceNormalTensor.example
def with_tensors() -> Iterator[Example]:
    """Numbers, and whole ones."""
    for dtype in (FLOAT, INT32):
        seeds = {"seedTensor": np.array([7]), "offsetTensor": np.array([392]), "offset": 100}
        yield {"selfRef": numbers((3, 5), dtype), "mean": 0.5, "std": 2.0, **seeds}

"""aclnnDropoutGenMask, aclnnDropoutGenMaskV2 and aclnnDropoutGenMaskV2Tensor: which elements a dropout keeps."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, UINT8
from acl_emu.spec import ALL, DataType, Double, Example, Int, IntArrayIn, Plan, Product, numbers, operator
from aclnnop.random.drawing import NEWER, Seed, SeedTensor
from aclnnop.random.dropout_masks import MaskOut, generated, mask_bytes

PRODUCTS = ALL - {Product.A310B}


@operator(products=PRODUCTS)
def aclnnDropoutGenMask(shape: IntArrayIn, prob: Double, seed: Int, offset: Int, out: MaskOut) -> Plan:
    """Draw a bit for each element of a tensor of this shape, 0 with the probability ``prob``."""
    return generated(shape.values, prob, Seed(seed, offset), out)


@operator(products=PRODUCTS)
def aclnnDropoutGenMaskV2(shape: IntArrayIn, prob: Double, seed: Int, offset: Int, probDataType: DataType, out: MaskOut) -> Plan:
    """Draw a bit for each element of a tensor of this shape, 0 with the probability ``prob``."""
    return generated(shape.values, prob, Seed(seed, offset), out)


@operator(products=NEWER)
def aclnnDropoutGenMaskV2Tensor(
    shape: IntArrayIn,
    prob: Double,
    seedTensor: SeedTensor,
    offsetTensor: SeedTensor,
    offset: Int,
    probDataType: DataType,
    out: MaskOut,
) -> Plan:
    """Draw a bit for each element; seed and offset stand in tensors, ``offset`` is added."""
    return generated(shape.values, prob, Seed.in_tensors(seedTensor, offsetTensor, offset), out)


def masks() -> Iterator[Example]:
    """Less than a group of bits, and more; what is certain."""
    for shape, prob in (([4, 2], 0.5), ([5, 7, 11], 0.1), ([130], 0.0), ([3], 1.0)):
        yield {"shape": shape, "prob": prob, "out": numbers((mask_bytes(int(np.prod(shape))),), UINT8)}


@aclnnDropoutGenMask.example
def examples() -> Iterator[Example]:
    """Each kind of mask."""
    for mask in masks():
        yield {**mask, "seed": 1234, "offset": 8}


@aclnnDropoutGenMaskV2.example
def examples_v2() -> Iterator[Example]:
    """The same."""
    for mask in masks():
        yield {**mask, "seed": 1234, "offset": 8, "probDataType": BF16.code}


@aclnnDropoutGenMaskV2Tensor.example
def with_tensors() -> Iterator[Example]:
    """The same."""
    for mask in masks():
        yield {**mask, "seedTensor": np.array([7]), "offsetTensor": np.array([392]), "offset": 100, "probDataType": FLOAT.code}

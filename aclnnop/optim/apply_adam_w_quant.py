"""aclnnApplyAdamWQuant: a step of AdamW whose averages are kept in a byte each."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, UINT8
from acl_emu.spec import (
    Array,
    Double,
    Example,
    In,
    InOut,
    Int,
    Operand,
    Plan,
    StringKind,
    direct,
    length_is,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
)
from aclnnop.optim.adam import NEWER, Gradient, IntegerStep, Ref, averaged, decayed, number

CODES = 256
Codes = Annotated[Operand, InOut(UINT8, const=False, rank=(1, 8))]
Table = Annotated[Operand, In(FLOAT, rank=1)]
Scales = Annotated[Operand, InOut(FLOAT, const=False, rank=1)]


@operator(products=NEWER)
def aclnnApplyAdamWQuant(
    varRef: Ref,
    grad: Gradient,
    mRef: Codes,
    vRef: Codes,
    qmapM: Table,
    qmapV: Table,
    absmaxMRef: Scales,
    absmaxVRef: Scales,
    step: IntegerStep,
    lr: Double,
    beta1: Double,
    beta2: Double,
    weightDecay: Double,
    eps: Double,
    gnormScale: Double,
    quantModeOptional: Annotated[str | None, StringKind("char*", optional=True)],
    blockSize: Int,
) -> Plan:
    """Take a step of AdamW; an average is its code's entry in a table of 256, times the largest magnitude of its block."""
    del quantModeOptional  # reserved
    same_dtype(varRef, grad)
    same_shape(varRef, grad, mRef, vRef)
    require(blockSize > 0, f"blockSize is {blockSize}, expected a value of at least 1")
    for table in (qmapM, qmapV):
        length_is(table, CODES, "an entry for each code")
    for scales in (absmaxMRef, absmaxVRef):
        length_is(scales, -(-varRef.size // blockSize), "one for each block")
    counter = number(step)
    if not varRef.size:
        return nothing()
    reads, writes = (grad, qmapM, qmapV, counter), (varRef, mRef, vRef, absmaxMRef, absmaxVRef)
    settings = {"lr": lr, "weightDecay": weightDecay, "eps": eps}
    return direct(quantised, reads=reads, writes=writes, scratch={}, betas=(beta1, beta2), scale=gnormScale, block=blockSize, **settings)


@aclnnApplyAdamWQuant.example
def examples() -> Iterator[Example]:
    """Two blocks, the last one not full."""
    rng = np.random.default_rng(1)
    for dtype in (FLOAT, BF16):
        yield {
            "varRef": numbers((3, 100), dtype, 1),
            "grad": numbers((3, 100), dtype, 2),
            "mRef": rng.integers(0, 256, (3, 100), np.uint8),
            "vRef": rng.integers(0, 256, (3, 100), np.uint8),
            "qmapM": np.linspace(-1, 1, 256, dtype=np.float32),
            "qmapV": np.linspace(0, 1, 256, dtype=np.float32),
            "absmaxMRef": np.array([5, 2], np.float32),
            "absmaxVRef": np.array([3, 4], np.float32),
            "step": np.array([3]),
            "lr": 0.1,
            "beta1": 0.9,
            "beta2": 0.99,
            "weightDecay": 0.1,
            "eps": 0.01,
            "gnormScale": 0.5,
            "quantModeOptional": "BLOCKWISE",
            "blockSize": 256,
        }


def quantised(
    grad: Array,
    qmapM: Array,
    qmapV: Array,
    step: Array,
    var: Array,
    m: Array,
    v: Array,
    absmaxM: Array,
    absmaxV: Array,
    *,
    betas: tuple[float, float],
    scale: float,
    block: int,
    **settings: float,
) -> None:
    """In place; blocks are counted along all elements in order."""
    blocks = np.arange(var.size) // block
    slope = grad.astype(np.float64).reshape(-1) * scale
    weights = var.astype(np.float64).reshape(-1)
    averages = []
    for codes, table, largest, beta, new in ((m, qmapM, absmaxM, betas[0], slope), (v, qmapV, absmaxV, betas[1], slope * slope)):
        old = table.astype(np.float64)[codes.reshape(-1)] * largest[blocks]
        averages.append(averaged(old, new, beta))
    powers = [np.power(beta, float(step)) for beta in betas]
    changed = decayed(weights, *averages, power1=powers[0], power2=powers[1], **settings)
    for values, codes, table, largest in ((averages[0], m, qmapM, absmaxM), (averages[1], v, qmapV, absmaxV)):
        top = np.maximum.reduceat(np.abs(values), np.arange(0, values.size, block))
        largest[...] = top
        codes[...] = nearest(values / np.where(top > 0, top, 1)[blocks], table.astype(np.float64)).reshape(codes.shape)
    var[...] = dtypes.round_to(changed.reshape(var.shape), dtypes.from_numpy(var.dtype))


def nearest(values: Array, table: Array) -> Any:
    """The place of the nearest entry of an ascending table; between two that are as near, the first."""
    above = np.clip(np.searchsorted(table, values), 1, table.size - 1)
    return above - (values - table[above - 1] <= table[above] - values)

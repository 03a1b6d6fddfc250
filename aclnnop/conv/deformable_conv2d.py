"""aclnnDeformableConv2d: a convolution whose samples are moved and weighted."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.engine import apply
from acl_emu.engine.casting import cast
from acl_emu.engine.matmul import matmul
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    In,
    Int,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    Product,
    between,
    direct,
    numbers,
    operator,
    same_dtype,
    shape_is,
)
from aclnnop.conv.deformable import Moves, corners_of, moves_of, sampled
from aclnnop.conv.windows import plus

FLOATS = (FLOAT, FLOAT16, BF16)
Images = Annotated[Operand, In(*FLOATS, rank=4)]


@operator(products=frozenset({Product.A950, Product.A3, Product.A2}))
def aclnnDeformableConv2d(
    x: Images,
    weight: Images,
    offset: Images,
    biasOptional: Annotated[Operand | None, In(*FLOATS, rank=1, optional=True)],
    kernelSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    dilation: IntArrayIn,
    groups: Int,
    deformableGroups: Int,
    modulated: Bool,
    out: Annotated[Operand, Out(*FLOATS, rank=4)],
    deformOutOptional: Annotated[Operand | None, Out(*FLOATS, rank=4, optional=True)],
) -> Plan:
    """Convolve images at places that ``offset`` moves, weighted by what it says."""
    same_dtype(x, weight, offset, biasOptional, out, deformOutOptional)
    arrays = {"kernelSize": kernelSize, "stride": stride, "padding": padding, "dilation": dilation}
    moves = moves_of(x, weight, offset, arrays, groups, deformableGroups, modulated)
    if biasOptional is not None:
        shape_is(biasOptional, weight.shape[:1], "the output channels of weight")
    (high, wide), places = moves.kernel, moves.places
    shape_is(out, (x.shape[0], weight.shape[0], *places), "that of the convolution")
    if deformOutOptional is not None:
        shape_is(deformOutOptional, (*x.shape[:2], places[0] * high, places[1] * wide), "all samples")
    return direct(
        convolve,
        reads=(x, weight, offset, biasOptional),
        writes=(out, deformOutOptional),
        scratch={
            "columns": ((groups, x.shape[1] // groups * moves.taps, places[0] * places[1]), np.float32),
            "sums": ((weight.shape[0], *places), np.float32),
        },
        moves=moves,
    )


def convolve(
    x: Array,
    weight: Array,
    offset: Array,
    bias: Array | None,
    out: Array,
    samples: Array | None,
    *,
    moves: Moves,
    columns: Array,
    sums: Array,
) -> None:
    """Image by image: the samples as columns of a matrix, and its product with the kernel."""
    (high, wide), places = moves.kernel, moves.places
    kernel = np.ascontiguousarray(weight).reshape(moves.groups, len(weight) // moves.groups, -1)
    added = np.zeros(1, np.float32) if bias is None else bias.reshape(-1, 1, 1)
    for index, image in enumerate(x):
        corners = corners_of(offset[index], moves, *x.shape[2:])
        found = sampled(image.astype(np.float32), corners, corners.weights) * corners.mask[:, np.newaxis]
        columns[...] = found.reshape(columns.shape)
        matmul(kernel, columns, sums.reshape(moves.groups, len(weight) // moves.groups, -1))
        apply(plus, (sums, added), (out[index],))
        if samples is not None:
            arranged = found.reshape(len(image), high, wide, *places).transpose(0, 3, 1, 4, 2)
            cast(arranged.reshape(samples.shape[1:]), samples[index])


@aclnnDeformableConv2d.example
def examples() -> Iterator[Example]:
    """Groups of channels, and of moves; with the samples and without."""
    for dtype, parts, shown in ((FLOAT, 2, True), (FLOAT16, 1, False)):
        yield {
            "x": numbers((2, 4, 5, 6), dtype, 1),
            "weight": numbers((6, 2, 3, 2), dtype, 2),
            "offset": between(-1.5, 1.5, (2, 18 * parts, 3, 5), dtype, 3),
            "biasOptional": numbers((6,), dtype, 4) if shown else None,
            "kernelSize": [3, 2],
            "stride": [1, 1, 2, 1],
            "padding": [1, 1, 0, 0],
            "dilation": [1, 1, 1, 1],
            "groups": 2,
            "deformableGroups": parts,
            "modulated": True,
            "out": numbers((2, 6, 3, 5), dtype, 5),
            "deformOutOptional": numbers((2, 4, 9, 10), dtype, 6) if shown else None,
        }

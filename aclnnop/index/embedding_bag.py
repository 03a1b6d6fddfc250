"""aclnnEmbeddingBag: rows of a table, combined bag by bag."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes, soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64
from acl_emu.core.errors import DeviceFault
from acl_emu.core.soc import Product
from acl_emu.runtime.tensor import Shape
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    between,
    direct,
    length_is,
    nothing,
    numbers,
    operator,
    rank_in,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.conversion.moves import EVERY
from aclnnop.index.gathering import PLACES
from aclnnop.index.places import within

SUM, MEAN = 0, 1
FLOATS = (FLOAT, FLOAT16, BF16)
IndexIn = Annotated[Operand, In(*PLACES)]
IndexOut = Annotated[Operand, Out(*PLACES)]


@operator(products=EVERY)
def aclnnEmbeddingBag(
    weight: Annotated[Operand, In(*FLOATS)],
    indices: IndexIn,
    offsets: IndexIn,
    scaleGradByFreq: Bool,
    mode: Int,
    sparse: Bool,
    perSampleWeights: Annotated[Operand | None, In(*FLOATS, optional=True)],
    includeLastOffset: Bool,
    paddingIdx: Int,
    output: Annotated[Operand, Out(*FLOATS)],
    offset2bag: IndexOut,
    bagSize: IndexOut,
    maxIndices: IndexOut,
) -> Plan:
    """Take the rows of ``weight`` that ``indices`` choose; add them up, take their mean or their largest, from each of ``offsets`` on."""
    rank_in(weight, 2)
    rank_in(indices, 1)
    rank_in(offsets, 1)
    require(
        not includeLastOffset or offsets.size > 0, f"{offsets.name} has shape {list(offsets.shape)}, expected an element: it has the end"
    )
    if perSampleWeights is not None:
        same_dtype(weight, perSampleWeights)
        rank_in(perSampleWeights, 1)
        length_is(perSampleWeights, indices.size, f"as many as {indices.name}")
        require(mode == SUM, f"mode is {mode}, expected 0 (sum) with perSampleWeights")
    same_dtype(weight, output)
    bags = offsets.size - includeLastOffset
    whole = INT64 if INT64 in (indices.dtype, offsets.dtype) else INT32
    for out, shape in zip((output, offset2bag, bagSize, maxIndices), shapes(weight, indices, offsets, bags, mode), strict=True):
        require(out is output or out.dtype is whole, f"{out.name} has dtype {out.dtype}, expected {whole}, as the wider one of the indices")
        unwanted = out is offset2bag and mode == SUM and out.shape == (0,)  # torch leaves it out there
        shape_is(out, out.shape if unwanted else shape, "of bags, indices and rows")
    if not bags:
        return nothing()
    return direct(
        bagged,
        reads=(weight, indices, offsets, perSampleWeights),
        writes=(output, offset2bag, bagSize, maxIndices),
        scratch={},
        mode=mode,
        ends=includeLastOffset,
        padding=paddingIdx,
    )


def shapes(weight: Operand, indices: Operand, offsets: Operand, bags: int, mode: int) -> tuple[Shape, Shape, Shape, Shape]:
    """Of the outputs; the newest products leave out what nobody needs."""
    newest = soc.current().product is Product.A950
    rows = (bags, weight.shape[1])
    largest = rows if mode not in (SUM, MEAN) else (0,) if newest else (bags,)
    return rows, indices.shape, offsets.shape if newest else (bags,), largest


def example(dtype: dtypes.DType, mode: int, *, ends: bool, padding: int, weighted: bool, newest: bool = False) -> Example:
    """Bags of several sizes, an empty one among them."""
    offsets = [0, 2, 2, 5, 7] if ends else [0, 2, 2, 5]
    largest = (4, 3) if mode > MEAN else (0,) if newest else (4,)
    return {
        "weight": numbers((6, 3), dtype, 1),
        "indices": between(0, 6, (7,), INT64, 2),
        "offsets": np.array(offsets, np.int32),
        "scaleGradByFreq": False,
        "mode": mode,
        "sparse": False,
        "perSampleWeights": numbers((7,), dtype, 3) if weighted else None,
        "includeLastOffset": ends,
        "paddingIdx": padding,
        "output": numbers((4, 3), dtype, 4),
        "offset2bag": np.full(7, -1),
        "bagSize": np.full(5 if newest and ends else 4, -1),
        "maxIndices": np.full(largest, -1),
    }


@aclnnEmbeddingBag.example_on(*(EVERY - {Product.A950}))
def examples() -> Iterator[Example]:
    """Every mode."""
    yield example(FLOAT, SUM, ends=False, padding=-1, weighted=True)
    yield example(FLOAT16, MEAN, ends=True, padding=3, weighted=False)
    yield example(FLOAT, 2, ends=False, padding=5, weighted=False)


@aclnnEmbeddingBag.example_on(Product.A950)
def newest() -> Iterator[Example]:
    """Every mode."""
    yield example(BF16, SUM, ends=True, padding=-1, weighted=True, newest=True)
    yield example(FLOAT, MEAN, ends=False, padding=3, weighted=False, newest=True)
    yield example(FLOAT16, 2, ends=True, padding=5, weighted=False, newest=True)


def bagged(
    weight: Array,
    indices: Array,
    offsets: Array,
    factors: Array | None,
    output: Array,
    offset2bag: Array,
    bag_size: Array,
    largest: Array,
    *,
    mode: int,
    ends: bool,
    padding: int,
) -> None:
    """Sums are taken in float64. Indices that are the padding count for nothing; an empty bag is 0."""
    places = within(indices, len(weight), "indices")
    edges = offsets.astype(np.int64) if ends else np.append(offsets.astype(np.int64), len(indices))
    sizes: Array = edges[1:] - edges[:-1]
    if edges[0] != 0 or (sizes < 0).any() or edges[-1] > len(indices):
        raise DeviceFault(f"offsets is {offsets.tolist()[:8]}, expected values that grow from 0 to the number of indices: {len(indices)}")
    bags = np.repeat(np.arange(len(sizes)), sizes)
    counted = places[: len(bags)] != padding
    chosen, own = places[: len(bags)][counted], bags[counted]
    counts = np.bincount(own, minlength=len(sizes))
    rows = weight[chosen].astype(np.float64)
    if factors is not None:
        rows *= factors[: len(bags)][counted].astype(np.float64)[:, np.newaxis]
    if offset2bag.size:
        offset2bag[...] = 0
        offset2bag[: len(bags)] = bags
    bag_size[...] = 0
    bag_size[: len(sizes)] = counts
    output[...] = 0
    largest[...] = 0
    if not own.size:
        return
    starts = np.flatnonzero(np.concatenate(([True], own[1:] != own[:-1])))
    full = own[starts]
    if mode in (SUM, MEAN):
        found = np.add.reduceat(rows, starts, axis=0) / (counts[full][:, np.newaxis] if mode == MEAN else 1)
    else:
        found = np.maximum.reduceat(rows, starts, axis=0)
        spread = np.repeat(found, counts[full], axis=0)
        first = np.where((rows == spread) | (np.isnan(rows) & np.isnan(spread)), np.arange(len(rows))[:, np.newaxis], len(rows))
        largest[full] = chosen[np.minimum.reduceat(first, starts, axis=0)]
    output[full] = dtypes.round_to(found, dtypes.from_numpy(output.dtype))

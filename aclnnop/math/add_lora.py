"""aclnnAddLora: to each row, its product with a pair of small weights that an index chooses."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT16, INT32
from acl_emu.engine.matmul import matmul
from acl_emu.spec import Array, Double, Example, In, Int, Operand, Out, Plan, Product, between, direct, numbers, operator, rank_in, require
from acl_emu.spec.fractal import Blocked, blocked, is_blocked
from acl_emu.spec.tiling import in_tiling
from aclnnop.matmul.cube import BLOCKED

STEP = 16
MOST_INNER, MOST_COLUMNS, MOST_WEIGHTS = 128, 131072, 32
HalfMatrix = Annotated[Operand, In(FLOAT16, rank=2)]


@operator(products=frozenset({Product.A2, Product.A310P}))
def aclnnAddLora(
    y: HalfMatrix,
    x: HalfMatrix,
    weightB: Annotated[Operand, In(FLOAT16, rank=4, formats=BLOCKED)],
    indices: Annotated[Operand, In(INT32, rank=1)],
    weightAOptional: Annotated[Operand | None, In(FLOAT16, rank=4, formats=BLOCKED, optional=True)],
    layerIdx: Int,
    scale: Double,
    yOffset: Int,
    ySliceSize: Int,
    out: Annotated[Operand, Out(FLOAT16, rank=2, const=True)],
) -> Plan:
    """Add to some columns of each row of ``y`` the row of ``x`` times the weights that its index names."""
    rank_in(out, 2)
    rows, columns = y.shape
    weights, layers, height, rank = weightB.shape
    inner = x.shape[1]
    given = (x, indices, out, weightAOptional)
    wanted = ((rows, inner), (rows,), y.shape, (weights, layers, rank, inner))
    with in_tiling():
        for operand, shape in zip(given, wanted, strict=True):
            if operand is not None:
                require(operand.shape == shape, f"{operand.name} has shape {list(operand.shape)}, expected {list(shape)}")
        whole = weightAOptional is not None or inner == rank
        require(whole, f"x has shape {list(x.shape)}, expected {rank} columns without weightAOptional")
        for name, length in (("H1", inner), ("H2", height), ("H3", columns), ("R", rank)):
            require(length > 0 and length % STEP == 0, f"{name} is {length}, expected a multiple of {STEP}")
        require(rank <= MOST_INNER, f"R is {rank}, expected at most {MOST_INNER}")
        require(max(height, columns) <= MOST_COLUMNS, f"y has shape {list(y.shape)}, expected at most {MOST_COLUMNS} columns")
        few = 1 <= weights <= MOST_WEIGHTS and 1 <= layers <= MOST_WEIGHTS
        require(few, f"weightB has shape {list(weightB.shape)}, expected 1 to {MOST_WEIGHTS} weights and layers")
        require(rows > 0, f"y has shape {list(y.shape)}, expected no empty dimension")
        require(0 <= layerIdx < layers, f"layerIdx is {layerIdx}, expected 0 to {layers - 1}")
        require(0 <= yOffset < columns, f"yOffset is {yOffset}, expected 0 to {columns - 1}")
        require(
            ySliceSize == height and yOffset + ySliceSize <= columns,
            f"ySliceSize is {ySliceSize}, expected that of weightB: {height}, within {columns} columns behind yOffset {yOffset}",
        )
    first, second = (blocked(one) if one is not None and is_blocked(one) else None for one in (weightAOptional, weightB))
    return direct(
        add,
        reads=(y, x, second.memory if second else weightB, indices, first.memory if first else weightAOptional),
        writes=(out,),
        scratch={"inner": ((rows, rank), np.float32), "sums": ((rows, height), np.float32)},
        forms=(first, second),
        layer=layerIdx,
        scale=scale,
        start=yOffset,
    )


def add(
    y: Array,
    x: Array,
    weight_b: Array,
    indices: Array,
    weight_a: Array | None,
    out: Array,
    *,
    forms: tuple[Blocked | None, Blocked | None],
    layer: int,
    scale: float,
    start: int,
    inner: Array,
    sums: Array,
) -> None:
    """The rows of each pair of weights together; those whose index names none stay as they are."""
    result = y.copy()
    lefts = None if weight_a is None else matrices(weight_a, forms[0])[:, layer]
    rights = matrices(weight_b, forms[1])[:, layer]
    for index in range(len(rights)):
        (chosen,) = np.nonzero(indices == index)
        if not len(chosen):
            continue
        rows, middle, total = x[chosen], inner[: len(chosen)], sums[: len(chosen)]
        if lefts is None:
            middle[...] = rows
        else:
            matmul(rows, lefts[index].T, middle)
        matmul(middle, rights[index].T, total)
        some = result[chosen, start : start + total.shape[1]].astype(np.float32) + total * np.float32(scale)
        result[chosen, start : start + total.shape[1]] = some.astype(y.dtype)
    out[...] = result


def matrices(stored: Array, form: Blocked | None) -> Array:
    """Weights as they are multiplied; out of their blocks where they are in some."""
    if form is None:
        return stored
    joined = stored.reshape(*stored.shape[:-2], -1)[..., : form.blocks.columns]
    return joined.swapaxes(-1, -2) if form.transposed else joined


@aclnnAddLora.example
def examples() -> Iterator[Example]:
    """With both weights, and with one."""
    for columns in (32, 16):
        yield {
            "y": numbers((5, 48), FLOAT16, 1),
            "x": numbers((5, columns), FLOAT16, 2),
            "weightB": numbers((2, 3, 32, 16), FLOAT16, 3),
            "indices": between(0, 2, (5,), INT32, 4),
            "weightAOptional": numbers((2, 3, 16, 32), FLOAT16, 5) if columns == 32 else None,
            "layerIdx": 1,
            "scale": 0.5,
            "yOffset": 16,
            "ySliceSize": 32,
            "out": numbers((5, 48), FLOAT16, 6),
        }

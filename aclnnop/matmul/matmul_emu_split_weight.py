"""aclnnMatmulEmuSplitWeight: a product with a FLOAT weight that is given as two of BF16."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT
from acl_emu.engine.matmul import Sum, matmul
from acl_emu.spec import (
    Array,
    Example,
    Float,
    In,
    IntKind,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    numbers,
    operator,
    require,
    same_shape,
    shape_is,
)
from aclnnop.matmul.cube import product_shape

SCALE = 1 / 256
HalfMatrix = Annotated[Operand, In(BF16, rank=2)]


@operator(products=frozenset({Product.A950}))
def aclnnMatmulEmuSplitWeight(
    x: HalfMatrix,
    wHigh: HalfMatrix,
    wLow: HalfMatrix,
    y: Annotated[Operand, Out(FLOAT, rank=2, const=True)],
    wLowScale: Float,
    yDtype: Annotated[int, IntKind("int8_t")],
) -> Plan:
    """Multiply by the upper half of a weight, and add the product with the lower half times its scale."""
    require(yDtype == 0, f"yDtype is {yDtype}, expected 0")
    require(wLowScale == SCALE, f"wLowScale is {wLowScale}, expected {SCALE}")
    same_shape(wHigh, wLow)
    shape = product_shape(x, wHigh)
    shape_is(y, shape, "that of x @ wHigh")
    for operand in (x, wHigh):
        require(0 not in operand.shape, f"{operand.name} has shape {list(operand.shape)}, expected no empty dimension")
    return direct(both, reads=(x, wHigh, wLow), writes=(y,), scratch={"sums": (shape, FLOAT.numpy)})


def both(x: Array, high: Array, low: Array, y: Array, *, sums: Array) -> None:
    """The second product is added to the first, both in FLOAT."""
    matmul(x, high, sums)
    matmul(x, low, y, plus=Sum(sums, SCALE, 1.0))


@aclnnMatmulEmuSplitWeight.example
def examples() -> Iterator[Example]:
    """Two halves."""
    yield {
        "x": numbers((5, 40), BF16, 1),
        "wHigh": numbers((40, 7), BF16, 2),
        "wLow": numbers((40, 7), BF16, 3),
        "y": numbers((5, 7), FLOAT, 4),
        "wLowScale": SCALE,
        "yDtype": 0,
    }

"""aclnnScatterReduce: elements that are combined along one dimension, each at an index of its own, with what was there or without."""

import enum
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT32, INT64, DType
from acl_emu.core.soc import Product
from acl_emu.spec import Bool, Example, In, Int, IntKind, Operand, Out, Plan, between, in_place, numbers, operator, require
from aclnnop.conversion.moves import NEWER
from aclnnop.index.gathering import NUMBERS, PLACES
from aclnnop.index.scattering import Combine, scattered


class Reduce(enum.IntEnum):
    """What becomes of an element and its updates."""

    REPLACE = 0
    ADD = 1
    MULTIPLY = 2
    MAXIMUM = 3
    MINIMUM = 4
    MEAN = 5


AnyIn = Annotated[Operand, In(*NUMBERS)]


@operator(products=NEWER)
def aclnnScatterReduce(
    self: AnyIn,
    dim: Int,
    index: Annotated[Operand, In(*PLACES)],
    src: AnyIn,
    reduce: Annotated[int, IntKind(choices=Reduce)],
    includeSelf: Bool,
    out: Annotated[Operand, Out(*NUMBERS)],
) -> Plan:
    """Combine every element of ``src`` with that of ``self`` at its index along ``dim``; without ``includeSelf`` with each other."""
    mean = reduce == Reduce.MEAN
    plan = scattered(
        self, dim, index, src, out, Combine.ADD if mean else Combine[Reduce(reduce).name], with_self=includeSelf or not reduce, mean=mean
    )
    if soc.current().product is not Product.A950:
        require(self.dtype is FLOAT, f"{self.name} has dtype {self.dtype}, expected {FLOAT} on {soc.current().name}")
        require(reduce == Reduce.ADD, f"reduce is {reduce}, expected 1 (add) on {soc.current().name}")
        require(includeSelf, f"includeSelf is false, expected true on {soc.current().name}")
    ordered = reduce in (Reduce.MAXIMUM, Reduce.MINIMUM)
    require(not ordered or self.dtype.kind != "complex", f"{self.name} has dtype {self.dtype}, complex numbers have no order")
    return plan


aclnnInplaceScatterReduce = in_place(aclnnScatterReduce)


@aclnnScatterReduce.example
def examples() -> Iterator[Example]:
    """What every product has."""
    yield example(FLOAT, 1, INT64, Reduce.ADD, with_self=True)


@aclnnScatterReduce.example_on(Product.A950)
def more() -> Iterator[Example]:
    """Every mode, with and without the element that was there."""
    for dtype, dim, places, mode, with_self in (
        (FLOAT, 0, INT32, Reduce.REPLACE, True),
        (FLOAT16, 1, INT64, Reduce.ADD, False),
        (BF16, -1, INT32, Reduce.MULTIPLY, True),
        (INT64, 0, INT64, Reduce.MAXIMUM, False),
        (DOUBLE, 1, INT64, Reduce.MINIMUM, True),
        (INT32, -2, INT32, Reduce.MEAN, True),
        (FLOAT, 1, INT32, Reduce.MEAN, False),
    ):
        yield example(dtype, dim, places, mode, with_self=with_self)


def example(dtype: DType, dim: int, places: DType, mode: Reduce, *, with_self: bool) -> Example:
    """The same index more than once; each once where one value would replace another."""
    shape = (1, 4) if mode is Reduce.REPLACE else (3, 4)
    return {
        "self": numbers((3, 5), dtype, 1, 9),
        "dim": dim,
        "index": between(0, 3, shape, places, 2),
        "src": numbers((3, 6), dtype, 3, 9),
        "reduce": int(mode),
        "includeSelf": with_self,
        "out": numbers((3, 5), dtype, 4),
    }

"""The families of pads that take their border from the tensor itself, and of their gradients.

A mode says which element of a dimension an index before its start or behind its end stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import (
    BF16,
    BOOL,
    COMPLEX64,
    COMPLEX128,
    DOUBLE,
    FLOAT,
    FLOAT8_E8M0,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import (
    Array,
    Example,
    HandleKind,
    In,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    nothing,
    numbers,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from acl_emu.spec.families import calling_module, derived
from aclnnop.conversion.moves import EIGHTS, EVERY, rearranged

Indices = Callable[[Array, int], Array]
On = Mapping[Product, tuple[DType, ...]] | None

OLD = (BOOL, INT8, UINT8, INT16, FLOAT16, INT32, FLOAT, INT64, DOUBLE)
REFLECTED = (*OLD, BF16, COMPLEX64, COMPLEX128)
REPLICATED = tuple(dtype for dtype in REFLECTED if dtype is not BOOL)
NEWEST = (*REFLECTED, UINT16, UINT32, UINT64, *EIGHTS, FLOAT8_E8M0)
CIRCULAR = (FLOAT16, BF16, FLOAT, INT8, INT32)
FLOATING = (BF16, FLOAT16, FLOAT, DOUBLE, COMPLEX64, COMPLEX128)
HALVES = (FLOAT16, BF16, FLOAT)


class Mode(NamedTuple):
    """What a border is made of."""

    verb: str
    indices: Indices


def reflect(index: Array, length: int) -> Array:
    """Back from the element at either end, which is not repeated."""
    inside = np.abs(index)
    return np.where(inside >= length, 2 * (length - 1) - inside, inside)


def replicate(index: Array, length: int) -> Array:
    """The element at that end."""
    return np.clip(index, 0, length - 1)


def wrap(index: Array, length: int) -> Array:
    """On from the other end."""
    return index % length


REFLECTION = Mode("Reflect", reflect)
REPLICATION = Mode("Repeat", replicate)
CIRCLE = Mode("Go round", wrap)


def sources(shape: Sequence[int], padding: Sequence[int], mode: Mode) -> list[Array]:
    """For each of the last dimensions, the last one first, the elements that its places are taken from."""
    found = []
    for pair in range(len(padding) // 2):
        length = shape[len(shape) - 1 - pair]
        found.append(mode.indices(np.arange(-padding[2 * pair], length + padding[2 * pair + 1]), length))
    return found


class Empty(Enum):
    """Which lengths of ``self`` may be 0."""

    BATCH = "the batch"
    FIRST = "the first dimension"
    OUTER = "dimensions without a border"


def _padded_shape(self: Operand, padding: IntArray, dims: int, empty: Empty, *, wide: bool = False) -> list[int]:
    """161002 for a border that is not narrower than its dimension, unless it may be ``wide``, or that leaves nothing."""
    require(len(padding) == 2 * dims, f"padding has {len(padding)} values, expected {2 * dims}")
    shape = list(self.shape)
    filled = {Empty.BATCH: shape[-1 - dims :], Empty.FIRST: shape[1:], Empty.OUTER: shape[-dims:]}[empty]
    require(0 not in filled, f"{self.name} has shape {shape}, expected no length of 0 but that of {empty.value}")
    for pair in range(dims):
        pad, axis = padding.values[2 * pair : 2 * pair + 2], self.rank - 1 - pair
        where = f"padding is {list(pad)} for dimension {axis} of length {shape[axis]}"
        require(wide or max(pad) < shape[axis], f"{where}, expected less than that length")
        shape[axis] += sum(pad)
        require(shape[axis] > 0, f"{where}, which leaves nothing")
    return shape


def padded(
    name: str, mode: Mode, dims: int, *types: DType, on: On = None, products: frozenset[Product] = EVERY, empty: Empty = Empty.BATCH
) -> Operator:
    """``name(self, padding, out)``: a border along the last ``dims`` dimensions."""
    rank = (dims + 1, dims + 2)

    def plan(self: Operand, padding: IntArray, out: Operand) -> Plan:
        same_dtype(self, out)
        shape_is(out, _padded_shape(self, padding, dims, empty), "self and the padding")
        return rearranged(gather, (self,), out, places=sources(self.shape, padding.values, mode))

    others = dict(on or {})
    kinds = {"self": In(*types, on=others, rank=rank), "padding": HandleKind(IntArray), "out": Out(*types, on=others, rank=rank)}
    doc = f"{mode.verb} the elements of the last {dims} dimensions into a border around them."
    made = derived(name, kinds, plan, module=calling_module(), doc=doc, products=products)

    made.example(lambda: pad_examples(dims))
    return made


def padded_backward(
    name: str,
    mode: Mode,
    dims: int,
    *types: DType,
    products: frozenset[Product] = EVERY,
    wide: bool = False,
    empty: Empty = Empty.BATCH,
    most: Mapping[DType, int] | None = None,
) -> Operator:
    """``name(gradOutput, self, padding, gradInput)``: what a border gets goes to where it came from.

    ``most`` are the widths that a border of some types does not exceed.
    """
    rank = (dims + 1, dims + 2)
    limits = dict(most or {})

    def plan(gradOutput: Operand, self: Operand, padding: IntArray, gradInput: Operand) -> Plan:
        same_dtype(self, gradOutput, gradInput)
        whole = _padded_shape(self, padding, dims, empty, wide=wide)
        width = limits.get(self.dtype)
        require(width is None or max(padding.values) <= width, f"padding is {padding}, expected at most {width} for {self.dtype}")
        shape_is(gradOutput, whole, "self and the padding")
        same_shape(self, gradInput)
        if 0 in gradInput.shape:
            return nothing()
        return rearranged(scatter, (gradOutput,), gradInput, places=sources(self.shape, padding.values, mode), shape=self.shape)

    kind = In(*types, rank=rank)
    kinds = {"gradOutput": kind, "self": kind, "padding": HandleKind(IntArray), "gradInput": Out(*types, rank=rank)}
    doc = f"{mode.verb} the gradient of the border of the last {dims} dimensions back to the elements it was made of, and add it up."
    made = derived(name, kinds, plan, module=calling_module(), doc=doc, products=products)

    @made.example
    def examples() -> Iterator[Example]:
        for example in pad_examples(dims):
            yield {"gradOutput": example["out"], "self": example["self"], "padding": example["padding"], "gradInput": example["self"]}

    return made


def pad_examples(dims: int) -> Iterator[Example]:
    """Borders of different widths."""
    pad = [1, 2, 0, 1, 2, 1][: 2 * dims]
    shape = (2, *(4, 3, 4)[-dims:])
    whole = list(shape)
    for pair in range(dims):
        whole[-1 - pair] += pad[2 * pair] + pad[2 * pair + 1]
    for dtype in (FLOAT, FLOAT16):
        yield {"self": numbers(shape, dtype, 1, 9), "padding": pad, "out": numbers(tuple(whole), dtype, 2)}


def gather(x: Array, *, places: list[Array]) -> Array:
    """The elements at these places of the last dimensions."""
    for pair, index in enumerate(places):
        x = np.take(x, index, axis=x.ndim - 1 - pair)
    return x


def scatter(grad: Array, *, places: list[Array], shape: tuple[int, ...]) -> Array:
    """Sums of all that was taken from one place, in float64."""
    wide = np.complex128 if grad.dtype.kind == "c" else np.float64
    total = grad.astype(wide)
    for pair, index in enumerate(places):
        axis = total.ndim - 1 - pair
        rows = np.moveaxis(total, axis, 0)
        sums = np.zeros((shape[axis], *rows.shape[1:]), wide)
        np.add.at(sums, index, rows)
        total = np.moveaxis(sums, 0, axis)
    return dtypes.round_to(np.ascontiguousarray(total), dtypes.from_numpy(grad.dtype))

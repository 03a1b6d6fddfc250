"""Matrix products whose bits depend neither on the number of threads nor on how matrices lie in memory."""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from acl_emu.core import soc
from acl_emu.engine import Layout, apply, layout_of
from acl_emu.engine.bindings import DONE
from acl_emu.engine.casting import cast
from acl_emu.engine.functions import function
from acl_emu.engine.program import DTYPES

Array = npt.NDArray[Any]

# With fewer columns than rows, and less than these, it is the transposed product that makes use of whole vectors.
_FEW_COLUMNS = 16
FUNCTION = "acl_emu_gemm_run"


class Taken(enum.IntEnum):
    """What factors are rounded to before they are multiplied. The order is known to acl_emu/engine/c/gemm.h."""

    UNCHANGED = 0
    AS_HALF = 1
    AS_HF32 = 2


class Sum(NamedTuple):
    """What becomes of a product: ``alpha`` times it plus ``beta`` times something."""

    added: Any
    """An array, or how one lies; it broadcasts to the product."""
    alpha: float
    beta: float


def matmul(a: Array, b: Array, out: Array, *, add: bool = False, plus: Sum | None = None, taken: Taken = Taken.UNCHANGED) -> None:
    """``out = a @ b``, or what ``plus`` makes of that, accumulated in FLOAT and rounded once to the type of ``out``.

    Batches of matrices, and of what is added, broadcast to that of ``out``.
    ``add``: ``out += a @ b``, in FLOAT with contiguous rows. What is added may be ``out`` itself, else nothing shares memory with it.
    """
    run = function(FUNCTION, ctypes.c_int64)
    if run is not None:
        layout = None if plus is None else plus._replace(added=layout_of(plus.added))
        call = product(*map(layout_of, (a, b, out)), add=add, plus=layout, taken=taken)
        arrays = [array.ctypes.data for array in (a, b, out, *(() if plus is None else (plus.added,)))]
        addresses = (ctypes.c_int64 * len(arrays))(*(arrays[place] for place in call.order))
        if run((ctypes.c_int64 * len(call.numbers))(*call.numbers), addresses, ctypes.c_int64(soc.threads())) == DONE:
            return
    with np.errstate(all="ignore"):
        total = np.matmul(*(rounded(matrix.astype(np.float32, copy=False), taken) for matrix in (a, b)))
    if plus is not None:
        apply(weighted_sum, (total, plus.added), (out,), alpha=np.float32(plus.alpha), beta=np.float32(plus.beta))
    elif add:
        out += total
    else:
        cast(total, out)


class Product(NamedTuple):
    """A product or a batch of them, as ``acl_emu_gemm_run`` does it."""

    numbers: tuple[int, ...]
    order: tuple[int, ...]
    """Of the addresses of both matrices, the result and what is added."""


def product(a: Layout, b: Layout, out: Layout, *, add: bool = False, plus: Sum | None = None, taken: Taken = Taken.UNCHANGED) -> Product:
    """The product of matrices, or of batches of them, that lie like these."""
    batch = _batch(out.shape[:-2], (a, b, out, *(() if plus is None else (plus.added,))))
    a, b, out = (Layout(matrix.shape[-2:], matrix.strides[-2:], matrix.dtype) for matrix in (a, b, out))
    while batch and plus is None and (joined := _one_below_the_other(a, out, batch[-1])):
        (a, out), _ = joined, batch.pop()
    (rows, inner), columns = a.shape, b.shape[1]
    added = out if plus is None else Layout(plus.added.shape[-2:], plus.added.strides[-2:], plus.added.dtype)
    layouts = ((a, (rows, inner)), (b, (inner, columns)), (out, (rows, columns)), (added, (rows, columns)))
    matrices = [_Matrix(place, DTYPES.index(layout.dtype.name), *_strides(layout, shape)) for place, (layout, shape) in enumerate(layouts)]
    item = out.dtype.itemsize
    stands = columns > 1 and matrices[2].down == item != matrices[2].across
    if not add and (stands or columns < min(rows, _FEW_COLUMNS)):
        rows, columns = columns, rows
        matrices = [matrices[place].transposed for place in (1, 0, 2, 3)]
    if columns == 1:
        matrices[2] = matrices[2]._replace(across=item)
    lying = [number for _, *numbers in matrices for number in (0, *numbers)]
    factors = np.array((1, 0) if plus is None else plus[1:], np.float32).astype(np.float64).view(np.int64).tolist()
    axes = [number for axis in batch for number in (axis.length, *(axis.strides[matrix.place] for matrix in matrices))]
    numbers = (rows, inner, columns, *lying, *factors, int(taken), int(add), int(plus is not None), len(batch), *axes)
    return Product(numbers, tuple(matrix.place for matrix in matrices[: 3 if plus is None else 4]))


class _Axis(NamedTuple):
    length: int
    strides: tuple[int, ...]
    """Bytes between the matrices of each operand."""


def _batch(shape: Sequence[int], matrices: Sequence[Layout]) -> list[_Axis]:
    """The axes of a batch, for all that broadcast to it."""
    strides = []
    for matrix in matrices:
        own = [stride if length > 1 else 0 for length, stride in zip(matrix.shape[:-2], matrix.strides[:-2], strict=True)]
        strides.append([0] * (len(shape) - len(own)) + own)
    strides += strides[: 4 - len(strides)]  # where nothing is added, its place is not looked at
    return [_Axis(length, tuple(each)) for length, *each in zip(shape, *strides, strict=True) if length > 1]


def _one_below_the_other(a: Layout, out: Layout, axis: _Axis) -> tuple[Layout, Layout] | None:
    """The left matrices of a batch as one, and the results; None where they do not lie like that, or right matrices differ."""
    rows, (left, right, result, _) = a.shape[0], axis.strides
    if right or (rows > 1 and (left != rows * a.strides[0] or result != rows * out.strides[0])):
        return None
    downs = (a.strides[0], out.strides[0]) if rows > 1 else (left, result)
    lefts, results = (
        Layout((rows * axis.length, matrix.shape[1]), (down, matrix.strides[1]), matrix.dtype)
        for matrix, down in zip((a, out), downs, strict=True)
    )
    return lefts, results


class _Matrix(NamedTuple):
    place: int
    """Among the addresses."""
    dtype: int
    down: int
    """Bytes between rows; ``across``: between columns."""
    across: int

    @property
    def transposed(self) -> _Matrix:
        return self._replace(down=self.across, across=self.down)


def _strides(matrix: Layout, shape: Sequence[int]) -> tuple[int, int]:
    """Bytes between rows and between columns of a matrix that broadcasts to a shape."""
    missing = 2 - len(matrix.shape)
    given = zip((1,) * missing + matrix.shape, (0,) * missing + matrix.strides, shape, strict=True)
    down, across = (stride if length == wanted else 0 for length, stride, wanted in given)
    return down, across


def rounded(values: Array, taken: Taken) -> Array:
    """FLOAT factors as they are multiplied."""
    return values if taken is Taken.UNCHANGED else to_half(values) if taken is Taken.AS_HALF else to_hf32(values)


def to_half(values: Array) -> Array:
    """What FLOAT16 makes of them."""
    return values.astype(np.float16).astype(np.float32)


def to_hf32(values: Array) -> Array:
    """What HFLOAT32 makes of them: FLOAT with 11 of the 23 bits behind the point, rounded to nearest even."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    shortened = (bits + np.uint32(0x7FF) + ((bits >> 12) & np.uint32(1))) & np.uint32(0xFFFFF000)
    return np.where(np.isfinite(values), shortened.view(np.float32), values)


def weighted_sum(product: Array, added: Array, *, alpha: float, beta: float) -> Array:
    """The sum of both, each times its factor."""
    return product * alpha + added * beta

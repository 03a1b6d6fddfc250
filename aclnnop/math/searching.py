"""The family of operators that find where numbers would be inserted into sorted sequences."""

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import INT32, INT64, DType
from acl_emu.core.errors import DeviceFault
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Array, Operand, Plan, direct, nothing, require
from aclnnop.math.conversion import converted


def index_type(out: Operand, in_int32: bool) -> None:
    """The type of the result is the one that ``outInt32`` says."""
    wanted = INT32 if in_int32 else INT64
    require(out.dtype is wanted, f"out has dtype {out.dtype}, expected {wanted} where outInt32 is {in_int32}")


def searched(sequence: Operand, values: Operand | Scalar, sorter: Operand | None, out: Operand, dtype: DType, *, right: bool) -> Plan:
    """Insertion points of the values, compared in ``dtype``; ``sorter`` puts the sequence in order."""
    if 0 in out.shape:
        return nothing()
    number = None if isinstance(values, Operand) else converted(np.asarray(values.value), dtype)

    def find(ordered: Array, wanted: Array | None, order: Array | None, places: Array) -> None:
        comparable = converted(np.atleast_1d(ordered), dtype)
        if order is not None:
            ranks = np.atleast_1d(order)
            length = comparable.shape[-1]
            if ranks.size and (ranks.min() < 0 or ranks.max() >= length):
                raise DeviceFault(f"sorter holds {ranks.min() if ranks.min() < 0 else ranks.max()}, outside [0, {length - 1}]")
            comparable = np.take_along_axis(comparable, ranks, -1)
        given = number if wanted is None else converted(wanted, dtype)
        assert given is not None
        places[...] = insertion_points(comparable, given.reshape(places.shape), right=right)

    operand = values if isinstance(values, Operand) else None
    return direct(find, reads=(sequence, operand, sorter), writes=(out,), scratch={})


def insertion_points(sequence: Array, values: Array, *, right: bool) -> Array:
    """The first place whose element is not smaller, or with ``right`` larger; nothing is found for NaN.

    A bisection of all values at once; a sequence has its NaN at the end.
    """
    low = np.zeros(values.shape, np.int64)
    high = np.full(values.shape, sequence.shape[-1], np.int64)
    wide = sequence.astype(dtypes.from_numpy(sequence.dtype).compute, copy=False)
    numbers = values.astype(wide.dtype, copy=False)
    for _ in range(int(sequence.shape[-1]).bit_length()):
        middle = (low + high) // 2
        inside = np.minimum(middle, max(sequence.shape[-1] - 1, 0))
        element = wide[inside] if sequence.ndim == 1 else np.take_along_axis(wide, inside, -1)
        reached = (element > numbers if right else element >= numbers) | ((element != element) & (numbers == numbers)) | (low >= high)
        low, high = np.where(reached, low, middle + 1), np.where(reached, np.minimum(middle, high), high)
    return low

"""aclnnExpandIntoJaggedPermute: the order of tables as the order of their rows."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import INT32
from acl_emu.core.errors import DeviceFault
from acl_emu.core.soc import Product
from acl_emu.spec import Array, Example, In, Int, Operand, Out, Plan, direct, nothing, operator, rank_in, shape_is
from acl_emu.spec.tiling import in_tiling
from aclnnop.index.places import within

IndexIn = Annotated[Operand, In(INT32)]


@operator(products=frozenset({Product.A3, Product.A2}))
def aclnnExpandIntoJaggedPermute(
    permute: IndexIn,
    inputOffset: IndexIn,
    outputOffset: IndexIn,
    outputSize: Int,
    outputPermuteOut: Annotated[Operand, Out(INT32, const=True)],
) -> Plan:
    """Write for each table, in the order of ``permute``, the numbers of its rows, from its ``inputOffset`` on."""
    with in_tiling():
        rank_in(permute, 1)
        for offsets in (inputOffset, outputOffset):
            shape_is(offsets, (permute.size + 1,), "one more than permute")
        shape_is(outputPermuteOut, (outputSize,), "outputSize")
    if 0 in outputPermuteOut.shape:
        return nothing()
    return direct(expanded, reads=(permute, inputOffset, outputOffset), writes=(outputPermuteOut,), scratch={})


@aclnnExpandIntoJaggedPermute.example
def examples() -> Iterator[Example]:
    """Tables of several lengths."""
    for order, begin, end in (([1, 0, 2], [0, 3, 5, 8], [0, 2, 4, 6]), ([2, 0, 1], [0, 2, 5, 9], [0, 4, 6, 9])):
        arrays = (np.array(values, np.int32) for values in (order, begin, end))
        names = ("permute", "inputOffset", "outputOffset")
        yield {**dict(zip(names, arrays, strict=True)), "outputSize": end[-1], "outputPermuteOut": np.zeros(end[-1], np.int32)}


def expanded(permute: Array, begin: Array, end: Array, out: Array) -> None:
    """Rows that the offsets leave out are not written."""
    tables = within(permute, permute.size, "permute")
    first = end[:-1].astype(np.int64)
    lengths: Array = end[1:].astype(np.int64) - first
    if (lengths < 0).any() or first[0] < 0 or end[-1] > out.size:
        raise DeviceFault(f"outputOffset is {end.tolist()[:8]}, expected values that grow from 0 to outputSize: {out.size}")
    within_table = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    out[np.repeat(first, lengths) + within_table] = np.repeat(begin[tables], lengths) + within_table

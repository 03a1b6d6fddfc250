"""aclnnClippedSwigluGrad: the gradient of aclnnClippedSwiglu."""

from collections.abc import Iterator

import numpy as np

from acl_emu.spec import Array, Bool, Double, Example, Int, Plan, direct, nothing, numbers, operator, require, same_dtype, same_shape
from acl_emu.spec.tiling import in_tiling
from aclnnop.activation.clipped_swiglu import Groups, Values, ValuesOut
from aclnnop.activation.clipped_swiglu import examples as plain_examples
from aclnnop.activation.gated import result_fits, split_axis
from aclnnop.activation.pointwise import NEWER
from aclnnop.activation.swiglu_rows import RANKS_IN_TILING, as_rows, clipped_gradients, joined, put, row_count, rows_taken, split


@operator(products=NEWER, checks=RANKS_IN_TILING)
def aclnnClippedSwigluGrad(
    gradY: Values,
    x: Values,
    groupIndexOptional: Groups,
    dim: Int,
    alpha: Double,
    limit: Double,
    bias: Double,
    interleaved: Bool,
    gradXOut: ValuesOut,
) -> Plan:
    """Give both parts of ``x`` their gradients; rows behind those of the groups get zero."""
    same_dtype(x, gradY, gradXOut)
    with in_tiling():
        axis = split_axis(x, dim)
        require(limit > 0, f"limit is {limit}, expected a value above 0")
        result_fits(x, axis, gradY)
        same_shape(x, gradXOut)
    if not gradXOut.size:
        return nothing()
    rows = row_count(x, axis)

    def kernel(grad: Array, x: Array, counts: Array | None, out: Array) -> None:
        gate, linear = split(as_rows(x, rows), interleaved=interleaved)
        pair = clipped_gradients(as_rows(grad, rows), gate, linear, alpha=alpha, limit=limit, bias=bias, at_limit=True)
        given = (np.arange(rows) < rows_taken(counts, rows)).reshape(-1, 1)
        put(out, np.where(given, joined(*pair, interleaved=interleaved), 0))

    return direct(kernel, reads=(gradY, x, groupIndexOptional), writes=(gradXOut,), scratch={})


@aclnnClippedSwigluGrad.example
def examples() -> Iterator[Example]:
    """Those of the forward operator."""
    for example in plain_examples():
        out = example.pop("out")
        yield {**example, "gradY": numbers(out.shape, out.dtype, 4), "gradXOut": numbers(example["x"].shape, out.dtype, 5)}

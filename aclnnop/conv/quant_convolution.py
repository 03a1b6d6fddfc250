"""aclnnQuantConvolution: a convolution of numbers of eight bits, with a scale for each channel of the result."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core import soc
from acl_emu.core.constants import ACL_FORMAT_NCDHW, ACL_FORMAT_NCHW
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT16, HIFLOAT8, INT8, INT32, INT64, UINT64, DType
from acl_emu.core.errors import AclnnInvalid
from acl_emu.engine.matmul import matmul
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    HandleKind,
    In,
    Int,
    IntArrayIn,
    IntKind,
    Operand,
    Out,
    Plan,
    Product,
    StringKind,
    between,
    direct,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.conv.geometry import Limits, Settings, result_shape, window_of, within_limits
from aclnnop.conv.windows import (
    Sheets,
    Window,
    blocks,
    fill,
    lifted,
    place_by_place,
    reach,
    results_in,
    scratch_of,
    sheets_of,
    store,
)
from aclnnop.conv.windows import numbers as as_numbers
from aclnnop.matmul.quant_product import EXACT
from aclnnop.quant.parameters import unpacked

EIGHTS = (INT8, FLOAT8_E4M3FN, HIFLOAT8)
NAMED = frozenset({ACL_FORMAT_NCHW, ACL_FORMAT_NCDHW})
NEWEST = {Product.A950: EIGHTS}
_LIMITS = {"stride": 63, "padding": 255, "dilation": 255}
LIMITS: Limits = {(False, 2): _LIMITS, (False, 3): _LIMITS}
ROUNDINGS = ("rint", "round")

Images = Annotated[Operand, In(INT8, rank=(4, 5), formats=NAMED, on=NEWEST)]


@operator(products=frozenset({Product.A950, Product.A3, Product.A2}), elsewhere=AclnnInvalid)
def aclnnQuantConvolution(
    input: Images,
    weight: Images,
    bias: Annotated[Operand | None, In(BF16, FLOAT16, FLOAT, rank=1, optional=True, on={Product.A950: (BF16, FLOAT16, FLOAT, INT32)})],
    scale: Annotated[Operand, In(FLOAT, rank=1, on={Product.A950: (FLOAT, INT64, UINT64)})],
    offset: Annotated[Operand | None, In(optional=True)],
    stride: IntArrayIn,
    padding: IntArrayIn,
    dilation: IntArrayIn,
    transposed: Bool,
    outputPadding: Annotated[IntArray | None, HandleKind(IntArray, optional=True)],
    groups: Int,
    offsetx: Annotated[int, IntKind("int32_t")],
    roundMode: Annotated[str | None, StringKind(optional=True)],
    output: Annotated[
        Operand, Out(BF16, FLOAT16, rank=(4, 5), formats=NAMED, on={Product.A950: (BF16, FLOAT16, FLOAT, FLOAT8_E4M3FN, HIFLOAT8)})
    ],
) -> Plan:
    """Convolve numbers of eight bits; sums are scaled by channel, and a number is added to each."""
    same_dtype(input, weight)
    require(offset is None, "offset has a value, expected a null pointer")
    require(not transposed, "transposed is True, expected False")
    require(offsetx == 0, f"offsetx is {offsetx}, expected 0")
    require(roundMode is None or roundMode in ROUNDINGS, f"roundMode is {roundMode!r}, expected one of {', '.join(ROUNDINGS)}, or null")
    if soc.current().product is not Product.A950:
        require(input.rank == 5, f"input has {input.rank} dimensions, expected 5 on {soc.current().name}")
        require(groups == 1, f"groups is {groups}, expected 1 on {soc.current().name}")
    for tensor in (input, weight):
        require(0 not in tensor.shape, f"{tensor.name} has shape {list(tensor.shape)}, expected no empty dimension")
    settings = Settings(stride, padding, dilation, False, stride, groups)
    window = window_of(input, weight, settings)
    shape = result_shape(input, weight, window, settings)
    for per_channel in (scale, bias):
        if per_channel is not None:
            shape_is(per_channel, (weight.shape[0],), "the first length of weight")
    shape_is(output, shape, "that of the convolution")
    within_limits(window, input.rank - 2, False, LIMITS)
    sheets = sheets_of(window, input, output, together=False)
    exact = input.dtype is INT8
    scratch: dict[str, tuple[tuple[int, ...], Any]] = scratch_of(window, sheets)
    if exact:
        scratch["whole"] = (scratch["rows"][0], np.int32)
    return direct(
        correlate,
        reads=(input, weight, bias, scale),
        writes=(output,),
        scratch=scratch,
        window=window,
        sheets=sheets,
        types=(input.dtype, output.dtype),
    )


def correlate(
    x: Array,
    weight: Array,
    bias: Array | None,
    scale: Array,
    out: Array,
    *,
    window: Window,
    sheets: Sheets,
    types: tuple[DType, DType],
    sheet: Array,
    rows: Array,
    taps: Array,
    whole: Array | None = None,
) -> None:
    """Block by block, as other convolutions; sums of integers are exact: each of them is one that FLOAT holds."""
    images, results = lifted(as_numbers(x, types[0])), lifted(out)
    place_by_place(as_numbers(weight, types[0]), taps)
    scales = unpacked(scale)[0] if scale.dtype.kind in "iu" else scale
    places = results.shape[2:]
    sheet[...] = 0
    for block in blocks(len(images), sheets.images):
        count = block.stop - block.start
        fill(sheet, images[block], window, sheets)
        length = reach(count, places, sheets)
        if whole is not None:
            whole[..., :length] = 0
        for number, (place, shift) in enumerate(window.each_tap(sheets.grid)):
            for first in range(0, sheets.small, EXACT) if whole is not None else (0,):
                some = slice(first, first + EXACT if whole is not None else None)
                meets = sheet[place][:, some, shift : shift + length]
                matmul(taps[number][..., some], meets, rows[..., :length], add=number > 0 and whole is None)
                if whole is not None:
                    whole[..., :length] += rows[..., :length].astype(np.int32)
        sums: Any = rows if whole is None else whole
        found = results_in(sums, results.shape[1], count, places, sheets).swapaxes(0, 1)
        finish(found, bias, scales, results[block], types[1])


def finish(sums: Array, bias: Array | None, scales: Array, out: Array, dtype: DType) -> None:
    """Whole biases are added before sums are scaled, others behind."""
    per_channel = (-1, 1, 1, 1)
    if bias is not None and bias.dtype == np.int32:
        sums = sums + bias.reshape(per_channel)
        bias = None
    store(sums.astype(np.float32) * scales.reshape(per_channel), bias, out, dtype)


@aclnnQuantConvolution.example
def examples() -> Iterator[Example]:
    """Three dimensions, which all chips take."""
    for dtype in (FLOAT16, BF16):
        yield {
            "input": numbers((2, 3, 4, 5, 6), INT8, 1, 40),
            "weight": numbers((4, 3, 2, 3, 2), INT8, 2, 40),
            "bias": numbers((4,), dtype, 3),
            "scale": between(0.001, 0.01, (4,), FLOAT, 4),
            "offset": None,
            "stride": [1, 2, 1],
            "padding": [0, 1, 0],
            "dilation": [1, 1, 1],
            "transposed": False,
            "outputPadding": None,
            "groups": 1,
            "offsetx": 0,
            "roundMode": None,
            "output": numbers((2, 4, 3, 3, 5), dtype, 5),
        }

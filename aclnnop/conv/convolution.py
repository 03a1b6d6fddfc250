"""aclnnConvolution, aclnnConvDepthwise2d and aclnnConvTbc."""

from collections.abc import Iterator
from typing import Annotated, Any

from acl_emu.core import soc
from acl_emu.core.constants import ACL_FORMAT_FRACTAL_Z, ACL_FORMAT_NCHW
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT16, HIFLOAT8, DType
from acl_emu.core.errors import AclnnInnerNullptr, AclnnInvalid, AclnnRuntime
from acl_emu.core.formats import format_name
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import (
    ALL,
    Bool,
    ConstInt,
    Example,
    In,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    Product,
    nothing,
    numbers,
    operator,
    promote,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.conv.geometry import FLOATS, IMAGES, ConvMath, Limits, Settings, conv_rounding, result_shape, window_of, within_limits
from aclnnop.conv.windows import correlation, correlation_in_blocks, spreading

EIGHTS = (HIFLOAT8, FLOAT8_E4M3FN)
NEWEST = {Product.A950: (*FLOATS, *EIGHTS)}
Images = Annotated[Operand, In(*FLOATS, rank=(3, 5), formats=IMAGES, on=NEWEST)]
Kernel = Annotated[Operand, In(*FLOATS, rank=(3, 5), formats=IMAGES | {ACL_FORMAT_FRACTAL_Z}, on=NEWEST)]
ImagesOut = Annotated[Operand, Out(*FLOATS, rank=(3, 5), formats=IMAGES, on=NEWEST)]
Bias = Annotated[Operand | None, In(*FLOATS, rank=(1, 5), optional=True)]
_CUBE = {"stride": 63, "padding": 255, "dilation": 255}
_WITHOUT_KERNEL: Limits = {
    (False, 1): {"padding": 255},
    (False, 2): {"padding": 255},
    (False, 3): _CUBE,
    (True, 1): {"dilation": 255},
    (True, 2): {"dilation": 255},
    (True, 3): _CUBE,
}
_WITH_KERNEL: Limits = {
    **_WITHOUT_KERNEL,
    (False, 3): {**_CUBE, "kernel": 511},
    (True, 1): {"dilation": 255, "kernel": 255},
    (True, 2): {"dilation": 255, "kernel": 255},
    (True, 3): {**_CUBE, "kernel": 255},
}
LIMITS: dict[Product, Limits] = {
    Product.A2: _WITH_KERNEL,
    Product.A3: _WITH_KERNEL,
    Product.A310B: _WITHOUT_KERNEL,
    Product.A310P: _WITHOUT_KERNEL,
    Product.A950: {(False, 1): {"kernel": 511}, (False, 2): {"kernel": 511}, (False, 3): {**_CUBE, "kernel": 511}},
}


@operator(products=ALL - {Product.A910}, elsewhere=AclnnInvalid)
def aclnnConvolution(
    input: Images,
    weight: Kernel,
    bias: Bias,
    stride: IntArrayIn,
    padding: IntArrayIn,
    dilation: IntArrayIn,
    transposed: Bool,
    outputPadding: IntArrayIn,
    groups: ConstInt,
    output: ImagesOut,
    cubeMathType: ConvMath,
) -> Plan:
    """Multiply the windows of images by a kernel, or spread images by one, and add a number to each channel."""
    require(
        weight.view.format in IMAGES or (soc.current().product is Product.A310P and weight.rank == 4 and not transposed),
        f"weight has format {format_name(weight.view.format)}, expected one that names axes on {soc.current().name}",
    )
    if transposed:
        same_dtype(input, output)
    settings = Settings(stride, padding, dilation, transposed, outputPadding, groups)
    plan = convolution(input, weight, bias, output, settings, cubeMathType)
    check_chip(input, transposed)
    return plan


def convolution(x: Operand, weight: Operand, bias: Operand | None, out: Operand, settings: Settings, mode: int) -> Plan:
    """The plan of all convolutions."""
    taken = conv_rounding(mode, eighths_alike(x, weight, bias, out, settings.transposed))
    window = window_of(x, weight, settings)
    shape = result_shape(x, weight, window, settings)
    shape_is(out, shape, "that of the convolution")
    check_bias(bias, shape[1], settings.transposed)
    require(0 not in x.shape[1:] or 0 in shape, f"{x.name} has shape {list(x.shape)}, expected no empty dimension but the first")
    within_limits(window, x.rank - 2, settings.transposed, LIMITS.get(soc.current().product, {}))
    if 0 in shape:
        return nothing()
    in_blocks = weight.view.format == ACL_FORMAT_FRACTAL_Z
    plan = spreading if settings.transposed else correlation_in_blocks if in_blocks else correlation
    return plan(x, weight, bias, out, window, taken)


def eighths_alike(x: Operand, weight: Operand, bias: Operand | None, out: Operand, transposed: bool) -> DType:
    """The type that a convolution is computed in; types of 8 bits go with themselves only."""
    dtypes = {x.dtype, weight.dtype, *({out.dtype} if transposed else ())}
    if dtypes.isdisjoint(EIGHTS):
        return promote(x, weight)
    require(
        len(dtypes) == 1 and (transposed or x.dtype is HIFLOAT8),
        f"{weight.name} has dtype {weight.dtype}, which cannot be combined with {x.dtype} in this convolution",
    )
    require(bias is None or not transposed, f"bias has a value, expected a null pointer with {x.dtype}")
    return x.dtype


def check_bias(bias: Operand | None, channels: int, transposed: bool) -> None:
    """A number for each channel."""
    if bias is not None:
        single = sum(length != 1 for length in bias.shape) <= 1
        require(
            bias.size == channels and (bias.rank == 1 if transposed else single),
            f"bias has shape {list(bias.shape)}, expected one dimension of {channels} elements",
        )


def check_chip(x: Operand, transposed: bool) -> None:
    """What the matrix units of some chips lack."""
    chip = soc.current()
    axes = x.rank - 2
    if chip.product is Product.A310B and (axes != 2 or transposed):
        raise AclnnInnerNullptr(f"{x.name} has {x.rank} dimensions and transposed is {transposed}, expected 4 and False on {chip.name}")
    if chip.product is Product.A310P and axes == 3 and not transposed and x.dtype is not FLOAT16:
        raise AclnnInnerNullptr(f"{x.name} has dtype {x.dtype}, expected {FLOAT16} for images of three dimensions on {chip.name}")


NEWER = frozenset({Product.A950, Product.A3, Product.A2})
WITH_HIFLOAT8 = {Product.A950: (*FLOATS, HIFLOAT8)}
Planes = Annotated[Operand, In(*FLOATS, rank=4, formats=frozenset({ACL_FORMAT_NCHW}), on=WITH_HIFLOAT8)]
Steps = Annotated[Operand, In(*FLOATS, rank=3, on=WITH_HIFLOAT8)]


@operator(products=NEWER, elsewhere=AclnnRuntime)
def aclnnConvDepthwise2d(
    self: Planes,
    weight: Planes,
    kernelSize: IntArrayIn,
    bias: Annotated[Operand | None, In(*FLOATS, rank=1, optional=True)],
    stride: IntArrayIn,
    padding: IntArrayIn,
    dilation: IntArrayIn,
    out: Annotated[Operand, Out(*FLOATS, rank=4, formats=frozenset({ACL_FORMAT_NCHW}), on=WITH_HIFLOAT8)],
    cubeMathType: ConvMath,
) -> Plan:
    """Multiply the windows of each channel by kernels of its own, and add a number to each result."""
    same_dtype(self, weight, out)
    require(len(padding) == 2, f"padding has {len(padding)} values, expected 2")
    require(weight.shape[1] == 1, f"weight has shape {list(weight.shape)}, expected a second length of 1")
    require(kernelSize.values == weight.shape[2:], f"kernelSize is {kernelSize}, expected that of weight: {list(weight.shape[2:])}")
    settings = Settings(stride, padding, dilation, False, stride, self.shape[1])
    return convolution(self, weight, bias, out, settings, cubeMathType)


@operator(products=NEWER, elsewhere=AclnnRuntime)
def aclnnConvTbc(
    self: Steps,
    weight: Steps,
    bias: Annotated[Operand, In(*FLOATS, rank=1)],
    pad: ConstInt,
    out: Annotated[Operand, Out(*FLOATS, rank=3, on=WITH_HIFLOAT8)],
    cubeMathType: ConvMath,
) -> Plan:
    """Multiply the windows of sequences by a kernel, where time comes first and channels come last."""
    same_dtype(self, weight, out)
    images, kernel, settings = sequences(self, weight, pad)
    count, channels, length = result_shape(images, kernel, window_of(images, kernel, settings), settings)
    shape_is(out, (length, count, channels), "that of the convolution")
    return convolution(images, kernel, bias, permuted(out, 1, 2, 0), settings, cubeMathType)


def sequences(x: Operand, weight: Operand, pad: int) -> tuple[Operand, Operand, Settings]:
    """Sequences and their kernel as an ordinary convolution has them."""
    require(x.shape[2] == weight.shape[1], f"weight has shape {list(weight.shape)}, expected {x.shape[2]} input channels as {x.name} has")
    one, zero = IntArray((1,)), IntArray((0,))
    return permuted(x, 1, 2, 0), permuted(weight, 2, 1, 0), Settings(one, IntArray((pad,)), one, False, zero, 1)


def permuted(operand: Operand, *axes: int) -> Operand:
    """The same tensor with its axes in another order."""
    return operand.in_view([operand.shape[axis] for axis in axes], [operand.view.strides[axis] for axis in axes])


@aclnnConvolution.example
def examples() -> Iterator[Example]:
    """Plain, with groups, gaps and borders; two sides; few channels and many; each channel on its own."""
    yield example((2, 3, 6, 7), (4, 3, 3, 2), FLOAT16, (2, 4, 4, 6), bias=True)
    yield example((2, 20, 7, 5), (6, 20, 3, 3), FLOAT, (2, 6, 4, 5), stride=[2, 1], padding=[1, 1])
    yield example((1, 4, 9, 9), (8, 2, 3, 2), BF16, (1, 8, 6, 9), groups=2, dilation=[2, 1], padding=[0, 1, 1, 0])
    yield example((2, 3, 6, 7), (3, 1, 3, 3), FLOAT, (2, 3, 6, 7), groups=3, padding=[1, 1], bias=True)


@aclnnConvolution.example_on(Product.A950, Product.A3, Product.A2)
def more_examples() -> Iterator[Example]:
    """One and three dimensions, and the way back."""
    yield example((2, 3, 9), (4, 3, 3), FLOAT, (2, 4, 5), stride=[2], padding=[1], bias=True)
    yield example((1, 2, 4, 5, 6), (3, 2, 2, 3, 2), BF16, (1, 3, 3, 3, 5), bias=True)
    yield example((2, 4, 3, 4), (4, 3, 3, 2), FLOAT16, (2, 6, 8, 8), stride=[3, 2], padding=[1, 0], groups=2, transposed=[1, 0], bias=True)
    yield example((1, 2, 5), (2, 3, 3), FLOAT, (1, 3, 9), stride=[2], padding=[1], transposed=[0])


def example(
    x: tuple[int, ...],
    weight: tuple[int, ...],
    dtype: DType,
    out: tuple[int, ...],
    *,
    groups: int = 1,
    transposed: list[int] | None = None,
    bias: bool = False,
    **arrays: Any,
) -> Example:
    """A call; what is not given is as simple as possible. ``transposed`` is the output padding."""
    axes = len(x) - 2
    return {
        "input": numbers(x, dtype, 1),
        "weight": numbers(weight, dtype, 2),
        "bias": numbers((out[1],), dtype, 3) if bias else None,
        "stride": arrays.get("stride", [1] * axes),
        "padding": arrays.get("padding", [0] * axes),
        "dilation": arrays.get("dilation", [1] * axes),
        "transposed": transposed is not None,
        "outputPadding": transposed or [0] * axes,
        "groups": groups,
        "output": numbers(out, dtype, 4),
        "cubeMathType": 1,
    }


@aclnnConvDepthwise2d.example
def depthwise_examples() -> Iterator[Example]:
    """One result for each channel, and two."""
    for dtype, results in ((FLOAT, 3), (FLOAT16, 6)):
        yield {
            "self": numbers((2, 3, 6, 7), dtype, 1),
            "weight": numbers((results, 1, 3, 2), dtype, 2),
            "kernelSize": [3, 2],
            "bias": numbers((results,), dtype, 3),
            "stride": [1, 2],
            "padding": [1, 0],
            "dilation": [1, 1],
            "out": numbers((2, results, 6, 3), dtype, 4),
            "cubeMathType": 1,
        }


@aclnnConvTbc.example
def sequence_examples() -> Iterator[Example]:
    """Two types."""
    for dtype in (FLOAT, BF16):
        yield {
            "self": numbers((5, 2, 3), dtype, 1),
            "weight": numbers((3, 3, 4), dtype, 2),
            "bias": numbers((4,), dtype, 3),
            "pad": 1,
            "out": numbers((5, 2, 4), dtype, 4),
            "cubeMathType": 1,
        }

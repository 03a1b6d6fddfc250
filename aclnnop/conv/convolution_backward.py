"""aclnnConvolutionBackward and aclnnConvTbcBackward: the gradients of convolutions."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.core.errors import AclnnInnerNullptr, AclnnInvalid, AclnnNullptr
from acl_emu.engine.matmul import Taken
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import (
    ALL,
    Array,
    Bool,
    BoolArrayIn,
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
    direct,
    nothing,
    numbers,
    operator,
    promote,
    require,
    same_dtype,
    same_shape,
    shape_is,
    together,
)
from aclnnop.conv.convolution import EIGHTS, NEWEST, Images, permuted, sequences
from aclnnop.conv.geometry import FLOATS, IMAGES, ConvMath, Limits, Settings, conv_rounding, result_shape, window_of, within_limits
from aclnnop.conv.windows import Window, bias_gradient, correlation, spreading, weight_gradient
from aclnnop.matmul.cube import OLDER

Gradient = Annotated[Operand | None, Out(*FLOATS, rank=(3, 5), formats=IMAGES, on=NEWEST, optional=True)]
BiasGradient = Annotated[Operand | None, Out(*FLOATS, rank=1, optional=True)]
_FLAT = {"kernel": 255, "padding": 255, "dilation": 255}
_TRAINING: Limits = {(False, 1): _FLAT, (False, 2): _FLAT, (False, 3): {**_FLAT, "stride": 63}}
LIMITS: dict[Product, Limits] = {
    Product.A2: _TRAINING,
    Product.A3: _TRAINING,
    Product.A950: {(True, axes): {"kernel": 255} for axes in (1, 2, 3)},
}


@operator(products=ALL - {Product.A310B}, elsewhere=AclnnInvalid)
def aclnnConvolutionBackward(
    gradOutput: Images,
    input: Images,
    weight: Images,
    biasSizes: Annotated[IntArray | None, HandleKind(IntArray, optional=True)],
    stride: IntArrayIn,
    padding: IntArrayIn,
    dilation: IntArrayIn,
    transposed: Bool,
    outputPadding: IntArrayIn,
    groups: Annotated[int, IntKind("int")],
    outputMask: BoolArrayIn,
    cubeMathType: ConvMath,
    gradInput: Gradient,
    gradWeight: Gradient,
    gradBias: BiasGradient,
) -> Plan:
    """The gradients of a convolution with respect to its input, its kernel and its bias, those that ``outputMask`` names."""
    wanted = outputMask.values
    require(len(wanted) == 3, f"outputMask has {len(wanted)} values, expected 3")
    given: dict[str, Any] = {"gradInput": gradInput, "gradWeight": gradWeight, "gradBias": gradBias}
    for (name, tensor), flag in zip(given.items(), wanted, strict=True):
        if flag and tensor is None:
            raise AclnnNullptr(f"{name} must not be a null pointer where outputMask names it")
    if wanted[2] and biasSizes is None:
        raise AclnnNullptr("biasSizes must not be a null pointer where outputMask names gradBias")
    settings = Settings(stride, padding, dilation, transposed, outputPadding, groups)
    taken = conv_rounding(cubeMathType, gradient_dtype(gradOutput, input, weight, settings, wanted))
    window = window_of(input, weight, settings)
    shape = result_shape(input, weight, window, settings)
    shape_is(gradOutput, shape, "that of the convolution")
    if wanted[2]:
        assert biasSizes is not None
        require(biasSizes.values == (shape[1],), f"biasSizes is {biasSizes}, expected [{shape[1]}]: the channels of gradOutput")
    check_chip(input, window, settings)
    outputs = [tensor if flag else None for tensor, flag in zip(given.values(), wanted, strict=True)]
    for output, expected in zip(outputs, (input.shape, weight.shape, (shape[1],)), strict=True):
        if output is not None:
            shape_is(output, expected)
    return gradients(gradOutput, input, weight, outputs, window, settings.transposed, taken)


Steps = Annotated[Operand, In(*FLOATS, rank=3)]
StepsOut = Annotated[Operand, Out(*FLOATS, rank=3)]


@operator(products=frozenset({Product.A950, Product.A3, Product.A2, Product.A910}))
def aclnnConvTbcBackward(
    self: Steps,
    input: Steps,
    weight: Steps,
    bias: Annotated[Operand, In(*FLOATS, rank=1)],
    pad: Int,
    cubeMathType: ConvMath,
    gradInput: StepsOut,
    gradWeight: StepsOut,
    gradBias: Annotated[Operand, Out(*FLOATS, rank=1)],
) -> Plan:
    """The gradients of aclnnConvTbc with respect to its input, its kernel and its bias."""
    same_dtype(self, input, weight, bias)
    taken = conv_rounding(cubeMathType, self.dtype)
    images, kernel, settings = sequences(input, weight, pad)
    window = window_of(images, kernel, settings)
    count, channels, length = result_shape(images, kernel, window, settings)
    shape_is(self, (length, count, channels), "that of the convolution")
    shape_is(bias, (channels,), "the output channels of weight")
    same_shape(input, gradInput)
    same_shape(weight, gradWeight)
    same_shape(bias, gradBias)
    within_limits(window, 1, False, LIMITS.get(soc.current().product, {}))
    outputs = (permuted(gradInput, 1, 2, 0), permuted(gradWeight, 2, 1, 0), gradBias)
    return gradients(permuted(self, 1, 2, 0), images, kernel, outputs, window, False, taken)


@aclnnConvTbcBackward.example
def sequence_examples() -> Iterator[Example]:
    """Two types."""
    for dtype in (FLOAT, FLOAT16):
        yield {
            "self": numbers((5, 2, 4), dtype, 1),
            "input": numbers((5, 2, 3), dtype, 2),
            "weight": numbers((3, 3, 4), dtype, 3),
            "bias": numbers((4,), dtype, 4),
            "pad": 1,
            "cubeMathType": 1,
            "gradInput": numbers((5, 2, 3), dtype, 5),
            "gradWeight": numbers((3, 3, 4), dtype, 6),
            "gradBias": numbers((4,), dtype, 7),
        }


def gradients(
    gradient: Operand, x: Operand, weight: Operand, outputs: Sequence[Operand | None], window: Window, transposed: bool, taken: Taken
) -> Plan:
    """One launch for all that are wanted: of the input, of the kernel, of the bias."""
    of_input, of_weight, of_bias = outputs
    empty = 0 in gradient.shape or 0 in x.shape
    plans = []
    if of_input is not None:
        back = correlation if transposed else spreading
        plans.append(zeros(of_input) if empty else back(gradient, weight, None, of_input, window, taken))
    if of_weight is not None:
        images, results = (gradient, x) if transposed else (x, gradient)
        plans.append(zeros(of_weight) if empty else weight_gradient(images, results, of_weight, window, taken))
    if of_bias is not None:
        plans.append(zeros(of_bias) if empty else bias_gradient(gradient, of_bias))
    return together(plans)


def zeros(out: Operand) -> Plan:
    """The gradient where there is nothing to sum."""
    return nothing() if 0 in out.shape else direct(clear, reads=(), writes=(out,), scratch={})


def clear(out: Array) -> None:
    """All bits of a floating-point zero are zero."""
    out[...] = 0


def gradient_dtype(gradient: Operand, x: Operand, weight: Operand, settings: Settings, wanted: Sequence[bool]) -> DType:
    """The type that gradients are computed in; those of 8 bits are for the input of a transposed convolution only."""
    dtypes = {gradient.dtype, x.dtype, weight.dtype}
    if dtypes.isdisjoint(EIGHTS):
        return promote(gradient, x, weight)
    require(
        len(dtypes) == 1 and settings.transposed and tuple(wanted) == (True, False, False),
        f"gradOutput has dtype {gradient.dtype}, expected that of all tensors, and only gradInput of a transposed convolution",
    )
    return x.dtype


def check_chip(x: Operand, window: Window, settings: Settings) -> None:
    """What the matrix units of some chips lack."""
    chip = soc.current()
    axes = x.rank - 2
    if chip.product in OLDER and axes == 3:
        raise AclnnInnerNullptr(f"{x.name} has {x.rank} dimensions, expected 3 or 4 on {chip.name}")
    within_limits(window, axes, settings.transposed, LIMITS.get(chip.product, {}))


def example(
    x: tuple[int, ...],
    weight: tuple[int, ...],
    gradient: tuple[int, ...],
    dtype: DType,
    *,
    groups: int = 1,
    transposed: list[int] | None = None,
    mask: Sequence[bool] = (True, True, True),
    **arrays: Any,
) -> Example:
    """A call; what is not given is as simple as possible. ``transposed`` is the output padding."""
    axes = len(x) - 2
    shapes = {"gradInput": x, "gradWeight": weight, "gradBias": (gradient[1],)}
    return {
        "gradOutput": numbers(gradient, dtype, 1),
        "input": numbers(x, dtype, 2),
        "weight": numbers(weight, dtype, 3),
        "biasSizes": [gradient[1]] if mask[2] else None,
        "stride": arrays.get("stride", [1] * axes),
        "padding": arrays.get("padding", [0] * axes),
        "dilation": arrays.get("dilation", [1] * axes),
        "transposed": transposed is not None,
        "outputPadding": transposed or [0] * axes,
        "groups": groups,
        "outputMask": list(mask),
        "cubeMathType": 1,
        **{name: numbers(shape, dtype, 4) if flag else None for (name, shape), flag in zip(shapes.items(), mask, strict=True)},
    }


@aclnnConvolutionBackward.example
def examples() -> Iterator[Example]:
    """All gradients, and some; few channels and many; the way back."""
    yield example((2, 3, 6, 7), (4, 3, 3, 2), (2, 4, 4, 6), FLOAT16)
    yield example((2, 20, 7, 5), (6, 20, 3, 3), (2, 6, 4, 5), FLOAT, stride=[2, 1], padding=[1, 1], mask=(True, True, False))
    yield example((1, 4, 9, 9), (8, 2, 3, 2), (1, 8, 6, 9), BF16, groups=2, dilation=[2, 1], padding=[0, 1, 1, 0], mask=(False, True, True))
    yield example((2, 4, 3, 4), (4, 3, 3, 2), (2, 6, 8, 8), FLOAT16, stride=[3, 2], padding=[1, 0], groups=2, transposed=[1, 0])
    yield example((2, 3, 9), (4, 3, 3), (2, 4, 5), FLOAT, stride=[2], padding=[1], mask=(True, False, False))


@aclnnConvolutionBackward.example_on(Product.A950, Product.A3, Product.A2)
def examples_of_volumes() -> Iterator[Example]:
    """Three dimensions."""
    yield example((1, 2, 4, 5, 6), (3, 2, 2, 3, 2), (1, 3, 3, 3, 5), BF16)

"""aclnnAdaLayerNormQuant: layer normalisation, scaled and shifted differently for each sample, quantised with scales of each row."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT8_E4M3FN, INT8, DType
from acl_emu.spec import (
    Array,
    Double,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    StringKind,
    direct,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.math.unary import NEWER
from aclnnop.norm.adaptive import adaptive_shape, factors_fit, not_empty
from aclnnop.norm.quantising import EIGHT_BITS, HALVES, INTEGERS_ONLY, layer_rows, store, wide, with_row_scales

Adaptive = Annotated[Operand, In(*HALVES, rank=(1, 8))]
Factor = Annotated[Operand | None, In(*HALVES, rank=1, optional=True)]


@operator(products=NEWER)
def aclnnAdaLayerNormQuant(
    x: Annotated[Operand, In(*HALVES, rank=(2, 8))],
    scale: Adaptive,
    shift: Adaptive,
    weightOptional: Factor,
    biasOptional: Factor,
    smoothScalesOptional: Factor,
    epsilon: Double,
    quantMode: Annotated[str, StringKind(choices=("dynamic",))],
    out: Annotated[Operand, Out(*EIGHT_BITS, rank=(2, 8), on=INTEGERS_ONLY)],
    quantScale: Annotated[Operand, Out(FLOAT, rank=(1, 7))],
    quantOffsetOptional: Annotated[Operand | None, Out(*HALVES, rank=(1, 7), optional=True)],
) -> Plan:
    """Normalise the rows of ``x``, scale and shift them twice, and quantise each by its largest magnitude."""
    same_dtype(x, scale, shift, weightOptional, biasOptional, smoothScalesOptional)
    require(quantOffsetOptional is None, "quantOffsetOptional is given, expected null")
    not_empty(x, scale, shift, weightOptional, biasOptional, smoothScalesOptional)
    inner = adaptive_shape(x, scale, shift)
    factors_fit(x, weightOptional, biasOptional, smoothScalesOptional)
    same_shape(x, out)
    shape_is(quantScale, x.shape[:-1], "as x without its last dimension")
    target = out.dtype

    def kernel(x: Array, *arrays: Array | None) -> None:
        scale, shift, weight, bias, smooth = map(wide, arrays[:5])
        out, scales = arrays[5:]
        assert out is not None
        assert scales is not None
        values = layer_rows(wide(x), weight, bias, (-1,), epsilon) * (1 + scale.reshape(inner)) + shift.reshape(inner)
        quotients, found = with_row_scales(values, smooth, target)
        scales[...] = found.reshape(scales.shape)
        store(out, quotients, target)

    reads = (x, scale, shift, weightOptional, biasOptional, smoothScalesOptional)
    return direct(kernel, reads=reads, writes=(out, quantScale), scratch={})


def call(dtype: DType, target: DType, *, factors: bool) -> Example:
    """One of shape 2, 3, 16."""
    inner = (2, 16) if factors else (2, 1, 16)
    names = ("weightOptional", "biasOptional", "smoothScalesOptional")
    return {
        "x": numbers((2, 3, 16), dtype, 1),
        "scale": numbers(inner, dtype, 2),
        "shift": numbers(inner, dtype, 3),
        **{name: numbers((16,), dtype, seed) if factors else None for seed, name in enumerate(names, 4)},
        "epsilon": 1e-5,
        "quantMode": "dynamic",
        "out": np.zeros((2, 3, 16), target.numpy),
        "quantScale": numbers((2, 3), FLOAT, 7),
        "quantOffsetOptional": None,
    }


@aclnnAdaLayerNormQuant.example
def examples() -> Iterator[Example]:
    """With and without factors."""
    yield call(HALVES[0], INT8, factors=True)
    yield call(HALVES[1], INT8, factors=False)


aclnnAdaLayerNormQuant.example_on(Product.A950)(lambda: [call(HALVES[1], FLOAT8_E4M3FN, factors=True)])

"""aclnnGeluQuant: the Gaussian error linear unit, quantised with given scales or with one for every row."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT16, HIFLOAT8, INT8
from acl_emu.core.errors import AclnnNullptr, AclnnRuntime
from acl_emu.spec import (
    Array,
    Example,
    In,
    Int,
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
from aclnnop.activation.curves import GELU
from aclnnop.math.unary import FLOATS
from aclnnop.quant.narrowing import narrowed, row_scales

RESULTS = {dtype.code: dtype for dtype in (INT8, HIFLOAT8, FLOAT8_E5M2, FLOAT8_E4M3FN)}
OptionalRow = Annotated[Operand | None, In(*FLOATS, rank=1, optional=True)]
Scales = Annotated[Operand | None, Out(FLOAT, rank=(1, 7), optional=True, const=True)]


@operator(products=frozenset({Product.A950}), elsewhere=AclnnRuntime)
def aclnnGeluQuant(
    self: Annotated[Operand, In(*FLOATS, rank=(1, 8))],
    inputScaleOptional: OptionalRow,
    inputOffsetOptional: OptionalRow,
    approximate: Annotated[str, StringKind(choices=("none", "tanh"))],
    quantMode: Annotated[str, StringKind(choices=("static", "dynamic"))],
    roundMode: Annotated[str, StringKind(choices=("rint", "round", "hybrid"))],
    dstType: Int,
    y: Annotated[Operand, Out(*RESULTS.values(), rank=(1, 8), const=True)],
    outScaleOptional: Scales,
) -> Plan:
    """Quantise the unit of every element: with the given scale and offset, or with a scale of its row's, which is a result."""
    dynamic = quantMode == "dynamic"
    if not dynamic and inputScaleOptional is None:
        raise AclnnNullptr("inputScaleOptional must not be a null pointer where quantMode is static")
    if dynamic and outScaleOptional is None:
        raise AclnnNullptr("outScaleOptional must not be a null pointer where quantMode is dynamic")
    for operand in filter(None, (self, inputScaleOptional, inputOffsetOptional, y, outScaleOptional)):
        require(operand.size > 0, f"{operand.name} has shape {list(operand.shape)}, expected no empty tensor")
    require(dstType in RESULTS, f"dstType is {dstType}, expected one of {', '.join(map(str, sorted(RESULTS)))}")
    require(y.dtype is RESULTS[dstType], f"y has dtype {y.dtype}, expected that of dstType: {RESULTS[dstType]}")
    rounding = ("round", "hybrid") if y.dtype is HIFLOAT8 else ("rint",)
    require(roundMode in rounding, f"roundMode is {roundMode!r}, expected one of {', '.join(rounding)} for {y.dtype}")
    require(not dynamic or self.rank > 1, f"self has shape {list(self.shape)}, expected at least 2 dimensions where quantMode is dynamic")
    if inputScaleOptional is not None:
        last = self.shape[-1]
        require(
            inputScaleOptional.size in (1, last),
            f"inputScaleOptional has {inputScaleOptional.size} elements, expected 1 or the length of self's last dimension: {last}",
        )
    if inputOffsetOptional is not None:
        require(inputScaleOptional is not None, "inputOffsetOptional is given, expected inputScaleOptional too")
        assert inputScaleOptional is not None
        same_dtype(inputScaleOptional, inputOffsetOptional)
        same_shape(inputScaleOptional, inputOffsetOptional)
    same_shape(self, y)
    if dynamic and outScaleOptional is not None:
        shape_is(outScaleOptional, self.shape[:-1], "that of self without its last dimension")
    unit, target = GELU[approximate == "tanh"], y.dtype

    def kernel(x: Array, scale: Array | None, offset: Array | None, y: Array, scales: Array | None) -> None:
        values = unit(np.asarray(x, np.float64))
        if scale is not None:
            values = values * np.asarray(scale, np.float64)
        if dynamic:
            found, values = row_scales(values, target)
            assert scales is not None
            scales[...] = found.reshape(scales.shape)
        elif offset is not None:
            values = values + np.asarray(offset, np.float64)
        y[...] = narrowed(values, target)

    writes = (y, outScaleOptional if dynamic else None)
    return direct(kernel, reads=(self, inputScaleOptional, inputOffsetOptional), writes=writes, scratch={})


@aclnnGeluQuant.example
def examples() -> Iterator[Example]:
    """Both modes, both approximations, integers and floats of eight bits."""
    for dtype, dynamic, approximate, target in (
        (FLOAT, False, "tanh", INT8),
        (BF16, True, "none", INT8),
        (FLOAT16, True, "tanh", FLOAT8_E4M3FN),
        (FLOAT, False, "none", FLOAT8_E5M2),
    ):
        yield {
            "self": numbers((3, 4), dtype, 1, 3),
            "inputScaleOptional": numbers((4,), dtype, 2) if not dynamic else None,
            "inputOffsetOptional": numbers((4,), dtype, 3) if not dynamic else None,
            "approximate": approximate,
            "quantMode": "dynamic" if dynamic else "static",
            "roundMode": "rint",
            "dstType": target.code,
            "y": np.zeros((3, 4), target.numpy),
            "outScaleOptional": numbers((3,), FLOAT, 4) if dynamic else None,
        }

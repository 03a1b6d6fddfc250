"""aclnnRmsNormDynamicMxQuant: rows divided by the root of their mean square, rounded in blocks that share a power of two."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import constants as c
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT4_E1M2, FLOAT4_E2M1, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT8_E8M0, FLOAT16, DType
from acl_emu.core.errors import AclnnInner, AclnnInvalid, AclnnNullptr
from acl_emu.spec import (
    Array,
    Bool,
    Double,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    StringKind,
    direct,
    nothing,
    numbers,
    operator,
    rank_in,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.norm.quantising import HALVES, rms_rows, wide
from aclnnop.quant.blocks import BLOCK, MODES, block_count, in_blocks

EIGHT, FOUR = (FLOAT8_E5M2, FLOAT8_E4M3FN), (FLOAT4_E2M1, FLOAT4_E1M2)
RESULTS = {dtype.code: dtype for dtype in (*EIGHT, *FOUR)}
Rows = Annotated[Operand, In(*HALVES, rank=(1, 7))]
Factor = Annotated[Operand, In(*HALVES, FLOAT, rank=1)]
OptionalFactor = Annotated[Operand | None, In(*HALVES, FLOAT, rank=1, optional=True)]
Mode = Annotated[str | None, StringKind("char*", optional=True)]
QuantisedOut = Annotated[Operand, Out(*RESULTS.values(), rank=(1, 7))]
ScalesOut = Annotated[Operand, Out(FLOAT8_E8M0, rank=(2, 8))]
OptionalRstd = Annotated[Operand | None, Out(FLOAT, rank=(1, 7), optional=True)]


@operator(products=frozenset({Product.A950}))
def aclnnRmsNormDynamicMxQuant(
    x: Rows,
    gamma: Factor,
    beta: OptionalFactor,
    epsilon: Double,
    scaleAlg: Int,
    roundMode: Mode,
    dstType: Int,
    outputRstd: Bool,
    yOut: QuantisedOut,
    mxscaleOut: ScalesOut,
    rstdOut: OptionalRstd,
) -> Plan:
    """Divide each row by the root of its mean square, scale and shift it; round blocks of 32 elements that share a scale."""
    mode = "rint" if roundMode is None else roundMode  # the page's own program passes null
    factors, settings = (gamma, beta), (epsilon, scaleAlg, mode, dstType)
    return blocks_of_rows(x, None, factors, settings, yOut, None, mxscaleOut, asked(outputRstd, rstdOut))


def asked(wanted: bool, rstd: Operand | None) -> Operand | None:
    """The factors of the rows, which have to be there where they are asked for."""
    if wanted and rstd is None:
        raise AclnnNullptr("rstdOut must not be a null pointer where outputRstd is true")
    return rstd if wanted else None


def blocks_of_rows(
    x: Operand,
    other: Operand | None,
    factors: tuple[Operand, Operand | None],
    settings: tuple[float, int, str | None, int],
    y: Operand,
    total: Operand | None,
    scales: Operand,
    rstd: Operand | None,
) -> Plan:
    """The plan of both operators; what does not fit is 561103."""
    epsilon, algorithm, mode, dst = settings
    rank_in(scales, *range(2, 9))
    for operand in (y, total, rstd):
        rank_in(operand, *range(1, 8))
    try:
        checked(x, other, factors, algorithm, mode, dst, y, total, scales, rstd)
    except AclnnInvalid as refusal:
        raise AclnnInner(str(refusal), c.ACLNN_ERR_INNER_NULLPTR) from None
    if not x.size:
        return nothing()
    assert mode is not None
    target, rounding = y.dtype, mode

    def kernel(*arrays: Array | None) -> None:
        first, second, gamma, beta, y, x_out, scale_out, rstd_out = arrays
        rows = wide(first) if second is None else wide(first) + wide(second)
        values, _, found = rms_rows(rows, wide(gamma), wide(beta), (-1,), epsilon)
        codes, exponents = in_blocks(values, target, rounds_up=algorithm == 1, mode=rounding)
        assert y is not None
        assert scale_out is not None
        y[...] = codes
        scale_out.view(np.uint8)[...] = exponents.reshape(scale_out.shape)
        for out, result in ((x_out, rows), (rstd_out, found)):
            if out is not None:
                out[...] = np.asarray(result, np.float32)

    return direct(kernel, reads=(x, other, *factors), writes=(y, total, scales, rstd), scratch={})


def checked(
    x: Operand,
    other: Operand | None,
    factors: tuple[Operand, Operand | None],
    algorithm: int,
    mode: str | None,
    dst: int,
    y: Operand,
    total: Operand | None,
    scales: Operand,
    rstd: Operand | None,
) -> None:
    """Types, shapes and settings."""
    require(dst in RESULTS, f"dstType is {dst}, expected one of {', '.join(map(str, sorted(RESULTS)))}")
    require(y.dtype is RESULTS[dst], f"yOut has dtype {y.dtype}, expected that of dstType: {RESULTS[dst]}")
    same_dtype(x, other, total)
    for operand in filter(None, (other, y, total)):
        same_shape(x, operand)
    gamma, beta = factors
    fitting = gamma.dtype in (x.dtype, FLOAT)
    require(fitting, f"gamma has dtype {gamma.dtype}, expected that of {x.name}, {x.dtype}, or {FLOAT}")
    same_dtype(gamma, beta)
    for factor in filter(None, factors):
        shape_is(factor, x.shape[-1:], f"the last length of {x.name}")
    require(algorithm in (0, 1), f"scaleAlg is {algorithm}, expected 0 or 1")
    allowed = ("rint",) if y.dtype in EIGHT else MODES
    require(mode in allowed, f"roundMode is {mode!r}, expected one of {', '.join(allowed)} for {y.dtype}")
    if y.dtype in FOUR:
        require(algorithm == 0, f"scaleAlg is {algorithm}, expected 0 for {y.dtype}")
        require(x.shape[-1] % 2 == 0, f"{x.name} has shape {list(x.shape)}, expected an even last length for {y.dtype}")
    if rstd is not None:
        shape_is(rstd, (*x.shape[:-1], 1), f"as {x.name}, with a last length of 1")
    shape_is(scales, (*x.shape[:-1], block_count(x.shape[-1]) // 2, 2), f"two for every {2 * BLOCK} elements of {x.name}")


def call(dtype: DType, factor: DType, target: DType, algorithm: int, *, whole: bool) -> Example:
    """Rows of three blocks, the last one short."""
    return {
        "x": numbers((2, 3, 70), dtype, 1),
        "gamma": numbers((70,), factor, 2),
        "beta": numbers((70,), factor, 3) if whole else None,
        "epsilon": 1e-6,
        "scaleAlg": algorithm,
        "roundMode": "rint",
        "dstType": target.code,
        "outputRstd": whole,
        "yOut": np.zeros((2, 3, 70), target.numpy),
        "mxscaleOut": np.zeros((2, 3, 2, 2), np.uint8).view(FLOAT8_E8M0.numpy),
        "rstdOut": numbers((2, 3, 1), FLOAT, 4) if whole else None,
    }


@aclnnRmsNormDynamicMxQuant.example
def examples() -> Iterator[Example]:
    """Both algorithms and types of eight bits."""
    yield call(FLOAT16, FLOAT16, FLOAT8_E4M3FN, 0, whole=True)
    yield call(BF16, FLOAT, FLOAT8_E5M2, 1, whole=False)
    yield call(BF16, BF16, FLOAT8_E4M3FN, 1, whole=True)

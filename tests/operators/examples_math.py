"""Examples of arithmetic, reductions, conversions and plain matrix products."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
from numpy import float16, float32, int32, int64

from acl_emu.core.dtypes import from_numpy
from tests.operators.case import Case, numbers

bfloat16 = ml_dtypes.bfloat16


def tensor_and_tensor(name: str, *, alpha: bool, inplace: bool) -> list[Case]:
    cases = []
    for first, second, scale, out in (
        (float32, float32, 1.5, float32),
        (float16, int32, np.int64(2), np.float64),
        (int64, np.int8, 3, int64),
    ):
        x, y = numbers((3, 4, 5), out if inplace else first, 1, 9), numbers((4, 1), second, 2, 9)
        arguments: dict[str, Any] = {"selfRef": x, "other": y} if inplace else {"self": x, "other": y}
        cases.append(Case(name, arguments | ({"alpha": scale} if alpha else {}) | ({} if inplace else {"out": numbers((3, 4, 5), out, 3)})))
    return cases


def tensor_and_scalar(name: str, *, alpha: bool, inplace: bool) -> list[Case]:
    cases = []
    for dtype, other, scale, out in (
        (float32, 2.5, 1.5, float32),
        (float16, np.float16(0.3), np.int64(2), float32),
        (int32, np.int32(7), 3, int64),
    ):
        arguments: dict[str, Any] = {"selfRef" if inplace else "self": numbers((3, 4, 5), dtype, 1, 9), "other": other}
        cases.append(Case(name, arguments | ({"alpha": scale} if alpha else {}) | ({} if inplace else {"out": numbers((3, 4, 5), out, 3)})))
    return cases


def unary(name: str, *, inplace: bool) -> list[Case]:
    positive = [np.abs(numbers((3, 4, 5), dtype, 1, 4)) for dtype in (float32, bfloat16, np.float64)]
    if inplace:
        return [Case(name, {"selfRef": x}) for x in positive]
    return [
        Case(name, {"self": x, "out": numbers((3, 4, 5), float32, 2)}) for x in (*positive, np.arange(60, dtype=int64).reshape(3, 4, 5))
    ]


def amax() -> list[Case]:
    return [
        Case("aclnnAmax", {"self": numbers((3, 4, 5), dtype, 1, 9), "dim": dims, "keepDim": len(dims) > 1, "out": numbers(shape, dtype, 2)})
        for dtype, dims, shape in ((float32, [1], (3, 5)), (bfloat16, [-1, 0], (1, 4, 1)), (int32, [], ()))
    ]


def largest() -> list[Case]:
    return [
        Case("aclnnMax", {"self": numbers((3, 4, 5), dtype, 1, 9), "out": numbers((1,), out, 2)})
        for dtype, out in ((float32, float32), (int32, int64))
    ]


def reduce_sum() -> list[Case]:
    return [
        Case(
            "aclnnReduceSum",
            {
                "self": numbers((3, 4, 5), dtype, 1, 9),
                "dims": dims,
                "keepDims": False,
                "dtype": from_numpy(np.dtype(out)).code,
                "out": numbers(shape, out, 2),
            },
        )
        for dtype, dims, out, shape in ((float32, [1], float32, (3, 5)), (float16, [-1, 0], bfloat16, (4,)), (int32, [], int64, ()))
    ]


def cast() -> list[Case]:
    return [
        Case(
            "aclnnCast",
            {"self": numbers((3, 4, 5), dtype, 1, 9), "dtype": from_numpy(np.dtype(out)).code, "out": numbers((3, 4, 5), out, 2)},
        )
        for dtype, out in ((float32, float16), (bfloat16, int32), (int64, np.uint8))
    ]


def matmul() -> list[Case]:
    return [
        Case("aclnnMatmul", {"self": numbers(a, dtype, 1), "mat2": numbers(b, dtype, 2), "out": numbers(shape, out, 3), "cubeMathType": 1})
        for a, b, shape, dtype, out in (
            ((2, 1, 3, 40), (4, 40, 5), (2, 4, 3, 5), float32, float32),
            ((40,), (40, 5), (5,), float16, float32),
            ((300, 200), (200, 280), (300, 280), bfloat16, bfloat16),
        )
    ]


def mm() -> list[Case]:
    return [
        Case("aclnnMm", {"self": numbers((7, 40), a, 1), "mat2": numbers((40, 9), b, 2), "out": numbers((7, 9), out, 3), "cubeMathType": 1})
        for a, b, out in ((float32, float16, float32), (float16, float16, float16))
    ]


def addmm(inplace: bool) -> list[Case]:
    cases = []
    for dtype, shape in ((float32, (9,)), (float16, (7, 1))):
        added = numbers((7, 9) if inplace else shape, dtype, 3)
        factors = {
            "mat1": numbers((7, 40), dtype, 1),
            "mat2": numbers((40, 9), dtype, 2),
            "beta": 0.5,
            "alpha": np.int64(2),
            "cubeMathType": 1,
        }
        arguments = {"selfRef": added} if inplace else {"self": added, "out": numbers((7, 9), dtype, 4)}
        cases.append(Case("aclnnInplaceAddmm" if inplace else "aclnnAddmm", arguments | factors))
    return cases


EXAMPLES: dict[str, Callable[[], list[Case]]] = {
    name: partial(form, name, alpha="Mul" not in operation, inplace=bool(prefix))
    for operation in ("Add", "Sub", "Mul")
    for prefix in ("", "Inplace")
    for name, form in ((f"aclnn{prefix}{operation}", tensor_and_tensor), (f"aclnn{prefix}{operation}s", tensor_and_scalar))
} | {
    "aclnnAddmm": partial(addmm, False),
    "aclnnAmax": amax,
    "aclnnCast": cast,
    "aclnnExp": partial(unary, "aclnnExp", inplace=False),
    "aclnnInplaceAddmm": partial(addmm, True),
    "aclnnInplaceExp": partial(unary, "aclnnInplaceExp", inplace=True),
    "aclnnInplaceLog": partial(unary, "aclnnInplaceLog", inplace=True),
    "aclnnLog": partial(unary, "aclnnLog", inplace=False),
    "aclnnMatmul": matmul,
    "aclnnMax": largest,
    "aclnnMm": mm,
    "aclnnReduceSum": reduce_sum,
}

"""Examples of arithmetic, reductions, conversions and plain matrix products."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
from numpy import float16, float32, int32, int64

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


EXAMPLES: dict[str, Callable[[], list[Case]]] = {
    name: partial(form, name, alpha="Mul" not in operation, inplace=bool(prefix))
    for operation in ("Add", "Sub", "Mul")
    for prefix in ("", "Inplace")
    for name, form in ((f"aclnn{prefix}{operation}", tensor_and_tensor), (f"aclnn{prefix}{operation}s", tensor_and_scalar))
}

"""Kernels that are compiled as a whole: half types come out as float64 rounded once, wherever the result lies between two numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.native.graphs import signatures, whole
from tests.native.whole import check_bound, check_rounding, units_of
from tests.operators.accuracy import BF16, FLOAT, FLOAT16

ELEMENTWISE = [one for one in signatures() if whole(one).is_elementwise]


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
@pytest.mark.parametrize("signature", ELEMENTWISE)
def test_half_types_are_rounded_once(signature: str, dtype: np.dtype[Any]) -> None:
    assert check_rounding(signature, dtype, 6) > 0.25


@pytest.mark.parametrize("signature", ELEMENTWISE)
def test_float32_computed_in_float64_is_rounded_once(signature: str) -> None:
    assert check_rounding(signature, FLOAT, 2) > 0.25


@pytest.mark.parametrize("signature", [one for one in ELEMENTWISE if np.isfinite(units_of(one))])
def test_errors_are_bounded_as_said(signature: str) -> None:
    check_bound(signature, 4)

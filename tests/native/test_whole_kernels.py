"""Kernels that are compiled as a whole: half types come out as float64 rounded once, wherever the result lies between two numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.native.graphs import signatures
from tests.native.whole import check_rounding
from tests.operators.accuracy import BF16, FLOAT16


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
@pytest.mark.parametrize("signature", signatures())
def test_half_types_are_rounded_once(signature: str, dtype: np.dtype[Any]) -> None:
    assert check_rounding(signature, dtype, 8) > 0.25

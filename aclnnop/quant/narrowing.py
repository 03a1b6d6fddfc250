"""How numbers become those of a narrow type: rounding, saturation, and the scale of every row."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import FLOAT8_E4M3FN, FLOAT8_E5M2, HIFLOAT8, INT4, INT8, DType
from acl_emu.spec import Array
from aclnnop.math.narrow import encoded

LARGEST = {INT8: 127.0, INT4: 7.0, FLOAT8_E4M3FN: 448.0, FLOAT8_E5M2: 57344.0, HIFLOAT8: 32768.0}
"""What the largest number of a row is scaled to."""


def narrowed(values: Array, dtype: DType) -> Array:
    """The nearest numbers of a type, as they are stored: whole ones are rounded to even and saturate."""
    if dtype.kind == "integer":
        most = LARGEST[dtype]
        whole = np.clip(np.nan_to_num(np.rint(values), nan=0.0), -most - 1, most).astype(np.int8)
        return encoded(whole, INT4) if dtype is INT4 else whole
    return encoded(values, dtype)


def row_scales(values: Array, dtype: DType) -> tuple[Array, Array]:
    """For every row, what its largest magnitude is divided by to be the type's largest number; and the rows divided so."""
    largest = np.abs(values).max(axis=-1, keepdims=True)
    scales = largest / LARGEST[dtype]
    quotients: Any = np.where(scales == 0, 0, values / scales)
    return scales, quotients

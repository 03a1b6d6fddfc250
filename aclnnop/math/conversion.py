"""How numbers of one type become numbers of another."""

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import DType
from acl_emu.spec import Array


def converted(values: Array, dtype: DType) -> Array:
    """``values`` as ``dtype``: real parts of complex numbers, what is not zero is true, whole numbers wrap around."""
    if values.dtype.kind == "c" and dtype.kind != "complex":
        values = values.real if dtype.kind != "bool" else values != 0
    if dtype.kind == "bool":
        return np.asarray(values != 0)
    if dtype.kind == "integer" and dtypes.from_numpy(values.dtype).kind == "float":
        return whole(values, dtype)
    return dtypes.round_to(values, dtype)


def whole(values: Array, dtype: DType) -> Array:
    """Towards zero, NaN to 0; types of 32 and 64 bits saturate, narrower ones wrap around from INT32."""
    carrier = dtype.numpy if dtype.bits >= 32 else np.dtype(np.int32)
    low, high = np.iinfo(carrier).min, np.iinfo(carrier).max
    truncated = np.trunc(values.astype(np.float64))
    truncated = np.where(np.isnan(truncated), 0, truncated)
    # 2**63 - 1 has no float64 of its own: clip to the last one below the limit, and set what lies beyond by hand.
    held = np.clip(truncated, low, np.nextafter(high + 1.0, 0)).astype(carrier)
    return np.where(truncated >= high + 1.0, carrier.type(high), held).astype(dtype.numpy)

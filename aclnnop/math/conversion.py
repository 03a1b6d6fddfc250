"""How numbers of one type become numbers of another."""

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import DType
from acl_emu.engine.numeric import to_integers
from acl_emu.spec import Array


def converted(values: Array, dtype: DType) -> Array:
    """``values`` as ``dtype``: real parts of complex numbers, what is not zero is true, integers wrap around."""
    if values.dtype.kind == "c" and dtype.kind != "complex":
        values = values.real if dtype.kind != "bool" else values != 0
    if dtype.kind == "bool":
        return np.asarray(values != 0)
    if dtype.kind == "integer" and dtypes.from_numpy(values.dtype).kind == "float":
        return to_integers(values, dtype)
    return dtypes.round_to(values, dtype)

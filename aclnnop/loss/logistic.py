"""The logistic function and its integral, without overflow on the way, and the tensors that losses take them of."""

from typing import Annotated

import numpy as np

from acl_emu.core.constants import ACL_FORMAT_ND
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import Array, In, Operand

PlainIn = Annotated[Operand, In(FLOAT, FLOAT16, BF16, formats=(ACL_FORMAT_ND,))]
OptionalPlainIn = Annotated[Operand | None, In(FLOAT, FLOAT16, BF16, formats=(ACL_FORMAT_ND,), optional=True)]


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    up, _, whole = odds(x)
    return up / whole


def odds(x: Array) -> tuple[Array, Array, Array]:
    """The logistic function of ``x`` and that of ``-x`` as fractions of one whole, from an exponential that is at most 1."""
    small = np.exp(-np.abs(x))
    return np.where(x > 0, 1, small), np.where(x > 0, small, 1), 1 + small


def softplus(x: Array) -> Array:
    """log(1 + exp(x))."""
    return np.logaddexp(0, x)

"""Elements that are kept between two limits: numbers or tensors, of which one may be missing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np

from acl_emu.core import dtypes, soc
from acl_emu.core.dtypes import DType
from acl_emu.core.errors import AclnnNullptr
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Array, Example, Operand, Operator, Plan, castable, promote, promote_scalar, shape_is
from acl_emu.spec.kinds import HandleKind, TensorKind
from aclnnop.math.binary import INTEGERS, REAL_NUMBERS, SHOWN, Value, applied, result_shape, small
from aclnnop.math.unary import REALS

TYPES = (*REALS, *INTEGERS)
LIMITS = REAL_NUMBERS


def some_limit(operator: Operator, values: tuple[Any, ...]) -> None:
    """161001 where both limits are null pointers."""
    _, low, high, _ = values
    if low is None and high is None:
        raise AclnnNullptr(f"{operator.names[1]} and {operator.names[2]} must not both be null pointers")


def combined_in(self: Operand, limits: dict[str, Value]) -> DType:
    """The type that an element and its limits are compared in."""
    found = [promote_scalar(self, limit, name) for name, limit in limits.items() if isinstance(limit, Scalar)]
    tensors = promote(self, *[limit for limit in limits.values() if isinstance(limit, Operand)])
    return reduce(lambda one, other: dtypes.promote_types(one, other) or one, found, tensors)


def limited(self: Operand, low: Value, high: Value, out: Operand) -> Plan:
    """The plan of ``max(min(self, high), low)`` in the type that all are promoted to, cast to that of ``out``.

    Every type of ``out`` takes the result, but on the newest chips.
    """
    dtype = combined_in(self, {"clipValueMin": low, "clipValueMax": high})
    if soc.current().product is soc.Product.A950 or isinstance(low or high, Operand):
        castable(dtype, out)
    shape_is(out, result_shape(self, low, high), "that of the result")
    return applied(between_limits, (self, low, high), dtype, out)


def between_limits(x: Array, low: Any, high: Any) -> Any:
    """The formula; the lower limit counts where it is above the upper one."""
    below = x if high is None else np.minimum(x, high)
    return below if low is None else np.maximum(below, low)


def limit_examples(operator: Operator) -> Iterator[Example]:
    """Numbers from 1 to 5 between limits of 2 and 4, of several types; limits that may be missing are missing once."""
    limits = [(name, kind) for name, kind in operator.parameters if name not in ("self", "out")]
    _, taken = operator.parameters[0]
    assert isinstance(taken, TensorKind)
    for dtype in SHOWN:
        if dtype in taken.dtypes_on(soc.current()):
            example: Example = {"self": small((3, 4, 5), dtype, 1), "out": small((3, 4, 5), dtype, 2)}
            for (name, kind), value in zip(limits, (2, 4), strict=False):
                example[name] = dtype.numpy.type(value) if isinstance(kind, HandleKind) else np.full((4, 1), value, dtype.numpy)
            yield {name: example[name] for name in operator.names}
            if limits[0][1].optional:
                yield {**example, limits[0][0]: None}
                yield {**example, limits[1][0]: None}

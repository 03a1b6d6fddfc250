"""Powers, element by element."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import DType
from acl_emu.spec import Array, Example, In, Operand, Operator, Plan, require, shape_is
from aclnnop.math.binary import INTEGERS, Formula, Value, applied, binary_examples, common, kept, result_shape
from aclnnop.math.unary import COMPLEX, REALS

WITHOUT_BOOL = (*REALS, *INTEGERS, *COMPLEX)


def power(x: Any, y: Any) -> Any:
    """Of floating-point and complex numbers."""
    return np.square(x) if np.ndim(y) == 0 and not isinstance(y, np.ndarray) and y == 2 else np.power(x, y)


def integer_power(x: Any, y: Any) -> Any:
    """Of integers, which wrap around; negative powers of all but 1 and -1 are 0."""
    base, rest = x, np.where(y < 0, 0, y).astype(np.uint64)
    result = np.ones_like(x)
    while rest.any():
        result = np.where(rest & 1, result * base, result)
        base, rest = base * base, rest >> np.uint64(1)
    unit = np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (y & 1), 0))
    return np.where(y < 0, unit, result)


def saturating(formula: Formula, via: DType) -> Formula:
    """The same formula where a chip gives the largest or smallest number of the type instead of one beyond it."""
    if via.kind == "complex":
        return formula
    if via.kind == "float":
        import ml_dtypes

        largest = float(ml_dtypes.finfo(via.numpy).max)  # type: ignore[no-untyped-call]
        return lambda x, y: np.clip(formula(x, y), -largest, largest)
    low, high = np.iinfo(via.numpy).min, np.iinfo(via.numpy).max

    def bounded(x: Array, y: Any) -> Any:
        exact = np.power(np.float64(x), np.maximum(np.float64(y), 0))
        return np.where(exact >= high + 1.0, high, np.where(exact < low, low, formula(x, y)))

    return bounded


def raised(base: Value, exponent: Value, out: Operand) -> Plan:
    """The plan of ``base`` to the power of ``exponent``, one of which may be a number."""
    assert base is not None
    assert exponent is not None
    dtype = kept(common("self", base, "exponent", exponent), out)
    require(dtype.kind != "bool", f"self and exponent both have dtype {dtype}, expected a number type for one of them")
    shape_is(out, result_shape(base, exponent), "that of the result")
    formula = integer_power if dtype.kind == "integer" else power
    chosen = saturating(formula, dtype) if soc.current().saturates else formula
    return applied(chosen, (base, exponent), dtype, out)


def power_examples(operator: Operator) -> Iterator[Example]:
    """Small numbers of all types but truth values."""
    yield from binary_examples(operator, In(*WITHOUT_BOOL))

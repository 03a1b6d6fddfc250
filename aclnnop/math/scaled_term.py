"""What aclnnAddcmul and aclnnAddcdiv share: a tensor plus ``value`` times a term of two others."""

from collections.abc import Callable, Iterator
from typing import Any

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT64, DType
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Array, Example, Operand, Plan, broadcast_shape, castable, mapped, numbers, promote, require, shape_is


def plus_scaled(
    term: Callable[[Array, Array], Array], types: tuple[DType, ...], inputs: tuple[Operand, Operand, Operand], value: Scalar, out: Operand
) -> Plan:
    """``out = self + value × term(tensor1, tensor2)`` in the type that the inputs are promoted to, which has to be one of ``types``."""
    dtype = promote(*inputs)
    names = ", ".join(operand.name for operand in inputs)
    require(dtype in types, f"{names} are promoted to {dtype}, expected one of {', '.join(map(str, types))}")
    castable(dtype, out)
    shape_is(out, broadcast_shape(*inputs), "that of the result")
    scale = value.converted(dtype)

    def kernel(x: Array, y: Array, z: Array) -> Array:
        total: Array = x + scale * term(y, z)
        return total

    return mapped(kernel, reads=inputs, writes=(out,), dtype=dtype)


def term_examples() -> Iterator[Example]:
    """Tensors that broadcast, of one type and of several; the divisor is never zero."""
    calls: tuple[tuple[DType, DType, DType, Any], ...] = ((FLOAT, FLOAT, FLOAT, 1.5), (FLOAT, INT64, FLOAT16, 2), (INT64, INT64, INT64, 3))
    for first, second, third, value in calls:
        yield {
            "self": numbers((3, 4, 5), first, 1, 9),
            "tensor1": numbers((4, 1), second, 2, 9),
            "tensor2": abs(numbers((3, 1, 5), third, 3, 9)) + third.numpy.type(1),
            "value": value,
            "out": numbers((3, 4, 5), first, 4),
        }

"""Numbers between two others, element by element."""

from collections.abc import Iterator

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Array, Example, Operand, Plan, between, castable, numbers, same_dtype, shape_is
from aclnnop.math.binary import applied, result_shape


def interpolated(start: Operand, end: Operand, weight: Operand | Scalar, out: Operand) -> Plan:
    """The plan of a number that lies ``weight`` of the way from ``start`` to ``end``; tensors have one type, numbers are converted."""
    same_dtype(start, end, weight if isinstance(weight, Operand) else None)
    castable(start.dtype, out)
    shape_is(out, result_shape(start, end, weight), "that of the result")
    return applied(weighted, (start, end, weight), start.dtype, out)


def weighted(start: Array, end: Array, weight: Array) -> Array:
    """The formula."""
    found: Array = start + weight * (end - start)
    return found


def interpolation_examples() -> Iterator[Example]:
    """Tensors that broadcast, of each type."""
    for dtype in (FLOAT, FLOAT16, BF16):
        yield {
            "self": numbers((3, 4, 5), dtype, 1),
            "end": numbers((4, 1), dtype, 2),
            "weight": between(0, 1, (5,), dtype, 3),
            "out": numbers((3, 4, 5), dtype, 4),
        }

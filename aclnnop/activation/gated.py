"""Gated linear units: a tensor is cut in two along an axis, and one part, through an activation, is the gate of the other.

The parts are views of the tensor, so that one element-wise kernel reads both, and that of a gradient writes both.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, TypeAlias

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16
from acl_emu.runtime.tensor import make_view
from acl_emu.spec import Example, In, Operand, Operator, Out, Plan, mapped, numbers, require, shape_is, wrap_dim
from aclnnop.math.unary import FLOATS

Values = Annotated[Operand, In(*FLOATS)]
ValuesOut = Annotated[Operand, Out(*FLOATS)]
ConstValuesOut = Annotated[Operand, Out(*FLOATS, const=True)]
Kernel: TypeAlias = Callable[..., Any]


def split_axis(operand: Operand, dim: int) -> int:
    """The axis that is cut, of an even length."""
    axis = wrap_dim(dim, operand)
    length = operand.shape[axis] if operand.rank else 1
    require(length % 2 == 0, f"{operand.name} has shape {list(operand.shape)}, expected an even length along dimension {dim}")
    return axis


def halved(operand: Operand, axis: int) -> tuple[int, ...]:
    """The shape of either part."""
    return tuple(length // 2 if place == axis else length for place, length in enumerate(operand.shape))


def parts(operand: Operand, axis: int) -> tuple[Operand, Operand]:
    """The first and the second half of a tensor along an axis."""
    shape = halved(operand, axis)
    view = operand.view
    starts = (view.offset, view.offset + shape[axis] * view.strides[axis])
    first, second = (make_view(shape, view.dtype_code, view.strides, start, view.format, view.storage) for start in starts)
    return Operand(operand.name, first, operand.place), Operand(operand.name, second, operand.place)


def gated(kernel: Kernel, x: Operand, axis: int, outputs: Sequence[Operand], *, left: bool = True) -> Plan:
    """``outputs = kernel(gate, linear)``; the gate is the ``left`` part or the other."""
    gate, linear = parts(x, axis) if left else reversed(parts(x, axis))
    return mapped(kernel, reads=(gate, linear), writes=outputs, dtype=x.dtype)


def gated_gradient(
    kernel: Kernel,
    grad: Operand,
    x: Operand,
    axis: int,
    out: Operand,
    *others: Operand,
    left: bool = True,
) -> Plan:
    """``kernel(grad, gate, linear, *others)`` gives the gradients of both parts, which are written to those of ``out``."""
    ways = (parts(x, axis), parts(out, axis))
    (gate, linear), writes = ways if left else (pair[::-1] for pair in ways)
    return mapped(kernel, reads=(grad, gate, linear, *others), writes=writes, dtype=x.dtype)


def result_fits(x: Operand, axis: int, *results: Operand) -> None:
    """The results have the shape of a part."""
    for result in results:
        shape_is(result, halved(x, axis), f"half of {x.name}")


def examples(operator: Operator, *settings: dict[str, Any], doubles: bool = False) -> Iterator[Example]:
    """A last and a middle axis, of several types; inputs and outputs of the gate's shape are halves of those of the tensor that is cut."""
    names = [name for name, kind in operator.parameters if kind.c_type.endswith("aclTensor*")]
    whole = [name for name in names if name in ("self", "x", "input")]
    backward = names[-1] if names[0] != whole[0] else ""
    types = (FLOAT, BF16, FLOAT16, *((DOUBLE,) if doubles else ()))
    for turn, dtype in enumerate(types):
        setting = settings[turn % len(settings)]
        shape, half = ((3, 4, 6), (3, 4, 3)) if setting.get("dim", -1) in (-1, 2) else ((3, 4, 6), (3, 2, 6))
        arrays = {name: numbers(shape if name in (*whole, backward) else half, dtype, seed) for seed, name in enumerate(names)}
        yield {name: {**arrays, **setting}[name] for name in operator.names}

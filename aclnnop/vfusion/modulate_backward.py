"""aclnnModulateBackward: gradients of features that are scaled and shifted differently for each sample."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import Array, Example, In, Operand, Out, Plan, numbers, operator, same_dtype, same_shape, shape_is, together, total
from aclnnop.math.unary import FLOATS, NEWER
from aclnnop.norm.rows import Axes
from aclnnop.norm.views import in_shapes

Features = Annotated[Operand, In(*FLOATS, rank=3)]
Factor = Annotated[Operand | None, In(*FLOATS, rank=2, optional=True)]
FactorOut = Annotated[Operand | None, Out(*FLOATS, rank=2, optional=True, const=True)]


@operator(products=NEWER)
def aclnnModulateBackward(
    grad_output: Features,
    input: Features,
    scale: Factor,
    shift: Factor,
    grad_input: Annotated[Operand, Out(*FLOATS, rank=3, const=True)],
    grad_scale: FactorOut,
    grad_shift: FactorOut,
) -> Plan:
    """Multiply the gradient by ``scale``; sum it over the positions, plain and times the input, for those factors that are given."""
    same_dtype(grad_output, input, scale, shift, grad_input, grad_scale, grad_shift)
    same_shape(input, grad_output, grad_input)
    samples, _, length = input.shape
    for operand in filter(None, (scale, shift, grad_scale, grad_shift)):
        shape_is(operand, (samples, length), "samples, columns of input")
    shape, inner = input.shape, (samples, 1, length)
    gradient = (grad_output, shape)
    plans = [in_shapes(of_input, reads=(gradient, (scale, inner)), writes=((grad_input, shape),))]
    if scale is not None and grad_scale is not None:
        plans.append(in_shapes(of_scale, reads=(gradient, (input, shape)), writes=((grad_scale, inner),), axes=(1,)))
    if shift is not None and grad_shift is not None:
        plans.append(in_shapes(of_shift, reads=(gradient,), writes=((grad_shift, inner),), axes=(1,)))
    return together(plans)


def of_input(grad: Array, scale: Array | None) -> tuple[Array]:
    """As the page has it: without the one that the scale is added to."""
    return (grad * 1 if scale is None else grad * scale,)


def of_scale(grad: Array, x: Array, *, axes: Axes) -> tuple[Array]:
    """Summed over the positions of a sample."""
    return (total(grad * x, axes, keepdims=True),)


def of_shift(grad: Array, *, axes: Axes) -> tuple[Array]:
    """Summed over the positions of a sample."""
    return (total(grad, axes, keepdims=True),)


@aclnnModulateBackward.example
def examples() -> Iterator[Example]:
    """Both factors, and either of them."""
    for dtype, given in zip(FLOATS, ((True, True), (True, False), (False, True)), strict=True):
        factors = [numbers((2, 8), dtype, seed) if takes else None for seed, takes in zip((3, 4), given, strict=True)]
        yield {
            "grad_output": numbers((2, 3, 8), dtype, 1),
            "input": numbers((2, 3, 8), dtype, 2),
            "scale": factors[0],
            "shift": factors[1],
            "grad_input": numbers((2, 3, 8), dtype, 5),
            "grad_scale": factors[0],
            "grad_shift": factors[1],
        }

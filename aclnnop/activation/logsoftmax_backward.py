"""aclnnLogSoftmaxBackward: gradient of log softmax, given its output."""

from typing import Annotated, Any

import numpy as np

from acl_emu.spec import (
    ALL,
    CHOICE,
    DTYPE,
    FORMAT,
    NULL,
    RANK,
    Array,
    FloatIn,
    Int,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    castable,
    mapped,
    nothing,
    operator,
    same_dtype,
    same_shape,
    wrap_dim,
)

AnyOut = Annotated[Operand, Out()]


def empty(operator: Operator, values: tuple[Any, ...]) -> Plan | None:
    """Empty inputs succeed before anything else is looked at."""
    gradOutput, output, *_ = values
    return nothing() if 0 in gradOutput.shape or 0 in output.shape else None


@operator(products=ALL - {Product.A310B}, checks=(NULL, empty, DTYPE, FORMAT, RANK, CHOICE))
def aclnnLogSoftmaxBackward(gradOutput: FloatIn, output: FloatIn, dim: Int, out: AnyOut) -> Plan:
    """Take the softmax-weighted sum of ``gradOutput`` along ``dim`` away from it."""
    same_dtype(gradOutput, output)
    castable(gradOutput.dtype, out)
    same_shape(gradOutput, output, out)
    axis = wrap_dim(dim, gradOutput)
    # exp and the sum lose too much in float32: a float32 exp alone is off by 2.5 ulp.
    return mapped(gradient, reads=(gradOutput, output), writes=(out,), via=gradOutput.dtype, compute=np.float64, axis=axis)


def gradient(grad: Array, output: Array, *, axis: int) -> Array:
    """The formula; a 0-dim tensor is a row of one."""
    total = grad.sum(axis=axis, keepdims=True) if grad.ndim else grad
    return np.asarray(grad - np.exp(output) * total)

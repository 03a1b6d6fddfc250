"""aclnnBatchNormReduceBackward: sums over a batch that its gradients are made of."""

from collections.abc import Iterator
from typing import Any

from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import (
    AFTER_NULL,
    ALL,
    NULL,
    Array,
    ConstBool,
    Example,
    Operator,
    Plan,
    Product,
    mapped,
    nothing,
    operator,
    same_dtype,
    same_shape,
    total,
)
from aclnnop.norm.channels import (
    Batch,
    Channel,
    OptionalChannel,
    OptionalChannelOut,
    channel_examples,
    one_for_each_channel,
    other_axes,
    some_channels,
)
from aclnnop.norm.rows import Axes, selected


def asked_for(operator: Operator, values: tuple[Any, ...]) -> None:
    """161001 for an output that is asked for and null."""
    named = dict(zip(operator.names, values, strict=True))
    for wanted, outputs in {"inputG": ("sumDy", "sumDyXmu"), "weightG": ("gradWeight",), "biasG": ("gradBias",)}.items():
        for name in outputs:
            if named[wanted] and named[name] is None:
                raise AclnnNullptr(f"{name} must not be a null pointer where {wanted} is true")


@operator(products=ALL - {Product.A310B, Product.A310P}, checks=(NULL, asked_for, *AFTER_NULL))
def aclnnBatchNormReduceBackward(
    gradOut: Batch,
    input: Batch,
    mean: Channel,
    invstd: Channel,
    weight: OptionalChannel,
    inputG: ConstBool,
    weightG: ConstBool,
    biasG: ConstBool,
    sumDy: OptionalChannelOut,
    sumDyXmu: OptionalChannelOut,
    gradWeight: OptionalChannelOut,
    gradBias: OptionalChannelOut,
) -> Plan:
    """Add up the gradients of every channel, plain and times the distance from the mean; and give those of weight and bias."""
    same_dtype(input, gradOut)
    same_shape(input, gradOut)
    some_channels(input)
    asked = (sumDy if inputG else None, sumDyXmu if inputG else None, gradWeight if weightG else None, gradBias if biasG else None)
    mean_row, invstd_row, _, *outputs = one_for_each_channel(input, 1, mean, invstd, weight, *asked)
    writes = [operand for operand in outputs if operand is not None]
    if not input.size or not writes:
        return nothing()
    return mapped(
        sums,
        reads=(gradOut, input, mean_row, invstd_row),
        writes=writes,
        dtype=input.dtype,
        raw=writes,
        axes=other_axes(input, 1),
        wanted=tuple(operand is not None for operand in outputs),
    )


def sums(grad: Array, x: Array, mean: Array, invstd: Array, *, axes: Axes, wanted: tuple[bool, ...]) -> tuple[Array, ...]:
    """The formulas."""
    plain = total(grad, axes, keepdims=True)
    product = total(grad * (x - mean), axes, keepdims=True)
    return selected((plain, product, product * invstd, plain * 1), wanted)


@aclnnBatchNormReduceBackward.example
def examples() -> Iterator[Example]:
    """All sums, and some."""
    tensors = {
        "gradOut": ("x", 1),
        "input": ("x", 2),
        "mean": ("c", 3),
        "invstd": ("p", 4),
        "weight": ("c", 5),
        "sumDy": ("c", 6),
        "sumDyXmu": ("c", 7),
        "gradWeight": ("c", 8),
        "gradBias": ("c", 9),
    }
    names = {"inputG": ("sumDy", "sumDyXmu"), "weightG": ("gradWeight",), "biasG": ("gradBias",)}
    for wanted, example in zip(((True, True, True), (True, False, False), (False, True, True)), channel_examples(**tensors), strict=True):
        given = dict(zip(names, wanted, strict=True))
        left_out = {name: None for asked, outputs in names.items() if not given[asked] for name in outputs}
        yield {**example, **given, **left_out}

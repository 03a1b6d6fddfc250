"""aclnnGroupNormSwish: group normalisation and its product with the logistic function of a multiple of it."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import Bool, Double, Example, Int, Operand, Out, Plan, StringKind, operator
from aclnnop.math.unary import FLOATS, NEWER
from aclnnop.norm.group_norm_silu import activated, activated_examples
from aclnnop.norm.groups import Factor, Grouped

GroupedOut = Annotated[Operand, Out(*FLOATS, rank=(2, 8), const=True)]
GroupStatistic = Annotated[Operand, Out(*FLOATS, rank=2, const=True)]
Format = Annotated[str | None, StringKind("char*", optional=True)]


@operator(products=NEWER)
def aclnnGroupNormSwish(
    x: Grouped,
    gamma: Factor,
    beta: Factor,
    numGroups: Int,
    dataFormatOptional: Format,
    eps: Double,
    activateSwish: Bool,
    swishScale: Double,
    yOut: GroupedOut,
    meanOut: GroupStatistic,
    rstdOut: GroupStatistic,
) -> Plan:
    """Normalise each group of channels of each sample, scale and shift; multiply by the logistic function of ``swishScale`` times it."""
    slope = swishScale if activateSwish else None
    return activated(x, gamma, beta, numGroups, eps, yOut, meanOut, rstdOut, slope=slope)


@aclnnGroupNormSwish.example
def examples() -> Iterator[Example]:
    """With and without the logistic function."""
    names = {"self": "x", "group": "numGroups", "out": "yOut"}
    for turn, example in enumerate(activated_examples()):
        renamed = {names.get(name, name): value for name, value in example.items()}
        yield {**renamed, "dataFormatOptional": "NCHW" if turn else None, "activateSwish": turn != 1, "swishScale": 0.8}

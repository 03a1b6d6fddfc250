"""aclnnClippedSwigluV2: a gated linear unit that is clamped before or behind its activation."""

import enum
from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import Bool, Double, Example, Int, IntKind, Plan, Product, operator
from aclnnop.activation.clipped_swiglu import Groups, Values, ValuesOut, clipped_plan
from aclnnop.activation.clipped_swiglu import examples as plain_examples


class ClampMode(enum.IntEnum):
    """Where the gate is clamped."""

    BEFORE = 0
    BEHIND = 1


@operator(products=frozenset({Product.A950}))
def aclnnClippedSwigluV2(
    x: Values,
    groupIndexOptional: Groups,
    dim: Int,
    alpha: Double,
    limit: Double,
    bias: Double,
    interleaved: Bool,
    clampMode: Annotated[int, IntKind(choices=ClampMode)],
    out: ValuesOut,
) -> Plan:
    """Multiply the swish of one part of ``x`` with the other; ``clampMode`` says whether the gate is clamped before or behind it."""
    late = clampMode == ClampMode.BEHIND
    return clipped_plan(x, groupIndexOptional, dim, alpha, limit, bias, interleaved, out, late=late)


@aclnnClippedSwigluV2.example
def examples() -> Iterator[Example]:
    """Both modes in turn."""
    for turn, example in enumerate(plain_examples()):
        yield {**example, "clampMode": turn % 2}

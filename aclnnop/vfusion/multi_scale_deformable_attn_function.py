"""aclnnMultiScaleDeformableAttnFunction: weighted samples of images of several sizes, at places that each query has of its own."""

from collections.abc import Callable
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import INT32, INT64
from acl_emu.spec import In, Operand, Out, Plan, Product, direct, nothing, operator, require
from aclnnop.image.upsampling import FLOATS, INFERENCE
from aclnnop.vfusion.deformable import attended, attention_examples, check_attention

Indices = (INT32, INT64)
Rule = tuple[str, Callable[[int], bool]]
NEWER_LIMITS: dict[str, Rule] = {
    "channels": ("a multiple of 8, at most 256", lambda count: count % 8 == 0 and count <= 256),
    "queries": ("from 32 to 499999", lambda count: 32 <= count < 500000),
    "levels": ("at most 16", lambda count: count <= 16),
    "heads": ("at most 16", lambda count: count <= 16),
    "points": ("at most 16", lambda count: count <= 16),
}
LIMITS: dict[Product, dict[str, Rule]] = {
    Product.A310P: {
        **NEWER_LIMITS,
        "channels": ("a multiple of 32, at most 256", lambda count: count % 32 == 0 and count <= 256),
        "heads": ("2, 4 or 8", lambda count: count in (2, 4, 8)),
        "points": ("4 or 8", lambda count: count in (4, 8)),
    }
}


@operator(products=INFERENCE)
def aclnnMultiScaleDeformableAttnFunction(
    value: Annotated[Operand, In(*FLOATS, rank=4)],
    spatialShape: Annotated[Operand, In(*Indices, rank=2)],
    levelStartIndex: Annotated[Operand, In(*Indices, rank=1)],
    location: Annotated[Operand, In(*FLOATS, rank=6)],
    attnWeight: Annotated[Operand, In(*FLOATS, rank=5)],
    output: Annotated[Operand, Out(*FLOATS, rank=3)],
) -> Plan:
    """Add up samples of ``value`` at the places of each query, by their weights."""
    check_attention(value, spatialShape, levelStartIndex, location, attnWeight, output)
    _, queries, heads, levels, points, _ = location.shape
    counts = {"channels": value.shape[3], "queries": queries, "levels": levels, "heads": heads, "points": points}
    chip = soc.current()
    for name, (rule, holds) in LIMITS.get(chip.product, NEWER_LIMITS).items():
        require(holds(counts[name]), f"location and value have {counts[name]} {name}, expected {rule} on {chip.name}")
    if 0 in output.shape:
        return nothing()
    names = (spatialShape.name, levelStartIndex.name)
    reads = (value, spatialShape, levelStartIndex, location, attnWeight)
    return direct(attended, reads=reads, writes=(output,), scratch={}, names=names)


aclnnMultiScaleDeformableAttnFunction.example(lambda: attention_examples(aclnnMultiScaleDeformableAttnFunction))

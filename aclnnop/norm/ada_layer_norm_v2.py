"""aclnnAdaLayerNormV2: layer normalisation, scaled and shifted differently for each sample, and its statistics."""

from collections.abc import Iterator

from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import Double, Example, Plan, numbers, operator
from aclnnop.math.unary import NEWER
from aclnnop.norm.ada_layer_norm import OptionalStatistic, RowsOut, adaptive
from aclnnop.norm.ada_layer_norm import examples as plain_examples
from aclnnop.norm.adaptive import Adaptive, Factor, Rows


@operator(products=NEWER)
def aclnnAdaLayerNormV2(
    x: Rows,
    scale: Adaptive,
    shift: Adaptive,
    weightOptional: Factor,
    biasOptional: Factor,
    epsilon: Double,
    out: RowsOut,
    meanOutOptional: OptionalStatistic,
    rstdOutOptional: OptionalStatistic,
) -> Plan:
    """Normalise the rows of ``x``, apply weight and bias, multiply by ``1 + scale`` and add ``shift``; give means and factors."""
    return adaptive(x, scale, shift, weightOptional, biasOptional, epsilon, out, meanOutOptional, rstdOutOptional)


@aclnnAdaLayerNormV2.example
def examples() -> Iterator[Example]:
    """With and without statistics; factors in both types."""
    for turn, example in enumerate(plain_examples()):
        dtype = example["x"].dtype
        wide = {name: numbers((8,), FLOAT, 4) for name in ("weightOptional", "biasOptional")} if turn == 2 else {}
        statistics = {"meanOutOptional": numbers((2, 3, 1), dtype, 7), "rstdOutOptional": numbers((2, 3, 1), dtype, 8) if turn else None}
        yield {**example, **wide, **statistics}

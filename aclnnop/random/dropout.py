"""aclnnDropout: dropout, and the mask that it drew."""

from collections.abc import Iterator

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, UINT8
from acl_emu.spec import Bool, Double, Example, FloatIn, FloatOut, Int, Plan, Product, numbers, operator
from aclnnop.random.drawing import Seed
from aclnnop.random.dropout_masks import MaskOut, dropped, mask_bytes, unchanged


@operator(products=frozenset({Product.A3, Product.A2, Product.A910}))
def aclnnDropout(input: FloatIn, p: Double, train: Bool, seed: Int, offset: Int, out: FloatOut, maskOut: MaskOut) -> Plan:
    """Make elements 0 with the probability ``p`` and the others larger by ``1 / (1 - p)``; without ``train`` keep them as they are."""
    plan = dropped(input, p, Seed(seed, offset), out, maskOut)
    return plan if train else unchanged(input, out)


@aclnnDropout.example
def examples() -> Iterator[Example]:
    """Each type; what is certain; no training."""
    for dtype, p, train in (
        (FLOAT, 0.5, True),
        (FLOAT16, 0.1, True),
        (BF16, 0.3, True),
        (FLOAT, 0.0, True),
        (FLOAT, 1.0, True),
        (BF16, 0.5, False),
    ):
        yield {
            "input": numbers((9, 15), dtype, 1),
            "p": p,
            "train": train,
            "seed": 1234,
            "offset": 8,
            "out": numbers((9, 15), dtype, 2),
            "maskOut": numbers((mask_bytes(135),), UINT8, 3),
        }

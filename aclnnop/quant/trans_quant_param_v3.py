"""aclnnTransQuantParamV3: scales and offsets as the hardware takes them, in 64 bits."""

import enum
from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import Example, IntKind, Plan, operator
from aclnnop.quant.trans_quant_param_v2 import PRODUCTS, Codes, Numbers, OptionalNumbers, packed
from aclnnop.quant.trans_quant_param_v2 import examples as plain_examples


class Round(enum.IntEnum):
    """How a scale loses its lower bits."""

    CUT_OFF = 0
    NEAREST = 1


@operator(products=PRODUCTS)
def aclnnTransQuantParamV3(scale: Numbers, offset: OptionalNumbers, roundMode: Annotated[int, IntKind(choices=Round)], out: Codes) -> Plan:
    """Put the upper 19 bits of each scale, cut off or rounded, and 9 bits of each offset into one number."""
    return packed(scale, offset, out, rounded=roundMode == Round.NEAREST)


@aclnnTransQuantParamV3.example
def examples() -> Iterator[Example]:
    """Those of the second version, rounded and not."""
    for turn, example in enumerate(plain_examples()):
        yield {**example, "roundMode": turn % 2}

"""What scaled masked softmax and its gradient share: masks over the rows of attention scores."""

from collections.abc import Iterator

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16
from acl_emu.spec import Example, Operand, between, numbers, require

LONGEST_ROW = 4096


def not_generated(fixTriuMask: bool) -> None:
    """A triangular mask made by the operator itself is announced in the documents, and not supported yet."""
    require(not fixTriuMask, "fixTriuMask is true, expected false")


def row_length(operand: Operand) -> None:
    """The last length is within bounds."""
    length = operand.shape[-1]
    require(0 < length <= LONGEST_ROW, f"{operand.name} has shape {list(operand.shape)}, expected a last length from 1 to {LONGEST_ROW}")


def mask_fits(mask: Operand, operand: Operand) -> None:
    """The mask has the shape of the scores; either of the first two lengths may be 1."""
    fits = mask.shape[2:] == operand.shape[2:] and all(m in (1, n) for m, n in zip(mask.shape[:2], operand.shape[:2], strict=True))
    wanted = f"that of {operand.name}, {list(operand.shape)}, with 1 for either of the first two lengths"
    require(fits, f"mask has shape {list(mask.shape)}, expected {wanted}")


def masked_examples(*inputs: str, out: str) -> Iterator[Example]:
    """Attention scores under each of the documented masks."""
    for dtype, mask in ((FLOAT, (2, 3, 4, 5)), (FLOAT16, (1, 3, 4, 5)), (BF16, (2, 1, 4, 5))):
        yield {
            **{name: numbers((2, 3, 4, 5), dtype, seed) for seed, name in enumerate(inputs)},
            "mask": between(0, 2, mask, BOOL, 8),
            "scale": 0.3,
            "fixTriuMask": False,
            out: numbers((2, 3, 4, 5), dtype, 9),
        }

"""Sums with products of batches: the checks of Baddbmm and Addbmm, and the examples."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.engine.matmul import Taken
from acl_emu.spec import Example, Operand, broadcasts_to, numbers, require, same_dtype
from aclnnop.matmul.cube import ALL_LENIENT, combined_dtype, product_shape, rounding, without_precise_sums


def checked(added: Operand, batch1: Operand, batch2: Operand, out: Operand, mode: int) -> tuple[Taken, tuple[int, ...]]:
    """What factors are rounded to, and the shape of the product of both batches."""
    same_dtype(added, out)
    taken = rounding(mode, combined_dtype(batch1, batch2), ALL_LENIENT)
    without_precise_sums(mode)
    return taken, product_shape(batch1, batch2)


def goes_with(added: Operand, shape: tuple[int, ...]) -> None:
    """What is added broadcasts to the product, and is empty where that is."""
    broadcasts_to(shape, "that of batch1 @ batch2", added)
    require(
        (0 in added.shape) == (0 in shape),
        f"{added.name} has shape {list(added.shape)}, expected to be empty where the product of shape {list(shape)} is, and nowhere else",
    )


def sum_examples(changed: str, shapes: tuple[tuple[int, ...], ...], out: tuple[int, ...]) -> Iterator[Example]:
    """Sums of three types; ``changed`` is what is added, in place where its name says so."""
    for dtype, shape in zip((FLOAT, FLOAT16, BF16), shapes, strict=True):
        in_place = changed.endswith("Ref")
        yield {
            changed: numbers(out if in_place else shape, dtype, 3),
            **({} if in_place else {"out": numbers(out, dtype, 4)}),
            "batch1": numbers((2, 4, 40), dtype, 1),
            "batch2": numbers((2 if in_place or dtype is FLOAT else 1, 40, 5), dtype, 2),
            "beta": 0.5,
            "alpha": np.int64(2),
            "cubeMathType": 1,
        }

"""Images laid over each other: bytes are computed in float32, rounded to the nearest, and limited to what a byte holds."""

from __future__ import annotations

import numpy as np

from acl_emu.spec import Array, Operand, Plan, Product, broadcasts_to, direct, nothing, require, same_shape

INFERENCE_ONLY = frozenset({Product.A310P})


def check_colours(alpha: Operand, *images: Operand) -> None:
    """161002 for images that do not have three channels last, or an alpha that does not have one."""
    for operand, count in (*((image, 3) for image in images), (alpha, 1)):
        has = operand.rank > 0 and operand.shape[-1] == count
        require(has, f"{operand.name} has shape {list(operand.shape)}, expected {count} as its last dimension")


def blend(first: Operand, second: Operand | None, share: Operand, whole: float, out: Operand) -> Plan:
    """``first`` by ``share``, of which ``whole`` stands for all, and ``second`` by what is left."""
    same_shape(first, *(one for one in (second, out) if one is not None))
    broadcasts_to(first.shape, first.name, share)
    if 0 in out.shape:
        return nothing()
    return direct(blended, reads=(first, second, share), writes=(out,), scratch={}, whole=whole)


def blended(first: Array, second: Array | None, share: Array, out: Array, *, whole: float) -> None:
    """In float32."""
    part = share.astype(np.float32) / np.float32(whole)
    found = first.astype(np.float32) * part
    if second is not None:
        found = found + second.astype(np.float32) * (1 - part)
    out[...] = np.rint(np.clip(np.nan_to_num(found), 0, 255)) if out.dtype == np.uint8 else found

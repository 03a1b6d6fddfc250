"""Scales and offsets of results, as aclnnTransQuantParam packs them into 64 bits."""

import numpy as np

from acl_emu.spec import Array


def unpacked(codes: Array) -> tuple[Array, Array]:
    """Scales in FLOAT, of which 19 bits are kept, from the lower half; offsets of 9 bits and a sign from bit 37 on."""
    bits = codes.astype(np.uint64)
    scales = (bits & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
    offsets = ((bits >> np.uint64(37)) & np.uint64(0x1FF)).astype(np.int64)
    return scales, np.where(offsets > 255, offsets - 512, offsets).astype(np.float32)

"""aclnnTriu and aclnnInplaceTriu: zeros below a diagonal."""

from acl_emu.spec import Array, in_place
from aclnnop.conversion.moves import EVERY
from aclnnop.conversion.triangle import triangle


def above(row: Array, column: Array, diagonal: int) -> Array:
    """On the diagonal and above."""
    kept: Array = column - row >= diagonal
    return kept


aclnnTriu = triangle("aclnnTriu", "Set all elements below a diagonal of the last two dimensions to zero.", above, EVERY)
aclnnInplaceTriu = in_place(aclnnTriu)

"""aclnnTril and aclnnInplaceTril: zeros above a diagonal."""

from acl_emu.spec import Array, in_place
from aclnnop.conversion.moves import TRAINING
from aclnnop.conversion.triangle import triangle


def below(row: Array, column: Array, diagonal: int) -> Array:
    """On the diagonal and below."""
    kept: Array = column - row <= diagonal
    return kept


aclnnTril = triangle("aclnnTril", "Set all elements above a diagonal of the last two dimensions to zero.", below, TRAINING)
aclnnInplaceTril = in_place(aclnnTril, const=True)

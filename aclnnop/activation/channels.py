"""What operators with a weight for each channel share: channels lie along the second axis."""

from acl_emu.spec import Operand, require


def channel_count(self: Operand) -> int:
    """How many channels a tensor has; one of less than two dimensions has one."""
    return self.shape[1] if self.rank > 1 else 1


def weight_shape(self: Operand, weight: Operand) -> tuple[int, ...]:
    """The shape in which ``weight``, one number or one for each channel, broadcasts to ``self``."""
    count = channel_count(self)
    require(
        weight.size in (1, count),
        f"weight has {weight.size} elements, expected 1 or the number of channels of self: {count} (self has shape {list(self.shape)})",
    )
    return (weight.size, *(1,) * (self.rank - 2)) if self.rank > 1 else (1,) * self.rank

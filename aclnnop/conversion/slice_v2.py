"""aclnnSliceV2: some slices along several dimensions."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT, INT64
from acl_emu.spec import Example, In, IntArrayIn, Operand, Out, Plan, numbers, operator, require
from aclnnop.conversion.moves import TRAINING
from aclnnop.conversion.slicing import TYPES, sliced


@operator(products=TRAINING)
def aclnnSliceV2(
    self: Annotated[Operand, In(*TYPES, rank=(1, 8))],
    starts: IntArrayIn,
    ends: IntArrayIn,
    axes: IntArrayIn,
    steps: IntArrayIn,
    out: Annotated[Operand, Out(*TYPES, rank=(1, 8))],
) -> Plan:
    """Take slices along each of ``axes``, as aclnnSlice does along one."""
    for name, values in (("ends", ends), ("axes", axes), ("steps", steps)):
        require(len(values) == len(starts), f"{name} has {len(values)} values, expected {len(starts)} as starts")
    places = {axis + self.rank if axis < 0 else axis for axis in axes.values}
    require(len(places) == len(axes), f"axes is {axes}, expected every dimension at most once")
    return sliced(self, out, list(zip(axes.values, starts.values, ends.values, steps.values, strict=True)))


@aclnnSliceV2.example
def examples() -> Iterator[Example]:
    """Two dimensions at once."""
    for dtype in (FLOAT, INT64):
        yield {
            "self": numbers((6, 3, 7), dtype, 1, 9),
            "starts": [1, -5],
            "ends": [6, 7],
            "axes": [0, -1],
            "steps": [2, 3],
            "out": numbers((3, 3, 2), dtype, 2),
        }

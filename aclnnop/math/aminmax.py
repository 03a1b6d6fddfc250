"""aclnnAminmax: the smallest and the largest element along some dimensions."""

from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import HandleKind
from aclnnop.math.extremes import both_ends

aclnnAminmax = both_ends("aclnnAminmax", HandleKind(IntArray), "Find the smallest and the largest element of every slice along ``dim``.")

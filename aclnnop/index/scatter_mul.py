"""aclnnScatterMul: slices that are combined in place, by one index each."""

from aclnnop.index.combining import combining
from aclnnop.index.scattering import Combine

aclnnScatterMul = combining(
    "aclnnScatterMul", Combine.MULTIPLY, "Multiply slices of ``varRef`` with those of ``updates``, each at its index."
)

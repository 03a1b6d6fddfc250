"""aclnnScatterMax: slices that are combined in place, by one index each."""

from aclnnop.index.combining import combining
from aclnnop.index.scattering import Combine

aclnnScatterMax = combining(
    "aclnnScatterMax", Combine.MAXIMUM, "Take the larger of slices of ``varRef`` and of ``updates``, each at its index, element by element."
)

"""aclnnScatterMin: slices that are combined in place, by one index each."""

from aclnnop.index.combining import combining
from aclnnop.index.scattering import Combine

aclnnScatterMin = combining(
    "aclnnScatterMin",
    Combine.MINIMUM,
    "Take the smaller of slices of ``varRef`` and of ``updates``, each at its index, element by element.",
    tiled=False,
)

"""aclnnScatterDiv: slices that are combined in place, by one index each."""

from aclnnop.index.combining import combining
from aclnnop.index.scattering import Combine

aclnnScatterDiv = combining("aclnnScatterDiv", Combine.DIVIDE, "Divide slices of ``varRef`` by those of ``updates``, each at its index.")

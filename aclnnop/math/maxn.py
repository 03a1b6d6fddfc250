"""aclnnMaxN: the largest elements of the tensors of a list."""

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT32, INT64
from aclnnop.math.combined_list import over_list

DOC = "Take the largest element at every place of the tensors of a list, which broadcast."
aclnnMaxN = over_list("aclnnMaxN", np.maximum, DOC, FLOAT, FLOAT16, BF16, INT8, INT32, INT64)

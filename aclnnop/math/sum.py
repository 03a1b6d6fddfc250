"""aclnnSum: the sum of the tensors of a list."""

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT8, INT32, UINT8
from aclnnop.math.combined_list import over_list

aclnnSum = over_list("aclnnSum", np.add, "Add up the tensors of a list, which broadcast.", FLOAT, FLOAT16, INT8, INT32, UINT8)

"""aclnnMinN: the smallest elements of the tensors of a list."""

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT32, INT64, UINT8
from acl_emu.spec import Product
from aclnnop.math.combined_list import over_list

DOC = "Take the smallest element at every place of the tensors of a list, which broadcast."
TYPES = (FLOAT, FLOAT16, BF16, INT8, INT32, INT64)
aclnnMinN = over_list("aclnnMinN", np.minimum, DOC, *TYPES, on={Product.A950: (*TYPES, UINT8)})

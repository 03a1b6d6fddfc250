"""aclnnForeachExpm1: aclnnExpm1 for every tensor of a list."""

import numpy as np

from acl_emu.core.dtypes import FLOAT, INT8, INT16, UINT8
from aclnnop.foreach.each import FLOATS, foreach
from aclnnop.math.expm1 import aclnnExpm1
from aclnnop.math.unary import in_float

aclnnForeachExpm1 = foreach(
    aclnnExpm1,
    *FLOATS,
    INT16,
    INT8,
    UINT8,
    plan=in_float(np.expm1),
    results=dict.fromkeys((INT16, INT8, UINT8), (FLOAT,)),
)

"""aclnnForeachExp: aclnnExp for every tensor of a list."""

import numpy as np

from acl_emu.core.dtypes import FLOAT, INT8, INT16, UINT8
from acl_emu.spec import Product
from aclnnop.foreach.each import FLOATS, foreach
from aclnnop.math.exp import aclnnExp
from aclnnop.math.unary import in_float

aclnnForeachExp = foreach(
    aclnnExp,
    *FLOATS,
    INT16,
    INT8,
    UINT8,
    plan=in_float(np.exp),
    results=dict.fromkeys((INT16, INT8, UINT8), (FLOAT,)),
    on={Product.A950: FLOATS},
)

"""aclnnForeachExp: aclnnExp for every tensor of a list."""

import numpy as np

from acl_emu.core.dtypes import INT8, INT16, UINT8
from aclnnop.foreach.each import FLOATS, foreach
from aclnnop.math.exp import aclnnExp
from aclnnop.math.unary import cast_to_result

aclnnForeachExp = foreach(aclnnExp, *FLOATS, INT16, INT8, UINT8, plan=cast_to_result(np.exp))

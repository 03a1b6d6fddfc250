"""Floating-point tensors of any rank, which most operators do not take."""

from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.runtime.tensor import MAX_RANK
from acl_emu.spec import In, Operand, Out

ANY_RANK = (0, MAX_RANK)
Values = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=ANY_RANK)]
ValuesOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=ANY_RANK)]

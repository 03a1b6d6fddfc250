"""Floating-point tensors of at least one dimension."""

from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import In, Operand, Out

Values = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=(1, 8))]
ValuesOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=(1, 8))]

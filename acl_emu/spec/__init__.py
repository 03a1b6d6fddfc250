"""The declaration language: an operator is one annotated function, and everything else is derived from it."""

from acl_emu.executor import Plan, nothing
from acl_emu.launch import Array, direct, mapped
from acl_emu.soc import ALL, Product
from acl_emu.spec.checks import (
    broadcast_shape,
    castable,
    length_is,
    promote,
    require,
    same_dtype,
    same_shape,
    shape_is,
    wrap_dim,
)
from acl_emu.spec.kinds import (
    Float,
    FloatIn,
    FloatOut,
    In,
    Int,
    Out,
    Reduction,
    ReductionMode,
)
from acl_emu.spec.operator import CHOICE, DTYPE, FORMAT, NULL, RANK, Operator, operator
from acl_emu.tensor import Operand

__all__ = [
    "ALL",
    "CHOICE",
    "DTYPE",
    "FORMAT",
    "NULL",
    "RANK",
    "Array",
    "Float",
    "FloatIn",
    "FloatOut",
    "In",
    "Int",
    "Operand",
    "Operator",
    "Out",
    "Plan",
    "Product",
    "Reduction",
    "ReductionMode",
    "broadcast_shape",
    "castable",
    "direct",
    "length_is",
    "mapped",
    "nothing",
    "operator",
    "promote",
    "require",
    "same_dtype",
    "same_shape",
    "shape_is",
    "wrap_dim",
]

"""The family of operators that tell something about every element: ``@predicate(types)`` over the formula declares one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BOOL, DType
from acl_emu.spec import Array, Example, In, Operand, Operator, Out, Plan, Product, numbers, same_shape
from acl_emu.spec.families import derived
from acl_emu.spec.kinds import TensorKind
from acl_emu.spec.operator import STANDARD_ORDER, Check
from aclnnop.math.binary import NOT_310B, Formula, applied
from aclnnop.math.unary import Types


def predicate(
    *types: DType,
    results: Types = (BOOL,),
    integers: Formula | None = None,
    products: frozenset[Product] = NOT_310B,
    const_out: bool = False,
    checks: tuple[Check, ...] = STANDARD_ORDER,
) -> Callable[[Formula], Operator]:
    """Declare ``aclnnXxx(input, out)``, whose name, parameter's name, summary and formula are those of the function below.

    ``integers`` is the formula of integers where it is another one.
    """

    def declare(formula: Formula) -> Operator:
        (first,) = inspect.signature(formula).parameters
        kinds = {first: In(*types), "out": Out(*results, const=const_out)}

        def plan(self: Operand, out: Operand) -> Plan:
            same_shape(self, out)
            chosen = integers if integers is not None and self.dtype.kind in ("integer", "bool") else formula
            return applied(chosen, (self,), self.dtype, out, is_truth=True)

        doc = inspect.getdoc(formula) or ""
        operator = derived(formula.__name__, kinds, plan, module=formula.__module__, doc=doc, products=products, checks=checks)
        operator.example(lambda: predicate_examples(operator))
        return operator

    return declare


def predicate_examples(operator: Operator) -> Iterator[Example]:
    """Numbers around zero, both zeros and infinities among them."""
    (first, taken), (out, given) = operator.parameters
    assert isinstance(taken, TensorKind)
    assert isinstance(given, TensorKind)
    for dtype in taken.dtypes_on(soc.current()):
        x = numbers((3, 4, 5), dtype, 1, 2)
        if dtype.kind == "float":
            x[0, 0] = np.array((np.inf, -np.inf, 1.0, 0.0, -0.0)).astype(dtype.numpy)
        yield {first: x, out: numbers((3, 4, 5), dtype if dtype in given.allowed else BOOL, 2)}


def never(x: Array) -> Any:
    """False for every number that equals itself, as integers do."""
    return x != x


def always(x: Array) -> Any:
    """True for every number that equals itself."""
    return x == x

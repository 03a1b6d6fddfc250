"""The family of operators that combine all tensors of a list, which broadcast to the result: sum, maximum, minimum."""

from collections.abc import Iterator
from functools import reduce

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT32, DType
from acl_emu.spec import Array, Example, In, ListOf, Operand, Operator, Out, Plan, Product, broadcast_shape, numbers, same_dtype, shape_is
from acl_emu.spec.families import calling_module, derived
from aclnnop.math.binary import applied
from aclnnop.math.reduction import NOT_310B


def over_list(
    name: str,
    ufunc: np.ufunc,
    doc: str,
    *types: DType,
    on: dict[Product, tuple[DType, ...]] | None = None,
    products: frozenset[Product] = NOT_310B,
) -> Operator:
    """``aclnnXxx(tensors, out)``: the members and ``out`` have one type."""

    def kernel(*terms: Array) -> Array:
        return reduce(ufunc, terms)

    def plan(tensors: list[Operand], out: Operand) -> Plan:
        same_dtype(*tensors, out)
        shape_is(out, broadcast_shape(*tensors), "that of the result")
        return applied(kernel, tensors, out.dtype, out)

    kinds = {"tensors": ListOf(In(*types, on=on)), "out": Out(*types, on=on)}
    made = derived(name, kinds, plan, module=calling_module(), doc=doc, products=products)

    @made.example
    def examples() -> Iterator[Example]:
        for shapes, dtype in ((((3, 4), (4,)), FLOAT), (((3, 4),), FLOAT16), (((3, 1), (1, 4), ()), INT32)):
            yield {"tensors": [numbers(shape, dtype, seed, 9) for seed, shape in enumerate(shapes)], "out": numbers((3, 4), dtype, 9)}

    return made

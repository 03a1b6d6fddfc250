"""The family of operators that apply a formula of one or two tensors and some numbers to every element: activations and their gradients.

``@pointwise(types)`` over the formula declares one. The formula's parameters are the operator's: those annotated with ``Array`` are
tensors, the others have the kind that their annotation names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Annotated, Any, get_type_hints

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, DOUBLE, FLOAT, FLOAT16, INT32, DType
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    ALL,
    Array,
    Example,
    HandleKind,
    In,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    between,
    broadcast_shape,
    castable,
    mapped,
    numbers,
    promote,
    same_dtype,
    same_shape,
    shape_is,
)
from acl_emu.spec.families import derived
from acl_emu.spec.kinds import Kind, TensorKind
from aclnnop.math.arithmetic import as_integer
from aclnnop.math.conversion import converted as cast

Formula = Callable[..., Any]
Types = tuple[DType, ...]

Real = Annotated[float, HandleKind(Scalar)]
"""A number in an aclScalar of any type."""
OptionalReal = Annotated[float | None, HandleKind(Scalar, optional=True)]
FloatReal = Annotated[float, HandleKind(Scalar, FLOAT)]
"""A number in an aclScalar that has to be FLOAT."""

OLDER = frozenset({Product.A310P, Product.A910})
NEWER = frozenset({Product.A950, Product.A3, Product.A2})


# What is computed in: a rule checks the types of the tensors and names the computing type.


def same(tensors: Sequence[Operand], out: Operand) -> DType:
    """All tensors have one type."""
    same_dtype(*tensors, out)
    return tensors[0].dtype


def converted(tensors: Sequence[Operand], out: Operand) -> DType:
    """All inputs have one type, and the result is cast to that of the output."""
    same_dtype(*tensors)
    castable(tensors[0].dtype, out)
    return tensors[0].dtype


def promoted(tensors: Sequence[Operand], out: Operand) -> DType:
    """The inputs are promoted, and the result is cast to the type of the output."""
    via = promote(*tensors)
    castable(via, out)
    return via


# Which shapes go together.


def equal(tensors: Sequence[Operand], out: Operand) -> None:
    """All tensors have one shape."""
    same_shape(*tensors, out)


def broadcast(tensors: Sequence[Operand], out: Operand) -> None:
    """The inputs broadcast, and the output has the shape that they broadcast to."""
    shape_is(out, broadcast_shape(*tensors), "that of the inputs, broadcast")


def number(scalar: Scalar, via: DType) -> Any:
    """A scalar as the formula gets it: as a kernel's attribute, of single precision where the result is; integers where that is."""
    if via.kind in ("integer", "bool"):
        return scalar.converted(via)
    return scalar.as_real() if via.bits > 32 else float(np.float32(scalar.as_real()))


def pointwise(
    *types: DType,
    rule: Callable[[Sequence[Operand], Operand], DType] = same,
    shapes: Callable[[Sequence[Operand], Operand], None] = equal,
    check: Callable[..., None] | None = None,
    integers: str = "exact",
    inputs: Mapping[str, Types] | None = None,
    results: Types = (),
    on: Mapping[Product, Types] | None = None,
    products: frozenset[Product] = ALL,
    out: str = "out",
    const_out: bool = False,
    settings: Sequence[Mapping[str, Any]] = ({},),
) -> Callable[[Formula], Operator]:
    """Declare ``aclnnXxx(..., out)``, whose name, parameters, summary and formula are those of the function below.

    ``types`` are those of all tensors, unless ``inputs`` or ``results`` list others; ``on``: where a product has others. ``check`` gets
    the numbers and raises where one is out of range. ``integers`` is "truncated" where integers are computed in FLOAT and cut off.
    ``settings`` are the numbers of the examples, in turn.
    """

    def declare(formula: Formula) -> Operator:
        hints = get_type_hints(formula, include_extras=True)
        names = tuple(inspect.signature(formula).parameters)
        tensor_names = tuple(name for name in names if hints[name] == Array)
        attribute_names = tuple(name for name in names if name not in tensor_names)
        listed = dict(on or {})
        kinds: dict[str, Kind] = {
            name: In(*(inputs or {}).get(name, types), on={} if name in (inputs or {}) else listed)
            if name in tensor_names
            else hints[name].__metadata__[0]
            for name in names
        }
        kinds[out] = Out(*(results or types), const=const_out, on={} if results else listed)

        def plan(*values: Any) -> Plan:
            *given, result = values
            arguments = dict(zip(names, given, strict=True))
            tensors = [arguments[name] for name in tensor_names]
            via = rule(tensors, result)
            shapes(tensors, result)
            attributes = {name: number(value, via) if isinstance(value := arguments[name], Scalar) else value for name in attribute_names}
            if check is not None:
                check(**attributes)

            def kernel(*arrays: Array) -> Any:
                return formula(**dict(zip(tensor_names, arrays, strict=True)), **attributes)

            return applied(kernel, via, tensors, result, integers=integers)

        doc = inspect.getdoc(formula) or ""
        operator = derived(formula.__name__, kinds, plan, module=formula.__module__, doc=doc, products=products)
        operator.example(lambda: examples(operator, settings))
        return operator

    return declare


def applied(kernel: Formula, via: DType, tensors: Sequence[Operand], result: Operand, *, integers: str = "exact") -> Plan:
    """``result = kernel(*tensors)`` in the type of ``via``; integers are computed in FLOAT where they are to be truncated."""
    if via.kind not in ("integer", "bool"):
        return mapped(kernel, reads=tensors, writes=(result,), dtype=via)
    if integers == "exact":
        counted = kernel if via is not BOOL else lambda *arrays: kernel(*map(as_integer, arrays))
        return mapped(counted, reads=tensors, writes=(result,), dtype=via)

    def truncated(*arrays: Array) -> Array:
        return cast(kernel(*arrays), result.dtype)

    return mapped(truncated, reads=tensors, writes=(result,), dtype=FLOAT, raw=(result,))


def examples(operator: Operator, settings: Sequence[Mapping[str, Any]]) -> Iterator[Example]:
    """Numbers on both sides of zero, of several types; the numbers beside them in turn."""
    kinds = {name: kind for name, kind in operator.parameters if isinstance(kind, TensorKind)}
    result = operator.parameters[-1][0]
    turn = cycle(settings)
    for dtype in (FLOAT, BF16, FLOAT16, DOUBLE, COMPLEX64, INT32):
        for _ in range(len(settings) if dtype is FLOAT else 1):
            if not all(dtype in kind.allowed for kind in kinds.values()):
                continue
            example: Example = dict(next(turn))
            for seed, name in enumerate(kinds):
                integers = dtype.kind == "integer"
                example[name] = between(-5, 6, (3, 4, 5), dtype, seed) if integers else numbers((3, 4, 5), dtype, seed, 2)
            assert result in example
            yield {name: example[name] for name in operator.names}

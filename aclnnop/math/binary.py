"""The family of operators that combine two tensors, or a tensor and a number, element by element: ``@binary(types)`` declares one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from acl_emu.core import dtypes, soc
from acl_emu.core.dtypes import (
    BF16,
    BOOL,
    COMPLEX32,
    COMPLEX64,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)
from acl_emu.runtime.tensor import Scalar, Shape
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
    promote_scalar,
    require,
    shape_is,
)
from acl_emu.spec.families import calling_module, derived
from acl_emu.spec.kinds import Kind, TensorKind
from aclnnop.math.arithmetic import as_integer, half_parts
from aclnnop.math.conversion import converted
from aclnnop.math.unary import COMPLEX, REALS, Types, without_bf16

Formula = Callable[..., Any]
Value = Operand | Scalar | None
Rule = Callable[[DType, Operand], DType]

INTEGERS = (INT8, INT16, INT32, INT64, UINT8)
UNSIGNED = (UINT16, UINT32, UINT64)
"""What combines with its own type only."""
REAL_NUMBERS = (*REALS, *INTEGERS, BOOL)
NUMBERS = (*REAL_NUMBERS, *COMPLEX)
EVERY = (*NUMBERS, *UNSIGNED)
ORDERED = (*REAL_NUMBERS, *UNSIGNED)
BITS = (*INTEGERS, UINT16, BOOL)
WIDE_BITS = (*BITS, UINT32, UINT64)

NOT_310B = ALL - {Product.A310B}
NOT_310 = NOT_310B - {Product.A310P}
NARROWER: dict[Product, Types] = dict.fromkeys((Product.A3, Product.A2, Product.A910), NUMBERS)
"""Where wide unsigned numbers are neither compared for equality nor written."""


# What the result is, and what is computed in: a rule gets the promoted type, checks that of ``out`` and names the computing type.


def kept(dtype: DType, out: Operand) -> DType:
    """A number of the promoted type, cast to that of the output."""
    castable(dtype, out)
    return dtype


def floating(dtype: DType, out: Operand) -> DType:
    """A floating-point number: integers are taken as FLOAT, or as DOUBLE where the result is one, and may be cast back."""
    castable(dtype, out)
    return dtype if dtype.kind in ("float", "complex") else DOUBLE if out.dtype is DOUBLE else FLOAT


def truth(dtype: DType, out: Operand) -> DType:
    """A truth value, which every type holds."""
    return dtype


def binary(
    *types: DType,
    results: Types = (),
    rule: Rule = kept,
    integers: Formula | None = None,
    computed: TensorKind | None = None,
    on: dict[Product, Types] | None = None,
    results_on: dict[Product, Types] | None = None,
    products: frozenset[Product] = NOT_310B,
    const_out: bool = False,
) -> Callable[[Formula], Operator]:
    """Declare ``aclnnXxx(first, second, out)``, whose name, names of parameters, summary and formula are those of the function below.

    ``types`` are those of both tensors, ``on`` where a product has others; ``results`` and ``results_on`` are those of ``out`` where they
    differ. ``integers`` is the formula of integers where it is another one.
    ``computed`` declares which promoted types there are, where not all of them are computed in.
    """

    def declare(formula: Formula) -> Operator:
        first, second = inspect.signature(formula).parameters
        taken = {Product.A310B: without_bf16(types), **(on or {})}
        given = results_on if results_on is not None else {Product.A310B: without_bf16(results)} if results else taken
        kinds = {first: In(*types, on=taken), second: In(*types, on=taken), "out": Out(*(results or types), const=const_out, on=given)}

        def plan(left: Value, right: Value, out: Operand) -> Plan:
            dtype = common(first, left, second, right)
            if computed is not None:
                allowed = computed.dtypes_on(soc.current())
                require(dtype in allowed, f"{first} and {second} are combined in {dtype}, expected one of {', '.join(map(str, allowed))}")
            via = rule(dtype, out)
            shape_is(out, result_shape(left, right), "that of the result")
            chosen = integers if integers is not None and via.kind in ("integer", "bool") else formula
            return applied(chosen, (left, right), via, out, is_truth=rule is truth)

        doc = inspect.getdoc(formula) or ""
        operator = derived(formula.__name__, kinds, plan, module=formula.__module__, doc=doc, products=products)
        operator.example(lambda: binary_examples(operator, computed))
        return operator

    return declare


def with_scalar(
    plain: Operator,
    name: str,
    *,
    scalar: str = "",
    types: Types = (),
    tensor: TensorKind | None = None,
    out: TensorKind | None = None,
    products: frozenset[Product] | None = None,
) -> Operator:
    """``plain``, an operator of two tensors, with a number in place of one: of the second, or of the one called ``scalar``.

    ``types`` are those of the number, ``tensor`` and ``out`` the kinds of the other parameters, where they are not the plain operator's.
    """
    (first, left), (second, right), (last, result) = plain.parameters
    assert isinstance(left, TensorKind)
    scalar = scalar or second
    number = HandleKind(Scalar, *(types or left.allowed))
    kinds: dict[str, Kind] = {first: tensor or left, second: tensor or right, last: out or result, scalar: number}
    operator = derived(
        name,
        kinds,
        plain.function,
        module=calling_module(),
        doc=f"{plain.summary.rstrip('.')}, where ``{scalar}`` is a number.",
        products=plain.products if products is None else products,
        checks=plain.checks,
    )
    tensor_name, stored = (second if scalar == first else first), kinds[last]
    assert isinstance(stored, TensorKind)

    @operator.example
    def from_plain() -> Iterator[Example]:
        for example in plain.examples():
            result = example[last]
            if dtypes.from_numpy(result.dtype) in stored.allowed:
                expanded = np.broadcast_to(example[tensor_name], result.shape).copy()
                yield {**example, tensor_name: expanded, scalar: example[scalar].ravel()[0]}

    return operator


def common(first: str, left: Value, second: str, right: Value) -> DType:
    """The type that two tensors, or a tensor and a number, are combined in."""
    if isinstance(left, Scalar):
        assert isinstance(right, Operand)
        return promote_scalar(right, left, first)
    assert left is not None
    return promote_scalar(left, right, second) if isinstance(right, Scalar) else promote(left, right)


def result_shape(*values: Value) -> Shape:
    """What the tensors among the values broadcast to."""
    return broadcast_shape(*[value for value in values if isinstance(value, Operand)])


def applied(
    formula: Formula,
    values: Sequence[Value],
    via: DType,
    out: Operand,
    *,
    is_truth: bool = False,
    masks: Sequence[Operand] = (),
) -> Plan:
    """``out = formula(*values)``, evaluated in the type of ``via``; truth values are the integers 0 and 1.

    Numbers are converted to ``via``, a null value stays None, ``masks`` are handed over as they are.
    ``is_truth``: the formula gives truth values, which are stored as such.
    """
    # No array type has half-precision parts.
    real = COMPLEX64 if via is COMPLEX32 else via
    constants = [scalar_number(value, real, halved=via is COMPLEX32) if isinstance(value, Scalar) else None for value in values]
    tensors = [value for value in values if isinstance(value, Operand)]
    is_tensor = [isinstance(value, Operand) for value in values]
    masked = [tensor in masks for tensor in tensors]
    stored = out.dtype
    stored_as_is = is_truth or not dtypes.can_cast(via, stored)

    def kernel(*arrays: Array) -> Any:
        given = (values if is_mask or via is not BOOL else as_integer(values) for values, is_mask in zip(arrays, masked, strict=True))
        result = formula(*[next(given) if tensor else constant for tensor, constant in zip(is_tensor, constants, strict=True)])
        if via is COMPLEX32 and not is_truth:
            result = half_parts(result)
        return converted(dtypes.round_to(np.asarray(result), real), stored) if stored_as_is and not is_truth else result

    # An output that is stored as it comes has to be told apart from the input that it may also be, which is cast like the others.
    target = Operand(out.name, out.view, out.place) if stored_as_is else out
    return mapped(
        kernel,
        reads=tensors,
        writes=(target,),
        dtype=real,
        raw=(*masks, target) if stored_as_is else masks,
    )


def scalar_number(scalar: Scalar, via: DType, *, halved: bool = False) -> Any:
    """A number as the kernel gets it."""
    value = scalar.converted(via)
    return half_parts(value)[()] if halved else np.int8(value) if via is BOOL else value


SHOWN = (FLOAT, FLOAT16, BF16, DOUBLE, COMPLEX64, INT8, INT32, INT64, UINT64, BOOL)
"""What examples are made of, as far as an operator takes it."""


def binary_examples(operator: Operator, computed: TensorKind | None = None) -> Iterator[Example]:
    """Small numbers of several types of the chip, none of them zero, in tensors that broadcast."""
    (first, taken), (second, _), *_, (out, given) = operator.parameters
    assert isinstance(taken, TensorKind)
    assert isinstance(given, TensorKind)
    inputs, outputs, promoted = (kind.dtypes_on(soc.current()) for kind in (taken, given, computed or taken))
    for dtype in SHOWN:
        if dtype in inputs and dtype in promoted:
            result = next(one for one in (dtype, BOOL, FLOAT) if one in outputs)
            yield {first: small((3, 4, 5), dtype, 1), second: small((4, 1), dtype, 2), out: numbers((3, 4, 5), result, 3)}


def small(shape: Shape, dtype: DType, seed: int) -> Array:
    """Numbers from 1 to 5, in truth values both of them."""
    if dtype.kind == "complex":
        return numbers(shape, dtype, seed)
    return between(0, 2, shape, dtype, seed) if dtype is BOOL else between(1, 6, shape, dtype, seed)

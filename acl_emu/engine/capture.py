"""From a kernel, a pure numpy function, to the graph of what it does with its arrays.

The kernel is called with symbols in place of arrays. They record arithmetic, comparisons, selections, functions, casts and
reductions, with the types that numpy would give them; whatever else a kernel does with one raises ``Uncapturable``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from acl_emu.engine.graph import BOOL, INT64, DType, Graph, Node, Shape, Uncapturable
from acl_emu.engine.numbers import Answers, Number, sample_of, with_numbers


class Input(NamedTuple):
    """An array that a kernel is called with."""

    shape: Shape
    dtype: DType
    """As it is stored."""
    casts: tuple[DType, ...] = ()
    """The types that it is cast to, one after the other, before the kernel sees it."""


def capture(
    kernel: Callable[..., Any], inputs: Sequence[Input | None], attributes: dict[str, Any], answers: Answers | None = None
) -> Graph:
    """The graph of ``kernel(*inputs, **attributes)``; an input that was null is None.

    With ``answers`` the numbers of the kernel and its attributes, which it was made for, are filled in later.
    """
    graph = Graph()
    arguments: list[Symbol | None] = []
    for given in inputs:
        if given is None:
            arguments.append(None)
            continue
        node = graph.node("input", (), given.shape, given.dtype, detail=sum(one is not None for one in arguments))
        for dtype in given.casts:
            node = graph.cast(node, dtype)
        arguments.append(Symbol(graph, node, given.shape))
    if answers is not None:
        kernel, attributes = with_numbers((kernel, attributes), answers.numbers())
    try:
        with np.errstate(all="ignore"):
            results = kernel(*arguments, **attributes)
    except Exception as error:  # whatever a kernel may do with an array and not with a symbol
        raise Uncapturable(str(error)) from None
    for symbol in results if isinstance(results, tuple) else (results,):
        if not isinstance(symbol, Symbol):
            raise Uncapturable("a result does not depend on the inputs")
        graph.outputs.append(symbol.node)
        graph.shapes.append(symbol.lengths)
    return graph


_REVERSED: dict[Any, Any] = {np.greater: np.less, np.greater_equal: np.less_equal}
_ON_BITS: dict[Any, Any] = {
    np.bitwise_and: np.logical_and,
    np.bitwise_or: np.logical_or,
    np.bitwise_xor: np.logical_xor,
    np.invert: np.logical_not,
}
"""The same of truth values."""
_LOGICAL = frozenset(_ON_BITS.values())
_METHODS: dict[Any, str] = {
    np.sum: "sum",
    np.prod: "prod",
    np.max: "max",
    np.amax: "max",
    np.min: "min",
    np.amin: "min",
    np.any: "any",
    np.all: "all",
    np.argmax: "argmax",
    np.argmin: "argmin",
    np.mean: "mean",
    np.var: "var",
    np.std: "std",
    np.cumsum: "cumsum",
    np.cumprod: "cumprod",
    np.clip: "clip",
    np.reshape: "reshape",
    np.squeeze: "squeeze",
}
_NUMBERS = (bool, int, float)


class Symbol(NDArrayOperatorsMixin):
    """Stands for an array in a kernel that is being captured."""

    def __init__(self, graph: Graph, node: Node, shape: Shape) -> None:
        self.graph = graph
        self.node = node
        self.lengths = shape
        """What the engine works with; kernels ask for ``shape``."""

    @property
    def shape(self) -> Shape:
        """Its lengths, for the kernel, whose graph then holds for these only."""
        self.graph.is_sized = True
        return self.lengths

    @property
    def dtype(self) -> DType:
        """The type of its elements."""
        return self.node.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.lengths)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Uncapturable("the kernel asks for elements")

    def __bool__(self) -> bool:
        raise Uncapturable("the kernel branches on elements")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # numpy looks for protocols
        raise Uncapturable(f"the kernel uses .{name}")

    def __getitem__(self, index: Any) -> Any:
        raise Uncapturable("the kernel picks elements")

    __setitem__ = __getitem__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Symbol:
        if method != "__call__" or options:
            raise Uncapturable(f"the kernel uses {ufunc.__name__} with {method} or options")
        if ufunc in _REVERSED:
            ufunc, inputs = _REVERSED[ufunc], inputs[::-1]
        if ufunc in _ON_BITS and all(_dtype_of(value) in (BOOL, bool) for value in inputs):
            ufunc = _ON_BITS[ufunc]
        if ufunc is np.logaddexp:
            return _log_add_exp(*inputs)
        if ufunc.nout != 1 or ufunc.signature is not None:
            raise Uncapturable(f"the kernel uses {ufunc.__name__}")
        if ufunc in _LOGICAL:
            return self.apply(ufunc.__name__, [BOOL] * len(inputs), BOOL, *inputs)
        *taken, result = ufunc.resolve_dtypes((*map(_dtype_of, inputs), None))
        return self.apply(ufunc.__name__, taken, result, *inputs)

    def __array_function__(self, function: Any, types: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Symbol:
        if function is np.where and len(arguments) == 3 and not options:
            condition, *branches = arguments
            dtype = np.result_type(*(value.dtype if isinstance(value, Symbol) else sample_of(value) for value in branches))
            return self.apply("where", [BOOL, dtype, dtype], dtype, condition, *branches)
        if function is np.broadcast_to and not options:
            symbol, shape = arguments
            if symbol.lengths != symbol.node.shape:
                raise Uncapturable("the kernel broadcasts an array whose axes do not line up")
            return self._made(self.graph.broadcast(symbol.node, tuple(shape)), tuple(shape))
        if function in _METHODS:
            found: Symbol = getattr(arguments[0], _METHODS[function])(*arguments[1:], **options)
            return found
        raise Uncapturable(f"the kernel uses {function.__name__}")

    # Reductions

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Symbol:
        """The sum along axes; integers and truth values are counted in the widest type, as numpy does."""
        return self._accumulated("sum", axis, dtype, keepdims)

    def prod(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Symbol:
        """The product along axes."""
        return self._accumulated("prod", axis, dtype, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Symbol:
        """The largest element along axes; NaN is larger than everything."""
        return self._reduced("max", axis, keepdims, self.dtype)

    def min(self, axis: Any = None, keepdims: bool = False) -> Symbol:
        """The smallest element along axes; NaN, if there is one."""
        return self._reduced("min", axis, keepdims, self.dtype)

    def any(self, axis: Any = None, keepdims: bool = False) -> Symbol:
        """Whether one is not zero."""
        return self.astype(BOOL)._reduced("max", axis, keepdims, BOOL)

    def all(self, axis: Any = None, keepdims: bool = False) -> Symbol:
        """Whether none is zero."""
        return self.astype(BOOL)._reduced("min", axis, keepdims, BOOL)

    def argmax(self, axis: Any = None, keepdims: bool = False) -> Symbol:
        """Where the first of the largest elements is."""
        return self._located("argmax", axis, keepdims)

    def argmin(self, axis: Any = None, keepdims: bool = False) -> Symbol:
        """Where the first of the smallest elements is."""
        return self._located("argmin", axis, keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Symbol:
        """The mean along axes; of integers in float64."""
        dtype = dtype or (self.dtype if self.dtype.kind == "f" else np.float64)
        average: Symbol = self.sum(axis, dtype, keepdims) / self._count(axis)
        return average

    def var(self, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Symbol:
        """The variance along axes, from differences to the mean."""
        differences = self - self.mean(axis, dtype, keepdims=True)
        variance: Symbol = (differences * differences).sum(axis, keepdims=keepdims) / max(self._count(axis) - ddof, 0)
        return variance

    def std(self, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Symbol:
        """The root of the variance."""
        variance = self.var(axis, dtype, ddof, keepdims)
        return variance.apply("sqrt", [variance.dtype], variance.dtype, variance)

    def cumsum(self, axis: Any = None, dtype: Any = None) -> Symbol:
        """Sums of all elements up to each."""
        return self._scanned("cumsum", axis, dtype)

    def cumprod(self, axis: Any = None, dtype: Any = None) -> Symbol:
        """Products of all elements up to each."""
        return self._scanned("cumprod", axis, dtype)

    # Shapes and types

    def clip(self, least: Any = None, most: Any = None) -> Symbol:
        """Within limits; NaN stays."""
        inside: Any = self if least is None else np.maximum(self, least)
        found: Symbol = inside if most is None else np.minimum(inside, most)
        return found

    def reshape(self, *shape: Any) -> Symbol:
        """The same elements; only axes of length 1 may come and go."""
        wanted: Shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else tuple(shape)
        if long_axes(wanted) != long_axes(self.lengths):
            raise Uncapturable(f"the kernel reshapes {self.lengths} to {wanted}")
        return self._made(self.node, wanted)

    def squeeze(self, axis: int | None = None) -> Symbol:
        """Without axes of length 1."""
        gone = range(self.ndim) if axis is None else (axis % self.ndim,)
        return self.reshape(tuple(length for one, length in enumerate(self.lengths) if one not in gone or length != 1))

    def astype(self, dtype: Any, copy: bool = True) -> Symbol:
        """The same elements in another type."""
        return self._made(self.graph.cast(self.node, np.dtype(dtype)), self.lengths)

    # Making nodes

    def apply(self, op: str, taken: Sequence[DType], result: DType, *values: Any) -> Symbol:
        """A function of some values, each taken as a type; symbols broadcast."""
        if op == "divide" and type(values[1]) is Number and values[1].cast(taken[1]) == 1:
            values = (values[0], 1)  # nothing is divided
        nodes = tuple(self._operand(value, dtype) for value, dtype in zip(values, taken, strict=True))
        shape, node_shape = self._common([value for value in values if isinstance(value, Symbol)])
        return self._made(self.graph.node(op, nodes, node_shape, result), shape)

    def _operand(self, value: Any, dtype: DType) -> Node:
        if isinstance(value, Symbol):
            return self.graph.cast(value.node, dtype)
        if type(value) is Number:
            return self.graph.filled(value.expression, (dtype,))
        if isinstance(value, np.ndarray) and value.ndim:
            raise Uncapturable("the kernel uses an array of its own")
        return self.graph.constant(np.asarray(value).astype(dtype).item(), dtype)

    @staticmethod
    def _common(symbols: Sequence[Symbol]) -> tuple[Shape, Shape]:
        """The shapes of a result: as the kernel sees it, and as its node broadcasts."""
        if any(symbol.lengths != symbol.node.shape for symbol in symbols):
            # Axes were dropped or added: such symbols only combine with their likes.
            if len({(symbol.lengths, symbol.node.shape) for symbol in symbols}) > 1:
                raise Uncapturable("the kernel combines arrays whose axes do not line up")
            return symbols[0].lengths, symbols[0].node.shape
        shape = np.broadcast_shapes(*(symbol.lengths for symbol in symbols))
        return shape, shape

    def _made(self, node: Node, shape: Shape) -> Symbol:
        return Symbol(self.graph, node, shape)

    def _axes(self, axis: Any) -> frozenset[int]:
        """Counted from the end."""
        if self.lengths != self.node.shape:
            raise Uncapturable("the kernel reduces an array whose axes do not line up")
        wanted = range(self.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        return frozenset(one % self.ndim - self.ndim for one in wanted)

    def _count(self, axis: Any) -> int:
        return math.prod(self.shape[one] for one in self._axes(axis))

    def _accumulated(self, op: str, axis: Any, dtype: Any, keepdims: bool) -> Symbol:
        by_default = self.dtype if self.dtype.kind == "f" else np.dtype(np.uint64) if self.dtype.kind == "u" else INT64
        result = np.dtype(dtype) if dtype is not None else by_default
        terms = self.astype(result) if (self.dtype.kind == "f") != (result.kind == "f") or self.dtype == BOOL else self
        return terms._reduced(op, axis, keepdims, result)

    def _reduced(self, op: str, axis: Any, keepdims: bool, dtype: DType) -> Symbol:
        axes = self._axes(axis)
        if not axes:
            return self.astype(dtype)
        rank = self.ndim
        kept = tuple(1 if i - rank in axes else length for i, length in enumerate(self.lengths))
        shape = kept if keepdims else tuple(length for i, length in enumerate(self.lengths) if i - rank not in axes)
        if kept != self.lengths:
            return self._made(self.graph.node(op, (self.node,), kept, dtype, detail=axes), shape)
        only = self.astype(dtype)
        # A sum begins with zero: that of a negative zero is positive.
        return self._made((only + dtype.type(0) if op == "sum" else only).node, shape)

    def _located(self, op: str, axis: Any, keepdims: bool) -> Symbol:
        if axis is None and self.ndim != 1:
            raise Uncapturable(f"the kernel looks for the {op} of several axes")
        found = self._reduced(op, axis, keepdims, INT64)
        if found.node.op != op:
            raise Uncapturable(f"the kernel looks for the {op} of one element")
        return found

    def _scanned(self, op: str, axis: Any, dtype: Any) -> Symbol:
        axes = self._axes(axis)
        if len(axes) != 1:
            raise Uncapturable(f"the kernel takes the {op} along several axes")
        result = np.dtype(dtype) if dtype is not None else self.dtype if self.dtype.kind == "f" else INT64
        return self._made(self.graph.node(op, (self.astype(result).node,), self.lengths, result, detail=axes), self.lengths)


def _log_add_exp(x: Any, y: Any) -> Symbol:
    """log(exp(x) + exp(y)), the larger one taken out; of equal ones, infinities among them, there is no difference."""
    if not isinstance(x, Symbol) and x == 0:
        positive: Symbol = np.maximum(0, y) + np.log1p(np.exp(-np.abs(y)))
        return positive
    apart: Symbol = np.where(np.equal(x, y), x + math.log(2), np.maximum(x, y) + np.log1p(np.exp(-np.abs(x - y))))
    return apart


def _dtype_of(value: Any) -> Any:
    """What numpy resolves types by; Python's own numbers give way to any other of their kind."""
    value = sample_of(value)
    if isinstance(value, bool):
        return BOOL
    return type(value) if isinstance(value, _NUMBERS) and not isinstance(value, np.generic) else np.dtype(value.dtype)


def long_axes(shape: Shape) -> Shape:
    """The lengths that are not 1."""
    return tuple(length for length in shape if length != 1)

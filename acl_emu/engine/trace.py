"""From a kernel, a pure numpy function, to the graph of what it does with its arrays.

The kernel is called with symbols in place of arrays. They record arithmetic, comparisons, selections, elementary functions and
reductions; whatever else a kernel does with one raises ``Untraceable``, and numpy runs it as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

Shape = tuple[int, ...]


class Untraceable(Exception):
    """The kernel does something that has no place in a graph."""


class Node:
    """One step of the computation; equal steps of a graph are one object."""

    __slots__ = ("arguments", "detail", "mask", "op", "shape")

    def __init__(self, op: str, arguments: tuple[Node, ...], shape: Shape, mask: bool, detail: Any) -> None:
        self.op = op
        """``input``, ``constant``, ``same`` (broadcast), ``sum``, ``max``, or the name of a function of the engine."""
        self.arguments = arguments
        self.shape = shape
        """As it broadcasts against the others; reduced axes have length 1."""
        self.mask = mask
        """Whether it is a truth value, not a number."""
        self.detail = detail
        """Index of an input, value of a constant, axes of a reduction (counted from the end)."""

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.arguments)) if self.arguments else self.detail
        return f"{self.op}({inside})"


class Graph:
    """What a kernel computes."""

    def __init__(self, compute: np.dtype[Any]) -> None:
        self.compute = compute
        self.outputs: list[Node] = []
        self.shapes: list[Shape] = []
        """The shapes that the kernel gave its results: those of the nodes, but for axes of length 1."""
        self._known: dict[Any, Node] = {}

    def node(self, op: str, arguments: tuple[Node, ...], shape: Shape, *, mask: bool = False, detail: Any = None) -> Node:
        """The node of a step, without what changes no bit: factors of 1, a sign that is lost.

        exp(x - y), exp(x * y) and log(x / (1 - x)) are one step each: what the inner ones round off would show in the result.
        """
        if op in ("mul", "div") and _is_one(arguments[1]):
            return self._spread(arguments[0], shape)
        if op == "mul" and _is_one(arguments[0]):
            return self._spread(arguments[1], shape)
        if op in ("abs", "square") and arguments[0].op == "neg":
            arguments = arguments[0].arguments
        if op == "exp" and arguments[0].op == "sub":
            op, arguments = "exp_of_difference", arguments[0].arguments
        if op == "exp" and (factors := self._factors(arguments[0])):
            op, arguments = "exp_of_product", factors
        if op == "log" and _is_odds(arguments[0]):
            op, arguments = "log_of_odds", arguments[0].arguments[:1]
        key = (op, tuple(map(id, arguments)), shape, mask, detail)
        return self._known.setdefault(key, Node(op, arguments, shape, mask, detail))

    def constant(self, value: float | int) -> Node:
        """A number; zeros of different sign differ."""
        key = ("constant", value.hex() if isinstance(value, float) else value)
        return self._known.setdefault(key, Node("constant", (), (), False, value))

    def _factors(self, node: Node) -> tuple[Node, ...]:
        """The factors of a product that is rounded; signs are those of either."""
        if node.op == "mul" and not any(map(_is_power_of_two, node.arguments)):
            return node.arguments
        if node.op in ("neg", "abs") and (factors := self._factors(node.arguments[0])):
            first, second = factors
            other = self.node("abs", (second,), second.shape) if node.op == "abs" else second
            return self.node(node.op, (first,), first.shape), other
        return ()

    def _spread(self, node: Node, shape: Shape) -> Node:
        return node if node.shape == shape else self.node("same", (node,), shape, mask=node.mask)

    @property
    def nodes(self) -> list[Node]:
        """Every node that the outputs need, after its arguments."""
        seen: dict[Node, None] = {}

        def visit(node: Node) -> None:
            if node not in seen:
                for argument in node.arguments:
                    visit(argument)
                seen[node] = None

        for output in self.outputs:
            visit(output)
        return list(seen)


def trace(
    kernel: Callable[..., Any], inputs: Sequence[tuple[Shape, np.dtype[Any]] | None], compute: np.dtype[Any], attributes: dict[str, Any]
) -> Graph:
    """The graph of ``kernel(*inputs, **attributes)``; an input is a shape and a type (``bool`` for a mask), None where it was null."""
    graph = Graph(compute)
    arguments: list[Symbol | None] = []
    present = 0
    for given in inputs:
        if given is None:
            arguments.append(None)
        else:
            shape, dtype = given
            arguments.append(Symbol(graph, graph.node("input", (), shape, mask=dtype == np.bool_, detail=present), shape))
            present += 1
    results = kernel(*arguments, **attributes)
    for symbol in results if isinstance(results, tuple) else (results,):
        if not isinstance(symbol, Symbol):
            raise Untraceable("a result does not depend on the inputs")
        graph.outputs.append(symbol.number())
        graph.shapes.append(symbol.shape)
    return graph


_FUNCTIONS: dict[Any, str] = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.divide: "div",
    np.negative: "neg",
    np.absolute: "abs",
    np.sign: "sign",
    np.square: "square",
    np.maximum: "maximum",
    np.minimum: "minimum",
    np.exp: "exp",
    np.log: "log",
    np.log1p: "log1p",
    np.sqrt: "sqrt",
}
_COMPARISONS: dict[Any, str] = {np.less: "less", np.less_equal: "less_equal", np.equal: "equal", np.not_equal: "not_equal"}
_TURNED: dict[Any, str] = {np.greater: "less", np.greater_equal: "less_equal"}
_LOGICAL: dict[Any, str] = {
    np.logical_and: "and",
    np.bitwise_and: "and",
    np.logical_or: "or",
    np.bitwise_or: "or",
    np.logical_not: "not",
    np.invert: "not",
}


class Symbol(NDArrayOperatorsMixin):
    """Stands for an array in a kernel that is being traced."""

    def __init__(self, graph: Graph, node: Node, shape: Shape) -> None:
        self.graph = graph
        self.node = node
        self.shape = shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return np.dtype(np.bool_) if self.node.mask else self.graph.compute

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Untraceable("the kernel asks for elements")

    def __bool__(self) -> bool:
        raise Untraceable("the kernel branches on elements")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # numpy looks for protocols
        raise Untraceable(f"the kernel uses .{name}")

    def __getitem__(self, index: Any) -> Any:
        raise Untraceable("the kernel picks elements")

    __setitem__ = __getitem__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Symbol:
        if method != "__call__" or options:
            raise Untraceable(f"the kernel uses {ufunc.__name__} with {method} or options")
        if ufunc in _FUNCTIONS:
            return self._apply(_FUNCTIONS[ufunc], *inputs)
        if ufunc in _COMPARISONS:
            return self._apply(_COMPARISONS[ufunc], *inputs, mask=True)
        if ufunc in _TURNED:
            return self._apply(_TURNED[ufunc], *reversed(inputs), mask=True)
        if ufunc in _LOGICAL:
            if not all(isinstance(value, Symbol) and value.node.mask for value in inputs):
                raise Untraceable("the kernel combines bits of numbers")
            return self._apply(_LOGICAL[ufunc], *inputs, mask=True, numbers=False)
        if ufunc is np.isnan:
            return self._apply("not_equal", *inputs, *inputs, mask=True)
        if ufunc is np.logaddexp and not isinstance(inputs[0], Symbol) and inputs[0] == 0:
            exponent = inputs[1]
            positive: Symbol = np.maximum(0, exponent) + np.log1p(np.exp(-np.abs(exponent)))
            return positive
        raise Untraceable(f"the kernel uses {ufunc.__name__}")

    def __array_function__(self, function: Any, types: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Symbol:
        if function is np.where and len(arguments) == 3 and not options:
            condition, first, second = arguments
            if not (isinstance(condition, Symbol) and condition.node.mask):
                raise Untraceable("the kernel chooses by numbers")
            chosen: Symbol = condition._select(first, second)
            return chosen
        if function is np.broadcast_to and not options:
            symbol, shape = arguments
            if symbol.shape != symbol.node.shape:
                raise Untraceable("the kernel broadcasts an array whose axes do not line up")
            return self._made(self.graph.node("same", (symbol.node,), tuple(shape), mask=symbol.node.mask), tuple(shape))
        if function in (np.sum, np.max, np.amax):
            method: Symbol = getattr(arguments[0], "sum" if function is np.sum else "max")(*arguments[1:], **options)
            return method
        raise Untraceable(f"the kernel uses {function.__name__}")

    def sum(self, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Symbol:
        """The sum along axes; truth values are counted."""
        # By default numpy adds up whole numbers in the widest type.
        compute = self.graph.compute
        if np.dtype(dtype or (np.float64 if compute.kind == "f" else np.int64)) != (np.float64 if compute.kind == "f" else compute):
            raise Untraceable(f"the kernel sums in {dtype}")
        return self._reduced("sum", axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Symbol:
        """The largest element along axes."""
        return self._reduced("max", axis, keepdims)

    def reshape(self, *shape: Any) -> Symbol:
        """The same elements; only axes of length 1 may come and go."""
        wanted: Shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else tuple(shape)
        if long_axes(wanted) != long_axes(self.shape):
            raise Untraceable(f"the kernel reshapes {self.shape} to {wanted}")
        return self._made(self.node, wanted)

    def astype(self, dtype: Any, copy: bool = True) -> Symbol:
        """The same elements: casts to the type that is computed in only."""
        if np.dtype(dtype) != self.graph.compute:
            raise Untraceable(f"the kernel casts to {dtype}")
        return self._made(self.number(), self.shape)

    def number(self) -> Node:
        """Its node as a number: 1 for true."""
        return self.graph.node("as_number", (self.node,), self.node.shape) if self.node.mask else self.node

    def _apply(self, op: str, *values: Any, mask: bool = False, numbers: bool = True) -> Symbol:
        operands = [self._taken(value) for value in values]
        nodes = tuple((operand.number() if numbers else operand.node) if isinstance(operand, Symbol) else operand for operand in operands)
        shape, node_shape = self._common(operands)
        return self._made(self.graph.node(op, nodes, node_shape, mask=mask), shape)

    def _select(self, first: Any, second: Any) -> Symbol:
        operands = [self, self._taken(first), self._taken(second)]
        shape, node_shape = self._common(operands)
        branches = [operand.number() if isinstance(operand, Symbol) else operand for operand in operands[1:]]
        return self._made(self.graph.node("where", (self.node, *branches), node_shape), shape)

    def _taken(self, value: Any) -> Symbol | Node:
        """An operand: a symbol, or a number as a constant of the type that is computed in."""
        if isinstance(value, Symbol):
            return value
        if isinstance(value, np.ndarray) and value.ndim:
            raise Untraceable("the kernel uses an array of its own")
        compute = self.graph.compute
        if not isinstance(value, (bool, int, float)) and np.result_type(compute, value.dtype) != compute:
            raise Untraceable(f"the kernel uses a number of type {value.dtype}")
        number: float | int = compute.type(value).item()
        return self.graph.constant(number)

    def _common(self, operands: Sequence[Symbol | Node]) -> tuple[Shape, Shape]:
        """The shapes of a result: as the kernel sees it, and as its node broadcasts."""
        symbols = [operand for operand in operands if isinstance(operand, Symbol)]
        if any(symbol.shape != symbol.node.shape for symbol in symbols):
            # Axes were dropped or added: such symbols only combine with their likes.
            if len({(symbol.shape, symbol.node.shape) for symbol in symbols}) > 1:
                raise Untraceable("the kernel combines arrays whose axes do not line up")
            return symbols[0].shape, symbols[0].node.shape
        shape = np.broadcast_shapes(*(symbol.shape for symbol in symbols))
        return shape, shape

    def _made(self, node: Node, shape: Shape) -> Symbol:
        return Symbol(self.graph, node, shape)

    def _reduced(self, op: str, axis: Any, keepdims: bool) -> Symbol:
        if self.shape != self.node.shape:
            raise Untraceable("the kernel reduces an array whose axes do not line up")
        rank = self.ndim
        wanted = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
        axes = frozenset(one % rank - rank for one in wanted)
        if not axes:
            return self
        kept = tuple(1 if i - rank in axes else length for i, length in enumerate(self.shape))
        shape = kept if keepdims else tuple(length for i, length in enumerate(self.shape) if i - rank not in axes)
        if kept != self.shape:
            return self._made(self.graph.node(op, (self.number(),), kept, detail=axes), shape)
        if op == "max":
            return self._made(self.number(), shape)
        nothing = self.graph.constant(self.graph.compute.type(0).item())  # a sum begins with it: that of a negative zero is positive
        return self._made(self.graph.node("add", (self.number(), nothing), kept), shape)


def long_axes(shape: Shape) -> Shape:
    """The lengths that are not 1."""
    return tuple(length for length in shape if length != 1)


def _is_one(node: Node) -> bool:
    return node.op == "constant" and bool(node.detail == 1)


def _is_power_of_two(node: Node) -> bool:
    return node.op == "constant" and abs(math.frexp(node.detail)[0]) == 0.5


def _is_odds(node: Node) -> bool:
    """x / (1 - x)."""
    if node.op != "div" or node.arguments[1].op != "sub":
        return False
    one, other = node.arguments[1].arguments
    return _is_one(one) and other is node.arguments[0]

"""What a kernel computes: a graph of typed steps over arrays. ``capture`` makes it, ``lower`` turns it into a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Shape = tuple[int, ...]
DType = np.dtype[Any]

REDUCTIONS = frozenset({"sum", "prod", "max", "min", "argmax", "argmin"})
"""Along some axes, to one element."""
SCANS = frozenset({"cumsum", "cumprod"})
"""Along one axis, to as many."""
BOOL, INT64 = np.dtype(np.bool_), np.dtype(np.int64)


Values = Sequence[Any]
Expression = Callable[[Values], Any]
"""What a number is, given those that the kernel was called with."""


class Filled(NamedTuple):
    """The value of a constant that is filled in: a number, cast to some types, one after the other."""

    expression: Expression
    casts: tuple[DType, ...]

    def value(self, values: Values) -> Any:
        """For these numbers."""
        found = self.expression(values)
        for dtype in self.casts:
            found = np.asarray(found).astype(dtype).item()
        return found


class Uncapturable(Exception):
    """The kernel does something that has no place in a graph or in a program: numpy runs it."""


class Node:
    """One step of the computation; equal steps of a graph are one object."""

    __slots__ = ("arguments", "detail", "dtype", "op", "shape")

    def __init__(self, op: str, arguments: tuple[Node, ...], shape: Shape, dtype: DType, detail: Any) -> None:
        self.op = op
        """``input``, ``constant``, ``broadcast``, ``cast``, a reduction, a scan, or the numpy name of a function."""
        self.arguments = arguments
        self.shape = shape
        """As it broadcasts against the others; reduced axes have length 1."""
        self.dtype = dtype
        self.detail = detail
        """Index of an input, value of a constant (``Filled``: filled in), axes of a reduction or scan (counted from the end)."""

    @property
    def resolved(self) -> Node:
        """What it is a broadcast of."""
        node = self
        while node.op == "broadcast":
            (node,) = node.arguments
        return node

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.arguments)) if self.arguments else self.detail
        return f"{self.op}({inside})"


class Graph:
    """What a kernel computes."""

    def __init__(self) -> None:
        self.outputs: list[Node] = []
        self.shapes: list[Shape] = []
        """The shapes that the kernel gave its results: those of the nodes, but for axes of length 1."""
        self.is_sized = False
        """Whether the kernel has looked at lengths, so that the graph may be another one for others."""
        self._known: dict[Any, Node] = {}

    def node(self, op: str, arguments: tuple[Node, ...], shape: Shape, dtype: DType, detail: Any = None) -> Node:
        """The node of a step, without what changes no bit: a division by 1, a sign that is lost, a cast there and back.

        A factor of 1 stays: it costs next to nothing, and without it a graph would be another one for that value of an attribute.
        """
        if op == "divide" and arguments[1].op == "constant" and arguments[1].detail == 1:
            return self.broadcast(arguments[0], shape)
        if op in ("absolute", "square") and arguments[0].op == "negative":
            arguments = arguments[0].arguments
        if op == "positive" or (op == "cast" and arguments[0].dtype == dtype):
            return arguments[0]
        if op == "cast" and dtype == BOOL and arguments[0].op == "cast" and arguments[0].arguments[0].dtype == BOOL:
            return arguments[0].arguments[0]
        if op == "cast" and arguments[0].op == "constant":
            return self._cast_constant(arguments[0].detail, dtype)
        key = (op, tuple(map(id, arguments)), shape, dtype, detail)
        return self._known.setdefault(key, Node(op, arguments, shape, dtype, detail))

    def constant(self, value: Any, dtype: DType) -> Node:
        """A number; zeros of different sign differ."""
        key = ("constant", value.hex() if isinstance(value, float) else value, dtype)
        return self._known.setdefault(key, Node("constant", (), (), dtype, value))

    def _cast_constant(self, value: Any, dtype: DType) -> Node:
        if isinstance(value, Filled):
            return self.filled(value.expression, (*value.casts, dtype))
        with np.errstate(all="ignore"):
            return self.constant(np.asarray(value).astype(dtype).item(), dtype)

    def filled(self, expression: Expression, casts: tuple[DType, ...]) -> Node:
        """A number that each call has its own of, cast to some types, one after the other."""
        detail = Filled(expression, casts)
        key = ("filled", id(expression), casts)
        return self._known.setdefault(key, Node("constant", (), (), casts[-1], detail))

    def cast(self, node: Node, dtype: DType) -> Node:
        """The same numbers in another type."""
        return self.node("cast", (node,), node.shape, dtype)

    def broadcast(self, node: Node, shape: Shape) -> Node:
        """The same numbers in a larger shape."""
        return node if node.shape == shape else self.node("broadcast", (node,), shape, node.dtype)

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

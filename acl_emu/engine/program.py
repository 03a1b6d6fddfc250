"""From a graph to a program of the engine: which loops, which steps in which of them, which registers, in one row of 64-bit numbers.

A program without reductions runs over all elements. One with reductions goes through each row in phases: a phase computes on tiles
what can be computed so far and adds up the next reductions; when the row is through, they are finished, and the next phase begins.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from acl_emu.core import soc
from acl_emu.engine.bindings import IN_DOUBLE
from acl_emu.engine.trace import Graph, Node, Shape, Untraceable, long_axes

# What follows is known to acl_emu/engine/c/engine.c and engine.h.
_TILE_BYTES = 4096
_MOST_DIMS, _MOST_OPERANDS, _MOST_SLOTS, _MOST_SUMS = 8, 32, 64, 8
_PART_TILES = 64
_HEADER_SIZE = 25
DTYPES = ("float32", "float64", "float16", "bfloat16", "bool", "int8", "uint8", "int16", "int32", "int64", "uint16", "uint32", "uint64")
_STORED = DTYPES[:4]
_FUNCTIONS = (
    *("add", "sub", "mul", "div", "neg", "abs", "sign", "square", "maximum", "minimum"),
    *("exp", "exp_of_difference", "exp_of_product", "log", "log1p", "log_of_odds", "sqrt"),
    *("less", "less_equal", "equal", "not_equal", "and", "or", "not", "where", "as_number", "float32", "float16", "bfloat16"),
    *("add_product", "sub_product"),
)
"""Three round to a type; the last two are sums with a product, of whole numbers."""
_STEPS = (
    *_FUNCTIONS,
    *("load", "load_mask", "store", "keep", "take", "add_to_sum", "add_product_to_sum", "add_to_max"),
    *("finish_sum", "finish_max", "spread"),
)
_CODES = {name: code for code, name in enumerate(_STEPS)}
_MAP, _BLOCKS, _ROWS, _COLUMNS, _TOTALS = range(5)

_CHEAP = frozenset({"add", "sub", "mul", "neg", "abs", "equal", "not_equal", "less", "less_equal", "where", "as_number"})
"""Worth computing again in a later phase, rather than keeping."""
_SHORT_ROW = 32
"""Shorter rows are better worked on side by side."""
_DEARER_ROWS = {2: 129, 4: 49}
"""The same where a kernel goes through its one read three times, by the size of an element: the more there is to do, the less it counts
that rows are turned."""
_SEVERAL_ROWS = {4: 16}
"""The same where a kernel has two phases, and so little to do in them that it takes several rows at a time."""
_SHORT_LINE = 64
"""The same of elements that are turned: what comes between lines takes as long as those."""
_LONG_COLUMN = 2049
"""The same where memory lies along the columns in all operands, which need not be turned then, and there is a kernel in float."""
_NEAR_ROWS, _KEPT_ROWS = 1024, 1 << 16
"""Longer ones where all rows of columns lie no more than so many bytes apart (NEAR_ROWS of engine_whole.c); up to so many rows where
something is kept of elements."""
_FEW_BESIDE = 8
"""Fewer of these are gathered one by one, as engine_whole.c does where they lie some steps apart."""
_LONG_ROW, _LONGER_ROW, _LONGEST_ROW = 128, 512, 8192
"""From which on whole kernels without reductions work on rows one by one, where reads that are the same for all of one are not repeated for
each element: if no other kernel is at hand, and if one is. The longest are worked on in pieces."""
_KEPT_BYTES = 1 << 20
"""Of what steps keep of columns from one phase to the next."""
_STRIP_BYTES = 1 << 14
"""Of what a whole kernel reads of the columns that go through all its phases together."""
_LINE, _WIDE_STRIP_BYTES = 64, 1 << 18
"""The same where rows begin within cache lines: results do not pass by the caches then, and are better written in longer pieces."""
_COLUMN_ROWS, _PART_ELEMENTS, _FEW_ELEMENTS, _PARTS = 512, 1 << 18, 1 << 15, 16
"""Of the parts that tall columns are cut into, at least; fewer elements, down to a few, where that would make fewer parts than these."""
_NARROW = 16
"""Fewer columns whose rows lie evenly are worked on as columns, however few: the engine takes some rows of them for one."""
_CACHED_COLUMNS, _CACHED_ELEMENTS = 512, 1 << 21
"""Columns of a unit where memory need not be read in long pieces since the caches hold it: what they come to stays in the first-level
cache."""
_LEAST_RUN = {_ROWS: 256, _COLUMNS: 32, _TOTALS: 4096}
"""Elements that lie side by side in memory, from which on they are worked on where they are: shorter pieces are gathered, and all of rows
that are gone through more than once."""
_LEAST_RUNS_OF_COLUMNS = ((32, 768), (16, 4096))
"""The same in columns that a whole kernel goes through once: how long runs are, and of how many elements in all rows, at least."""
_LEAST_RUN_OF_STEPS, _LEAST_RUN_BESIDE_OTHERS = 48, 512
"""The same in steps without reductions, and where other operands are gathered anyway."""
_LEAST_PLAIN_RUN = 32
"""The same in rows of which nothing is wanted but one reduction, where pieces lie evenly: many of them are worked on at a time."""
_STEPS_ROW = 512
"""From which on the same goes for steps, where a register does not hold even fewer."""
_WHOLE_ROW = 512
"""Of whole numbers, shorter rows and fewer columns are left to numpy, which is as fast."""
_BLOCK_SIDE = 16
"""A transposed operand with both sides at least as long is worked on in blocks."""


class Layout(NamedTuple):
    """How an operand lies in memory."""

    shape: Shape
    strides: tuple[int, ...]
    """In bytes."""
    dtype: np.dtype[Any]

    @property
    def extent(self) -> int:
        """Bytes from the first element on that it may touch."""
        return self.dtype.itemsize + sum((length - 1) * stride for length, stride in zip(self.shape, self.strides, strict=True))


class Step(NamedTuple):
    """One instruction: where the result goes, and what it is made of."""

    code: str
    dst: int
    arguments: tuple[int, ...] = ()


@dataclass
class Phase:
    """What is done on every tile of a row, and when they are through."""

    tiles: list[Step] = field(default_factory=list)
    row: list[Step] = field(default_factory=list)


class Fused(NamedTuple):
    """A kernel that was compiled as a whole."""

    number: int
    way: int
    """How it is evaluated."""
    storage: int
    """The type of its elements, as a number of DTYPES."""
    constants: Sequence[float | int]
    """Numbers, and reads with one value for a whole row."""
    reduced: Sequence[bool]
    """Which results have one value for a whole row."""


def compile_graph(
    graph: Graph,
    reads: Sequence[Layout],
    writes: Sequence[Layout],
    rounding: Sequence[Sequence[str]],
    *,
    lane: np.dtype[Any],
    find: Callable[[Sequence[int], bool], Fused | None],
) -> bytes:
    """The program that computes ``graph`` from ``reads`` to ``writes``; raises Untraceable where the engine has no way to.

    ``lane`` is the type that it computes in. ``rounding`` names the types that each result is rounded to before it is stored. ``find``
    looks for a kernel that was compiled as a whole, given the reads that have one value for a whole row.
    """
    return _Compiler(graph, reads, writes, rounding, lane, find).program()


class _Compiler:
    def __init__(
        self,
        graph: Graph,
        reads: Sequence[Layout],
        writes: Sequence[Layout],
        rounding: Sequence[Sequence[str]],
        lane: np.dtype[Any],
        find: Callable[[Sequence[int], bool], Fused | None],
    ) -> None:
        self.find = find
        self.graph = graph
        self.layouts = (*reads, *writes)
        self.reads = len(reads)
        self.rounding = rounding
        self.lane = lane
        self.nodes = [node for node in graph.nodes if node.op != "same"]
        self.domain = np.broadcast_shapes(*(node.shape for node in graph.nodes), *(layout.shape for layout in reads))
        self._check()
        self.unread = {*range(len(reads))} - {node.detail for node in graph.nodes if node.op == "input"}
        """Reads that no result depends on."""
        self.axes = self._reduced_axes()
        self.views = [self._strides(layout, index) for index, layout in enumerate(self.layouts)]

    def _check(self) -> None:
        if len(self.layouts) > _MOST_OPERANDS or 0 in self.domain or len(self.domain) > _MOST_DIMS:
            raise Untraceable("too many operands or dimensions, or no element")
        for index, layout in enumerate(self.layouts):
            in_float = self.lane.name in ("float32", "float64")
            if layout.dtype.name not in (_STORED if in_float and index >= self.reads else DTYPES):
                raise Untraceable(f"no {layout.dtype} in the engine")
            if index >= self.reads and any(n > 1 and s == 0 for n, s in zip(layout.shape, layout.strides, strict=True)):
                raise Untraceable("a result whose elements lie on each other")

    # Which loops

    def _reduced_axes(self) -> tuple[int, ...]:
        """The axes that all reductions share, counted from the front."""
        found = {node.detail for node in self.nodes if node.op in ("sum", "max")}
        if not found:
            return ()
        if len(found) > 1:
            raise Untraceable("reductions along different axes")
        rank = len(self.domain)
        axes = tuple(sorted(axis + rank for axis in found.pop()))
        for node in self.nodes:
            if node.op in ("sum", "max"):
                shape = _padded(_resolved(node.arguments[0]).shape, rank)
                whole = _padded(node.arguments[0].shape, rank)
                if any(max(shape[axis], whole[axis]) != self.domain[axis] for axis in axes):
                    raise Untraceable("a reduction of less than the whole")
        return axes

    def _strides(self, layout: Layout, index: int) -> list[int]:
        """Strides along the axes of the domain; 0 where an operand broadcasts."""
        rank = len(self.domain)
        if index < self.reads:
            shape, strides = layout.shape, layout.strides
        else:
            # A result has the axes of its node, but for those of length 1.
            node = self.graph.outputs[index - self.reads]
            own = [stride for length, stride in zip(layout.shape, layout.strides, strict=True) if length != 1]
            if long_axes(layout.shape) != long_axes(node.shape):
                raise Untraceable("a result that is broadcast when it is stored")
            places = iter(own)
            shape, strides = node.shape, tuple(next(places) if length != 1 else 0 for length in node.shape)
            if any(_padded(shape, rank)[a] != n for a, n in enumerate(self.domain) if a not in self.axes):
                raise Untraceable("a result smaller than what it is computed from")
        aligned = [0] * (rank - len(strides)) + list(strides)
        return [stride if length != 1 else 0 for length, stride in zip(_padded(shape, rank), aligned, strict=True)]

    def _order(self, axes: Sequence[int], leader: int) -> list[int]:
        """Axes from the widest stride of an operand to the narrowest: those that the loops should have outside and inside."""
        strides = self.views[leader]
        return sorted((axis for axis in axes if self.domain[axis] != 1), key=lambda axis: -strides[axis])

    def program(self) -> bytes:
        """All of it, as the engine reads it: a kernel that was compiled as a whole, or steps."""
        every = range(len(self.domain))
        block = 0
        if not self.axes:
            order = self._order(every, self._pace())
            turned = self._turned_axis(order)
            if turned is None:
                shape, outer, inner = _MAP, [], order
            else:
                shape, outer, inner = _BLOCKS, [axis for axis in order[:-1] if axis != turned], [turned, order[-1]]
                block = self.domain[turned]
        else:
            leader = self._leader()
            reduced = self._order(self.axes, leader)
            kept = self._order([axis for axis in every if axis not in self.axes], leader)
            shape = self._way(reduced, kept, leader)
            if shape == _ROWS and self._is_narrow(reduced, kept) and (narrow := self._whole(_COLUMNS, reduced, kept, block)):
                return narrow
            outer, inner = (reduced, kept) if shape == _COLUMNS else (kept, reduced)
            if self.lane.kind in "iu" and self._size(outer, inner)[1] < _WHOLE_ROW:
                raise Untraceable("short rows of whole numbers")
        return self._whole(shape, outer, inner, block) or self._in_steps(shape, outer, inner, block)

    def _in_steps(self, shape: int, outer: list[int], inner: list[int], block: int) -> bytes:
        lower = _Lowering(self)
        lanes = _TILE_BYTES // self.lane.itemsize
        if shape == _MAP:
            outer, inner = self._rows_of(inner, min(lanes // 2, _STEPS_ROW))
        size = self._size(outer, inner)
        if shape == _ROWS and lower.can_be_split and size[1] > _PART_TILES * lanes:
            shape = _TOTALS
        if shape == _COLUMNS:
            lanes = min(self._column_width(lanes, size, lower.kept), -(-self._run(shape, inner) // 16) * 16)
        return self._packed(lower, None, shape, outer, inner, block, lanes)

    def _whole(self, shape: int, outer: list[int], inner: list[int], block: int) -> bytes | None:
        """The program around a kernel that was compiled as a whole; None where there is none."""
        if shape == _ROWS:
            rows, elements = outer, inner
        elif shape == _COLUMNS:
            rows, elements = inner, outer
        else:
            rows, elements = self._rows_of(self._order(range(len(self.domain)), self.reads), _LONG_ROW)
        lower = _Lowering(self)
        in_parts = lower.can_be_split
        dear = len(lower.phases) > 2 and len(self.layouts) == 2
        several = len(lower.phases) == 2 and not any(node in lower.rows for node in lower.outputs)
        lengths = _DEARER_ROWS if dear else _SEVERAL_ROWS if several else {}
        usual = lengths.get(self.layouts[0].dtype.itemsize, _SHORT_ROW)
        longest = self._longest_column(elements, lower.kept) if shape == _COLUMNS and self._lie_along(rows) else usual
        short = bool(self.axes) and not in_parts and self._is_short(elements, rows, longest)
        fused, by_row = self._kernel(elements, short, by_lanes=shape == _BLOCKS)
        least = _SHORT_ROW if fused is None else usual if fused.way == IN_DOUBLE else longest
        if short and not self._is_short(elements, rows, least):
            short = False
            fused, by_row = self._kernel(elements, short)
        if fused is None:
            return None
        if by_row:
            in_pieces = shape == _MAP and self._size(rows, elements)[1] > _LONGEST_ROW
            shape, outer, inner = _MAP if in_pieces else _ROWS, rows, elements
        if [node in lower.rows for node in lower.outputs] != list(fused.reduced):
            return None  # a result that reads repeat for each element would make one for each
        if self.axes and not in_parts:
            shape, outer, inner = (_COLUMNS, elements, rows) if short and not by_row else (_ROWS, rows, elements)
        lanes = _TILE_BYTES // 4
        size = self._size(outer, inner)
        if shape == _ROWS and in_parts and size[1] > _PART_TILES * lanes:
            shape = _TOTALS
        if shape == _COLUMNS:
            block, lanes = self._column_parts(2 * lanes, *size) if in_parts else (size[0], self._strip_width(*size))
            lanes = min(lanes, -(-self._run(shape, inner, in_parts=in_parts) // 16) * 16)
        return self._packed(lower, fused, shape, outer, inner, block, lanes)

    def _kernel(self, elements: list[int], side_by_side: bool, *, by_lanes: bool = False) -> tuple[Fused | None, bool]:
        """A kernel that was compiled as a whole, and whether it takes what is the same for a row of these axes as one number.

        ``by_lanes``: one that takes it as an element is tried first, since operands do not lie along rows.
        """
        of_rows = tuple(index for index in range(self.reads) if self._has_one_for_a_row(index, elements))
        is_short = not self.axes and self._size([], elements)[1] < _LONGER_ROW
        for reads in dict.fromkeys(((), of_rows) if is_short or by_lanes else (of_rows, ())):
            fused = self.find(reads, not reads and side_by_side)
            if fused is not None:
                return fused, bool(reads)
        return None, False

    def _column_parts(self, lanes: int, rows: int, columns: int) -> tuple[int, int]:
        """Rows and columns of a unit: some of all rows where there are many of them, else some columns for each thread, in long pieces."""
        elements = max(_FEW_ELEMENTS, min(_PART_ELEMENTS, rows * columns // _PARTS))
        part = max(_COLUMN_ROWS, elements // columns // _COLUMN_ROWS * _COLUMN_ROWS)
        if rows >= 2 * part and columns <= 4 * lanes:
            return part, 2 * lanes
        if rows * columns <= _CACHED_ELEMENTS:
            lanes = _CACHED_COLUMNS
        return rows, max(16, min(lanes, -(-columns // soc.threads() // 16) * 16))

    def _strip_width(self, rows: int, columns: int) -> int:
        """How many columns go through all phases at once: what is read of them stays in the first-level cache."""
        column = rows * sum(layout.dtype.itemsize for layout in self.layouts[: self.reads])
        if rows >= _LONG_COLUMN:
            return max(16, min(64, -(-columns // soc.threads() // 16) * 16))
        in_lines = all(view[axis] <= _LINE or view[axis] % _LINE == 0 for view in self.views for axis in self.axes)
        fitting = (_STRIP_BYTES if in_lines else _WIDE_STRIP_BYTES) // column // 32 * 32
        return max(64, min(fitting, _TILE_BYTES // 4, -(-columns // 8 // 32) * 32))

    def _run(self, shape: int, inner: list[int], *, in_parts: bool = False) -> int:
        """How many elements of the inner range lie side by side in all operands; all of them, where they have to be gathered anyway."""
        whole = self._size([], inner)[1]
        used = [index for index in range(len(self.layouts)) if index not in self.unread]
        runs = {index: self._pairs(index, inner)[-1] for index in used}
        run = min(length for length, _ in runs.values())
        least = _LEAST_RUN.get(shape, whole)
        if shape == _COLUMNS and in_parts:
            elements = run * math.prod(self.domain[axis] for axis in self.axes)
            return run if any(run >= length and elements >= many for length, many in _LEAST_RUNS_OF_COLUMNS) else whole
        if shape == _ROWS:
            least = _LEAST_PLAIN_RUN if self._is_plain() and len(self._pairs(0, inner)) == 2 else least
            if any(stride not in (0, self.layouts[index].dtype.itemsize) for index, (_, stride) in runs.items()):
                return whole
        return run if run >= least else whole

    def _run_of_steps(self, inner: list[int]) -> int:
        """The same for steps without reductions: what is one number for all elements lies side by side anywhere."""
        whole = self._size([], inner)[1]
        ends = {index: self._pairs(index, inner) for index in range(len(self.layouts)) if index not in self.unread}
        runs = [pairs[-1][0] for index, pairs in ends.items() if pairs[-1][1] == self.layouts[index].dtype.itemsize]
        apart = any(pairs[-1][1] != self.layouts[index].dtype.itemsize and pairs != [(whole, 0)] for index, pairs in ends.items())
        run = min(runs, default=whole)
        return run if run >= (_LEAST_RUN_BESIDE_OTHERS if apart else _LEAST_RUN_OF_STEPS) else whole

    def _is_plain(self) -> bool:
        """Whether an input is reduced as it is, and nothing else is done with elements."""
        used = [node for node in self.nodes if any(_resolved(argument).op == "input" for argument in node.arguments)]
        return len(used) == self.reads == 1 and used[0].op in ("sum", "max")

    def _rows_of(self, order: list[int], least: int) -> tuple[list[int], list[int]]:
        """The axes of all elements as those of rows, which some reads have one value for, and those of their elements: many, or all."""
        for cut in range(len(order)):
            inner = order[cut:]
            if any(self._has_one_for_a_row(index, inner) for index in range(self.reads)):
                long_enough = math.prod(self.domain[axis] for axis in inner) >= least
                return (order[:cut], inner) if long_enough else ([], order)
        return [], order

    def _has_one_for_a_row(self, index: int, inner: list[int]) -> bool:
        return self.layouts[index].dtype != np.bool_ and not any(self.views[index][axis] for axis in inner)

    def _size(self, outer: list[int], inner: list[int]) -> list[int]:
        return [math.prod(self.domain[axis] for axis in axes) for axes in (outer, inner)]

    def _pace(self) -> int:
        """The operand that decides how all elements are walked through: one that most lie alike with, in lines not too short,
        a read at best.

        A result is turned with fewer steps than a read, which is copied before.
        """
        size = math.prod(self.domain)
        long = [axis for axis, length in enumerate(self.domain) if length != 1]
        whole = [
            index for index, view in enumerate(self.views) if size > 1 and all(view[axis] for axis in long) and index not in self.unread
        ]
        along = {index: min((self.views[index][axis], axis) for axis in long)[1] for index in whole}
        alike = {index: list(along.values()).count(axis) for index, axis in along.items()}
        lengths = {index: min(self.domain[axis], _SHORT_LINE) for index, axis in along.items()}
        return max((self.reads, *alike), key=lambda index: (alike.get(index, 0), lengths.get(index, 0), index < self.reads))

    def _leader(self) -> int:
        """The read that decides which axis is walked along: the largest."""
        return max(range(self.reads), key=lambda k: (k not in self.unread, math.prod(self.layouts[k].shape), -k))

    def _way(self, reduced: list[int], kept: list[int], leader: int) -> int:
        """Along the rows, or along all columns at once, wherever memory is contiguous; short rows are taken side by side."""
        both = [axis for axis in (*reduced, *kept) if self.views[leader][axis]]
        along = min(both, key=lambda axis: self.views[leader][axis], default=None)
        if along in reduced or along is None:
            return _COLUMNS if self._is_short(reduced, kept) else _ROWS
        return _COLUMNS if self.domain[along] >= 8 or self._size(reduced, kept)[0] < _SHORT_ROW else _ROWS

    def _longest_column(self, reduced: list[int], kept: int) -> int:
        """From which on columns are turned: never where they are so near each other that all of them are read in order, in the caches."""
        used = [index for index in range(len(self.layouts)) if index not in self.unread]
        near = all(len(pairs := self._pairs(index, reduced)) == 1 and pairs[0][1] <= _NEAR_ROWS for index in used)
        if near and math.prod(self.domain) <= _CACHED_ELEMENTS:
            return _KEPT_ROWS if kept else _CACHED_ELEMENTS
        return _LONG_COLUMN

    def _lie_along(self, axes: list[int]) -> bool:
        """Whether neighbours along one of these axes are the nearest in memory, in all operands."""
        for index in (one for one in range(len(self.layouts)) if one not in self.unread):
            nearest = min(
                (axis for axis, stride in enumerate(self.views[index]) if stride), key=self.views[index].__getitem__, default=None
            )
            if nearest is not None and nearest not in axes:
                return False
        return True

    def _is_short(self, reduced: list[int], kept: list[int], least: int = _SHORT_ROW) -> bool:
        """Whether rows are worked on side by side: many, or few long ones near each other."""
        length, rows = self._size(reduced, kept)
        return length < least and rows >= (_SHORT_ROW if length < _LONG_COLUMN else _FEW_BESIDE)

    def _is_narrow(self, reduced: list[int], kept: list[int]) -> bool:
        """Whether there are few columns, side by side in rows that lie evenly, in all that is read."""
        used = [index for index in range(self.reads) if index not in self.unread]
        columns = self._size([], kept)[1]
        side_by_side = all(self._pairs(k, kept) == [(columns, self.layouts[k].dtype.itemsize)] for k in used)
        return 1 < columns < _NARROW and side_by_side and all(len(self._pairs(k, reduced)) == 1 for k in used)

    def _column_width(self, lanes: int, size: Sequence[int], kept: int) -> int:
        """How many columns are worked on at once: some threads' worth of units, and what is kept stays near."""
        if kept:
            lanes = min(lanes, max(64, _KEPT_BYTES // (kept * size[0] * self.lane.itemsize)))
        return max(16, min(lanes, -(-size[1] // 8 // 16) * 16))

    def _turned_axis(self, order: list[int]) -> int | None:
        """The axis that some operand is contiguous along, where that is not the one that the loops run along."""
        if len(order) < 2 or self.domain[order[-1]] < _BLOCK_SIDE:
            return None
        for index in (one for one in range(len(self.layouts)) if one not in self.unread):
            strides, item = self.views[index], self.layouts[index].dtype.itemsize
            for axis in order[:-1]:
                if strides[axis] == item and self.domain[axis] >= _BLOCK_SIDE and strides[order[-1]] > item:
                    return axis
        return None

    # In numbers

    def _packed(
        self, lower: _Lowering, fused: Fused | None, shape: int, outer: list[int], inner: list[int], block: int, lanes: int
    ) -> bytes:
        steps = list(lower.prologue) if fused is None else []
        spans = []
        for phase in lower.phases if fused is None else ():
            begin = len(steps)
            middle = begin + len(phase.tiles)
            steps += [*phase.tiles, *phase.row]
            spans += [begin, middle, middle, len(steps)]
        operands: list[int] = []
        for index, layout in enumerate(self.layouts):
            operands += [DTYPES.index(layout.dtype.name), layout.dtype.itemsize, layout.extent, lower.in_place, int(index in self.unread)]
            for axes in (outer, inner):
                together = shape != _BLOCKS or axes is outer
                operands += self._range(index, axes) if together else self._two(index, axes)
        number, way, storage, given, reduced = fused if fused is not None else (-1, 0, 0, (), ())
        from_rows = [constant if isinstance(constant, int) else -1 for constant in given]
        values = [0.0 if isinstance(constant, int) else constant for constant in given]
        of_rows = sum(1 << index for index, one in enumerate(reduced) if one)
        operand_at = _HEADER_SIZE
        constant_at = operand_at + len(operands)
        phase_at = constant_at + len(lower.constants)
        step_at = phase_at + len(spans)
        numbers = [number for s in steps for number in (_CODES[s.code], s.dst, *s.arguments, *(0,) * (3 - len(s.arguments)))]
        fused_at = step_at + len(numbers)
        in_parts = fused is not None and lower.can_be_split
        if shape == _MAP and fused is None:
            run = self._run_of_steps(inner)
        else:
            run = self._run(_MAP if shape == _ROWS and not in_parts else shape, inner, in_parts=in_parts)
        header = [
            *(DTYPES.index(self.lane.name), shape, *self._size(outer, inner)),
            *(self.reads, len(self.layouts), lower.slots, len(lower.constants), lower.kept, lower.sums, len(lower.phases)),
            *(len(lower.prologue), block, lanes, number, way, storage, of_rows, run),
            *(operand_at, constant_at, phase_at, step_at, fused_at, fused_at + len(values)),
        ]
        assert len(header) == _HEADER_SIZE
        return b"".join(
            (
                struct.pack(f"{len(header)}q", *header),
                struct.pack(f"{len(operands)}q", *operands),
                struct.pack(f"{len(lower.constants)}{'d' if self.lane.kind == 'f' else 'q'}", *lower.constants),
                struct.pack(f"{len(spans)}q", *spans),
                struct.pack(f"{len(numbers)}q", *numbers),
                struct.pack(f"{len(values)}d", *values),
                struct.pack(f"{len(from_rows)}q", *from_rows),
            )
        )

    def _range(self, index: int, axes: list[int]) -> list[int]:
        return _numbers(self._pairs(index, axes))

    def _pairs(self, index: int, axes: list[int]) -> list[tuple[int, int]]:
        """Lengths and strides of a range of an operand, its axes merged where one continues the other."""
        merged: list[tuple[int, int]] = []
        for axis in axes:
            length, stride = self.domain[axis], self.views[index][axis]
            if merged and merged[-1][1] == stride * length:
                merged[-1] = merged[-1][0] * length, stride
            else:
                merged.append((length, stride))
        return merged or [(1, 0)]

    def _two(self, index: int, axes: list[int]) -> list[int]:
        pairs = [(self.domain[axis], self.views[index][axis]) for axis in axes]
        alike = index in self.unread or all(stride == 0 for _, stride in pairs)
        return _numbers([(1, 0)] if alike else pairs)


def _numbers(pairs: Sequence[tuple[int, int]]) -> list[int]:
    filler = [0] * (_MOST_DIMS - len(pairs))
    return [len(pairs), *(length for length, _ in pairs), *filler, *(stride for _, stride in pairs), *filler]


def _padded(shape: Shape, rank: int) -> Shape:
    return (1,) * (rank - len(shape)) + shape


def _resolved(node: Node) -> Node:
    """What a node is the same as."""
    while node.op == "same":
        node = node.arguments[0]
    return node


class _Lowering:
    """The steps of a graph, phase by phase, and the registers that they use."""

    def __init__(self, compiler: _Compiler) -> None:
        self.compiler = compiler
        self.nodes = compiler.nodes
        self.outputs = [_resolved(node) for node in compiler.graph.outputs]
        self.constants: list[float] = []
        self.prologue: list[Step] = []
        self.kept = 0
        self.sums = 0
        self.slots = 0
        self._free: list[int] = []
        self._fixed: dict[Any, int] = {}
        """Registers that hold one thing for good: constants, rows, loaded operands."""
        self._kept: dict[Node, int] = {}
        self.levels: dict[Node, int] = {}
        self.rows: set[Node] = set()
        """Nodes with one value for a whole row."""
        for node in self.nodes:
            self._classify(node)
        last = max(self.levels[node] - (node in self.rows) for node in self.outputs)
        self.phases = [Phase() for _ in range(last + 1)]
        for node in self.nodes:
            if node.op == "constant":
                self._fixed[node] = self._new_slot()
                self.constants.append(node.detail)
        for number in range(len(self.phases)):
            self._fill(number)
        loads_late = any(step.code.startswith("load") for phase in self.phases[1:] for step in phase.tiles)
        stores_early = any(step.code == "store" for phase in self.phases[:-1] for step in (*phase.tiles, *phase.row))
        self.in_place = int(not (loads_late and stores_early))
        if self.slots > _MOST_SLOTS or self.sums > _MOST_SUMS or self.kept > _MOST_SLOTS:
            raise Untraceable("too large a graph")

    @property
    def can_be_split(self) -> bool:
        """Whether parts of a row can be worked on independently: one pass, and nothing but reduced results."""
        return len(self.phases) == 1 and all(node in self.rows for node in self.outputs)

    def _classify(self, node: Node) -> None:
        """How many reductions come before a node, and whether it has one value for a whole row."""
        arguments = [_resolved(argument) for argument in node.arguments]
        level = max((self.levels[argument] for argument in arguments), default=0)
        if node.op in ("sum", "max"):
            self.rows.add(node)
            level += 1
        elif arguments and level and all(self._fits_row(argument) for argument in arguments):
            self.rows.add(node)
        self.levels[node] = level

    def _fits_row(self, node: Node) -> bool:
        if node in self.rows or node.op == "constant":
            return True
        shape = _padded(node.shape, len(self.compiler.domain))
        return node.op == "input" and all(shape[axis] == 1 for axis in self.compiler.axes)

    # One phase

    def _fill(self, number: int) -> None:
        phase = self.phases[number]
        reductions = [node for node in self.nodes if node.op in ("sum", "max") and self.levels[node] == number + 1]
        stores = [
            (index, node)
            for index, node in enumerate(self.outputs)
            if (self.levels[node] - 1 if node in self.rows else self.levels[node]) == number
        ]
        keep = [node for node in self.nodes if self._is_kept(node) and self.levels[node] == number]
        lane_stores = [(index, node) for index, node in stores if node not in self.rows]
        summands = {node: self._summands(node) for node in reductions}
        wanted = [*(value for values in summands.values() for value in values), *keep, *(node for _, node in lane_stores)]
        uses = self._count_uses(number, wanted)
        registers: dict[Node, int] = {}
        sums: dict[Node, int] = {}
        for node, values in summands.items():
            sources = tuple(self._value(value, number, registers, uses) for value in values)
            code = "add_to_max" if node.op == "max" else "add_product_to_sum" if len(values) == 2 else "add_to_sum"
            sums[node] = len(sums)
            phase.tiles.append(Step(code, sums[node], sources))
            for value in values:
                self._used(value, registers, uses)
        self.sums = max(self.sums, len(sums))
        for node in keep:
            register = self._value(node, number, registers, uses)
            self._kept[node] = self.kept
            self.kept += 1
            phase.tiles.append(Step("keep", self._kept[node], (register,)))
            self._used(node, registers, uses)
        # Stores come last: a result may lie where an input lies.
        results = [(index, node, self._value(node, number, registers, uses)) for index, node in lane_stores]
        for index, node, register in results:
            self._store(phase.tiles, index, register)
            self._used(node, registers, uses)
        self._finish(phase, number, sums, [(index, node) for index, node in stores if node in self.rows])

    def _summands(self, reduction: Node) -> tuple[Node, ...]:
        """What is added up: a node, or two whose product is, without rounding it first."""
        argument = _resolved(reduction.arguments[0])
        if reduction.op == "sum" and argument.op == "mul" and argument not in self.rows and self.compiler.lane.kind == "f":
            return _resolved(argument.arguments[0]), _resolved(argument.arguments[1])
        return (argument,)

    def _is_kept(self, node: Node) -> bool:
        """Whether a later phase needs a node that is dear to compute."""
        if node in self.rows or node.op in ("input", "constant"):
            return False
        arguments = [_resolved(argument) for argument in node.arguments]
        if node.op in _CHEAP and all(argument in self.rows or argument.op in ("input", "constant") for argument in arguments):
            return False
        return any(
            (self.levels[user] if user.op not in ("sum", "max") else self.levels[user] - 1) > self.levels[node]
            for user in self.nodes
            if user not in self.rows or user.op in ("sum", "max")
            for argument in user.arguments
            if _resolved(argument) is node
        )

    def _count_uses(self, number: int, wanted: Sequence[Node]) -> dict[Node, int]:
        """How often each node is read in a phase: a register is free again after the last time."""
        uses: dict[Node, int] = {}

        def visit(node: Node) -> None:
            uses[node] = uses.get(node, 0) + 1
            if uses[node] == 1 and not self._is_at_hand(node, number):
                for argument in self._operation(node)[1]:
                    visit(argument)

        for node in wanted:
            visit(node)
        return uses

    def _operation(self, node: Node) -> tuple[str, tuple[Node, ...]]:
        """The function that computes a node, and what of: whole numbers are multiplied and added in one step, which rounds nothing."""
        first, *others = map(_resolved, node.arguments)
        if self.compiler.lane.kind in "iu" and node.op in ("add", "sub") and others[0].op == "mul":
            return f"{node.op}_product", (first, *map(_resolved, others[0].arguments))
        return node.op, (first, *others)

    def _is_at_hand(self, node: Node, number: int) -> bool:
        return node in self.rows or node.op in ("input", "constant") or (node in self._kept and self.levels[node] < number)

    def _value(self, node: Node, number: int, registers: dict[Node, int], uses: dict[Node, int]) -> int:
        """The register that holds a node, computed where it is not there yet."""
        if node in registers:
            return registers[node]
        tiles = self.phases[number].tiles
        if node.op == "constant":
            return self._fixed[node]
        if node in self.rows:
            return self._fixed[node, "spread"]
        if node.op == "input":
            register = self._load(node, tiles)
        elif self._is_at_hand(node, number):
            register = self._fixed.setdefault((node, "kept"), self.slots)
            self.slots += register == self.slots
            tiles.append(Step("take", register, (self._kept[node],)))
        else:
            op, arguments = self._operation(node)
            sources = tuple(self._value(argument, number, registers, uses) for argument in arguments)
            for argument in arguments:
                self._used(argument, registers, uses)
            register = self._free.pop() if self._free else self._new_slot()
            tiles.append(Step(op, register, sources))
        registers[node] = register
        return register

    def _used(self, node: Node, registers: dict[Node, int], uses: dict[Node, int]) -> None:
        uses[node] -= 1
        if not uses[node] and node in registers and registers[node] not in self._fixed.values():
            self._free.append(registers[node])

    def _load(self, node: Node, steps: list[Step]) -> int:
        """Have an operand in a register of its own; one that is the same everywhere is loaded once."""
        uniform = not any(self.compiler.views[node.detail])
        known = node in self._fixed
        if not known:
            self._fixed[node] = self._new_slot()
        if not (uniform and known):
            is_mask = node.mask
            (self.prologue if uniform else steps).append(Step("load_mask" if is_mask else "load", self._fixed[node], (node.detail,)))
        return self._fixed[node]

    def _store(self, steps: list[Step], index: int, register: int) -> None:
        for name in self.compiler.rounding[index]:
            rounded = self._new_slot()
            steps.append(Step(name, rounded, (register,)))
            register = rounded
        steps.append(Step("store", self.compiler.reads + index, (register,)))

    def _finish(self, phase: Phase, number: int, sums: dict[Node, int], stores: Sequence[tuple[int, Node]]) -> None:
        """When a row is through: finish its reductions, compute what has one value for it, and spread what later tiles need."""
        for node, index in sums.items():
            phase.row.append(Step("finish_sum" if node.op == "sum" else "finish_max", self._new_row_slot(node), (index,)))
        for node in self.nodes:
            if node in self.rows and node not in sums and self.levels[node] == number + 1:
                sources = []
                for argument in map(_resolved, node.arguments):
                    if argument.op == "input":
                        sources.append(self._load_for_row(argument, phase.row))
                    else:
                        sources.append(self._fixed[argument])
                phase.row.append(Step(node.op, self._new_row_slot(node), tuple(sources)))
        for node in self.nodes:
            if node in self.rows and self.levels[node] == number + 1 and self._is_needed_by_tiles(node):
                self._fixed[node, "spread"] = self._new_slot()
                phase.row.append(Step("spread", self._fixed[node, "spread"], (self._fixed[node],)))
        for index, node in stores:
            self._store(phase.row, index, self._fixed[node])

    def _load_for_row(self, node: Node, steps: list[Step]) -> int:
        key = (node, "row")
        if key not in self._fixed:
            self._fixed[key] = self._new_slot()
        steps.append(Step("load", self._fixed[key], (node.detail,)))
        return self._fixed[key]

    def _new_row_slot(self, node: Node) -> int:
        self._fixed[node] = self._new_slot()
        return self._fixed[node]

    def _is_needed_by_tiles(self, node: Node) -> bool:
        return any(
            (user not in self.rows or user.op in ("sum", "max")) and any(_resolved(argument) is node for argument in user.arguments)
            for user in self.nodes
        )

    def _new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

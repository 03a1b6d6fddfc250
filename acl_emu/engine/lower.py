"""From a graph to a program: which steps in which phase, on which registers, single or fused.

A program without reductions has one phase, over all elements. One with reductions goes along each row in phases: a phase computes on
tiles what can be computed so far and feeds the next reductions; when the row is through, they are finished, and the next phase begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from acl_emu.engine.capture import long_axes
from acl_emu.engine.graph import REDUCTIONS, SCANS, DType, Graph, Node, Shape, Uncapturable
from acl_emu.engine.program import (
    DTYPES,
    MOST_ACCUMULATORS,
    MOST_DIMS,
    MOST_OPERANDS,
    MOST_SLOTS,
    Constant,
    Layout,
    Operand,
    Phase,
    Program,
    Saved,
    Step,
    code_of,
)
from acl_emu.engine.render import Fusion, Late, fuse, is_fusable, short

_CHEAP = frozenset({"add", "subtract", "multiply", "negative", "absolute", "equal", "not_equal", "less", "less_equal", "where", "cast"})
"""Worth computing again in a later phase, rather than keeping."""


class Tables(NamedTuple):
    """What the engine has, by name: single and fused steps, reductions and scans."""

    steps: Mapping[str, int]
    reductions: Mapping[str, int]


def lower(
    graph: Graph,
    reads: Sequence[Layout],
    writes: Sequence[Layout],
    tables: Tables,
    *,
    request: Callable[[Fusion], Any] | None = None,
    late: Callable[[Fusion], Late | None] = lambda _: None,
) -> Program:
    """The program that computes ``graph``; raises Uncapturable where the engine has no step for it.

    ``request`` is told every set of steps that could be one fused step, whether there is one or not; ``late`` gives those that the engine
    does not have, but may get.
    """
    return _Lowering(graph, reads, writes, tables, request, late).program()


class _Lowering:
    def __init__(
        self,
        graph: Graph,
        reads: Sequence[Layout],
        writes: Sequence[Layout],
        tables: Tables,
        request: Callable[[Fusion], Any] | None,
        late: Callable[[Fusion], Late | None],
    ) -> None:
        self.tables = tables
        self.request = request
        self.late = late
        self.layouts = (*reads, *writes)
        self.reads = len(reads)
        self.outputs = [node.resolved for node in graph.outputs]
        self.shapes = [node.shape for node in graph.outputs]
        self.nodes = [node for node in graph.nodes if node.op != "broadcast"]
        self.rank = max((len(node.shape) for node in graph.nodes), default=0)
        self._check(graph, writes)
        self.axes = self._reduced_axes()
        self.levels: dict[Node, int] = {}
        self.rows: set[Node] = set()
        """Nodes with one value for a row, which depend on a reduction."""
        for node in self.nodes:
            self._classify(node)
        last = max(self.levels[node] - (node in self.rows) for node in self.outputs)
        self.phases = [Phase() for _ in range(last + 1)]
        self.constants: dict[Node, list[Any]] = {}
        self.saved: dict[Node, int] = {}
        self.slots = 0
        self.width = 1
        self._free: list[int] = []
        self._fixed: dict[Any, int] = {}
        """Registers that hold one thing for good: constants, rows, loaded operands."""
        for number in range(len(self.phases)):
            _Filling(self, number).fill()

    def program(self) -> Program:
        """All of it."""
        if self.slots > MOST_SLOTS or sum(len(phase.accumulators) for phase in self.phases) > MOST_ACCUMULATORS:
            raise Uncapturable("too large a graph")
        return Program(
            self.reads,
            self._operands(),
            self.slots,
            [Constant(slot, node.dtype, node.detail, spread) for node, (slot, spread) in self.constants.items()],
            [Saved(slot, node.dtype.itemsize) for node, slot in self.saved.items()],
            self.phases,
            self.width,
            self.axes,
            ordered=any(node.op in SCANS or node.op.startswith("arg") for node in self.nodes),
            in_parts=bool(self.axes) and len(self.phases) == 1 and all(node in self.rows for node in self.outputs),
            unbuffered=self._is_unbuffered(),
        )

    def _check(self, graph: Graph, writes: Sequence[Layout]) -> None:
        if len(self.layouts) > MOST_OPERANDS or max(self.rank, *(len(layout.shape) for layout in self.layouts)) > MOST_DIMS:
            raise Uncapturable("too many operands or dimensions")
        if len(writes) != len(graph.outputs):
            raise Uncapturable("another number of results")
        for dtype in {layout.dtype for layout in self.layouts} | {node.dtype for node in self.nodes}:
            if dtype.name not in DTYPES:
                raise Uncapturable(f"no {dtype} in the engine")

    def _reduced_axes(self) -> frozenset[int]:
        """The axes that all reductions and scans share, counted from the end."""
        found = {node.detail for node in self.nodes if node.op in REDUCTIONS or node.op in SCANS}
        if len(found) > 1:
            raise Uncapturable("reductions along different axes")
        axes: frozenset[int] = found.pop() if found else frozenset()
        lengths = [max(self._length(node.shape, axis) for node in self.nodes) for axis in axes]
        for node in self.nodes:
            if node.op in REDUCTIONS or node.op in SCANS:
                (argument,) = node.arguments
                if any(self._length(argument.shape, axis) != length for axis, length in zip(axes, lengths, strict=True)):
                    raise Uncapturable("a reduction of less than the whole")
        return axes

    @staticmethod
    def _length(shape: Shape, axis: int) -> int:
        return shape[axis] if -axis <= len(shape) else 1

    def _operands(self) -> list[Operand]:
        read = {node.detail for node in self.nodes if node.op == "input"}
        turns = self._turns()
        operands = [
            Operand(layout.dtype, unread=index not in read, turn=turns.get(index, 0))
            for index, layout in enumerate(self.layouts[: self.reads])
        ]
        for index, (layout, node, shape) in enumerate(zip(self.layouts[self.reads :], self.outputs, self.shapes, strict=True), self.reads):
            if long_axes(layout.shape) != long_axes(shape):
                raise Uncapturable("a result that is broadcast when it is stored")
            axes = iter(axis for axis, length in enumerate(shape) if length != 1)
            of_rows = node in self.rows
            own = tuple(-1 if length == 1 else len(shape) - 1 - next(axes) for length in layout.shape)
            operands.append(Operand(layout.dtype, of_rows=of_rows, axes=own, turn=turns[index]))
        return operands

    def _turns(self) -> dict[int, int]:
        """When each operand is loaded for the last time, or stored: a result may lie on a read that is not loaded any more."""
        turns: dict[int, int] = {}
        for turn, steps in enumerate(steps for phase in self.phases for steps in (phase.tiles, phase.row)):
            turns.update((step.y, turn) for step in steps if step.code in ("load", "store"))
        return turns

    def _is_unbuffered(self) -> bool:
        """Whether tiles are read and written where they are, in one step."""
        steps = self.phases[0].tiles
        calls = [step for step in steps if step.code != "store" and step.code != "load"]
        return (
            not self.axes
            and [step.is_call for step in calls] == [True]
            and not any(spread for _, spread in self.constants.values())
            and all(step.at for step in steps if step.code == "store")
            and all(
                DTYPES[step.x] == self.layouts[step.y].dtype.name != "bool" for step in steps if step.code == "load" or step.code == "store"
            )
        )

    def _classify(self, node: Node) -> None:
        """How many reductions come before a node, and whether it has one value for a row."""
        arguments = [argument.resolved for argument in node.arguments]
        level = max((self.levels[argument] for argument in arguments), default=0)
        if node.op in REDUCTIONS:
            self.rows.add(node)
            level += 1
        elif arguments and level and node.op not in SCANS and all(self.fits_row(argument) for argument in arguments):
            self.rows.add(node)
        self.levels[node] = level

    def fits_row(self, node: Node) -> bool:
        """Whether a node has one value for a row: known when a row is through, or from the beginning."""
        if node in self.rows or node.op == "constant":
            return True
        if self.levels[node] or any(self._length(node.shape, axis) != 1 for axis in self.axes):
            return False
        return node.op == "input" or all(self.fits_row(argument.resolved) for argument in node.arguments)

    def new_slot(self, dtype: DType, key: Any = None, *, of_rows: bool = False) -> int:
        """A register; with a key, one that is held for good. One with a number for each row holds them, whatever their type."""
        self.width = max(self.width, 1 if of_rows else dtype.itemsize)
        if key is not None:
            if key not in self._fixed:
                self._fixed[key] = self.slots
                self.slots += 1
            return self._fixed[key]
        if self._free:
            return self._free.pop()
        self.slots += 1
        return self.slots - 1

    def fixed(self, key: Any) -> int | None:
        """The register of a key, where it has one."""
        return self._fixed.get(key)

    def release(self, slot: int) -> None:
        """A register is free again."""
        self._free.append(slot)

    def constant(self, node: Node, *, spread: bool, of_rows: bool = False) -> int:
        """The register of a constant."""
        slot = self.new_slot(node.dtype, node, of_rows=of_rows)
        entry = self.constants.setdefault(node, [slot, False])
        entry[1] |= spread
        return slot

    def function(self, node: Node) -> int:
        """The single step that computes a node."""
        name = f"{node.op}.{short(node.arguments[-1].dtype)}"
        if name not in self.tables.steps:
            raise Uncapturable(f"no step {name} in the engine")
        return self.tables.steps[name]

    def is_at_hand(self, node: Node, number: int) -> bool:
        """Whether a phase finds a node without computing it."""
        return node in self.rows or is_loaded(node) or node.op == "constant" or (node in self.saved and self.levels[node] < number)

    def is_kept(self, node: Node) -> bool:
        """Whether a later phase needs a node that is dear to compute."""
        if node in self.rows or is_loaded(node) or node.op == "constant":
            return False
        arguments = [argument.resolved for argument in node.arguments]
        if node.op in _CHEAP and all(argument in self.rows or is_loaded(argument) or argument.op == "constant" for argument in arguments):
            return False
        return any(
            (self.levels[user] if user.op not in REDUCTIONS else self.levels[user] - 1) > self.levels[node]
            for user in self.nodes
            if user not in self.rows or user.op in REDUCTIONS
            for argument in user.arguments
            if argument.resolved is node
        )

    def is_needed_by_tiles(self, node: Node) -> bool:
        """Whether elements are computed from a value of their row."""
        return any(
            (user not in self.rows or user.op in REDUCTIONS) and any(argument.resolved is node for argument in user.arguments)
            for user in self.nodes
        )


def is_loaded(node: Node) -> bool:
    """Whether a load makes a node: an input, or one that is cast."""
    return node.op == "input" or (node.op == "cast" and node.arguments[0].resolved.op == "input")


def _loaded_from(node: Node) -> int:
    index: int = node.detail if node.op == "input" else node.arguments[0].resolved.detail
    return index


class _Filling:
    """The steps of one phase."""

    def __init__(self, lowering: _Lowering, number: int) -> None:
        self.all = lowering
        self.number = number
        self.phase = lowering.phases[number]
        self.registers: dict[Node, int] = {}
        self.uses: dict[Node, int] = {}
        self.reserved: dict[Node, int] = {}
        """Registers of nodes that are computed in one of two ways, the same in both."""
        self.scans: dict[Node, int] = {}
        self.last_fused: Step | None = None
        """The last step of the fused way, where there are two."""

    def fill(self) -> None:
        """Reductions first, then what is saved; stores come last: a result may lie where an input lies."""
        number, levels = self.number, self.all.levels
        reductions = [node for node in self.all.nodes if node.op in REDUCTIONS and levels[node] == number + 1]
        stores = [
            (index, node)
            for index, node in enumerate(self.all.outputs)
            if (levels[node] - 1 if node in self.all.rows else levels[node]) == number
        ]
        lane_stores = [(index, node) for index, node in stores if node not in self.all.rows]
        keep = [node for node in self.all.nodes if levels[node] == number and self.all.is_kept(node)]
        for node in keep:
            self.all.saved[node] = self.all.new_slot(node.dtype, (node, "saved"))
        reduced = [node.arguments[0].resolved for node in reductions]
        wanted = list(dict.fromkeys((*reduced, *keep, *(node for _, node in lane_stores))))
        self._compute(wanted)
        accumulators = {}
        for node, argument in zip(reductions, reduced, strict=True):
            accumulators[node] = self._accumulator(node, argument.dtype)
            self._add("reduce", accumulators[node], argument.dtype.itemsize, self._value(argument))
        stored = [(index, node, self._value(node)) for index, node in lane_stores]
        last = [step for step in (*self.phase.tiles[-1:], self.last_fused) if step is not None]
        for index, node, register in stored:
            direct = bool(last) and all(step.is_call and register in step.results for step in last) and node not in self.all.saved
            self._add("store", code_of(node.dtype), self.all.reads + index, register, int(direct))
        self._finish(accumulators, [(index, node) for index, node in stores if node in self.all.rows])

    def _accumulator(self, node: Node, dtype: DType) -> int:
        name = f"{node.op}.{short(dtype)}"
        if name not in self.all.tables.reductions:
            raise Uncapturable(f"no reduction {name} in the engine")
        self.phase.accumulators.append(self.all.tables.reductions[name])
        return sum(len(phase.accumulators) for phase in self.all.phases) - 1

    def _add(self, code: str, x: int, y: int = 0, z: int = 0, at: int = 0, **registers: tuple[int, ...]) -> None:
        self.phase.tiles.append(Step(code, x, y, z, at, **registers))

    # Elements

    def _compute(self, wanted: Sequence[Node]) -> None:
        """As one fused step, where there is one; else what is wanted is computed one by one."""
        needed = self._needed(wanted)
        core = [node for node in needed if is_fusable(node)]
        others = [node for node in needed if not is_fusable(node)]
        before = [node for node in others if not self._depends(node, core)]
        after = [node for node in others if node not in before]
        if len(core) > 1 and not any(self._depends(node, after) for node in core):
            for node in core:
                if node.op != "cast":
                    self.all.function(node)  # what has no single step has no function in C either
            results = [node for node in core if node in wanted or any(self._reads(node, other) for other in after)]
            fusion = fuse(core, results, lambda node: node.op == "constant")
            if self.all.request is not None:
                self.all.request(fusion)
            if fusion.digest in self.all.tables.steps:
                self._fused(fusion, "call", self.all.tables.steps[fusion.digest], before, after)
                return
            late = self.all.late(fusion)
            if late is not None:
                self._fused(fusion, "call_late", late.address, before, after)
                if not late.ready:
                    self._unless_compiled(late, wanted)
                return
        self._singles(wanted)

    def _singles(self, wanted: Sequence[Node]) -> None:
        self.uses = self._count_uses(wanted)
        for node in wanted:
            self._value(node)

    def _unless_compiled(self, late: Late, wanted: Sequence[Node]) -> None:
        """Before what has been added comes a question, and behind it what is done where the answer is no: single steps."""
        fused, registers = self.phase.tiles, self.registers
        self.reserved = {node: registers[node] for node in wanted if node in registers}
        self.phase.tiles, self.registers = [], {}
        self._singles(wanted)
        single, self.last_fused = self.phase.tiles, fused[-1]
        question, end = Step("unless_late", late.address, len(fused) + 1), Step("skip", y=len(single))
        self.phase.tiles = [question, *fused, end, *single]
        self.registers = {node: slot for node, slot in self.registers.items() if registers.get(node) == slot}

    def _needed(self, wanted: Sequence[Node]) -> list[Node]:
        """What a phase computes, after its arguments."""
        found: dict[Node, None] = {}

        def visit(node: Node) -> None:
            if node not in found and not self._is_at_hand(node):
                for argument in node.arguments:
                    visit(argument.resolved)
                found[node] = None

        for node in wanted:
            visit(node)
        return list(found)

    def _is_at_hand(self, node: Node) -> bool:
        return self.all.is_at_hand(node, self.number)

    @staticmethod
    def _reads(node: Node, by: Node) -> bool:
        return any(argument.resolved is node for argument in by.arguments)

    def _depends(self, node: Node, on: Sequence[Node]) -> bool:
        """Whether a node is computed from one of some others, in this phase."""
        if self._is_at_hand(node):
            return False
        arguments = [argument.resolved for argument in node.arguments]
        return any(argument in on or self._depends(argument, on) for argument in arguments)

    def _fused(self, fusion: Fusion, code: str, function: int, before: Sequence[Node], after: Sequence[Node]) -> None:
        for node in before:
            self._single(node)
        arguments = tuple(self.all.constant(node, spread=False) if node.op == "constant" else self._value(node) for node in fusion.inputs)
        results = tuple(self._result(node) for node in fusion.results)
        self._add(code, function, results=results, arguments=arguments)
        for node in after:
            self._single(node)

    def _result(self, node: Node) -> int:
        """The register that a node is computed in."""
        if node in self.reserved:
            self.registers[node] = self.reserved[node]
        if node not in self.registers:
            saved = self.all.saved.get(node)
            # A result may be computed where it is stored: nothing else goes through its register.
            key = (node, "result") if node in self.all.outputs else None
            self.registers[node] = self.all.new_slot(node.dtype, key) if saved is None else saved
            self.all.width = max(self.all.width, node.dtype.itemsize)
        return self.registers[node]

    def _value(self, node: Node) -> int:
        """The register that holds a node, computed where it is not there yet."""
        if node in self.registers:
            return self.registers[node]
        if node.op == "constant":
            return self.all.constant(node, spread=True)
        if node in self.all.rows:
            return self.all.new_slot(node.dtype, (node, "spread"))
        if is_loaded(node):
            self.registers[node] = self.all.new_slot(node.dtype, (node, "loaded"))
            self._add("load", code_of(node.dtype), _loaded_from(node), self.registers[node])
            return self.registers[node]
        if self._is_at_hand(node):
            return self.all.saved[node]
        self._single(node)
        return self.registers[node]

    def _single(self, node: Node) -> None:
        """One step."""
        arguments = [argument.resolved for argument in node.arguments]
        sources = tuple(self._value(argument) for argument in arguments)
        if all(argument.dtype.itemsize == node.dtype.itemsize for argument in arguments):
            self._release(arguments)  # a result may take the place of an argument
            self._result(node)
        else:
            self._result(node)
            self._release(arguments)
        if node.op == "cast":
            self._add("cast", code_of(node.dtype), sources[0], self._result(node), code_of(arguments[0].dtype))
        elif node.op in SCANS:
            if node not in self.scans:
                self.scans[node] = self._accumulator(node, arguments[0].dtype)
            self._add("scan", self.scans[node], sources[0], self._result(node), node.dtype.itemsize)
        else:
            self._add("call", self.all.function(node), results=(self._result(node),), arguments=sources)

    def _count_uses(self, wanted: Sequence[Node]) -> dict[Node, int]:
        """How often each node is read: a register is free again after the last time; what is wanted is read at the end."""
        uses = dict.fromkeys(wanted, 1)
        for node in self._needed(wanted):
            for argument in node.arguments:
                uses[argument.resolved] = uses.get(argument.resolved, 0) + 1
        return uses

    def _release(self, nodes: Sequence[Node]) -> None:
        """Some nodes have been read."""
        for node in nodes:
            if node in self.uses and not self._is_at_hand(node) and node not in self.all.saved:
                self.uses[node] -= 1
                if not self.uses[node]:
                    self.all.release(self.registers[node])

    # Rows

    def _finish(self, accumulators: Mapping[Node, int], stores: Sequence[tuple[int, Node]]) -> None:
        """When a row is through: finish its reductions, compute what has one value for it, and spread what later tiles need."""
        row, rows, level = self.phase.row, self.all.rows, self.number + 1
        for node, accumulator in accumulators.items():
            row.append(Step("finish", accumulator, code_of(node.dtype), self.all.new_slot(node.dtype, node, of_rows=True)))
        for node in self.all.nodes:
            if node in rows and node not in accumulators and self.all.levels[node] == level:
                self._row_value(node)
        for node in self.all.nodes:
            if node in rows and self.all.levels[node] == level and self.all.is_needed_by_tiles(node):
                spread = self.all.new_slot(node.dtype, (node, "spread"))
                row.append(Step("spread", node.dtype.itemsize, self._row_value(node), spread))
        for index, node in stores:
            row.append(Step("store", code_of(node.dtype), self.all.reads + index, self._row_value(node)))

    def _row_value(self, node: Node) -> int:
        """The register that has a number of a node for each row."""
        if node.op == "constant":
            return self.all.constant(node, spread=True, of_rows=True)
        key = node if node in self.all.rows else (node, "row", self.number)
        known = self.all.fixed(key)
        if known is not None:
            return known
        if is_loaded(node):
            slot = self.all.new_slot(node.dtype, key, of_rows=True)
            self.phase.row.append(Step("load", code_of(node.dtype), _loaded_from(node), slot))
            return slot
        arguments = [argument.resolved for argument in node.arguments]
        sources = tuple(map(self._row_value, arguments))
        slot = self.all.new_slot(node.dtype, key, of_rows=True)
        if node.op == "cast":
            self.phase.row.append(Step("cast", code_of(node.dtype), sources[0], slot, code_of(arguments[0].dtype)))
        else:
            self.phase.row.append(Step("call", self.all.function(node), results=(slot,), arguments=sources))
        return slot

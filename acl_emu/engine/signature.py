"""Graphs as one line of text: what kernels that are compiled as a whole are known by.

``sub:i0,i1 abs:t0 less:t1,k0`` reads: inputs ``i``, constants ``k`` that every call brings, steps ``t`` in order; the last one is the
result, or ``out:`` names several. Inputs that are truth values are ``m``; those with one value for a whole row come as constants, ``x``.
Constants that are the same for every call, because no digit of theirs can be lost, stand as numbers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from acl_emu.engine.trace import Graph, Node, Untraceable

LITERALS = (0.0, 1.0, -1.0, 2.0, 0.5, -0.5)


class Signature(NamedTuple):
    """The line of a graph, and its constants in order: numbers, and inputs by their number."""

    text: str
    constants: tuple[float | int, ...]


def signature_of(graph: Graph, of_rows: Collection[int] = ()) -> Signature:
    """The signature of a graph of which some inputs, by number, have one value for a whole row."""
    names: dict[Node, str] = {}
    constants: list[float | int] = []
    steps: list[str] = []
    for node in graph.nodes:
        if node.op == "same":
            names[node] = names[node.arguments[0]]
        elif node.op == "input" and node.detail in of_rows:
            names[node] = f"x{len(constants)}"
            constants.append(int(node.detail))
        elif node.op == "input":
            names[node] = f"{'m' if node.mask else 'i'}{node.detail}"
        elif node.op == "constant":
            if node.detail in LITERALS and (node.detail or str(node.detail) == "0.0"):
                names[node] = f"{node.detail:g}"
            else:
                names[node] = f"k{len(constants)}"
                constants.append(float(node.detail))
        else:
            names[node] = f"t{len(steps)}"
            steps.append(f"{node.op}:{','.join(names[argument] for argument in node.arguments)}")
    outputs = [names[node] for node in graph.outputs]
    if any(not name.startswith("t") for name in outputs) or len(set(outputs)) < len(outputs):
        raise Untraceable("a result that is not computed, or twice")
    if outputs != [f"t{len(steps) - 1}"]:
        steps.append(f"out:{','.join(outputs)}")
    return Signature(" ".join(steps), tuple(constants))

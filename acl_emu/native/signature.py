"""Graphs without reductions as one line of text: what kernels that are compiled as a whole are known by.

``sub:i0,i1 abs:t0 less:t1,k0`` reads: inputs ``i``, constants ``k`` that every call brings, steps ``t`` in order; the last one is the
result. Constants that are the same for every call, because no digit of theirs can be lost, stand as numbers.
"""

from __future__ import annotations

from acl_emu.native.trace import Graph, Node, Untraceable

LITERALS = (0.0, 1.0, -1.0, 2.0, 0.5, -0.5)


def signature_of(graph: Graph) -> tuple[str, list[float]]:
    """The line of a graph, and its constants in order."""
    names: dict[Node, str] = {}
    constants: list[float] = []
    steps: list[str] = []
    if len(graph.outputs) != 1:
        raise Untraceable("more than one result")
    for node in graph.nodes:
        if node.op == "same":
            names[node] = names[node.arguments[0]]
        elif node.op == "input":
            if node.mask:
                raise Untraceable("a mask as input")
            names[node] = f"i{node.detail}"
        elif node.op == "constant":
            if node.detail in LITERALS and (node.detail or str(node.detail) == "0.0"):
                names[node] = f"{node.detail:g}"
            else:
                names[node] = f"k{len(constants)}"
                constants.append(node.detail)
        else:
            names[node] = f"t{len(steps)}"
            steps.append(f"{node.op}:{','.join(names[argument] for argument in node.arguments)}")
    return " ".join(steps), constants

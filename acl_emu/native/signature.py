"""Graphs as one line of text: what kernels that are compiled as a whole are known by.

``sub:i0,i1 abs:t0 less:t1,k0`` reads: inputs ``i``, constants ``k`` that every call brings, steps ``t`` in order; the last one is the
result. Constants that are the same for every call, because no digit of theirs can be lost, stand as numbers. Sums of inputs, and of
products of two, which are exact enough for every type, are constants of a row.
"""

from __future__ import annotations

from acl_emu.native.trace import Graph, Node, Untraceable

LITERALS = (0.0, 1.0, -1.0, 2.0, 0.5, -0.5)


def signature_of(graph: Graph) -> tuple[str, list[float | Node]]:
    """The line of a graph, and its constants in order; the node of one that is the sum of a row."""
    names: dict[Node, str] = {}
    constants: list[float | Node] = []
    steps: list[str] = []
    if len(graph.outputs) != 1:
        raise Untraceable("more than one result")
    for node in _after_sums(graph.outputs[0]):
        if node.op == "sum":
            names[node] = f"k{len(constants)}"
            constants.append(node)
        elif node.op == "same":
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


def _after_sums(output: Node) -> list[Node]:
    """Every node that the output needs, after its arguments; sums stand for what they add up."""
    seen: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node in seen:
            return
        if node.op == "max" or (node.op == "sum" and not _adds_inputs(node.arguments[0])):
            raise Untraceable("a reduction of more than inputs")
        if node.op != "sum":
            for argument in node.arguments:
                visit(argument)
        seen[node] = None

    visit(output)
    return list(seen)


def _adds_inputs(summand: Node) -> bool:
    factors = summand.arguments if summand.op == "mul" else (summand,)
    return all(factor.op == "input" and not factor.mask for factor in factors)

"""Formulas that are tried in float: equal to those of kernels, in fewer steps.

A kernel takes care that nothing on its way is too small or too large for a number. In float something may be: a result is in doubt then,
and made as the kernel has it, in double.
"""

from __future__ import annotations

from typing import TypeAlias

from acl_emu.codegen.graph import Graph

Term: TypeAlias = "str | tuple[Term, ...]"
"""A name or a number, or an operation and its arguments; in a rule, capital letters stand for any term."""

_ROOT: Term = ("exp", ("mul", ("abs", "X"), "-0.5"))
_FACTOR: Term = ("where", ("less", "0", "X"), _ROOT, "1")
_RULES: tuple[tuple[Term, Term], ...] = (
    (("div", ("mul", ("mul", "G", _FACTOR), _FACTOR), ("add", "1", ("mul", _ROOT, _ROOT))), ("div", "G", ("add", "1", ("exp", "X")))),
)


def shorter(graph: Graph) -> Graph:
    """The same results in fewer steps, where that is known."""
    if graph.reductions or len(graph.outputs) > 1:
        return graph
    steps: dict[str, str] = {}
    _number(_shortened(_term(graph, graph.outputs[0])), steps)
    return graph if len(steps) == len(graph.steps) else Graph(" ".join(steps))


def _term(graph: Graph, name: str) -> Term:
    step = graph.steps.get(name)
    return name if step is None else (step.op, *(_term(graph, argument) for argument in step.arguments))


def _shortened(term: Term) -> Term:
    if isinstance(term, str):
        return term
    for rule, short in _RULES:
        found: dict[str, Term] = {}
        if _fits(rule, term, found):
            return _filled(short, {letter: _shortened(one) for letter, one in found.items()})
    return (term[0], *map(_shortened, term[1:]))


def _fits(rule: Term, term: Term, found: dict[str, Term]) -> bool:
    """Whether a term is as a rule has it, and what its letters stand for."""
    if isinstance(rule, str):
        return found.setdefault(rule, term) == term if rule.isupper() else rule == term
    if isinstance(term, str) or len(rule) != len(term):
        return False
    return all(_fits(one, other, found) for one, other in zip(rule, term, strict=True))


def _filled(short: Term, found: dict[str, Term]) -> Term:
    return found.get(short, short) if isinstance(short, str) else tuple(_filled(one, found) for one in short)


def _number(term: Term, steps: dict[str, str]) -> str:
    """The name of a term among the steps, which are added as they are needed."""
    if isinstance(term, str):
        return term
    text = f"{term[0]}:{','.join(_number(argument, steps) for argument in term[1:])}"
    return steps.setdefault(text, f"t{len(steps)}")

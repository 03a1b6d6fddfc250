"""An explanation of phase one, for people and for tools."""

from __future__ import annotations

import inspect
import json
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from acl_emu.core import constants as c
from acl_emu.core import soc
from acl_emu.core.dtypes import DType
from acl_emu.runtime.executor import Plan
from acl_emu.spec.kinds import tensor_kind
from acl_emu.spec.operator import Operator
from acl_emu.tools import describe, spell
from acl_emu.tools.checks_made import Step, order
from acl_emu.tools.explain import Argument, Explanation, chip_step, shape_text


def _kernel(plan: Plan) -> dict[str, Any]:
    """Name, computing type and attributes of a plan's kernel, as far as they can be told; of several plans in one launch the first's."""
    plan = getattr(plan.kernel, "plans", (plan,))[0]
    if plan.kernel is None:
        return {}
    run = getattr(plan.kernel, "in_numpy", plan.kernel)
    known = inspect.getclosurevars(run).nonlocals
    kernel = known.get("kernel", run)
    kernel = getattr(kernel, "func", kernel)
    facts: dict[str, Any] = {"name": f"{getattr(kernel, '__module__', '')}.{getattr(kernel, '__name__', type(kernel).__name__)}"}
    dtype = known.get("dtype")
    if isinstance(dtype, DType):
        facts["via"] = dtype.name
    facts["attributes"] = {name: _attribute(value) for name, value in (known.get("attributes") or {}).items()}
    return facts


def _attribute(value: Any) -> Any:
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    if isinstance(value, np.generic):
        return value.item() if value.dtype.kind in "biuf" else str(value)
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return str(value)


# Output


def as_json(explanation: Explanation) -> str:
    """For tools; keys are stable."""
    outcome, plan = explanation.outcome, explanation.outcome.plan
    status = outcome.error.code if outcome.error is not None else c.ACLNN_SUCCESS
    promoted = explanation.decided("promote", "promote_scalar")
    broadcast = explanation.decided("broadcast_shape")
    made = [{"check": step.check, "rule": step.rule, "detail": step.detail, "state": _state(step)} for step in explanation.steps]
    made += [{"check": step.check, "rule": step.rule, "detail": "", "state": "not reached"} for step in explanation.missed]
    return _dumped(
        {
            "operator": explanation.operator.name,
            "soc": explanation.chip.name,
            "arguments": [
                {"name": one.name, "c_type": one.kind.c_type, "io": one.kind.io, "value": one.words, "assumed": one.assumed}
                for one in explanation.arguments
            ],
            "checks": made,
            "promoted": str(promoted[-1].result).removeprefix("ACL_") if promoted else None,
            "broadcast": list(broadcast[-1].result) if broadcast else None,
            "plan": None
            if plan is None
            else {
                "empty": plan.empty,
                "kernel": _kernel(plan) or None,
                "reads": [operand.name for operand in plan.reads],
                "writes": [operand.name for operand in plan.writes],
            },
            "workspace": None
            if plan is None
            else {
                "size": plan.workspace.size,
                "parts": [
                    {"name": part.name, "shape": list(part.shape), "dtype": str(part.dtype), "offset": part.offset, "bytes": part.nbytes}
                    for part in plan.workspace.parts
                ],
            },
            "status": status,
            "status_name": spell.status(status),
            "message": explanation.message,
        }
    )


def declaration_as_json(operator: Operator) -> str:
    """The declaration alone, for tools."""
    return _dumped(
        {
            "operator": operator.name,
            "header": operator.header,
            "products": [product.short for product in soc.Product if product in operator.products],
            "parameters": [
                {"name": name, "c_type": kind.c_type, "io": kind.io, "optional": kind.optional} for name, kind in operator.parameters
            ],
            "checks": [{"check": step.check, "rule": step.rule} for step in order(operator)],
        }
    )


def _dumped(facts: dict[str, Any]) -> str:
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"


def _state(step: Step) -> str:
    return "failed" if step.failure else "passed"


Painter = Callable[[str, str], str]
"""Text and colour to what is printed."""


def declaration_as_text(operator: Operator, width: int) -> str:
    """The declaration alone, and the order of checks."""
    lines = [*describe.one(operator.name).rstrip("\n").splitlines(), "", "Checks, in order"]
    steps = [
        *order(operator),
        Step("What the operator itself asks for; give arguments to see it", ""),
        chip_step(operator)._replace(detail=""),
    ]
    for number, step in enumerate(steps, 1):
        lines += _wrapped(f"  {number:2}  ", step.rule, width)
    return "\n".join(lines) + "\n"


def as_text(explanation: Explanation, width: int = 100, paint: Painter = lambda text, _colour: text) -> str:
    """For people."""
    operator, outcome = explanation.operator, explanation.outcome
    lines = [f"{operator.name} on {explanation.chip.name}, {explanation.chip.product.value}"]
    lines += _wrapped("  ", operator.summary.splitlines()[0], width)
    lines += ["", paint("Arguments", "bold"), *_argument_lines(explanation.arguments, width)]
    lines += ["", paint("Checks, in order", "bold")]
    for number, step in enumerate(explanation.steps, 1):
        mark = paint("FAILED", "red") if step.failure else paint("passed", "green")
        lines += _wrapped(f"  {number:2}  {mark}  ", step.rule, width, 14)
        if step.detail:
            lines += _wrapped(" " * 14, step.detail, width)
    if outcome.error is not None:
        lines += _wrapped(" " * 14, f"{outcome.error.code} ({spell.status(outcome.error.code)})", width)
        lines += _wrapped(" " * 14, explanation.message, width)
    for step in explanation.missed:
        lines += _wrapped("      not reached  ", step.rule, width)
    lines += _decision_lines(explanation, paint)
    if outcome.plan is not None:
        lines += _plan_lines(outcome.plan, paint, width)
    status = outcome.error.code if outcome.error is not None else c.ACLNN_SUCCESS
    answer = "0 (success)" if not status else f"{status} ({spell.status(status)})"
    lines += ["", f"{operator.name}GetWorkspaceSize returns {paint(answer, 'red' if status else 'green')}"]
    return "\n".join(lines) + "\n"


def _argument_lines(arguments: list[Argument], width: int) -> list[str]:
    rows = []
    for argument in arguments:
        kind = f"{argument.kind.io}put" if tensor_kind(argument.kind) else argument.kind.c_type.removeprefix("const ").removesuffix("*")
        rows.append((argument.name, kind.replace("inoutput", "in place"), argument.words + (" (assumed)" if argument.assumed else "")))
    names, kinds = (max((len(row[i]) for row in rows), default=0) for i in range(2))
    return [line.rstrip() for name, kind, words in rows for line in _wrapped(f"  {name:{names}}  {kind:{kinds}}  ", words, width)]


def _decision_lines(explanation: Explanation, paint: Painter) -> list[str]:
    rows = [
        (title, str(step.result).removeprefix("ACL_") if isinstance(step.result, DType) else shape_text(step.result))
        for title, names in (("promoted dtype", ("promote", "promote_scalar")), ("broadcast shape", ("broadcast_shape",)))
        for step in explanation.decided(*names)
    ]
    return ["", paint("Decided", "bold"), *_table(rows)] if rows else []


def _plan_lines(plan: Plan, paint: Painter, width: int) -> list[str]:
    lines = ["", paint("Plan", "bold")]
    if plan.empty:
        lines.append("  nothing to do: every output is empty")
    else:
        facts = _kernel(plan)
        attributes = ", ".join(f"{name} = {value}" for name, value in facts["attributes"].items())
        rows = [("kernel", facts["name"])]
        rows += [("in", facts["via"])] if "via" in facts else []
        rows += [("with", attributes)] if attributes else []
        rows += [
            ("reads", ", ".join(operand.name for operand in plan.reads)),
            ("writes", ", ".join(operand.name for operand in plan.writes)),
        ]
        for title, text in rows:
            lines += _wrapped(f"  {title:6}  ", text, width)
    workspace = plan.workspace
    lines += ["", paint(f"Workspace, {workspace.size} bytes", "bold")]
    if workspace.parts:
        head = ("offset", "bytes", "shape", "dtype", "part")
        rows5 = [(str(part.offset), str(part.nbytes), shape_text(part.shape), str(part.dtype), part.name) for part in workspace.parts]
        lines += _table([head, *rows5], right=2)
    return lines


def _table(rows: Sequence[tuple[str, ...]], right: int = 0) -> list[str]:
    """Columns that line up; the first ``right`` ones at their right edge."""
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(text.rjust(w) if i < right else text.ljust(w) for i, (text, w) in enumerate(zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]


def _wrapped(head: str, text: str, width: int, indent: int | None = None) -> list[str]:
    """Text behind a head, continued below its own beginning."""
    margin = len(head) if indent is None else indent
    parts = textwrap.wrap(text, max(width - margin, 40), break_long_words=False, break_on_hyphens=False) or [""]
    return [head + parts[0], *(" " * margin + part for part in parts[1:])]

"""Operators in words: what `acl-emu ops` prints and docs/operators/ is made of."""

from __future__ import annotations

import aclnnop
from acl_emu.core import documented
from acl_emu.core.soc import PROFILES, Product
from acl_emu.spec.kinds import IntKind, ListKind, StringKind, TensorKind, tensor_kind
from acl_emu.spec.operator import Declaration, Operator
from acl_emu.spec.single_phase import SinglePhase
from aclnnop.registry import MODULES, SINGLE_PHASES

ROLES = {"in": "input", "out": "output", "inout": "in-place"}


def signature(declared: Declaration) -> str:
    """Phase one as C declares it, without workspaceSize and executor; of a function without phases, all of it."""
    parameters = [f"{kind.c_type} {name}" for name, kind in declared.parameters]
    if isinstance(declared, SinglePhase):
        parameters += [f"{result.c_type}* {result.name}" for result in declared.results]
    return f"{declared.name}({', '.join(parameters)})"


def products(operator: Declaration) -> str:
    """The products that have a kernel for it."""
    return ", ".join(product.short for product in Product if product in operator.products)


def dtypes(operator: Declaration, kind: TensorKind) -> str:
    """The dtypes a tensor parameter takes, and where a product that has the operator departs."""
    text = ", ".join(dtype.name for dtype in kind.allowed) or "any that the result can be cast to"
    for product in Product:  # in one order, whatever order they are declared in
        if product in operator.products and product in kind.on:
            text += f"; on {product.value}: {', '.join(dtype.name for dtype in kind.on[product])}"
    return text


def all_of_them() -> str:
    """One line each."""
    declared: list[Declaration] = [*map(aclnnop.find, MODULES), *map(aclnnop.find_single_phase, SINGLE_PHASES)]
    width = max(len(each.name) for each in declared)
    lines = [f"{each.name:{width}}  {each.summary.partition(chr(10))[0]}" for each in sorted(declared, key=lambda each: each.name)]
    return "\n".join([*lines, f"{len(lines)} of {len(documented.table())} documented operators; `acl-emu ops NAME` shows one"]) + "\n"


def find_any(name: str) -> Declaration:
    """An operator or a function without phases, as ``find`` does."""
    for known in SINGLE_PHASES:
        if known.lower() in (name.lower(), f"aclnn{name.lower()}"):
            return aclnnop.find_single_phase(known)
    return find(name)


def find(name: str) -> Operator:
    """An operator, with or without ``aclnn``, in any case; LookupError where there is none."""
    wanted = name.lower().removesuffix("getworkspacesize")
    for known in MODULES:
        if known.lower() in (wanted, f"aclnn{wanted}"):
            return aclnnop.find(known)
    try:
        return aclnnop.find(name)
    except AttributeError as error:
        raise LookupError(str(error)) from None


def one(name: str) -> str:
    """One operator, whole."""
    operator = find_any(name)
    lines = [
        signature(operator),
        f"  {operator.summary.splitlines()[0]}",
        f"  header    {operator.header}",
        f"  products  {products(operator)}",
    ]
    for parameter, kind in operator.parameters:
        tensor = tensor_kind(kind)
        if tensor is not None:
            extra = "optional " if kind.optional else ""
            what = "list of tensors" if isinstance(kind, ListKind) else "tensor"
            lines.append(f"  {parameter:20} {extra}{ROLES[kind.io]} {what}: {dtypes(operator, tensor)}")
        elif isinstance(kind, IntKind) and kind.choices is not None:
            lines.append(f"  {parameter:20} {kind.c_type}: {', '.join(f'{choice.value} {choice.name.lower()}' for choice in kind.choices)}")
        elif isinstance(kind, StringKind) and kind.choices:
            lines.append(f"  {parameter:20} {kind.c_type}: {', '.join(kind.choices)}")
        else:
            lines.append(f"  {parameter:20} {kind.c_type}")
    if any(not soc.bf16 for soc in PROFILES.values()):
        lines.append("  BF16 is not supported on " + ", ".join(soc.name for soc in PROFILES.values() if not soc.bf16))
    return "\n".join(lines) + "\n"

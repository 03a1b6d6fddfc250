"""exports.c, the functions of the library, written when it is built: from the headers of the runtime, the table of documented operators,
and the list of those that are emulated. No operator is imported, so that the library is built before the package can be."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from acl_emu.cface.headers import declaration
from acl_emu.core import documented
from acl_emu.core.documented import Parameters

RUNTIME_HEADERS = (
    "acl/acl_base_rt.h",
    "acl/acl_base.h",
    "acl/acl_rt.h",
    "acl/acl_op.h",
    "acl/acl_op_compiler.h",
    "aclnn/acl_meta.h",
    "aclnn/aclnn_base.h",
    "profiling/prof_api.h",
    "runtime/rt.h",
)

_DECLARED = re.compile(r"^(?P<result>\w[\w *]*?) (?P<name>\w+)\((?P<parameters>[^()]*)\);$", re.MULTILINE)
_TYPES = {
    "i": re.compile(r"^typedef enum (\w+) {", re.MULTILINE),
    "p": re.compile(r"^typedef void \*(\w+);", re.MULTILINE),
    "function": re.compile(r"^typedef \w+ \(\*(\w+)\)\(", re.MULTILINE),
}
_NUMBERS = {"d": ("float", "double"), "i": ("int8_t", "int16_t", "int32_t", "int64_t", "int", "aclError", "aclnnStatus", "rtError_t")}
_FAILED = {"aclError": "ACL_ERROR_INTERNAL_ERROR", "aclnnStatus": "ACLNN_ERR_INNER", "rtError_t": "ACL_ERROR_RT_INTERNAL_ERROR"}


Carriers = dict[str, str]
"""C type -> the member of the argument union that carries it; functions are carried as numbers."""


class Function(NamedTuple):
    """A C function."""

    result: str
    name: str
    parameters: Parameters


def runtime_functions(include: Path) -> Iterator[Function]:
    """What the headers of the runtime declare."""
    for header in RUNTIME_HEADERS:
        for match in _DECLARED.finditer((include / header).read_text(encoding="utf-8")):
            parts = [] if match["parameters"] == "void" else match["parameters"].split(", ")
            parameters = tuple((c_type, name) for c_type, _, name in (part.rpartition(" ") for part in parts))
            yield Function(match["result"], match["name"], parameters)


def functions(include: Path, emulated: Collection[str]) -> tuple[list[Function], list[str]]:
    """The functions that are carried out, and the names of those that are refused."""
    carried_out, refused = list(runtime_functions(include)), []
    for operator in documented.table().values():
        if operator.name in emulated:
            carried_out += [Function("aclnnStatus", name, parameters) for name, parameters in operator.functions.items()]
        elif not operator.probed:
            refused += list(operator.functions)
    return carried_out, refused


def carriers(include: Path) -> Carriers:
    """How the types that the headers of the runtime declare are carried, and the numbers."""
    text = "\n".join((include / header).read_text(encoding="utf-8") for header in RUNTIME_HEADERS)
    found = {name: member for member, names in _NUMBERS.items() for name in names}
    return found | {name: member for member, declared in _TYPES.items() for name in declared.findall(text)}


_VARIADIC = "..."
_TEXT = """    char text[1024];
    va_list rest;
    va_start(rest, {last});
    vsnprintf(text, sizeof text, {last} ? {last} : "", rest);
    va_end(rest);
"""


def _carrier(c_type: str, known: Carriers) -> str:
    plain = c_type.replace("const ", "").strip()
    return "p" if plain.endswith("*") else known.get(plain, "u")


def _packed(c_type: str, name: str, known: Carriers) -> str:
    member = _carrier(c_type, known)
    return f"{{.u = (uintptr_t){name}}}" if member == "function" else f"{{.{member} = {name}}}"


def _export(number: int, function: Function, known: Carriers) -> str:
    text, parameters = "", list(function.parameters)
    if parameters and parameters[-1][1] == _VARIADIC:  # what was formatted goes on in place of the format
        last, name = parameters[-2]
        text, parameters[-2:] = _TEXT.format(last=name), [(last, "text")]
    values = [_packed(c_type, name, known) for c_type, name in parameters]
    # Names that no official parameter has.
    arguments = f"acl_emu_arg packed_[] = {{{', '.join(values)}}}, result_;" if values else "acl_emu_arg *packed_ = NULL, result_;"
    failed = _FAILED.get(function.result, "0")
    result = f"result_.{_carrier(function.result, known)}"
    cast = f"({function.result})" + (f"(uintptr_t){result}" if function.result.endswith("*") else result)
    enter = f"acl_emu_enter({number}, packed_, &result_, __builtin_return_address(0))"
    leave = f"{enter};" if function.result == "void" else f"return {enter} ? {failed} : {cast};"
    return f"EXPORT {declaration(*function)}\n{{\n{text}    {arguments}\n    {leave}\n}}\n"


def source(include: Path, emulated: Collection[str]) -> str:
    """exports.c: every function packs its arguments and enters Python; one that is not emulated says which it is."""
    known = carriers(include)
    carried_out, refused = functions(include, emulated)
    names = ",\n".join(f'    "{function.name}"' for function in carried_out)
    parts = [
        "/* The exported functions. Written by acl_emu/cface/exports.py when the library is built. */",
        "#include <stdarg.h>",
        "#include <stdio.h>",
        *(f'#include "{header}"' for header in RUNTIME_HEADERS),
        '#include "shim.h"',
        "",
        '#define EXPORT __attribute__((visibility("default")))',
        # The address of an exported function would be looked up when the library is loaded; that of its local name is not.
        "#define REFUSED(name) \\",
        "    static aclnnStatus local_##name(void) { return acl_emu_refuse((const void *)local_##name); } \\",
        '    extern EXPORT aclnnStatus name(void) __attribute__((alias("local_" #name)));',
        "",
        f"const char *const acl_emu_names[] = {{\n{names}}};",
        f"const uint32_t acl_emu_count = {len(carried_out)};",
        "",
        *(_export(number, function, known) for number, function in enumerate(carried_out)),
        *(f"REFUSED({name})" for name in refused),
    ]
    return "\n".join(parts) + "\n"

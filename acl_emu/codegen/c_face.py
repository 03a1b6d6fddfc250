"""The C face: headers and exported functions, from the declared acl functions and operators."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from acl_emu.api.border import FUNCTIONS, HANDLE_TYPES, Prototype
from acl_emu.api.prototypes import phases
from acl_emu.codegen import constants
from acl_emu.codegen.python_faces import MARK, operators

# What stands before the enumerations and the functions of each header: types that no table holds.
_TYPES = {
    "acl/acl_base_rt.h": """
typedef void *aclrtStream;
typedef void *aclrtEvent;
typedef void *aclrtContext;
typedef int aclError;
typedef uint16_t aclFloat16;
typedef struct aclDataBuffer aclDataBuffer;
""",
    "acl/acl_rt.h": """
typedef void *aclrtDrvMemHandle;
typedef void *aclmdlRI;
typedef void (*aclrtCallback)(void *userData);
typedef void (*aclrtHostFunc)(void *args);
""",
    "aclnn/acl_meta.h": """
typedef struct aclOpExecutor aclOpExecutor;
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;
typedef int32_t aclnnStatus;

#ifdef __cplusplus
constexpr aclnnStatus OK = 0;
#endif
""",
}

# Structures, which need the enumerations.
_STRUCTURES = {
    "acl/acl_rt.h": """
typedef struct aclrtMemLocation {
    uint32_t id;
    aclrtMemLocationType type;
} aclrtMemLocation;

typedef struct aclrtPtrAttributes {
    aclrtMemLocation location;
    uint32_t pageSize;
    uint32_t rsv[4];
} aclrtPtrAttributes;

typedef struct aclrtPhysicalMemProp {
    aclrtMemHandleType handleType;
    aclrtMemAllocationType allocationType;
    aclrtMemAttr memAttr;
    aclrtMemLocation location;
    uint64_t reserve;
} aclrtPhysicalMemProp;
""",
}

_INCLUDES = {
    "acl/acl_base_rt.h": ["<stdbool.h>", "<stddef.h>", "<stdint.h>", '"acl/error_codes/rt_error_codes.h"', '"aclnn/opdev/op_errno.h"'],
    "acl/acl_rt.h": ['"acl/acl_base_rt.h"'],
    "aclnn/acl_meta.h": ['"acl/acl_base.h"'],
    "aclnn/aclnn_base.h": ['"aclnn/acl_meta.h"'],
}

_FORWARDING = {
    "acl/acl_base.h": ["acl/acl_base_rt.h"],
    "acl/acl.h": ["acl/acl_rt.h"],
    "acl/acl_op.h": ["acl/acl_base.h"],
}

WRITTEN_BY_HAND = ("aclnn/opdev/fp16_t.h", "securec.h")
"""Small headers of code, not declarations: they are kept in include/ as they are."""

CODES_IN_MACROS = ("acl/error_codes/rt_error_codes.h", "aclnn/opdev/op_errno.h")


def _guard(header: str) -> str:
    return "ACL_EMU_" + "".join(letter if letter.isalnum() else "_" for letter in header).upper()


def _header(name: str, body: Iterable[str], includes: Iterable[str] = ()) -> str:
    guard = _guard(name)
    parts = [f"/* {name}: {MARK} */", f"#ifndef {guard}", f"#define {guard}", ""]
    parts += [f"#include {include}" for include in includes]
    return "\n".join([*parts, *body, "", f"#endif /* {guard} */"]) + "\n"


def _extern_c(declarations: Iterable[str]) -> list[str]:
    return ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", *declarations, "", "#ifdef __cplusplus", "}", "#endif"]


def _declaration(prototype: Prototype) -> str:
    parameters = ", ".join(f"{parameter.c_type} {parameter.name}" for parameter in prototype.parameters) or "void"
    return f"{prototype.result} {prototype.name}({parameters})"


def _acl_headers() -> dict[str, str]:
    table = constants.table()
    functions: dict[str, list[str]] = defaultdict(list)
    for function in FUNCTIONS.values():
        functions[function.prototype.header].append(f"{_declaration(function.prototype)};")
    files = {}
    for header, includes in _INCLUDES.items():
        body: list[str] = []
        for name, value in table["macros"].get(header, {}).items():
            body.append(f"#define {name} {value:#x}U" if value > 0x7FFFFFFF else f"#define {name} {value}")
        body += _TYPES.get(header, "").splitlines()
        for name, enum in table["enums"].items():
            if enum["header"] == header:
                members = ",\n".join(f"    {member} = {value}" for member, value in enum["values"].items())
                body += ["", f"typedef enum {name} {{", members, f"}} {name};"]
        if header in table["codes"]:
            body += ["", *(f"static const int {name} = {value};" for name, value in table["codes"][header].items())]
        body += _STRUCTURES.get(header, "").splitlines()
        files[header] = _header(header, [*body, *_extern_c(["", *sorted(functions[header])])], includes)
    for header in CODES_IN_MACROS:
        lines = [
            line for name, value in table["codes"][header].items() for line in (f"#ifndef {name}", f"#define {name} {value}", "#endif")
        ]
        files[header] = _header(header, ["", *lines])
    for header, targets in _FORWARDING.items():
        files[header] = _header(header, [], [f'"{target}"' for target in targets])
    return files


def _operator_headers() -> dict[str, str]:
    by_header: dict[str, list[str]] = defaultdict(list)
    for operator in operators():
        one, two = phases(operator)
        by_header[operator.header] += ["", f"{_declaration(one)};", f"{_declaration(two)};"]
    files = {}
    for header, declarations in by_header.items():
        files[header] = _header(header, _extern_c(declarations), ['"aclnn/aclnn_base.h"'])
        short = header.rpartition("/")[2]
        for other in (f"aclnn/{short}", f"aclnnop/level2/{short}"):
            files[other] = _header(other, [], [f'"{header}"'])
    return files


def headers() -> dict[str, str]:
    """Every header: path below include/ -> text."""
    return _acl_headers() | _operator_headers()


_SIGNED = ("int8_t", "int16_t", "int32_t", "int64_t", "int", "aclError", "aclnnStatus")


def member_of(c_type: str) -> str:
    """Which member of the argument union carries a C type."""
    plain = c_type.replace("const ", "").strip()
    if plain in ("float", "double"):
        return "d"
    if plain.endswith("*") or plain in HANDLE_TYPES:
        return "p"
    return "i" if plain in _SIGNED or plain in constants.table()["enums"] else "u"


_FUNCTION_POINTERS = ("aclrtCallback", "aclrtHostFunc")
_FAILED = {"aclError": "ACL_ERROR_INTERNAL_ERROR", "aclnnStatus": "ACLNN_ERR_INNER"}


def _export(number: int, prototype: Prototype) -> str:
    values = []
    for parameter in prototype.parameters:
        if parameter.c_type in _FUNCTION_POINTERS:
            values.append(f"{{.u = (uintptr_t){parameter.name}}}")
        else:
            values.append(f"{{.{member_of(parameter.c_type)} = {parameter.name}}}")
    arguments = f"acl_emu_arg a[] = {{{', '.join(values)}}}, r;" if values else "acl_emu_arg *a = NULL, r;"
    failed = _FAILED.get(prototype.result, "0")
    result = f"r.{member_of(prototype.result)}"
    cast = f"({prototype.result})" + (f"(uintptr_t){result}" if prototype.result.endswith("*") else result)
    enter = f"acl_emu_enter({number}, a, &r, __builtin_return_address(0))"
    return f"EXPORT {_declaration(prototype)}\n{{\n    {arguments}\n    return {enter} ? {failed} : {cast};\n}}\n"


def exports() -> str:
    """acl_emu/cface/c/exports.c: every exported function packs its arguments and enters Python."""
    prototypes = [function.prototype for function in FUNCTIONS.values()]
    included = {"acl/acl.h", "aclnn/acl_meta.h", "aclnn/aclnn_base.h"}
    for operator in operators():
        prototypes += phases(operator)
        included.add(operator.header)
    names = ",\n".join(f'    "{prototype.name}"' for prototype in prototypes)
    parts = [
        f"/* The exported functions. {MARK} */",
        *(f'#include "{header}"' for header in sorted(included)),
        '#include "shim.h"',
        "",
        '#define EXPORT __attribute__((visibility("default")))',
        "",
        f"const char *const acl_emu_names[] = {{\n{names}}};",
        f"const uint32_t acl_emu_count = {len(prototypes)};",
        "",
        *(_export(number, prototype) for number, prototype in enumerate(prototypes)),
    ]
    return "\n".join(parts)

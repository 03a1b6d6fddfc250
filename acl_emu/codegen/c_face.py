"""The headers of the runtime, from the declared acl functions. Those of operators: acl_emu/cface/headers.py."""

from __future__ import annotations

from collections import defaultdict

from acl_emu.api.border import FUNCTIONS, Prototype
from acl_emu.cface.headers import declaration, extern_c, header
from acl_emu.codegen import constants

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
    "acl/acl_base.h": """
typedef struct aclTensorDesc aclTensorDesc;
""",
    "acl/acl_op.h": """
typedef struct aclopAttr aclopAttr;
""",
    "profiling/prof_api.h": """
typedef int32_t (*ProfCommandHandle)(uint32_t type, void *data, uint32_t len);
struct MsprofApi;
""",
    "runtime/rt.h": """
typedef int32_t rtError_t;
typedef void *rtStream_t;
typedef struct rtDevBinary_t rtDevBinary_t;
typedef struct rtSmDesc_t rtSmDesc_t;
""",
    "acl/acl_rt.h": """
typedef void *aclrtBinHandle;
typedef void *aclrtFuncHandle;
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

typedef union aclrtBinaryLoadOptionValue {
    uint32_t isLazyLoad;
    uint32_t magic;
    int32_t cpuKernelMode;
    uint32_t rsv[4];
} aclrtBinaryLoadOptionValue;

typedef struct aclrtBinaryLoadOption {
    aclrtBinaryLoadOptionType type;
    aclrtBinaryLoadOptionValue value;
} aclrtBinaryLoadOption;

typedef struct aclrtBinaryLoadOptions {
    aclrtBinaryLoadOption *options;
    size_t numOpt;
} aclrtBinaryLoadOptions;

typedef union aclrtStreamAttrValue {
    uint64_t failureMode;
    uint32_t overflowSwitch;
    uint32_t userCustomTag;
    uint32_t cacheOpInfoSwitch;
    uint32_t streamPriority;
    uint32_t reserve[4];
} aclrtStreamAttrValue;

typedef struct aclrtUuid {
    char bytes[16];
} aclrtUuid;

typedef struct aclrtUtilizationExtendInfo aclrtUtilizationExtendInfo;

typedef struct aclrtUtilizationInfo {
    int32_t cubeUtilization;
    int32_t vectorUtilization;
    int32_t aicpuUtilization;
    int32_t memoryUtilization;
    aclrtUtilizationExtendInfo *utilizationExtend;
} aclrtUtilizationInfo;

typedef struct aclCANNPackageVersion {
    char version[ACL_PKG_VERSION_MAX_SIZE];
    char majorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char minorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char releaseVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char patchVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char reserved[ACL_PKG_VERSION_MAX_SIZE];
} aclCANNPackageVersion;
""",
}

_INCLUDES = {
    "acl/acl_base_rt.h": ["<stdbool.h>", "<stddef.h>", "<stdint.h>", '"acl/error_codes/rt_error_codes.h"', '"aclnn/opdev/op_errno.h"'],
    "acl/acl_base.h": ['"acl/acl_base_rt.h"'],
    "acl/acl_rt.h": ['"acl/acl_base_rt.h"'],
    "acl/acl_op.h": ['"acl/acl_base.h"'],
    "acl/acl_op_compiler.h": ['"acl/acl_op.h"'],
    "profiling/prof_api.h": ["<stddef.h>", "<stdint.h>"],
    "runtime/rt.h": ["<stdint.h>"],
    "aclnn/acl_meta.h": ['"acl/acl_base.h"'],
    "aclnn/aclnn_base.h": ['"aclnn/acl_meta.h"'],
}

_FORWARDING = {
    "acl/acl.h": ["acl/acl_rt.h", "acl/acl_base.h", "acl/acl_op.h"],
    "acl/acl_mdl.h": ["acl/acl_rt.h", "acl/acl_base.h"],
}

WRITTEN_BY_HAND = ("aclnn/opdev/fp16_t.h", "securec.h")
"""Small headers of code, not declarations: they are kept in include/ as they are."""

CODES_IN_MACROS = ("acl/error_codes/rt_error_codes.h", "aclnn/opdev/op_errno.h")


def prototype_text(prototype: Prototype) -> str:
    """An acl function as C declares it."""
    return declaration(prototype.result, prototype.name, prototype.parameters)


def headers() -> dict[str, str]:
    """Every header of the runtime that is not written by hand: path below include/ -> text."""
    table = constants.table()
    functions: dict[str, list[str]] = defaultdict(list)
    for function in FUNCTIONS.values():
        functions[function.prototype.header].append(f"{prototype_text(function.prototype)};")
    files = {}
    for path, includes in _INCLUDES.items():
        body: list[str] = []
        for name, value in table["macros"].get(path, {}).items():
            body.append(f"#define {name} {value:#x}U" if value > 0x7FFFFFFF else f"#define {name} {value}")
        body += _TYPES.get(path, "").splitlines()
        for name, enum in table["enums"].items():
            if enum["header"] == path:
                members = ",\n".join(f"    {member} = {value}" for member, value in enum["values"].items())
                body += ["", f"typedef enum {name} {{", members, f"}} {name};"]
        if path in table["codes"]:
            body += ["", *(f"static const int {name} = {value};" for name, value in table["codes"][path].items())]
        body += _STRUCTURES.get(path, "").splitlines()
        files[path] = header(path, [*body, *extern_c(["", *sorted(functions[path])])], includes)
    for path in CODES_IN_MACROS:
        lines = [line for name, value in table["codes"][path].items() for line in (f"#ifndef {name}", f"#define {name} {value}", "#endif")]
        files[path] = header(path, ["", *lines])
    for path, targets in _FORWARDING.items():
        files[path] = header(path, [], [f'"{target}"' for target in targets])
    return files

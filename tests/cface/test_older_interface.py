"""The older interface, virtual memory and graph capture, as C programs call them."""

from __future__ import annotations

from tests.cface.programs import clean_environment, compile_program, run

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "profiling/prof_api.h"
#include "runtime/rt.h"
#define CHECK(call) \
    do { \
        int status = (int)(call); \
        if (status) { \
            printf("%d: %s gave %d: %s\n", __LINE__, #call, status, aclGetRecentErrMsg()); \
            return 1; \
        } \
    } while (0)

static int older(float *x)
{
    int64_t dims[2] = {3, 4};
    aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
    int64_t length = 0;
    CHECK(aclGetTensorDescDimV2(desc, 1, &length));
    printf("%zu dims, last %ld, type %d\n", aclGetTensorDescNumDims(desc), (long)length, aclGetTensorDescType(desc));
    void *device[2];
    for (int i = 0; i < 2; i++)
        CHECK(aclrtMalloc(&device[i], 48, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(device[0], 48, x, 48, ACL_MEMCPY_HOST_TO_DEVICE));
    aclDataBuffer *buffers[2] = {aclCreateDataBuffer(device[0], 48), aclCreateDataBuffer(device[1], 48)};
    aclopAttr *attr = aclopCreateAttr();
    int64_t one[] = {1, 2}, two[] = {3};
    const int64_t *lists[] = {one, two};
    int counts[] = {2, 1};
    CHECK(aclopSetAttrListInt(attr, "list", 2, one));
    CHECK(aclopSetAttrListListInt(attr, "lists", 2, counts, lists));
    CHECK(aclopSetAttrFloat(attr, "p", 0.5f));
    const aclTensorDesc *const descs[] = {desc};
    const aclDataBuffer *const in[] = {buffers[0]};
    CHECK(aclopCompileAndExecute("Identity", 1, descs, in, 1, descs, &buffers[1], attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, NULL));
    CHECK(aclrtSynchronizeDevice());
    float y[12];
    CHECK(aclrtMemcpy(y, 48, device[1], 48, ACL_MEMCPY_DEVICE_TO_HOST));
    const aclTensorDesc *const twice[] = {desc, desc};
    const aclDataBuffer *const both[] = {buffers[0], buffers[0]};
    CHECK(aclopCompileAndExecute("Mul", 2, twice, both, 1, descs, &buffers[1], attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, NULL));
    CHECK(aclrtSynchronizeDevice());
    float squares[12];
    CHECK(aclrtMemcpy(squares, 48, device[1], 48, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("multiplied %d\n", squares[11] == x[11] * x[11]);
    printf("copied %d, unknown %d\n", !memcmp(x, y, 48),
           aclopCompileAndExecute("Unknown", 1, descs, in, 1, descs, &buffers[1], attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, NULL));
    aclopDestroyAttr(attr);
    aclDestroyTensorDesc(desc);
    for (int i = 0; i < 2; i++) {
        CHECK(aclDestroyDataBuffer(buffers[i]));
        CHECK(aclrtFree(device[i]));
    }
    char value[16];
    CHECK(aclGetCompileopt(ACL_OP_JIT_COMPILE, value, sizeof value));
    aclCANNPackageVersion version;
    CHECK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version));
    char text[ACL_PKG_VERSION_MAX_SIZE];
    char name[] = "runtime";
    CHECK(aclsysGetVersionStr(name, text));
    printf("%s %s %s.%s.%s\n", value, text, version.majorVersion, version.minorVersion, version.releaseVersion);
    aclAppLog(ACL_ERROR, "main", "program.c", 7, "%d of %s", 3, "many");
    uint64_t address;
    uint32_t size;
    printf("kernels %d, report %d\n", rtGetC2cCtrlAddr(&address, &size), MsprofReportCompactInfo(0, NULL, 0));
    return 0;
}

static int virtual_memory(float *x)
{
    aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE, .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    size_t piece;
    CHECK(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &piece));
    void *base;
    CHECK(aclrtReserveMemAddress(&base, 4 * piece, 0, NULL, 1));
    aclrtDrvMemHandle handle[2];
    for (int i = 0; i < 2; i++) {
        CHECK(aclrtMallocPhysical(&handle[i], piece, &prop, 0));
        CHECK(aclrtMapMem((char *)base + i * piece, piece, 0, handle[i], 0));
    }
    char *across = (char *)base + piece - 24;
    float y[12];
    CHECK(aclrtMemcpy(across, 48, x, 48, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemcpy(y, 48, across, 48, ACL_MEMCPY_DEVICE_TO_HOST));
    uint64_t shareable;
    int32_t pid;
    CHECK(aclrtDeviceGetBareTgid(&pid));
    CHECK(aclrtMemExportToShareableHandle(handle[0], ACL_MEM_HANDLE_TYPE_NONE, 0, &shareable));
    CHECK(aclrtMemSetPidToShareableHandle(shareable, &pid, 1));
    aclrtDrvMemHandle again;
    CHECK(aclrtMemImportFromShareableHandle(shareable, 0, &again));
    CHECK(aclrtFreePhysical(again));
    for (int i = 0; i < 2; i++) {
        CHECK(aclrtUnmapMem((char *)base + i * piece));
        CHECK(aclrtFreePhysical(handle[i]));
    }
    CHECK(aclrtReleaseMemAddress(base));
    printf("%zu, across %d\n", piece, !memcmp(x, y, 48));
    return 0;
}

static int captured(float *x)
{
    aclrtStream stream;
    aclmdlRI model, during;
    aclmdlRICaptureStatus state;
    void *device, *host;
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&device, 48, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost(&host, 48));
    memcpy(host, x, 48);
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CHECK(aclrtMemcpyAsync(device, 48, host, 48, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK(aclmdlRICaptureGetInfo(stream, &state, &during));
    int refused = aclrtSynchronizeStream(stream);
    CHECK(aclmdlRICaptureEnd(stream, &model));
    ((float *)host)[0] = 42; /* what is read is what is there when the model runs */
    CHECK(aclmdlRIExecuteAsync(model, stream));
    CHECK(aclrtSynchronizeStream(stream));
    float y[12];
    CHECK(aclrtMemcpy(y, 48, device, 48, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("captured %d %d %d, then %.0f %.0f\n", state, during == model, refused, y[0], y[11]);
    CHECK(aclmdlRIDestroy(model));
    CHECK(aclrtFree(device));
    CHECK(aclrtFreeHost(host));
    CHECK(aclrtDestroyStream(stream));
    return 0;
}

int main(void)
{
    float x[12];
    for (int i = 0; i < 12; i++)
        x[i] = i;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    if (older(x) || virtual_memory(x) || captured(x))
        return 1;
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
"""


def test_program(tmp_path):
    done = run(compile_program(tmp_path, PROGRAM), env=clean_environment(ACL_EMU_LOG="error", ACL_EMU_CHECK="1"))
    assert done.stdout.splitlines() == [
        "2 dims, last 4, type 0",
        "multiplied 1",
        "copied 1, unknown 100024",
        "disable 9.0.0 9.0.0",
        "kernels 207000, report -1",
        "2097152, across 1",
        "captured 1 1 107027, then 42 11",
    ], done.stdout + done.stderr
    assert "[ERROR] APP(" in done.stderr
    assert "[program.c:7] main: 3 of many" in done.stderr

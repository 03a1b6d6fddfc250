"""Functions without phases, from C; and weights in blocks, as C programs make and use them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cface.programs import clean_environment, compile_program, run

SIZES = """
#include "acl/acl.h"
#include "aclnnop/aclnn_trans_matmul_weight.h"
#include <stdio.h>
int main(void)
{
    int64_t lengths[] = {510, 270};
    aclIntArray *shape = aclCreateIntArray(lengths, 2);
    uint64_t size = 7, same = 7;
    int status = aclnnCalculateMatmulWeightSizeV2(shape, ACL_INT8, &size);
    printf("%d %lu\\n", status, (unsigned long)size);
    status = aclnnCalculateMatmulWeightSize(shape, &size);
    printf("%d %lu\\n", status, (unsigned long)size);
    printf("%d", aclnnCalculateMatmulWeightSizeV2(shape, ACL_DOUBLE, &same));
    printf(" %d", aclnnCalculateMatmulWeightSizeV2(NULL, ACL_INT8, &same));
    printf(" %d", aclnnCalculateMatmulWeightSizeV2(shape, ACL_INT8, NULL));
    printf(" %d", aclnnCalculateMatmulWeightSizeV2(shape, ACL_INT8, (uint64_t *)8));
    printf(" %d", aclnnCalculateMatmulWeightSize((aclIntArray *)&size, &same));
    printf(" %lu\\n", (unsigned long)same);
    aclDestroyIntArray(shape);
    return 0;
}
"""

PRODUCT = """
#include "acl/acl.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_trans_matmul_weight.h"
#include <stdio.h>
#include <stdlib.h>
#define CHECK(call) do { int status = (call); if (status) { printf("%s: %d\\n", #call, status); return 1; } } while (0)
enum { M = 3, N = 20, K = 37 };
static aclTensor *tensor(int64_t rows, int64_t columns, int64_t down, int64_t across, aclFormat format, void *data)
{
    int64_t shape[] = {rows, columns}, strides[] = {down, across}, storage[] = {rows * columns};
    return aclCreateTensor(shape, 2, ACL_FLOAT16, strides, 0, format, storage, 1, data);
}
static int multiply(aclTensor *self, aclTensor *mat2, aclTensor *out, aclrtStream stream)
{
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    void *workspace = NULL;
    CHECK(aclnnMmGetWorkspaceSize(self, mat2, out, 2, &size, &executor));
    if (size) CHECK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclnnMm(workspace, size, executor, stream));
    CHECK(aclrtSynchronizeStream(stream));
    if (workspace) CHECK(aclrtFree(workspace));
    return 0;
}
int main(void)
{
    int64_t lengths[] = {N, K};
    uint64_t elements = 0, size = 0;
    aclOpExecutor *executor = NULL;
    aclrtStream stream;
    void *left, *weight, *result, *workspace = NULL;
    aclFloat16 numbers[N * K], plain[M * N], blocked[M * N], again[M * N];
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    aclIntArray *shape = aclCreateIntArray(lengths, 2);
    CHECK(aclnnCalculateMatmulWeightSizeV2(shape, ACL_FLOAT16, &elements));
    CHECK(aclrtMalloc(&left, M * K * 2, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&weight, elements * 2, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&result, M * N * 2, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int n = 0; n < N * K; n++) numbers[n] = aclFloatToFloat16((float)(n * 7 % 31 - 15) / 8);
    CHECK(aclrtMemcpy(weight, sizeof numbers, numbers, sizeof numbers, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemcpy(left, M * K * 2, numbers + 5, M * K * 2, ACL_MEMCPY_HOST_TO_DEVICE));
    aclTensor *self = tensor(M, K, K, 1, ACL_FORMAT_ND, left), *out = tensor(M, N, N, 1, ACL_FORMAT_ND, result);
    aclTensor *view = tensor(K, N, 1, K, ACL_FORMAT_ND, weight), *whole = tensor(N, K, K, 1, ACL_FORMAT_ND, weight);
    CHECK(multiply(self, view, out, stream));
    CHECK(aclrtMemcpy(plain, sizeof plain, result, sizeof plain, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(aclnnTransMatmulWeightGetWorkspaceSize(whole, &size, &executor));
    if (size) CHECK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclnnTransMatmulWeight(workspace, size, executor, stream));
    CHECK(aclrtSynchronizeStream(stream));
    aclTensor *blocks = tensor(K, N, 1, K, ACL_FORMAT_FRACTAL_NZ, weight);
    CHECK(multiply(self, blocks, out, stream));
    CHECK(aclrtMemcpy(blocked, sizeof blocked, result, sizeof blocked, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(multiply(self, blocks, out, stream)); /* the plan is known */
    CHECK(aclrtMemcpy(again, sizeof again, result, sizeof again, ACL_MEMCPY_DEVICE_TO_HOST));
    int differ = 0, zero = 0;
    for (int n = 0; n < M * N; n++) {
        differ += plain[n] != blocked[n] || plain[n] != again[n];
        zero += plain[n] == 0;
    }
    printf("%d differ, %s\\n", differ, zero < M * N / 2 ? "most are not zero" : "zeros");
    return 0;
}
"""


def test_sizes(tmp_path: Path) -> None:
    done = run(compile_program(tmp_path, SIZES))
    assert done.stdout.splitlines() == ["0 147456", "0 139264", "161002 161001 161001 161002 161002 7"], done.stderr


def test_a_program_that_uses_one_is_run(tmp_path: Path) -> None:
    """As those of the documents are: what it calls is looked up before it is compiled."""
    (tmp_path / "sizes.cpp").write_text(SIZES, encoding="utf-8")
    command = [sys.executable, "-m", "acl_emu.cli", "run", str(tmp_path / "sizes.cpp")]
    done = subprocess.run(command, capture_output=True, text=True, env=clean_environment(XDG_CACHE_HOME=str(tmp_path)))
    assert done.stdout.splitlines()[:1] == ["0 147456"], done.stderr


def test_a_weight_in_blocks(tmp_path: Path) -> None:
    done = run(compile_program(tmp_path, PRODUCT))
    assert done.stdout == "0 differ, most are not zero\n", done.stderr


def test_reductions_of_binary_cross_entropy(tmp_path: Path) -> None:
    source = '#include "aclnnop/aclnn_binary_cross_entropy.h"\nint main(void) { return None * 100 + Mean * 10 + Sum; }\n'
    assert run(compile_program(tmp_path, source)).returncode == 12


CODES = """
#include "aclnnop/aclnn_trans_quant_param.h"
#include <cstdio>
#include <memory>
int main()
{
    float scales[] = {1.0f, -2.0000002f, 0.5f}, offsets[] = {2.5f, -300.0f, 300.0f};
    uint64_t *codes = nullptr, count = 0;
    int status = aclnnTransQuantParam(scales, 3, offsets, 3, &codes, &count);
    std::printf("%d %lu: %lx %lx %lx %lx\\n", status, count, codes[0], codes[1], codes[2], codes[3]);
    std::unique_ptr<uint64_t> owner(codes);
    std::printf("%d", aclnnTransQuantParam(nullptr, 3, offsets, 3, &codes, &count));
    std::printf(" %d", aclnnTransQuantParam(scales, 0, offsets, 3, &codes, &count));
    std::printf(" %d", aclnnTransQuantParam(scales, 3, nullptr, 3, &codes, &count));
    std::printf(" %d", aclnnTransQuantParam(scales, 3, offsets, 0, &codes, &count));
    std::printf(" %d", aclnnTransQuantParam(scales, 3, nullptr, 0, nullptr, &count));
    std::printf(" %d\\n", aclnnTransQuantParam((float *)8, 3, nullptr, 0, &codes, &count));
    return 0;
}
"""


def test_scales_as_codes(tmp_path: Path) -> None:
    """19 bits of a scale, 9 of an offset; there is a multiple of 16 codes."""
    done = run(compile_program(tmp_path, CODES, suffix=".cpp"))
    codes = "40403f800000 6000c0000000 5fe03f000000 0"
    assert done.stdout.splitlines() == [f"0 16: {codes}", "161001 161002 161002 161002 161001 161002"], done.stderr


FORMAT = """
#include "acl/acl.h"
#include "aclnnop/aclnn_npu_format_cast.h"
#include <cstdio>
int main()
{
    int64_t shape[] = {20, 40};
    aclTensor *tensor = aclCreateTensor(shape, 2, ACL_FLOAT16, nullptr, 0, ACL_FORMAT_ND, shape, 2, nullptr);
    int64_t *lengths = nullptr;
    uint64_t count = 0;
    int format = 0;
    int status = aclnnNpuFormatCastCalculateSizeAndFormat(tensor, ACL_FORMAT_FRACTAL_NZ, -1, &lengths, &count, &format);
    std::printf("%d %lu %d:", status, (unsigned long)count, format);
    for (uint64_t i = 0; i < count; i++) std::printf(" %ld", (long)lengths[i]);
    delete[] lengths;
    std::printf(" %d\\n", aclnnNpuFormatCastCalculateSizeAndFormat(tensor, 77, -1, &lengths, &count, &format));
    aclDestroyTensor(tensor);
    return 0;
}
"""


def test_a_shape_that_the_program_releases(tmp_path: Path) -> None:
    done = run(compile_program(tmp_path, FORMAT, suffix=".cpp"), env=clean_environment())
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 4 29: 3 2 16 16 161002\n", "")

"""The life of a process that uses the C face: how it starts, where it finds Python, how it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from acl_emu.api.border import FUNCTIONS
from acl_emu.cface import toolkit
from acl_emu.core import documented
from aclnnop.registry import EMULATED
from tests.cface.programs import clean_environment, compile_program, run
from tests.conftest import PATIENCE

HEAD = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "acl/acl.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

#define CHECK(condition) do { if (!(condition)) { \\
    const char *text_ = aclGetRecentErrMsg(); \\
    printf("line %d: %s\\n%s", __LINE__, #condition, text_ ? text_ : ""); fflush(stdout); _Exit(99); } } while (0)

/* A stream with work on it: many fills, and an operator. */
static inline aclrtStream queue_work(void)
{
    aclrtStream stream;
    void *memory, *room = NULL;
    CHECK(!aclInit(NULL) && !aclrtSetDevice(0) && !aclrtCreateStream(&stream));
    CHECK(!aclrtMalloc(&memory, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    int64_t shape[] = {1000};
    aclTensor *tensors[4];
    for (int i = 0; i < 4; i++)
        CHECK((tensors[i] = aclCreateTensor(shape, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 1, (char *)memory + 8192 * i)));
    for (int i = 0; i < 300; i++) {
        uint64_t size = 0;
        aclOpExecutor *executor;
        CHECK(!aclrtMemsetAsync(memory, 1 << 20, 0, 1 << 20, stream));
        CHECK(!aclnnSmoothL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0, 1.0f, tensors[3], &size, &executor));
        if (size && !room)
            CHECK(!aclrtMalloc(&room, size, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(!aclnnSmoothL1LossBackward(room, size, executor, stream));
    }
    return stream;
}
"""

Compile = Callable[..., Path]


@pytest.fixture
def compile_c(tmp_path: Path) -> Compile:
    """``compile_c(body, *flags)``: a C program with the usual head."""

    def compile_it(body: str, *flags: str, suffix: str = ".c") -> Path:
        return compile_program(tmp_path, HEAD + body, *flags, suffix=suffix)

    return compile_it


def silent(program: Path, code: int = 0, *arguments: str, **options: object) -> None:
    """The program ends with this code and says nothing."""
    done = run(program, *arguments, **options)  # type: ignore[arg-type]
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


# Ends

ENDS = {
    "main returns": "int main(void) { queue_work(); return 3; }",
    "exit in a nested function": """
        static void deeper(void) { exit(3); }
        static void deep(void) { queue_work(); deeper(); }
        int main(void) { deep(); return 0; }""",
    "exit from a thread": """
        static void *work(void *unused) { (void)unused; queue_work(); exit(3); }
        int main(void) { pthread_t thread; pthread_create(&thread, NULL, work, NULL); pthread_join(thread, NULL); return 0; }""",
    "exit from a thread while main waits": """
        static volatile int waits;
        static void hold(void *unused) { (void)unused; waits = 1; pause(); }
        static void *end(void *unused) { (void)unused; while (!waits) usleep(1000); exit(3); }
        int main(void) {
            pthread_t thread;
            aclrtStream stream = queue_work();
            CHECK(!aclrtLaunchHostFunc(stream, hold, NULL));
            pthread_create(&thread, NULL, end, NULL);
            aclrtSynchronizeStream(stream);
            return 0;
        }""",
    "a thread that used the library has ended": """
        static void *work(void *unused) { (void)unused; queue_work(); return NULL; }
        int main(void) { pthread_t thread; pthread_create(&thread, NULL, work, NULL); pthread_join(thread, NULL); return 3; }""",
    "a host callback is queued": """
        static void nothing(void *unused) { (void)unused; }
        int main(void) { aclrtStream stream = queue_work(); CHECK(!aclrtLaunchHostFunc(stream, nothing, NULL)); return 3; }""",
    "a host callback runs": """
        static volatile int begun;
        static void hold(void *unused) { (void)unused; begun = 1; sleep(1000); }
        int main(void) {
            aclrtStream stream = queue_work();
            CHECK(!aclrtLaunchHostFunc(stream, hold, NULL));
            while (getenv("LAZY") == NULL && !begun) usleep(1000);
            return 3;
        }""",
    "a host callback exits": """
        static void end(void *unused) { (void)unused; exit(3); }
        int main(void) {
            aclrtStream stream = queue_work();
            CHECK(!aclrtLaunchHostFunc(stream, end, NULL));
            aclrtSynchronizeStream(stream);
            return 0;
        }""",
    "a reported callback is never fetched": """
        static void nothing(void *unused) { (void)unused; }
        int main(void) {
            aclrtStream stream = queue_work();
            CHECK(!aclrtSubscribeReport((uint64_t)pthread_self(), stream));
            CHECK(!aclrtLaunchCallback(nothing, NULL, ACL_CALLBACK_BLOCK, stream));
            return 3;
        }""",
    "a destructor uses the library": """
        static aclrtStream stream;
        static void at_end(void) { CHECK(!aclrtSynchronizeStream(stream) && !aclrtResetDevice(0) && !aclFinalize()); }
        int main(void) { atexit(at_end); stream = queue_work(); return 3; }""",
    "after aclFinalize": """
        int main(void) { queue_work(); CHECK(!aclrtResetDevice(0) && !aclFinalize()); return 3; }""",
    "fork and exec": """
        #include <sys/wait.h>
        int main(int count, char **arguments) {
            int status;
            aclrtStream stream = queue_work();
            if (count == 1) {
                pid_t child = fork();
                if (child == 0) {
                    execl(arguments[0], arguments[0], "child", (char *)NULL);
                    _exit(98);
                }
                CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
                CHECK(!aclrtSynchronizeStream(stream));
            }
            return 3;
        }""",
}


@pytest.mark.parametrize("how", ENDS)
def test_ends_with_work_queued_and_says_nothing(how: str, compile_c: Compile) -> None:
    program = compile_c(ENDS[how])
    silent(program, 3, env=clean_environment())


@pytest.mark.parametrize("schedule", ["lazy", "eager"])
def test_ends_in_other_schedules(schedule: str, compile_c: Compile) -> None:
    silent(compile_c(ENDS["main returns"]), 3, env=clean_environment(ACL_EMU_SCHEDULE=schedule))


@pytest.mark.parametrize(
    "wait", ["aclrtSynchronizeStream(stream)", "aclrtSynchronizeStreamWithTimeout(stream, -1)", "aclrtSynchronizeDevice()"]
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_program_that_waits(wait: str, number: signal.Signals, compile_c: Compile) -> None:
    program = compile_c(
        """
        #include <signal.h>
        static void hold(void *unused) { (void)unused; puts("waits"); fflush(stdout); sleep(1000); }
        int main(void) {
            aclrtStream stream;
            signal(SIGINT, SIG_DFL); /* whoever runs the tests may ignore it */
            CHECK(!aclrtSetDevice(0) && !aclrtCreateStream(&stream) && !aclrtLaunchHostFunc(stream, hold, NULL));
            """
        + wait
        + """;
            return 0;
        }"""
    )
    process = subprocess.Popen([program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment())
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, said) == (-number, "")


def test_a_handler_of_the_program_may_exit(compile_c: Compile) -> None:
    program = compile_c(
        """
        #include <signal.h>
        static void end(int number) { (void)number; exit(3); }
        static void hold(void *unused) { (void)unused; raise(SIGALRM); sleep(1000); }
        int main(void) {
            aclrtStream stream;
            signal(SIGALRM, end);
            CHECK(!aclrtSetDevice(0) && !aclrtCreateStream(&stream) && !aclrtLaunchHostFunc(stream, hold, NULL));
            aclrtSynchronizeStream(stream);
            return 0;
        }"""
    )
    silent(program, 3)


def test_signals_stay_those_of_the_program(compile_c: Compile) -> None:
    silent(
        compile_c(
            """
            #include <signal.h>
            int main(void) {
                const int numbers[] = {SIGINT, SIGPIPE, SIGTERM, SIGCHLD, SIGHUP};
                queue_work();
                for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
                    struct sigaction action;
                    CHECK(!sigaction(numbers[i], NULL, &action) && action.sa_handler == SIG_DFL);
                }
                return 0;
            }"""
        )
    )


def test_the_host_reads_a_device_address(compile_c: Compile) -> None:
    program = compile_c(
        """
        int main(void) {
            float *memory;
            CHECK(!aclrtSetDevice(0) && !aclrtMalloc((void **)&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
            memory[3] = 1.0f;
            return 0;
        }"""
    )
    done = run(program)
    assert done.returncode == -signal.SIGSEGV
    assert "the host dereferenced device address 0x" in done.stderr
    assert "byte 12 of the allocation of 64 bytes" in done.stderr
    assert "aclrtMemcpy" in done.stderr
    assert "Traceback" not in done.stderr


def test_any_other_bad_address_is_not_explained(compile_c: Compile) -> None:
    program = compile_c(
        """
        int main(void) {
            void *memory;
            CHECK(!aclrtSetDevice(0) && !aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
            *(volatile int *)16 = 1;
            return 0;
        }""",
        "-Wno-array-bounds",
    )
    done = run(program)
    assert (done.returncode, done.stderr) == (-signal.SIGSEGV, "")


# Where Python is

TINY = """
int main(void) {
    char name[64] = "";
    aclTensor *tensor = aclCreateTensor(NULL, 0, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, NULL, 0, NULL);
    const char *soc = aclrtGetSocName();
    if (soc) strncpy(name, soc, sizeof name - 1);
    printf("%d %s %d %d\\n", aclInit(NULL), name, tensor != NULL, aclrtSetDevice(0));
    return 0;
}"""
WORKS = "0 Ascend910B1 1 0\n"


def test_needs_nothing_but_a_path(compile_c: Compile, tmp_path: Path) -> None:
    program = compile_c(TINY)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = run(program, env={"PATH": os.environ["PATH"]}, cwd=elsewhere)
    assert (done.returncode, done.stdout, done.stderr) == (0, WORKS, "")
    assert run(program, env={}, cwd=Path("/")).stdout == WORKS


def test_a_hostile_environment_and_folder(compile_c: Compile, tmp_path: Path) -> None:
    program = compile_c(TINY)
    trap = tmp_path / "trap"
    trap.mkdir()
    for module in ("acl_emu", "numpy", "encodings", "site", "sitecustomize", "os", "struct"):
        (trap / f"{module}.py").write_text("raise SystemExit(77)\n", encoding="utf-8")
    hostile = {
        "PYTHONPATH": str(trap),
        "PYTHONHOME": str(trap),
        "PYTHONSTARTUP": str(trap / "site.py"),
        "PYTHONWARNINGS": "error",
        "PYTHONEXECUTABLE": "/nonexistent",
        "VIRTUAL_ENV": str(trap),
        "PYTHONOPTIMIZE": "2",
        "PYTHONVERBOSE": "1",
    }
    done = run(program, env=clean_environment(**hostile), cwd=trap)
    assert (done.returncode, done.stdout, done.stderr) == (0, WORKS, "")


def test_a_folder_with_blanks_and_quotes(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s a "toolkit" folder'
    toolkit.lay_out(folder)
    program = compile_program(tmp_path, HEAD + TINY, tree=folder)
    done = run(program)
    assert (done.returncode, done.stdout, done.stderr) == (0, WORKS, "")


FAILS = """
int main(void) {
    int device = -1, wrong = 0;
    uint64_t size = 7;
    void *memory = &device;
    aclOpExecutor *executor = NULL;
    int64_t shape[] = {1};
    wrong += aclInit(NULL) != 0;
    wrong += aclrtSetDevice(0) != 0;
    wrong += aclrtGetDevice(&device) != 0;
    wrong += aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST) != 0;
    wrong += aclDestroyTensor(NULL) != 0;
    wrong += aclnnSmoothL1LossBackwardGetWorkspaceSize(NULL, NULL, NULL, 0, 1.0f, NULL, &size, &executor) != 0;
    wrong += aclnnSmoothL1LossBackward(NULL, 0, NULL, NULL) != 0;
    wrong += aclrtGetLastError(ACL_RT_THREAD_LEVEL) != 0;
    wrong += aclFinalize() != 0;
    wrong += aclCreateTensor(shape, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 1, NULL) == NULL;
    wrong += aclCreateScalar(shape, ACL_INT64) == NULL;
    wrong += aclCreateIntArray(shape, 1) == NULL;
    wrong += aclrtGetSocName() == NULL;
    wrong += aclGetRecentErrMsg() == NULL;
    printf("%d %d %d %d\\n", wrong, device, (int)size, memory == &device);
    return 0;
}"""


def _fails_with_one_message(program: Path, python: str) -> str:
    done = run(program, env=clean_environment(ACL_EMU_PYTHON=python))
    assert (done.returncode, done.stdout) == (0, "14 -1 7 1\n"), done.stderr
    assert done.stderr.startswith("acl-emu: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_there_is_no_python(compile_c: Compile) -> None:
    program = compile_c(FAILS)
    assert "there is no Python at /nonexistent/python" in _fails_with_one_message(program, "/nonexistent/python")
    assert "there is no Python at " + os.sep in _fails_with_one_message(program, os.sep + "x" * 300)
    assert "cannot tell which Python" in _fails_with_one_message(program, "x" * 5000)


def test_what_is_there_is_no_python(compile_c: Compile) -> None:
    program = compile_c(FAILS)
    assert "/true" in _fails_with_one_message(program, shutil.which("true") or "/bin/true")


def test_python_lacks_the_package(compile_c: Compile, tmp_path: Path) -> None:
    program = compile_c(FAILS)
    venv.create(tmp_path / "empty", symlinks=True)
    message = _fails_with_one_message(program, str(tmp_path / "empty" / "bin" / "python"))
    assert "the Python side does not load: ModuleNotFoundError: No module named 'acl_emu'" in message


def test_the_python_side_is_damaged(compile_c: Compile, tmp_path: Path) -> None:
    program = compile_c(FAILS)
    venv.create(tmp_path / "damaged", symlinks=True)
    packages = next((tmp_path / "damaged" / "lib").glob("python*/site-packages"))
    (packages / "acl_emu").mkdir()
    (packages / "acl_emu" / "__init__.py").write_text("1 / 0\n", encoding="utf-8")
    message = _fails_with_one_message(program, str(tmp_path / "damaged" / "bin" / "python"))
    assert "ZeroDivisionError" in message


def test_an_operator_that_does_not_load_is_an_error_of_its_call_alone(compile_c: Compile, tmp_path: Path) -> None:
    program = compile_c(
        """
        int main(void) {
            uint64_t size;
            aclOpExecutor *executor = NULL;
            CHECK(!aclInit(NULL));
            for (int i = 0; i < 2; i++)
                CHECK(aclnnSmoothL1LossBackwardGetWorkspaceSize(NULL, NULL, NULL, 0, 1.0f, NULL, &size, &executor) == 561000);
            CHECK(strstr(aclGetRecentErrMsg(), "GetWorkspaceSize does not load: ImportError"));
            CHECK(!aclrtSetDevice(0));
            return 0;
        }"""
    )
    venv.create(tmp_path / "lacking", symlinks=True)
    packages = next((tmp_path / "lacking" / "lib").glob("python*/site-packages"))
    (packages / "aclnnop").mkdir()
    (packages / "aclnnop" / "__init__.py").write_text("def find(name):\n    raise ImportError(name)\n", encoding="utf-8")
    (packages / "aclnnop" / "registry.py").write_text("SINGLE_PHASES = {}\n", encoding="utf-8")
    folders = [path for path in sys.path if path.endswith("site-packages")] + [str(toolkit.PACKAGE.parent)]
    (packages / "others.pth").write_text("\n".join(folders) + "\n", encoding="utf-8")
    silent(program, env=clean_environment(ACL_EMU_PYTHON=str(tmp_path / "lacking" / "bin" / "python")))


# Inside Python

SHARED_STATE = """
import ctypes, sys
library = sys.argv[1]
if sys.argv[2] == "first":
    import acl_emu as acl
face = ctypes.CDLL(library)
assert face.aclrtSetDevice(1) == 0
import acl_emu as acl
assert acl.aclrtGetDevice() == (1, 0)
stream, status = acl.aclrtCreateStream()
assert status == 0
assert face.aclrtSynchronizeStream(ctypes.c_void_p(stream)) == 0
memory = ctypes.c_void_p()
assert face.aclrtMalloc(ctypes.byref(memory), ctypes.c_size_t(64), 0) == 0
assert acl.aclrtMemset(memory.value, 64, 7, 64) == 0
copy = bytearray(64)
assert acl.aclrtMemcpy(copy, 64, memory.value, 64, 2) == 0 and copy == b"\\7" * 64
assert acl.aclrtFree(memory.value) == 0
assert face.aclrtFree(memory) != 0
face.aclGetRecentErrMsg.restype = ctypes.c_char_p
assert b"not the start of a living allocation" in face.aclGetRecentErrMsg()
assert face.aclrtDestroyStream(ctypes.c_void_p(stream)) == 0
assert acl.aclrtSynchronizeStream(stream) != 0
print("shared")
"""


@pytest.mark.parametrize("order", ["first", "last"])
def test_ctypes_shares_the_state_of_the_package(order: str, tmp_path: Path) -> None:
    library = toolkit.cached() / "lib64" / "libascendcl.so"
    done = subprocess.run(
        [sys.executable, "-c", SHARED_STATE, str(library), order], capture_output=True, text=True, timeout=PATIENCE, env=clean_environment()
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "shared\n", "")


def test_a_call_after_the_end_of_python_fails(tmp_path: Path) -> None:
    source = tmp_path / "late.c"
    source.write_text(
        """
        #include <stdio.h>
        #include <stdlib.h>
        int aclrtSetDevice(int);
        static void late(void) { printf("late %d\\n", aclrtSetDevice(0) != 0); fflush(stdout); }
        __attribute__((constructor)) static void loaded(void) { atexit(late); }
        int touch(void) { return aclrtSetDevice(0); }
        """,
        encoding="utf-8",
    )
    libraries = toolkit.cached() / "lib64"
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler")
    helper = tmp_path / "late.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", source, "-o", helper, f"-L{libraries}", "-lascendcl", f"-Wl,-rpath,{libraries}"], check=True
    )
    code = f"import ctypes; print('status', ctypes.CDLL({str(helper)!r}).touch(), flush=True)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, env=clean_environment())
    assert (done.returncode, done.stdout, done.stderr) == (0, "status 0\nlate 1\n", "")


# Threads


def test_threads_keep_their_device_between_calls(compile_c: Compile) -> None:
    silent(
        compile_c(
            """
            static pthread_barrier_t barrier;
            static void *work(void *number) {
                int device = -1, mine = (int)(intptr_t)number;
                CHECK(aclrtGetDevice(&device) == 107002);
                CHECK(!aclrtSetDevice(mine));
                for (int i = 0; i < 50; i++) {
                    pthread_barrier_wait(&barrier);
                    CHECK(!aclrtGetDevice(&device) && device == mine);
                }
                CHECK(!aclrtResetDevice(mine));
                return NULL;
            }
            int main(void) {
                pthread_t threads[8];
                for (int round = 0; round < 3; round++) {
                    pthread_barrier_init(&barrier, NULL, 8);
                    for (intptr_t i = 0; i < 8; i++)
                        pthread_create(&threads[i], NULL, work, (void *)i);
                    for (int i = 0; i < 8; i++)
                        pthread_join(threads[i], NULL);
                }
                return 0;
            }"""
        )
    )


def test_the_first_calls_come_from_many_threads_at_once(compile_c: Compile) -> None:
    silent(
        compile_c(
            """
            static pthread_barrier_t barrier;
            static void *work(void *number) {
                pthread_barrier_wait(&barrier);
                CHECK(!aclrtSetDevice((int)(intptr_t)number % 8));
                return NULL;
            }
            int main(void) {
                pthread_t threads[16];
                pthread_barrier_init(&barrier, NULL, 16);
                for (intptr_t i = 0; i < 16; i++)
                    pthread_create(&threads[i], NULL, work, (void *)i);
                for (int i = 0; i < 16; i++)
                    pthread_join(threads[i], NULL);
                return 0;
            }"""
        )
    )


# Error texts and results


def test_recent_error_text(compile_c: Compile) -> None:
    silent(
        compile_c(
            """
            static void *other(void *unused) {
                (void)unused;
                CHECK(aclGetRecentErrMsg() == NULL);
                CHECK(aclrtFree(NULL) == 100000);
                const char *text = aclGetRecentErrMsg();
                CHECK(text && strstr(text, "devPtr"));
                return NULL;
            }
            int main(void) {
                pthread_t thread;
                char copy[4096];
                CHECK(aclGetRecentErrMsg() == NULL);
                CHECK(!aclrtSetDevice(0) && aclGetRecentErrMsg() == NULL);
                CHECK(aclrtSetDevice(1000) == 107001);
                const char *text = aclGetRecentErrMsg();
                CHECK(text && strstr(text, "deviceId is 1000"));
                strncpy(copy, text, sizeof copy - 1);
                pthread_create(&thread, NULL, other, NULL);
                pthread_join(thread, NULL);
                for (int i = 0; i < 2000; i++)
                    CHECK(aclrtSetDevice(-1 - i) == 107001);
                CHECK(strncmp(text, copy, strlen(copy)) == 0);
                CHECK((text = aclGetRecentErrMsg()) && strstr(text, "deviceId is -2000"));
                CHECK(aclGetRecentErrMsg() == NULL);
                return 0;
            }"""
        )
    )


def test_reference_count_may_be_null(compile_c: Compile) -> None:
    silent(
        compile_c(
            """
            int main(void) {
                uint64_t count = 9;
                CHECK(!aclInit(NULL) && aclInit(NULL) == 100002 && aclInit("") == 100002);
                CHECK(!aclFinalizeReference(&count) && count == 2);
                CHECK(!aclFinalizeReference(NULL) && !aclFinalizeReference(&count) && count == 0);
                CHECK(aclFinalizeReference(NULL) == 100037);
                return 0;
            }"""
        )
    )


def test_what_is_not_emulated_says_so(compile_c: Compile) -> None:
    silent(
        compile_c(
            """
            int main(void) {
                CHECK(aclDumpOpTensors(NULL, NULL, NULL, 0, 0, NULL) == 207000);
                const char *text = aclGetRecentErrMsg();
                CHECK(text && strstr(text, "aclDumpOpTensors is not emulated yet"));
                return 0;
            }"""
        )
    )


SHAPES = """
#include <cstdio>
int main() {
    int64_t shape[] = {2, 3, 4}, *dims = nullptr, *strides = nullptr, *storage = nullptr;
    uint64_t count = 0;
    aclTensor *tensor = aclCreateTensor(shape, 3, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 3, nullptr);
    CHECK(!aclGetViewShape(tensor, &dims, &count) && count == 3 && dims[2] == 4);
    CHECK(!aclGetViewStrides(tensor, &strides, &count) && count == 3 && strides[0] == 12);
    CHECK(!aclGetStorageShape(tensor, &storage, &count) && count == 3 && storage[1] == 3);
    delete[] dims;
    delete[] strides;
    delete[] storage;
    tensor = aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
    CHECK(!aclGetViewShape(tensor, &dims, &count) && count == 0);
    delete[] dims;
    return 0;
}"""


def test_arrays_can_be_deleted(compile_c: Compile) -> None:
    silent(compile_c(SHAPES, suffix=".cpp"))


def test_arrays_are_those_of_operator_new(tmp_path: Path) -> None:
    probe = tmp_path / "probe"
    probe.mkdir()
    compiler = shutil.which("g++")
    (probe / "probe.cpp").write_text("int main() { return 0; }\n", encoding="utf-8")
    sanitize = "-fsanitize=address"
    if compiler is None or subprocess.run([compiler, sanitize, "probe.cpp", "-o", "probe"], cwd=probe, capture_output=True).returncode:
        pytest.skip("no address sanitizer")
    program = compile_program(tmp_path, HEAD + SHAPES, sanitize, suffix=".cpp")
    silent(program, env=clean_environment(ASAN_OPTIONS="detect_leaks=0:alloc_dealloc_mismatch=1"))


# The library itself


def test_exports_are_the_declared_functions_and_nothing_else() -> None:
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("no nm")
    done = subprocess.run([nm, "-D", "--defined-only", str(toolkit.library_file())], capture_output=True, text=True, check=True)
    exported = {line.split()[-1].partition("@")[0] for line in done.stdout.splitlines()}
    missing = {name for name, entry in documented.table().items() if entry.probed and name not in EMULATED}
    assert missing
    assert exported == set(FUNCTIONS) | {
        function for name, entry in documented.table().items() if name not in missing for function in entry.functions
    }


def test_needs_no_libpython() -> None:
    readelf = shutil.which("readelf")
    if readelf is None:
        pytest.skip("no readelf")
    done = subprocess.run([readelf, "-d", str(toolkit.library_file())], capture_output=True, text=True, check=True)
    assert "libascendcl.so" in done.stdout
    assert "libpython" not in done.stdout


def test_every_name_is_the_same_library(compile_c: Compile) -> None:
    program = compile_c("int main(void) { queue_work(); return 3; }")
    for name in (toolkit.LIBRARY, *toolkit.OTHER_NAMES):
        assert (toolkit.cached() / "lib64" / name).resolve().name == toolkit.LIBRARY
    silent(program, 3)


def test_programs_side_by_side(compile_c: Compile) -> None:
    program = compile_c(ENDS["main returns"])
    codes: list[int] = []
    threads = [threading.Thread(target=lambda: codes.append(run(program).returncode)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [3] * 4

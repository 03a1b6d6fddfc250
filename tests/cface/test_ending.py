"""Calls at the end of a process: from hooks that were registered early, from objects that die with their modules, from destructors."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from acl_emu.cface import toolkit
from tests.cface.programs import clean_environment, compile_program, run

# In a C++ program

CPP = """
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include "acl/acl.h"

static void *first, *second, *third, *pinned;
static aclrtStream stream;
static aclrtEvent event;
static int called;

static void is(const char *what, int status, int expected = 0) { std::printf("%s%s", what, status == expected ? "\\n" : " WRONG\\n"); }
static void hold(void *) { called++; }

struct Owner {
    ~Owner() {
        is("static object", aclrtFree(second));
        is("event", aclrtDestroyEvent(event));
        is("pinned", aclrtFreeHost(pinned));
        is("reset", aclrtResetDevice(0));
        is("finalize", aclFinalize());
        is("once", aclFinalize(), 100037);
    }
};
static Owner owner;

static void hook() {
    is("launch", aclrtLaunchHostFunc(stream, hold, nullptr));
    is("wait", aclrtSynchronizeStreamWithTimeout(stream, 600000));
    is("called", called, 2);
    is("hook", aclrtFree(first));
    is("stream", aclrtDestroyStream(stream));
}

__attribute__((destructor)) static void last() { is("destructor", aclrtFree(third)); std::fflush(stdout); }

int main() {
    std::atexit(hook);  // before the library can register anything
    is("start", aclInit(nullptr) | aclrtSetDevice(0) | aclrtCreateStream(&stream) | aclrtCreateEvent(&event));
    for (void **memory : {&first, &second, &third})
        is("memory", aclrtMalloc(memory, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    is("host memory", aclrtMallocHost(&pinned, 64));
    for (int i = 0; i < 100; i++)
        if (aclrtMemsetAsync(first, 1 << 20, 1, 1 << 20, stream))
            std::abort();
    is("callback", aclrtLaunchHostFunc(stream, hold, nullptr));
    return 0;
}
"""


@pytest.mark.parametrize("schedule", ["async", "lazy"])
def test_a_cpp_program(schedule: str, tmp_path: Path) -> None:
    done = run(compile_program(tmp_path, CPP, suffix=".cpp"), env=clean_environment(ACL_EMU_SCHEDULE=schedule))
    assert (done.returncode, done.stderr) == (0, "")
    assert "WRONG" not in done.stdout
    assert done.stdout.splitlines()[-1] == "destructor"
    assert done.stdout.count("\n") == 18


def test_the_checker_hears_the_last_call_of_a_cpp_program(tmp_path: Path) -> None:
    source = CPP.replace('is("reset", aclrtResetDevice(0));', "").replace('is("finalize", aclFinalize());', "")
    source = source.replace('is("once", aclFinalize(), 100037);', "")
    source = source.replace("aclrtFree(third));", "aclrtFree(third) | aclrtResetDevice(0) | aclFinalize());")
    done = run(compile_program(tmp_path, source, suffix=".cpp"), env=clean_environment(ACL_EMU_CHECK="1"))
    assert (done.returncode, done.stderr) == (0, "")


# In a Python process

CLIENT = """
#include <stdio.h>
#include <stdlib.h>
#include "acl/acl.h"
#include "aclnn/acl_meta.h"

int aclnnMoeDistributeDispatch(void *, uint64_t, void *, void *);

static void *memory[32], *pinned;
static int next;
static aclrtStream stream;
static aclrtEvent event;
static aclrtContext context;
static aclTensor *tensor;
static aclScalar *scalar;

static void show(const char *what, int status) { printf("%s %d\\n", what, status); fflush(stdout); }

int start(void) {
    int64_t size = 4;
    int bad = aclInit(NULL) | aclrtCreateContext(&context, 1) | aclrtSetDevice(0) | aclrtCreateStream(&stream) | aclrtCreateEvent(&event) |
              aclrtMallocHost(&pinned, 64);
    for (int i = 0; i < 32; i++)
        bad |= aclrtMalloc(&memory[i], 100, ACL_MEM_MALLOC_HUGE_FIRST);
    tensor = aclCreateTensor(&size, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &size, 1, memory[0]);
    scalar = aclCreateScalar(&size, ACL_INT64);
    for (int i = 0; i < 100; i++)
        bad |= aclrtMemsetAsync(memory[31], 100, 1, 100, stream);
    return bad | !tensor | !scalar;
}
void give_back(const char *where) { show(where, aclrtFree(memory[next++])); }
void work(const char *where) {
    char bytes[4] = "";
    int bad = aclrtMemsetAsync(memory[31], 100, 7, 4, stream) | aclrtSynchronizeStreamWithTimeout(stream, 600000);
    bad |= aclrtMemcpy(bytes, 4, memory[31], 4, ACL_MEMCPY_DEVICE_TO_HOST);
    show(where, bad ? bad : bytes[3] != 7);
}
void end(const char *where) {
    int bad = 0;
    while (next < 32)
        bad |= aclrtFree(memory[next++]);
    bad |= aclrtDestroyStream(stream) | aclrtDestroyEvent(event) | aclrtFreeHost(pinned);
    bad |= aclDestroyTensor(tensor) | aclDestroyScalar(scalar);
    show(where, bad | aclrtDestroyContext(context) | aclrtResetDevice(0) | aclFinalize());
}
void wrong(void) {
    void *more;
    show("free null", aclrtFree(NULL));
    show("free twice", aclrtFree(memory[0]));
    show("free foreign", aclrtFreeHost(memory));
    show("stream twice", aclrtDestroyStream(stream));
    show("another kind", aclrtDestroyStream(event));
    show("context", aclrtDestroyContext(context));
    show("reset", aclrtResetDevice(0));
    show("finalize", aclFinalize());
    show("malloc", aclrtMalloc(&more, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    show("tensor", aclDestroyTensor(tensor));
    show("documented", aclnnMoeDistributeDispatch(NULL, 0, NULL, NULL));
    show("text", aclGetRecentErrMsg() != NULL);
}
static void at_exit(void) { if (getenv("LATE")) { give_back("C hook"); end("C end"); wrong(); } }
__attribute__((constructor)) static void loaded(void) { atexit(at_exit); }
"""

PROGRAM = """
import atexit, builtins, ctypes, os, sys, types
client = ctypes.CDLL(sys.argv[1])

class Owner:
    def __init__(self, what, where):
        self.what, self.where = what, where

    def __del__(self):
        self.what(self.where)

@atexit.register
def first_registered():
    client.work(b"hook")
    client.give_back(b"hook")
    {hook}

early = types.ModuleType("early")  # is cleared after all that is imported later
early.itself, sys.modules["early"] = early, early
early.owner, early.worker = Owner(client.give_back, b"early"), Owner(client.work, b"early works")
assert client.start() == 0
late = types.ModuleType("late")
late.itself, sys.modules["late"] = late, late
late.owner, late.worker = Owner(client.give_back, b"late"), Owner(client.work, b"late works")
in_main = Owner(client.give_back, b"main")
{more}
"""


@pytest.fixture
def client(tmp_path: Path) -> Path:
    """A library that uses ours, as torch_npu does."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler")
    (tmp_path / "client.c").write_text(CLIENT, encoding="utf-8")
    tree, library = toolkit.cached(), tmp_path / "client.so"
    flags = ["-Wall", "-Werror", "-shared", "-fPIC", f"-I{tree / 'include'}", f"-L{tree / 'lib64'}", f"-Wl,-rpath,{tree / 'lib64'}"]
    subprocess.run([compiler, *flags, str(tmp_path / "client.c"), "-lascendcl", "-o", str(library)], check=True)
    return library


def _python(client: Path, hook: str = "", more: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    code = PROGRAM.format(hook=hook or "pass", more=more)
    return subprocess.run(
        [sys.executable, "-c", code, str(client)], capture_output=True, text=True, timeout=300, env=clean_environment(**variables)
    )


WORKS = {"hook 0", "early 0", "early works 0", "late 0", "late works 0", "main 0"}


@pytest.mark.parametrize("more", ["", "import gc; gc.disable()", "del sys.modules['acl_emu']"], ids=["plain", "no gc", "gone"])
def test_calls_work_while_python_clears_its_modules(client: Path, more: str) -> None:
    done = _python(client, more=more)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.splitlines()) == WORKS


def test_c_answers_when_python_is_gone(client: Path) -> None:
    done = _python(client, LATE="1")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert set(lines[: -len(AFTER)]) == WORKS
    assert lines[-len(AFTER) :] == AFTER


AFTER = [
    *("C hook 0", "C end 0"),
    *("free null 100000", "free twice 107000", "free foreign 107000", "stream twice 107017", "another kind 107017", "context 107002"),
    *("reset 507007", "finalize 100037", "malloc 500000", "tensor 161002", "documented 561000", "text 0"),
]


def test_checker_and_trace_end_after_the_first_registered_hook(client: Path, tmp_path: Path) -> None:
    """A program that ends in order is told of nothing, and its last calls are in the trace."""
    trace = tmp_path / "trace.json"
    variables = {"ACL_EMU_CHECK": "1", "ACL_EMU_TRACE": str(trace), "ACL_EMU_REPORT": str(tmp_path / "report.html")}
    done = _python(client, hook="client.end(b'end')", more="del early.owner, early.worker, late.owner, late.worker, in_main", **variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "end 0"
    assert "aclFinalize" in trace.read_text(encoding="utf-8")
    assert "aclFinalize" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_findings_are_told_after_the_last_call_and_set_the_exit_code(client: Path) -> None:
    """What objects give back while modules are cleared is no leak; what C does later has no other exit code either."""
    done = _python(client, hook="client.end(b'end')", more="early.last = Owner(client.work, b'after the end')", ACL_EMU_CHECK="1")
    assert done.returncode == 86
    assert "memory-leaked" not in done.stderr
    assert "aclFinalize never" not in done.stderr
    assert "is called after aclFinalize" in done.stderr
    assert "Traceback" not in done.stderr

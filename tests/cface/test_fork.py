"""The child of a fork: every call is refused where its parent had made one, from C and from Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from acl_emu.cface import toolkit
from tests.cface.programs import clean_environment, compile_program, run

C = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "acl/acl.h"
#include "aclnnop/aclnn_exp.h"

static int use(void) {
    void *memory;
    return aclInit(NULL) || aclrtSetDevice(0) || aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) || aclrtFree(memory) || aclFinalize();
}

int main(int count, char **arguments) {
    int64_t shape = 4;
    uint64_t size;
    int status, used = atoi(arguments[count - 1]);
    aclOpExecutor *executor;
    aclTensor *tensor = NULL;
    if (used) {
        tensor = aclCreateTensor(&shape, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &shape, 1, NULL);
        if (use())
            return 98;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(100);
        if (used) {
            printf("%d %d %d ", aclInit(NULL), aclrtSetDevice(0), aclrtFree(NULL));
            printf("%d ", aclnnExpGetWorkspaceSize(tensor, tensor, &size, &executor));
            printf("%d ", aclnnExp(NULL, 0, NULL, NULL));
            printf("%d ", aclDestroyTensor(tensor));
            printf("%d\\n", aclCreateTensor(&shape, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &shape, 1, NULL) != NULL);
        } else
            printf("%d\\n", use());
        return 0;
    }
    if (waitpid(child, &status, 0) != child || status)
        return 97;
    return use();
}
"""
REFUSED = "500000 500000 500000 561000 561000 561000 0\n"


@pytest.mark.parametrize(("used", "said"), [("1", REFUSED), ("0", "0\n")], ids=["used", "not used"])
def test_in_a_c_program(used: str, said: str, tmp_path: Path) -> None:
    done = run(compile_program(tmp_path, C), used)
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


PYTHON = """
import ctypes, os, signal, sys, threading
import acl_emu as acl
from aclnnop import aclnnExp, aclnnExpGetWorkspaceSize
used, how, library = sys.argv[1:]

def use():
    memory = [acl.aclInit(None), acl.aclrtSetDevice(0), acl.aclrtMalloc(64, 0)]
    return [*memory[:2], memory[2][1], acl.aclrtFree(memory[2][0]), acl.aclFinalize()]

if used == "1":
    assert not any(use())
    tensor = acl.aclCreateTensor([4], 0, None, 0, 2, [4], None)
    if how == "busy":  # whatever other threads hold
        def make_calls():
            acl.aclrtSetDevice(0)
            while True:
                acl.aclrtFree(acl.aclrtMalloc(64, 0)[0])
        for _ in range(3):
            threading.Thread(target=make_calls, daemon=True).start()
for _ in range(10 if how == "busy" else 1):
    child = os.fork()
    if child == 0:
        signal.alarm(100)
        if how == "ctypes":
            face = ctypes.CDLL(library)
            shown = [face.aclInit(None), face.aclrtSetDevice(0), face.aclrtFree(None), face.aclnnExpGetWorkspaceSize(0, 0, 0, 0)]
            shown += [face.aclnnExp(None, 0, None, None), face.aclDestroyTensor(None), 0]
        elif used == "1":
            shown = [acl.aclInit(None), acl.aclrtSetDevice(0), acl.aclrtFree(None), aclnnExpGetWorkspaceSize(tensor, tensor)[2]]
            shown += [aclnnExp(None, 0, None, None), acl.aclDestroyTensor(tensor)]
            shown += [int(bool(acl.aclCreateTensor([4], 0, None, 0, 2, [4], None)))]
            assert "was forked" in acl.aclGetRecentErrMsg()
        else:
            shown = [int(any(use()))]
        print(*shown, flush=True)
        sys.exit(0)  # with all that is due at the end of a Python process
    assert os.waitpid(child, 0)[1] == 0
assert how == "busy" or not any(use())
"""


@pytest.mark.parametrize(
    ("used", "how", "said"), [("1", "", REFUSED), ("1", "busy", 10 * REFUSED), ("1", "ctypes", REFUSED), ("0", "", "0\n")]
)
def test_in_a_python_program(used: str, how: str, said: str) -> None:
    library = str(toolkit.cached() / "lib64" / "libascendcl.so")
    done = subprocess.run(
        [sys.executable, "-c", PYTHON, used, how, library], capture_output=True, text=True, timeout=300, env=clean_environment()
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")

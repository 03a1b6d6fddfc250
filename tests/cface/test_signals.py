"""SIGSEGV: device addresses are explained, and whatever the address, the process dies as it would without the library."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.cface.programs import clean_environment, compile_program, run

HEAD = """
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "acl/acl.h"

#define CHECK(condition) do { if (!(condition)) { printf("line %d: %s\\n", __LINE__, #condition); fflush(stdout); _Exit(99); } } while (0)

static volatile int ending;

/* Allocates, frees and copies without a pause: some thread holds Python's lock at every moment, and the tables change. */
static inline void *make_calls(void *unused)
{
    char bytes[64] = "";
    void *memory;
    (void)unused;
    CHECK(!aclrtSetDevice(0));
    while (!ending) {
        CHECK(!aclrtMalloc(&memory, 1000, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(!aclrtMemcpy(memory, 64, bytes, 64, ACL_MEMCPY_HOST_TO_DEVICE) && !aclrtFree(memory));
    }
    return NULL;
}
"""


def compile_c(folder: Path, body: str) -> Path:
    """A C program with the usual head."""
    return compile_program(folder, HEAD + body, "-Wno-array-bounds")


@pytest.mark.parametrize("address", ["NULL", "memory + 12"], ids=["null", "device"])
def test_children_of_a_fork_die_while_threads_make_calls(address: str, tmp_path: Path) -> None:
    """The children have but one thread: whoever held a lock is not there any more."""
    program = compile_c(
        tmp_path,
        """
        int main(void) {
            pthread_t threads[4];
            volatile char *memory;
            int status;
            CHECK(!aclrtSetDevice(0) && !aclrtMalloc((void **)&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
            for (int i = 0; i < 4; i++)
                pthread_create(&threads[i], NULL, make_calls, NULL);
            for (int i = 0; i < 20; i++) {
                pid_t child = fork();
                if (child == 0) {
                    alarm(60); /* one that hangs ends, too */
                    *("""
        + address.replace("NULL", "(volatile char *)NULL")
        + """) = 1;
                    _exit(0);
                }
                CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
                usleep(1000);
            }
            ending = 1;
            for (int i = 0; i < 4; i++)
                pthread_join(threads[i], NULL);
            return 3;
        }""",
    )
    done = run(program)
    assert (done.returncode, done.stdout) == (3, "")
    explained = done.stderr.count("it is byte 12 of the allocation of 64 bytes at 0x")
    assert explained == (20 if address != "NULL" else 0)
    assert done.stderr.count("\n") == 2 * explained


def test_a_thread_faults_while_others_make_calls(tmp_path: Path) -> None:
    program = compile_c(
        tmp_path,
        """
        int main(void) {
            pthread_t thread;
            volatile char *memory;
            CHECK(!aclrtSetDevice(1) && !aclrtMalloc((void **)&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
            for (int i = 0; i < 4; i++)
                pthread_create(&thread, NULL, make_calls, NULL);
            usleep(20000);
            return memory[63];
        }""",
    )
    done = run(program)
    assert done.returncode == -signal.SIGSEGV
    assert "(device 1): it is byte 63 of the allocation of 64 bytes at 0x" in done.stderr


def test_a_signal_from_outside_kills(tmp_path: Path) -> None:
    program = compile_c(
        tmp_path,
        """
        int main(void) {
            void *memory;
            CHECK(!aclrtSetDevice(0) && !aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
            puts("waits");
            fflush(stdout);
            for (;;)
                pause();
        }""",
    )
    process = subprocess.Popen([program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment())
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        process.send_signal(signal.SIGSEGV)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, said) == (-signal.SIGSEGV, "")


def test_the_handler_of_the_program_is_called(tmp_path: Path) -> None:
    """One that was there before gets every signal, and may go on where it knows how to."""
    program = compile_c(
        tmp_path,
        """
        #include <setjmp.h>
        static sigjmp_buf back;
        static volatile sig_atomic_t sent;
        static void on_fault(int number, siginfo_t *info, void *context) {
            (void)number; (void)context;
            if (info->si_code <= 0) {
                sent++;
                return;
            }
            siglongjmp(back, 1);
        }
        int main(void) {
            volatile int faults = 0;
            void *memory;
            struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
            CHECK(!sigaction(SIGSEGV, &action, NULL));
            CHECK(!aclrtSetDevice(0) && !aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
            for (int i = 0; i < 3; i++) {
                if (sigsetjmp(back, 1) == 0)
                    *(volatile int *)16 = 1;
                else
                    faults++;
                CHECK(!raise(SIGSEGV));
            }
            CHECK(faults == 3 && sent == 3);
            if (sigsetjmp(back, 1) == 0)
                *(volatile char *)memory = 1;
            return 3;
        }""",
    )
    done = run(program)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("the host dereferenced device address") == 1


def test_the_handler_takes_no_lock_of_the_c_library(tmp_path: Path) -> None:
    """A fault inside malloc or printf must not wait for what the same thread holds."""
    program = compile_c(
        tmp_path,
        """
        #include <stdarg.h>
        int main(void) {
            char *memory;
            CHECK(!aclrtSetDevice(0) && !aclrtMalloc((void **)&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
            fprintf(stderr, "%s", memory);
            return 0;
        }""",
    )
    done = run(program)
    assert done.returncode == -signal.SIGSEGV
    assert "it is byte 0 of the allocation of 64 bytes" in done.stderr

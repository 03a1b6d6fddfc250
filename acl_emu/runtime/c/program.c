/* Access to the program's memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bridge.h"

#define PAGE 4096

int acl_emu_copy(uintptr_t target, uintptr_t source, size_t size)
{
    struct iovec here = {(void *)target, size}, there = {(void *)source, size};
    ssize_t done = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (done < 0 && (errno == ENOSYS || errno == EPERM)) {
        memcpy((void *)target, (const void *)source, size);
        return 1;
    }
    return done == (ssize_t)size;
}

/* Where the calling thread's stack begins and ends, asked for once. */
static __thread uintptr_t stack_low, stack_high;

static void find_stack(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
            stack_low = (uintptr_t)low;
            stack_high = stack_low + size;
        }
        pthread_attr_destroy(&attributes);
    }
    if (!stack_high)
        stack_low = stack_high = 1; /* unknown: nothing lies in it */
}

int acl_emu_on_stack(uintptr_t address, size_t size)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (!stack_high)
        find_stack();
    /* A thread that runs on another stack, as coroutines do, is not in its own. */
    return stack_low <= here && here <= address && address < stack_high && size <= stack_high - address;
}

/* The kernel reads the set of signals, unless there is none, before it finds that it is not told what to do with it. */
static int can_read(uintptr_t address)
{
    int before = errno;
    uintptr_t set = address & ~(uintptr_t)7;
    int readable = set && syscall(SYS_rt_sigprocmask, ~0, set, NULL, 8) < 0 && errno != EFAULT;
    errno = before;
    return readable;
}

int acl_emu_readable(const void *bytes, size_t size)
{
    uintptr_t first = (uintptr_t)bytes, last = first + size - 1;
    if (size == 0 || acl_emu_on_stack(first, size))
        return 1;
    if (last < first || !can_read(first))
        return 0;
    for (uintptr_t page = first / PAGE + 1; page <= last / PAGE; page++) {
        if (!can_read(page * PAGE))
            return 0;
    }
    return 1;
}

/* The kernel writes the set of signals as it is; the number that was there is put back. */
int acl_emu_writable(uintptr_t address)
{
    if (acl_emu_on_stack(address, sizeof(uint64_t)))
        return 1;
    if (address % sizeof(uint64_t) || !can_read(address))
        return 0;
    int before = errno;
    uint64_t kept = *(volatile uint64_t *)address;
    int writable = syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, address, 8) == 0;
    if (writable)
        *(volatile uint64_t *)address = kept;
    errno = before;
    return writable;
}

void *acl_emu_new_array(size_t size)
{
    void *(*operator_new)(size_t) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "_Znam");
    memcpy(&operator_new, &symbol, sizeof symbol);
    return operator_new ? operator_new(size) : malloc(size);
}

void acl_emu_callback(uintptr_t function, uintptr_t argument)
{
    ((void (*)(void *))function)((void *)argument);
}

"""The cffi module through which C calls come in. Run by setup.py."""

import cffi

ffi = cffi.FFI()
ffi.cdef(
    """
    typedef union { int64_t i; uint64_t u; double d; const void *p; } acl_emu_arg;
    extern "Python" int acl_emu_call(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result, const void *caller);
    typedef int (*acl_emu_entry)(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result, const void *caller);
    int acl_emu_copy(uintptr_t target, uintptr_t source, size_t size);
    void *acl_emu_new_array(size_t size);
    void acl_emu_callback(uintptr_t function, uintptr_t argument);
    """
)
ffi.set_source(
    "acl_emu.cshim._bridge",
    """
    #ifndef _GNU_SOURCE
    #define _GNU_SOURCE
    #endif
    #include <dlfcn.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/uio.h>
    #include <unistd.h>
    #include <errno.h>
    #include "shim.h"

    /* Copies between any two addresses of the process; 0 where one of them is not memory. */
    static int acl_emu_copy(uintptr_t target, uintptr_t source, size_t size)
    {
        struct iovec here = {(void *)target, size}, there = {(void *)source, size};
        ssize_t done = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
        if (done < 0 && (errno == ENOSYS || errno == EPERM)) {
            memcpy((void *)target, (const void *)source, size);
            return 1;
        }
        return done == (ssize_t)size;
    }

    /* Memory that a C++ program may delete[]. */
    static void *acl_emu_new_array(size_t size)
    {
        void *(*operator_new)(size_t) = NULL;
        void *symbol = dlsym(RTLD_DEFAULT, "_Znam");
        memcpy(&operator_new, &symbol, sizeof symbol);
        return operator_new ? operator_new(size) : malloc(size);
    }

    static void acl_emu_callback(uintptr_t function, uintptr_t argument)
    {
        ((void (*)(void *))function)((void *)argument);
    }
    """,
    include_dirs=["acl_emu/cshim"],
    extra_compile_args=["-std=gnu11", "-O2"],
    libraries=["dl"],
)

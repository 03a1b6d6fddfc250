"""The cffi module through which C calls come in. Run by setup.py."""

import cffi

ffi = cffi.FFI()
ffi.cdef(
    """
    typedef union { int64_t i; uint64_t u; double d; const void *p; } acl_emu_arg;
    typedef int (*acl_emu_entry)(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result, const void *caller);
    typedef int (*acl_emu_quick)(acl_emu_arg *arguments, acl_emu_arg *result);
    typedef struct { acl_emu_entry entry; const acl_emu_quick *quick; } acl_emu_side;
    extern "Python" int acl_emu_call(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result, const void *caller);

    int acl_emu_copy(uintptr_t target, uintptr_t source, size_t size);
    int acl_emu_on_stack(uintptr_t address, size_t size);
    int acl_emu_set_planned(const acl_emu_arg *outputs, uint64_t size, uint64_t executor, int only_ask);
    void *acl_emu_new_array(size_t size);
    void acl_emu_callback(uintptr_t function, uintptr_t argument);

    typedef struct {
        uint64_t address;
        int64_t rank, storage_rank, has_strides, dtype, format, offset;
        int64_t numbers[...];
    } acl_emu_tensor;
    extern int acl_emu_tensors_open;
    int acl_emu_create_tensor(acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_destroy_tensor(acl_emu_arg *arguments, acl_emu_arg *result);
    size_t acl_emu_take_tensor(uint64_t handle, acl_emu_tensor *tensor);
    uint64_t acl_emu_tensor_count(void);

    typedef struct { int64_t submitted, taken; uint32_t rung, urgent, asleep, closed; } acl_emu_bell;
    void acl_emu_bell_ring(acl_emu_bell *bell, int64_t task, int urgent);
    void acl_emu_bell_close(acl_emu_bell *bell);
    int acl_emu_bell_wait(acl_emu_bell *bell, int64_t idle);
    """
)
ffi.set_source(
    "acl_emu.cshim._bridge",
    '#include "bridge.h"',
    sources=[f"acl_emu/cshim/{name}.c" for name in ("program", "tensors", "bell")],
    include_dirs=["acl_emu/cshim"],
    depends=["acl_emu/cshim/bridge.h", "acl_emu/cshim/shim.h"],
    extra_compile_args=["-std=gnu11", "-O2", "-Wall", "-Wextra"],
    libraries=["dl", "pthread"],
)

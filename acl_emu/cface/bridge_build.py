"""The cffi module through which C calls come in. Run by setup.py."""

import cffi

ffi = cffi.FFI()
ffi.cdef(
    """
    typedef union { int64_t i; uint64_t u; double d; const void *p; } acl_emu_arg;
    typedef int (*acl_emu_entry)(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result, const void *caller);
    typedef int (*acl_emu_quick)(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    typedef int (*acl_emu_refusal)(const char *name, acl_emu_arg *result, const void *caller);
    typedef struct { acl_emu_entry entry; acl_emu_refusal refusal; const acl_emu_quick *quick; const int *ended; }
        acl_emu_side;
    extern "Python" int acl_emu_call(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result, const void *caller);
    extern "Python" int acl_emu_refused(const char *name, acl_emu_arg *result, const void *caller);

    extern acl_emu_entry acl_emu_python;
    extern acl_emu_refusal acl_emu_python_refuses;
    extern int acl_emu_ended;
    int acl_emu_gate(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result, const void *caller);
    int acl_emu_refusal_gate(const char *name, acl_emu_arg *result, const void *caller);
    void acl_emu_set_rule(uint32_t function, uint32_t kind, int takes_one, int takes_all, int64_t of_null, int64_t of_dead);
    int acl_emu_leave_living(uint32_t kind, uint64_t value);
    void acl_emu_begin_end(void);
    void acl_emu_end(void);
    void acl_emu_exit_with(int code);

    int acl_emu_copy(uintptr_t target, uintptr_t source, size_t size);
    int acl_emu_on_stack(uintptr_t address, size_t size);
    void *acl_emu_new_array(size_t size);
    void acl_emu_callback(uintptr_t function, uintptr_t argument);

    typedef struct { int64_t submitted, taken; ...; } acl_emu_bell;
    void acl_emu_bell_ring(acl_emu_bell *bell, int urgent);
    void acl_emu_bell_close(acl_emu_bell *bell);

    typedef struct {
        int64_t (*run)(const int64_t *program, const int64_t *addresses, int64_t threads);
        const int64_t *program;
        int64_t threads;
        int is_short;
        uint64_t workspace, operands;
        int64_t places[...], offsets[...];
    } acl_emu_native;
    typedef struct { uint64_t number, operator, workspace; int empty, is_long; acl_emu_native native; } acl_emu_plan;
    typedef struct { uint64_t address; ...; } acl_emu_tensor;
    typedef struct { const acl_emu_plan *plan; uint64_t tensors[...], addresses[...]; } acl_emu_executor;
    extern int acl_emu_open;
    int acl_emu_create_tensor(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_destroy_tensor(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_destroy_executor(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    #define ACL_EMU_HELD ...
    #define ACL_EMU_TENSORS ...
    size_t acl_emu_copy_tensor(uint64_t handle, acl_emu_tensor *tensor);
    size_t acl_emu_take_tensor(uint64_t handle, acl_emu_tensor *tensor);
    uint64_t acl_emu_take_executor(acl_emu_executor *executor);
    void acl_emu_lend_executor(uint64_t handle, const acl_emu_executor *executor);
    void acl_emu_take_back(uint64_t handle);
    void acl_emu_take_all_back(void);
    uint64_t acl_emu_tensor_count(void);
    uint64_t acl_emu_executor_count(void);

    typedef struct { int64_t place; const acl_emu_plan *plan; uint64_t workspace; uint64_t addresses[...]; } acl_emu_launch;
    typedef struct {
        acl_emu_bell bell;
        int64_t done, numbered;
        uintptr_t turn;
        int rings, waits, troubled, closed, waiting, watchers;
        ...;
    } acl_emu_lane;
    acl_emu_lane *acl_emu_lane_new(void);
    void acl_emu_lane_leave(acl_emu_lane *lane);
    extern uint64_t acl_emu_epoch;
    void acl_emu_permit(uint64_t stream, acl_emu_lane *lane, uint64_t epoch);
    void acl_emu_new_epoch(void);
    void acl_emu_lane_number(acl_emu_lane *lane, int urgent);
    int acl_emu_lane_begin(acl_emu_lane *lane);
    void acl_emu_lane_end(acl_emu_lane *lane);
    int64_t acl_emu_lane_run(acl_emu_lane *lane, int64_t place);
    int acl_emu_lane_serve(acl_emu_lane *lane, int64_t idle);
    int acl_emu_lane_next(acl_emu_lane *lane, int64_t place, acl_emu_launch *launch);
    void acl_emu_lane_reach(acl_emu_lane *lane, int64_t place);
    void acl_emu_lane_close(acl_emu_lane *lane);
    int64_t acl_emu_note_allocation(uint64_t address, uint64_t size, uint64_t extent);
    void acl_emu_forget_allocation(int64_t place);
    void acl_emu_watch_faults(uint64_t first, uint64_t end, int device);
    void acl_emu_unwatch_faults(uint64_t first);
    void acl_emu_set_regions(const int64_t *table);
    int acl_emu_holds(uint64_t address, uint64_t size);

    void acl_emu_declare(uint32_t phase_one, uint32_t phase_two, uint64_t operator, uint32_t parameters, uint64_t tensors);
    const acl_emu_plan *acl_emu_new_plan(const acl_emu_plan *plan);
    int acl_emu_keep_plan(uint32_t function, const acl_emu_arg *arguments, const acl_emu_plan *plan, uint64_t most);
    int acl_emu_phase_one(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_phase_two(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    typedef struct { ...; } acl_emu_inside;
    const acl_emu_inside *acl_emu_table(void);
    """
)
ffi.set_source(
    "acl_emu.core._bridge",
    '#include "bridge.h"',
    sources=[f"acl_emu/runtime/c/{name}.c" for name in ("program", "ending", "faults", "bell", "objects", "lanes", "calls")],
    include_dirs=["acl_emu/runtime/c"],
    depends=["acl_emu/runtime/c/bridge.h", "acl_emu/runtime/c/shim.h"],
    extra_compile_args=["-std=gnu11", "-O2", "-Wall", "-Wextra"],
    libraries=["dl", "pthread"],
)

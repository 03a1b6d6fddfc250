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

    typedef struct { int64_t submitted, taken; ...; } acl_emu_wakeup;
    void acl_emu_wakeup_signal(acl_emu_wakeup *wakeup, int urgent);
    void acl_emu_wakeup_close(acl_emu_wakeup *wakeup);

    extern int acl_emu_open;
    enum {
        ACL_EMU_TENSOR, ACL_EMU_SCALAR, ACL_EMU_INT_ARRAY, ACL_EMU_FLOAT_ARRAY, ACL_EMU_BOOL_ARRAY,
        ACL_EMU_TENSOR_LIST, ACL_EMU_SCALAR_LIST, ACL_EMU_EXECUTOR, ...
    };
    void acl_emu_set_dtype(int64_t code, int64_t bits, int64_t scalar_bytes);
    uint64_t acl_emu_make_tensor(const int64_t *numbers, int64_t rank, int64_t storage_rank, int64_t dtype, int64_t format, int64_t offset,
                                 uint64_t address);
    uint64_t acl_emu_make_values(uint32_t kind, const int64_t *words, uint64_t count);
    int acl_emu_change_tensor(uint64_t handle, const int64_t *numbers, int64_t rank, int64_t storage_rank, int64_t dtype, int64_t format,
                              int64_t offset, uint64_t address);
    int acl_emu_set_address(uint64_t handle, uint64_t address);
    int acl_emu_set_operand(uint64_t executor, uint32_t place, uint64_t address);
    int acl_emu_is_repeatable(uint64_t executor);
    int acl_emu_make_repeatable(uint64_t executor);
    uint64_t acl_emu_read(uint64_t handle, uint32_t *kind, int64_t *words, uint64_t capacity);
    uint64_t acl_emu_alive(uint32_t kind);
    uint64_t acl_emu_handles(uint64_t *handles, uint64_t capacity);
    int acl_emu_destroy(uint32_t kind, uint64_t handle);
    int acl_emu_create_tensor(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_create_scalar(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_create_int_array(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_create_float_array(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_create_bool_array(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_create_tensor_list(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_create_scalar_list(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_destroy_tensor(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_destroy_scalar(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_destroy_int_array(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_destroy_float_array(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_destroy_bool_array(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_destroy_tensor_list(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_destroy_scalar_list(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_destroy_executor(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);

    typedef struct {
        int64_t (*run)(const int64_t *program, const int64_t *addresses, int64_t threads);
        const int64_t *program;
        int64_t threads;
        int is_short;
        uint64_t workspace, operands;
        int64_t places[...], offsets[...];
    } acl_emu_native;
    typedef struct { uint64_t number, operator, workspace; int empty, is_long; uint32_t parts; ...; } acl_emu_plan;
    enum { ACL_EMU_NUMBER, ACL_EMU_BOOL, ACL_EMU_STRING, ... };
    int acl_emu_declare(uint64_t operator, uint32_t count, const uint8_t *kinds, const int8_t *unless);
    void acl_emu_connect_operator(uint32_t phase_one, uint32_t phase_two, uint64_t operator);
    acl_emu_plan *acl_emu_new_plan(const acl_emu_plan *described, const acl_emu_native *natives);
    int acl_emu_plan_call(uint64_t operator, const acl_emu_arg *arguments, uint64_t *hash, uint64_t *workspace, uint64_t *executor);
    uint64_t acl_emu_adopt_plan(uint64_t operator, const acl_emu_arg *arguments, uint64_t hash, acl_emu_plan *plan, uint64_t most);
    void acl_emu_forget_plans(void);
    uint64_t acl_emu_plan_count(void);
    uint64_t acl_emu_gone_plans(uint64_t *numbers, uint64_t capacity);
    int acl_emu_start(uint64_t operator, uint64_t workspace, uint64_t size, uint64_t executor, uint64_t stream);
    int acl_emu_phase_one(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_phase_two(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);

    typedef struct { uint32_t count; ...; } acl_emu_operands;
    typedef struct { int64_t place; acl_emu_plan *plan; acl_emu_operands *operands; uint64_t workspace; uint32_t done; } acl_emu_launch;
    typedef struct {
        acl_emu_wakeup wakeup;
        int64_t done, numbered;
        uintptr_t turn;
        int signals, waits, troubled, closed, waiting, watchers;
        ...;
    } acl_emu_queue;
    acl_emu_queue *acl_emu_queue_new(void);
    void acl_emu_queue_leave(acl_emu_queue *queue);
    extern uint64_t acl_emu_epoch;
    void acl_emu_remember_stream(uint64_t stream, acl_emu_queue *queue, uint64_t epoch);
    void acl_emu_new_epoch(void);
    void acl_emu_queue_number(acl_emu_queue *queue, int urgent);
    int acl_emu_queue_begin(acl_emu_queue *queue);
    void acl_emu_queue_end(acl_emu_queue *queue);
    int64_t acl_emu_queue_run(acl_emu_queue *queue, int64_t place);
    int acl_emu_queue_serve(acl_emu_queue *queue, int64_t idle);
    int acl_emu_queue_next(acl_emu_queue *queue, int64_t place, acl_emu_launch *launch);
    void acl_emu_release_launch(acl_emu_launch *launch);
    int acl_emu_launch_of(uint64_t executor, acl_emu_launch *launch);
    void acl_emu_set_shape(const acl_emu_launch *launch, uint32_t place, int64_t rank, const int64_t *dims, const int64_t *strides);
    uint32_t acl_emu_addresses(const acl_emu_launch *launch, uint64_t *addresses, uint32_t capacity);
    void acl_emu_queue_reach(acl_emu_queue *queue, int64_t place);
    void acl_emu_queue_close(acl_emu_queue *queue);
    int acl_emu_synchronize(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    void acl_emu_watch_faults(uint64_t first, uint64_t end, int device);
    void acl_emu_unwatch_faults(uint64_t first);
    typedef struct acl_emu_memory acl_emu_memory;
    typedef struct { uint64_t address, size, extent, number; int64_t policy; ...; } acl_emu_allocation;
    typedef struct { uint64_t available, used, peak, mapped_end; } acl_emu_usage;
    acl_emu_memory *acl_emu_memory_new(uint64_t start, uint64_t end, uint64_t backing, uint64_t available);
    void acl_emu_memory_close(acl_emu_memory *memory);
    const acl_emu_usage *acl_emu_memory_usage(const acl_emu_memory *memory);
    int acl_emu_memory_take(acl_emu_memory *memory, int64_t bytes);
    uint64_t acl_emu_memory_allocate(acl_emu_memory *memory, uint64_t size, uint64_t padding, int64_t policy);
    int acl_emu_memory_free(uint64_t address, acl_emu_allocation *freed);
    int acl_emu_memory_find(const acl_emu_memory *memory, uint64_t address, acl_emu_allocation *found);
    uint64_t acl_emu_memory_addresses(const acl_emu_memory *memory, uint64_t *addresses, uint64_t capacity);
    void acl_emu_remember_memory(acl_emu_memory *memory, uint64_t padding, uint64_t epoch);
    int acl_emu_malloc(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_free(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int acl_emu_memcpy(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    void acl_emu_set_regions(int64_t *table);
    int acl_emu_holds(uint64_t address, uint64_t size);

    typedef struct { ...; } acl_emu_inside;
    const acl_emu_inside *acl_emu_table(void);
    """
)
ffi.set_source(
    "acl_emu.core._bridge",
    '#include "bridge.h"',
    sources=[
        f"acl_emu/runtime/c/{name}.c" for name in ("program", "ending", "faults", "wakeup", "memory", "objects", "plans", "stream_queue")
    ],
    include_dirs=["acl_emu/runtime/c"],
    depends=["acl_emu/runtime/c/bridge.h", "acl_emu/runtime/c/shim.h"],
    extra_compile_args=["-std=gnu11", "-O2", "-Wall", "-Wextra"],
    libraries=["dl", "pthread"],
)

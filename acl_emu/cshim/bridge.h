/* What the Python side has in C: access to the program's memory, tensors that nobody has used yet, and what background threads wait on. */
#ifndef ACL_EMU_BRIDGE_H
#define ACL_EMU_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#include "shim.h"

/* The program's memory (program.c) */

/* Copies between any two addresses of the process; 0 where one of them is not memory. */
int acl_emu_copy(uintptr_t target, uintptr_t source, size_t size);

/* Whether `size` bytes lie on the calling thread's stack, above the caller: such memory can be written. */
int acl_emu_on_stack(uintptr_t address, size_t size);

/* Sets both out-parameters of phase one where both lie on the stack; with `only_ask` nothing is set. 0 where they do not. */
int acl_emu_set_planned(const acl_emu_arg *outputs, uint64_t size, uint64_t executor, int only_ask);

/* Whether a few 64-bit numbers can be read. */
int acl_emu_readable(const int64_t *numbers, size_t count);

/* Memory that a C++ program may delete[]. */
void *acl_emu_new_array(size_t size);

void acl_emu_callback(uintptr_t function, uintptr_t argument);

/* Tensors (tensors.c) */

#define ACL_EMU_TENSOR_RANK 8

/* What aclCreateTensor was given. */
typedef struct {
    uint64_t address;
    int64_t rank, storage_rank, has_strides, dtype, format, offset;
    int64_t numbers[3 * ACL_EMU_TENSOR_RANK]; /* dimensions, strides if any, storage dimensions */
} acl_emu_tensor;

/* Set while aclCreateTensor need not go through Python: nobody watches. */
extern int acl_emu_tensors_open;

/* The two functions in C; 0 where Python has to carry the call out. */
int acl_emu_create_tensor(acl_emu_arg *arguments, acl_emu_arg *result);
int acl_emu_destroy_tensor(acl_emu_arg *arguments, acl_emu_arg *result);

/* Moves a tensor out, from now on Python has it, and says how many bytes it takes. 0 where `handle` is none that lives here. */
size_t acl_emu_take_tensor(uint64_t handle, acl_emu_tensor *tensor);

/* How many live here. */
uint64_t acl_emu_tensor_count(void);

/* Bells (bell.c) */

/* What the background thread of a stream waits on. Tasks are numbered from 1. */
typedef struct {
    int64_t submitted; /* the last task */
    int64_t taken;     /* the last task that has been run, or that a thread is about to run */
    uint32_t rung, urgent, asleep, closed;
} acl_emu_bell;

/* Tells of a task; one that is urgent, because it is long or somebody waits for it, is not left to whoever may come to run it. */
void acl_emu_bell_ring(acl_emu_bell *bell, int64_t task, int urgent);

/* Lets the background thread go. */
void acl_emu_bell_close(acl_emu_bell *bell);

/* Waits for a task that nobody else takes: 1. After `idle` nanoseconds without any: 0. When closed: -1. */
int acl_emu_bell_wait(acl_emu_bell *bell, int64_t idle);

#endif

/* What the Python side has in C: access to the program's memory, objects that Python has not been asked about, the quick way through
 * both phases of an operator, and what background threads wait on. */
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

/* Whether a few 64-bit numbers can be read. */
int acl_emu_readable(const int64_t *numbers, size_t count);

/* Whether a 64-bit number can be written; where that is not easily said, it is denied. */
int acl_emu_writable(uintptr_t address);

/* Memory that a C++ program may delete[]. */
void *acl_emu_new_array(size_t size);

void acl_emu_callback(uintptr_t function, uintptr_t argument);

/* Bells (bell.c) */

/* What the background thread of a stream waits on. Tasks are numbered from 1. */
typedef struct {
    int64_t submitted; /* the last task */
    int64_t taken;     /* the last task that has been run, or that a thread is about to run */
    uint32_t rung, urgent, asleep, closed;
} acl_emu_bell;

/* Tells of a task; one that is urgent, because it is long or somebody waits for it, is not left to whoever may come to run it. */
void acl_emu_bell_ring(acl_emu_bell *bell, int urgent);

/* Lets the background thread go. */
void acl_emu_bell_close(acl_emu_bell *bell);

/* Waits for a task that nobody else takes: 1. After `idle` nanoseconds without any: 0. When closed: -1. */
int acl_emu_bell_wait(acl_emu_bell *bell, int64_t idle);

/* Objects (objects.c) */

#define ACL_EMU_RANK 8
#define ACL_EMU_TENSORS 8

/* What aclCreateTensor was given. */
typedef struct {
    uint64_t address;
    int64_t rank, storage_rank, has_strides, dtype, format, offset;
    int64_t numbers[3 * ACL_EMU_RANK]; /* dimensions, strides if any, storage dimensions */
} acl_emu_tensor;

typedef struct acl_emu_plan acl_emu_plan;

/* What phase one has made: its plan, and the tensors and their addresses. A tensor that lives here cannot change. */
typedef struct {
    const acl_emu_plan *plan;
    uint64_t tensors[ACL_EMU_TENSORS], addresses[ACL_EMU_TENSORS];
} acl_emu_executor;

/* Set while calls need not go through Python: nobody watches. */
extern int acl_emu_open;

/* All of the objects, plans and lanes are only touched with this lock held. */
void acl_emu_lock(void);
void acl_emu_unlock(void);

/* With the lock held: the living object behind a handle, or NULL. */
acl_emu_tensor *acl_emu_find_tensor(uint64_t handle);
acl_emu_executor *acl_emu_find_executor(uint64_t handle);

/* With the lock held: a new executor and its handle, or NULL where there is no room; and its end. */
acl_emu_executor *acl_emu_new_executor(uint64_t *handle);
void acl_emu_end_executor(uint64_t handle);

/* Quick calls: aclCreateTensor, aclDestroyTensor and aclDestroyAclOpExecutor. */
int acl_emu_create_tensor(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
int acl_emu_destroy_tensor(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
int acl_emu_destroy_executor(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);

/* Copies a tensor, and says how many bytes that is; 0 where it does not live here. */
size_t acl_emu_copy_tensor(uint64_t handle, acl_emu_tensor *tensor);

/* The same, and moves it out: from now on Python has it. ACL_EMU_HELD where executors live here: they have to be moved first. */
#define ACL_EMU_HELD 1
size_t acl_emu_take_tensor(uint64_t handle, acl_emu_tensor *tensor);

/* Moves some executor out and gives its handle; 0 where none lives here. */
uint64_t acl_emu_take_executor(acl_emu_executor *executor);

/* How many live here. */
uint64_t acl_emu_tensor_count(void);
uint64_t acl_emu_executor_count(void);

/* Both phases (calls.c) */

/* What was put on a stream by a quick phase two, or a place for a task of Python. */
typedef struct {
    int64_t place;
    uint64_t number; /* of the plan */
    uint64_t workspace;
    uint64_t addresses[ACL_EMU_TENSORS];
} acl_emu_launch;

/* A stream, as far as C knows it. */
typedef struct {
    acl_emu_bell bell;
    int rings; /* whether the background thread is told of tasks */
    acl_emu_launch *launches; /* a ring of `room` */
    size_t first, count, room;
} acl_emu_lane;

/* The phases of an operator: bit i of `tensors` is set where parameter i is a tensor; the others are plain numbers. */
void acl_emu_declare(uint32_t phase_one, uint32_t phase_two, uint32_t parameters, uint64_t tensors);

/* Remembers what phase one decides for arguments like these, all tensors living here; 0 where it cannot, or there are too many.
 * An empty plan does nothing, a long one is urgent. */
int acl_emu_keep_plan(uint32_t function, const acl_emu_arg *arguments, uint64_t number, uint64_t workspace, int empty, int is_long,
                      uint64_t most);
uint64_t acl_emu_plan_number(const acl_emu_plan *plan);

/* Lets the calling thread put work on a stream, until the epoch changes: as long as it has the context, and the stream lives. */
extern uint64_t acl_emu_epoch;
void acl_emu_permit(uint64_t stream, acl_emu_lane *lane, uint64_t epoch);
void acl_emu_new_epoch(void);

/* Quick calls. */
int acl_emu_phase_one(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
int acl_emu_phase_two(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);

/* The place of a task that Python puts on the stream; the background thread is told of it where it is to be. */
int64_t acl_emu_lane_number(acl_emu_lane *lane, int urgent);

/* Gets the launch with this place; 0 where it is none, or not there yet. */
int acl_emu_lane_next(acl_emu_lane *lane, int64_t place, acl_emu_launch *launch);

/* Nothing is put on the stream any more, and what waits there is dropped. */
void acl_emu_lane_close(acl_emu_lane *lane);

#endif

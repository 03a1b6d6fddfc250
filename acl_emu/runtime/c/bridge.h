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

/* The end of Python (ending.c) */

/* Where calls come in: Python answers them until it ends, then C. */
extern acl_emu_entry acl_emu_python;
extern acl_emu_refusal acl_emu_python_refuses;
int acl_emu_gate(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result, const void *caller);
int acl_emu_refusal_gate(const char *name, acl_emu_arg *result, const void *caller);

/* A function that gives something back, of some kind: whether its argument says which one, or takes all that are equal; its status for a null
 * pointer (-1: there is none) and for what is not alive. */
void acl_emu_set_rule(uint32_t function, uint32_t kind, int takes_one, int takes_all, int64_t of_null, int64_t of_dead);

/* Something that is alive when Python ends; 0 where there is no memory. */
int acl_emu_leave_living(uint32_t kind, uint64_t value);

/* Python ends: only the calling thread may still call it; and nobody any more. */
void acl_emu_begin_end(void);
void acl_emu_end(void);
extern int acl_emu_ended;

/* What the process exits with, whatever the program says. */
void acl_emu_exit_with(int code);

/* Device addresses that the host dereferences (faults.c) */

/* Notes an allocation, for the message, and says where; -1 where there is no memory. And its end. */
int64_t acl_emu_note_allocation(uint64_t address, uint64_t size, uint64_t extent);
void acl_emu_forget_allocation(int64_t place);

/* Explains a SIGSEGV at one of these addresses, and leaves it to whoever handled it before. */
void acl_emu_watch_faults(uint64_t first, uint64_t end, int device);
void acl_emu_unwatch_faults(uint64_t first);

/* Bells (bell.c) */

/* What the background thread of a stream waits on. Tasks are numbered from 1. */
typedef struct {
    int64_t submitted; /* the last task */
    int64_t taken;     /* the last task that has been run, or that a thread is about to run */
    uint32_t rung, urgent, asleep, closed;
    uint32_t gathers; /* whether tasks may gather while more of them come: the last one needs Python's lock */
} acl_emu_bell;

/* Tells of a task; one that is urgent, because it is long or somebody waits for it, is not left to whoever may come to run it. */
void acl_emu_bell_ring(acl_emu_bell *bell, int urgent);

/* Lets the background thread go. */
void acl_emu_bell_close(acl_emu_bell *bell);

/* Waits for a task that nobody else takes: 1. After `idle` nanoseconds without any: 0. When closed: -1. */
int acl_emu_bell_wait(acl_emu_bell *bell, int64_t idle);

/* Objects (objects.c) */

#define ACL_EMU_RANK 8
#define ACL_EMU_TENSORS 12

/* What aclCreateTensor was given. */
typedef struct {
    uint64_t address;
    int64_t rank, storage_rank, has_strides, dtype, format, offset;
    int64_t numbers[3 * ACL_EMU_RANK]; /* dimensions, strides if any, storage dimensions */
} acl_emu_tensor;

typedef struct acl_emu_plan acl_emu_plan;

/* What phase one has made: its plan, and the tensors and their addresses. Executors leave before one of the tensors changes. */
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

/* A repeatable executor that Python has, lent so that phase two need not ask; until Python takes it back, or all that are lent. */
void acl_emu_lend_executor(uint64_t handle, const acl_emu_executor *executor);
void acl_emu_take_back(uint64_t handle);
void acl_emu_take_all_back(void);

/* With the lock held: an executor that is lent, or NULL. */
const acl_emu_executor *acl_emu_find_lent(uint64_t handle);

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

/* Streams (lanes.c) */

#define ACL_EMU_OPERANDS (2 * ACL_EMU_TENSORS)

/* How the engine runs a kernel without Python: acl_emu/engine/library.py, acl_emu/engine/calls.py. */
typedef struct {
    int64_t (*run)(const int64_t *program, const int64_t *addresses, int64_t threads); /* NULL: it cannot */
    const int64_t *program;
    int64_t threads;
    int is_short; /* through before another thread could have used the interpreter */
    uint64_t workspace; /* bytes that have to be there */
    uint64_t operands;
    int64_t places[ACL_EMU_OPERANDS], offsets[ACL_EMU_OPERANDS]; /* which tensor, -1: the workspace, and bytes from its address on */
} acl_emu_native;

/* What phase one of an operator decided. It stays for good. */
struct acl_emu_plan {
    uint64_t number; /* Python's */
    uint64_t operator;
    uint64_t workspace; /* bytes */
    int empty;   /* nothing is done */
    int is_long; /* urgent */
    acl_emu_native native;
};

/* What was put on a stream by a quick phase two. */
typedef struct {
    int64_t place;
    const acl_emu_plan *plan;
    uint64_t workspace;
    uint64_t addresses[ACL_EMU_TENSORS];
} acl_emu_launch;

/* A stream, as far as C knows it. Only the thread that has the turn runs tasks. */
typedef struct {
    acl_emu_bell bell;
    int64_t done; /* the last task that has been run */
    int rings; /* whether the background thread is told of tasks */
    int waits; /* whether synchronizing waits */
    int troubled; /* Python is to be asked before anything is run: there is a failure to tell of, or the context has stopped */
    uintptr_t turn; /* whose it is to run tasks: a number that no other thread has, or 0 */
    int64_t numbered; /* the place that Python got last */
    int closed;
    int ran_short; /* whether the launch that was run last is short */
    int waiting, watchers; /* threads that wait for the turn, and threads that wait without working: Python wakes them */
    unsigned users;
    acl_emu_launch *launches; /* a ring of `room` */
    size_t first, count, room;
} acl_emu_lane;

/* Lanes live as long as somebody uses them. */
acl_emu_lane *acl_emu_lane_new(void);
void acl_emu_lane_leave(acl_emu_lane *lane);

/* Lets the calling thread use a stream, until the epoch changes: as long as it has the context, and the stream lives. */
extern uint64_t acl_emu_epoch;
void acl_emu_permit(uint64_t stream, acl_emu_lane *lane, uint64_t epoch);
void acl_emu_new_epoch(void);

/* With the lock held: the lane of a stream that the calling thread may use, or NULL. */
acl_emu_lane *acl_emu_lane_of(uint64_t stream);

/* With the lock held: puts a launch on a stream; 0 where there is no room. */
int acl_emu_lane_add(acl_emu_lane *lane, const acl_emu_plan *plan, uint64_t workspace, const uint64_t *addresses);

/* Gives a task that Python puts on the stream its place: `numbered`. The background thread is told of it where it is to be. */
void acl_emu_lane_number(acl_emu_lane *lane, int urgent);

/* Becomes the thread that runs the tasks, if there is none; and lets others, if it is. */
int acl_emu_lane_begin(acl_emu_lane *lane);
void acl_emu_lane_end(acl_emu_lane *lane);

/* As the thread that runs the tasks: runs some launches, not beyond `place`, and says how many; 0 where the next task needs Python, is not
 * there yet, or where others wait. */
int64_t acl_emu_lane_run(acl_emu_lane *lane, int64_t place);

/* Whether one short launch is all that comes before `place`. */
int acl_emu_lane_is_short(const acl_emu_lane *lane, int64_t place);

/* For the background thread: waits as acl_emu_bell_wait does, and runs what needs no Python. 1: the rest does. */
int acl_emu_lane_serve(acl_emu_lane *lane, int64_t idle);

/* Copies the launch with this place; 0 where it is none, or not there yet. */
int acl_emu_lane_next(acl_emu_lane *lane, int64_t place, acl_emu_launch *launch);

/* The task or launch with this place is done, and gone. */
void acl_emu_lane_reach(acl_emu_lane *lane, int64_t place);

/* Nothing is put on the stream any more, and what waits there is dropped. */
void acl_emu_lane_close(acl_emu_lane *lane);

/* Where device memory lies: how many regions, and of each the first address, the end, and a number that is the engine's. */
void acl_emu_set_regions(const int64_t *table);
int acl_emu_holds(uint64_t address, uint64_t size);

/* Both phases (calls.c) */

/* The phases of an operator, as the library numbers them: bit i of `tensors` is set where parameter i is a tensor; the others are plain
 * numbers. */
void acl_emu_declare(uint32_t phase_one, uint32_t phase_two, uint64_t operator, uint32_t parameters, uint64_t tensors);

/* A copy of a plan, which stays; NULL where there is no memory. */
const acl_emu_plan *acl_emu_new_plan(const acl_emu_plan *plan);

/* Remembers what phase one decides for arguments like these, all tensors living here; 0 where it cannot, or there are too many. */
int acl_emu_keep_plan(uint32_t function, const acl_emu_arg *arguments, const acl_emu_plan *plan, uint64_t most);

/* Phase two: 1 where it was carried out. */
int acl_emu_start(uint64_t operator, uint64_t workspace, uint64_t size, uint64_t executor, uint64_t stream);

/* Quick calls. */
int acl_emu_phase_one(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
int acl_emu_phase_two(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);

/* What calls from Python need of all this (door.c): another library, which gets it as a table. */
typedef struct {
    const int *open;
    void (*lock)(void), (*unlock)(void);
    acl_emu_executor *(*new_executor)(uint64_t *handle);
    int (*destroy_executor)(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
    int (*start)(uint64_t operator, uint64_t workspace, uint64_t size, uint64_t executor, uint64_t stream);
    acl_emu_lane *(*lane_of)(uint64_t stream);
    int (*lane_begin)(acl_emu_lane *lane);
    int (*lane_is_short)(const acl_emu_lane *lane, int64_t place);
    int64_t (*lane_run)(acl_emu_lane *lane, int64_t place);
    void (*lane_end)(acl_emu_lane *lane);
    void (*lane_leave)(acl_emu_lane *lane);
} acl_emu_inside;
const acl_emu_inside *acl_emu_table(void);

#endif

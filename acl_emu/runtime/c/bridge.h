/* What the Python side has in C: access to the program's memory, the objects of acl_meta.h, the plan cache, both phases of operator calls that
 * were seen before, and what background threads wait on. */
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

/* Whether so many bytes can be read. */
int acl_emu_readable(const void *bytes, size_t size);

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

/* With the lock held: notes an allocation, for the message, and says where; -1 where there is no memory. And its end. */
int64_t acl_emu_note_allocation(uint64_t address, uint64_t size, uint64_t extent);
void acl_emu_forget_allocation(int64_t place);

/* Explains a SIGSEGV at one of these addresses, and leaves it to whoever handled it before. */
void acl_emu_watch_faults(uint64_t first, uint64_t end, int device);
void acl_emu_unwatch_faults(uint64_t first);

/* Wakeups (wakeup.c) */

/* What the background thread of a stream waits on. Tasks are numbered from 1. */
typedef struct {
    int64_t submitted; /* the last task */
    int64_t taken;     /* the last task that has been run, or that a thread is about to run */
    uint32_t signalled, urgent, asleep, closed;
    uint32_t gathers; /* whether tasks may gather while more of them come: the last one needs Python's lock */
} acl_emu_wakeup;

/* Tells of a task; one that is urgent, because it is long or somebody waits for it, is not left to whoever may come to run it. */
void acl_emu_wakeup_signal(acl_emu_wakeup *wakeup, int urgent);

/* Lets the background thread go. */
void acl_emu_wakeup_close(acl_emu_wakeup *wakeup);

/* Waits for a task that nobody else takes: 1. After `idle` nanoseconds without any: 0. When closed: -1. */
int acl_emu_wakeup_wait(acl_emu_wakeup *wakeup, int64_t idle);

/* Objects (objects.c) */

#define ACL_EMU_RANK 25 /* dimensions that a tensor has room for */
#define ACL_EMU_INLINE 12

/* The kinds of objects, and of parameters that are handles. */
enum {
    ACL_EMU_TENSOR = 1,
    ACL_EMU_SCALAR,
    ACL_EMU_INT_ARRAY,
    ACL_EMU_FLOAT_ARRAY,
    ACL_EMU_BOOL_ARRAY,
    ACL_EMU_TENSOR_LIST,
    ACL_EMU_SCALAR_LIST,
    ACL_EMU_EXECUTOR,
    ACL_EMU_KINDS
};

/* What all objects begin with. An object whose handle is dead lives on while it is referred to. */
typedef struct {
    uint32_t references;
    uint32_t kind;
} acl_emu_object;

/* An aclTensor. */
typedef struct {
    acl_emu_object object;
    uint64_t address;
    int64_t rank, storage_rank, dtype, format, offset;
    int64_t start; /* the offset in bytes; 0 where it is negative */
    int64_t *numbers; /* dimensions, strides, storage dimensions */
    int64_t own_numbers[ACL_EMU_INLINE]; /* where few of them lie */
} acl_emu_tensor;

/* A scalar: its type, and its bytes in two words. An array: its values, a word each, those of floats as their bits. A list: handles. */
typedef struct {
    acl_emu_object object;
    uint64_t count;
    int64_t words[];
} acl_emu_values;

typedef struct acl_emu_plan acl_emu_plan;

/* The tensors of a call, with the addresses of their first elements. Executors and launches share it. */
typedef struct {
    uint32_t references;
    uint32_t count;
    struct {
        acl_emu_tensor *tensor; /* NULL: the parameter was null */
        int64_t start; /* as it was in phase one */
        uint64_t address; /* as it was in phase two */
    } items[];
} acl_emu_operands;

/* What phase one has made. */
typedef struct {
    acl_emu_object object;
    int repeatable;
    acl_emu_plan *plan;
    acl_emu_operands *operands;
} acl_emu_executor;

/* Set while calls need not go through Python: nobody watches. */
extern int acl_emu_open;

/* All of the objects, plans and queues are only touched with this lock held. */
void acl_emu_lock(void);
void acl_emu_unlock(void);

/* A data type: bits of an element in memory, and bytes of a scalar, 0 where there are none. */
void acl_emu_set_dtype(int64_t code, int64_t bits, int64_t scalar_bytes);

/* With the lock held: the living object of a kind behind a handle, or NULL. */
void *acl_emu_find(uint64_t handle, uint32_t kind);

/* With the lock held: a new executor and its handle, or NULL where there is no memory. It takes over the references to plan and operands. */
acl_emu_executor *acl_emu_new_executor(acl_emu_plan *plan, acl_emu_operands *operands, uint64_t *handle);

/* With the lock held: operands for so many tensors, to which they refer; NULL where there is no memory. */
acl_emu_operands *acl_emu_new_operands(acl_emu_tensor *const *tensors, size_t count);
void acl_emu_release_operands(acl_emu_operands *operands);

/* With the lock held: the operands of a launch, with today's addresses, to which the caller has a reference; NULL where there is no memory. */
acl_emu_operands *acl_emu_take_operands(acl_emu_executor *executor);

/* With the lock held: ends the life of a handle that is alive. */
void acl_emu_retire(uint64_t handle);

/* New objects, for Python: a handle, or 0 where there is no memory. `numbers` are those of the tensor. */
uint64_t acl_emu_make_tensor(const int64_t *numbers, int64_t rank, int64_t storage_rank, int64_t dtype, int64_t format, int64_t offset, uint64_t address);
uint64_t acl_emu_make_values(uint32_t kind, const int64_t *words, uint64_t count);

/* Describes a tensor anew, with other memory if `address` is not 0; moves it to other memory; 0 where it is not alive, or there is no memory. */
int acl_emu_change_tensor(uint64_t handle, const int64_t *numbers, int64_t rank, int64_t storage_rank, int64_t dtype, int64_t format, int64_t offset, uint64_t address);
int acl_emu_set_address(uint64_t handle, uint64_t address);

/* The same for a tensor of an executor, dead or alive. */
int acl_emu_set_operand(uint64_t executor, uint32_t place, uint64_t address);

/* Executors that run again and again: whether it is one; makes it one. */
int acl_emu_is_repeatable(uint64_t executor);
int acl_emu_make_repeatable(uint64_t executor);

/* Copies an object as words, at most `capacity`, and says how many it has; *kind is 0 where it is not alive. A tensor: address, rank, rank of the
 * storage, type, format, offset, numbers. An executor: the number of its plan, then the addresses of its tensors. */
uint64_t acl_emu_read(uint64_t handle, uint32_t *kind, int64_t *words, uint64_t capacity);

/* How many of a kind are alive; and the handles of all, at most `capacity`. */
uint64_t acl_emu_alive(uint32_t kind);
uint64_t acl_emu_handles(uint64_t *handles, uint64_t capacity);

/* Destroys an object, and the members of a list with it: 1; 2 where it is one that its list has destroyed, which is let pass once; else 0. */
int acl_emu_destroy(uint32_t kind, uint64_t handle);

/* The functions of acl_meta.h that C carries out. */
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

/* Plans (plans.c) */

#define ACL_EMU_OPERANDS 24

/* How the engine runs a kernel without Python: acl_emu/engine/bindings.py, acl_emu/engine/calls.py. */
typedef struct {
    int64_t (*run)(const int64_t *program, const int64_t *addresses, int64_t threads); /* NULL: it cannot */
    const int64_t *program;
    int64_t threads;
    int is_short; /* done before another thread could have used the interpreter */
    uint64_t workspace; /* bytes that have to be there */
    uint64_t operands;
    int64_t places[ACL_EMU_OPERANDS], offsets[ACL_EMU_OPERANDS]; /* which tensor, -1: the workspace, and bytes from its address on */
} acl_emu_native;

/* What phase one of an operator decided. The cache, executors and launches refer to it. */
struct acl_emu_plan {
    uint64_t number; /* Python's */
    uint64_t operator;
    uint64_t workspace; /* bytes */
    int empty;   /* nothing is done */
    int is_long; /* urgent */
    uint32_t references;
    uint32_t parts; /* kernels, run one after the other; 0: Python runs it */
    acl_emu_native natives[];
};

/* How arguments that are no handles are compared. */
enum { ACL_EMU_NUMBER = 16, ACL_EMU_BOOL, ACL_EMU_STRING };

/* The parameters of phase one: of each its kind, and the place of one that replaces it where that is not null, or -1. 0 where there
 * is no memory, or the number has been declared before. */
int acl_emu_declare(uint64_t operator, uint32_t count, const uint8_t *kinds, const int8_t *unless);

/* The functions of an operator, as the library numbers them. */
void acl_emu_connect_operator(uint32_t phase_one, uint32_t phase_two, uint64_t operator);

/* A new plan with one reference, like the one given, its kernels in `natives`; NULL where there is no memory. And the end of a reference. */
acl_emu_plan *acl_emu_new_plan(const acl_emu_plan *described, const acl_emu_native *natives);
void acl_emu_release_plan(acl_emu_plan *plan);

/* Phase one: 1 where the plan is known, and an executor is made. 0 where it is not: *hash stands for all that the plan depends on. -1 where a
 * handle is not alive. */
int acl_emu_plan_call(uint64_t operator, const acl_emu_arg *arguments, uint64_t *hash, uint64_t *workspace, uint64_t *executor);

/* Makes an executor of a plan, to which the caller has a reference, and keeps the plan unless what it depends on has changed; at most `most` plans
 * are kept. 0 where a handle is not alive any more, or there is no memory. */
uint64_t acl_emu_adopt_plan(uint64_t operator, const acl_emu_arg *arguments, uint64_t hash, acl_emu_plan *plan, uint64_t most);

/* Forgets all plans; how many are kept; and numbers of plans that are gone for good, at most `capacity` at a time. */
void acl_emu_forget_plans(void);
uint64_t acl_emu_plan_count(void);
uint64_t acl_emu_gone_plans(uint64_t *numbers, uint64_t capacity);

/* Phase two: 1 where it was carried out. */
int acl_emu_start(uint64_t operator, uint64_t workspace, uint64_t size, uint64_t executor, uint64_t stream);

/* Both, for C programs. */
int acl_emu_phase_one(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
int acl_emu_phase_two(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);

/* Streams (stream_queue.c) */

/* What was put on a stream by phase two in C. It refers to plan and operands. */
typedef struct {
    int64_t place;
    acl_emu_plan *plan;
    acl_emu_operands *operands;
    uint64_t workspace;
    uint32_t done; /* kernels of the plan that have been run */
} acl_emu_launch;

/* A stream, as far as C knows it. Only the thread that has the turn runs tasks. */
typedef struct {
    acl_emu_wakeup wakeup;
    int64_t done; /* the last task that has been run */
    int signals; /* whether the background thread is told of tasks */
    int waits; /* whether synchronizing waits */
    int troubled; /* Python is to be asked before anything is run: there is a failure to tell of, or the context has stopped */
    uintptr_t turn; /* whose it is to run tasks: a number that no other thread has, or 0 */
    int64_t numbered; /* the place that Python got last */
    int closed;
    int ran_short; /* whether the launch that was run last is short */
    int waiting, watchers; /* threads that wait for the turn, and threads that wait without working: Python wakes them */
    unsigned users;
    acl_emu_launch *launches; /* a ring buffer of `capacity` */
    size_t first, count, capacity;
} acl_emu_queue;

/* Queues live as long as somebody uses them. */
acl_emu_queue *acl_emu_queue_new(void);
void acl_emu_queue_leave(acl_emu_queue *queue);

/* Remembers that the calling thread may use a stream, until the epoch changes: as long as it has the context, and the stream lives. */
extern uint64_t acl_emu_epoch;
void acl_emu_remember_stream(uint64_t stream, acl_emu_queue *queue, uint64_t epoch);
void acl_emu_new_epoch(void);

/* With the lock held: the queue of a stream that the calling thread may use, or NULL. */
acl_emu_queue *acl_emu_queue_of(uint64_t stream);

/* With the lock held: puts a launch on a stream, which takes over the reference to the operands; 0 where there is no memory, or it is
 * closed. */
int acl_emu_queue_add(acl_emu_queue *queue, acl_emu_plan *plan, acl_emu_operands *operands, uint64_t workspace);

/* Gives a task that Python puts on the stream its place: `numbered`. The background thread is told of it where it is to be. */
void acl_emu_queue_number(acl_emu_queue *queue, int urgent);

/* Becomes the thread that runs the tasks, if there is none; and lets others, if it is. */
int acl_emu_queue_begin(acl_emu_queue *queue);
void acl_emu_queue_end(acl_emu_queue *queue);

/* As the thread that runs the tasks: runs some launches, not beyond `place`, and says how many; 0 where the next task needs Python, is not
 * there yet, or where others wait. */
int64_t acl_emu_queue_run(acl_emu_queue *queue, int64_t place);

/* Whether one short launch is all that comes before `place`. */
int acl_emu_queue_is_short(const acl_emu_queue *queue, int64_t place);

/* For the background thread: waits as acl_emu_wakeup_wait does, and runs what needs no Python. 1: the rest does. */
int acl_emu_queue_serve(acl_emu_queue *queue, int64_t idle);

/* Copies the launch with this place, with references of its own; 0 where it is none, or not there yet. And their end. */
int acl_emu_queue_next(acl_emu_queue *queue, int64_t place, acl_emu_launch *launch);
void acl_emu_release_launch(acl_emu_launch *launch);

/* What a launch of an executor refers to, plan and operands, with references of its own; 0 where it is not alive, or there is no memory. */
int acl_emu_launch_of(uint64_t executor, acl_emu_launch *launch);

/* Gives a tensor of a launch, dead or alive, the shape that its data have decided. */
void acl_emu_set_shape(const acl_emu_launch *launch, uint32_t place, int64_t rank, const int64_t *dims, const int64_t *strides);

/* The addresses of a launch's tensors, at most `capacity`, and how many there are. */
uint32_t acl_emu_addresses(const acl_emu_launch *launch, uint64_t *addresses, uint32_t capacity);

/* The task or launch with this place is done, and gone. */
void acl_emu_queue_reach(acl_emu_queue *queue, int64_t place);

/* aclrtSynchronizeStream, for C programs. */
int acl_emu_synchronize(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);

/* Nothing is put on the stream any more, and what waits there is dropped. */
void acl_emu_queue_close(acl_emu_queue *queue);

/* Device memory (memory.c) */

#define ACL_EMU_PLAIN_POLICIES 5 /* the last policy of aclrtMalloc whose memory has padding */

typedef struct acl_emu_memory acl_emu_memory;

typedef struct {
    uint64_t address, size, extent; /* what was asked for, and what belongs to it */
    uint64_t number; /* no other allocation of the memory has it */
    int64_t policy;
    int64_t noted; /* where acl_emu_note_allocation has it */
} acl_emu_allocation;

typedef struct {
    uint64_t available, used, peak; /* bytes */
    uint64_t mapped_end; /* the first address behind mapped memory */
} acl_emu_usage;

/* The memory of a device: its addresses, where kernels find them, and how much of it may be used. NULL where there is no memory. When it is
 * closed nothing can be allocated there any more; its usage can still be read. */
acl_emu_memory *acl_emu_memory_new(uint64_t start, uint64_t end, uint64_t backing, uint64_t available);
void acl_emu_memory_close(acl_emu_memory *memory);
const acl_emu_usage *acl_emu_memory_usage(const acl_emu_memory *memory);

/* Counts bytes that are allocated without an address, or fewer than before; 0 where they do not fit. */
int acl_emu_memory_take(acl_emu_memory *memory, int64_t bytes);

/* An address, or 0 where there is no capacity; gives one back, and says what it was, if anybody asks: 0 where nothing living begins there. */
uint64_t acl_emu_memory_allocate(acl_emu_memory *memory, uint64_t size, uint64_t padding, int64_t policy);
int acl_emu_memory_free(uint64_t address, acl_emu_allocation *freed);

/* The allocation that begins last at or below an address; 0 where there is none. And where all begin, at most `capacity`, and how many there are. */
int acl_emu_memory_find(const acl_emu_memory *memory, uint64_t address, acl_emu_allocation *found);
uint64_t acl_emu_memory_addresses(const acl_emu_memory *memory, uint64_t *addresses, uint64_t capacity);

/* Remembers the memory of the calling thread's device, and what aclrtMalloc adds, until the epoch changes. */
void acl_emu_remember_memory(acl_emu_memory *memory, uint64_t padding, uint64_t epoch);

/* Where device memory lies: how many regions, and of each the first address, the end of mapped memory, and a number that is the engine's. */
void acl_emu_set_regions(int64_t *table);
int acl_emu_holds(uint64_t address, uint64_t size);

/* The functions of acl_rt.h that C carries out. */
int acl_emu_malloc(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
int acl_emu_free(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);
int acl_emu_memcpy(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);

/* What calls from Python need of all this (fast_path.c): another library, which gets it as a table. */
typedef struct {
    const int *open;
    void (*lock)(void), (*unlock)(void);
    int (*plan_call)(uint64_t operator, const acl_emu_arg *arguments, uint64_t *hash, uint64_t *workspace, uint64_t *executor);
    int (*destroy)(uint32_t kind, uint64_t handle);
    int (*start)(uint64_t operator, uint64_t workspace, uint64_t size, uint64_t executor, uint64_t stream);
    acl_emu_queue *(*queue_of)(uint64_t stream);
    int (*queue_begin)(acl_emu_queue *queue);
    int (*queue_is_short)(const acl_emu_queue *queue, int64_t place);
    int64_t (*queue_run)(acl_emu_queue *queue, int64_t place);
    void (*queue_end)(acl_emu_queue *queue);
    void (*queue_leave)(acl_emu_queue *queue);
} acl_emu_inside;
const acl_emu_inside *acl_emu_table(void);

#endif

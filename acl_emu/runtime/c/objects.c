/* Tensors that a C program has made and executors of quick calls: they live here until Python is asked about them.
 *
 * A handle is a slot and how often the slot has been used before, above the numbers that Python gives out, so that no handle comes
 * twice. Whatever is not plain is left to Python: its errors are the errors of both ways.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

#define FIRST_HANDLE 0x5AC1800000000000u /* handles.IN_C */
#define STEP_BITS 4
#define SLOT_BITS 20
#define USE_BITS 23 /* 47 in all, below the next family of handles */
#define BLOCK 256
#define LENT 256

enum kind { NOTHING, TENSOR, EXECUTOR, KINDS };

typedef struct {
    enum kind kind;
    uint32_t use; /* the number in the handle of the object, or of the next one */
    uint32_t next;
    union {
        acl_emu_tensor tensor;
        acl_emu_executor executor;
    };
} slot;

static slot *blocks[(1 << SLOT_BITS) / BLOCK];
static uint32_t slots, free_slots; /* number of slots; the first free one plus one */
static uint64_t alive[KINDS];
static struct {
    uint64_t handle;
    acl_emu_executor executor;
} lent[LENT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int acl_emu_open;

void acl_emu_lock(void)
{
    pthread_mutex_lock(&lock);
}

void acl_emu_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void prepare(void)
{
    pthread_atfork(acl_emu_lock, acl_emu_unlock, acl_emu_unlock);
}

static slot *slot_at(uint32_t index)
{
    return &blocks[index / BLOCK][index % BLOCK];
}

static uint64_t handle_of(uint32_t index)
{
    return FIRST_HANDLE + ((((uint64_t)slot_at(index)->use << SLOT_BITS) | index) << STEP_BITS);
}

/* A slot for a new object, or NULL. */
static slot *take_slot(enum kind kind, uint64_t *handle)
{
    uint32_t index;
    if (free_slots) {
        index = free_slots - 1;
        free_slots = slot_at(index)->next;
    } else {
        if (slots == 1u << SLOT_BITS || (slots % BLOCK == 0 && !(blocks[slots / BLOCK] = calloc(BLOCK, sizeof(slot)))))
            return NULL;
        index = slots++;
    }
    slot *taken = slot_at(index);
    taken->kind = kind;
    alive[kind]++;
    *handle = handle_of(index);
    return taken;
}

static slot *find(uint64_t handle, enum kind kind)
{
    uint64_t number = (handle - FIRST_HANDLE) >> STEP_BITS;
    uint32_t index = number & ((1u << SLOT_BITS) - 1);
    if (handle < FIRST_HANDLE || handle & ((1u << STEP_BITS) - 1) || number >> (SLOT_BITS + USE_BITS) || index >= slots)
        return NULL;
    slot *found = slot_at(index);
    return found->kind == kind && found->use == number >> SLOT_BITS ? found : NULL;
}

static void leave_slot(slot *used, uint64_t handle)
{
    alive[used->kind]--;
    used->kind = NOTHING;
    if (++used->use < 1u << USE_BITS) { /* the last number of a slot is not followed by another */
        used->next = free_slots;
        free_slots = (uint32_t)(((handle - FIRST_HANDLE) >> STEP_BITS) & ((1u << SLOT_BITS) - 1)) + 1;
    }
}

acl_emu_tensor *acl_emu_find_tensor(uint64_t handle)
{
    slot *found = find(handle, TENSOR);
    return found ? &found->tensor : NULL;
}

acl_emu_executor *acl_emu_find_executor(uint64_t handle)
{
    slot *found = find(handle, EXECUTOR);
    return found ? &found->executor : NULL;
}

acl_emu_executor *acl_emu_new_executor(uint64_t *handle)
{
    slot *made = take_slot(EXECUTOR, handle);
    return made ? &made->executor : NULL;
}

void acl_emu_end_executor(uint64_t handle)
{
    leave_slot(find(handle, EXECUTOR), handle);
}

/* Python's handles are numbers in a row: those of one time have places of their own. */
static unsigned lent_place(uint64_t handle)
{
    return (handle >> STEP_BITS) % LENT;
}

void acl_emu_lend_executor(uint64_t handle, const acl_emu_executor *executor)
{
    unsigned place = lent_place(handle);
    acl_emu_lock();
    lent[place].handle = handle;
    lent[place].executor = *executor;
    acl_emu_unlock();
}

void acl_emu_take_back(uint64_t handle)
{
    unsigned place = lent_place(handle);
    acl_emu_lock();
    if (lent[place].handle == handle)
        lent[place].handle = 0;
    acl_emu_unlock();
}

void acl_emu_take_all_back(void)
{
    acl_emu_lock();
    for (unsigned place = 0; place < LENT; place++)
        lent[place].handle = 0;
    acl_emu_unlock();
}

const acl_emu_executor *acl_emu_find_lent(uint64_t handle)
{
    unsigned place = lent_place(handle);
    return handle && lent[place].handle == handle ? &lent[place].executor : NULL;
}

/* aclCreateTensor(viewDims, viewDimsNum, dataType, stride, offset, format, storageDims, storageDimsNum, tensorData) */
int acl_emu_create_tensor(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    (void)function;
    const int64_t *dims = arguments[0].p, *strides = arguments[3].p, *storage = arguments[6].p;
    uint64_t rank = arguments[1].u, storage_rank = arguments[7].u;
    if (!__atomic_load_n(&acl_emu_open, __ATOMIC_RELAXED) || rank > ACL_EMU_RANK || storage_rank > ACL_EMU_RANK || (!dims && rank) ||
        (!storage && storage_rank))
        return 0;
    if (!acl_emu_readable(dims, rank) || (strides && !acl_emu_readable(strides, rank)) ||
        ((storage != dims || storage_rank > rank) && !acl_emu_readable(storage, storage_rank)))
        return 0;
    acl_emu_lock();
    slot *made = take_slot(TENSOR, &result->u);
    if (made) {
        acl_emu_tensor *tensor = &made->tensor;
        int64_t *next = tensor->numbers;
        tensor->address = arguments[8].u;
        tensor->rank = (int64_t)rank;
        tensor->storage_rank = (int64_t)storage_rank;
        tensor->has_strides = strides != NULL;
        tensor->dtype = arguments[2].i;
        tensor->format = arguments[5].i;
        tensor->offset = arguments[4].i;
        memcpy(next, dims, rank * sizeof *next);
        next += rank;
        if (strides) {
            memcpy(next, strides, rank * sizeof *next);
            next += rank;
        }
        memcpy(next, storage, storage_rank * sizeof *next);
    }
    acl_emu_unlock();
    return made != NULL;
}

/* Copies what a tensor has, and says how many bytes that is. */
static size_t copy(const acl_emu_tensor *tensor, acl_emu_tensor *target)
{
    int64_t count = tensor->rank * (1 + tensor->has_strides) + tensor->storage_rank;
    size_t size = offsetof(acl_emu_tensor, numbers) + (size_t)count * sizeof *tensor->numbers;
    memcpy(target, tensor, size);
    return size;
}

static int destroy(enum kind kind, uint64_t handle, acl_emu_arg *result)
{
    if (!__atomic_load_n(&acl_emu_open, __ATOMIC_RELAXED))
        return 0;
    acl_emu_lock();
    slot *found = find(handle, kind);
    if (found)
        leave_slot(found, handle);
    acl_emu_unlock();
    result->i = 0;
    return found != NULL;
}

int acl_emu_destroy_tensor(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    (void)function;
    return destroy(TENSOR, arguments[0].u, result);
}

int acl_emu_destroy_executor(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    (void)function;
    return destroy(EXECUTOR, arguments[0].u, result);
}

size_t acl_emu_copy_tensor(uint64_t handle, acl_emu_tensor *tensor)
{
    acl_emu_lock();
    const slot *found = find(handle, TENSOR);
    size_t size = found ? copy(&found->tensor, tensor) : 0;
    acl_emu_unlock();
    return size;
}

size_t acl_emu_take_tensor(uint64_t handle, acl_emu_tensor *tensor)
{
    size_t size = 0;
    acl_emu_lock();
    slot *found = find(handle, TENSOR);
    if (found && alive[EXECUTOR])
        size = ACL_EMU_HELD;
    else if (found) {
        size = copy(&found->tensor, tensor);
        leave_slot(found, handle);
    }
    acl_emu_unlock();
    return size;
}

uint64_t acl_emu_take_executor(acl_emu_executor *executor)
{
    uint64_t handle = 0;
    acl_emu_lock();
    for (uint32_t index = 0; alive[EXECUTOR] && index < slots && !handle; index++) {
        slot *found = slot_at(index);
        if (found->kind == EXECUTOR) {
            handle = handle_of(index);
            *executor = found->executor;
            leave_slot(found, handle);
        }
    }
    acl_emu_unlock();
    return handle;
}

uint64_t acl_emu_tensor_count(void)
{
    return __atomic_load_n(&alive[TENSOR], __ATOMIC_RELAXED);
}

uint64_t acl_emu_executor_count(void)
{
    return __atomic_load_n(&alive[EXECUTOR], __ATOMIC_RELAXED);
}

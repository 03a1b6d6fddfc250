/* Tensors that a C program has made and nobody has used yet: they live here, and Python takes those that it is asked about.
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

typedef struct {
    acl_emu_tensor tensor;
    uint32_t use; /* the number in the handle of the tensor, or of the next one */
    uint32_t next;
    int alive;
} slot;

static slot *blocks[(1 << SLOT_BITS) / BLOCK];
static uint32_t slots, free_slots; /* number of slots; the first free one plus one */
static uint64_t alive;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int acl_emu_tensors_open;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void prepare(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static slot *slot_at(uint32_t index)
{
    return &blocks[index / BLOCK][index % BLOCK];
}

/* A free slot, or -1. */
static int64_t take_slot(void)
{
    if (free_slots) {
        uint32_t index = free_slots - 1;
        free_slots = slot_at(index)->next;
        return index;
    }
    if (slots == 1u << SLOT_BITS)
        return -1;
    if (slots % BLOCK == 0 && !(blocks[slots / BLOCK] = calloc(BLOCK, sizeof(slot))))
        return -1;
    return slots++;
}

/* The slot of a living tensor, or NULL. */
static slot *find(uint64_t handle, uint32_t *index)
{
    uint64_t number = (handle - FIRST_HANDLE) >> STEP_BITS;
    *index = number & ((1u << SLOT_BITS) - 1);
    if (handle < FIRST_HANDLE || handle & ((1u << STEP_BITS) - 1) || number >> (SLOT_BITS + USE_BITS) || *index >= slots)
        return NULL;
    slot *found = slot_at(*index);
    return found->alive && found->use == number >> SLOT_BITS ? found : NULL;
}

static void leave_slot(slot *used, uint32_t index)
{
    used->alive = 0;
    alive--;
    if (++used->use < 1u << USE_BITS) { /* the last number of a slot is not followed by another */
        used->next = free_slots;
        free_slots = index + 1;
    }
}

/* aclCreateTensor(viewDims, viewDimsNum, dataType, stride, offset, format, storageDims, storageDimsNum, tensorData) */
int acl_emu_create_tensor(acl_emu_arg *arguments, acl_emu_arg *result)
{
    const int64_t *dims = arguments[0].p, *strides = arguments[3].p, *storage = arguments[6].p;
    uint64_t rank = arguments[1].u, storage_rank = arguments[7].u;
    if (!__atomic_load_n(&acl_emu_tensors_open, __ATOMIC_RELAXED) || rank > ACL_EMU_TENSOR_RANK || storage_rank > ACL_EMU_TENSOR_RANK ||
        (!dims && rank) || (!storage && storage_rank))
        return 0;
    if (!acl_emu_readable(dims, rank) || (strides && !acl_emu_readable(strides, rank)) ||
        ((storage != dims || storage_rank > rank) && !acl_emu_readable(storage, storage_rank)))
        return 0;
    pthread_mutex_lock(&lock);
    int64_t index = take_slot();
    if (index >= 0) {
        slot *made = slot_at((uint32_t)index);
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
        made->alive = 1;
        alive++;
        result->u = FIRST_HANDLE + ((((uint64_t)made->use << SLOT_BITS) | (uint64_t)index) << STEP_BITS);
    }
    pthread_mutex_unlock(&lock);
    return index >= 0;
}

int acl_emu_destroy_tensor(acl_emu_arg *arguments, acl_emu_arg *result)
{
    if (!__atomic_load_n(&acl_emu_tensors_open, __ATOMIC_RELAXED))
        return 0;
    uint32_t index;
    pthread_mutex_lock(&lock);
    slot *found = find(arguments[0].u, &index);
    if (found)
        leave_slot(found, index);
    pthread_mutex_unlock(&lock);
    result->i = 0;
    return found != NULL;
}

size_t acl_emu_take_tensor(uint64_t handle, acl_emu_tensor *tensor)
{
    size_t size = 0;
    uint32_t index;
    pthread_mutex_lock(&lock);
    slot *found = find(handle, &index);
    if (found) {
        const acl_emu_tensor *made = &found->tensor;
        int64_t count = made->rank * (1 + made->has_strides) + made->storage_rank;
        size = offsetof(acl_emu_tensor, numbers) + (size_t)count * sizeof *made->numbers;
        memcpy(tensor, made, size);
        leave_slot(found, index);
    }
    pthread_mutex_unlock(&lock);
    return size;
}

uint64_t acl_emu_tensor_count(void)
{
    pthread_mutex_lock(&lock);
    uint64_t count = alive;
    pthread_mutex_unlock(&lock);
    return count;
}

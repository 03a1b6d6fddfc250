/* The objects of acl_meta.h: tensors, scalars, arrays, lists and executors. They live here; programs, Python ones too, hold handles.
 *
 * A handle is a slot and how often the slot has been used before, above the numbers that Python gives out, so that no handle comes
 * twice. Calls with anything out of the ordinary are left to Python, which has the words for what is wrong.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

#define FIRST_HANDLE 0x5AC1800000000000u /* handles.IN_C */
#define STEP_BITS 4
#define SLOT_BITS 22
#define USE_BITS 21 /* 47 in all, below the next family of handles */
#define BLOCK 256
#define REMEMBERED 4096 /* members that their list has destroyed */
#define DTYPES 64
#define MOST_BYTES 4096 /* of an array that is copied here */

typedef struct {
    acl_emu_object *object; /* NULL: the slot is free */
    uint32_t use; /* the number in the handle of the object, or of the next one */
    uint32_t next;
} slot;

static slot *blocks[(1 << SLOT_BITS) / BLOCK];
static uint32_t slots, free_slots; /* number of slots; the first free one plus one */
static uint64_t alive[ACL_EMU_KINDS];
static struct {
    uint64_t handle;
    uint32_t kind;
} gone_with_list[REMEMBERED];
static struct {
    int64_t bits, scalar_bytes;
} dtypes[DTYPES];
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

void acl_emu_set_dtype(int64_t code, int64_t bits, int64_t scalar_bytes)
{
    if (code >= 0 && code < DTYPES) {
        dtypes[code].bits = bits;
        dtypes[code].scalar_bytes = scalar_bytes;
    }
}

/* Handles */

static slot *slot_at(uint32_t index)
{
    return &blocks[index / BLOCK][index % BLOCK];
}

static uint32_t index_of(uint64_t handle)
{
    return ((handle - FIRST_HANDLE) >> STEP_BITS) & ((1u << SLOT_BITS) - 1);
}

static uint64_t handle_of(uint32_t index)
{
    return FIRST_HANDLE + ((((uint64_t)slot_at(index)->use << SLOT_BITS) | index) << STEP_BITS);
}

/* The handle of a new object, which has one reference for it; 0 where there is no memory. */
static uint64_t issue(acl_emu_object *object, uint32_t kind)
{
    uint32_t index;
    if (free_slots) {
        index = free_slots - 1;
        free_slots = slot_at(index)->next;
    } else {
        if (slots == 1u << SLOT_BITS || (slots % BLOCK == 0 && !(blocks[slots / BLOCK] = calloc(BLOCK, sizeof(slot)))))
            return 0;
        index = slots++;
    }
    object->kind = kind;
    object->references = 1;
    slot_at(index)->object = object;
    __atomic_store_n(&alive[kind], alive[kind] + 1, __ATOMIC_RELAXED);
    return handle_of(index);
}

static slot *find_slot(uint64_t handle)
{
    uint64_t number = (handle - FIRST_HANDLE) >> STEP_BITS;
    if (handle < FIRST_HANDLE || handle & ((1u << STEP_BITS) - 1) || number >> (SLOT_BITS + USE_BITS) || index_of(handle) >= slots)
        return NULL;
    slot *found = slot_at(index_of(handle));
    return found->object && found->use == number >> SLOT_BITS ? found : NULL;
}

void *acl_emu_find(uint64_t handle, uint32_t kind)
{
    slot *found = find_slot(handle);
    return found && found->object->kind == kind ? found->object : NULL;
}

static void free_tensor(acl_emu_tensor *tensor)
{
    if (tensor->numbers != tensor->own_numbers)
        free(tensor->numbers);
    free(tensor);
}

static void release(acl_emu_object *object)
{
    if (--object->references)
        return;
    if (object->kind == ACL_EMU_TENSOR) {
        free_tensor((acl_emu_tensor *)object);
        return;
    }
    if (object->kind == ACL_EMU_EXECUTOR) {
        acl_emu_executor *executor = (acl_emu_executor *)object;
        acl_emu_release_plan(executor->plan);
        acl_emu_release_operands(executor->operands);
    }
    free(object);
}

void acl_emu_retire(uint64_t handle)
{
    slot *used = find_slot(handle);
    acl_emu_object *object = used->object;
    __atomic_store_n(&alive[object->kind], alive[object->kind] - 1, __ATOMIC_RELAXED);
    used->object = NULL;
    if (++used->use < 1u << USE_BITS) { /* the last number of a slot is not followed by another */
        used->next = free_slots;
        free_slots = index_of(handle) + 1;
    }
    release(object);
}

uint64_t acl_emu_alive(uint32_t kind)
{
    return __atomic_load_n(&alive[kind], __ATOMIC_RELAXED);
}

uint64_t acl_emu_handles(uint64_t *handles, uint64_t capacity)
{
    uint64_t count = 0;
    acl_emu_lock();
    for (uint32_t index = 0; index < slots && count < capacity; index++) {
        if (slot_at(index)->object)
            handles[count++] = handle_of(index);
    }
    acl_emu_unlock();
    return count;
}

/* Tensors */

static int64_t bytes_from(int64_t offset, int64_t dtype)
{
    int64_t bits = dtype >= 0 && dtype < DTYPES ? dtypes[dtype].bits : 0;
    return offset <= 0 ? 0 : bits < 8 ? (int64_t)((uint64_t)offset * (uint64_t)bits) / 8 : (int64_t)((uint64_t)offset * (uint64_t)(bits / 8));
}

/* Room for as many numbers as a tensor with these ranks has; NULL where there is no memory. */
static int64_t *numbers_for(acl_emu_tensor *tensor, int64_t rank, int64_t storage_rank)
{
    size_t count = (size_t)(2 * rank + storage_rank);
    return count <= ACL_EMU_INLINE ? tensor->own_numbers : malloc(count * sizeof *tensor->numbers);
}

static void describe(acl_emu_tensor *tensor, int64_t *numbers, int64_t rank, int64_t storage_rank, int64_t dtype, int64_t format, int64_t offset)
{
    tensor->numbers = numbers;
    tensor->rank = rank;
    tensor->storage_rank = storage_rank;
    tensor->dtype = dtype;
    tensor->format = format;
    tensor->offset = offset;
    tensor->start = bytes_from(offset, dtype);
}

static void set_contiguous(int64_t *strides, const int64_t *dims, uint64_t rank)
{
    uint64_t stride = 1; /* it may wrap around */
    for (uint64_t i = rank; i-- > 0;) {
        strides[i] = (int64_t)stride;
        stride *= (uint64_t)dims[i];
    }
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
    if (!acl_emu_readable(dims, rank * sizeof *dims) || (strides && !acl_emu_readable(strides, rank * sizeof *dims)) ||
        ((storage != dims || storage_rank > rank) && !acl_emu_readable(storage, storage_rank * sizeof *dims)))
        return 0;
    acl_emu_tensor *made = malloc(sizeof *made);
    int64_t *numbers = made ? numbers_for(made, (int64_t)rank, (int64_t)storage_rank) : NULL;
    if (!numbers) {
        free(made);
        return 0;
    }
    made->address = arguments[8].u;
    describe(made, numbers, (int64_t)rank, (int64_t)storage_rank, arguments[2].i, arguments[5].i, arguments[4].i);
    memcpy(numbers, dims, rank * sizeof *dims);
    if (strides)
        memcpy(numbers + rank, strides, rank * sizeof *dims);
    else
        set_contiguous(numbers + rank, numbers, rank);
    memcpy(numbers + 2 * rank, storage, storage_rank * sizeof *dims);
    acl_emu_lock();
    result->u = issue(&made->object, ACL_EMU_TENSOR);
    acl_emu_unlock();
    if (!result->u)
        free_tensor(made);
    return result->u != 0;
}

uint64_t acl_emu_make_tensor(const int64_t *numbers, int64_t rank, int64_t storage_rank, int64_t dtype, int64_t format, int64_t offset, uint64_t address)
{
    acl_emu_tensor *made = malloc(sizeof *made);
    int64_t *own = made ? numbers_for(made, rank, storage_rank) : NULL;
    if (!own) {
        free(made);
        return 0;
    }
    memcpy(own, numbers, (size_t)(2 * rank + storage_rank) * sizeof *own);
    made->address = address;
    describe(made, own, rank, storage_rank, dtype, format, offset);
    acl_emu_lock();
    uint64_t handle = issue(&made->object, ACL_EMU_TENSOR);
    acl_emu_unlock();
    if (!handle)
        free_tensor(made);
    return handle;
}

int acl_emu_change_tensor(uint64_t handle, const int64_t *numbers, int64_t rank, int64_t storage_rank, int64_t dtype, int64_t format, int64_t offset, uint64_t address)
{
    acl_emu_lock();
    acl_emu_tensor *tensor = acl_emu_find(handle, ACL_EMU_TENSOR);
    int64_t *own = tensor ? numbers_for(tensor, rank, storage_rank) : NULL;
    if (own) {
        if (tensor->numbers != tensor->own_numbers)
            free(tensor->numbers);
        memcpy(own, numbers, (size_t)(2 * rank + storage_rank) * sizeof *own);
        describe(tensor, own, rank, storage_rank, dtype, format, offset);
        tensor->address = address ? address : tensor->address;
    }
    acl_emu_unlock();
    return own != NULL;
}

int acl_emu_set_address(uint64_t handle, uint64_t address)
{
    acl_emu_lock();
    acl_emu_tensor *tensor = acl_emu_find(handle, ACL_EMU_TENSOR);
    if (tensor)
        tensor->address = address;
    acl_emu_unlock();
    return tensor != NULL;
}

/* Scalars, arrays and lists */

static acl_emu_values *new_values(uint64_t count)
{
    acl_emu_values *made = malloc(sizeof *made + count * sizeof *made->words);
    if (made)
        made->count = count;
    return made;
}

static uint64_t issue_values(acl_emu_values *made, uint32_t kind)
{
    acl_emu_lock();
    uint64_t handle = issue(&made->object, kind);
    acl_emu_unlock();
    if (!handle)
        free(made);
    return handle;
}

uint64_t acl_emu_make_values(uint32_t kind, const int64_t *words, uint64_t count)
{
    acl_emu_values *made = new_values(count);
    if (!made)
        return 0;
    memcpy(made->words, words, count * sizeof *words);
    return issue_values(made, kind);
}

/* aclCreateScalar(value, dataType) */
int acl_emu_create_scalar(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    (void)function;
    int64_t dtype = arguments[1].i;
    size_t size = dtype >= 0 && dtype < DTYPES ? (size_t)dtypes[dtype].scalar_bytes : 0;
    if (!__atomic_load_n(&acl_emu_open, __ATOMIC_RELAXED) || !size || !arguments[0].p || !acl_emu_readable(arguments[0].p, size))
        return 0;
    int64_t words[3] = {dtype};
    memcpy(words + 1, arguments[0].p, size);
    result->u = acl_emu_make_values(ACL_EMU_SCALAR, words, 3);
    return result->u != 0;
}

/* aclCreateXxxArray(value, size), aclCreateXxxList(value, size): null stands for no values. Values that are not words already are left to the caller. */
static acl_emu_values *copied(const acl_emu_arg *arguments, size_t size)
{
    const void *values = arguments[0].p;
    uint64_t count = values ? arguments[1].u : 0;
    if (!__atomic_load_n(&acl_emu_open, __ATOMIC_RELAXED) || count > MOST_BYTES / size || !acl_emu_readable(values, count * size))
        return NULL;
    acl_emu_values *made = new_values(count);
    if (made && size == sizeof *made->words)
        memcpy(made->words, values, count * size);
    return made;
}

static int create_words(uint32_t kind, const acl_emu_arg *arguments, acl_emu_arg *result)
{
    acl_emu_values *made = copied(arguments, sizeof *made->words);
    result->u = made ? issue_values(made, kind) : 0;
    return result->u != 0;
}

int acl_emu_create_float_array(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    (void)function;
    acl_emu_values *made = copied(arguments, sizeof(uint32_t));
    for (uint64_t i = 0; made && i < made->count; i++) {
        uint32_t bits;
        memcpy(&bits, (const char *)arguments[0].p + i * sizeof bits, sizeof bits);
        made->words[i] = bits;
    }
    result->u = made ? issue_values(made, ACL_EMU_FLOAT_ARRAY) : 0;
    return result->u != 0;
}

int acl_emu_create_bool_array(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    (void)function;
    acl_emu_values *made = copied(arguments, 1);
    for (uint64_t i = 0; made && i < made->count; i++)
        made->words[i] = ((const unsigned char *)arguments[0].p)[i] != 0;
    result->u = made ? issue_values(made, ACL_EMU_BOOL_ARRAY) : 0;
    return result->u != 0;
}

/* Destroying */

static int is_gone_with_list(uint64_t handle, uint32_t kind)
{
    uint32_t place = index_of(handle) % REMEMBERED;
    int found = handle && gone_with_list[place].handle == handle && gone_with_list[place].kind == kind;
    if (found)
        gone_with_list[place].handle = 0;
    return found;
}

static void destroy_members(const acl_emu_values *list, uint32_t kind)
{
    for (uint64_t i = 0; i < list->count; i++) {
        uint64_t member = (uint64_t)list->words[i];
        if (acl_emu_find(member, kind)) {
            acl_emu_retire(member);
            gone_with_list[index_of(member) % REMEMBERED].handle = member;
            gone_with_list[index_of(member) % REMEMBERED].kind = kind;
        }
    }
}

int acl_emu_destroy(uint32_t kind, uint64_t handle)
{
    acl_emu_lock();
    acl_emu_object *found = acl_emu_find(handle, kind);
    int done = found ? 1 : is_gone_with_list(handle, kind) ? 2 : 0;
    if (found) {
        found->references++;
        acl_emu_retire(handle);
        if (kind == ACL_EMU_TENSOR_LIST || kind == ACL_EMU_SCALAR_LIST)
            destroy_members((acl_emu_values *)found, kind == ACL_EMU_TENSOR_LIST ? ACL_EMU_TENSOR : ACL_EMU_SCALAR);
        release(found);
    }
    acl_emu_unlock();
    return done;
}

static int destroy(uint32_t kind, const acl_emu_arg *arguments, acl_emu_arg *result)
{
    result->i = 0;
    return __atomic_load_n(&acl_emu_open, __ATOMIC_RELAXED) &&
           ((!arguments[0].u && kind != ACL_EMU_EXECUTOR) || acl_emu_destroy(kind, arguments[0].u));
}

#define CREATE(name, kind) \
    int acl_emu_create_##name(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result) \
    { \
        (void)function; \
        return create_words(kind, arguments, result); \
    }
#define DESTROY(name, kind) \
    int acl_emu_destroy_##name(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result) \
    { \
        (void)function; \
        return destroy(kind, arguments, result); \
    }

CREATE(int_array, ACL_EMU_INT_ARRAY)
CREATE(tensor_list, ACL_EMU_TENSOR_LIST)
CREATE(scalar_list, ACL_EMU_SCALAR_LIST)
DESTROY(tensor, ACL_EMU_TENSOR)
DESTROY(scalar, ACL_EMU_SCALAR)
DESTROY(int_array, ACL_EMU_INT_ARRAY)
DESTROY(float_array, ACL_EMU_FLOAT_ARRAY)
DESTROY(bool_array, ACL_EMU_BOOL_ARRAY)
DESTROY(tensor_list, ACL_EMU_TENSOR_LIST)
DESTROY(scalar_list, ACL_EMU_SCALAR_LIST)
DESTROY(executor, ACL_EMU_EXECUTOR)

/* Executors */

static uint64_t address_of(const acl_emu_tensor *tensor, int64_t start)
{
    return tensor && tensor->address ? tensor->address + (uint64_t)start : 0;
}

acl_emu_operands *acl_emu_new_operands(acl_emu_tensor *const *tensors, size_t count)
{
    acl_emu_operands *made = malloc(sizeof *made + count * sizeof *made->items);
    if (!made)
        return NULL;
    made->references = 1;
    made->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        made->items[i].tensor = tensors[i];
        made->items[i].start = tensors[i] ? tensors[i]->start : 0;
        made->items[i].address = address_of(tensors[i], made->items[i].start);
        if (tensors[i])
            tensors[i]->object.references++;
    }
    return made;
}

void acl_emu_release_operands(acl_emu_operands *operands)
{
    if (--operands->references)
        return;
    for (uint32_t i = 0; i < operands->count; i++) {
        if (operands->items[i].tensor)
            release(&operands->items[i].tensor->object);
    }
    free(operands);
}

acl_emu_executor *acl_emu_new_executor(acl_emu_plan *plan, acl_emu_operands *operands, uint64_t *handle)
{
    acl_emu_executor *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    made->repeatable = 0;
    made->plan = plan;
    made->operands = operands;
    *handle = issue(&made->object, ACL_EMU_EXECUTOR);
    if (!*handle) {
        free(made);
        return NULL;
    }
    return made;
}

acl_emu_operands *acl_emu_take_operands(acl_emu_executor *executor)
{
    acl_emu_operands *operands = executor->operands;
    int same = 1;
    for (uint32_t i = 0; i < operands->count; i++)
        same &= operands->items[i].address == address_of(operands->items[i].tensor, operands->items[i].start);
    if (!same && operands->references > 1) { /* a launch that waits has other addresses */
        size_t size = sizeof *operands + operands->count * sizeof *operands->items;
        acl_emu_operands *own = malloc(size);
        if (!own)
            return NULL;
        memcpy(own, operands, size);
        own->references = 1;
        for (uint32_t i = 0; i < own->count; i++) {
            if (own->items[i].tensor)
                own->items[i].tensor->object.references++;
        }
        operands->references--;
        executor->operands = operands = own;
    }
    for (uint32_t i = 0; !same && i < operands->count; i++)
        operands->items[i].address = address_of(operands->items[i].tensor, operands->items[i].start);
    operands->references++;
    return operands;
}

int acl_emu_set_operand(uint64_t executor, uint32_t place, uint64_t address)
{
    acl_emu_lock();
    acl_emu_executor *found = acl_emu_find(executor, ACL_EMU_EXECUTOR);
    acl_emu_tensor *tensor = found && place < found->operands->count ? found->operands->items[place].tensor : NULL;
    if (tensor)
        tensor->address = address;
    acl_emu_unlock();
    return tensor != NULL;
}

void acl_emu_set_shape(const acl_emu_launch *launch, uint32_t place, int64_t rank, const int64_t *dims, const int64_t *strides)
{
    acl_emu_lock();
    acl_emu_tensor *tensor = place < launch->operands->count ? launch->operands->items[place].tensor : NULL;
    if (tensor && tensor->rank == rank) { /* the program may have described it anew meanwhile */
        memcpy(tensor->numbers, dims, (size_t)rank * sizeof *dims);
        memcpy(tensor->numbers + rank, strides, (size_t)rank * sizeof *strides);
    }
    acl_emu_unlock();
}

int acl_emu_is_repeatable(uint64_t executor)
{
    acl_emu_lock();
    const acl_emu_executor *found = acl_emu_find(executor, ACL_EMU_EXECUTOR);
    int repeatable = found && found->repeatable;
    acl_emu_unlock();
    return repeatable;
}

int acl_emu_make_repeatable(uint64_t executor)
{
    acl_emu_lock();
    acl_emu_executor *found = acl_emu_find(executor, ACL_EMU_EXECUTOR);
    if (found)
        found->repeatable = 1;
    acl_emu_unlock();
    return found != NULL;
}

/* What Python sees */

static uint64_t put(int64_t *words, uint64_t capacity, uint64_t place, int64_t word)
{
    if (place < capacity)
        words[place] = word;
    return place + 1;
}

uint64_t acl_emu_read(uint64_t handle, uint32_t *kind, int64_t *words, uint64_t capacity)
{
    uint64_t count = 0;
    acl_emu_lock();
    const slot *found = find_slot(handle);
    const acl_emu_object *object = found ? found->object : NULL;
    *kind = object ? object->kind : 0;
    if (*kind == ACL_EMU_TENSOR) {
        const acl_emu_tensor *tensor = (const acl_emu_tensor *)object;
        const int64_t head[] = {(int64_t)tensor->address, tensor->rank, tensor->storage_rank, tensor->dtype, tensor->format, tensor->offset};
        for (size_t i = 0; i < sizeof head / sizeof *head; i++)
            count = put(words, capacity, count, head[i]);
        for (int64_t i = 0; i < 2 * tensor->rank + tensor->storage_rank; i++)
            count = put(words, capacity, count, tensor->numbers[i]);
    } else if (*kind == ACL_EMU_EXECUTOR) {
        const acl_emu_executor *executor = (const acl_emu_executor *)object;
        const acl_emu_operands *operands = executor->operands;
        count = put(words, capacity, count, (int64_t)executor->plan->number);
        for (uint32_t i = 0; i < operands->count; i++)
            count = put(words, capacity, count, (int64_t)address_of(operands->items[i].tensor, operands->items[i].start));
    } else if (*kind) {
        const acl_emu_values *values = (const acl_emu_values *)object;
        for (uint64_t i = 0; i < values->count; i++)
            count = put(words, capacity, count, values->words[i]);
    }
    acl_emu_unlock();
    return count;
}

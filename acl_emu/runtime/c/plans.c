/* The plan cache, and both phases of operator calls that were seen before.
 *
 * A plan is found by all that it depends on, bit by bit: the operator, its numbers and strings, the values of scalars and arrays, and the
 * descriptions of tensors, but neither their addresses nor their offsets. Where there are too many plans, one goes that was not used lately.
 *
 * Phase two: Python has let this thread put work on the stream, and nothing has happened since that could change its mind. Everything else is
 * left to Python.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

#define FUNCTIONS 4096
#define OPERATORS 16384
#define LONGEST (1 << 20) /* characters of a string */

/* A plan, and all that it depends on. */
typedef struct entry {
    struct entry *next;
    acl_emu_plan *plan;
    uint64_t hash;
    size_t place; /* in the order of the clock */
    int used; /* since the clock's hand came by */
    size_t words;
    int64_t key[];
} entry;

/* The parameters of an operator. It stays for good: calls look at it without the lock. */
typedef struct {
    uint32_t count;
    struct {
        uint8_t kind;
        int8_t unless;
    } parameters[];
} declaration;

static declaration *operators[OPERATORS]; /* by number */
static struct {
    uint64_t one, two; /* operators whose phases they are */
} functions[FUNCTIONS];

static entry **buckets;
static size_t bucket_count;
static entry **clock_order;
static size_t entry_count, entry_capacity, hand;

static uint64_t *gone; /* numbers of plans */
static size_t gone_count, gone_capacity;

/* What describe() finds. */
static int64_t *key;
static size_t key_words, key_capacity;
static acl_emu_tensor **tensors;
static size_t tensor_count, tensor_capacity;

/* Room for one more element; 0 where there is no memory. */
static int grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return 1;
    size_t larger = *capacity ? 2 * *capacity : 256;
    void *moved, *before;
    memcpy(&before, array, sizeof before);
    moved = realloc(before, larger * size);
    if (!moved)
        return 0;
    memcpy(array, &moved, sizeof moved);
    *capacity = larger;
    return 1;
}

int acl_emu_declare(uint64_t operator, uint32_t count, const uint8_t *kinds, const int8_t *unless)
{
    declaration *made = operator < OPERATORS && !operators[operator] ? malloc(sizeof *made + count * sizeof *made->parameters) : NULL;
    if (!made)
        return 0;
    made->count = count;
    for (uint32_t i = 0; i < count; i++) {
        made->parameters[i].kind = kinds[i];
        made->parameters[i].unless = unless[i];
    }
    __atomic_store_n(&operators[operator], made, __ATOMIC_RELEASE);
    return 1;
}

static const declaration *declared_as(uint64_t operator)
{
    return operator < OPERATORS ? __atomic_load_n(&operators[operator], __ATOMIC_ACQUIRE) : NULL;
}

void acl_emu_connect_operator(uint32_t phase_one, uint32_t phase_two, uint64_t operator)
{
    if (phase_one >= FUNCTIONS || phase_two >= FUNCTIONS)
        return;
    acl_emu_lock();
    functions[phase_one].one = functions[phase_two].two = operator;
    acl_emu_unlock();
}

/* What a plan depends on */

static int add_word(int64_t word)
{
    if (!grow(&key, key_words, &key_capacity, sizeof *key))
        return 0;
    key[key_words++] = word;
    return 1;
}

static int add_words(const int64_t *words, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (!add_word(words[i]))
            return 0;
    }
    return 1;
}

static int add_tensor(uint64_t handle)
{
    acl_emu_tensor *tensor = handle ? acl_emu_find(handle, ACL_EMU_TENSOR) : NULL;
    if ((handle && !tensor) || !grow(&tensors, tensor_count, &tensor_capacity, sizeof *tensors))
        return 0;
    tensors[tensor_count++] = tensor;
    if (!tensor)
        return add_word(-1); /* no rank is */
    const int64_t head[] = {tensor->rank, tensor->storage_rank, tensor->dtype, tensor->format, tensor->offset < 0 ? tensor->offset : 0};
    return add_words(head, sizeof head / sizeof *head) && add_words(tensor->numbers, (uint64_t)(2 * tensor->rank + tensor->storage_rank));
}

static int add_values(uint64_t handle, uint32_t kind)
{
    const acl_emu_values *found = handle ? acl_emu_find(handle, kind) : NULL;
    if (!found)
        return !handle && add_word(-1);
    return add_word((int64_t)found->count) && add_words(found->words, found->count);
}

static int add_list(uint64_t handle, uint32_t kind, uint32_t member)
{
    const acl_emu_values *found = handle ? acl_emu_find(handle, kind) : NULL;
    if (!found) /* a null list has one tensor, which is null */
        return !handle && add_word(-2) && (member != ACL_EMU_TENSOR || add_tensor(0));
    int fits = add_word((int64_t)found->count);
    for (uint64_t i = 0; i < found->count && fits; i++)
        fits = member == ACL_EMU_TENSOR ? add_tensor((uint64_t)found->words[i]) : add_values((uint64_t)found->words[i], member);
    return fits;
}

static int add_string(const char *text)
{
    int64_t word = 0;
    size_t length = 0;
    int ends = !text;
    for (; !ends; length++) {
        int is_new_page = length == 0 || (uintptr_t)(text + length) % 4096 == 0;
        if (length == LONGEST || (is_new_page && !acl_emu_readable(text + length, 1)))
            return 0;
        word = (int64_t)((uint64_t)word << 8 | (unsigned char)text[length]);
        ends = !text[length];
        if ((length % sizeof word == sizeof word - 1 || ends) && !add_word(word))
            return 0;
    }
    return add_word(text ? (int64_t)length : -1);
}

/* With the lock held: all that a plan depends on, and the tensors. 0 where a handle is not alive. */
static int describe(uint64_t operator, const acl_emu_arg *arguments)
{
    const declaration *declared = declared_as(operator);
    if (!declared)
        return 0;
    key_words = tensor_count = 0;
    int fits = add_word((int64_t)operator);
    for (uint32_t i = 0; i < declared->count && fits; i++) {
        int unless = declared->parameters[i].unless;
        uint64_t value = unless >= 0 && arguments[unless].u ? 0 : arguments[i].u;
        uint32_t kind = declared->parameters[i].kind;
        if (kind == ACL_EMU_TENSOR)
            fits = add_tensor(value);
        else if (kind == ACL_EMU_TENSOR_LIST || kind == ACL_EMU_SCALAR_LIST)
            fits = add_list(value, kind, kind == ACL_EMU_TENSOR_LIST ? ACL_EMU_TENSOR : ACL_EMU_SCALAR);
        else if (kind == ACL_EMU_STRING)
            fits = add_string(arguments[i].p);
        else if (kind < ACL_EMU_KINDS)
            fits = add_values(value, kind);
        else
            fits = add_word(kind == ACL_EMU_BOOL ? (value & 0xFF) != 0 : (int64_t)value);
    }
    return fits;
}

static uint64_t hash_of_key(void)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < key_words; i++)
        hash = (hash ^ (uint64_t)key[i]) * 1099511628211u ^ hash >> 29;
    return hash;
}

/* The cache */

static entry *find_entry(uint64_t hash)
{
    entry *known = bucket_count ? buckets[hash % bucket_count] : NULL;
    while (known && (known->hash != hash || known->words != key_words || memcmp(known->key, key, key_words * sizeof *key)))
        known = known->next;
    return known;
}

static void remove_entry(entry *one)
{
    entry **link = &buckets[one->hash % bucket_count];
    while (*link != one)
        link = &(*link)->next;
    *link = one->next;
    clock_order[one->place] = clock_order[--entry_count];
    clock_order[one->place]->place = one->place;
    acl_emu_release_plan(one->plan);
    free(one);
}

/* Removes one that was not used since the hand came by last. */
static void evict(void)
{
    for (;; hand++) {
        hand %= entry_count;
        if (!clock_order[hand]->used)
            break;
        clock_order[hand]->used = 0;
    }
    remove_entry(clock_order[hand]);
}

static int add_buckets(void)
{
    size_t larger = bucket_count ? 4 * bucket_count : 1024;
    entry **made = calloc(larger, sizeof *made);
    if (!made)
        return bucket_count != 0;
    for (size_t i = 0; i < entry_count; i++) {
        entry *one = clock_order[i];
        one->next = made[one->hash % larger];
        made[one->hash % larger] = one;
    }
    free(buckets);
    buckets = made;
    bucket_count = larger;
    return 1;
}

static void insert(uint64_t hash, acl_emu_plan *plan, uint64_t most)
{
    if (!most || find_entry(hash) || (entry_count >= bucket_count && !add_buckets()) ||
        !grow(&clock_order, entry_count, &entry_capacity, sizeof *clock_order))
        return;
    entry *made = malloc(sizeof *made + key_words * sizeof *key);
    if (!made)
        return;
    while (entry_count >= most)
        evict();
    plan->references++;
    made->plan = plan;
    made->hash = hash;
    made->used = 0;
    made->words = key_words;
    memcpy(made->key, key, key_words * sizeof *key);
    made->next = buckets[hash % bucket_count];
    buckets[hash % bucket_count] = made;
    made->place = entry_count;
    clock_order[entry_count++] = made;
}

void acl_emu_forget_plans(void)
{
    acl_emu_lock();
    while (entry_count)
        remove_entry(clock_order[entry_count - 1]);
    acl_emu_unlock();
}

uint64_t acl_emu_plan_count(void)
{
    return entry_count;
}

uint64_t acl_emu_gone_plans(uint64_t *numbers, uint64_t capacity)
{
    uint64_t count = 0;
    acl_emu_lock();
    while (count < capacity && gone_count)
        numbers[count++] = gone[--gone_count];
    acl_emu_unlock();
    return count;
}

acl_emu_plan *acl_emu_new_plan(const acl_emu_plan *described, const acl_emu_native *natives)
{
    size_t size = described->parts * sizeof *natives;
    acl_emu_plan *made = malloc(sizeof *made + size);
    if (made) {
        *made = *described;
        made->references = 1;
        memcpy(made->natives, natives, size);
    }
    return made;
}

void acl_emu_release_plan(acl_emu_plan *plan)
{
    if (--plan->references)
        return;
    if (grow(&gone, gone_count, &gone_capacity, sizeof *gone)) /* otherwise Python keeps its part */
        gone[gone_count++] = plan->number;
    free(plan);
}

/* Phase one */

/* With the lock held, after describe(): an executor of a plan, which gets a reference; 0 where there is no memory. */
static uint64_t make_executor(acl_emu_plan *plan)
{
    uint64_t handle = 0;
    acl_emu_operands *operands = acl_emu_new_operands(tensors, tensor_count);
    if (!operands)
        return 0;
    if (acl_emu_new_executor(plan, operands, &handle))
        plan->references++;
    else
        acl_emu_release_operands(operands);
    return handle;
}

int acl_emu_plan_call(uint64_t operator, const acl_emu_arg *arguments, uint64_t *hash, uint64_t *workspace, uint64_t *executor)
{
    int found = -1;
    acl_emu_lock();
    if (describe(operator, arguments)) {
        *hash = hash_of_key();
        entry *known = find_entry(*hash);
        *executor = known ? make_executor(known->plan) : 0;
        found = *executor != 0;
        if (found) {
            known->used = 1;
            *workspace = known->plan->workspace;
        }
    }
    acl_emu_unlock();
    return found;
}

uint64_t acl_emu_adopt_plan(uint64_t operator, const acl_emu_arg *arguments, uint64_t hash, acl_emu_plan *plan, uint64_t most)
{
    uint64_t executor = 0;
    acl_emu_lock();
    if (describe(operator, arguments)) {
        executor = make_executor(plan);
        if (hash_of_key() == hash)
            insert(hash, plan, most);
    }
    acl_emu_release_plan(plan);
    acl_emu_unlock();
    return executor;
}

int acl_emu_phase_one(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    uint64_t operator = function < FUNCTIONS ? functions[function].one : 0;
    const declaration *declared = declared_as(operator);
    if (!declared || !__atomic_load_n(&acl_emu_open, __ATOMIC_RELAXED))
        return 0;
    uint32_t count = declared->count;
    if (!acl_emu_writable(arguments[count].u) || !acl_emu_writable(arguments[count + 1].u))
        return 0;
    uint64_t hash, workspace, executor;
    if (acl_emu_plan_call(operator, arguments, &hash, &workspace, &executor) != 1)
        return 0;
    memcpy((void *)(uintptr_t)arguments[count].u, &workspace, 8);
    memcpy((void *)(uintptr_t)arguments[count + 1].u, &executor, 8);
    result->i = 0;
    return 1;
}

/* Phase two */

int acl_emu_start(uint64_t operator, uint64_t workspace, uint64_t size, uint64_t executor, uint64_t stream)
{
    int done = 0;
    acl_emu_lock();
    acl_emu_queue *queue = acl_emu_open ? acl_emu_queue_of(stream) : NULL;
    acl_emu_executor *found = queue ? acl_emu_find(executor, ACL_EMU_EXECUTOR) : NULL;
    if (found && found->plan->operator == operator && size >= found->plan->workspace && (workspace || !size)) {
        done = found->plan->empty;
        acl_emu_operands *operands = done ? NULL : acl_emu_take_operands(found);
        if (operands) {
            done = acl_emu_queue_add(queue, found->plan, operands, workspace);
            if (!done)
                acl_emu_release_operands(operands);
        }
        if (done && !found->repeatable)
            acl_emu_retire(executor);
    }
    acl_emu_unlock();
    return done;
}

int acl_emu_launch_of(uint64_t executor, acl_emu_launch *launch)
{
    acl_emu_lock();
    acl_emu_executor *found = acl_emu_find(executor, ACL_EMU_EXECUTOR);
    launch->operands = found ? acl_emu_take_operands(found) : NULL;
    launch->plan = found ? found->plan : NULL;
    if (launch->operands)
        launch->plan->references++;
    acl_emu_unlock();
    return launch->operands != NULL;
}

/* aclnnXxx(workspace, workspaceSize, executor, stream) */
int acl_emu_phase_two(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    uint64_t operator = function < FUNCTIONS ? functions[function].two : 0;
    result->i = 0;
    return operator && acl_emu_start(operator, arguments[0].u, arguments[1].u, arguments[2].u, arguments[3].u);
}

static const acl_emu_inside table = {
    .open = &acl_emu_open,
    .lock = acl_emu_lock,
    .unlock = acl_emu_unlock,
    .plan_call = acl_emu_plan_call,
    .destroy = acl_emu_destroy,
    .start = acl_emu_start,
    .queue_of = acl_emu_queue_of,
    .queue_begin = acl_emu_queue_begin,
    .queue_is_short = acl_emu_queue_is_short,
    .queue_run = acl_emu_queue_run,
    .queue_end = acl_emu_queue_end,
    .queue_leave = acl_emu_queue_leave,
};

const acl_emu_inside *acl_emu_table(void)
{
    return &table;
}

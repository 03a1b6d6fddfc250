/* The quick way through both phases of an operator, without Python: for calls that phase one has decided before.
 *
 * Phase one: the arguments are plain numbers and tensors that live here, and Python has decided what becomes of numbers and
 * descriptions like these; the plan is found by them, bit by bit. Phase two: Python has let this thread put work on the stream, and nothing
 * has happened since that could change its mind. Everything else is left to Python.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

#define FUNCTIONS 4096
#define BUCKETS 4096
#define PARAMETERS 16
#define WORDS (PARAMETERS + ACL_EMU_TENSORS * (int)(sizeof(acl_emu_tensor) / 8))

/* A plan, and all that it depends on. */
typedef struct kept {
    struct kept *next;
    const acl_emu_plan *plan;
    uint64_t hash;
    size_t words;
    int64_t key[];
} kept;

static struct {
    uint64_t operator; /* of either phase */
    uint32_t parameters; /* of phase one */
    uint64_t tensors;
} operators[FUNCTIONS];

static kept *plans[BUCKETS];
static uint64_t kept_count;

void acl_emu_declare(uint32_t phase_one, uint32_t phase_two, uint64_t operator, uint32_t parameters, uint64_t tensors)
{
    if (phase_one >= FUNCTIONS || phase_two >= FUNCTIONS)
        return;
    acl_emu_lock();
    operators[phase_two].operator = operator;
    if (parameters <= PARAMETERS && __builtin_popcountll(tensors) <= ACL_EMU_TENSORS) {
        operators[phase_one].parameters = parameters;
        operators[phase_one].tensors = tensors;
    }
    acl_emu_unlock();
}

/* With the lock held: all that a plan depends on, and the tensors. 0 where a tensor does not live here. */
static size_t describe(uint32_t function, const acl_emu_arg *arguments, int64_t *key, acl_emu_executor *call)
{
    if (function >= FUNCTIONS || !operators[function].parameters)
        return 0;
    int64_t *next = key;
    int place = 0;
    *next++ = function;
    for (uint32_t i = 0; i < operators[function].parameters; i++) {
        if (!(operators[function].tensors >> i & 1)) {
            *next++ = arguments[i].i;
            continue;
        }
        const acl_emu_tensor *tensor = acl_emu_find_tensor(arguments[i].u);
        if (!tensor && arguments[i].u)
            return 0;
        call->tensors[place] = arguments[i].u;
        call->addresses[place++] = tensor ? tensor->address : 0;
        if (!tensor) {
            *next++ = -1; /* no rank is */
            continue;
        }
        int64_t count = tensor->rank * (1 + tensor->has_strides) + tensor->storage_rank;
        size_t size = offsetof(acl_emu_tensor, numbers) - sizeof tensor->address + (size_t)count * sizeof *next;
        memcpy(next, &tensor->rank, size); /* everything but the address */
        next += size / sizeof *next;
    }
    return (size_t)(next - key);
}

static uint64_t hash_of(const int64_t *key, size_t words)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < words; i++)
        hash = (hash ^ (uint64_t)key[i]) * 1099511628211u ^ hash >> 29;
    return hash;
}

static const acl_emu_plan *find_plan(const int64_t *key, size_t words)
{
    uint64_t hash = hash_of(key, words);
    const kept *known = plans[hash % BUCKETS];
    while (known && (known->hash != hash || known->words != words || memcmp(known->key, key, words * sizeof *key)))
        known = known->next;
    return known ? known->plan : NULL;
}

const acl_emu_plan *acl_emu_new_plan(const acl_emu_plan *plan)
{
    acl_emu_plan *made = malloc(sizeof *made);
    if (made)
        *made = *plan;
    return made;
}

int acl_emu_keep_plan(uint32_t function, const acl_emu_arg *arguments, const acl_emu_plan *plan, uint64_t most)
{
    int64_t key[WORDS];
    acl_emu_executor call;
    kept *made = NULL;
    acl_emu_lock();
    size_t words = describe(function, arguments, key, &call);
    if (words && kept_count < most && !find_plan(key, words) && (made = malloc(sizeof *made + words * sizeof *key))) {
        made->plan = plan;
        made->hash = hash_of(key, words);
        made->words = words;
        memcpy(made->key, key, words * sizeof *key);
        made->next = plans[made->hash % BUCKETS];
        plans[made->hash % BUCKETS] = made;
        kept_count++;
    }
    acl_emu_unlock();
    return made != NULL;
}

int acl_emu_phase_one(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    uint32_t count = function < FUNCTIONS ? operators[function].parameters : 0;
    if (!count || !__atomic_load_n(&acl_emu_open, __ATOMIC_RELAXED) || !acl_emu_writable(arguments[count].u) || !acl_emu_writable(arguments[count + 1].u))
        return 0;
    int64_t key[WORDS];
    acl_emu_executor call;
    uint64_t handle = 0;
    acl_emu_lock();
    size_t words = acl_emu_open ? describe(function, arguments, key, &call) : 0;
    call.plan = words ? find_plan(key, words) : NULL;
    acl_emu_executor *made = call.plan ? acl_emu_new_executor(&handle) : NULL;
    if (made)
        *made = call;
    acl_emu_unlock();
    if (!made)
        return 0;
    memcpy((void *)(uintptr_t)arguments[count].u, &call.plan->workspace, 8);
    memcpy((void *)(uintptr_t)arguments[count + 1].u, &handle, 8);
    result->i = 0;
    return 1;
}

int acl_emu_start(uint64_t operator, uint64_t workspace, uint64_t size, uint64_t executor, uint64_t stream)
{
    int done = 0;
    acl_emu_lock();
    acl_emu_lane *lane = acl_emu_open ? acl_emu_lane_of(stream) : NULL;
    const acl_emu_executor *once = lane ? acl_emu_find_executor(executor) : NULL;
    const acl_emu_executor *found = once || !lane ? once : acl_emu_find_lent(executor);
    if (found && found->plan->operator == operator && size >= found->plan->workspace && (workspace || !size)) {
        done = found->plan->empty || acl_emu_lane_add(lane, found->plan, workspace, found->addresses);
        if (done && once)
            acl_emu_end_executor(executor);
    }
    acl_emu_unlock();
    return done;
}

/* aclnnXxx(workspace, workspaceSize, executor, stream) */
int acl_emu_phase_two(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    result->i = 0;
    return function < FUNCTIONS && acl_emu_start(operators[function].operator, arguments[0].u, arguments[1].u, arguments[2].u, arguments[3].u);
}

static const acl_emu_inside table = {
    .open = &acl_emu_open,
    .lock = acl_emu_lock,
    .unlock = acl_emu_unlock,
    .new_executor = acl_emu_new_executor,
    .destroy_executor = acl_emu_destroy_executor,
    .start = acl_emu_start,
    .lane_of = acl_emu_lane_of,
    .lane_begin = acl_emu_lane_begin,
    .lane_is_short = acl_emu_lane_is_short,
    .lane_run = acl_emu_lane_run,
    .lane_end = acl_emu_lane_end,
    .lane_leave = acl_emu_lane_leave,
};

const acl_emu_inside *acl_emu_table(void)
{
    return &table;
}

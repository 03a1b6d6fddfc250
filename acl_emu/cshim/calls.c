/* The quick way through both phases of an operator, without Python: for calls that phase one has decided before.
 *
 * Phase one: the arguments are plain numbers and tensors that live here, and Python has decided what becomes of numbers and
 * descriptions like these; the plan is found by them, bit by bit. Phase two: Python has let this thread put work on the stream, and nothing
 * has happened since that could change its mind. Everything else is left to Python, and so is running what was put on a stream.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

#define FUNCTIONS 4096
#define BUCKETS 4096
#define PARAMETERS 16
#define PERMITTED 4
#define KEPT_ROOM 4096 /* launches */
#define WORDS (PARAMETERS + ACL_EMU_TENSORS * (int)(sizeof(acl_emu_tensor) / 8))

struct acl_emu_plan {
    acl_emu_plan *next;
    uint64_t hash, number, workspace;
    uint32_t phase_two;
    int empty, is_long;
    size_t words;
    int64_t key[];
};

static struct {
    uint32_t phase_two, parameters;
    uint64_t tensors;
} operators[FUNCTIONS];

static acl_emu_plan *plans[BUCKETS];
static uint64_t plan_count;

uint64_t acl_emu_epoch = 1;

/* The streams that the calling thread used last. */
static __thread struct {
    uint64_t epoch, stream;
    acl_emu_lane *lane;
} permitted[PERMITTED];
static __thread unsigned oldest;

void acl_emu_declare(uint32_t phase_one, uint32_t phase_two, uint32_t parameters, uint64_t tensors)
{
    if (phase_one < FUNCTIONS && parameters <= PARAMETERS && __builtin_popcountll(tensors) <= ACL_EMU_TENSORS) {
        acl_emu_lock();
        operators[phase_one].phase_two = phase_two;
        operators[phase_one].parameters = parameters;
        operators[phase_one].tensors = tensors;
        acl_emu_unlock();
    }
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
    const acl_emu_plan *plan = plans[hash % BUCKETS];
    while (plan && (plan->hash != hash || plan->words != words || memcmp(plan->key, key, words * sizeof *key)))
        plan = plan->next;
    return plan;
}

int acl_emu_keep_plan(uint32_t function, const acl_emu_arg *arguments, uint64_t number, uint64_t workspace, int empty, int is_long,
                      uint64_t most)
{
    int64_t key[WORDS];
    acl_emu_executor call;
    int kept = 0;
    acl_emu_lock();
    size_t words = describe(function, arguments, key, &call);
    if (words && plan_count < most && !find_plan(key, words)) {
        acl_emu_plan *plan = malloc(sizeof *plan + words * sizeof *key);
        if (plan) {
            plan->hash = hash_of(key, words);
            plan->number = number;
            plan->workspace = workspace;
            plan->phase_two = operators[function].phase_two;
            plan->empty = empty;
            plan->is_long = is_long;
            plan->words = words;
            memcpy(plan->key, key, words * sizeof *key);
            plan->next = plans[plan->hash % BUCKETS];
            plans[plan->hash % BUCKETS] = plan;
            plan_count++;
            kept = 1;
        }
    }
    acl_emu_unlock();
    return kept;
}

uint64_t acl_emu_plan_number(const acl_emu_plan *plan)
{
    return plan->number;
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

void acl_emu_permit(uint64_t stream, acl_emu_lane *lane, uint64_t epoch)
{
    unsigned place = oldest++ % PERMITTED;
    permitted[place].epoch = epoch;
    permitted[place].stream = stream;
    permitted[place].lane = lane;
}

/* With the lock held: where the calling thread may put work on this stream, or NULL. */
static acl_emu_lane *lane_of(uint64_t stream)
{
    for (int i = 0; i < PERMITTED; i++) {
        if (permitted[i].epoch == acl_emu_epoch && permitted[i].stream == stream)
            return permitted[i].lane;
    }
    return NULL;
}

void acl_emu_new_epoch(void)
{
    acl_emu_lock();
    acl_emu_epoch++;
    acl_emu_unlock();
}

/* With the lock held: room for one more launch, or NULL. */
static acl_emu_launch *add_launch(acl_emu_lane *lane)
{
    if (lane->count == lane->room) {
        size_t room = lane->room ? 2 * lane->room : 64;
        acl_emu_launch *larger = malloc(room * sizeof *larger);
        if (!larger)
            return NULL;
        for (size_t i = 0; i < lane->count; i++)
            larger[i] = lane->launches[(lane->first + i) % lane->room];
        free(lane->launches);
        lane->launches = larger;
        lane->first = 0;
        lane->room = room;
    }
    return &lane->launches[(lane->first + lane->count++) % lane->room];
}

/* aclnnXxx(workspace, workspaceSize, executor, stream) */
int acl_emu_phase_two(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    int done = 0;
    acl_emu_lock();
    acl_emu_lane *lane = lane_of(arguments[3].u);
    const acl_emu_executor *executor = lane && acl_emu_open ? acl_emu_find_executor(arguments[2].u) : NULL;
    if (executor && executor->plan->phase_two == function && arguments[1].u >= executor->plan->workspace &&
        (arguments[0].u || !arguments[1].u)) {
        acl_emu_launch *launch = executor->plan->empty ? NULL : add_launch(lane);
        done = launch || executor->plan->empty;
        if (launch) {
            launch->place = __atomic_add_fetch(&lane->bell.submitted, 1, __ATOMIC_SEQ_CST);
            launch->number = executor->plan->number;
            launch->workspace = arguments[0].u;
            memcpy(launch->addresses, executor->addresses, sizeof launch->addresses);
            if (lane->rings)
                acl_emu_bell_ring(&lane->bell, executor->plan->is_long);
        }
        if (done)
            acl_emu_end_executor(arguments[2].u);
    }
    acl_emu_unlock();
    result->i = 0;
    return done;
}

int64_t acl_emu_lane_number(acl_emu_lane *lane, int urgent)
{
    acl_emu_lock();
    int64_t place = __atomic_add_fetch(&lane->bell.submitted, 1, __ATOMIC_SEQ_CST);
    if (lane->rings)
        acl_emu_bell_ring(&lane->bell, urgent);
    acl_emu_unlock();
    return place;
}

int acl_emu_lane_next(acl_emu_lane *lane, int64_t place, acl_emu_launch *launch)
{
    int found = 0;
    acl_emu_lock();
    if (lane->count && lane->launches[lane->first].place == place) {
        *launch = lane->launches[lane->first];
        lane->first = (lane->first + 1) % lane->room;
        if (--lane->count == 0 && lane->room > KEPT_ROOM) {
            free(lane->launches);
            lane->launches = NULL;
            lane->first = lane->room = 0;
        }
        found = 1;
    }
    acl_emu_unlock();
    return found;
}

void acl_emu_lane_close(acl_emu_lane *lane)
{
    acl_emu_lock();
    acl_emu_epoch++; /* no thread is permitted any more */
    free(lane->launches);
    lane->launches = NULL;
    lane->first = lane->count = lane->room = 0;
    acl_emu_unlock();
    acl_emu_bell_close(&lane->bell);
}

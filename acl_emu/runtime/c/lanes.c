/* Streams: who may use them, what was put there by quick calls, and running that without Python where the engine can.
 *
 * Tasks of Python and launches share the places of a stream. Whoever has the turn runs the next one; where that is not a launch that
 * the engine can run, or where somebody has to be told, it is left to Python: acl_emu/runtime/stream.py.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "bridge.h"

#define STREAMS 4
#define KEPT_ROOM 16384 /* launches */
#define BATCH 32       /* launches: what a thread runs before it looks at signals and at others */

uint64_t acl_emu_epoch = 1;

/* The streams that the calling thread used last. */
static __thread struct {
    uint64_t epoch, stream;
    acl_emu_lane *lane;
} remembered[STREAMS];
static __thread unsigned oldest;

static void release(const acl_emu_launch *launch)
{
    acl_emu_release_plan(launch->plan);
    acl_emu_release_operands(launch->operands);
}

/* With the lock held: removes launches from the front. */
static void drop(acl_emu_lane *lane, size_t count)
{
    for (size_t i = 0; i < count; i++)
        release(&lane->launches[(lane->first + i) % lane->room]);
    if (count)
        lane->first = (lane->first + count) % lane->room;
    lane->count -= count;
    if (!lane->count && lane->room > KEPT_ROOM) {
        free(lane->launches);
        lane->launches = NULL;
        lane->first = lane->room = 0;
    }
}

acl_emu_lane *acl_emu_lane_new(void)
{
    acl_emu_lane *lane = calloc(1, sizeof *lane);
    if (lane)
        lane->users = 1;
    return lane;
}

void acl_emu_lane_leave(acl_emu_lane *lane)
{
    acl_emu_lock();
    int last = --lane->users == 0;
    if (last)
        drop(lane, lane->count);
    acl_emu_unlock();
    if (last) {
        free(lane->launches);
        free(lane);
    }
}

void acl_emu_remember_stream(uint64_t stream, acl_emu_lane *lane, uint64_t epoch)
{
    acl_emu_lock();
    int known = acl_emu_lane_of(stream) == lane;
    acl_emu_unlock();
    if (known)
        return;
    unsigned place = oldest++ % STREAMS;
    remembered[place].epoch = epoch;
    remembered[place].stream = stream;
    remembered[place].lane = lane;
}

acl_emu_lane *acl_emu_lane_of(uint64_t stream)
{
    for (int i = 0; i < STREAMS; i++) {
        if (remembered[i].epoch == acl_emu_epoch && remembered[i].stream == stream)
            return remembered[i].lane;
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

int acl_emu_lane_add(acl_emu_lane *lane, acl_emu_plan *plan, acl_emu_operands *operands, uint64_t workspace)
{
    acl_emu_launch *launch = lane->closed ? NULL : add_launch(lane);
    if (!launch)
        return 0;
    launch->place = __atomic_add_fetch(&lane->bell.submitted, 1, __ATOMIC_SEQ_CST);
    launch->plan = plan;
    launch->operands = operands;
    launch->workspace = workspace;
    launch->done = 0;
    plan->references++;
    __atomic_store_n(&lane->bell.gathers, !plan->parts, __ATOMIC_RELAXED);
    if (lane->rings)
        acl_emu_bell_ring(&lane->bell, plan->is_long || __atomic_load_n(&lane->watchers, __ATOMIC_SEQ_CST));
    return 1;
}

void acl_emu_lane_number(acl_emu_lane *lane, int urgent)
{
    acl_emu_lock();
    lane->numbered = __atomic_add_fetch(&lane->bell.submitted, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&lane->bell.gathers, 1, __ATOMIC_RELAXED);
    if (lane->rings)
        acl_emu_bell_ring(&lane->bell, urgent);
    acl_emu_unlock();
}

int acl_emu_lane_begin(acl_emu_lane *lane)
{
    uintptr_t nobody = 0;
    return __atomic_compare_exchange_n(&lane->turn, &nobody, (uintptr_t)remembered, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void acl_emu_lane_end(acl_emu_lane *lane)
{
    if (__atomic_load_n(&lane->turn, __ATOMIC_SEQ_CST) != (uintptr_t)remembered)
        return;
    __atomic_store_n(&lane->turn, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&lane->closed, __ATOMIC_SEQ_CST))
        __atomic_store_n(&lane->done, __atomic_load_n(&lane->bell.submitted, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
}

/* With the lock held: copies the launches from `place` on that follow one another, not beyond `last`, with references of their own. */
static size_t look(const acl_emu_lane *lane, int64_t place, int64_t last, acl_emu_launch *launches, size_t most)
{
    size_t count = 0;
    while (count < most && count < lane->count && place + (int64_t)count <= last) {
        const acl_emu_launch *launch = &lane->launches[(lane->first + count) % lane->room];
        if (launch->place != place + (int64_t)count)
            break;
        launch->plan->references++;
        launch->operands->references++;
        launches[count++] = *launch;
    }
    return count;
}

static int run_kernel(const acl_emu_native *native, const acl_emu_launch *launch)
{
    int64_t addresses[ACL_EMU_OPERANDS];
    if (!native->run || (native->workspace && !acl_emu_holds(launch->workspace, native->workspace)))
        return 0;
    for (uint64_t i = 0; i < native->operands; i++) {
        uint64_t base = native->places[i] < 0 ? launch->workspace : launch->operands->items[native->places[i]].address;
        addresses[i] = (int64_t)base + native->offsets[i];
    }
    return native->run(native->program, addresses, native->threads) == 0;
}

/* 0 where Python has to: it knows what to do with the kernels that are left, and what to say. */
static int run_launch(acl_emu_launch *launch)
{
    const acl_emu_plan *plan = launch->plan;
    while (launch->done < plan->parts && run_kernel(&plan->natives[launch->done], launch))
        launch->done++;
    return plan->parts && launch->done == plan->parts;
}

static int is_short(const acl_emu_plan *plan)
{
    return plan->parts == 1 && plan->natives[0].is_short;
}

/* Whether the thread that runs the tasks may go on without Python. */
static int unwatched(const acl_emu_lane *lane)
{
    return __atomic_load_n(&acl_emu_open, __ATOMIC_SEQ_CST) && !__atomic_load_n(&lane->troubled, __ATOMIC_SEQ_CST) &&
           !__atomic_load_n(&lane->waiting, __ATOMIC_SEQ_CST) && !__atomic_load_n(&lane->watchers, __ATOMIC_SEQ_CST) &&
           !__atomic_load_n(&lane->bell.closed, __ATOMIC_SEQ_CST);
}

int acl_emu_lane_is_short(const acl_emu_lane *lane, int64_t place)
{
    acl_emu_lock();
    int found = lane->count == 1 && lane->done + 1 == place && is_short(lane->launches[lane->first].plan);
    acl_emu_unlock();
    return found;
}

int64_t acl_emu_lane_run(acl_emu_lane *lane, int64_t place)
{
    acl_emu_launch launches[BATCH];
    size_t ran = 0;
    if (!unwatched(lane))
        return 0;
    acl_emu_lock();
    size_t count = look(lane, lane->done + 1, place, launches, BATCH);
    acl_emu_unlock();
    while (ran < count && (!ran || unwatched(lane)) && run_launch(&launches[ran]))
        __atomic_store_n(&lane->done, launches[ran++].place, __ATOMIC_SEQ_CST);
    if (ran)
        lane->ran_short = is_short(launches[ran - 1].plan);
    acl_emu_lock();
    if (lane->count) { /* it has not been closed meanwhile */
        drop(lane, ran);
        if (ran < count && lane->count)
            lane->launches[lane->first].done = launches[ran].done;
    }
    for (size_t i = 0; i < count; i++)
        release(&launches[i]);
    acl_emu_unlock();
    return (int64_t)ran;
}

/* aclrtSynchronizeStream(stream); what needs others, or failed, is left to Python */
int acl_emu_synchronize(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    (void)function;
    acl_emu_lock();
    acl_emu_lane *lane = acl_emu_open ? acl_emu_lane_of(arguments[0].u) : NULL;
    if (lane)
        lane->users++;
    acl_emu_unlock();
    if (!lane)
        return 0;
    const int64_t place = __atomic_load_n(&lane->bell.submitted, __ATOMIC_SEQ_CST);
    if (lane->waits && lane->done < place && acl_emu_lane_begin(lane)) {
        __atomic_store_n(&lane->bell.taken, place, __ATOMIC_SEQ_CST);
        while (lane->done < place && acl_emu_lane_run(lane, place))
            ;
        acl_emu_lane_end(lane);
    }
    int done = lane->waits && lane->done >= place && lane->done == lane->bell.submitted && !lane->troubled && !lane->waiting && !lane->watchers;
    acl_emu_lane_leave(lane);
    result->i = 0;
    return done;
}

int acl_emu_lane_serve(acl_emu_lane *lane, int64_t idle)
{
    int called;
    while ((called = acl_emu_bell_wait(&lane->bell, idle)) > 0) {
        int64_t submitted = __atomic_load_n(&lane->bell.submitted, __ATOMIC_SEQ_CST);
        __atomic_store_n(&lane->bell.taken, submitted, __ATOMIC_SEQ_CST); /* who runs tasks now calls again when it leaves some */
        if (__atomic_load_n(&lane->waiting, __ATOMIC_SEQ_CST) || !acl_emu_lane_begin(lane))
            continue;
        int64_t ran;
        do { /* short ones that come one by one are not worth to be in the way of the thread that they come from */
            submitted = __atomic_load_n(&lane->bell.submitted, __ATOMIC_SEQ_CST);
            ran = acl_emu_lane_run(lane, submitted);
        } while (ran == BATCH || (ran && !lane->ran_short));
        int64_t done = __atomic_load_n(&lane->done, __ATOMIC_SEQ_CST);
        acl_emu_lane_end(lane);
        __atomic_store_n(&lane->bell.taken, done, __ATOMIC_SEQ_CST);
        if ((done < submitted && !ran) || __atomic_load_n(&lane->waiting, __ATOMIC_SEQ_CST) || __atomic_load_n(&lane->watchers, __ATOMIC_SEQ_CST))
            return 1;
    }
    return called;
}

int acl_emu_lane_next(acl_emu_lane *lane, int64_t place, acl_emu_launch *launch)
{
    acl_emu_lock();
    int found = look(lane, place, place, launch, 1) == 1;
    acl_emu_unlock();
    return found;
}

uint32_t acl_emu_addresses(const acl_emu_launch *launch, uint64_t *addresses, uint32_t room)
{
    for (uint32_t i = 0; i < launch->operands->count && i < room; i++)
        addresses[i] = launch->operands->items[i].address;
    return launch->operands->count;
}

void acl_emu_release_launch(acl_emu_launch *launch)
{
    acl_emu_lock();
    release(launch);
    acl_emu_unlock();
}

void acl_emu_lane_reach(acl_emu_lane *lane, int64_t place)
{
    acl_emu_lock();
    if (lane->count && lane->launches[lane->first].place == place)
        drop(lane, 1);
    __atomic_store_n(&lane->done, place, __ATOMIC_SEQ_CST);
    acl_emu_unlock();
}

void acl_emu_lane_close(acl_emu_lane *lane)
{
    acl_emu_lock();
    acl_emu_epoch++; /* no thread may use it any more */
    drop(lane, lane->count);
    free(lane->launches);
    lane->launches = NULL;
    lane->first = lane->count = lane->room = 0;
    __atomic_store_n(&lane->closed, 1, __ATOMIC_SEQ_CST);
    acl_emu_unlock();
    acl_emu_bell_close(&lane->bell);
}

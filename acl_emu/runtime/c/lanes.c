/* Streams: who may use them, what was put there by quick calls, and running that without Python where the engine can.
 *
 * Tasks of Python and launches share the places of a stream. Whoever has the turn runs the next one; where that is not a launch that
 * the engine can run, or where somebody has to be told, it is left to Python: acl_emu/runtime/stream.py.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "bridge.h"

#define PERMITTED 4
#define KEPT_ROOM 16384 /* launches */
#define BATCH 32       /* launches: what a thread runs before it looks at signals and at others */

uint64_t acl_emu_epoch = 1;

/* The streams that the calling thread used last. */
static __thread struct {
    uint64_t epoch, stream;
    acl_emu_lane *lane;
} permitted[PERMITTED];
static __thread unsigned oldest;

static const int64_t *regions;

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
    acl_emu_unlock();
    if (last) {
        free(lane->launches);
        free(lane);
    }
}

void acl_emu_permit(uint64_t stream, acl_emu_lane *lane, uint64_t epoch)
{
    acl_emu_lock();
    int known = acl_emu_lane_of(stream) == lane;
    acl_emu_unlock();
    if (known)
        return;
    unsigned place = oldest++ % PERMITTED;
    permitted[place].epoch = epoch;
    permitted[place].stream = stream;
    permitted[place].lane = lane;
}

acl_emu_lane *acl_emu_lane_of(uint64_t stream)
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

int acl_emu_lane_add(acl_emu_lane *lane, const acl_emu_plan *plan, uint64_t workspace, const uint64_t *addresses)
{
    acl_emu_launch *launch = add_launch(lane);
    if (!launch)
        return 0;
    launch->place = __atomic_add_fetch(&lane->bell.submitted, 1, __ATOMIC_SEQ_CST);
    launch->plan = plan;
    launch->workspace = workspace;
    for (int i = 0; i < ACL_EMU_TENSORS; i++)
        launch->addresses[i] = addresses[i];
    __atomic_store_n(&lane->bell.gathers, !plan->native.run, __ATOMIC_RELAXED);
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
    return __atomic_compare_exchange_n(&lane->turn, &nobody, (uintptr_t)permitted, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void acl_emu_lane_end(acl_emu_lane *lane)
{
    if (__atomic_load_n(&lane->turn, __ATOMIC_SEQ_CST) != (uintptr_t)permitted)
        return;
    __atomic_store_n(&lane->turn, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&lane->closed, __ATOMIC_SEQ_CST))
        __atomic_store_n(&lane->done, __atomic_load_n(&lane->bell.submitted, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
}

/* With the lock held: removes launches from the front. */
static void drop(acl_emu_lane *lane, size_t count)
{
    lane->first = (lane->first + count) % lane->room;
    lane->count -= count;
    if (!lane->count && lane->room > KEPT_ROOM) {
        free(lane->launches);
        lane->launches = NULL;
        lane->first = lane->room = 0;
    }
}

/* With the lock held: copies the launches from `place` on that follow one another, not beyond `last`. */
static size_t look(const acl_emu_lane *lane, int64_t place, int64_t last, acl_emu_launch *launches, size_t most)
{
    size_t count = 0;
    while (count < most && count < lane->count && place + (int64_t)count <= last) {
        const acl_emu_launch *launch = &lane->launches[(lane->first + count) % lane->room];
        if (launch->place != place + (int64_t)count)
            break;
        launches[count++] = *launch;
    }
    return count;
}

/* 0 where Python has to: it knows what to do, and what to say. */
static int run_launch(const acl_emu_launch *launch)
{
    const acl_emu_native *native = &launch->plan->native;
    int64_t addresses[ACL_EMU_OPERANDS];
    if (!native->run || (native->workspace && !acl_emu_holds(launch->workspace, native->workspace)))
        return 0;
    for (uint64_t i = 0; i < native->operands; i++)
        addresses[i] = (int64_t)(native->places[i] < 0 ? launch->workspace : launch->addresses[native->places[i]]) + native->offsets[i];
    return native->run(native->program, addresses, native->threads) == 0;
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
    int is_short = lane->count == 1 && lane->done + 1 == place && lane->launches[lane->first].plan->native.is_short;
    acl_emu_unlock();
    return is_short;
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
    if (ran) {
        lane->ran_short = launches[ran - 1].plan->native.is_short;
        acl_emu_lock();
        if (lane->count) /* it has not been closed meanwhile */
            drop(lane, ran);
        acl_emu_unlock();
    }
    return (int64_t)ran;
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
    acl_emu_epoch++; /* no thread is permitted any more */
    free(lane->launches);
    lane->launches = NULL;
    lane->first = lane->count = lane->room = 0;
    __atomic_store_n(&lane->closed, 1, __ATOMIC_SEQ_CST);
    acl_emu_unlock();
    acl_emu_bell_close(&lane->bell);
}

void acl_emu_set_regions(const int64_t *table)
{
    regions = table;
}

int acl_emu_holds(uint64_t address, uint64_t size)
{
    for (int64_t k = 0; regions && k < regions[0]; k++) {
        const int64_t *region = regions + 1 + 3 * k;
        if (address >= (uint64_t)region[0] && address < (uint64_t)region[1])
            return size <= (uint64_t)region[1] - address;
    }
    return 0;
}

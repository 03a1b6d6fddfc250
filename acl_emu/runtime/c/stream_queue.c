/* Streams: who may use them, what was put there by quick calls, and running that without Python where the engine can.
 *
 * Tasks of Python and launches share the places of a stream. Whoever has the turn runs the next one; where that is not a launch that
 * the engine can run, or where somebody has to be told, it is left to Python: acl_emu/runtime/stream.py.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "bridge.h"

#define STREAMS 4
#define KEPT_CAPACITY 16384 /* launches */
#define BATCH 32       /* launches: what a thread runs before it looks at signals and at others */

uint64_t acl_emu_epoch = 1;

/* The streams that the calling thread used last. */
static __thread struct {
    uint64_t epoch, stream;
    acl_emu_queue *queue;
} remembered[STREAMS];
static __thread unsigned oldest;

static void release(const acl_emu_launch *launch)
{
    acl_emu_release_plan(launch->plan);
    acl_emu_release_operands(launch->operands);
}

/* With the lock held: removes launches from the front. */
static void drop(acl_emu_queue *queue, size_t count)
{
    for (size_t i = 0; i < count; i++)
        release(&queue->launches[(queue->first + i) % queue->capacity]);
    if (count)
        queue->first = (queue->first + count) % queue->capacity;
    queue->count -= count;
    if (!queue->count && queue->capacity > KEPT_CAPACITY) {
        free(queue->launches);
        queue->launches = NULL;
        queue->first = queue->capacity = 0;
    }
}

acl_emu_queue *acl_emu_queue_new(void)
{
    acl_emu_queue *queue = calloc(1, sizeof *queue);
    if (queue)
        queue->users = 1;
    return queue;
}

void acl_emu_queue_leave(acl_emu_queue *queue)
{
    acl_emu_lock();
    int last = --queue->users == 0;
    if (last)
        drop(queue, queue->count);
    acl_emu_unlock();
    if (last) {
        free(queue->launches);
        free(queue);
    }
}

void acl_emu_remember_stream(uint64_t stream, acl_emu_queue *queue, uint64_t epoch)
{
    acl_emu_lock();
    int known = acl_emu_queue_of(stream) == queue;
    acl_emu_unlock();
    if (known)
        return;
    unsigned place = oldest++ % STREAMS;
    remembered[place].epoch = epoch;
    remembered[place].stream = stream;
    remembered[place].queue = queue;
}

acl_emu_queue *acl_emu_queue_of(uint64_t stream)
{
    for (int i = 0; i < STREAMS; i++) {
        if (remembered[i].epoch == acl_emu_epoch && remembered[i].stream == stream)
            return remembered[i].queue;
    }
    return NULL;
}

void acl_emu_new_epoch(void)
{
    acl_emu_lock();
    acl_emu_epoch++;
    acl_emu_unlock();
}

/* With the lock held: a place for one more launch, or NULL. */
static acl_emu_launch *add_launch(acl_emu_queue *queue)
{
    if (queue->count == queue->capacity) {
        size_t capacity = queue->capacity ? 2 * queue->capacity : 64;
        acl_emu_launch *larger = malloc(capacity * sizeof *larger);
        if (!larger)
            return NULL;
        for (size_t i = 0; i < queue->count; i++)
            larger[i] = queue->launches[(queue->first + i) % queue->capacity];
        free(queue->launches);
        queue->launches = larger;
        queue->first = 0;
        queue->capacity = capacity;
    }
    return &queue->launches[(queue->first + queue->count++) % queue->capacity];
}

int acl_emu_queue_add(acl_emu_queue *queue, acl_emu_plan *plan, acl_emu_operands *operands, uint64_t workspace)
{
    acl_emu_launch *launch = queue->closed ? NULL : add_launch(queue);
    if (!launch)
        return 0;
    launch->place = __atomic_add_fetch(&queue->wakeup.submitted, 1, __ATOMIC_SEQ_CST);
    launch->plan = plan;
    launch->operands = operands;
    launch->workspace = workspace;
    launch->done = 0;
    plan->references++;
    __atomic_store_n(&queue->wakeup.gathers, !plan->parts, __ATOMIC_RELAXED);
    if (queue->signals)
        acl_emu_wakeup_signal(&queue->wakeup, plan->is_long || __atomic_load_n(&queue->watchers, __ATOMIC_SEQ_CST));
    return 1;
}

void acl_emu_queue_number(acl_emu_queue *queue, int urgent)
{
    acl_emu_lock();
    queue->numbered = __atomic_add_fetch(&queue->wakeup.submitted, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&queue->wakeup.gathers, 1, __ATOMIC_RELAXED);
    if (queue->signals)
        acl_emu_wakeup_signal(&queue->wakeup, urgent);
    acl_emu_unlock();
}

int acl_emu_queue_begin(acl_emu_queue *queue)
{
    uintptr_t nobody = 0;
    return __atomic_compare_exchange_n(&queue->turn, &nobody, (uintptr_t)remembered, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void acl_emu_queue_end(acl_emu_queue *queue)
{
    if (__atomic_load_n(&queue->turn, __ATOMIC_SEQ_CST) != (uintptr_t)remembered)
        return;
    __atomic_store_n(&queue->turn, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&queue->closed, __ATOMIC_SEQ_CST))
        __atomic_store_n(&queue->done, __atomic_load_n(&queue->wakeup.submitted, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
}

/* With the lock held: copies the launches from `place` on that follow one another, not beyond `last`, with references of their own. */
static size_t look(const acl_emu_queue *queue, int64_t place, int64_t last, acl_emu_launch *launches, size_t most)
{
    size_t count = 0;
    while (count < most && count < queue->count && place + (int64_t)count <= last) {
        const acl_emu_launch *launch = &queue->launches[(queue->first + count) % queue->capacity];
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
static int unwatched(const acl_emu_queue *queue)
{
    return __atomic_load_n(&acl_emu_open, __ATOMIC_SEQ_CST) && !__atomic_load_n(&queue->troubled, __ATOMIC_SEQ_CST) &&
           !__atomic_load_n(&queue->waiting, __ATOMIC_SEQ_CST) && !__atomic_load_n(&queue->watchers, __ATOMIC_SEQ_CST) &&
           !__atomic_load_n(&queue->wakeup.closed, __ATOMIC_SEQ_CST);
}

int acl_emu_queue_is_short(const acl_emu_queue *queue, int64_t place)
{
    acl_emu_lock();
    int found = queue->count == 1 && queue->done + 1 == place && is_short(queue->launches[queue->first].plan);
    acl_emu_unlock();
    return found;
}

int64_t acl_emu_queue_run(acl_emu_queue *queue, int64_t place)
{
    acl_emu_launch launches[BATCH];
    size_t ran = 0;
    if (!unwatched(queue))
        return 0;
    acl_emu_lock();
    size_t count = look(queue, queue->done + 1, place, launches, BATCH);
    acl_emu_unlock();
    while (ran < count && (!ran || unwatched(queue)) && run_launch(&launches[ran]))
        __atomic_store_n(&queue->done, launches[ran++].place, __ATOMIC_SEQ_CST);
    if (ran)
        queue->ran_short = is_short(launches[ran - 1].plan);
    acl_emu_lock();
    if (queue->count) { /* it has not been closed meanwhile */
        drop(queue, ran);
        if (ran < count && queue->count)
            queue->launches[queue->first].done = launches[ran].done;
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
    acl_emu_queue *queue = acl_emu_open ? acl_emu_queue_of(arguments[0].u) : NULL;
    if (queue)
        queue->users++;
    acl_emu_unlock();
    if (!queue)
        return 0;
    const int64_t place = __atomic_load_n(&queue->wakeup.submitted, __ATOMIC_SEQ_CST);
    if (queue->waits && queue->done < place && acl_emu_queue_begin(queue)) {
        __atomic_store_n(&queue->wakeup.taken, place, __ATOMIC_SEQ_CST);
        while (queue->done < place && acl_emu_queue_run(queue, place))
            ;
        acl_emu_queue_end(queue);
    }
    int done = queue->waits && queue->done >= place && queue->done == queue->wakeup.submitted && !queue->troubled && !queue->waiting && !queue->watchers;
    acl_emu_queue_leave(queue);
    result->i = 0;
    return done;
}

int acl_emu_queue_serve(acl_emu_queue *queue, int64_t idle)
{
    int called;
    while ((called = acl_emu_wakeup_wait(&queue->wakeup, idle)) > 0) {
        int64_t submitted = __atomic_load_n(&queue->wakeup.submitted, __ATOMIC_SEQ_CST);
        __atomic_store_n(&queue->wakeup.taken, submitted, __ATOMIC_SEQ_CST); /* who runs tasks now calls again when it leaves some */
        if (__atomic_load_n(&queue->waiting, __ATOMIC_SEQ_CST) || !acl_emu_queue_begin(queue))
            continue;
        int64_t ran;
        do { /* short ones that come one by one are not worth to be in the way of the thread that they come from */
            submitted = __atomic_load_n(&queue->wakeup.submitted, __ATOMIC_SEQ_CST);
            ran = acl_emu_queue_run(queue, submitted);
        } while (ran == BATCH || (ran && !queue->ran_short));
        int64_t done = __atomic_load_n(&queue->done, __ATOMIC_SEQ_CST);
        acl_emu_queue_end(queue);
        __atomic_store_n(&queue->wakeup.taken, done, __ATOMIC_SEQ_CST);
        if ((done < submitted && !ran) || __atomic_load_n(&queue->waiting, __ATOMIC_SEQ_CST) || __atomic_load_n(&queue->watchers, __ATOMIC_SEQ_CST))
            return 1;
    }
    return called;
}

int acl_emu_queue_next(acl_emu_queue *queue, int64_t place, acl_emu_launch *launch)
{
    acl_emu_lock();
    int found = look(queue, place, place, launch, 1) == 1;
    acl_emu_unlock();
    return found;
}

uint32_t acl_emu_addresses(const acl_emu_launch *launch, uint64_t *addresses, uint32_t capacity)
{
    for (uint32_t i = 0; i < launch->operands->count && i < capacity; i++)
        addresses[i] = launch->operands->items[i].address;
    return launch->operands->count;
}

void acl_emu_release_launch(acl_emu_launch *launch)
{
    acl_emu_lock();
    release(launch);
    acl_emu_unlock();
}

void acl_emu_queue_reach(acl_emu_queue *queue, int64_t place)
{
    acl_emu_lock();
    if (queue->count && queue->launches[queue->first].place == place)
        drop(queue, 1);
    __atomic_store_n(&queue->done, place, __ATOMIC_SEQ_CST);
    acl_emu_unlock();
}

void acl_emu_queue_close(acl_emu_queue *queue)
{
    acl_emu_lock();
    acl_emu_epoch++; /* no thread may use it any more */
    drop(queue, queue->count);
    free(queue->launches);
    queue->launches = NULL;
    queue->first = queue->count = queue->capacity = 0;
    __atomic_store_n(&queue->closed, 1, __ATOMIC_SEQ_CST);
    acl_emu_unlock();
    acl_emu_wakeup_close(&queue->wakeup);
}

/* The threads that kernels share: whoever runs a kernel lets helpers join, and works along with them.
 *
 * Several kernels may run at a time, one for each stream. A helper that is through with one looks for another that still wants some, so
 * that no processor is left idle while a kernel is running; whoever runs one never waits for a helper that has not joined. */
#define _GNU_SOURCE
#include "engine.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))

enum { MOST_HELPERS = 1023 };
enum { LISTEN = 100000 }; /* nanoseconds that a thread waits awake: longer than it takes to wake one, and than a short pause between calls */

typedef struct job {
    struct job *next;
    void (*function)(void *);
    void *argument;
    int64_t wanted;    /* helpers that may still join */
    atomic_int active; /* helpers that have joined */
} job;

/* A thread that finds the lock taken tries again for a while: it is never held for long, and to be woken would take longer. */
#if defined(PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP)
#define FREE PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#else
#define FREE PTHREAD_MUTEX_INITIALIZER
#endif

static struct {
    pthread_mutex_t lock; /* of all this, but for what is atomic */
    pthread_cond_t wake, done;
    job *jobs; /* those that want helpers, the oldest first */
    int64_t helpers, asleep;
    pthread_t threads[MOST_HELPERS];
    int kept_free; /* the processor that helpers keep away from */
    atomic_uint_fast64_t number; /* of jobs so far */
} pool = {.lock = FREE, .wake = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER, .kept_free = -1};

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* Whether a thread that waits awake has a processor of its own. */
static int may_listen(void)
{
    static atomic_int processors;
    if (!atomic_load(&processors)) {
        cpu_set_t set;
        atomic_store(&processors, sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1);
    }
    return pool.helpers < atomic_load(&processors);
}

/* With the lock held: a job that wants a helper, which has joined it; NULL where there is none. */
static job *join(void)
{
    job *found = pool.jobs;
    if (found) {
        atomic_fetch_add(&found->active, 1);
        if (--found->wanted == 0) {
            pool.jobs = found->next;
        }
    }
    return found;
}

/* Waits for a job that is newer than those seen. */
static void listen(uint64_t seen)
{
    pthread_mutex_lock(&pool.lock);
    const int awake = may_listen();
    pthread_mutex_unlock(&pool.lock);
    for (int64_t end = awake ? now() + LISTEN : 0; now() < end;) {
        for (int k = 0; k < 64; k++) {
            if (atomic_load(&pool.number) != seen) {
                return;
            }
            pause_briefly();
        }
    }
    pthread_mutex_lock(&pool.lock);
    pool.asleep++;
    while (atomic_load(&pool.number) == seen) {
        pthread_cond_wait(&pool.wake, &pool.lock);
    }
    pool.asleep--;
    pthread_mutex_unlock(&pool.lock);
}

static void *help(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&pool.lock);
        const uint64_t seen = atomic_load(&pool.number);
        job *work;
        while ((work = join())) {
            pthread_mutex_unlock(&pool.lock);
            work->function(work->argument);
            pthread_mutex_lock(&pool.lock);
            if (atomic_fetch_sub(&work->active, 1) == 1) {
                pthread_cond_broadcast(&pool.done);
            }
        }
        pthread_mutex_unlock(&pool.lock);
        listen(seen);
    }
    return NULL;
}

/* A child process has none of its parent's helpers, whatever state they were in. */
static void forget_helpers(void)
{
    pool.lock = (pthread_mutex_t)FREE;
    pthread_cond_init(&pool.wake, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.jobs = NULL;
    pool.helpers = pool.asleep = 0;
    pool.kept_free = -1;
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_helpers);
}

/* With the lock held. */
static void start_helpers(int64_t count)
{
    while (pool.helpers < count && pool.helpers < MOST_HELPERS) {
        pthread_attr_t detached;
        pthread_attr_init(&detached);
        pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
        const int failed = pthread_create(&pool.threads[pool.helpers], &detached, help, NULL);
        pthread_attr_destroy(&detached);
        if (failed) {
            return;
        }
        pool.helpers++;
        pool.kept_free = -1;
    }
}

/* With the lock held: whoever is woken may find itself waiting for the processor of the thread that woke it, which does not wait for it and so
 * does all the work alone. Helpers stay on the others, if there are any. */
static void keep_away(void)
{
    const int here = sched_getcpu();
    cpu_set_t others;
    if (here < 0 || here == pool.kept_free || sched_getaffinity(0, sizeof others, &others)) {
        return;
    }
    CPU_CLR(here, &others);
    for (int64_t k = 0; k < pool.helpers && CPU_COUNT(&others); k++) {
        pthread_setaffinity_np(pool.threads[k], sizeof others, &others);
    }
    pool.kept_free = here;
}

/* With the lock held: lets helpers join a job, behind those that came before. */
static void offer(job *work)
{
    job **last = &pool.jobs;
    while (*last) {
        last = &(*last)->next;
    }
    *last = work;
    atomic_fetch_add(&pool.number, 1);
    if (pool.asleep) {
        keep_away();
    }
    for (int64_t k = 0; k < work->wanted && k < pool.asleep; k++) {
        pthread_cond_signal(&pool.wake);
    }
}

/* With the lock held: lets no more of them join. */
static void withdraw(const job *work)
{
    job **place = &pool.jobs;
    while (*place && *place != work) {
        place = &(*place)->next;
    }
    if (*place) {
        *place = work->next;
    }
}

EXPORT void acl_emu_engine_together(void (*function)(void *), void *argument, int64_t threads)
{
    job work = {.function = function, .argument = argument, .wanted = threads - 1};
    if (threads < 2) {
        function(argument);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    start_helpers(work.wanted);
    offer(&work);
    const int awake = may_listen();
    pthread_mutex_unlock(&pool.lock);
    function(argument);
    pthread_mutex_lock(&pool.lock);
    withdraw(&work);
    pthread_mutex_unlock(&pool.lock);
    for (int64_t end = awake ? now() + LISTEN : 0; atomic_load(&work.active) && now() < end;) {
        pause_briefly();
    }
    pthread_mutex_lock(&pool.lock);
    while (atomic_load(&work.active)) {
        pthread_cond_wait(&pool.done, &pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
}

/* The threads that kernels share: whoever runs a kernel calls the helpers together, and works along with them. */
#define _GNU_SOURCE
#include "engine.h"

#include <pthread.h>
#include <stdatomic.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))

enum { SPINS = 2000 }; /* about as long as it takes to wake a thread */

static struct {
    pthread_mutex_t in_use; /* held by the caller whose job the helpers work on */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    int helpers;
    atomic_int wanted; /* helpers that may still join */
    atomic_int active; /* helpers that have joined, or are about to find out that they may not */
    atomic_uint_fast64_t number;
    void (*function)(void *);
    void *argument;
} pool = {.in_use = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int joined(void)
{
    int left = atomic_load(&pool.wanted);
    while (left > 0) {
        if (atomic_compare_exchange_weak(&pool.wanted, &left, left - 1)) {
            return 1;
        }
    }
    return 0;
}

static void *help(void *unused)
{
    uint64_t seen = 0;
    (void)unused;
    for (;;) {
        for (int k = 0; k < SPINS && atomic_load(&pool.number) == seen; k++) {
            pause_briefly();
        }
        if (atomic_load(&pool.number) == seen) {
            pthread_mutex_lock(&pool.lock);
            while (atomic_load(&pool.number) == seen) {
                pthread_cond_wait(&pool.wake, &pool.lock);
            }
            pthread_mutex_unlock(&pool.lock);
        }
        seen = atomic_load(&pool.number);
        atomic_fetch_add(&pool.active, 1);
        if (joined()) {
            pool.function(pool.argument);
        }
        if (atomic_fetch_sub(&pool.active, 1) == 1) {
            pthread_mutex_lock(&pool.lock);
            pthread_cond_signal(&pool.done);
            pthread_mutex_unlock(&pool.lock);
        }
    }
    return NULL;
}

/* A child process has none of its parent's helpers, whatever state they were in. */
static void forget_helpers(void)
{
    pthread_mutex_init(&pool.in_use, NULL);
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.wake, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.helpers = 0;
    atomic_store(&pool.wanted, 0);
    atomic_store(&pool.active, 0);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_helpers);
}

static void start_helpers(int64_t count)
{
    while (pool.helpers < count) {
        pthread_t thread;
        pthread_attr_t detached;
        pthread_attr_init(&detached);
        pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
        const int failed = pthread_create(&thread, &detached, help, NULL);
        pthread_attr_destroy(&detached);
        if (failed) {
            return;
        }
        pool.helpers++;
    }
}

EXPORT void acl_emu_engine_together(void (*function)(void *), void *argument, int64_t threads)
{
    if (threads < 2 || pthread_mutex_trylock(&pool.in_use)) {
        function(argument); /* another stream has the helpers */
        return;
    }
    start_helpers(threads - 1);
    pool.function = function;
    pool.argument = argument;
    atomic_store(&pool.wanted, threads - 1 < pool.helpers ? (int)threads - 1 : pool.helpers);
    pthread_mutex_lock(&pool.lock);
    atomic_fetch_add(&pool.number, 1);
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
    function(argument);
    atomic_store(&pool.wanted, 0);
    for (int k = 0; k < SPINS && atomic_load(&pool.active); k++) {
        pause_briefly();
    }
    pthread_mutex_lock(&pool.lock);
    while (atomic_load(&pool.active)) {
        pthread_cond_wait(&pool.done, &pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&pool.in_use);
}

/* Work on elements that indices choose, on all threads. Each element is one thread's, so no result depends on their number. */
#include "engine.h"

#include <stdatomic.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_CPU __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_CPU
#endif

void acl_emu_engine_together(void (*function)(void *), void *argument, int64_t threads);

typedef struct {
    const void *call;
    int64_t units;
    atomic_int_fast64_t next;
} job;

static int64_t at_most(int64_t length, int64_t most)
{
    return length < most ? length : most;
}

static void run(void (*function)(void *), const void *call, int64_t units, int64_t threads)
{
    job work = {.call = call, .units = units};
    acl_emu_engine_together(function, &work, at_most(threads, units));
}

/* Products of a row of one matrix and a row of another, in double. */

enum { DOT_LANES = 16, DOTS = 64 };

typedef struct {
    const float *a, *b; /* rows of `inner` contiguous numbers */
    int64_t inner, count;
    const int64_t *row_of_a, *row_of_b;
    double *result;
} dots_call;

FOR_EACH_CPU static double dot(const float *a, const float *b, int64_t inner)
{
    double sums[DOT_LANES] = {0}, total = 0;
    int64_t k = 0;
    for (; k + DOT_LANES <= inner; k += DOT_LANES) {
        for (int64_t lane = 0; lane < DOT_LANES; lane++) {
            sums[lane] += (double)a[k + lane] * (double)b[k + lane];
        }
    }
    for (int64_t lane = 0; lane < DOT_LANES; lane++) {
        total += sums[lane];
    }
    for (; k < inner; k++) {
        total += (double)a[k] * (double)b[k];
    }
    return total;
}

static void run_dots(void *argument)
{
    job *work = argument;
    const dots_call *call = work->call;
    int64_t unit;
    while ((unit = atomic_fetch_add(&work->next, 1)) < work->units) {
        const int64_t end = at_most((unit + 1) * DOTS, call->count);
        for (int64_t n = unit * DOTS; n < end; n++) {
            call->result[n] = dot(call->a + call->row_of_a[n] * call->inner, call->b + call->row_of_b[n] * call->inner, call->inner);
        }
    }
}

EXPORT void acl_emu_index_dots(const dots_call *call, int64_t threads)
{
    run(run_dots, call, (call->count + DOTS - 1) / DOTS, threads);
}

/* A matrix product in tiles: BLAS computes each of them on one thread, the tiles are spread over all threads.
 *
 * The cut is the caller's and depends on the shape only, so the bits of a result do not depend on the number of threads. */
#include "engine.h"

#include <pthread.h>
#include <stdatomic.h>

#define EXPORT __attribute__((visibility("default")))

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

/* cblas_sgemm, with integers of 64 bits and of 32. */
typedef void sgemm_64(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *, int64_t, float, float *, int64_t);
typedef void sgemm_32(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);

/* The layout is known to acl_emu/matmul.py. A matrix is transposed where its columns are contiguous instead of its rows. */
typedef struct {
    void *sgemm;
    int64_t wide; /* whether its integers have 64 bits */
    int (*get_threads)(void);
    void (*set_threads)(int count);
    int64_t rows, inner, columns;
    int64_t a_transposed, b_transposed, a_lead, b_lead, out_lead;
    int64_t tile_rows, tile_columns;
    int64_t add; /* to what is there */
} product;

typedef struct {
    const product *whole;
    const float *a, *b;
    float *out;
    int64_t down, tiles;
    atomic_int_fast64_t next;
} job;

static int64_t at_most(int64_t length, int64_t most)
{
    return length < most ? length : most;
}

static void run_tiles(void *argument)
{
    job *work = argument;
    const product *p = work->whole;
    const int a_order = p->a_transposed ? TRANSPOSED : PLAIN, b_order = p->b_transposed ? TRANSPOSED : PLAIN;
    const float kept = p->add ? 1 : 0;
    int64_t tile;
    while ((tile = atomic_fetch_add(&work->next, 1)) < work->tiles) {
        const int64_t row = tile % work->down * p->tile_rows, column = tile / work->down * p->tile_columns;
        const int64_t rows = at_most(p->rows - row, p->tile_rows), columns = at_most(p->columns - column, p->tile_columns);
        const float *a = work->a + row * (p->a_transposed ? 1 : p->a_lead), *b = work->b + column * (p->b_transposed ? p->b_lead : 1);
        float *out = work->out + row * p->out_lead + column;
        if (p->wide) {
            ((sgemm_64 *)p->sgemm)(ROW_MAJOR, a_order, b_order, rows, columns, p->inner, 1, a, p->a_lead, b, p->b_lead, kept, out, p->out_lead);
        } else {
            ((sgemm_32 *)p->sgemm)(ROW_MAJOR, a_order, b_order, (int)rows, (int)columns, (int)p->inner, 1, a, (int)p->a_lead, b, (int)p->b_lead,
                                   kept, out, (int)p->out_lead);
        }
    }
}

/* While there are products, BLAS uses the calling thread only; afterwards as many as before. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users, before;

static void change_users(const product *whole, int by)
{
    pthread_mutex_lock(&lock);
    if (!users) {
        before = whole->get_threads();
        whole->set_threads(1);
    }
    users += by;
    if (!users) {
        whole->set_threads(before);
    }
    pthread_mutex_unlock(&lock);
}

/* The addresses are those of both matrices and of the result. */
EXPORT int64_t acl_emu_gemm_run(const product *whole, const int64_t *addresses, int64_t threads)
{
    job work = {
        .whole = whole,
        .a = (const float *)addresses[0],
        .b = (const float *)addresses[1],
        .out = (float *)addresses[2],
        .down = (whole->rows + whole->tile_rows - 1) / whole->tile_rows,
    };
    work.tiles = work.down * ((whole->columns + whole->tile_columns - 1) / whole->tile_columns);
    change_users(whole, 1);
    acl_emu_engine_together(run_tiles, &work, at_most(threads, work.tiles));
    change_users(whole, -1);
    return 0;
}

/* Matrices as HFLOAT32 holds them: FLOAT with 11 of the 23 bits behind the point, rounded to nearest even. */

enum { SHORTENED = 1 << 14 };

typedef struct {
    uint32_t *bits;
    int64_t count;
    atomic_int_fast64_t next;
} shorten_job;

static void run_shorten(void *argument)
{
    shorten_job *work = argument;
    int64_t first;
    while ((first = SHORTENED * atomic_fetch_add(&work->next, 1)) < work->count) {
        const int64_t end = first + at_most(work->count - first, SHORTENED);
        for (int64_t n = first; n < end; n++) {
            const uint32_t bits = work->bits[n], finite = (bits & 0x7F800000) != 0x7F800000;
            work->bits[n] = finite ? (bits + 0x7FF + (bits >> 12 & 1)) & 0xFFFFF000 : bits;
        }
    }
}

EXPORT int64_t acl_emu_gemm_shorten(const int64_t *count, const int64_t *addresses, int64_t threads)
{
    shorten_job work = {.bits = (uint32_t *)addresses[0], .count = *count};
    acl_emu_engine_together(run_shorten, &work, threads);
    return 0;
}

/* Slices that indices choose: copied, or added up. */
#include "index.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { SOME = 512, UNIT_BYTES = 1 << 16, ROWS = 64, COLUMNS = 256, LINE = 64, FETCHED = 1024, AHEAD = 8 };
enum { STREAMED_SLICE = 256, STREAMED_BYTES = 1 << 23 }; /* from here on a result is best written past the caches */

/* Whether all indices are in [low, length). */
static int all_within(const char *index, int64_t stride, int64_t dtype, int64_t count, int64_t low, int64_t length)
{
    int64_t places[SOME];
    for (int64_t n = 0; n < count; n += SOME) {
        const int64_t some = at_most(count - n, SOME);
        int wrong = 0;
        acl_emu_index_load_integers(places, index + n * stride, stride, dtype, some);
        for (int64_t k = 0; k < some; k++) {
            wrong |= places[k] < low || places[k] >= length;
        }
        if (wrong) {
            return 0;
        }
    }
    return 1;
}

/* Memory that is needed soon and that no prefetcher foresees: the first lines of a slice. */
static inline void fetch(const char *from, int64_t bytes)
{
    for (int64_t at = 0; at < bytes && at < FETCHED; at += LINE) {
        __builtin_prefetch(from + at);
    }
}

/* The order is known to aclnnop/index/gathering.py. Operands: source, indices, result, which is contiguous. */
typedef struct {
    operand_list list;
    int64_t outer, length, count; /* blocks of slices, slices of each, indices */
    int64_t slice;                /* bytes of a slice, which follow each other */
    int64_t block, step;          /* bytes between blocks and slices of the source */
    int64_t index_dtype, index_stride;
    int64_t negative; /* whether indices below 0 count from the end */
} gather_call;

enum { SOURCE, INDEX, TARGET };

typedef struct {
    const gather_call *call;
    char *memory[MOST_OPERANDS];
    int64_t slices; /* of a unit */
    int streamed;   /* whether slices are written past the caches */
} gather_run;

#define EACH(size)                                                      \
    for (int64_t k = 0; k < some; k++) {                                \
        memcpy(to + k * (size), from + places[k] * step, (size_t)(size)); \
    }

static void copy_slices(char *to, const char *from, const int64_t *places, int64_t some, int64_t step, int64_t slice, int streamed)
{
    switch (slice) {
    case 1: EACH(1) break;
    case 2: EACH(2) break;
    case 4: EACH(4) break;
    case 8: EACH(8) break;
    case 16: EACH(16) break;
    default:
        for (int64_t k = 0; k < some; k++) {
            if (k + AHEAD < some) {
                fetch(from + places[k + AHEAD] * step, slice);
            }
            if (streamed) {
                acl_emu_engine_tiles->stream(to + k * slice, from + places[k] * step, (size_t)slice);
            } else {
                memcpy(to + k * slice, from + places[k] * step, (size_t)slice);
            }
        }
    }
}

static void run_gather(void *argument)
{
    job *work = argument;
    const gather_run *one = work->call;
    const gather_call *call = one->call;
    int64_t places[SOME];
    for (int64_t unit; next_unit(work, &unit);) {
        const int64_t end = at_most((unit + 1) * one->slices, call->outer * call->count);
        for (int64_t n = unit * one->slices; n < end;) {
            const int64_t block = n / call->count, first = n % call->count;
            const int64_t some = at_most(at_most(end - n, call->count - first), SOME);
            acl_emu_index_load_integers(places, one->memory[INDEX] + first * call->index_stride, call->index_stride, call->index_dtype, some);
            for (int64_t k = 0; k < some && call->negative; k++) {
                places[k] += places[k] < 0 ? call->length : 0;
            }
            copy_slices(one->memory[TARGET] + n * call->slice, one->memory[SOURCE] + block * call->block, places, some, call->step, call->slice,
                        one->streamed);
            n += some;
        }
    }
#if defined(__x86_64__)
    if (one->streamed) {
        _mm_sfence(); /* what passed by the caches is there for whoever is told that all is done */
    }
#endif
}

EXPORT int64_t acl_emu_gather_slices(const gather_call *call, const int64_t *addresses, int64_t threads)
{
    gather_run one = {.call = call};
    if (!acl_emu_index_locate(&call->list, addresses, one.memory) ||
        !all_within(one.memory[INDEX], call->index_stride, call->index_dtype, call->count, call->negative ? -call->length : 0, call->length)) {
        return LEFT_TO_NUMPY;
    }
    one.slices = UNIT_BYTES / call->slice + 1;
    one.streamed = call->slice >= STREAMED_SLICE && call->outer * call->count * call->slice >= STREAMED_BYTES;
    run(run_gather, &one, parts_of(call->outer * call->count, one.slices), threads);
    return DONE;
}

/* The order is known to aclnnop/index/row_sums.py. Numbers of a row follow each other; all are of one type. */
typedef struct {
    operand_list list;
    int64_t index, source, self, target;              /* which operands they are; self: -1 where there is none */
    int64_t rows, count, width;                       /* of the target, of the source, numbers in a row */
    int64_t dtype, source_step, self_step, target_step; /* bytes between rows */
    int64_t index_dtype, index_stride;
    int64_t padding; /* a row that is 0; -1: none */
    int64_t is_mean; /* whether sums are divided by the number of their terms */
    double factor;   /* of each term */
} sum_call;

typedef struct {
    const sum_call *call;
    char *memory[MOST_OPERANDS];
    const int64_t *first; /* where the updates of each row begin in `order`, and behind the last one */
    const int64_t *order;
} sum_run;

/* A part of a row: its terms in the order in which they come, in double; and what was there. */
static void sum_part(const sum_run *one, int64_t row, int64_t column, int64_t count)
{
    const sum_call *call = one->call;
    const int64_t item = item_of(call->dtype), begin = one->first[row], end = one->first[row + 1];
    double sums[COLUMNS], term[COLUMNS];
    for (int64_t n = begin; n < end; n++) {
        const char *rows = one->memory[call->source] + column * item, *from = rows + one->order[n] * call->source_step;
        if (n + AHEAD < call->count) {
            fetch(rows + one->order[n + AHEAD] * call->source_step, count * item);
        }
        acl_emu_index_load(n == begin ? sums : term, from, item, call->dtype, count);
        if (call->factor != 1) {
            double *scaled = n == begin ? sums : term;
            for (int64_t k = 0; k < count; k++) {
                scaled[k] *= call->factor;
            }
        }
        for (int64_t k = 0; k < count && n > begin; k++) {
            sums[k] += term[k];
        }
    }
    for (int64_t k = 0; k < count && call->is_mean; k++) {
        sums[k] /= (double)(end - begin);
    }
    if (call->self >= 0) {
        acl_emu_index_load(term, one->memory[call->self] + row * call->self_step + column * item, item, call->dtype, count);
        for (int64_t k = 0; k < count; k++) {
            sums[k] = term[k] + sums[k];
        }
    }
    acl_emu_index_store(one->memory[call->target] + row * call->target_step + column * item, item, call->dtype, sums, count);
}

static void run_sums(void *argument)
{
    job *work = argument;
    const sum_run *one = work->call;
    const sum_call *call = one->call;
    const size_t bytes = (size_t)(call->width * item_of(call->dtype));
    for (int64_t unit; next_unit(work, &unit);) {
        const int64_t end = at_most((unit + 1) * ROWS, call->rows);
        for (int64_t row = unit * ROWS; row < end; row++) {
            char *target = one->memory[call->target] + row * call->target_step;
            if (one->first[row] < one->first[row + 1] && row != call->padding) {
                for (int64_t column = 0; column < call->width; column += COLUMNS) {
                    sum_part(one, row, column, at_most(call->width - column, COLUMNS));
                }
            } else if (call->self < 0) {
                memset(target, 0, bytes);
            } else if (call->self != call->target) {
                memcpy(target, one->memory[call->self] + row * call->self_step, bytes);
            }
        }
    }
}

/* Updates by their rows, those of one row in the order in which they come. */
static void sort_updates(const sum_call *call, const char *index, int64_t *first, int64_t *order)
{
    int64_t places[SOME];
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t n = 0; n < call->count; n += SOME) {
            const int64_t some = at_most(call->count - n, SOME);
            acl_emu_index_load_integers(places, index + n * call->index_stride, call->index_stride, call->index_dtype, some);
            for (int64_t k = 0; k < some; k++) {
                if (pass) {
                    order[first[places[k]]++] = n + k;
                } else {
                    first[places[k]]++;
                }
            }
        }
        int64_t before = 0;
        for (int64_t row = 0; row <= call->rows; row++) { /* counts become beginnings; ends, the beginnings of the next rows, beginnings again */
            const int64_t found = first[row];
            first[row] = before;
            before = pass ? found : before + found;
        }
    }
}

EXPORT int64_t acl_emu_sum_rows(const sum_call *call, const int64_t *addresses, int64_t threads)
{
    sum_run one = {.call = call};
    if (!acl_emu_index_locate(&call->list, addresses, one.memory) ||
        !all_within(one.memory[call->index], call->index_stride, call->index_dtype, call->count, 0, call->rows)) {
        return LEFT_TO_NUMPY;
    }
    int64_t *first = calloc((size_t)(call->rows + 1 + call->count), sizeof *first);
    if (!first) {
        return LEFT_TO_NUMPY;
    }
    one.first = first;
    one.order = first + call->rows + 1;
    sort_updates(call, one.memory[call->index], first, first + call->rows + 1);
    run(run_sums, &one, parts_of(call->rows, ROWS), threads);
    free(first);
    return DONE;
}

/* A linear layer over a vocabulary, a block of words at a time: what is done between the matrix products, as steps of a chain (index_chain.c).
 *
 * Functions of their own: a block of logits is reduced, masked and looked up while the caches hold it, and never written as a matrix of all words.
 *
 * Matrices of floats have contiguous rows, so have the numbers that steps leave to each other. A row's word is that of its target, -1 where the
 * target is masked. The order of the fields of all calls is known to aclnnop/matmul. */
#include "index.h"

#include <math.h>
#include <string.h>

enum { ROWS = TILE_BYTES / sizeof(double), PIECE = TILE_BYTES / sizeof(float) }; /* that the functions on tiles take at once */

static inline int64_t rows_from(int64_t first, int64_t rows)
{
    return at_most(rows - first, ROWS);
}

static inline void store_float(char *to, float value)
{
    memcpy(to, &value, sizeof value);
}

/* Targets */

typedef struct {
    int64_t rows, words, start, end;
    int64_t target_dtype, target_stride, mask_stride, local_stride;
} local_call;

/* Targets; to a mask in bits, targets as words of this shard, and the same for the steps that follow. One that is no word is left to numpy before
 * anything is written. */
EXPORT int64_t acl_emu_words_local(const local_call *call, const int64_t *addresses, int64_t threads)
{
    const char *targets = (const char *)addresses[0];
    char *masks = (char *)addresses[1], *locals = (char *)addresses[2];
    int64_t *words = (int64_t *)addresses[3];
    (void)threads; /* there is not enough to do */
    acl_emu_index_load_integers(words, targets, call->target_stride, call->target_dtype, call->rows);
    for (int64_t row = 0; row < call->rows; row++) {
        words[row] = words[row] >= call->start && words[row] < call->end ? words[row] - call->start : -1;
        if (words[row] >= call->words) {
            return LEFT_TO_NUMPY;
        }
    }
    for (int64_t row = 0; row < call->rows; row++) {
        const int64_t local = words[row] < 0 ? 0 : words[row];
        const int32_t narrow = (int32_t)local;
        memcpy(locals + row * call->local_stride, call->target_dtype == I32 ? (const void *)&narrow : &local, call->target_dtype == I32 ? 4 : 8);
    }
    const int padding = call->start > 0 || call->end <= 0; /* what fills up the last byte is as if it were a target of 0 */
    for (int64_t first = 0; first < call->rows; first += 8) {
        unsigned char mask = 0;
        for (int64_t bit = 0; bit < 8; bit++) {
            mask |= (unsigned char)((first + bit < call->rows ? words[first + bit] < 0 : padding) << bit);
        }
        memcpy(masks + first / 8 * call->mask_stride, &mask, 1);
    }
    return DONE;
}

typedef struct {
    int64_t rows, words;
    int64_t target_dtype, target_stride, in_bits, mask_stride;
} masked_call;

/* A mask, in bits or one BOOL for each row, and targets; to words. */
EXPORT int64_t acl_emu_words_masked(const masked_call *call, const int64_t *addresses, int64_t threads)
{
    const char *masks = (const char *)addresses[0], *targets = (const char *)addresses[1];
    int64_t *words = (int64_t *)addresses[2];
    (void)threads;
    acl_emu_index_load_integers(words, targets, call->target_stride, call->target_dtype, call->rows);
    for (int64_t row = 0; row < call->rows; row++) {
        const unsigned char mask = (unsigned char)masks[(call->in_bits ? row / 8 : row) * call->mask_stride];
        if (call->in_bits ? mask >> row % 8 & 1 : mask) {
            words[row] = -1;
        } else if (words[row] < 0 || words[row] >= call->words) {
            return LEFT_TO_NUMPY;
        }
    }
    return DONE;
}

/* The largest logit and the sum of exponentials below it */

typedef struct {
    int64_t rows, first, words; /* those of the block */
} merge_call;

/* What a sum of exponentials below one maximum is multiplied by, to be one below another. */
static void scales_below(double *scales, const float *lower, const float *upper, int64_t count)
{
    for (int64_t n = 0; n < count; n++) {
        scales[n] = (double)lower[n] - (double)upper[n];
    }
    acl_emu_engine_tiles->exp(scales, scales, (size_t)count);
    for (int64_t n = 0; n < count; n++) {
        scales[n] = lower[n] == upper[n] ? 1 : scales[n];
    }
}

/* Logits of a block, words, its maxima and sums; into the logits of the targets, maxima and sums so far. */
EXPORT int64_t acl_emu_words_merge(const merge_call *call, const int64_t *addresses, int64_t threads)
{
    const float *logits = (const float *)addresses[0], *block_largest = (const float *)addresses[2], *block_total = (const float *)addresses[3];
    const int64_t *words = (const int64_t *)addresses[1];
    float *predicted = (float *)addresses[4], *largest = (float *)addresses[5];
    double *total = (double *)addresses[6];
    (void)threads;
    for (int64_t first = 0; first < call->rows; first += ROWS) {
        const int64_t count = rows_from(first, call->rows);
        float before[ROWS];
        double scales[ROWS], block_scales[ROWS];
        for (int64_t n = 0, row = first; n < count; n++, row++) {
            const int64_t column = words[row] - call->first;
            before[n] = call->first ? largest[row] : -INFINITY;
            largest[row] = before[n] >= block_largest[row] || before[n] != before[n] ? before[n] : block_largest[row];
            if (column >= 0 && column < call->words) {
                predicted[row] = logits[row * call->words + column];
            }
        }
        scales_below(scales, before, largest + first, count);
        scales_below(block_scales, block_largest + first, largest + first, count);
        for (int64_t n = 0, row = first; n < count; n++, row++) {
            total[row] = (call->first ? total[row] : 0) * scales[n] + (double)block_total[row] * block_scales[n];
        }
    }
    return DONE;
}

typedef struct {
    int64_t rows;
    int64_t largest_stride, total_stride, predicted_stride;
} finish_call;

/* Words, logits of the targets, maxima, sums; to the results. */
EXPORT int64_t acl_emu_words_finish(const finish_call *call, const int64_t *addresses, int64_t threads)
{
    const int64_t *words = (const int64_t *)addresses[0];
    const float *predicted = (const float *)addresses[1], *largest = (const float *)addresses[2];
    const double *total = (const double *)addresses[3];
    (void)threads;
    for (int64_t row = 0; row < call->rows; row++) {
        store_float((char *)addresses[4] + row * call->largest_stride, largest[row]);
        store_float((char *)addresses[5] + row * call->total_stride, largest[row] == -INFINITY ? NAN : (float)total[row]);
        store_float((char *)addresses[6] + row * call->predicted_stride, words[row] < 0 ? 0 : predicted[row] - largest[row]);
    }
    return DONE;
}

/* Gradients of logits */

typedef struct {
    int64_t rows, first, words;
    int64_t dtype; /* that they are rounded to */
    int64_t softmax_stride, word_stride, grad_stride;
} given_call;

static float load_float(const char *from)
{
    float value;
    memcpy(&value, from, sizeof value);
    return value;
}

static float rounded(double value, int64_t dtype)
{
    acl_emu_index_round(&value, dtype, 1);
    return (float)value;
}

/* The softmax, gradients of rows, words; into the gradients of a block where its word is the target. */
EXPORT int64_t acl_emu_words_given(const given_call *call, const int64_t *addresses, int64_t threads)
{
    const char *softmax = (const char *)addresses[0], *grad = (const char *)addresses[1];
    const int64_t *words = (const int64_t *)addresses[2];
    float *gradients = (float *)addresses[3];
    (void)threads;
    for (int64_t row = 0; row < call->rows; row++) {
        const int64_t column = words[row] - call->first;
        if (column >= 0 && column < call->words) {
            const double share = load_float(softmax + row * call->softmax_stride + column * call->word_stride);
            gradients[row * call->words + column] = rounded((share - 1) * (double)load_float(grad + row * call->grad_stride), call->dtype);
        }
    }
    return DONE;
}

typedef struct {
    int64_t rows, first, words, width;
    int64_t dtype;
    int64_t largest_stride, total_stride, grad_stride;
} exact_call;

typedef struct {
    const exact_call *call;
    const uint16_t *least, *most;
    const float *features, *table;
    const int64_t *words;
    const char *largest, *total, *grad;
    float *gradients;
} exact_run;

static float exact_gradient(const exact_run *one, int64_t row, int64_t column)
{
    const exact_call *call = one->call;
    double value = acl_emu_index_dot(one->features + row * call->width, one->table + column * call->width, call->width);
    value -= (double)load_float(one->largest + row * call->largest_stride);
    acl_emu_engine_tiles->exp(&value, &value, 1);
    value = value / (double)load_float(one->total + row * call->total_stride) - (column == one->words[row] - call->first);
    return rounded(value * (double)load_float(one->grad + row * call->grad_stride), call->dtype);
}

FOR_EACH_CPU static int is_in_doubt(const uint16_t *least, const uint16_t *most, const float *taken, int64_t count)
{
    int doubt = 0;
    for (int64_t n = 0; n < count; n++) {
        doubt |= (least[n] != most[n]) | (taken[n] != taken[n]);
    }
    return doubt;
}

static void run_exact(void *argument)
{
    job *work = argument;
    const exact_run *one = work->call;
    const exact_call *call = one->call;
    for (int64_t row; next_unit(work, &row);) {
        const int64_t own = one->words[row] - call->first;
        float *gradients = one->gradients + row * call->words;
        for (int64_t first = 0; first < call->words; first += PIECE) {
            const int64_t count = at_most(call->words - first, PIECE);
            const uint16_t *least = one->least + row * call->words + first, *most = one->most + row * call->words + first;
            float *taken = gradients + first;
            acl_emu_engine_tiles->cast[F32][call->dtype](taken, least, (size_t)count);
            const int64_t looked_at = is_in_doubt(least, most, taken, count) ? count : 0;
            for (int64_t n = 0; n < looked_at; n++) {
                if (least[n] != most[n] || taken[n] != taken[n]) {
                    taken[n] = exact_gradient(one, row, first + n);
                }
            }
        }
        if (own >= 0 && own < call->words) {
            gradients[own] = exact_gradient(one, row, own);
        }
    }
}

/* Least and most that each gradient of a block may be, in a half type; features, table, words, maxima, sums, gradients of rows; to gradients: what
 * both are, or what comes out in double. */
EXPORT int64_t acl_emu_words_exact(const exact_call *call, const int64_t *addresses, int64_t threads)
{
    const exact_run one = {
        .call = call,
        .least = (const uint16_t *)addresses[0],
        .most = (const uint16_t *)addresses[1],
        .features = (const float *)addresses[2],
        .table = (const float *)addresses[3],
        .words = (const int64_t *)addresses[4],
        .largest = (const char *)addresses[5],
        .total = (const char *)addresses[6],
        .grad = (const char *)addresses[7],
        .gradients = (float *)addresses[8],
    };
    run(run_exact, &one, call->rows, threads);
    return DONE;
}

/* Rows of logits and a target for each: what the cross entropy needs beside the exponentials, as steps of a chain (index_chain.c).
 *
 * Functions of their own: with each row's logit gathered while the row is in the cache, logits are read from memory once.
 *
 * What a row leaves to the next step is contiguous: its class (-1: the target is ignored), and doubles. */
#include "index_classes.h"

#include <string.h>

enum { ROWS = TILE_BYTES / sizeof(double) }; /* that are looked at together: the functions on tiles take no more */

static inline int64_t rows_from(int64_t first, int64_t rows)
{
    return at_most(rows - first, ROWS);
}

static double total_of(const double *numbers, int64_t count)
{
    double sums[PARTIALS] = {0}, total = 0;
    acl_emu_engine_tiles->add_up(sums, numbers, (size_t)count);
    for (int64_t k = 0; k < PARTIALS; k++) {
        total += sums[k];
    }
    return total;
}

/* What the targets choose. The order of the fields of all calls is known to the operators in aclnnop/loss. */

typedef struct {
    int64_t rows, classes, ignored;
    int64_t dtype, item, stride, class_stride;
    int64_t target_dtype, target_stride;
    int64_t weighted, weight_stride; /* FLOAT weights of classes, or none */
} choose_call;

typedef struct {
    const choose_call *call;
    const char *array, *target, *weight;
    int64_t *classes;
    double *values, *weights;
    atomic_int outside;
} choose_run;

static void run_choose(void *argument)
{
    job *work = argument;
    const choose_run *one = work->call;
    const choose_call *call = one->call;
    for (int64_t unit; next_unit(work, &unit);) {
        const int64_t first = unit * ROWS, count = rows_from(first, call->rows);
        int64_t *classes = one->classes + first;
        char scratch[ROWS * sizeof(float)];
        const int64_t *targets = targets_of(one->target + first * call->target_stride, call->target_stride, call->target_dtype, count, classes);
        if (acl_emu_index_find_classes(classes, targets, count, call->classes, call->ignored)) {
            atomic_store(&((choose_run *)one)->outside, 1);
        }
        acl_emu_index_gather(scratch, one->array + first * call->stride, call->stride, call->class_stride, classes, count, call->item);
        acl_emu_engine_tiles->cast[F64][call->dtype](one->values + first, scratch, (size_t)count);
        if (call->weighted) {
            acl_emu_index_gather(scratch, one->weight, 0, call->weight_stride, classes, count, sizeof(float));
            acl_emu_engine_tiles->cast[F64][F32](one->weights + first, scratch, (size_t)count);
            continue;
        }
        for (int64_t n = 0; n < count; n++) {
            one->weights[first + n] = classes[n] >= 0;
        }
    }
}

/* Logits, targets, weights; to classes, what stands there, and their weights: 0 where the target is ignored. A target outside the classes is left
 * to numpy. */
EXPORT int64_t acl_emu_rows_choose(const choose_call *call, const int64_t *addresses, int64_t threads)
{
    choose_run one = {
        .call = call,
        .array = (const char *)addresses[0],
        .target = (const char *)addresses[1],
        .weight = (const char *)addresses[2],
        .classes = (int64_t *)addresses[3],
        .values = (double *)addresses[4],
        .weights = (double *)addresses[5],
    };
    run(run_choose, &one, parts_of(call->rows, ROWS), threads);
    return atomic_load(&one.outside) ? LEFT_TO_NUMPY : DONE;
}

/* The part of a vocabulary that is here: which targets it holds, and how far their logits are below a maximum. */

typedef struct {
    int64_t rows, start, end;
    int64_t dtype, item, stride, class_stride;
    int64_t target_stride, maximum_stride, predicted_stride, offset_stride, mask_stride;
} shard_call;

typedef struct {
    const shard_call *call;
    const char *logits, *target, *maximum;
    char *predicted, *offset, *mask;
} shard_run;

static void run_shard(void *argument)
{
    job *work = argument;
    const shard_run *one = work->call;
    const shard_call *call = one->call;
    for (int64_t unit; next_unit(work, &unit);) {
        const int64_t first = unit * ROWS, count = rows_from(first, call->rows);
        int64_t local[ROWS];
        double values[ROWS], maxima[ROWS];
        char scratch[ROWS * sizeof(float)];
        acl_emu_index_load_integers(local, one->target + first * call->target_stride, call->target_stride, I32, count);
        for (int64_t n = 0; n < count; n++) {
            local[n] = local[n] >= call->start && local[n] < call->end ? local[n] - call->start : -1;
            const int32_t masked = local[n] < 0, offset = masked ? 0 : (int32_t)local[n];
            memcpy(one->mask + (first + n) * call->mask_stride, &masked, sizeof masked);
            memcpy(one->offset + (first + n) * call->offset_stride, &offset, sizeof offset);
        }
        acl_emu_index_gather(scratch, one->logits + first * call->stride, call->stride, call->class_stride, local, count, call->item);
        acl_emu_engine_tiles->cast[F64][call->dtype](values, scratch, (size_t)count);
        acl_emu_index_load(maxima, one->maximum + first * call->maximum_stride, call->maximum_stride, call->dtype, count);
        for (int64_t n = 0; n < count; n++) {
            values[n] = local[n] < 0 ? 0 : values[n] - maxima[n];
        }
        acl_emu_index_store(one->predicted + first * call->predicted_stride, call->predicted_stride, F32, values, count);
    }
}

/* Logits, INT32 targets, maxima; to predicted logits, places in the shard, and whether they are masked. */
EXPORT int64_t acl_emu_rows_shard(const shard_call *call, const int64_t *addresses, int64_t threads)
{
    const shard_run one = {
        .call = call,
        .logits = (const char *)addresses[0],
        .target = (const char *)addresses[1],
        .maximum = (const char *)addresses[2],
        .predicted = (char *)addresses[3],
        .offset = (char *)addresses[4],
        .mask = (char *)addresses[5],
    };
    run(run_shard, &one, parts_of(call->rows, ROWS), threads);
    return DONE;
}

/* The loss of each row from the parts of its log softmax, value - largest - log1p(rest), and the reduction. */

typedef struct {
    int64_t rows, reduction;
    int64_t dtype, stride; /* of the losses */
    int64_t smoothed;
    double kept, spread; /* factors of the target's loss, and of the sum over all classes */
} loss_call;

typedef struct {
    const loss_call *call;
    const int64_t *classes;
    const double *values, *weights, *largest, *sums;
    double *rest; /* becomes the losses */
    char *loss;
} loss_run;

static void run_loss(void *argument)
{
    job *work = argument;
    const loss_run *one = work->call;
    const loss_call *call = one->call;
    for (int64_t unit; next_unit(work, &unit);) {
        const int64_t first = unit * ROWS, count = rows_from(first, call->rows);
        double *losses = one->rest + first;
        acl_emu_engine_tiles->log1p(losses, losses, (size_t)count);
        for (int64_t n = 0, row = first; n < count; n++, row++) {
            double loss = -one->weights[row] * (one->values[row] - one->largest[row] - losses[n]);
            if (call->smoothed) {
                loss = loss * call->kept - one->sums[row] * call->spread;
            }
            losses[n] = one->classes[row] >= 0 ? loss : 0;
        }
        if (call->reduction == NO_REDUCTION) {
            acl_emu_index_store(one->loss + first * call->stride, call->stride, call->dtype, losses, count);
        }
    }
}

/* Classes, values, weights, largest, rest, sums over all classes; to losses. */
EXPORT int64_t acl_emu_rows_loss(const loss_call *call, const int64_t *addresses, int64_t threads)
{
    const loss_run one = {
        .call = call,
        .classes = (const int64_t *)addresses[0],
        .values = (const double *)addresses[1],
        .weights = (const double *)addresses[2],
        .largest = (const double *)addresses[3],
        .rest = (double *)addresses[4],
        .sums = (const double *)addresses[5],
        .loss = (char *)addresses[6],
    };
    run(run_loss, &one, parts_of(call->rows, ROWS), threads);
    if (call->reduction != NO_REDUCTION) {
        const double total = total_of(one.rest, call->rows);
        const double loss = call->reduction == MEAN_OF_ALL ? total / total_of(one.weights, call->rows) : total;
        acl_emu_index_store(one.loss, 0, call->dtype, &loss, 1);
    }
    return DONE;
}

/* Each row's share of the gradient. */

typedef struct {
    int64_t rows, mean;
    int64_t dtype, stride; /* of the gradients of losses */
} shares_call;

/* Gradients, classes, weights; to shares: 0 where the target is ignored. */
EXPORT int64_t acl_emu_rows_shares(const shares_call *call, const int64_t *addresses, int64_t threads)
{
    const char *grad = (const char *)addresses[0];
    const int64_t *classes = (const int64_t *)addresses[1];
    const double *weights = (const double *)addresses[2], total = call->mean ? total_of(weights, call->rows) : 1;
    double *shares = (double *)addresses[3];
    (void)threads; /* there is not enough to do */
    acl_emu_index_load(shares, grad, call->stride, call->dtype, call->rows);
    for (int64_t row = 0; row < call->rows; row++) {
        shares[row] = classes[row] >= 0 ? shares[row] * weights[row] / total : 0;
    }
    return DONE;
}

/* The gradient at the target: its share of the probability, less the share. */

typedef struct {
    int64_t rows;
    int64_t dtype, item, stride, class_stride; /* of the gradient */
} targets_call;

typedef struct {
    const targets_call *call;
    const int64_t *classes;
    const double *shares;
    double *values; /* become those of the gradient */
    char *out;
} targets_run;

static void run_targets(void *argument)
{
    job *work = argument;
    const targets_run *one = work->call;
    const targets_call *call = one->call;
    for (int64_t unit; next_unit(work, &unit);) {
        const int64_t first = unit * ROWS, count = rows_from(first, call->rows);
        double *values = one->values + first;
        char scratch[ROWS * sizeof(float)];
        acl_emu_engine_tiles->exp(values, values, (size_t)count);
        for (int64_t n = 0; n < count; n++) {
            values[n] = values[n] * one->shares[first + n] - one->shares[first + n];
        }
        acl_emu_engine_tiles->cast[call->dtype][F64](scratch, values, (size_t)count);
        for (int64_t n = 0; n < count; n++) {
            const int64_t class = one->classes[first + n];
            if (class >= 0) {
                memcpy(one->out + (first + n) * call->stride + class * call->class_stride, scratch + n * call->item, (size_t)call->item);
            }
        }
    }
}

/* Classes, values, shares; to the gradient. */
EXPORT int64_t acl_emu_rows_targets(const targets_call *call, const int64_t *addresses, int64_t threads)
{
    const targets_run one = {
        .call = call,
        .classes = (const int64_t *)addresses[0],
        .values = (double *)addresses[1],
        .shares = (const double *)addresses[2],
        .out = (char *)addresses[3],
    };
    run(run_targets, &one, parts_of(call->rows, ROWS), threads);
    return DONE;
}

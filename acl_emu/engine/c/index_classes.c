/* What targets choose, and the negative log likelihood there.
 *
 * A function of its own beside gather and sum: what a target chooses, its weight, and both sums of them are one pass over the targets, which finds a
 * wrong target before anything is written. */
#include "index_classes.h"

#include <stdlib.h>
#include <string.h>

FOR_EACH_CPU int64_t acl_emu_index_find_classes(int64_t *index, const int64_t *targets, int64_t count, int64_t classes, int64_t ignored)
{
    int64_t outside = 0;
    for (int64_t n = 0; n < count; n++) {
        const int64_t target = targets[n], inside = (target >= 0) & (target < classes), counted = target != ignored;
        outside |= counted & ~inside;
        index[n] = inside & counted ? target : -1;
    }
    return outside & 1;
}

/* The negative log likelihood of targets. The order of the fields is known to aclnnop/loss/negative_log_likelihood.py. */

enum { LANES = 16 };

typedef struct {
    operand_list list;
    space pixels;
    int64_t classes, ignored, reduction;
    int64_t faults; /* whether a target outside the classes is a fault */
    int64_t dtype, item; /* of the array and of the weights */
    steps array;
    int64_t class_stride;
    int64_t target_dtype;
    steps target;
    int64_t weight_stride;
    int64_t out_dtype;
    steps out;
    int64_t total_dtype;
} loss_call;

typedef struct {
    const loss_call *call;
    char *memory[MOST_OPERANDS]; /* array, target, weight, out, total */
    double (*sums)[2];           /* of each unit: losses, weights */
    atomic_int outside;
} loss_run;

FOR_EACH_CPU static double sum_of(const double *numbers, int64_t count)
{
    double sums[LANES] = {0}, total = 0;
    int64_t n = 0;
    for (; n + LANES <= count; n += LANES) {
        for (int64_t lane = 0; lane < LANES; lane++) {
            sums[lane] += numbers[n + lane];
        }
    }
    for (int64_t lane = 0; lane < LANES; lane++) {
        total += sums[lane];
    }
    for (; n < count; n++) {
        total += numbers[n];
    }
    return total;
}

/* The loss of each number, and its weight; 0 where there is no class. */
FOR_EACH_CPU static void weigh(double *numbers, double *weights, const int64_t *index, int64_t count)
{
    for (int64_t n = 0; n < count; n++) {
        const double loss = -weights[n] * numbers[n];
        numbers[n] = index[n] >= 0 ? loss : 0;
        weights[n] = index[n] >= 0 ? weights[n] : 0;
    }
}

/* What stands at the classes, and their weights; of class 0 where there is none. */
#define GATHER_BOTH(type)                                                                                    \
    for (int64_t n = 0; n < some->count; n++) {                                                              \
        const int64_t class = index[n] < 0 ? 0 : index[n];                                                   \
        memcpy(numbers + n * (int64_t)sizeof(type), array + n * across + class * class_stride, sizeof(type)); \
        memcpy(weights + n * (int64_t)sizeof(type), weight + class * weight_stride, sizeof(type));           \
    }

static void gather_both(const loss_run *one, const stretch *some, const int64_t *index, char *numbers, char *weights)
{
    const loss_call *call = one->call;
    const int64_t across = call->array.across, class_stride = call->class_stride, weight_stride = call->weight_stride;
    const char *array = one->memory[0] + offset_of(&call->array, some), *weight = one->memory[2];
    if (call->item == 2) {
        GATHER_BOTH(uint16_t)
    } else {
        GATHER_BOTH(uint32_t)
    }
}

/* The losses of some pixels and the weights of their targets. */
static void losses_of(const loss_run *one, const stretch *some, double *losses, double *weights)
{
    const loss_call *call = one->call;
    int64_t index[READ];
    char numbers[READ * ITEM], factors[READ * ITEM];
    const int64_t *targets = targets_of(one->memory[1] + offset_of(&call->target, some), call->target.across, call->target_dtype, some->count, index);
    acl_emu_index_find_classes(index, targets, some->count, call->classes, call->ignored);
    gather_both(one, some, index, numbers, factors);
    acl_emu_index_load(losses, numbers, call->item, call->dtype, some->count);
    acl_emu_index_load(weights, factors, call->item, call->dtype, some->count);
    weigh(losses, weights, index, some->count);
}

/* Rounded to the type of the array, then to that of an output. */
static void store_rounded(const loss_call *call, char *to, int64_t stride, int64_t dtype, double *numbers, int64_t count)
{
    if (dtype != call->dtype) {
        acl_emu_index_round(numbers, call->dtype, count);
    }
    acl_emu_index_store(to, stride, dtype, numbers, count);
}

static void run_loss(void *argument)
{
    job *work = argument;
    const loss_run *one = work->call;
    const loss_call *call = one->call;
    for (int64_t unit; next_unit(work, &unit);) {
        const int64_t end = at_most((unit + 1) * READ, count_of(&call->pixels));
        double sums[2] = {0};
        stretch some;
        for (int64_t first = unit * READ; first < end; first += some.count) {
            double losses[READ], weights[READ];
            some = stretch_from(&call->pixels, first, end, READ);
            losses_of(one, &some, losses, weights);
            if (call->reduction == NO_REDUCTION) {
                store_rounded(call, one->memory[3] + offset_of(&call->out, &some), call->out.across, call->out_dtype, losses, some.count);
                continue;
            }
            sums[0] += sum_of(losses, some.count);
            sums[1] += sum_of(weights, some.count);
        }
        if (call->reduction != NO_REDUCTION) {
            memcpy(one->sums[unit], sums, sizeof sums);
        }
    }
}

/* Whether a target that is not ignored is outside the classes. */
static void run_check(void *argument)
{
    job *work = argument;
    loss_run *one = (loss_run *)work->call;
    const loss_call *call = one->call;
    for (int64_t unit; next_unit(work, &unit);) {
        const int64_t end = at_most((unit + 1) * READ, count_of(&call->pixels));
        stretch some;
        for (int64_t first = unit * READ; first < end; first += some.count) {
            int64_t index[READ];
            some = stretch_from(&call->pixels, first, end, READ);
            const char *from = one->memory[1] + offset_of(&call->target, &some);
            const int64_t *targets = targets_of(from, call->target.across, call->target_dtype, some.count, index);
            if (acl_emu_index_find_classes(index, targets, some.count, call->classes, call->ignored)) {
                atomic_store(&one->outside, 1);
            }
        }
    }
}

EXPORT int64_t acl_emu_classes_loss(const loss_call *call, const int64_t *addresses, int64_t threads)
{
    const int64_t units = parts_of(count_of(&call->pixels), READ);
    loss_run one = {.call = call};
    if (!acl_emu_index_locate(&call->list, addresses, one.memory)) {
        return LEFT_TO_NUMPY;
    }
    if (call->faults) {
        run(run_check, &one, units, threads);
        if (one.outside) {
            return LEFT_TO_NUMPY;
        }
    }
    if (call->reduction == NO_REDUCTION) {
        run(run_loss, &one, units, threads);
        return DONE;
    }
    one.sums = malloc((size_t)(units + 1) * sizeof *one.sums);
    if (!one.sums) {
        return LEFT_TO_NUMPY;
    }
    run(run_loss, &one, units, threads);
    double loss = 0, total = 0;
    for (int64_t unit = 0; unit < units; unit++) {
        loss += one.sums[unit][0];
        total += one.sums[unit][1];
    }
    free(one.sums);
    loss = call->reduction == MEAN_OF_ALL ? loss / total : loss;
    store_rounded(call, one.memory[3], 0, call->out_dtype, &loss, 1);
    store_rounded(call, one.memory[4], 0, call->total_dtype, &total, 1);
    return DONE;
}

/* Points that pull on the nearest ones of another set.
 *
 * A function of its own beside gather and scatter: the difference of two points is added at one and subtracted at the other as soon as it is known, where
 * the primitives would write all differences to memory and read them twice. */
#include "index.h"

#include <string.h>

enum { SOME = 512, AXES = 2 };

/* One of the two sets. */
typedef struct {
    int64_t count;
    int64_t dtype, batch, along, across;                /* of the points: type, and bytes between batches, points, axes */
    int64_t index_batch, index_along;                   /* of the indices, which are INT32 */
    int64_t grad_dtype, grad_batch, grad_along;         /* of the gradients of its distances */
    int64_t out_dtype, out_batch, out_along, out_across; /* of the result */
} point_set;

/* The order is known to aclnnop/loss/chamfer_distance_backward.py. Operands: both sets' points, indices, gradients and results; then the
 * totals of both, batch × count × axes contiguous doubles. */
typedef struct {
    operand_list list;
    int64_t batch, dtype; /* dtype: that results are rounded to first */
    point_set sets[2];
} points_call;

enum { POINTS = 0, INDEX = 2, GRAD = 4, OUT = 6, TOTAL = 8 };

typedef struct {
    const points_call *call;
    char *memory[MOST_OPERANDS];
} points_run;

/* What draws some points of a set to the nearest ones of the other; the number of that one, -1 where there is none. */
static void pulls_of(const points_run *one, int64_t batch, int which, int64_t first, int64_t count, double (*pulls)[AXES], int64_t *nearest)
{
    const point_set *own = &one->call->sets[which], *other = &one->call->sets[!which];
    double grads[SOME], mine[SOME], theirs[SOME];
    char scratch[SOME * sizeof(double)];
    const char *others = one->memory[POINTS + !which] + batch * other->batch;
    const char *points = one->memory[POINTS + which] + batch * own->batch + first * own->along;
    acl_emu_index_load_integers(nearest, one->memory[INDEX + which] + batch * own->index_batch + first * own->index_along, own->index_along, I32, count);
    acl_emu_index_load(grads, one->memory[GRAD + which] + batch * own->grad_batch + first * own->grad_along, own->grad_along, own->grad_dtype, count);
    for (int64_t n = 0; n < count; n++) {
        nearest[n] = nearest[n] >= 0 && nearest[n] < other->count ? nearest[n] : -1;
    }
    if (!other->count) {
        memset(pulls, 0, (size_t)count * sizeof *pulls);
        return;
    }
    for (int64_t axis = 0; axis < AXES; axis++) {
        const int64_t item = other->dtype == F16 ? 2 : 4;
        acl_emu_index_gather(scratch, others + axis * other->across, 0, other->along, nearest, count, item);
        acl_emu_index_load(theirs, scratch, item, other->dtype, count);
        acl_emu_index_load(mine, points + axis * own->across, own->along, own->dtype, count);
        for (int64_t n = 0; n < count; n++) {
            const double pull = 2 * grads[n] * (mine[n] - theirs[n]);
            pulls[n][axis] = nearest[n] >= 0 ? pull : 0;
        }
    }
}

static void store_points(const points_run *one, int64_t batch, int which, int64_t first, int64_t count, double (*totals)[AXES])
{
    const points_call *call = one->call;
    const point_set *own = &call->sets[which];
    char *to = one->memory[OUT + which] + batch * own->out_batch + first * own->out_along;
    for (int64_t axis = 0; axis < AXES; axis++) {
        double numbers[SOME];
        for (int64_t n = 0; n < count; n++) {
            numbers[n] = totals[n][axis];
        }
        if (own->out_dtype != call->dtype) {
            acl_emu_index_round(numbers, call->dtype, count);
        }
        acl_emu_index_store(to + axis * own->out_across, own->out_along, own->out_dtype, numbers, count);
    }
}

/* A batch is one thread's, so that sums are taken in the order of the points. */
static void run_points(void *argument)
{
    job *work = argument;
    const points_run *one = work->call;
    const point_set *sets = one->call->sets;
    for (int64_t batch; next_unit(work, &batch);) {
        double(*totals[2])[AXES];
        double pulls[SOME][AXES];
        int64_t nearest[SOME];
        for (int which = 0; which < 2; which++) {
            totals[which] = (double(*)[AXES])one->memory[TOTAL + which] + batch * sets[which].count;
        }
        if (sets[1].count) {
            memset(totals[1], 0, (size_t)sets[1].count * sizeof *totals[1]);
        }
        for (int64_t first = 0; first < sets[0].count; first += SOME) {
            const int64_t some = at_most(sets[0].count - first, SOME);
            pulls_of(one, batch, 0, first, some, totals[0] + first, nearest);
            for (int64_t n = 0; n < some; n++) {
                for (int64_t axis = 0; axis < AXES && nearest[n] >= 0; axis++) {
                    totals[1][nearest[n]][axis] -= totals[0][first + n][axis];
                }
            }
        }
        for (int64_t first = 0; first < sets[1].count; first += SOME) {
            const int64_t some = at_most(sets[1].count - first, SOME);
            pulls_of(one, batch, 1, first, some, pulls, nearest);
            for (int64_t n = 0; n < some; n++) {
                for (int64_t axis = 0; axis < AXES; axis++) {
                    totals[1][first + n][axis] += pulls[n][axis];
                    if (nearest[n] >= 0) {
                        totals[0][nearest[n]][axis] -= pulls[n][axis];
                    }
                }
            }
            store_points(one, batch, 1, first, some, totals[1] + first);
        }
        for (int64_t first = 0; first < sets[0].count; first += SOME) {
            store_points(one, batch, 0, first, at_most(sets[0].count - first, SOME), totals[0] + first);
        }
    }
}

EXPORT int64_t acl_emu_points_gradient(const points_call *call, const int64_t *addresses, int64_t threads)
{
    points_run one = {.call = call};
    if (!acl_emu_index_locate(&call->list, addresses, one.memory)) {
        return LEFT_TO_NUMPY;
    }
    run(run_points, &one, call->batch, threads);
    return DONE;
}

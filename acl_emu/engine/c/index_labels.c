/* The multilabel margin loss: rows of classes, of which each has some as its own.
 *
 * A function of its own: a row's labels end at the first negative one and may repeat, and each is compared with all classes that are not among them. As
 * gathers and element-wise steps that would be a matrix of labels by classes for every row. */
#include "index.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 4, LANES = 16, SOME = 512 };

/* The order is known to aclnnop/loss/multilabel_margin_loss.py. Operands: numbers, labels, losses, marks. */
typedef struct {
    operand_list list;
    int64_t rows, classes, reduction;
    int64_t dtype; /* of all but the labels */
    int64_t down, across;
    int64_t label_dtype, label_down, label_across;
    int64_t out_stride;
    int64_t mark_down, mark_across;
} labels_call;

typedef struct {
    const labels_call *call;
    char *memory[MOST_OPERANDS];
    double *sums; /* of each unit's losses */
    char *scratch;  /* one for each thread */
    atomic_int_fast64_t scratch_taken;
} labels_run;

static size_t scratch_size(const labels_call *call)
{
    return (size_t)call->classes * 3 * sizeof(double);
}

/* What is missing to the margin between an own class and each of the others, summed; no number stays none. */
FOR_EACH_CPU static double missing(const double *others, int64_t count, double own)
{
    const double margin = 1 - own;
    double sums[LANES] = {0}, total = 0;
    int64_t n = 0;
    for (; n + LANES <= count; n += LANES) {
        for (int64_t lane = 0; lane < LANES; lane++) {
            const double lacks = margin + others[n + lane];
            sums[lane] += 0 > lacks ? 0 : lacks;
        }
    }
    for (int64_t lane = 0; lane < LANES; lane++) {
        total += sums[lane];
    }
    for (; n < count; n++) {
        const double lacks = margin + others[n];
        total += 0 > lacks ? 0 : lacks;
    }
    return total;
}

/* How often a row has each class: its labels up to the first -1, without those of no class. */
static void count_labels(const labels_call *call, const char *labels, double *counts)
{
    memset(counts, 0, (size_t)call->classes * sizeof *counts);
    for (int64_t first = 0, some; first < call->classes; first += some) {
        int64_t values[SOME];
        some = at_most(call->classes - first, first ? SOME : LANES); /* most rows have few */
        acl_emu_index_load_integers(values, labels + first * call->label_across, call->label_across, call->label_dtype, some);
        for (int64_t n = 0; n < some; n++) {
            if (values[n] == -1) {
                return;
            }
            if (values[n] >= 0 && values[n] < call->classes) {
                counts[values[n]] += 1;
            }
        }
    }
}

static double loss_of(const labels_run *one, int64_t row, double *counts, double *others, double *own)
{
    const labels_call *call = one->call;
    const int64_t classes = call->classes;
    int64_t apart = 0, mine = 0;
    double total = 0;
    count_labels(call, one->memory[1] + row * call->label_down, counts);
    for (int64_t n = 0; n < classes; n++) {
        own[n] = counts[n] != 0;
    }
    acl_emu_index_store(one->memory[3] + row * call->mark_down, call->mark_across, call->dtype, own, classes);
    acl_emu_index_load(others, one->memory[0] + row * call->down, call->across, call->dtype, classes);
    for (int64_t n = 0; n < classes; n++) {
        const double value = others[n], count = counts[n];
        own[mine] = value;
        counts[mine] = count;
        others[apart] = value;
        mine += count != 0;
        apart += count == 0;
    }
    for (int64_t n = 0; n < mine; n++) {
        total += counts[n] * missing(others, apart, own[n]);
    }
    return total / (double)classes;
}

static void run_labels(void *argument)
{
    job *work = argument;
    labels_run *one = (labels_run *)work->call;
    const labels_call *call = one->call;
    double *own = (double *)(one->scratch + (size_t)atomic_fetch_add(&one->scratch_taken, 1) * scratch_size(call));
    for (int64_t unit; next_unit(work, &unit);) {
        const int64_t end = at_most((unit + 1) * ROWS, call->rows);
        double sum = 0;
        for (int64_t row = unit * ROWS; row < end; row++) {
            const double loss = loss_of(one, row, own, own + call->classes, own + 2 * call->classes);
            if (call->reduction == NO_REDUCTION) {
                acl_emu_index_store(one->memory[2] + row * call->out_stride, 0, call->dtype, &loss, 1);
            }
            sum += loss;
        }
        one->sums[unit] = sum;
    }
}

EXPORT int64_t acl_emu_labels_loss(const labels_call *call, const int64_t *addresses, int64_t threads)
{
    const int64_t units = parts_of(call->rows, ROWS);
    labels_run one = {.call = call};
    if (!acl_emu_index_locate(&call->list, addresses, one.memory)) {
        return LEFT_TO_NUMPY;
    }
    threads = at_most(threads, units);
    one.scratch = malloc((size_t)(threads + 1) * scratch_size(call));
    one.sums = malloc((size_t)(units + 1) * sizeof *one.sums);
    if (one.scratch && one.sums) {
        run(run_labels, &one, units, threads);
        if (call->reduction != NO_REDUCTION) {
            double total = 0;
            for (int64_t unit = 0; unit < units; unit++) {
                total += one.sums[unit];
            }
            total = call->reduction == MEAN_OF_ALL ? total / (double)call->rows : total;
            acl_emu_index_store(one.memory[2], 0, call->dtype, &total, 1);
        }
    }
    const int done = one.scratch && one.sums;
    free(one.scratch);
    free(one.sums);
    return done ? DONE : LEFT_TO_NUMPY;
}

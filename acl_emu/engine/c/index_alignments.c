/* Connectionist temporal classification: alignments of labels, a sequence at a time.
 *
 * A function of its own: each step of time joins three neighbours of the step before, in logarithms, over as many labels as the sequence has. That is no
 * scan of one function along an axis, and no graph of elements. */
#include "alignments.h"
#include "index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOME = 512 }; /* classes that are worked on at once */

typedef struct {
    int64_t time, batch, last; /* bytes between elements along each axis */
} cube;

/* The order is known to aclnnop/loss/alignments.py; what comes after the cube of scores is for the gradient only. */
typedef struct {
    operand_list list;
    int64_t time, batch, classes, states, width; /* width: of the scores in memory */
    int64_t blank, zero_infinity;
    int64_t dtype, item; /* of all but the targets */
    cube log_probs;
    int64_t target_dtype, target_stride;
    int64_t loss_stride;
    cube scores;
    int64_t grad_stride;
    cube out;
    int64_t sequences[][3]; /* length, labels, bytes to the first label */
} alignment_call;

typedef struct {
    const alignment_call *call;
    const alignment_steps *steps;
    char *log_probs, *targets, *loss, *scores, *grad, *out;
    char *scratch; /* one for each thread */
    int64_t scratch_size;
    atomic_int_fast64_t scratch_taken;
} alignment_run;

/* What a thread keeps of the sequence that it works on. */
typedef struct {
    const alignment_run *one;
    int64_t number, length, states;
    int64_t *classes; /* that each state emits */
    int64_t *skip;
    double *scores, *next, *emitted, *shares;
    double *by_class; /* 0, but for the time that is worked on */
    char *gathered;
} sequence;

static int64_t padded(int64_t states)
{
    return states + 3 * STATE_ROOM;
}

static int64_t scratch_size(const alignment_call *call)
{
    return (int64_t)sizeof(double) * (7 * padded(call->states) + padded(call->classes));
}

static sequence scratch_of(alignment_run *one)
{
    const alignment_call *call = one->call;
    double *next = (double *)(one->scratch + atomic_fetch_add(&one->scratch_taken, 1) * one->scratch_size);
    memset(next, 0, (size_t)one->scratch_size);
    double *parts[7];
    for (int k = 0; k < 7; k++, next += padded(call->states)) {
        parts[k] = next + STATE_ROOM;
    }
    return (sequence){.one = one,
                      .classes = (int64_t *)parts[0],
                      .skip = (int64_t *)parts[1],
                      .scores = parts[2],
                      .next = parts[3],
                      .emitted = parts[4],
                      .shares = parts[5],
                      .gathered = (char *)parts[6],
                      .by_class = next};
}

/* Blank, label, blank, ..., label, blank. A state can follow the one two before it where it is a label that differs from the label before. */
static void begin(sequence *own, int64_t number)
{
    const alignment_call *call = own->one->call;
    const int64_t *lengths = call->sequences[number];
    own->number = number;
    own->length = lengths[0];
    own->states = 2 * lengths[1] + 1;
    for (int64_t s = -STATE_ROOM; s < padded(call->states) - STATE_ROOM; s++) {
        own->scores[s] = own->next[s] = -INFINITY;
        own->skip[s] = 0;
    }
    acl_emu_index_load_integers(own->classes + lengths[1], own->one->targets + lengths[2], call->target_stride, call->target_dtype, lengths[1]);
    for (int64_t s = 0; s < own->states; s++) {
        own->classes[s] = s % 2 ? own->classes[lengths[1] + s / 2] : call->blank;
        own->skip[s] = s >= 2 && own->classes[s] != own->classes[s - 2] ? -1 : 0;
    }
}

static void swap(sequence *own)
{
    double *scores = own->scores;
    own->scores = own->next;
    own->next = scores;
}

static char *place_in(char *memory, const cube *array, const sequence *own, int64_t t)
{
    return memory + t * array->time + own->number * array->batch;
}

static void emit(const sequence *own, int64_t t)
{
    const alignment_call *call = own->one->call;
    const char *row = place_in(own->one->log_probs, &call->log_probs, own, t);
    acl_emu_index_gather(own->gathered, row, 0, call->log_probs.last, own->classes, own->states, call->item);
    acl_emu_index_load(own->emitted, own->gathered, call->item, call->dtype, own->states);
}

static void load_scores(const sequence *own, int64_t t, double *scores)
{
    const alignment_call *call = own->one->call;
    acl_emu_index_load(scores, place_in(own->one->scores, &call->scores, own, t), call->scores.last, call->dtype, own->states);
}

/* The score of all alignments, of the scores at the last time. */
static double likelihood(const sequence *own, const double *scores)
{
    const int64_t last = own->states - 1;
    return own->one->steps->log_sum(scores[last], last ? scores[last - 1] : -INFINITY);
}

static void fill(char *to, int64_t stride, int64_t dtype, double value, int64_t count)
{
    double values[SOME];
    for (int64_t n = 0; n < at_most(count, SOME); n++) {
        values[n] = value;
    }
    for (int64_t n = 0; n < count; n += SOME) {
        acl_emu_index_store(to + n * stride, stride, dtype, values, at_most(count - n, SOME));
    }
}

static void forward(sequence *own)
{
    const alignment_run *one = own->one;
    const alignment_call *call = one->call;
    double total = own->length || own->states > 1 ? -INFINITY : 0;
    for (int64_t t = 0; t < call->time; t++) {
        char *row = place_in(one->scores, &call->scores, own, t);
        const double outside = t ? 0 : -INFINITY;
        int64_t known = 0;
        if (t < own->length) {
            emit(own, t);
            if (t) {
                one->steps->arrive(own->next, own->scores, own->skip, own->emitted, own->states);
            } else {
                for (int64_t s = 0; s < own->states; s++) {
                    own->next[s] = (s < 2 ? 0 : -INFINITY) + own->emitted[s];
                }
            }
            swap(own);
            known = own->states;
            acl_emu_index_store(row, call->scores.last, call->dtype, own->scores, known);
        }
        fill(row + known * call->scores.last, call->scores.last, call->dtype, outside, call->width - known);
    }
    if (own->length) {
        total = likelihood(own, own->scores);
    }
    total = call->zero_infinity && isinf(total) ? 0 : -total;
    acl_emu_index_store(one->loss + own->number * call->loss_stride, 0, call->dtype, &total, 1);
}

/* What the alignments that pass a class at a time add to its gradient. */
static void write_slopes(const sequence *own, int64_t t, double grad)
{
    const alignment_run *one = own->one;
    const alignment_call *call = one->call;
    const char *from = place_in(one->log_probs, &call->log_probs, own, t);
    char *to = place_in(one->out, &call->out, own, t);
    for (int64_t first = 0; first < call->classes; first += SOME) {
        double numbers[SOME + STATE_ROOM] = {0};
        const int64_t some = at_most(call->classes - first, SOME);
        acl_emu_index_load(numbers, from + first * call->log_probs.last, call->log_probs.last, call->dtype, some);
        one->steps->slope(numbers, own->by_class + first, grad, some);
        acl_emu_index_store(to + first * call->out.last, call->out.last, call->dtype, numbers, some);
    }
}

static void backward(sequence *own)
{
    const alignment_run *one = own->one;
    const alignment_call *call = one->call;
    const int64_t last = own->states - 1;
    double grad, loss;
    acl_emu_index_load(&grad, one->grad + own->number * call->grad_stride, 0, call->dtype, 1);
    acl_emu_index_load(&loss, one->loss + own->number * call->loss_stride, 0, call->dtype, 1);
    for (int64_t t = own->length; t < call->time; t++) {
        fill(place_in(one->out, &call->out, own, t), call->out.last, call->dtype, 0, call->classes);
    }
    if (!own->length) {
        return;
    }
    double *after = own->scores, *known = own->shares;
    load_scores(own, own->length - 1, known);
    /* The loss may have been made 0 already, its scores have not. */
    if (isinf(loss) || (call->zero_infinity && likelihood(own, known) == -INFINITY)) {
        for (int64_t t = 0; t < own->length; t++) {
            fill(place_in(one->out, &call->out, own, t), call->out.last, call->dtype, call->zero_infinity ? 0 : NAN, call->classes);
        }
        return;
    }
    after[last] = 0;
    after[last ? last - 1 : 0] = 0;
    for (int64_t t = own->length - 1; t >= 0; t--) {
        load_scores(own, t, known);
        one->steps->share(known, known, after, loss, own->states);
        for (int64_t s = 0; s < own->states; s++) {
            own->by_class[own->classes[s]] += known[s];
        }
        write_slopes(own, t, grad);
        emit(own, t);
        for (int64_t s = 0; s < own->states; s++) {
            own->by_class[own->classes[s]] = 0;
            own->next[s] = after[s] + own->emitted[s];
        }
        one->steps->depart(after, own->next, own->skip, own->states);
    }
}

static void run_forward(void *argument)
{
    job *work = argument;
    sequence own = scratch_of((alignment_run *)work->call);
    for (int64_t number; next_unit(work, &number);) {
        begin(&own, number);
        forward(&own);
    }
}

static void run_backward(void *argument)
{
    job *work = argument;
    sequence own = scratch_of((alignment_run *)work->call);
    for (int64_t number; next_unit(work, &number);) {
        begin(&own, number);
        backward(&own);
    }
}

static int labels_are_classes(const alignment_call *call, const char *targets)
{
    for (int64_t number = 0; number < call->batch; number++) {
        const int64_t labels = call->sequences[number][1];
        for (int64_t first = 0; first < labels; first += SOME) {
            int64_t values[SOME];
            const int64_t some = at_most(labels - first, SOME);
            const char *from = targets + call->sequences[number][2] + first * call->target_stride;
            acl_emu_index_load_integers(values, from, call->target_stride, call->target_dtype, some);
            for (int64_t n = 0; n < some; n++) {
                if (values[n] < 0 || values[n] >= call->classes) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

static int64_t run_all(alignment_run *one, void (*function)(void *), int64_t threads)
{
    const alignment_call *call = one->call;
    threads = at_most(threads, call->batch);
    one->steps = FOR_THIS_PROCESSOR(acl_emu_alignments);
    one->scratch_size = scratch_size(call);
    one->scratch = labels_are_classes(call, one->targets) ? malloc((size_t)(threads * one->scratch_size)) : NULL;
    if (!one->scratch) {
        return LEFT_TO_NUMPY;
    }
    run(function, one, call->batch, threads);
    free(one->scratch);
    return DONE;
}

EXPORT int64_t acl_emu_alignments_loss(const alignment_call *call, const int64_t *addresses, int64_t threads)
{
    char *memory[MOST_OPERANDS];
    if (!acl_emu_index_locate(&call->list, addresses, memory)) {
        return LEFT_TO_NUMPY;
    }
    alignment_run one = {.call = call, .log_probs = memory[0], .targets = memory[1], .loss = memory[2], .scores = memory[3]};
    return run_all(&one, run_forward, threads);
}

EXPORT int64_t acl_emu_alignments_gradient(const alignment_call *call, const int64_t *addresses, int64_t threads)
{
    char *memory[MOST_OPERANDS];
    if (!acl_emu_index_locate(&call->list, addresses, memory)) {
        return LEFT_TO_NUMPY;
    }
    alignment_run one = {.call = call,
                         .grad = memory[0],
                         .log_probs = memory[1],
                         .targets = memory[2],
                         .loss = memory[3],
                         .scores = memory[4],
                         .out = memory[5]};
    return run_all(&one, run_backward, threads);
}

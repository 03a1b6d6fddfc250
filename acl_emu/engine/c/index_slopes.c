/* The gradient of the negative log likelihood: a value at the class of each target, 0 everywhere else. What does not fit the caches goes past
 * them: nothing is read before it is written.
 *
 * A function of its own beside scatter: every byte is written once. To clear all and scatter then reads and writes each chosen cache line again. */
#include "index_classes.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { STREAMED_BYTES = 8 << 20, ROW_BYTES = 1 << 16, LINE = 64, CHECKED = 4 * WRITTEN };

/* The order is known to aclnnop/loss/negative_log_likelihood.py. */
typedef struct {
    operand_list list;
    space pixels;
    int64_t classes, ignored, mean;
    int64_t faults; /* whether a target outside the classes is a fault */
    int64_t dtype, item; /* of all but the targets */
    steps grad;
    int64_t target_dtype;
    steps target;
    int64_t weight_stride;
    steps out;
    int64_t class_stride;
} gradient_call;

typedef struct {
    const gradient_call *call;
    char *memory[MOST_OPERANDS]; /* grad, target, weight, total, out */
    double total;
    int streamed;
    atomic_int outside;
} gradient_run;

static const int64_t *gradient_targets(const gradient_run *one, const stretch *some, int64_t *scratch)
{
    const gradient_call *call = one->call;
    return targets_of(one->memory[1] + offset_of(&call->target, some), call->target.across, call->target_dtype, some->count, scratch);
}

FOR_EACH_CPU static int64_t some_outside(const int64_t *targets, int64_t count, int64_t classes, int64_t ignored)
{
    int64_t outside = 0;
    for (int64_t n = 0; n < count; n++) {
        outside |= ((targets[n] < 0) | (targets[n] >= classes)) & (targets[n] != ignored);
    }
    return outside;
}

static void run_check(void *argument)
{
    job *work = argument;
    gradient_run *one = (gradient_run *)work->call;
    for (int64_t unit; next_unit(work, &unit);) {
        const int64_t end = at_most((unit + 1) * CHECKED, count_of(&one->call->pixels));
        stretch some;
        for (int64_t first = unit * CHECKED; first < end; first += some.count) {
            int64_t scratch[WRITTEN];
            some = stretch_from(&one->call->pixels, first, end, WRITTEN);
            if (some_outside(gradient_targets(one, &some, scratch), some.count, one->call->classes, one->call->ignored)) {
                atomic_store(&one->outside, 1);
            }
        }
    }
}

/* Of class 0 where there is none: no place will ask for the value. */
#define GATHER_WEIGHTS(type)                                                                                 \
    for (int64_t n = 0; n < count; n++) {                                                                    \
        memcpy(to + n * (int64_t)sizeof(type), weight + (index[n] < 0 ? 0 : index[n]) * stride, sizeof(type)); \
    }

static void gather_weights(char *to, const char *weight, int64_t stride, const int64_t *index, int64_t count, int64_t item)
{
    if (item == 2) {
        GATHER_WEIGHTS(uint16_t)
    } else {
        GATHER_WEIGHTS(uint32_t)
    }
}

FOR_EACH_CPU static void slopes(double *weights, const double *scales, int64_t count)
{
    for (int64_t n = 0; n < count; n++) {
        weights[n] = -weights[n] * scales[n];
    }
}

FOR_EACH_CPU static void divide(double *scales, int64_t count, double total)
{
    for (int64_t n = 0; n < count; n++) {
        scales[n] /= total;
    }
}

static void values_of(const gradient_run *one, const stretch *some, const int64_t *index, char *values)
{
    const gradient_call *call = one->call;
    double weights[WRITTEN], scales[WRITTEN];
    gather_weights(values, one->memory[2], call->weight_stride, index, some->count, call->item);
    acl_emu_index_load(weights, values, call->item, call->dtype, some->count);
    acl_emu_index_load(scales, one->memory[0] + offset_of(&call->grad, some), call->grad.across, call->dtype, some->count);
    if (call->mean) {
        divide(scales, some->count, one->total);
    }
    slopes(weights, scales, some->count);
    acl_emu_index_store(values, call->item, call->dtype, weights, some->count);
}

/* One class of some pixels that lie side by side: `own` are their classes in as many bits as the values have. */
#define PLACE_SIDE_BY_SIDE(bits)                                                                                          \
    FOR_EACH_CPU static void place_##bits(char *memory, const void *classes, const void *numbers, int64_t count, int64_t class) \
    {                                                                                                                     \
        int##bits##_t *restrict to = (int##bits##_t *)memory;                                                             \
        const int##bits##_t *restrict own = classes, *restrict values = numbers;                                          \
        for (int64_t n = 0; n < count; n++) {                                                                             \
            to[n] = values[n] & (int##bits##_t)-(own[n] == (int##bits##_t)class);                                         \
        }                                                                                                                 \
    }

#define NARROW(bits)                                                                                                      \
    FOR_EACH_CPU static void narrow_##bits(void *own, const int64_t *index, int64_t count)                                \
    {                                                                                                                     \
        int##bits##_t *restrict to = own;                                                                                 \
        for (int64_t n = 0; n < count; n++) {                                                                             \
            to[n] = (int##bits##_t)index[n];                                                                              \
        }                                                                                                                 \
    }

NARROW(16)
NARROW(32)
PLACE_SIDE_BY_SIDE(16)
PLACE_SIDE_BY_SIDE(32)

/* The same past the caches, a cache line at a time; and all classes of one pixel that lie side by side. */
#if defined(__x86_64__)
#define STREAM_SIDE_BY_SIDE(bits)                                                                                        \
    __attribute__((target("avx2"))) static void stream_##bits(char *memory, const void *classes, const void *numbers, int64_t count, int64_t class) \
    {                                                                                                                    \
        enum { OWN = bits / 8, STEP = LINE / OWN };                                                                      \
        const int##bits##_t *own = classes, *values = numbers;                                                           \
        const int64_t head = at_most((int64_t)(-(uintptr_t)memory % LINE) / OWN, count);                                 \
        const __m256i wanted = _mm256_set1_epi##bits((int##bits##_t)class);                                              \
        int64_t n = head;                                                                                                \
        place_##bits(memory, own, values, head, class);                                                                  \
        for (; n + STEP <= count; n += STEP) {                                                                           \
            for (int64_t k = n; k < n + STEP; k += STEP / 2) {                                                           \
                const __m256i same = _mm256_cmpeq_epi##bits(_mm256_loadu_si256((const __m256i *)(own + k)), wanted);     \
                const __m256i chosen = _mm256_and_si256(same, _mm256_loadu_si256((const __m256i *)(values + k)));        \
                _mm256_stream_si256((__m256i *)(memory + k * OWN) , chosen);                                             \
            }                                                                                                            \
        }                                                                                                                \
        place_##bits(memory + n * OWN,  own + n, values + n, count - n, class);                                          \
    }                                                                                                                    \
    __attribute__((target("avx2"))) static void stream_row_##bits(char *memory, int64_t count, int64_t index, const void *value) \
    {                                                                                                                    \
        enum { OWN = bits / 8, STEP = LINE / OWN };                                                                      \
        int##bits##_t *to = (int##bits##_t *)memory;                                                                     \
        const int##bits##_t chosen = *(const int##bits##_t *)value;                                                      \
        const int64_t head = at_most((int64_t)(-(uintptr_t)memory % LINE) / OWN, count);                                 \
        _Alignas(LINE) int##bits##_t order[STEP];                                                                        \
        int64_t n = 0;                                                                                                   \
        for (; n < head; n++) {                                                                                          \
            to[n] = n == index ? chosen : 0;                                                                             \
        }                                                                                                                \
        for (int k = 0; k < STEP; k++) {                                                                                 \
            order[k] = (int##bits##_t)k;                                                                                 \
        }                                                                                                                \
        const __m256i low = _mm256_load_si256((const __m256i *)order), high = _mm256_load_si256((const __m256i *)order + 1); \
        const __m256i every = _mm256_set1_epi##bits(chosen), none = _mm256_setzero_si256();                              \
        for (; n + STEP <= count; n += STEP) {                                                                           \
            const __m256i at = _mm256_set1_epi##bits((int##bits##_t)(index - n));                                        \
            const int here = index >= n && index < n + STEP;                                                             \
            const __m256i kept = here ? every : none;                                                                    \
            _mm256_stream_si256((__m256i *)(to + n), _mm256_and_si256(_mm256_cmpeq_epi##bits(low, at), kept));           \
            _mm256_stream_si256((__m256i *)(to + n) + 1, _mm256_and_si256(_mm256_cmpeq_epi##bits(high, at), kept));      \
        }                                                                                                                \
        for (; n < count; n++) {                                                                                         \
            to[n] = n == index ? chosen : 0;                                                                             \
        }                                                                                                                \
    }

STREAM_SIDE_BY_SIDE(16)
STREAM_SIDE_BY_SIDE(32)
#endif

/* Whether the pixels, not the classes, lie side by side. */
static int pixels_side_by_side(const gradient_call *call)
{
    const int narrow = (call->item == 2 && call->classes <= INT16_MAX) || (call->item == 4 && call->classes <= INT32_MAX);
    return narrow && call->out.across == call->item && (call->class_stride != call->item || call->classes == 1);
}

static void place_lines(const gradient_run *one, char *corner, int64_t count, const int64_t *index, const char *values)
{
    const gradient_call *call = one->call;
    union {
        int16_t of16[WRITTEN];
        int32_t of32[WRITTEN];
    } own;
    void (*function)(char *, const void *, const void *, int64_t, int64_t) = call->item == 2 ? place_16 : place_32;
#if defined(__x86_64__)
    if (one->streamed) {
        function = call->item == 2 ? stream_16 : stream_32;
    }
#endif
    (call->item == 2 ? narrow_16 : narrow_32)(&own, index, count);
    for (int64_t class = 0; class < call->classes; class++) {
        function(corner + class * call->class_stride, &own, values, count, class);
    }
}

/* All classes of some pixels, pixel by pixel. */
static void place_rows(const gradient_run *one, char *corner, int64_t count, const int64_t *index, const char *values)
{
    const gradient_call *call = one->call;
    const int64_t item = call->item, across = call->out.across, row = call->classes * item;
    const int dense = call->class_stride == item;
#if defined(__x86_64__)
    if (dense && one->streamed) {
        for (int64_t n = 0; n < count; n++) {
            (item == 2 ? stream_row_16 : stream_row_32)(corner + n * across, call->classes, index[n], values + n * item);
        }
        return;
    }
#endif
    const int64_t whole = dense && across == row ? count : 1; /* rows that lie one behind the other are cleared at once */
    for (int64_t n = 0; n < count; n += whole) {
        if (dense) {
            memset(corner + n * across, 0, (size_t)(whole * row));
            continue;
        }
        for (int64_t class = 0; class < call->classes; class++) {
            memset(corner + n * across + class * call->class_stride, 0, (size_t)item);
        }
    }
    for (int64_t n = 0; n < count; n++) {
        if (index[n] >= 0) {
            memcpy(corner + n * across + index[n] * call->class_stride, values + n * item, (size_t)item);
        }
    }
}

static int64_t pixels_at_once(const gradient_call *call)
{
    const int64_t rows = ROW_BYTES / (call->classes * call->item);
    return pixels_side_by_side(call) ? WRITTEN : rows ? at_most(rows, WRITTEN) : 1;
}

static void run_gradient(void *argument)
{
    job *work = argument;
    const gradient_run *one = work->call;
    const gradient_call *call = one->call;
    const int64_t step = pixels_at_once(call);
    const int side_by_side = pixels_side_by_side(call);
    for (int64_t unit; next_unit(work, &unit);) {
        const int64_t end = at_most((unit + 1) * step, count_of(&call->pixels));
        stretch some;
        for (int64_t first = unit * step; first < end; first += some.count) {
            int64_t index[WRITTEN];
            _Alignas(LINE) char values[WRITTEN * ITEM];
            some = stretch_from(&call->pixels, first, end, WRITTEN);
            char *corner = one->memory[4] + offset_of(&call->out, &some);
            acl_emu_index_find_classes(index, gradient_targets(one, &some, index), some.count, call->classes, call->ignored);
            values_of(one, &some, index, values);
            (side_by_side ? place_lines : place_rows)(one, corner, some.count, index, values);
        }
    }
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

EXPORT int64_t acl_emu_classes_gradient(const gradient_call *call, const int64_t *addresses, int64_t threads)
{
    const int64_t pixels = count_of(&call->pixels);
    gradient_run one = {.call = call};
    if (!acl_emu_index_locate(&call->list, addresses, one.memory)) {
        return LEFT_TO_NUMPY;
    }
#if defined(__x86_64__)
    const int aligned = (uintptr_t)one.memory[4] % (uintptr_t)call->item == 0;
    one.streamed = aligned && pixels * call->classes * call->item >= STREAMED_BYTES && __builtin_cpu_supports("avx2");
#endif
    if (call->faults) {
        run(run_check, &one, parts_of(pixels, CHECKED), threads);
        if (one.outside) {
            return LEFT_TO_NUMPY;
        }
    }
    acl_emu_index_load(&one.total, one.memory[3], 0, call->dtype, 1);
    run(run_gradient, &one, parts_of(pixels, pixels_at_once(call)), threads);
    return DONE;
}

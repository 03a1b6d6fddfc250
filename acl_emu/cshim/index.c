/* Work on elements that indices choose, on all threads. Each element is one thread's, so no result depends on their number. */
#include "engine.h"

#include <stdatomic.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_CPU __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_CPU
#endif

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

/* Classes: arrays of (batch, classes, height, width), and a target for each of (batch, height, width), which are called pixels. */

enum { PIXELS = 4096, ROW_BYTES = 1 << 18 };

typedef struct {
    char *array; /* NULL where only targets are looked at */
    int64_t item;
    int64_t batch, classes, height, width;
    int64_t batch_stride, class_stride, height_stride, width_stride; /* in bytes */
} class_array;

typedef struct {
    int64_t first, count; /* among all pixels, in order */
    char *corner;         /* of class 0 */
} pixels;

/* The units of work are parts of a line of pixels. */
static int64_t pixel_units(const class_array *array, int64_t step)
{
    return array->batch * array->height * ((array->width + step - 1) / step);
}

static pixels pixels_of(const class_array *array, int64_t step, int64_t unit)
{
    const int64_t parts = (array->width + step - 1) / step, at = unit % parts * step, line = unit / parts;
    const int64_t offset = line / array->height * array->batch_stride + line % array->height * array->height_stride + at * array->width_stride;
    return (pixels){line * array->width + at, at_most(array->width - at, step), array->array + offset};
}

/* What the targets choose: their classes, and what stands there in the array and in a list of weights; 0 where a target does not count. */

typedef struct {
    class_array array;
    const int64_t *target;
    int64_t ignored;
    const char *weight; /* NULL: none */
    int64_t weight_item;
    int64_t *index;   /* -1 where a target is ignored or outside the classes */
    uint8_t *counted; /* 0 there, 1 elsewhere */
    char *chosen, *weights;
    int64_t *outside; /* set where a target that is not ignored is outside */
} choose_call;

#define COPY(type)                                                           \
    for (int64_t n = 0; n < count; n++) {                                    \
        type value = 0;                                                      \
        if (index[n] >= 0) {                                                 \
            memcpy(&value, from + n * stride + index[n] * class_stride, sizeof value); \
        }                                                                    \
        memcpy(to + n * (int64_t)sizeof value, &value, sizeof value);        \
    }

static void copy_chosen(char *to, const char *from, int64_t stride, int64_t class_stride, const int64_t *index, int64_t count, int64_t item)
{
    switch (item) {
    case 2: COPY(uint16_t) break;
    case 4: COPY(uint32_t) break;
    default: COPY(uint64_t) break;
    }
}

static void run_choose(void *argument)
{
    job *work = argument;
    const choose_call *call = work->call;
    int64_t unit;
    while ((unit = atomic_fetch_add(&work->next, 1)) < work->units) {
        const pixels some = pixels_of(&call->array, PIXELS, unit);
        int64_t *index = call->index + some.first, outside = 0;
        for (int64_t n = 0; n < some.count; n++) {
            const int64_t target = call->target[some.first + n];
            const int64_t inside = (uint64_t)target < (uint64_t)call->array.classes, counted = target != call->ignored;
            outside |= counted & ~inside;
            index[n] = inside & counted ? target : -1;
            call->counted[some.first + n] = (uint8_t)(inside & counted);
        }
        if (outside) {
            *(volatile int64_t *)call->outside = 1;
        }
        if (call->array.array) {
            const int64_t item = call->array.item;
            copy_chosen(call->chosen + some.first * item, some.corner, call->array.width_stride, call->array.class_stride, index, some.count, item);
        }
        if (call->weight) {
            const int64_t item = call->weight_item;
            copy_chosen(call->weights + some.first * item, call->weight, 0, item, index, some.count, item);
        }
    }
}

EXPORT void acl_emu_index_choose(const choose_call *call, int64_t threads)
{
    run(run_choose, call, pixel_units(&call->array, PIXELS), threads);
}

/* array = values at the classes, 0 everywhere else. What does not fit the caches goes past them: nothing is read before it is written. */

enum { STREAMED_BYTES = 8 << 20, LINE = 64 };

static void stream_line(char *to, const char *line)
{
#if defined(__x86_64__)
    for (int64_t k = 0; k < LINE; k += (int64_t)sizeof(__m128i)) {
        _mm_stream_si128((__m128i *)(to + k), _mm_load_si128((const __m128i *)(line + k)));
    }
#else
    memcpy(to, line, LINE);
#endif
}

static void clear(char *to, int64_t bytes, int streamed)
{
    if (streamed) {
        static const _Alignas(LINE) char zeros[LINE];
        for (; bytes > 0 && (uintptr_t)to % LINE; bytes--) {
            *to++ = 0;
        }
        for (; bytes >= LINE; bytes -= LINE, to += LINE) {
            stream_line(to, zeros);
        }
    }
    memset(to, 0, (size_t)bytes);
}

/* One class of some pixels that lie side by side: `own` are their classes in as many bits as the values have. */
#define PLACE_SIDE_BY_SIDE(bits)                                                                                 \
    static void place_##bits(char *memory, const void *classes, const void *numbers, int64_t count, int64_t class) \
    {                                                                                                            \
        int##bits##_t *to = (int##bits##_t *)memory;                                                             \
        const int##bits##_t *own = classes, *values = numbers;                                                   \
        for (int64_t n = 0; n < count; n++) {                                                                    \
            to[n] = own[n] == (int##bits##_t)class ? values[n] : 0;                                                             \
        }                                                                                                        \
    }

PLACE_SIDE_BY_SIDE(16)
PLACE_SIDE_BY_SIDE(32)

/* The same past the caches, a cache line at a time. */
#if defined(__x86_64__)
#define STREAM_SIDE_BY_SIDE(bits)                                                                                \
    __attribute__((target("avx2"))) static void stream_##bits(char *memory, const void *classes, const void *numbers, int64_t count, int64_t class) \
    {                                                                                                            \
        enum { ITEM = bits / 8, STEP = LINE / ITEM };                                                            \
        const int##bits##_t *own = classes, *values = numbers;                                                   \
        const int64_t head = at_most((int64_t)(-(uintptr_t)memory % LINE) / ITEM, count);                        \
        const __m256i wanted = _mm256_set1_epi##bits((int##bits##_t)class);                                                     \
        int64_t n = head;                                                                                        \
        place_##bits(memory, own, values, head, class);                                                          \
        for (; n + STEP <= count; n += STEP) {                                                                   \
            for (int64_t k = n; k < n + STEP; k += STEP / 2) {                                                   \
                const __m256i same = _mm256_cmpeq_epi##bits(_mm256_loadu_si256((const __m256i *)(own + k)), wanted); \
                const __m256i chosen = _mm256_and_si256(same, _mm256_loadu_si256((const __m256i *)(values + k))); \
                _mm256_stream_si256((__m256i *)(memory + k * ITEM), chosen);                                     \
            }                                                                                                    \
        }                                                                                                        \
        place_##bits(memory + n * ITEM, own + n, values + n, count - n, class);                                  \
    }

STREAM_SIDE_BY_SIDE(16)
STREAM_SIDE_BY_SIDE(32)
#endif

typedef struct {
    class_array array;
    const int64_t *index;
    const char *values;
} place_call;

/* Whether the pixels, not the classes, lie side by side. */
static int pixels_side_by_side(const class_array *array)
{
    const int narrow = (array->item == 2 && array->classes <= INT16_MAX) || (array->item == 4 && array->classes <= INT32_MAX);
    return narrow && array->width_stride == array->item && (array->class_stride != array->item || array->classes == 1);
}

static int64_t place_step(const class_array *array)
{
    const int64_t rows = ROW_BYTES / (array->classes * array->item);
    return pixels_side_by_side(array) ? PIXELS : rows ? at_most(rows, PIXELS) : 1;
}

static void place_lines(const class_array *array, const pixels *some, const int64_t *index, const char *values, int streamed)
{
    union {
        int16_t of16[PIXELS];
        int32_t of32[PIXELS];
    } own;
    void (*function)(char *, const void *, const void *, int64_t, int64_t) = array->item == 2 ? place_16 : place_32;
#if defined(__x86_64__)
    if (streamed && __builtin_cpu_supports("avx2")) {
        function = array->item == 2 ? stream_16 : stream_32;
    }
#else
    (void)streamed;
#endif
    for (int64_t n = 0; n < some->count; n++) {
        if (array->item == 2) {
            own.of16[n] = (int16_t)index[n];
        } else {
            own.of32[n] = (int32_t)index[n];
        }
    }
    for (int64_t class = 0; class < array->classes; class++) {
        function(some->corner + class * array->class_stride, &own, values, some->count, class);
    }
}

static void place_row(const class_array *array, char *row, int64_t index, const char *value, int streamed)
{
    const int64_t item = array->item, bytes = array->classes * item;
    if (array->class_stride != item) {
        for (int64_t class = 0; class < array->classes; class++) {
            memset(row + class * array->class_stride, 0, (size_t)item);
        }
    } else if (index < 0 || !streamed) {
        clear(row, bytes, streamed);
    } else {
        /* The line of the value is not to be read again: it is written once, with the value in it. */
        char *at = row + index * item, *line = at - (uintptr_t)at % LINE;
        if (line >= row && line + LINE <= row + bytes) {
            _Alignas(LINE) char whole[LINE] = {0};
            memcpy(whole + (at - line), value, (size_t)item);
            clear(row, line - row, streamed);
            stream_line(line, whole);
            clear(line + LINE, row + bytes - line - LINE, streamed);
            return;
        }
        clear(row, bytes, streamed);
    }
    if (index >= 0) {
        memcpy(row + index * array->class_stride, value, (size_t)item);
    }
}

static void run_place(void *argument)
{
    job *work = argument;
    const place_call *call = work->call;
    const class_array *array = &call->array;
    const int64_t item = array->item, step = place_step(array);
    const int side_by_side = pixels_side_by_side(array);
    const int streamed = array->batch * array->height * array->width * array->classes * item >= STREAMED_BYTES;
    int64_t unit;
    while ((unit = atomic_fetch_add(&work->next, 1)) < work->units) {
        const pixels some = pixels_of(array, step, unit);
        const int64_t *index = call->index + some.first;
        const char *values = call->values + some.first * item;
        if (side_by_side) {
            place_lines(array, &some, index, values, streamed);
            continue;
        }
        for (int64_t n = 0; n < some.count; n++) {
            place_row(array, some.corner + n * array->width_stride, index[n], values + n * item, streamed);
        }
    }
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

EXPORT void acl_emu_index_place(const place_call *call, int64_t threads)
{
    run(run_place, call, pixel_units(&call->array, place_step(&call->array)), threads);
}

/* Rows of matrices by index; a batch is one thread's, so that sums are taken in the order of the indices. */

typedef struct {
    char *rows; /* batch × many × width, contiguous */
    int64_t batch, many, width, item;
    const int32_t *index; /* batch × count; what is no row is left out */
    int64_t count;
    char *values; /* batch × count × width, contiguous */
} rows_call;

static void run_take_rows(void *argument)
{
    job *work = argument;
    const rows_call *call = work->call;
    const size_t bytes = (size_t)(call->width * call->item);
    int64_t batch;
    while ((batch = atomic_fetch_add(&work->next, 1)) < work->units) {
        const char *rows = call->rows + batch * call->many * (int64_t)bytes;
        const int32_t *index = call->index + batch * call->count;
        char *to = call->values + batch * call->count * (int64_t)bytes;
        for (int64_t n = 0; n < call->count; n++, to += bytes) {
            if (index[n] >= 0 && index[n] < call->many) {
                memcpy(to, rows + index[n] * (int64_t)bytes, bytes);
            } else {
                memset(to, 0, bytes);
            }
        }
    }
}

EXPORT void acl_emu_index_take_rows(const rows_call *call, int64_t threads)
{
    run(run_take_rows, call, call->batch, threads);
}

static void run_subtract_rows(void *argument)
{
    job *work = argument;
    const rows_call *call = work->call;
    int64_t batch;
    while ((batch = atomic_fetch_add(&work->next, 1)) < work->units) {
        double *rows = (double *)call->rows + batch * call->many * call->width;
        const int32_t *index = call->index + batch * call->count;
        const double *values = (const double *)call->values + batch * call->count * call->width;
        for (int64_t n = 0; n < call->count; n++) {
            if (index[n] >= 0 && index[n] < call->many) {
                for (int64_t k = 0; k < call->width; k++) {
                    rows[index[n] * call->width + k] -= values[n * call->width + k];
                }
            }
        }
    }
}

EXPORT void acl_emu_index_subtract_rows(const rows_call *call, int64_t threads)
{
    run(run_subtract_rows, call, call->batch, threads);
}

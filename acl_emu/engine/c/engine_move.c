/* Between operands as they lie in memory, strided or transposed, and rows in which their elements follow each other. */
#include "engine_program.h"

#include <stdlib.h>
#include <string.h>

#define COPY_RUNS(type)                                                                                       \
    for (int64_t k = 0; k < runs; k++, to += to_pitch, from += from_pitch) {                                   \
        for (int64_t i = 0; i < n; i++) {                                                                      \
            memcpy(to + i * to_stride, from + i * from_stride, sizeof(type));                                  \
        }                                                                                                      \
    }

/* Runs of n elements, one by one; pitches lie between runs, strides between elements. */
static void copy_elements(char *to, int64_t to_pitch, int64_t to_stride, const char *from, int64_t from_pitch, int64_t from_stride, int64_t runs, int64_t n, int64_t item)
{
    switch (item) {
    case 1: COPY_RUNS(uint8_t) break;
    case 2: COPY_RUNS(uint16_t) break;
    case 4: COPY_RUNS(uint32_t) break;
    default: COPY_RUNS(uint64_t) break;
    }
}

static int doublings(int64_t item)
{
    return item == 1 ? 0 : item == 2 ? 1 : item == 4 ? 2 : 3;
}

static void repeat(char *to, const char *from, int64_t stride, int64_t n, int64_t times, int64_t item)
{
    acl_emu_engine_tiles->repeat[doublings(item)](to, from, stride, (size_t)n, (size_t)times);
}

static void copy_strided(char *to, int64_t to_stride, const char *from, int64_t from_stride, size_t n, int64_t item)
{
    if (to_stride == item && from_stride == item) {
        const size_t size = n * (size_t)item;
        if (size == 128) { /* lines of blocks: no call */
            memcpy(to, from, 128);
        } else if (size == 64) {
            memcpy(to, from, 64);
        } else {
            memcpy(to, from, size);
        }
        return;
    }
    if (to_stride == item && from_stride == 0) {
        repeat(to, from, 0, 1, (int64_t)n, item);
        return;
    }
    if (to_stride == item && from_stride == -item) {
        acl_emu_engine_tiles->reverse[doublings(item)](to, from, n);
        return;
    }
    if (from_stride == item && to_stride == -item) {
        acl_emu_engine_tiles->reverse[doublings(item)](to - (int64_t)(n - 1) * item, from + (int64_t)(n - 1) * item, n);
        return;
    }
    if (to_stride == item && is_step(from_stride, item)) {
        acl_emu_engine_tiles->take_steps[item == 4](to, from, from_stride / item, n);
        return;
    }
    if (from_stride == item && is_step(to_stride, item)) {
        acl_emu_engine_tiles->put_steps[item == 4](to, to_stride / item, from, n);
        return;
    }
    copy_elements(to, 0, to_stride, from, 0, from_stride, 1, (int64_t)n, item);
}

/* So few elements, or bytes that lie side by side, are copied right here, run after run: a call for each run would take longer. */
enum { SHORT_RUN = 32, SHORT_BYTES = 512 };

/* In pieces that lie on each other in the end, as there is no other size for what is left. */
#define COPY_IN_PIECES(type)                                                        \
    for (int64_t at = 0; at < size - (int64_t)sizeof(type); at += sizeof(type)) {    \
        memcpy(to + at, from + at, sizeof(type));                                   \
    }                                                                               \
    memcpy(to + size - sizeof(type), from + size - sizeof(type), sizeof(type));

static inline void copy_short(char *to, const char *from, int64_t size)
{
    typedef struct {
        uint64_t words[2];
    } pair;
    if (size >= (int64_t)sizeof(pair)) {
        COPY_IN_PIECES(pair)
    } else if (size >= (int64_t)sizeof(uint64_t)) {
        COPY_IN_PIECES(uint64_t)
    } else if (size >= (int64_t)sizeof(uint32_t)) {
        COPY_IN_PIECES(uint32_t)
    } else {
        for (int64_t at = 0; at < size; at++) {
            to[at] = from[at];
        }
    }
}

/* Runs of n elements, as it is done best. */
static void copy_runs(char *to, int64_t to_pitch, int64_t to_stride, const char *from, int64_t from_pitch, int64_t from_stride, int64_t runs, int64_t n, int64_t item)
{
    if (to_stride == item && from_stride == item && n * item <= SHORT_BYTES) {
        for (int64_t k = 0; k < runs; k++) {
            copy_short(to + k * to_pitch, from + k * from_pitch, n * item);
        }
    } else if (n < SHORT_RUN) {
        copy_elements(to, to_pitch, to_stride, from, from_pitch, from_stride, runs, n, item);
    } else {
        for (int64_t k = 0; k < runs; k++) {
            copy_strided(to + k * to_pitch, to_stride, from + k * from_pitch, from_stride, (size_t)n, item);
        }
    }
}

typedef struct {
    const range_view *range;
    int64_t item, each[MOST_DIMS]; /* elements of a step along a dimension */
} gathering;

/* Elements of the dimensions from d on. What repeats itself is gathered once and copied from there, twice as much each time. */
static void gather(const gathering *some, int64_t d, const char *from, int64_t first, int64_t n, char *to)
{
    const range_view *range = some->range;
    const int64_t item = some->item, each = some->each[d], stride = range->stride[d], last = range->count - 1;
    if (d == last) {
        copy_strided(to, item, from + first * stride, stride, (size_t)n, item);
        return;
    }
    const int64_t own = stride == 0 && n > each ? each : n;
    from += first / each * stride;
    for (int64_t done = 0, at = first % each, run; done < own; done += run, at = 0) {
        const int64_t elements = (own - done) / each;
        if (at == 0 && elements && d + 1 == last) {
            if (range->stride[last] == 0) {
                repeat(to + done * item, from, stride, elements, each, item);
            } else {
                copy_runs(to + done * item, each * item, item, from, stride, range->stride[last], elements, each, item);
            }
            run = elements * each;
            from += elements * stride;
        } else {
            run = each - at < own - done ? each - at : own - done;
            gather(some, d + 1, from, at, run, to + done * item);
            from += stride;
        }
    }
    for (int64_t done = own; done < n; done *= 2) {
        memcpy(to + done * item, to, (size_t)((done < n - done ? done : n - done) * item));
    }
}

/* The other way; nothing that is written lies on itself. */
static void scatter(const gathering *some, int64_t d, char *to, int64_t first, int64_t n, const char *row)
{
    const range_view *range = some->range;
    const int64_t item = some->item, each = some->each[d], stride = range->stride[d], last = range->count - 1;
    if (d == last) {
        copy_strided(to + first * stride, stride, row, item, (size_t)n, item);
        return;
    }
    to += first / each * stride;
    for (int64_t done = 0, at = first % each, run; done < n; done += run, at = 0) {
        const int64_t elements = (n - done) / each;
        if (at == 0 && elements && d + 1 == last) {
            copy_runs(to, stride, range->stride[last], row + done * item, each * item, item, elements, each, item);
            run = elements * each;
            to += elements * stride;
        } else {
            run = each - at < n - done ? each - at : n - done;
            scatter(some, d + 1, to, at, run, row + done * item);
            to += stride;
        }
    }
}

void acl_emu_move_range(const operand_view *operand, char *base, int64_t first, size_t n, char *row, int out)
{
    const range_view *inner = &operand->inner;
    gathering some = {.range = inner, .item = operand->item};
    some.each[inner->count - 1] = 1;
    for (int64_t d = inner->count - 1; d > 0; d--) {
        some.each[d - 1] = some.each[d] * inner->length[d];
    }
    if (out) {
        scatter(&some, 0, base, first, (int64_t)n, row);
    } else {
        gather(&some, 0, base, first, (int64_t)n, row);
    }
}

/* Memory that is needed soon */

void acl_emu_add_prefetch(prefetches *soon, const move *some)
{
    if (some->step == some->item) {
        soon->items[soon->count++] = (prefetch){some->lines, some->stride, some->count, some->length * some->item};
    }
}

int64_t acl_emu_prefetch_lines(const prefetches *soon)
{
    int64_t found = 0;
    for (int64_t k = soon->next; k < soon->count; k++) {
        found += soon->items[k].lines * ((soon->items[k].bytes + CACHE_LINE - 1) / CACHE_LINE);
    }
    return found;
}

void acl_emu_prefetch(prefetches *soon, int64_t count)
{
    while (count > 0 && soon->next < soon->count) {
        prefetch *now = &soon->items[soon->next];
        for (; count > 0 && soon->byte < now->bytes; count--, soon->byte += CACHE_LINE) {
            __builtin_prefetch(now->line + soon->byte, 0, 2); /* not into the first-level cache, where lines far apart drive each other out */
        }
        if (soon->byte >= now->bytes) {
            soon->byte = 0;
            now->line += now->stride;
            soon->next += --now->lines == 0;
        }
    }
}

/* Moves */

static int has_squares(const move *some)
{
    return some->by_line == some->item && some->step == some->item && acl_emu_engine_tiles->transpose[some->item][1].square;
}

static void transpose_square(const move *some, const transposition *by, int64_t l, int64_t e)
{
    char *memory = some->lines + l * some->stride + e * some->item, *gathered = some->rows + l * some->item + e * some->by_element;
    if (some->out) {
        by->square(memory, some->stride, gathered, some->by_element, some->streamed);
    } else {
        by->square(gathered, some->by_element, memory, some->stride, 0);
    }
}

static void move_line(const move *some, int64_t l, int64_t e, int64_t end)
{
    char *line = some->lines + l * some->stride + e * some->step, *row = some->rows + l * some->by_line + e * some->by_element;
    const size_t n = (size_t)(end - e);
    if (!some->out) {
        copy_strided(row, some->by_element, line, some->step, n, some->item);
    } else if (some->streamed && some->step == some->item && some->by_element == some->item) {
        acl_emu_engine_tiles->stream(line, row, n * (size_t)some->item);
    } else {
        copy_strided(line, some->step, row, some->by_element, n, some->item);
    }
}

/* The same element of some lines. */
static void move_across(const move *some, int64_t l, int64_t end, int64_t e)
{
    char *memory = some->lines + l * some->stride + e * some->step, *row = some->rows + l * some->by_line + e * some->by_element;
    if (some->out) {
        copy_strided(memory, some->stride, row, some->by_line, (size_t)(end - l), some->item);
    } else {
        copy_strided(row, some->by_line, memory, some->stride, (size_t)(end - l), some->item);
    }
}

/* Elements e of lines l that large squares leave over, where there are enough beside them: in squares the last of which move some of those again. */
static void reach_back(const move *some, int64_t l, int64_t last_l, int64_t e, int64_t last_e)
{
    const transposition *sizes = acl_emu_engine_tiles->transpose[some->item];
    const int large = last_l - l > sizes[0].side && last_e - e > sizes[0].side && last_l >= sizes[1].side && last_e >= sizes[1].side;
    const transposition *by = &sizes[large];
    move cached = *some;
    cached.streamed = 0; /* which would have to be aligned */
    for (int64_t i = l; i < last_l; i += by->side) {
        for (int64_t k = e; k < last_e; k += by->side) {
            transpose_square(&cached, by, i + by->side < last_l ? i : last_l - by->side, k + by->side < last_e ? k : last_e - by->side);
        }
    }
}

/* The same: in smaller squares, what these leave of many lines element by element, at last line by line. */
static void move_rest(const move *some, int64_t l, int64_t last_l, int64_t e, int64_t last_e)
{
    const transposition *by = &acl_emu_engine_tiles->transpose[some->item][0];
    if (last_l >= by->side && last_e >= by->side) {
        reach_back(some, l, last_l, e, last_e);
        return;
    }
    const int64_t end_l = l + (last_l - l) / by->side * by->side, end_e = e + (last_e - e) / by->side * by->side;
    for (int64_t i = l; i < end_l; i += by->side) {
        for (int64_t k = e; k < end_e; k += by->side) {
            transpose_square(some, by, i, k);
        }
    }
    for (int64_t k = end_e; k < last_e; k++) {
        move_across(some, l, end_l, k);
    }
    for (int64_t i = end_l; i < last_l; i++) {
        move_line(some, i, e, last_e);
    }
}

enum { BESIDE_BYTES = 16 << 10 };
_Static_assert(16 * (MOST_GROUP * 4 + CACHE_LINE) <= BESIDE_BYTES && 32 * (MOST_GROUP * 2 + CACHE_LINE) <= BESIDE_BYTES, "a square of the longest lines fits");

/* Lines far apart are read one after the other and laid side by side: who turns them there finds neither cache lines that drive each other out nor a
 * page for each. */
static void transpose_in(const move *some, int64_t lines, int64_t elements)
{
    const transposition *by = &acl_emu_engine_tiles->transpose[some->item][1];
    char beside[BESIDE_BYTES] __attribute__((aligned(CACHE_LINE)));
    const int64_t pitch = elements * some->item + CACHE_LINE, most = BESIDE_BYTES / pitch / by->side * by->side;
    move near = *some;
    near.lines = beside;
    near.stride = pitch;
    for (int64_t l = 0; l < lines; l += most) {
        const int64_t count = lines - l < most ? lines - l : most, lines_each = some->ahead ? some->count - some->ahead - l : 0;
        acl_emu_engine_tiles->copy_lines(beside, pitch, some->lines + l * some->stride, some->stride, count, elements * some->item, some->ahead, lines_each);
        near.rows = some->rows + l * some->item;
        for (int64_t e = 0; e < elements; e += by->side) {
            for (int64_t k = 0; k < count; k += by->side) {
                transpose_square(&near, by, k, e);
            }
        }
    }
}

/* In strips, whose cache lines follow each other in memory: where each is written to another line, as squares are, a processor waits for it. */
static void strip_out(const move *some, prefetches *soon)
{
    const int64_t strips = some->count / STRIP_LINES * (some->length / STRIP_ELEMENTS), lines_each = strips ? (acl_emu_prefetch_lines(soon) + strips - 1) / strips : 0;
    for (int64_t l = 0; l + STRIP_LINES <= some->count; l += STRIP_LINES) {
        for (int64_t e = 0; e < some->length; e += STRIP_ELEMENTS) {
            char *memory = some->lines + l * some->stride + e * some->item, *gathered = some->rows + l * some->item + e * some->by_element;
            acl_emu_engine_tiles->transpose_strip(memory, some->stride, gathered, some->by_element, some->streamed);
            acl_emu_prefetch(soon, lines_each);
        }
    }
    move_rest(some, some->count / STRIP_LINES * STRIP_LINES, some->count, 0, some->length);
}

static void transpose_squares(const move *some, int64_t lines, int64_t elements, prefetches *soon)
{
    const transposition *by = &acl_emu_engine_tiles->transpose[some->item][1];
    const int64_t squares = lines / by->side * (elements / by->side), lines_each = squares ? (acl_emu_prefetch_lines(soon) + squares - 1) / squares : 0;
    for (int64_t l = 0; l < lines; l += by->side) {
        for (int64_t e = 0; e < elements; e += by->side) {
            transpose_square(some, by, l, e);
            acl_emu_prefetch(soon, lines_each);
        }
    }
}

void acl_emu_move_all(const move *some, prefetches *soon)
{
    if (!has_squares(some)) {
        const int64_t lines_each = acl_emu_prefetch_lines(soon) / some->count + 1;
        for (int64_t l = 0; l < some->count; l++) {
            move_line(some, l, 0, some->length);
            acl_emu_prefetch(soon, lines_each);
        }
        return;
    }
    if (some->out && some->item == STRIP_ITEM && some->length % STRIP_ELEMENTS == 0 && acl_emu_engine_tiles->transpose_strip) {
        strip_out(some, soon);
        return;
    }
    const int64_t side = acl_emu_engine_tiles->transpose[some->item][1].side;
    const int64_t lines = some->count / side * side, elements = some->length / side * side;
    if (some->out) {
        transpose_squares(some, lines, elements, soon);
    } else {
        transpose_in(some, lines, elements);
    }
    if (elements < some->length) {
        move_rest(some, 0, lines, elements, some->length);
    }
    move_rest(some, lines, some->count, 0, some->length);
}

move acl_emu_move_of_matrix(char *first, int64_t down, int64_t across, int64_t item, int64_t rows, int64_t columns, char *to, int64_t pitch, int out, int streamed)
{
    const int upright = llabs(down) < llabs(across); /* along the shorter way through memory */
    move some = {.lines = first, .item = item, .rows = to, .out = out};
    some.count = upright ? columns : rows;
    some.length = upright ? rows : columns;
    some.stride = upright ? across : down;
    some.step = upright ? down : across;
    some.by_line = upright ? item : pitch;
    some.by_element = upright ? pitch : item;
    some.streamed = streamed && ((uintptr_t)some.lines | (uintptr_t)some.stride) % acl_emu_engine_tiles->vector_bytes == 0;
    return some;
}

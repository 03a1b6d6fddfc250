/* Loop nests, run on all threads, and the steps of their programs on each tile.
 *
 * What a unit of work computes depends on its place only, never on the number of threads, and each unit is one thread's: no result changes with their
 * number. */
#define _GNU_SOURCE
#include "engine_program.h"
#include "regions.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))

enum {
    LASTING_BYTES = 8 << 20, /* bytes that a thread may keep from one run to the next */
    STREAMED_BYTES = 24 << 20
};

static __thread buffers own_buffers;
static pthread_key_t ending; /* its value is the buffers of a thread, to be freed when the thread ends */

static void free_buffers(void *own)
{
    free(((buffers *)own)->registers);
    ((buffers *)own)->registers = NULL;
    ((buffers *)own)->size = 0;
}

__attribute__((constructor)) static void watch_threads(void)
{
    pthread_key_create(&ending, free_buffers);
}

#if defined(__x86_64__)
static int find_processor(void)
{
    unsigned a, b, c = 0, d;
    __builtin_cpu_init();
    __get_cpuid(1, &a, &b, &c, &d); /* not all compilers know the name of bit_F16C */
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !(c & bit_F16C)) {
        return PLAIN_PROCESSOR;
    }
    const int wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512vl");
    return wide ? WITH_AVX512 : WITH_AVX2;
}

/* Asked once: a virtual machine takes microseconds to answer. */
EXPORT int acl_emu_engine_processor(void)
{
    static atomic_int found = -1;
    int processor = atomic_load_explicit(&found, memory_order_relaxed);
    if (processor < 0) {
        processor = find_processor();
        atomic_store_explicit(&found, processor, memory_order_relaxed);
    }
    return processor;
}
#endif

const tile_code *acl_emu_engine_tiles = &acl_emu_tiles_baseline;
static const step_table *fused = &acl_emu_fused_baseline;

__attribute__((constructor)) static void choose_instructions(void)
{
    acl_emu_engine_tiles = FOR_THIS_PROCESSOR(acl_emu_tiles);
    fused = FOR_THIS_PROCESSOR(acl_emu_fused);
}

/* Names: single steps first, then fused ones; NULL behind the last. */
EXPORT const char *acl_emu_engine_step_name(int64_t number)
{
    const int64_t single = acl_emu_engine_tiles->step_count, later = number - single;
    return number < single ? acl_emu_engine_tiles->steps[number].name : later < fused->count ? fused->steps[later].name : NULL;
}

EXPORT const char *acl_emu_engine_reduction_name(int64_t number)
{
    return number < acl_emu_engine_tiles->reduction_count ? acl_emu_engine_tiles->reductions[number].name : NULL;
}

static inline tile_step *step_function(int64_t number)
{
    const int64_t single = acl_emu_engine_tiles->step_count;
    return number < single ? acl_emu_engine_tiles->steps[number].run : fused->steps[number - single].run;
}

static inline const reduction *reduction_of(const job *work, int64_t accumulator)
{
    return &acl_emu_engine_tiles->reductions[work->accumulators[accumulator]];
}

/* Memory operands */

/* Whether an operand has an element for each of a register as it lies in memory: truth values have to be looked at. */
static inline int is_same(int64_t dtype, int64_t register_type, const char *memory)
{
    return dtype == register_type && dtype != BOOL8 && (uintptr_t)memory % (size_t)item_of(dtype) == 0;
}

/* What a reduction finds in memory, where it takes that as it is; else -1. */
static inline int source_of(int64_t dtype, int64_t register_type, const char *memory)
{
    if (is_same(dtype, register_type, memory)) {
        return AS_REGISTER;
    }
    const int half = register_type == F32 && (uintptr_t)memory % sizeof(uint16_t) == 0;
    return half && dtype == F16 ? FROM_F16 : half && dtype == BF16 ? FROM_BF16 : -1;
}

/* From one register to the next: no power of two, lest a load wait for a store to another one that lies at the same place of its page. */
enum { REGISTER_PITCH = TILE_BYTES + 512 };

static inline char *register_of(const buffers *own, int64_t slot)
{
    return own->registers + (size_t)slot * REGISTER_PITCH;
}

/* How far it is from a row of a tile to the next, if that is the same for all; else -1. */
static int64_t row_step(const range_view *outer, const place *at)
{
    const int64_t last = outer->count - 1;
    return last == 0 || at->outer % outer->length[last] + at->rows <= outer->length[last] ? outer->stride[last] : -1;
}

/* Where the elements of a tile's first row are in memory, or in a buffer where they were gathered before; and how far it is to the next row. */
static char *find_row(const job *work, const buffers *own, int64_t index, const place *at, int64_t *step)
{
    const operand_view *operand = &work->operands[index];
    if (work->loops->shape == BLOCKS && operand->inner.count == 2) {
        *step = 0;
        return own->line[index];
    }
    if (work->transposed[index]) {
        const int64_t pitch = row_pitch(work->loops->inner, operand->item);
        *step = pitch;
        return own->rows[index] + (at->outer - own->group_first) * pitch + at->first * operand->item;
    }
    *step = at->rows > 1 ? row_step(&operand->outer, at) : 0;
    return base_of(work, index, at->outer) + offset_of(&operand->inner, at->first);
}

static inline int lies_ready(const job *work, int64_t index)
{
    const operand_view *operand = &work->operands[index];
    return (work->loops->shape == BLOCKS && operand->inner.count == 2) || work->transposed[index] || lies_in_row(work->loops, operand);
}

static void load_rows(const job *work, buffers *own, int64_t index, int64_t register_type, char *to, const place *at)
{
    const operand_view *operand = &work->operands[index];
    const size_t size = at->n * (size_t)item_of(register_type);
    const int ready = lies_ready(work, index), one = is_one(operand);
    /* In reverse order, of the type of the register: nothing is written behind what is gathered, so it can be gathered there. */
    const int reversed = operand->inner.stride[operand->inner.count - 1] == -operand->item && is_same(operand->dtype, register_type, work->memory[index]);
    if (one && !work->transposed[index] && at->rows > 1 && row_step(&operand->outer, at) == operand->item) { /* a number for each row, side by side */
        acl_emu_engine_tiles->cast[register_type][operand->dtype](own->gathered, base_of(work, index, at->outer), (size_t)at->rows);
        acl_emu_engine_tiles->spread[item_of(register_type)](to, own->gathered, at->n, (size_t)at->rows);
        return;
    }
    for (int64_t r = 0; r < at->rows; r++, to += size) {
        const place row = {.outer = at->outer + r, .rows = 1, .first = at->first, .n = at->n};
        int64_t step;
        if (one && !work->transposed[index]) {
            acl_emu_engine_tiles->cast[register_type][operand->dtype](to, base_of(work, index, row.outer), 1);
            if (at->n > 1) {
                acl_emu_engine_tiles->spread[item_of(register_type)](to, to, at->n, 1);
            }
        } else if (ready) {
            acl_emu_engine_tiles->cast[register_type][operand->dtype](to, find_row(work, own, index, &row, &step), at->n);
        } else if (reversed) {
            acl_emu_move_range(operand, base_of(work, index, row.outer), at->first, at->n, to, 0);
        } else {
            acl_emu_move_range(operand, base_of(work, index, row.outer), at->first, at->n, own->gathered, 0);
            acl_emu_engine_tiles->cast[register_type][operand->dtype](to, own->gathered, at->n);
        }
    }
}

static void load(const job *work, buffers *own, const step *s, const place *at)
{
    const operand_view *operand = &work->operands[s->y];
    const int64_t register_type = s->x;
    own->source[s->z] = AS_REGISTER;
    if (lies_ready(work, s->y)) {
        int64_t step;
        char *there = find_row(work, own, s->y, at, &step);
        if (at->rows == 1 || step == (int64_t)at->n * operand->item || work->lines) {
            const int source = source_of(operand->dtype, register_type, there);
            if (source == AS_REGISTER || (source > 0 && source < work->sources)) {
                own->slot[s->z] = there;
                own->source[s->z] = source;
                own->in_memory[s->z] = step;
                return;
            }
            own->slot[s->z] = register_of(own, s->z);
            acl_emu_engine_tiles->cast[register_type][operand->dtype](own->slot[s->z], there, at->n * (size_t)at->rows);
            return;
        }
    } else if (at->rows == 1 && is_one(operand)) { /* a number for a row is still there from the last tile */
        const int64_t row = operand->outer.count == 1 && operand->outer.stride[0] == 0 ? 0 : at->outer;
        if (own->held[s->z] == row && own->held_count[s->z] >= at->n) {
            return;
        }
        own->held[s->z] = row;
        own->held_count[s->z] = at->n;
    }
    if (at->rows > 1) {
        own->held[s->z] = -1;
    }
    own->slot[s->z] = register_of(own, s->z);
    load_rows(work, own, s->y, register_type, own->slot[s->z], at);
}

/* Past the caches: to aligned memory from floats, which are cast on the way; others are cast before. */
static void stream_out(buffers *own, const operand_view *operand, int64_t register_type, char *there, const void *elements, size_t n)
{
    if (register_type == F32 && operand->dtype <= BF16) {
        const int aligned = (uintptr_t)there % acl_emu_engine_tiles->vector_bytes == 0 && acl_emu_engine_tiles->stream_store[operand->dtype];
        (aligned ? acl_emu_engine_tiles->stream_store[operand->dtype] : acl_emu_engine_tiles->cast[operand->dtype][register_type])(there, elements, n);
        return;
    }
    if (operand->dtype != register_type) {
        acl_emu_engine_tiles->cast[operand->dtype][register_type](own->gathered, elements, n);
        elements = own->gathered;
    }
    acl_emu_engine_tiles->stream(there, elements, n * (size_t)operand->item);
}

static void store(const job *work, buffers *own, const step *s, const place *at)
{
    const operand_view *operand = &work->operands[s->y];
    const int64_t register_type = s->x;
    const char *elements = own->slot[s->z];
    const int in_block = work->loops->shape == BLOCKS && operand->inner.count == 2, in_memory = !work->transposed[s->y] && !(in_block && is_transposed(operand));
    const int ready = lies_ready(work, s->y) || (at->n == 1 && !in_block);
    int64_t step;
    char *there = find_row(work, own, s->y, at, &step);
    if (there == elements) {
        return; /* it was computed in its place */
    }
    const int together = ready && at->rows > 1 && step == (int64_t)at->n * operand->item;
    const int64_t rows = together ? 1 : at->rows;
    const size_t n = together ? at->n * (size_t)at->rows : at->n;
    for (int64_t r = 0; r < rows; r++, elements += n * (size_t)item_of(register_type)) {
        if (r) {
            const place row = {.outer = at->outer + r, .rows = 1, .first = at->first, .n = at->n};
            there = find_row(work, own, s->y, &row, &step);
        }
        if (!ready) {
            acl_emu_engine_tiles->cast[operand->dtype][register_type](own->gathered, elements, n);
            acl_emu_move_range(operand, base_of(work, s->y, at->outer + r), at->first, n, own->gathered, 1);
        } else if (work->streamed && in_memory && at->n > 1) {
            stream_out(own, operand, register_type, there, elements, n);
        } else {
            acl_emu_engine_tiles->cast[operand->dtype][register_type](there, elements, n);
        }
    }
}

/* Steps */

static inline size_t accumulator_pitch(const reduction *by)
{
    return (by->row[AS_REGISTER] ? PARTIALS : 1) * by->item;
}

static void reduce(const job *work, const buffers *own, const step *s, const place *at, int64_t item)
{
    const reduction *by = reduction_of(work, s->x);
    const char *elements = own->slot[s->z];
    const int source = own->source[s->z];
    if (work->loops->shape == COLUMNS) {
        const int64_t pitch = work->lines ? own->in_memory[s->z] : (int64_t)at->n * item;
        by->lanes[source](own->accumulator[s->x], elements, at->n, at->outer, at->rows, pitch);
        return;
    }
    if (by->rows[source] && work->whole_rows) {
        by->rows[source](own->accumulator[s->x], elements, at->n, (size_t)at->rows);
        return;
    }
    const int64_t pitch = (int64_t)at->n * (source ? (int64_t)sizeof(uint16_t) : item);
    for (int64_t r = 0; r < at->rows; r++) {
        by->row[source](own->accumulator[s->x] + (size_t)r * accumulator_pitch(by), elements + r * pitch, at->n, at->first);
    }
}

static void scan(const job *work, const buffers *own, const step *s, const place *at, int64_t item)
{
    const reduction *by = reduction_of(work, s->x);
    if (work->loops->shape == COLUMNS) {
        by->scan_lanes(own->slot[s->z], own->accumulator[s->x], own->slot[s->y], at->n);
        return;
    }
    for (int64_t r = 0; r < at->rows; r++) {
        const int64_t offset = r * (int64_t)at->n * item;
        by->scan_row((char *)own->slot[s->z] + offset, own->accumulator[s->x] + (size_t)r * accumulator_pitch(by), (char *)own->slot[s->y] + offset, at->n);
    }
}

/* One number for each row of a tile, or for each column. */
static void finish(const job *work, buffers *own, const step *s, const place *at)
{
    const reduction *by = reduction_of(work, s->x);
    const size_t count = work->loops->shape == COLUMNS ? at->n : (size_t)at->rows;
    const int found = by->rows[AS_REGISTER] && work->whole_rows; /* already, in the place of accumulators */
    char *to = found ? own->accumulator[s->x] : by->dtype == s->y ? register_of(own, s->z) : own->gathered;
    if (work->loops->shape == COLUMNS) {
        by->finish_lanes(to, own->accumulator[s->x], count);
    } else if (!found) {
        for (size_t r = 0; r < count; r++) {
            by->finish_row(to + r * (size_t)item_of(by->dtype), own->accumulator[s->x] + r * accumulator_pitch(by));
        }
    }
    if (by->dtype != s->y) {
        acl_emu_engine_tiles->cast[s->y][by->dtype](register_of(own, s->z), to, count);
    }
    own->slot[s->z] = found && by->dtype == s->y ? to : register_of(own, s->z);
}

static inline tile_step *compiled(const step *s)
{
    return atomic_load_explicit(&((late_step *)s->x)->run, memory_order_acquire);
}

/* `n`: elements of a register. */
static void run_steps(const job *work, buffers *own, int64_t begin, int64_t end, const place *at, size_t n)
{
    for (const step *s = work->steps + begin; s < work->steps + end; s++) {
        switch (s->code) {
        case CALL:
        case CALL_LATE: {
            const int64_t *registers = work->pool + s->at;
            void *results[MOST_SLOTS];
            const void *arguments[MOST_SLOTS];
            for (int64_t k = 0; k < s->results; k++) {
                results[k] = own->slot[registers[k]];
            }
            for (int64_t k = 0; k < s->arguments; k++) {
                arguments[k] = own->slot[registers[s->results + k]];
            }
            (s->code == CALL ? step_function(s->x) : compiled(s))(results, arguments, n);
            break;
        }
        case UNLESS_LATE: s += compiled(s) ? 0 : s->y; break;
        case SKIP: s += s->y; break;
        case LOAD: load(work, own, s, at); break;
        case CAST: acl_emu_engine_tiles->cast[s->x][s->at](own->slot[s->z], own->slot[s->y], n); break;
        case STORE: store(work, own, s, at); break;
        case REDUCE: reduce(work, own, s, at, s->y); break;
        case SCAN: scan(work, own, s, at, s->at); break;
        case FINISH: finish(work, own, s, at); break;
        case SPREAD: break; /* see spread_rows */
        }
    }
}

/* Numbers that belong to a row become registers of the tiles that follow: of a column, it is one already. */
static void spread_rows(const job *work, buffers *own, const phase *now, const place *at, size_t n)
{
    for (const step *s = work->steps + now->row_begin; s < work->steps + now->row_end; s++) {
        if (s->code != SPREAD) {
            continue;
        }
        if (work->loops->shape == COLUMNS) {
            own->slot[s->z] = own->slot[s->y];
            continue;
        }
        own->slot[s->z] = register_of(own, s->z);
        acl_emu_engine_tiles->spread[s->x](own->slot[s->z], own->slot[s->y], n, (size_t)at->rows);
    }
}

static void begin_phase(const job *work, const buffers *own, const phase *now, size_t count)
{
    for (int64_t k = now->accumulator_begin; k < now->accumulator_end; k++) {
        const reduction *by = reduction_of(work, k);
        if (by->rows[AS_REGISTER] && work->whole_rows) {
            continue;
        }
        by->begin(own->accumulator[k], by->row[AS_REGISTER] && work->loops->shape != COLUMNS ? count * PARTIALS : count);
    }
}

/* Registers that later phases read are rows in memory. */
static inline void place_kept(const job *work, buffers *own, const place *at)
{
    const int64_t first = work->loops->shape == COLUMNS ? at->outer * work->loops->lanes : at->first;
    for (int64_t k = 0; k < work->code->saved; k++) {
        own->slot[work->saved[2 * k]] = own->saved[k] + first * work->saved[2 * k + 1];
    }
}

/* A result that lies in memory as a register holds it is computed there. */
static void place_results(const job *work, buffers *own, const phase *now, const place *at)
{
    for (const step *s = work->steps + now->tile_end - 1; s >= work->steps + now->tile_begin && s->code == STORE; s--) {
        const operand_view *operand = &work->operands[s->y];
        if (!s->at) {
            continue;
        }
        own->slot[s->z] = register_of(own, s->z);
        if (lies_ready(work, s->y) && !(work->streamed && !work->transposed[s->y])) {
            int64_t step;
            char *there = find_row(work, own, s->y, at, &step);
            if ((at->rows == 1 || step == (int64_t)at->n * operand->item) && (operand->dtype == s->x) && (uintptr_t)there % (size_t)operand->item == 0) {
                own->slot[s->z] = there;
            }
        }
    }
}

static void run_tile(const job *work, buffers *own, const phase *now, const place *at)
{
    place_kept(work, own, at);
    place_results(work, own, now, at);
    run_steps(work, own, now->tile_begin, now->tile_end, at, at->n * (size_t)at->rows);
}

/* Units of work */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many runs follow each other at the same distance, from the one that begins at an element on. */
static int64_t even_runs(const operand_view *operand, int64_t first, int64_t run, int64_t *pitch)
{
    const range_view *inner = &operand->inner;
    const int64_t last = inner->count - 1;
    if (last == 0 || inner->length[last] > run) {
        *pitch = run * operand->item;
        return last == 0 ? INT64_MAX : (inner->length[last] - first % inner->length[last]) / run;
    }
    *pitch = inner->stride[last - 1];
    return inner->length[last - 1] - first / run % inner->length[last - 1];
}

/* A copy in runs, one right after the other: a processor that has little to do between them reads ahead over the gaps. */
static void copy_map(const job *work, int64_t row, int64_t begin, int64_t end)
{
    const operand_view *read = &work->operands[0], *written = &work->operands[1];
    const int64_t run = work->loops->run, item = read->item;
    for (int64_t first = begin, done; first < end; first += done) {
        const char *from = base_of(work, 0, row) + offset_of(&read->inner, first);
        char *to = base_of(work, 1, row) + offset_of(&written->inner, first);
        const int64_t within = run - first % run, most = (end - first) / run;
        int64_t from_pitch = 0, to_pitch = 0, count = 1, size = least(within, end - first);
        if (within == run && most) {
            const int64_t even_from = even_runs(read, first, run, &from_pitch), even_to = even_runs(written, first, run, &to_pitch);
            count = least(most, least(even_from, even_to));
            size = run;
        }
        for (int64_t k = 0; k < count; k++) {
            if (work->streamed) {
                acl_emu_engine_tiles->stream(to + k * to_pitch, from + k * from_pitch, (size_t)(size * item));
            } else {
                memcpy(to + k * to_pitch, from + k * from_pitch, (size_t)(size * item));
            }
        }
        done = count * size;
    }
}

static void run_map(const job *work, buffers *own, int64_t unit)
{
    const int64_t row = unit / work->chunks, begin = unit % work->chunks * work->unit_length, tile = (int64_t)work->tile, run = work->loops->run;
    int64_t end = begin + work->unit_length;
    end = end < work->loops->inner ? end : work->loops->inner;
    if (work->copied) {
        copy_map(work, row, begin, end);
        return;
    }
    for (int64_t first = begin, n; first < end; first += n) {
        n = end - first < tile ? end - first : tile;
        if (run < work->loops->inner) {
            const int64_t left = run - first % run;
            n = left < n ? left : n;
        }
        const place at = {.outer = row, .rows = 1, .first = first, .n = (size_t)n};
        run_tile(work, own, work->phases, &at);
    }
}

void acl_emu_run_line(const job *work, buffers *own, int64_t outer, size_t n)
{
    const place at = {.outer = outer, .rows = 1, .n = n};
    run_tile(work, own, work->phases, &at);
}

/* Some rows, each of them in tiles, or all in one tile, through all phases. */
static void run_some_rows(const job *work, buffers *own, int64_t row, int64_t rows)
{
    const int64_t inner = work->loops->inner, tile = (int64_t)work->tile, run = work->loops->run;
    for (int64_t p = 0; p < work->code->phases; p++) {
        const phase *now = &work->phases[p];
        begin_phase(work, own, now, (size_t)rows);
        for (int64_t first = 0, n; first < inner; first += n) {
            const int64_t left = run - first % run;
            n = left < tile ? left : tile;
            const place at = {.outer = row, .rows = rows, .first = first, .n = (size_t)n};
            run_tile(work, own, now, &at);
        }
        const place all = {.outer = row, .rows = rows, .n = 1};
        run_steps(work, own, now->row_begin, now->row_end, &all, (size_t)rows);
        spread_rows(work, own, now, &all, (size_t)(inner < tile ? inner : tile));
    }
}

/* Operands that lie along the columns are transposed, some rows of them together. */
static void transpose_rows(const job *work, buffers *own, int64_t row, int64_t rows, int out)
{
    prefetches none = {.count = 0};
    for (int64_t k = out ? work->code->reads : 0; k < (out ? work->code->operands : work->code->reads); k++) {
        if (work->transposed[k]) {
            const operand_view *view = &work->operands[k];
            const int64_t last = view->outer.count - 1, length = view->outer.length[last];
            for (int64_t r = row, some; r < row + rows; r += some) { /* those of one line */
                const int64_t left = length - r % length;
                some = left < row + rows - r ? left : row + rows - r;
                char *to = own->rows[k] + (r - row) * row_pitch(work->loops->inner, view->item);
                const move lines = acl_emu_move_of_matrix(base_of(work, k, r), view->outer.stride[last], view->inner.stride[0], view->item, some, work->loops->inner, to,
                                                          row_pitch(work->loops->inner, view->item), out, out && work->streamed);
                acl_emu_move_all(&lines, &none);
            }
        }
    }
    own->group_first = row;
}

static void run_rows(const job *work, buffers *own, int64_t unit)
{
    const int64_t begin = unit * work->unit_length, last = begin + work->unit_length, end = last < work->loops->outer ? last : work->loops->outer;
    const int64_t group = work->group ? work->group : end - begin;
    for (int64_t first = begin; first < end; first += group) {
        const int64_t stop = first + group < end ? first + group : end;
        if (work->group) {
            transpose_rows(work, own, first, stop - first, 0);
        }
        for (int64_t row = first; row < stop; row += work->rows) {
            run_some_rows(work, own, row, stop - row < work->rows ? stop - row : work->rows);
        }
        if (work->group) {
            transpose_rows(work, own, first, stop - first, 1);
        }
    }
}

static size_t accumulator_count(const job *work, const reduction *by)
{
    return work->loops->shape == COLUMNS ? padded((size_t)work->loops->lanes) : (by->row[AS_REGISTER] ? PARTIALS : 1) * (size_t)work->rows;
}

/* Bytes of the accumulators of a unit, and those of one of them. */
static size_t partial_bytes(const job *work)
{
    size_t size = 0;
    for (int64_t k = 0; k < work->code->accumulators; k++) {
        const reduction *by = reduction_of(work, k);
        size += padded(accumulator_count(work, by) * by->item);
    }
    return size;
}

static void move_partials(const job *work, const buffers *own, int64_t unit, int merge)
{
    char *found = work->partials + (size_t)unit * partial_bytes(work);
    for (int64_t k = 0; k < work->code->accumulators; k++) {
        const reduction *by = reduction_of(work, k);
        const size_t count = accumulator_count(work, by);
        if (merge) {
            by->merge(own->accumulator[k], found, count);
        } else {
            memcpy(found, own->accumulator[k], count * by->item);
        }
        found += padded(count * by->item);
    }
}

/* Rows of the domain that are one of the nest: what belongs to a column is in several places. */
static void unfold(const job *work, const buffers *own)
{
    const int64_t columns = work->loops->folded;
    for (int64_t k = 0; k < work->code->accumulators && columns; k++) {
        const reduction *by = reduction_of(work, k);
        for (int64_t at = columns; at < work->loops->lanes; at += columns) {
            by->merge(own->accumulator[k], own->accumulator[k] + (size_t)at * by->item, (size_t)columns);
        }
    }
}

static void finish_columns(const job *work, buffers *own, place all)
{
    unfold(work, own);
    all.n = work->loops->folded ? (size_t)work->loops->folded : all.n;
    run_steps(work, own, work->phases->row_begin, work->phases->row_end, &all, all.n);
}

static void run_columns(const job *work, buffers *own, int64_t unit)
{
    const nest *loops = work->loops;
    const int64_t part = unit % work->chunks, first = part * loops->block, last = first + loops->block, end = last < loops->outer ? last : loops->outer;
    const place all = piece_at(loops, unit / work->chunks, loops->lanes);
    for (int64_t p = 0; p < work->code->phases; p++) {
        const phase *now = &work->phases[p];
        begin_phase(work, own, now, padded((size_t)loops->lanes));
        place at = all;
        for (at.outer = first; at.outer < end; at.outer += at.rows) {
            at.n = loops->folded && at.outer == loops->outer - 1 ? (size_t)loops->last : all.n;
            at.rows = end - at.outer < work->rows ? end - at.outer : work->rows;
            run_tile(work, own, now, &at);
        }
        if (work->partials) {
            move_partials(work, own, unit, 0);
            return;
        }
        if (loops->folded) {
            finish_columns(work, own, all);
            return;
        }
        run_steps(work, own, now->row_begin, now->row_end, &all, all.n);
        spread_rows(work, own, now, &all, all.n);
    }
}

/* TOTALS: parts of a long row; what they found is combined in order when all are through. */
static void run_part(const job *work, buffers *own, int64_t unit)
{
    const phase *only = work->phases;
    const int64_t row = unit / work->chunks;
    const place part = piece_at(work->loops, unit % work->chunks, work->unit_length);
    const int64_t end = part.first + (int64_t)part.n;
    begin_phase(work, own, only, 1);
    for (int64_t first = part.first; first < end; first += (int64_t)work->tile) {
        const size_t n = (size_t)(end - first) < work->tile ? (size_t)(end - first) : work->tile;
        const place at = {.outer = row, .rows = 1, .first = first, .n = n};
        run_tile(work, own, only, &at);
    }
    move_partials(work, own, unit, 0);
}

static void finish_partials(const job *work, buffers *own)
{
    const phase *only = work->phases;
    const int in_columns = work->loops->shape == COLUMNS;
    for (int64_t group = 0; group < work->units / work->chunks; group++) {
        begin_phase(work, own, only, in_columns ? padded((size_t)work->loops->lanes) : 1);
        for (int64_t chunk = 0; chunk < work->chunks; chunk++) {
            move_partials(work, own, group * work->chunks + chunk, 1);
        }
        if (in_columns) {
            finish_columns(work, own, piece_at(work->loops, group, work->loops->lanes));
        } else {
            const place whole = {.outer = group, .rows = 1, .n = 1};
            run_steps(work, own, only->row_begin, only->row_end, &whole, 1);
        }
    }
}

/* Buffers */

static int make_buffers(buffers *own, size_t size)
{
    if (own->size < size) {
        free_buffers(own);
        own->registers = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
        if (!own->registers) {
            return 0;
        }
        own->size = size;
        pthread_setspecific(ending, own);
    }
    return 1;
}

/* Elements of a row that are saved from one phase to the next. */
static size_t saved_elements(const job *work)
{
    const nest *loops = work->loops;
    const size_t row = (size_t)loops->inner > work->tile ? (size_t)loops->inner : work->tile;
    return padded(loops->shape == COLUMNS ? (size_t)(loops->outer * loops->lanes) : row) + 32;
}

static size_t group_bytes(const job *work, int64_t operand)
{
    return work->transposed[operand] ? (size_t)(work->group * row_pitch(work->loops->inner, work->operands[operand].item)) : 0;
}

static int prepare_buffers(const job *work, buffers *own)
{
    const program *code = work->code;
    const size_t gathered = work->tile * sizeof(double) + 2 * CACHE_LINE; /* of the widest type; what repeats itself is written in vectors, beyond the end */
    const size_t block = work->loops->shape == BLOCKS ? acl_emu_block_buffers(work) : 0;
    size_t size = (size_t)code->slots * REGISTER_PITCH + gathered + partial_bytes(work) + block;
    for (int64_t k = 0; k < code->saved; k++) {
        size += saved_elements(work) * (size_t)work->saved[2 * k + 1];
    }
    for (int64_t k = 0; k < code->operands && work->group; k++) {
        size += group_bytes(work, k);
    }
    if (!make_buffers(own, size)) {
        return 0;
    }
    char *next = own->registers;
    for (int64_t k = 0; k < code->slots; k++, next += REGISTER_PITCH) {
        own->slot[k] = next;
        own->held[k] = -1;
    }
    own->gathered = next;
    next += gathered;
    for (int64_t k = 0; k < code->saved; k++) {
        own->saved[k] = next;
        next += saved_elements(work) * (size_t)work->saved[2 * k + 1];
    }
    for (int64_t k = 0; k < code->accumulators; k++) {
        own->accumulator[k] = next;
        next += padded(accumulator_count(work, reduction_of(work, k)) * reduction_of(work, k)->item);
    }
    for (int64_t k = 0; k < code->operands && work->group; k++) {
        own->rows[k] = next;
        next += group_bytes(work, k);
    }
    if (block) {
        acl_emu_prepare_block(work, own, next);
    }
    for (const program_constant *one = work->constants; one < work->constants + code->constants; one++) {
        const int64_t from = one->dtype <= BF16 ? F64 : I64;
        acl_emu_engine_tiles->cast[one->dtype][from](own->slot[one->slot], &one->value, 1);
        if (one->spread) {
            acl_emu_engine_tiles->spread[item_of(one->dtype)](own->slot[one->slot], own->slot[one->slot], TILE_BYTES / (size_t)item_of(one->dtype), 1);
        }
    }
    return 1;
}

/* What a long row took is given back. */
static void leave_buffers(buffers *own)
{
    if (own->size > LASTING_BYTES) {
        free_buffers(own);
    }
}

static run_unit *const run_by_shape[] = {run_map, acl_emu_run_block, run_rows, run_columns, run_part};

/* The next units of a share; -1 where there are none left. */
static int64_t next_of_share(job *work, int64_t share)
{
    const int64_t turns = (work->units + work->in_turn - 1) / work->in_turn;
    const int64_t begin = share * turns / work->shares, end = (share + 1) * turns / work->shares;
    const int64_t turn = begin + atomic_fetch_add(&work->taken[share], 1);
    return turn < end ? turn * work->in_turn : -1;
}

/* Those of one's own share or, when that is through, of another. In programs that come one after another a thread gets the same part of memory, which
 * is in its cache. */
static int64_t next_units(job *work, int64_t *share)
{
    for (int64_t tried = 0; tried < work->shares; tried++, *share = (*share + 1) % work->shares) {
        const int64_t first = next_of_share(work, *share);
        if (first >= 0) {
            return first;
        }
    }
    return -1;
}

/* Whether units transpose memory: these have shares of their own, and are known one ahead. */
static int transposes(const job *work)
{
    return work->loops->shape == BLOCKS || work->group;
}

/* Nanoseconds of the calling thread. To ask for those of the processor takes as long as a short run. */
static int64_t own_time(const job *work)
{
    struct timespec time;
    clock_gettime(work->loops->elements < THREADED_LANES ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void run_units(void *argument)
{
    job *work = argument;
    const int64_t begun = work->timed ? own_time(work) : 0;
    int64_t share = atomic_fetch_add(&work->workers, 1) % work->shares;
    run_unit *const run = run_by_shape[work->loops->shape];
    buffers *own = &own_buffers;
    int ready = 0;
    for (int64_t first = next_units(work, &share); first >= 0; first = own->next >= 0 ? own->next : next_units(work, &share)) {
        own->next = transposes(work) ? next_of_share(work, share) : -1; /* no other's: there is nothing to be gained from who waits */
        if (!ready && !(ready = prepare_buffers(work, own))) {
            atomic_store(&work->failed, 1);
            return;
        }
        for (int64_t unit = first; unit < work->units && unit < first + work->in_turn; unit++) {
            run(work, own, unit);
        }
    }
#if defined(__x86_64__)
    if (work->streamed) {
        _mm_sfence(); /* what passed by the caches is there for whoever is told that all is done */
    }
#endif
    leave_buffers(own);
    if (work->timed) {
        atomic_fetch_add(&work->used, own_time(work) - begun);
    }
}

/* Late steps: who compiles them waits for those that are worth it. */

enum { WORTH_COMPILING = 100000000 }; /* nanoseconds without one */

static sem_t worth_compiling; /* counts them */

__attribute__((constructor)) static void begin_counting(void)
{
    sem_init(&worth_compiling, 0, 0);
}

/* Returns when another late step has become worth compiling, or at the call of acl_emu_engine_wake. */
EXPORT void acl_emu_engine_wait(void)
{
    while (sem_wait(&worth_compiling)) { /* interrupted by a signal */
    }
}

EXPORT void acl_emu_engine_wake(void)
{
    sem_post(&worth_compiling);
}

EXPORT int64_t acl_emu_engine_is_worth(const late_step *one)
{
    return !atomic_load(&one->run) && atomic_load(&one->used) >= WORTH_COMPILING;
}

EXPORT void acl_emu_engine_set_compiled(late_step *one, tile_step *run)
{
    atomic_store_explicit(&one->run, run, memory_order_release);
}

static inline late_step *late_of(const job *work, int64_t k)
{
    return (late_step *)((const int64_t *)work->code)[work->code->late_at + k];
}

static int is_timed(const job *work)
{
    int missing = 0;
    for (int64_t k = 0; k < work->code->late; k++) {
        missing |= !atomic_load_explicit(&late_of(work, k)->run, memory_order_relaxed);
    }
    return missing;
}

static void count_time(job *work)
{
    const int64_t used = atomic_load(&work->used);
    for (int64_t k = 0; k < work->code->late; k++) {
        late_step *one = late_of(work, k);
        const int64_t before = atomic_load(&one->run) ? WORTH_COMPILING : atomic_fetch_add(&one->used, used);
        if (before < WORTH_COMPILING && before + used >= WORTH_COMPILING) {
            acl_emu_engine_wake();
        }
    }
}

/* Running */

static const int64_t no_region = 0, *regions = &no_region; /* count, then first address, end, and distance to where kernels find it */

EXPORT void acl_emu_engine_set_regions(const int64_t *table)
{
    regions = table;
}

enum { DONE = 0, OVERLAP = 1, NO_MEMORY = 2 };

/* Dimensions of an operand, those of the longest strides first. */
typedef struct {
    int64_t count, item, length[2 * MOST_DIMS], stride[2 * MOST_DIMS];
} dimensions;

static dimensions dimensions_of(const operand_view *operand)
{
    dimensions all = {.count = 0, .item = operand->item};
    for (const range_view *range = &operand->outer; range <= &operand->inner; range++) {
        for (int64_t k = 0; k < range->count; k++) {
            const int64_t stride = llabs(range->stride[k]);
            int64_t place = stride && range->length[k] > 1 ? all.count++ : -1;
            if (place < 0) {
                continue;
            }
            for (; place && all.stride[place - 1] < stride; place--) {
                all.stride[place] = all.stride[place - 1];
                all.length[place] = all.length[place - 1];
            }
            all.stride[place] = stride;
            all.length[place] = range->length[k];
        }
    }
    return all;
}

/* Whether steps along the dimensions from this one on lead from one element to another that lies on it, `distance` bytes away. */
static int meets(const dimensions *all, int64_t dim, int64_t distance)
{
    if (dim == all->count) {
        return llabs(distance) < all->item;
    }
    int64_t reach = all->item - 1; /* of the dimensions that follow */
    for (int64_t k = dim + 1; k < all->count; k++) {
        reach += (all->length[k] - 1) * all->stride[k];
    }
    const int64_t first = (distance - reach) / all->stride[dim] - 1, last = (distance + reach) / all->stride[dim] + 1;
    if (last - first > 5) { /* dimensions that are not nested: not worth finding out */
        return 1;
    }
    for (int64_t k = first; k <= last; k++) {
        if (llabs(k) < all->length[dim] && meets(all, dim + 1, distance - k * all->stride[dim])) {
            return 1;
        }
    }
    return 0;
}

/* Whether two operands of the same layout lie between one another without meeting, as the halves of a tensor do. */
static int interleaved(const job *work, int64_t one, int64_t other)
{
    const operand_view *a = &work->operands[one], *b = &work->operands[other];
    if (a->item != b->item || memcmp(&a->outer, &b->outer, 2 * sizeof(range_view))) {
        return 0;
    }
    const dimensions all = dimensions_of(a);
    return !meets(&all, 0, work->memory[one] - work->memory[other]);
}

static const char *lowest(const job *work, int64_t operand)
{
    return work->memory[operand] - work->operands[operand].before;
}

/* Whether some write lies partly on another operand: then a result may only be stored when all of it has been computed. */
static int overlapping(const job *work)
{
    const program *code = work->code;
    for (int64_t w = code->reads; w < code->operands; w++) {
        const char *begin = lowest(work, w), *end = begin + work->operands[w].extent;
        for (int64_t k = 0; k < code->operands; k++) {
            const char *other = lowest(work, k);
            if (k == w || work->operands[k].unread || other >= end || other + work->operands[k].extent <= begin) {
                continue;
            }
            const int same = k < code->reads && work->memory[k] == work->memory[w] && work->operands[k].turn <= work->operands[w].turn && work->operands[w].item == work->operands[k].item &&
                             !memcmp(&work->operands[w].outer, &work->operands[k].outer, 2 * sizeof(range_view));
            if (!same && !interleaved(work, w, k)) {
                return 1;
            }
        }
    }
    return 0;
}

/* Whether the caches do not hold all operands. */
static int is_large(const job *work)
{
    int64_t bytes = 0;
    for (int64_t k = 0; k < work->code->operands; k++) {
        bytes += work->operands[k].extent;
    }
    return bytes >= STREAMED_BYTES;
}

/* Whether results are best written past the caches: nothing of them was read. */
static int is_streamed(const job *work)
{
    for (int64_t k = 0; k < work->code->reads && work->large; k++) {
        for (int64_t w = work->code->reads; w < work->code->operands; w++) {
            if (work->memory[k] == work->memory[w]) {
                return 0;
            }
        }
    }
    return work->large;
}

/* Tiles of a unit whose length no number depends on: as many as leave some units for every thread, since it takes a while after each until memory is read
 * ahead again. */
static int64_t chunk_tiles(const nest *loops, int64_t tile, int64_t threads)
{
    const int64_t fitting = loops->outer * loops->inner / (tile * threads * LEAST_UNITS);
    return fitting < CHUNK_TILES ? CHUNK_TILES : fitting < MOST_CHUNK_TILES ? fitting : MOST_CHUNK_TILES;
}

/* Bytes that operands some steps apart are gathered from at a time, and elements that have to be found there: for fewer it takes too long to begin. */
enum { STEPPED_BYTES = 1280, LEAST_STEPPED = 64 };

/* Such operands are gathered a few cache lines at a time: where memory is read piece by piece, a processor reads ahead best in short ones. */
static void shorten_tile(job *work)
{
    for (int64_t k = 0; k < work->code->operands; k++) {
        const operand_view *view = &work->operands[k];
        const int64_t stride = view->inner.stride[view->inner.count - 1];
        if (is_step(stride, view->item) && stride * LEAST_STEPPED <= STEPPED_BYTES) {
            const size_t fitting = padded((size_t)(STEPPED_BYTES / stride));
            work->tile = fitting < work->tile ? fitting : work->tile;
        }
    }
}

/* MAP: whether nothing is done but to copy runs of bytes. */
static int is_copy(const job *work)
{
    const step *s = work->steps + work->phases->tile_begin;
    const operand_view *read = &work->operands[0], *written = &work->operands[1];
    if (work->code->operands != 2 || work->code->reads != 1 || work->phases->tile_end - work->phases->tile_begin != 2 || read->unread) {
        return 0;
    }
    const int plain = s[0].code == LOAD && s[1].code == STORE && s[0].x == s[1].x && s[0].x != BOOL8 && read->dtype == s[0].x && written->dtype == s[0].x;
    return plain && work->memory[0] != work->memory[1] && work->loops->run < work->loops->inner && lies_in_row(work->loops, read) && lies_in_row(work->loops, written);
}

/* Rows of a tile, so that one has enough to do. */
enum { MOST_ROWS = 64 };

/* Bytes of rows that are transposed together, and fewest: fewer would leave half of what memory hands out at a time. */
enum { GROUP_BYTES = 1 << 19, LEAST_GROUP = 32, FEW_BESIDE = 8 };

/* ROWS: operands whose elements lie far apart, next to those of the rows beside. */
static void find_transposed(job *work)
{
    const nest *loops = work->loops;
    for (int64_t k = 0; k < work->code->operands; k++) {
        const range_view *outer = &work->operands[k].outer, *inner = &work->operands[k].inner;
        const int64_t last = outer->count - 1, item = work->operands[k].item;
        const int few = outer->length[last] < FEW_BESIDE && is_step(inner->stride[0], item);
        if (inner->count == 1 && inner->stride[0] > item && outer->stride[last] == item && !few && !work->operands[k].unread) {
            work->transposed[k] = 1;
            const int64_t fitting = GROUP_BYTES / (loops->inner * item) / 8 * 8, group = fitting < LEAST_GROUP ? LEAST_GROUP : fitting < MOST_GROUP ? fitting : MOST_GROUP;
            work->group = !work->group || group < work->group ? group : work->group;
        }
    }
}

/* Elements of a tile where nothing goes through registers but what is computed. */
enum { LONG_TILE = 8 };

static int is_unbuffered(const job *work)
{
    int plain = work->code->unbuffered && !work->streamed;
    for (int64_t k = 0; k < work->code->operands && plain; k++) {
        const operand_view *view = &work->operands[k];
        plain = view->unread || (lies_in_row(work->loops, view) && (uintptr_t)work->memory[k] % (size_t)view->item == 0);
    }
    return plain;
}

/* COLUMNS: rows of a tile that are reduced where they lie. */
enum { MOST_LINES = 16 };

/* What reductions take as it lies in memory; 0 where more is done with what is loaded. */
static int sources_of(const job *work)
{
    int sources = work->code->phases == 1 ? SOURCES : 0;
    for (const step *s = work->steps + work->phases->tile_begin; s < work->steps + work->phases->tile_end; s++) {
        if (s->code == REDUCE) {
            sources = sources && !reduction_of(work, s->x)->lanes[FROM_F16] ? 1 : sources;
        } else if (s->code != LOAD) {
            return 0;
        }
    }
    return sources;
}

/* Whether all that is loaded lies in lines that reductions take as they are. */
static int lies_in_lines(const job *work)
{
    int lies = work->sources > 0 && work->code->in_parts && !work->loops->folded;
    for (const step *s = work->steps + work->phases->tile_begin; s < work->steps + work->phases->tile_end && lies; s++) {
        if (s->code == LOAD) {
            const operand_view *operand = &work->operands[s->y];
            const int source = source_of(operand->dtype, s->x, work->memory[s->y]);
            lies = operand->outer.count == 1 && operand->outer.stride[0] > 0 && lies_ready(work, s->y) && source >= 0 && source < work->sources;
        }
    }
    return lies;
}

/* Whether all that is loaded is in registers as it lies in memory: to put rows of it side by side would be a copy. */
static int lies_as_registers(const job *work)
{
    int lies = 1;
    for (const step *s = work->steps + work->phases->tile_begin; s < work->steps + work->phases->tile_end; s++) {
        const operand_view *operand = &work->operands[s->code == LOAD ? s->y : 0];
        lies &= s->code != LOAD || is_one(operand) || (lies_ready(work, s->y) && is_same(operand->dtype, s->x, work->memory[s->y]));
    }
    return lies;
}

/* Cut a nest into units; 0 where there is no memory for what they find. */
static int divide(job *work, int64_t threads)
{
    const nest *loops = work->loops;
    const int64_t tile = TILE_BYTES / work->code->width, chunk = chunk_tiles(loops, tile, threads) * tile, rows = chunk / loops->inner;
    work->tile = (size_t)tile;
    work->rows = 1;
    work->sources = sources_of(work);
    work->in_turn = loops->shape == TOTALS ? parts_of(chunk, TOTAL_ELEMENTS) : 1;
    work->unit_length = loops->shape == ROWS ? (rows ? rows : 1) : loops->shape == TOTALS ? TOTAL_ELEMENTS : chunk;
    if (loops->shape == MAP && work->large) {
        shorten_tile(work);
    }
    work->chunks = loops->shape == MAP ? parts_of(loops->inner, work->unit_length) : pieces_of(loops, work->unit_length);
    switch (loops->shape) {
    case MAP:
        work->units = loops->outer * work->chunks;
        work->copied = is_copy(work);
        work->tile *= is_unbuffered(work) ? LONG_TILE : 1;
        break;
    case BLOCKS: acl_emu_divide_blocks(work, threads); break;
    case ROWS:
        find_transposed(work);
        work->rows = tile / loops->inner < 1 ? 1 : tile / loops->inner < MOST_ROWS ? tile / loops->inner : MOST_ROWS;
        work->whole_rows = loops->inner <= tile;
        work->unit_length = work->group ? work->group : parts_of(work->unit_length, work->rows) * work->rows;
        work->units = parts_of(loops->outer, work->unit_length);
        break;
    case COLUMNS:
        work->lines = lies_in_lines(work);
        work->rows = work->lines ? MOST_LINES : 1;
        if (!work->lines && work->code->in_parts && !loops->folded && tile >= 2 * loops->lanes && !lies_as_registers(work)) {
            work->rows = tile / loops->lanes;
        }
        work->chunks = parts_of(loops->outer, loops->block);
        work->units = work->chunks * pieces_of(loops, loops->lanes);
        work->in_turn = work->chunks > 1 ? 1 : parts_of(chunk, loops->lanes * loops->outer);
        break;
    default: work->units = loops->outer * work->chunks; break;
    }
    if (loops->shape == TOTALS || (loops->shape == COLUMNS && work->chunks > 1)) {
        work->partials = malloc((size_t)work->units * partial_bytes(work));
        return work->partials != NULL;
    }
    return 1;
}

/* 0: done; 1: operands overlap; 2: no memory; -1 - k: operand k does not lie in device memory. */
static int64_t run_nest(const int64_t *numbers, const int64_t *addresses, int on_host, int64_t threads)
{
    const nest *loops = (const nest *)numbers;
    const int64_t *code = numbers + loops->program_at;
    const program *head = (const program *)code;
    job work = {
        .loops = loops,
        .code = head,
        .operands = (const operand_view *)(numbers + loops->operand_at),
        .constants = (const program_constant *)(code + head->constant_at),
        .saved = code + head->saved_at,
        .accumulators = code + head->accumulator_at,
        .phases = (const phase *)(code + head->phase_at),
        .steps = (const step *)(code + head->step_at),
        .pool = code + head->pool_at,
    };
    for (int64_t k = 0; k < head->operands; k++) {
        const int64_t address = addresses[k] - work.operands[k].before;
        char *found = on_host ? (char *)address : region_locate(regions, address, work.operands[k].extent);
        if (!found) {
            return -1 - k;
        }
        work.memory[k] = found + work.operands[k].before;
    }
    if (overlapping(&work)) {
        return OVERLAP;
    }
    work.large = is_large(&work);
    work.streamed = is_streamed(&work);
    if (!divide(&work, threads)) {
        return NO_MEMORY;
    }
    if (loops->elements < THREADED_LANES || work.units < 2) {
        threads = 1;
    }
    threads = threads < work.units ? threads : work.units;
    /* What the caches do not hold is read in order, by all threads together, unless it is transposed: then they would read the same pages side by side. */
    const int together = work.large && !transposes(&work);
    work.shares = together ? 1 : threads < MOST_SHARES ? threads : MOST_SHARES;
    work.timed = is_timed(&work);
    acl_emu_engine_together(run_units, &work, threads);
    if (work.timed) {
        count_time(&work);
    }
    if (work.partials && !atomic_load(&work.failed)) {
        if (prepare_buffers(&work, &own_buffers)) {
            finish_partials(&work, &own_buffers);
        } else {
            atomic_store(&work.failed, 1);
        }
    }
    free(work.partials);
    return atomic_load(&work.failed) ? NO_MEMORY : DONE;
}

EXPORT int64_t acl_emu_engine_run(const int64_t *numbers, const int64_t *addresses, int64_t threads)
{
    return run_nest(numbers, addresses, 0, threads);
}

/* The same on any memory of the process. */
EXPORT int64_t acl_emu_engine_run_on_host(const int64_t *numbers, const int64_t *addresses, int64_t threads)
{
    return run_nest(numbers, addresses, 1, threads);
}

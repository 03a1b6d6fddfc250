/* Programs that acl_emu/native makes of kernels, run on all threads: the loops around the tiles.
 *
 * A program sees its operands as two nested ranges, outer and inner, each of one or several dimensions. What a unit of work is depends
 * on its shape only, never on the number of threads, and each unit is one thread's: no result changes with their number. */
#define _GNU_SOURCE
#include "engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))

/* The layout of a program: numbers of 64 bits, written by acl_emu/native/program.py. */

typedef struct {
    int64_t count, length[MOST_DIMS], stride[MOST_DIMS]; /* strides in bytes; one dimension that is contiguous where possible */
} range_view;

typedef struct {
    int64_t dtype, item;
    int64_t extent; /* bytes from the address on that may be touched */
    int64_t in_place; /* a write that may lie exactly on a read */
    range_view outer, inner;
} operand_view;

typedef struct {
    int64_t code, dst, a, b, c;
} step;

typedef struct {
    int64_t lane_begin, lane_end; /* steps on every tile */
    int64_t row_begin, row_end;   /* steps when the tiles of a row are through */
} phase;

enum { MAP, BLOCKS, ROWS, COLUMNS, TOTALS };

typedef struct {
    int64_t wide;  /* lanes are double, not float */
    int64_t shape; /* MAP, ... */
    int64_t outer, inner;
    int64_t reads, operands, slots, constants, kept, sums, phases;
    int64_t prologue_end;
    int64_t block; /* BLOCKS: length of its last dimension but one */
    int64_t lanes; /* in a tile, and in a column of COLUMNS */
    int64_t fused, way; /* a kernel that was compiled as a whole, or -1, and how it is evaluated */
    int64_t operand_at, constant_at, phase_at, step_at, fused_constant_at, fused_row_at;
} header;

/* The first three are known to acl_emu/native/program.py. */
enum { MOST_OPERANDS = 32, MOST_SLOTS = 64, MOST_SUMS = 8, CHUNK_TILES = 16, TOTAL_TILES = 64, BLOCK_ROWS = 32, THREADED_LANES = 1 << 17 };

enum { LASTING_ROOM = 4 << 20 }; /* bytes that a thread may keep from one run to the next */

typedef struct {
    const header *program;
    const operand_view *operands;
    const phase *phases;
    const step *steps;
    const double *constants, *fused_constants;
    const int64_t *fused_rows; /* registers of sums that are constants of a row, -1 for the others */
    int64_t fused_count;
    fused_kernel *const *fused; /* the ways to evaluate it */
    char *memory[MOST_OPERANDS];
    size_t lane_size, tile;
    int64_t units;
    int64_t unit_length; /* lanes, or rows, of a unit */
    int64_t chunks;      /* TOTALS: units of a row */
    double *partials;    /* TOTALS: what each unit found */
    atomic_int_fast64_t next;
    atomic_int failed;
} job;

/* Room of one thread: registers, what a tile gathers, kept rows, sums. */
typedef struct {
    char *registers;
    size_t size;
    void *slot[MOST_SLOTS];
    char *kept[MOST_SLOTS];
    void *sum[MOST_SUMS];
    double finished[MOST_SLOTS]; /* sums of the row, by the register that has them as lanes */
    char *gathered;
} room;

static __thread room own_room;
static pthread_key_t ending; /* its value is the room of a thread, to be freed when the thread ends */

static void free_room(void *own)
{
    free(((room *)own)->registers);
    ((room *)own)->registers = NULL;
    ((room *)own)->size = 0;
}

__attribute__((constructor)) static void watch_threads(void)
{
    pthread_key_create(&ending, free_room);
}

static const tile_code *tiles = &acl_emu_tiles_baseline;
static const fused_table *fused = &acl_emu_fused_baseline;

__attribute__((constructor)) static void choose_instructions(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) {
        tiles = &acl_emu_tiles_v3;
        fused = &acl_emu_fused_v3;
    }
#endif
}

/* The number of the kernel of a graph for a storage type and way; -1 where there is none. */
EXPORT int64_t acl_emu_engine_find_fused(const char *signature, int64_t dtype, int64_t way)
{
    for (int64_t k = 0; k < fused->count; k++) {
        const fused_entry *entry = &fused->entries[k];
        if (!strcmp(entry->signature, signature)) {
            return entry->kernels[dtype][way] ? k : -1;
        }
    }
    return -1;
}

/* Memory operands */

static inline int64_t offset_of(const range_view *range, int64_t index)
{
    if (range->count == 1) {
        return index * range->stride[0];
    }
    int64_t offset = 0;
    for (int64_t d = range->count - 1; d >= 0 && index; d--) {
        const int64_t rest = index / range->length[d];
        offset += (index - rest * range->length[d]) * range->stride[d];
        index = rest;
    }
    return offset;
}

#define COPY_STRIDED(type)                                                                         \
    for (size_t i = 0; i < n; i++) {                                                               \
        memcpy(to + (int64_t)i * to_stride, from + (int64_t)i * from_stride, sizeof(type));         \
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
    if (to_stride == item && from_stride == 2 * item && (item == 2 || item == 4)) {
        tiles->every_second[item == 4](to, from, n);
        return;
    }
    switch (item) {
    case 1: COPY_STRIDED(uint8_t) break;
    case 2: COPY_STRIDED(uint16_t) break;
    case 4: COPY_STRIDED(uint32_t) break;
    default: COPY_STRIDED(uint64_t) break;
    }
}

/* Some elements of an inner range, gathered in a row (or spread out from one). */
static void move_range(const operand_view *operand, char *base, int64_t first, size_t n, char *row, int out)
{
    const range_view *inner = &operand->inner;
    const int64_t item = operand->item, last = inner->count - 1;
    while (n) {
        const int64_t at = first % inner->length[last];
        size_t run = (size_t)(inner->length[last] - at);
        run = run < n ? run : n;
        char *there = base + offset_of(inner, first);
        if (out) {
            copy_strided(there, inner->stride[last], row, item, run, item);
        } else {
            copy_strided(row, item, there, inner->stride[last], run, item);
        }
        row += run * (size_t)item;
        first += (int64_t)run;
        n -= run;
    }
}

/* Where a tile lies: of the inner range from `first` on, or a block of two dimensions. */
typedef struct {
    int64_t outer, first;
    size_t n;
    int64_t i, j, rows, columns;
} place;

/* Lines of a block that lie the other way round, eight by eight; by way of a room where they do not drive each other out of the cache. */
static void turn_block(const char *lines, int64_t stride, int64_t count, int64_t length, int64_t item, char *row, int64_t row_stride)
{
    char room[BLOCK_ROWS * BLOCK_ROWS * sizeof(uint32_t)];
    const int64_t room_stride = BLOCK_ROWS * item;
    for (int64_t k = 0; k < count; k++) {
        __builtin_prefetch(lines + (count + k) * stride); /* the block that comes next */
        __builtin_prefetch(lines + (count + k) * stride + (length - 1) * item);
        copy_strided(room + k * room_stride, item, lines + k * stride, item, (size_t)length, item);
    }
    for (int64_t k = 0; k + 8 <= count; k += 8) {
        for (int64_t i = 0; i + 8 <= length; i += 8) {
            tiles->turn[item == 4](row + k * item + i * row_stride, row_stride, room + k * room_stride + i * item, room_stride);
        }
    }
    for (int64_t k = 0; k < count; k++) { /* what eight by eight leave over */
        const int64_t first = k < count / 8 * 8 ? length / 8 * 8 : 0;
        copy_strided(row + k * item + first * row_stride, row_stride, room + k * room_stride + first * item, item, (size_t)(length - first), item);
    }
}

static void move_block(const operand_view *operand, char *base, const place *at, char *row, int out)
{
    const int64_t item = operand->item, down = operand->inner.stride[0], across = operand->inner.stride[1];
    char *corner = base + at->i * down + at->j * across;
    const int upright = llabs(down) < llabs(across); /* walk along the shorter way through memory */
    const int64_t lines = upright ? at->columns : at->rows, length = upright ? at->rows : at->columns;
    const int64_t line_stride = upright ? across : down, stride = upright ? down : across;
    const int64_t row_line = upright ? item : at->columns * item, row_stride = upright ? at->columns * item : item;
    if (upright && !out && stride == item && (item == 2 || item == 4)) {
        turn_block(corner, line_stride, lines, length, item, row, row_stride);
        return;
    }
    for (int64_t k = 0; k < lines; k++) {
        if (out) {
            copy_strided(corner + k * line_stride, stride, row + k * row_line, row_stride, (size_t)length, item);
        } else {
            copy_strided(row + k * row_line, row_stride, corner + k * line_stride, stride, (size_t)length, item);
        }
    }
}

static void load(const job *work, room *own, int64_t index, int64_t dst, const place *at, int mask)
{
    const operand_view *operand = &work->operands[index];
    const int wide = (int)work->program->wide;
    char *base = work->memory[index] + offset_of(&operand->outer, at->outer);
    char *lanes = own->registers + (size_t)dst * TILE_BYTES;
    const char *row = own->gathered;
    own->slot[dst] = lanes;
    if (work->program->shape == BLOCKS && operand->inner.count == 2) {
        move_block(operand, base, at, own->gathered, 0);
    } else if (operand->inner.count == 1 && operand->inner.stride[0] == operand->item) {
        row = base + at->first * operand->item;
        if (!mask && operand->dtype == (wide ? F64 : F32) && (uintptr_t)row % sizeof(float) == 0) {
            own->slot[dst] = (void *)row;
            return;
        }
    } else if (operand->inner.count == 1 && operand->inner.stride[0] == 0) {
        if (mask) {
            tiles->load_mask[wide](lanes, (const uint8_t *)base, 1);
        } else {
            tiles->load[wide][operand->dtype](lanes, base, 1);
        }
        tiles->spread[wide](lanes, lanes, at->n);
        return;
    } else {
        move_range(operand, base, at->first, at->n, own->gathered, 0);
    }
    if (mask) {
        tiles->load_mask[wide](lanes, (const uint8_t *)row, at->n);
    } else {
        tiles->load[wide][operand->dtype](lanes, row, at->n);
    }
}

static void store(const job *work, room *own, int64_t index, const void *lanes, const place *at)
{
    const operand_view *operand = &work->operands[index];
    const int wide = (int)work->program->wide;
    char *base = work->memory[index] + offset_of(&operand->outer, at->outer);
    if (work->program->shape == BLOCKS && operand->inner.count == 2) {
        tiles->store[wide][operand->dtype](own->gathered, lanes, at->n);
        move_block(operand, base, at, own->gathered, 1);
    } else if ((operand->inner.count == 1 && operand->inner.stride[0] == operand->item) || at->n == 1) {
        tiles->store[wide][operand->dtype](base + offset_of(&operand->inner, at->first), lanes, at->n);
    } else {
        tiles->store[wide][operand->dtype](own->gathered, lanes, at->n);
        move_range(operand, base, at->first, at->n, own->gathered, 1);
    }
}

/* Steps */

static void clear_sums(const job *work, room *own, size_t lanes)
{
    const header *program = work->program;
    for (int64_t k = 0; k < program->sums; k++) {
        memset(own->sum[k], 0, lanes * sizeof(double));
    }
}

static void begin_max(const job *work, void *best, size_t lanes)
{
    const double least = -1.0 / 0.0;
    tiles->from_double[work->program->wide](best, &least, 1);
    tiles->spread[work->program->wide](best, best, lanes);
}

static double total_of(const double *partials)
{
    double sums[PARTIALS];
    memcpy(sums, partials, sizeof sums);
    for (size_t width = PARTIALS / 2; width; width /= 2) {
        for (size_t k = 0; k < width; k++) {
            sums[k] += sums[k + width];
        }
    }
    return sums[0];
}

static double largest_of(const void *partials, int wide)
{
    double best = -1.0 / 0.0;
    for (size_t k = 0; k < PARTIALS; k++) {
        const double value = wide ? ((const double *)partials)[k] : ((const float *)partials)[k];
        best = value > best || value != value ? value : best;
    }
    return best;
}

static void run_fused(const job *work, room *own, const place *at);

static void run_steps(const job *work, room *own, int64_t begin, int64_t end, const place *at, size_t n)
{
    const header *program = work->program;
    const int wide = (int)program->wide, in_columns = program->shape == COLUMNS;
    for (const step *s = work->steps + begin; s < work->steps + end; s++) {
        if (s->code < FUNCTIONS) {
            tiles->functions[wide][s->code](own->slot[s->dst], own->slot[s->a], own->slot[s->b], own->slot[s->c], n);
            continue;
        }
        switch (s->code) {
        case LOAD:
        case LOAD_MASK: load(work, own, s->a, s->dst, at, s->code == LOAD_MASK); break;
        case STORE: store(work, own, s->dst, own->slot[s->a], at); break;
        case KEEP: memcpy(own->kept[s->dst] + (size_t)(in_columns ? at->outer * program->lanes : at->first) * work->lane_size, own->slot[s->a], n * work->lane_size); break;
        case TAKE: own->slot[s->dst] = own->kept[s->a] + (size_t)(in_columns ? at->outer * program->lanes : at->first) * work->lane_size; break;
        case SUM: (in_columns ? tiles->lane_sum : tiles->row_sum)[wide](own->sum[s->dst], own->slot[s->a], n); break;
        case DOT: (in_columns ? tiles->lane_dot : tiles->row_dot)[wide](own->sum[s->dst], own->slot[s->a], own->slot[s->b], n); break;
        case MAX:
            if (in_columns) {
                tiles->functions[wide][MAXIMUM](own->sum[s->dst], own->sum[s->dst], own->slot[s->a], NULL, n);
            } else {
                tiles->row_max[wide](own->sum[s->dst], own->slot[s->a], n);
            }
            break;
        case FINISH_SUM:
        case FINISH_MAX:
            if (!in_columns) {
                const double value = s->code == FINISH_SUM ? total_of(own->sum[s->a]) : largest_of(own->sum[s->a], wide);
                tiles->from_double[wide](own->slot[s->dst], &value, 1);
                own->finished[s->dst] = value;
            } else if (s->code == FINISH_SUM) {
                tiles->from_double[wide](own->slot[s->dst], own->sum[s->a], n);
            } else {
                memcpy(own->slot[s->dst], own->sum[s->a], n * work->lane_size);
            }
            break;
        case WHOLE: run_fused(work, own, at); break;
        case SPREAD:
            if (in_columns) {
                memcpy(own->slot[s->dst], own->slot[s->a], n * work->lane_size);
            } else {
                tiles->spread[wide](own->slot[s->dst], own->slot[s->a], work->tile);
            }
            break;
        }
    }
}

/* Sums start at zero, maxima below everything. */
static void begin_phase(const job *work, room *own, const phase *now, size_t lanes)
{
    clear_sums(work, own, lanes);
    for (const step *s = work->steps + now->lane_begin; s < work->steps + now->lane_end; s++) {
        if (s->code == MAX) {
            begin_max(work, own->sum[s->dst], lanes);
        }
    }
}

/* Kernels that were compiled as a whole: no registers, operands as they are stored. */

/* Where an operand's elements of a tile lie in a row: in memory, or gathered in the room that a register would take. */
static char *row_of(const job *work, room *own, int64_t index, const place *at)
{
    const operand_view *operand = &work->operands[index];
    char *gathered = own->registers + (size_t)index * TILE_BYTES;
    char *base = work->memory[index] + offset_of(&operand->outer, at->outer);
    if (operand->inner.count == 1 && operand->inner.stride[0] == operand->item) {
        return base + at->first * operand->item;
    }
    if (index >= work->program->reads) {
        return gathered;
    }
    if (work->program->shape == BLOCKS && operand->inner.count == 2) {
        move_block(operand, base, at, gathered, 0);
    } else if (operand->inner.count == 1 && operand->inner.stride[0] == 0) {
        copy_strided(gathered, operand->item, base, 0, at->n, operand->item);
    } else {
        move_range(operand, base, at->first, at->n, gathered, 0);
    }
    return gathered;
}

/* Zero, no number, or one that products and quotients with a few others stay in the normal range of float with. */
static int is_moderate(double value)
{
    const double magnitude = value < 0 ? -value : value;
    return !(magnitude > 0x1p32) && !(magnitude < 0x1p-32 && magnitude > 0);
}

static void run_fused(const job *work, room *own, const place *at)
{
    const header *program = work->program;
    const size_t whole = at->n / 8 * 8, rest = at->n - whole, item = (size_t)work->operands[0].item;
    const void *ins[MOST_OPERANDS];
    for (int64_t k = 0; k < program->reads; k++) {
        ins[k] = row_of(work, own, k, at);
    }
    char *row = row_of(work, own, program->reads, at);
    void *out = row;
    fused_kernel *kernel = work->fused[program->way == IN_FLOAT ? PLAIN_FLOAT : program->way];
    double constants[MOST_SLOTS];
    const int is_checked = program->way == SETTLED || program->way == PLAIN_FLOAT;
    for (int64_t k = 0; k < work->fused_count; k++) {
        constants[k] = work->fused_rows[k] < 0 ? work->fused_constants[k] : own->finished[work->fused_rows[k]];
        if (is_checked && !is_moderate(constants[k])) {
            kernel = work->fused[IN_DOUBLE];
        }
    }
    for (int64_t k = 0; k < program->reads && is_checked && work->operands[0].dtype == BF16; k++) {
        if (!tiles->moderate_bf16(ins[k], at->n)) {
            kernel = work->fused[IN_DOUBLE];
        }
    }
    kernel(&out, ins, constants, whole);
    if (rest) { /* filled up to a whole vector */
        uint64_t padded[MOST_OPERANDS][4];
        for (int64_t k = 0; k < program->reads; k++) {
            memset(padded[k], 0, sizeof padded[k]);
            ins[k] = memcpy(padded[k], (const char *)ins[k] + whole * item, rest * item);
        }
        out = padded[program->reads];
        kernel(&out, ins, constants, 8);
        memcpy(row + whole * item, out, rest * item);
    }
    const operand_view *operand = &work->operands[program->reads];
    if (row == own->registers + (size_t)program->reads * TILE_BYTES) {
        char *base = work->memory[program->reads] + offset_of(&operand->outer, at->outer);
        if (program->shape == BLOCKS && operand->inner.count == 2) {
            move_block(operand, base, at, row, 1);
        } else {
            move_range(operand, base, at->first, at->n, row, 1);
        }
    }
}

static void run_tile(const job *work, room *own, const place *at)
{
    if (work->fused) {
        run_fused(work, own, at);
    } else {
        run_steps(work, own, work->phases->lane_begin, work->phases->lane_end, at, at->n);
    }
}

/* Units of work */

static void run_map(const job *work, room *own, int64_t unit)
{
    const int64_t begin = unit * work->unit_length;
    int64_t end = begin + work->unit_length;
    end = end < work->program->inner ? end : work->program->inner;
    for (int64_t first = begin; first < end; first += (int64_t)work->tile) {
        const size_t n = (size_t)(end - first) < work->tile ? (size_t)(end - first) : work->tile;
        const place at = {.first = first, .n = n};
        run_tile(work, own, &at);
    }
}

/* Some rows of a matrix, in tiles that are about square: what one operand has in a row, another has in a column, and of either whole
 * cache lines are used before they are gone. */
static void run_block(const job *work, room *own, int64_t unit)
{
    const header *program = work->program;
    const int64_t rows = program->block, columns = program->inner / rows;
    const int64_t parts = (rows + BLOCK_ROWS - 1) / BLOCK_ROWS, width = (int64_t)work->tile / BLOCK_ROWS;
    const int64_t outer = unit / parts, i = unit % parts * BLOCK_ROWS;
    for (int64_t j = 0; j < columns; j += width) {
        place at = {.outer = outer, .i = i, .j = j};
        at.rows = rows - i < BLOCK_ROWS ? rows - i : BLOCK_ROWS;
        at.columns = columns - j < width ? columns - j : width;
        at.n = (size_t)(at.rows * at.columns);
        run_tile(work, own, &at);
    }
}

static void run_rows(const job *work, room *own, int64_t unit)
{
    const header *program = work->program;
    const int64_t begin = unit * work->unit_length;
    int64_t end = begin + work->unit_length;
    end = end < program->outer ? end : program->outer;
    for (int64_t row = begin; row < end; row++) {
        for (int64_t p = 0; p < program->phases; p++) {
            const phase *now = &work->phases[p];
            begin_phase(work, own, now, PARTIALS);
            for (int64_t first = 0; first < program->inner; first += (int64_t)work->tile) {
                const size_t left = (size_t)(program->inner - first), n = left < work->tile ? left : work->tile;
                const place at = {.outer = row, .first = first, .n = n};
                run_steps(work, own, now->lane_begin, now->lane_end, &at, n);
            }
            const place whole = {.outer = row, .n = 1};
            run_steps(work, own, now->row_begin, now->row_end, &whole, 1);
        }
    }
}

static void run_columns(const job *work, room *own, int64_t unit)
{
    const header *program = work->program;
    const int64_t first = unit * program->lanes, left = program->inner - first;
    const size_t n = (size_t)(left < program->lanes ? left : program->lanes);
    for (int64_t p = 0; p < program->phases; p++) {
        const phase *now = &work->phases[p];
        begin_phase(work, own, now, n);
        for (int64_t k = 0; k < program->outer; k++) {
            const place at = {.outer = k, .first = first, .n = n};
            run_steps(work, own, now->lane_begin, now->lane_end, &at, n);
        }
        const place whole = {.outer = 0, .first = first, .n = n};
        run_steps(work, own, now->row_begin, now->row_end, &whole, n);
    }
}

/* TOTALS: parts of a long row; what they found is combined in order when all are through. */
static void run_part(const job *work, room *own, int64_t unit)
{
    const header *program = work->program;
    const phase *only = work->phases;
    const int64_t row = unit / work->chunks, begin = unit % work->chunks * work->unit_length;
    int64_t end = begin + work->unit_length;
    end = end < program->inner ? end : program->inner;
    begin_phase(work, own, only, PARTIALS);
    for (int64_t first = begin; first < end; first += (int64_t)work->tile) {
        const size_t n = (size_t)(end - first) < work->tile ? (size_t)(end - first) : work->tile;
        const place at = {.outer = row, .first = first, .n = n};
        run_steps(work, own, only->lane_begin, only->lane_end, &at, n);
    }
    double *found = work->partials + unit * program->sums * PARTIALS;
    for (int64_t k = 0; k < program->sums; k++) {
        memcpy(found + k * PARTIALS, own->sum[k], PARTIALS * sizeof(double));
    }
}

static void finish_totals(const job *work, room *own)
{
    const header *program = work->program;
    const phase *only = work->phases;
    for (int64_t row = 0; row < program->outer; row++) {
        begin_phase(work, own, only, PARTIALS);
        for (int64_t chunk = 0; chunk < work->chunks; chunk++) {
            const double *found = work->partials + (row * work->chunks + chunk) * program->sums * PARTIALS;
            for (const step *s = work->steps + only->lane_begin; s < work->steps + only->lane_end; s++) {
                if (s->code == MAX) {
                    tiles->row_max[program->wide](own->sum[s->dst], found + s->dst * PARTIALS, PARTIALS);
                } else if (s->code == SUM || s->code == DOT) {
                    tiles->row_sum[1](own->sum[s->dst], found + s->dst * PARTIALS, PARTIALS);
                }
            }
        }
        const place whole = {.outer = row, .n = 1};
        run_steps(work, own, only->row_begin, only->row_end, &whole, 1);
    }
}

/* Rooms */

static int prepare_room(const job *work, room *own)
{
    const header *program = work->program;
    const size_t columns = program->shape == COLUMNS ? (size_t)(program->outer * program->lanes) : (size_t)program->inner;
    const size_t kept = program->kept ? (columns * work->lane_size + 63) / 64 * 64 : 0;
    const size_t sums = (work->tile > PARTIALS ? work->tile : PARTIALS) * sizeof(double);
    const size_t size = (size_t)program->slots * TILE_BYTES + 2 * TILE_BYTES + kept * (size_t)program->kept + sums * (size_t)program->sums;
    if (own->size < size) {
        free_room(own);
        own->registers = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
        if (!own->registers) {
            return 0;
        }
        own->size = size;
        pthread_setspecific(ending, own);
    }
    char *next = own->registers;
    for (int64_t k = 0; k < program->slots; k++, next += TILE_BYTES) {
        own->slot[k] = next;
    }
    own->gathered = next;
    next += 2 * TILE_BYTES;
    for (int64_t k = 0; k < program->kept; k++, next += kept) {
        own->kept[k] = next;
    }
    for (int64_t k = 0; k < program->sums; k++, next += sums) {
        own->sum[k] = next;
    }
    if (work->fused && program->phases == 1) {
        return 1;
    }
    for (int64_t k = 0; k < program->constants; k++) {
        tiles->from_double[program->wide](own->slot[k], &work->constants[k], 1);
        tiles->spread[program->wide](own->slot[k], own->slot[k], work->tile);
    }
    const place everywhere = {.n = work->tile};
    run_steps(work, own, 0, program->prologue_end, &everywhere, work->tile);
    return 1;
}

/* What a long row took is given back. */
static void leave_room(room *own)
{
    if (own->size > LASTING_ROOM) {
        free_room(own);
    }
}

static void run_units(job *work)
{
    room *own = &own_room;
    int ready = 0;
    int64_t unit;
    while ((unit = atomic_fetch_add(&work->next, 1)) < work->units) {
        if (!ready && !(ready = prepare_room(work, own))) {
            atomic_store(&work->failed, 1);
            return;
        }
        switch (work->program->shape) {
        case MAP: run_map(work, own, unit); break;
        case BLOCKS: run_block(work, own, unit); break;
        case ROWS: run_rows(work, own, unit); break;
        case COLUMNS: run_columns(work, own, unit); break;
        default: run_part(work, own, unit); break;
        }
    }
    leave_room(own);
}

static void run_units_of(void *argument)
{
    run_units(argument);
}

/* Running */

static const int64_t *regions; /* count, then first address, end, and distance to where kernels find it */

EXPORT void acl_emu_engine_set_regions(const int64_t *table)
{
    regions = table;
}

/* Where an operand lies for kernels; NULL outside device memory. */
static char *locate(int64_t address, int64_t extent)
{
    for (int64_t k = 0; regions && k < regions[0]; k++) {
        const int64_t *region = regions + 1 + 3 * k;
        if (address >= region[0] && address < region[1]) {
            return address + extent <= region[1] ? (char *)(address + region[2]) : NULL;
        }
    }
    return NULL;
}

enum { DONE = 0, OVERLAP = 1, NO_MEMORY = 2 };

/* Whether some write lies partly on another operand: then a result may only be stored when all of it has been computed. */
static int overlapping(const job *work)
{
    const header *program = work->program;
    for (int64_t w = program->reads; w < program->operands; w++) {
        const char *begin = work->memory[w], *end = begin + work->operands[w].extent;
        for (int64_t k = 0; k < program->operands; k++) {
            const char *other = work->memory[k];
            if (k == w || other >= end || other + work->operands[k].extent <= begin) {
                continue;
            }
            const int same = k < program->reads && other == begin && work->operands[w].in_place &&
                             !memcmp(&work->operands[w].outer, &work->operands[k].outer, 2 * sizeof(range_view)) &&
                             work->operands[w].item == work->operands[k].item;
            if (!same) {
                return 1;
            }
        }
    }
    return 0;
}

/* 0: done; 1: operands overlap; 2: no memory; -1 - k: operand k does not lie in device memory. */
EXPORT int64_t acl_emu_engine_run(const int64_t *numbers, const int64_t *addresses, int64_t on_host, int64_t threads)
{
    const header *program = (const header *)numbers;
    job work = {
        .program = program,
        .operands = (const operand_view *)(numbers + program->operand_at),
        .phases = (const phase *)(numbers + program->phase_at),
        .steps = (const step *)(numbers + program->step_at),
        .constants = (const double *)(numbers + program->constant_at),
        .fused_constants = (const double *)(numbers + program->fused_constant_at),
        .fused_rows = numbers + program->fused_row_at,
        .fused_count = program->fused_row_at - program->fused_constant_at,
        .lane_size = program->wide ? sizeof(double) : sizeof(float),
    };
    for (int64_t k = 0; k < program->operands; k++) {
        work.memory[k] = on_host ? (char *)addresses[k] : locate(addresses[k], work.operands[k].extent);
        if (!work.memory[k]) {
            return -1 - k;
        }
    }
    if (overlapping(&work)) {
        return OVERLAP;
    }
    work.tile = TILE_BYTES / work.lane_size;
    if (program->fused >= 0) {
        work.fused = fused->entries[program->fused].kernels[work.operands[0].dtype];
    }
    int64_t total = program->outer * program->inner;
    switch (program->shape) {
    case MAP:
        work.unit_length = CHUNK_TILES * (int64_t)work.tile;
        work.units = (program->inner + work.unit_length - 1) / work.unit_length;
        break;
    case BLOCKS: work.units = program->outer * ((program->block + BLOCK_ROWS - 1) / BLOCK_ROWS); break;
    case ROWS:
        work.unit_length = CHUNK_TILES * (int64_t)work.tile / program->inner;
        work.unit_length = work.unit_length ? work.unit_length : 1;
        work.units = (program->outer + work.unit_length - 1) / work.unit_length;
        break;
    case COLUMNS: work.units = (program->inner + program->lanes - 1) / program->lanes; break;
    default:
        work.unit_length = TOTAL_TILES * (int64_t)work.tile;
        work.chunks = (program->inner + work.unit_length - 1) / work.unit_length;
        work.units = program->outer * work.chunks;
        work.partials = malloc((size_t)(work.units * program->sums * PARTIALS) * sizeof(double));
        if (!work.partials) {
            return NO_MEMORY;
        }
        break;
    }
    if (total < THREADED_LANES || work.units < 2) {
        threads = 1;
    }
    acl_emu_engine_together(run_units_of, &work, threads < work.units ? threads : work.units);
    if (program->shape == TOTALS && !atomic_load(&work.failed)) {
        if (prepare_room(&work, &own_room)) {
            finish_totals(&work, &own_room);
        } else {
            atomic_store(&work.failed, 1);
        }
    }
    free(work.partials);
    return atomic_load(&work.failed) ? NO_MEMORY : DONE;
}

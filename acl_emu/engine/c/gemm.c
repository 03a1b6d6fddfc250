/* Matrix products on all threads: blocks of both matrices are packed, one so that the threads share it, and multiplied tile by tile.
 *
 * A matrix that is used for few rows or columns only is not worth packing, and read as it lies. Threads share a product by its columns or rows,
 * or by parts of its sums where those are few and long; of a batch of small ones each takes whole products.
 *
 * What is added to what, and when, depends on the length of the sums only: the bits of a result depend neither on the threads nor on how
 * matrices lie. */
#include "gemm.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    DONE, NO_MEMORY, /* what a product returns; known to acl_emu/engine/calls.py */
    BLOCK_DEPTH = 1024, /* terms of the sums that are worked on at once, up to half as many more */
    MOST_DEPTH = BLOCK_DEPTH + BLOCK_DEPTH / 2,
    MOST_WIDTH = 32, /* of what is packed: columns of a tile are a part of it */
    VECTOR = 16, /* numbers in the longest */
    LEFT_SCRATCH = 17 << 13, /* numbers of the left matrix that a thread packs: half of a second-level cache */
    RIGHT_SCRATCH = 17 << 17, /* numbers of the right matrix that all of them share */
    PACKED_DEPTH = 64, PACKED_PANELS = 8, /* what is packed at a time: some lines of panels side by side */
    OWN_SCRATCH = LEFT_SCRATCH + (MOST_DEPTH + VECTOR) * MOST_WIDTH, /* of a thread: also for columns that it does not share */
    MOST_SUMS = 1 << 9, /* of a tile */
    FEW_SLIVERS = 2, /* of a product whose rows are not worth packing */
    FEW_ROWS = 16, /* of a thin product */
    THIN_SUMS = 1 << 12, /* of columns that it works on at once: half of a first-level cache */
    LEAST_PART = 256, /* columns that a thread takes of it */
    MOST_PART = 1 << 13, /* bytes of a row that it takes */
    FEW_SUMS = 1 << 15, /* of a product whose blocks are worked on side by side, if it is not thin */
};

/* Floating-point operations in the time that it takes to read or write a number; to be worth waking a thread for, which takes some 5 µs; of a product
 * that one thread does if there is a batch of them; and of one that all threads work on together even then. */
#define FLOPS_OF_A_NUMBER 12.0
#define WORTH_WAKING 2e6
#define SMALL 4e6
#define LARGE 100e6

/* The layout is known to acl_emu/engine/matmul.py; the memory of all matrices comes with each call. */
typedef struct {
    int64_t rows, inner, columns;
    matrix a, b, out, added;
    double alpha, beta;
    int64_t lowered;
    int64_t add; /* to what is there: a result in FLOAT with contiguous rows, and nothing else */
    int64_t adds; /* whether there is something to be added */
    int64_t axes; /* of a batch of such products */
    struct {
        int64_t length, a, b, out, added; /* how many, and bytes between them */
    } axis[];
} product;

/* One product of the batch. */
typedef struct {
    const product *product;
    const gemm_code *code;
    matrix a, b, out, added;
    int64_t blocks, depth; /* parts of all sums, and how long they are */
    int64_t columns; /* that are worked on at once */
    int thin; /* whether the rows are so few that the right matrix is not worth packing */
    int lies; /* whether its rows are contiguous and taken as they are */
    int plain; /* whether sums are where the result is until they are complete */
    int pieces; /* whether there is one sum only, and a long one */
    int apart; /* whether blocks are worked on side by side, so that each has its own sums */
    float *partial; /* where they are otherwise */
} task;

/* The same part of all sums for some columns. */
typedef struct {
    const product *product;
    const gemm_code *code;
    matrix a, b;
    tile_end end;
    int64_t column, columns, depth;
    int64_t panels, most_panels; /* of rows: all, and those that a thread packs at once */
    int64_t slivers, groups; /* of columns */
    int64_t alone; /* whether the rows are so few that nothing is gained from sharing columns */
    int as_they_lie; /* whether the columns are so few that nothing is gained from packing rows */
    float *shared, *own;
    int64_t threads;
    atomic_int_fast64_t next, workers;
} block;

static int64_t at_most(int64_t length, int64_t most)
{
    return length < most ? length : most;
}

/* Lines of a packed panel: those that fill up the last vector are written, too. */
static int64_t padded(int64_t depth)
{
    return (depth / VECTOR + 1) * VECTOR;
}

/* Rows of one matrix, or columns of the other, `tile` to a panel. */
static void pack_panels(const block *work, float *to, int64_t width, const matrix *from, int64_t stride, int64_t depth_stride, int64_t tile,
                        int64_t first, int64_t end, int64_t length)
{
    for (int64_t d = 0; d < work->depth; d += PACKED_DEPTH) {
        const int64_t deep = at_most(work->depth - d, PACKED_DEPTH);
        for (int64_t panel = first; panel < end; panel++) {
            float *place = to + ((panel - first) * padded(work->depth) + d) * width;
            work->code->pack(place, width, from->memory + panel * tile * stride + d * depth_stride, from->dtype, stride, depth_stride,
                             at_most(length - panel * tile, width), deep);
            if (work->product->lowered) {
                work->code->lower(place, deep * width, work->product->lowered);
            }
        }
    }
}

static void pack_columns(const block *work, float *to, int64_t first, int64_t end)
{
    const int64_t tile = work->code->columns;
    pack_panels(work, to, tile, &work->b, work->b.across, work->b.down, tile, first, end, work->columns);
}

static void share_columns(void *argument)
{
    block *work = argument;
    int64_t first;
    while ((first = PACKED_PANELS * atomic_fetch_add(&work->next, 1)) < work->slivers) {
        pack_columns(work, work->shared + first * padded(work->depth) * work->code->columns, first, at_most(first + PACKED_PANELS, work->slivers));
    }
}

/* The next panels for a thread: fewer towards the end, so that all threads end together. */
static int64_t take_panels(block *work, int64_t *first)
{
    int_fast64_t next = atomic_load(&work->next);
    int64_t count;
    do {
        const int64_t left = work->panels * work->groups - next, part = left / (2 * work->threads);
        if (left <= 0) {
            return 0;
        }
        count = work->alone ? work->panels : at_most(at_most(part > 1 ? part : 1, work->most_panels), work->panels - next % work->panels);
    } while (!atomic_compare_exchange_weak(&work->next, &next, next + count));
    *first = next;
    return count;
}

/* What a tile is added to is there by the time that its sums are. */
static void ask_for_added(const matrix *added, int64_t row, int64_t column, int64_t rows, int64_t columns)
{
    enum { LINE = 64 };
    for (int64_t r = row; r < row + rows; r++) {
        const char *place = added->memory + r * added->down + column * added->across;
        for (int64_t n = 0; n < columns * added->across; n += LINE) {
            __builtin_prefetch(place + n);
        }
    }
}

static void multiply_panels(void *argument)
{
    block *work = argument;
    const gemm_code *code = work->code;
    float *left = work->own + atomic_fetch_add(&work->workers, 1) * OWN_SCRATCH, *right = left + LEFT_SCRATCH;
    const int64_t left_size = code->width * padded(work->depth), right_size = code->columns * padded(work->depth);
    float sums[MOST_SUMS] __attribute__((aligned(64)));
    int64_t taken, count;
    while ((count = take_panels(work, &taken))) {
        const int64_t group = taken / work->panels, panel = taken % work->panels;
        const int64_t first = work->slivers * group / work->groups, end = work->slivers * (group + 1) / work->groups;
        if (!work->as_they_lie) {
            pack_panels(work, left, code->width, &work->a, work->a.down, work->a.across, code->rows, panel, panel + count, work->product->rows);
        }
        for (int64_t sliver = first; sliver < end; sliver++) {
            if (work->alone) {
                pack_columns(work, right, sliver, sliver + 1);
            }
            const float *b = work->alone ? right : work->shared + sliver * right_size;
            const int64_t column = sliver * code->columns, columns = at_most(work->columns - column, code->columns);
            for (int64_t p = 0; p < count; p++) {
                const int64_t row = (panel + p) * code->rows, rows = at_most(work->product->rows - row, code->rows);
                if (work->end.complete && work->end.added.memory && work->end.added.across <= (int64_t)sizeof(float)) {
                    ask_for_added(&work->end.added, row, work->column + column, rows, columns);
                }
                if (work->as_they_lie) {
                    const float *lines = (const float *)(work->a.memory + row * work->a.down);
                    code->multiply_rows(sums, lines, work->a.down / (int64_t)sizeof(float), b, work->depth, rows, columns);
                } else {
                    code->multiply(sums, left + p * left_size, b, work->depth, rows, columns);
                }
                code->finish(&work->end, sums, row, work->column + column, rows, columns);
            }
        }
    }
}

static void run_block(block *work, int64_t first_depth)
{
    const product *p = work->product;
    work->b.memory += work->column * work->b.across + first_depth * work->b.down;
    work->a.memory += first_depth * work->a.across;
    work->panels = parts_of(p->rows, work->code->rows);
    work->slivers = parts_of(work->columns, work->code->columns);
    const int64_t scratch = LEFT_SCRATCH / (work->code->width * padded(work->depth));
    work->most_panels = scratch > 1 ? scratch : 1;
    work->alone = work->panels <= work->most_panels;
    work->as_they_lie = work->slivers <= FEW_SLIVERS && work->a.dtype == F32 && work->a.across == sizeof(float) && !p->lowered;
    const int64_t wanted = 4 * work->threads; /* pieces of work */
    work->groups = work->threads == 1 ? 1 : at_most(work->alone ? wanted : parts_of(wanted, work->panels), work->slivers);
    if (!work->alone) {
        acl_emu_engine_together(share_columns, work, at_most(work->threads, parts_of(work->slivers, PACKED_PANELS)));
        atomic_store(&work->next, 0);
    }
    acl_emu_engine_together(multiply_panels, work, at_most(work->threads, work->panels * work->groups));
}

/* Where the sums of a block are until they are complete. */
static matrix sums_of(const task *t, int64_t block, int64_t column)
{
    const int64_t pitch = t->columns * (int64_t)sizeof(float), before = t->apart ? block * t->product->rows * pitch : 0;
    return (matrix){(char *)t->partial + before - column * (int64_t)sizeof(float), F32, pitch, sizeof(float)};
}

/* What becomes of the sums of a block after those before it, in columns from this one on. */
static tile_end end_of(const task *t, int64_t block, int64_t column)
{
    return (tile_end){
        .partial = t->plain ? t->out : sums_of(t, 0, column),
        .continued = block || t->product->add,
        .complete = !t->plain && block + 1 == t->blocks,
        .out = t->out,
        .added = t->added,
        .alpha = (float)t->product->alpha,
        .beta = (float)t->product->beta,
    };
}

/* The same while others may be worked on. */
static tile_end end_for_now(const task *t, int64_t block, int64_t column)
{
    return t->apart ? (tile_end){.partial = sums_of(t, block, column)} : end_of(t, block, column);
}

/* Numbers of the right matrix that threads share. */
static int64_t shared_scratch(const task *t)
{
    return t->thin ? 0 : at_most(RIGHT_SCRATCH, padded(t->depth) * t->columns);
}

/* Numbers that a product keeps in scratch buffers. Blocks side by side are for one thread each. */
static int64_t scratch_of(const task *t, int64_t threads)
{
    return t->apart ? threads * (shared_scratch(t) + OWN_SCRATCH) : shared_scratch(t) + threads * OWN_SCRATCH;
}

static int64_t depth_of(const task *t, int64_t block)
{
    return at_most(t->product->inner - block * t->depth, t->depth);
}

/* Some blocks of a thin product, columns by columns. */
typedef struct {
    const task *task;
    int64_t first, end; /* blocks */
    int64_t columns; /* that a thread takes at once: whole tiles */
    float *own;
    atomic_int_fast64_t next, workers;
} thin_blocks;

static void pack_thin(const task *t, float *to, const matrix *a, int64_t depth, int64_t size)
{
    const gemm_code *code = t->code;
    for (int64_t row = 0; row < t->product->rows; row += code->rows, to += size) {
        const int64_t rows = at_most(t->product->rows - row, code->rows);
        const char *from = a->memory + row * a->down;
        if (t->product->rows > 1) {
            code->pack(to, code->width, from, a->dtype, a->down, a->across, rows, depth);
        } else {
            for (int64_t d = 0; d < depth; d += code->columns) {
                code->pack(to + d, code->columns, from + d * a->across, a->dtype, a->across, a->across, at_most(depth - d, code->columns), 1);
            }
        }
        if (t->product->lowered) {
            code->lower(to, depth * (t->product->rows > 1 ? code->width : 1), t->product->lowered);
        }
    }
}

static void multiply_columns(void *argument)
{
    thin_blocks *work = argument;
    const task *t = work->task;
    const product *p = t->product;
    const int64_t tile = t->code->columns, wide = t->lies ? THIN_SUMS / p->rows / tile * tile : tile;
    float *left = work->own + atomic_fetch_add(&work->workers, 1) * OWN_SCRATCH, *sums = left + LEFT_SCRATCH, *pieces = sums + THIN_SUMS;
    int64_t first;
    while ((first = work->columns * atomic_fetch_add(&work->next, 1)) < p->columns) {
        const int64_t end = at_most(first + work->columns, p->columns);
        for (int64_t block = work->first; block < work->end; block++) {
            const int64_t depth = depth_of(t, block), size = padded(depth) * t->code->width;
            const tile_end rest = end_for_now(t, block, 0);
            matrix a = t->a, b = t->b;
            a.memory += block * t->depth * a.across;
            pack_thin(t, left, &a, depth, size);
            for (int64_t column = first; column < end; column += wide) {
                const int64_t columns = at_most(end - column, wide);
                b.memory = t->b.memory + block * t->depth * b.down + column * b.across;
                t->code->multiply_thin(sums, pieces, left, size, &b, p->lowered, depth, p->rows, columns);
                for (int64_t n = 0; n < columns; n += tile) {
                    t->code->finish(&rest, sums + n * p->rows, 0, column + n, p->rows, at_most(columns - n, tile));
                }
            }
        }
    }
}

static void run_thin(const task *t, int64_t first, int64_t end, float *scratch, int64_t threads)
{
    /* Long parts of rows, or columns in many parts. */
    const int64_t tile = t->code->columns, item = t->b.dtype == F32 ? 4 : 2, all = t->product->columns;
    const int64_t part = t->lies ? at_most(parts_of(all, threads * item / 2), MOST_PART / item) : parts_of(all, 16 * threads);
    thin_blocks work = {.task = t, .first = first, .end = end, .own = scratch};
    work.columns = parts_of(part > LEAST_PART ? part : LEAST_PART, tile) * tile;
    acl_emu_engine_together(multiply_columns, &work, at_most(threads, parts_of(all, work.columns)));
}

static void run_blocks(const task *t, int64_t first, int64_t end, float *scratch, int64_t threads)
{
    if (t->thin) {
        run_thin(t, first, end, scratch, threads);
        return;
    }
    for (int64_t column = 0; column < t->product->columns; column += t->columns) {
        for (int64_t k = first; k < end; k++) {
            block work = {
                .product = t->product,
                .code = t->code,
                .a = t->a,
                .b = t->b,
                .end = end_for_now(t, k, column),
                .column = column,
                .columns = at_most(t->product->columns - column, t->columns),
                .depth = depth_of(t, k),
                .shared = scratch,
                .own = scratch + shared_scratch(t),
                .threads = threads,
            };
            run_block(&work, k * t->depth);
        }
    }
}

/* Blocks that threads take one by one. */
typedef struct {
    const task *task;
    float *scratch;
    atomic_int_fast64_t next, workers;
} blocks_apart;

static void multiply_apart(void *argument)
{
    blocks_apart *work = argument;
    float *scratch = work->scratch + atomic_fetch_add(&work->workers, 1) * scratch_of(work->task, 1);
    int64_t block;
    while ((block = atomic_fetch_add(&work->next, 1)) < work->task->blocks) {
        run_blocks(work->task, block, block + 1, scratch, 1);
    }
}

/* The sums of all blocks, in order. */
static void join_blocks(const task *t)
{
    const int64_t tile = t->code->columns;
    float sums[MOST_WIDTH] __attribute__((aligned(64)));
    for (int64_t block = 0; block < t->blocks; block++) {
        const matrix from = sums_of(t, block, 0);
        const tile_end end = end_of(t, block, 0);
        for (int64_t row = 0; row < t->product->rows; row++) {
            for (int64_t column = 0; column < t->product->columns; column += tile) {
                const int64_t columns = at_most(t->product->columns - column, tile);
                memcpy(sums, from.memory + row * from.down + column * from.across, (size_t)columns * sizeof(float));
                t->code->finish(&end, sums, row, column, 1, columns);
            }
        }
    }
}

/* A row times a column: pieces of the sum that threads take some at a time, side by side in a vector each time. */
typedef struct {
    const task *task;
    atomic_int_fast64_t next;
} pieces_apart;

static void multiply_some_pieces(void *argument)
{
    pieces_apart *work = argument;
    const task *t = work->task;
    const int64_t full = t->product->inner / PIECE, rest = t->product->inner % PIECE;
    int64_t first;
    while ((first = VECTOR * atomic_fetch_add(&work->next, 1)) <= full) {
        matrix a = t->a, b = t->b;
        a.memory += first * PIECE * a.across;
        b.memory += first * PIECE * b.down;
        const int64_t count = at_most(full - first, VECTOR);
        t->code->multiply_pieces(t->partial + first, &a, &b, t->product->lowered, count, PIECE);
        if (rest && count < VECTOR) {
            a.memory += count * PIECE * a.across;
            b.memory += count * PIECE * b.down;
            t->code->multiply_pieces(t->partial + full, &a, &b, t->product->lowered, 1, rest);
        }
    }
}

static void run_pieces(const task *t, int64_t threads)
{
    const int64_t pieces = parts_of(t->product->inner, PIECE), each = t->depth / PIECE;
    pieces_apart work = {.task = t};
    acl_emu_engine_together(multiply_some_pieces, &work, at_most(threads, parts_of(pieces, VECTOR)));
    for (int64_t block = 0; block < t->blocks; block++) {
        float sums[MOST_WIDTH] __attribute__((aligned(64))) = {t->partial[block * each]};
        for (int64_t piece = block * each + 1; piece < at_most((block + 1) * each, pieces); piece++) {
            sums[0] += t->partial[piece];
        }
        const tile_end end = end_of(t, block, 0);
        t->code->finish(&end, sums, 0, 0, 1, 1);
    }
}

static int64_t run_task(task *t, float *scratch, int64_t threads)
{
    const product *p = t->product;
    if (t->pieces || (t->blocks > 1 && (t->apart || !t->plain))) {
        const int64_t sums = t->pieces ? parts_of(p->inner, PIECE) : (t->apart ? t->blocks : 1) * p->rows * t->columns;
        t->partial = malloc((size_t)sums * sizeof(float));
        if (!t->partial) {
            return NO_MEMORY;
        }
    }
    if (t->pieces) {
        run_pieces(t, threads);
    } else if (t->apart) {
        blocks_apart work = {.task = t, .scratch = scratch};
        acl_emu_engine_together(multiply_apart, &work, threads);
        join_blocks(t);
    } else {
        run_blocks(t, 0, t->blocks, scratch, threads);
    }
    free(t->partial);
    return DONE;
}

/* The scratch buffer of the last product, for the next one: to get it anew takes longer than small products do. */
static struct scratch {
    size_t size;
    float numbers[] __attribute__((aligned(64)));
} *_Atomic spare;

static struct scratch *take_scratch(int64_t numbers)
{
    const size_t size = sizeof(struct scratch) + (size_t)numbers * sizeof(float);
    struct scratch *scratch = atomic_exchange(&spare, NULL);
    if (!scratch || scratch->size < size) {
        free(scratch);
        scratch = aligned_alloc(64, (size + 63) / 64 * 64);
        if (scratch) {
            scratch->size = size;
        }
    }
    return scratch;
}

static void leave_scratch(struct scratch *scratch)
{
    free(atomic_exchange(&spare, scratch));
}

static task task_of(const product *p, const int64_t *addresses)
{
    const gemm_code *code = FOR_THIS_PROCESSOR(acl_emu_products);
    const int64_t blocks = p->inner > MOST_DEPTH ? (p->inner + BLOCK_DEPTH / 2) / BLOCK_DEPTH : 1;
    const int64_t depth = parts_of(parts_of(p->inner ? p->inner : 1, blocks), PIECE) * PIECE;
    task t = {
        .product = p,
        .code = code,
        .a = p->a,
        .b = p->b,
        .out = p->out,
        .added = p->added,
        .blocks = blocks > 1 ? parts_of(p->inner, depth) : 1,
        .depth = depth,
        .columns = p->columns,
        .thin = p->rows <= FEW_ROWS && p->columns >= 4 * p->rows,
        .pieces = p->rows * p->columns == 1 && p->inner > PIECE,
        .lies = p->b.across == (p->b.dtype == F32 ? 4 : 2) && !p->lowered,
        .plain = p->out.dtype == F32 && p->out.across == sizeof(float) && !p->adds,
    };
    if (!t.thin) {
        const int64_t chunks = parts_of(p->columns, RIGHT_SCRATCH / padded(depth) / MOST_WIDTH * MOST_WIDTH);
        t.columns = parts_of(parts_of(p->columns, chunks), code->columns) * code->columns;
    }
    t.a.memory = (char *)addresses[0];
    t.b.memory = (char *)addresses[1];
    t.out.memory = (char *)addresses[2];
    t.added.memory = p->adds ? (char *)addresses[3] : NULL;
    return t;
}

/* A batch of products that threads take some at a time. */
typedef struct {
    const task *first;
    int64_t count, some;
    float *scratch;
    atomic_int_fast64_t next, workers;
    atomic_int_fast64_t result;
} batch;

static task one_of(const task *first, int64_t number)
{
    task t = *first;
    for (int64_t k = t.product->axes - 1; k >= 0; k--) {
        const int64_t length = t.product->axis[k].length, index = number % length;
        t.a.memory += index * t.product->axis[k].a;
        t.b.memory += index * t.product->axis[k].b;
        t.out.memory += index * t.product->axis[k].out;
        if (t.product->adds) {
            t.added.memory += index * t.product->axis[k].added;
        }
        number /= length;
    }
    return t;
}

static void multiply_batch(void *argument)
{
    batch *work = argument;
    float *scratch = work->scratch + atomic_fetch_add(&work->workers, 1) * scratch_of(work->first, 1);
    int64_t number;
    while ((number = atomic_fetch_add(&work->next, work->some)) < work->count) {
        for (const int64_t end = at_most(number + work->some, work->count); number < end; number++) {
            task t = one_of(work->first, number);
            if (run_task(&t, scratch, 1) != DONE) {
                atomic_store(&work->result, NO_MEMORY);
            }
        }
    }
}

/* Floating-point operations, and what it takes to read and write everything, as many of those. Columns that stand in memory are transposed. */
static double work_of(const task *t)
{
    const double rows = (double)t->product->rows, inner = (double)t->product->inner, columns = (double)t->product->columns;
    const double transposed = t->thin && !t->lies ? inner * columns : 0;
    return 2 * rows * inner * columns + FLOPS_OF_A_NUMBER * (rows * inner + inner * columns + rows * columns + transposed);
}

/* The addresses are those of both matrices, of the result, and of what is added. */
EXPORT int64_t acl_emu_gemm_run(const product *described, const int64_t *addresses, int64_t threads)
{
    task first = task_of(described, addresses);
    batch work = {.first = &first, .count = 1, .result = DONE};
    for (int64_t k = 0; k < described->axes; k++) {
        work.count *= described->axis[k].length;
    }
    const double each = work_of(&first);
    if (each * (double)work.count < WORTH_WAKING) {
        threads = 1;
    }
    const int side_by_side = work.count > 1 && (each < SMALL || (each < LARGE && work.count >= 4 * threads));
    first.apart = !side_by_side && !first.pieces && threads > 1 && first.blocks >= threads
                  && (first.thin ? described->columns < 2 * LEAST_PART * threads : described->rows * described->columns <= FEW_SUMS);
    struct scratch *scratch = take_scratch(side_by_side ? threads * scratch_of(&first, 1) : scratch_of(&first, threads));
    if (!scratch) {
        return NO_MEMORY;
    }
    work.scratch = scratch->numbers;
    work.some = parts_of(work.count, 16 * threads);
    if (side_by_side) {
        acl_emu_engine_together(multiply_batch, &work, at_most(threads, work.count));
    } else {
        for (int64_t number = 0; number < work.count && work.result == DONE; number++) {
            task t = one_of(&first, number);
            work.result = run_task(&t, work.scratch, threads);
        }
    }
    leave_scratch(scratch);
    return work.result;
}

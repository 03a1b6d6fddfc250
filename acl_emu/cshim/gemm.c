/* Matrix products on all threads: blocks of both matrices are packed, one so that the threads share it, and multiplied tile by tile.
 *
 * What is added to what, and when, depends on the length of the sums only: the bits of a result depend neither on the threads nor on how
 * matrices lie. */
#include "gemm.h"

#include <stdatomic.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    DONE, NO_ROOM, /* what a product returns; known to acl_emu/native/calls.py */
    BLOCK_DEPTH = 1024, /* terms of the sums that are worked on at once, up to half as many more */
    MOST_DEPTH = BLOCK_DEPTH + BLOCK_DEPTH / 2,
    MOST_WIDTH = 32, /* of what is packed: columns of a tile are a part of it */
    VECTOR = 16, /* numbers in the longest */
    LEFT_ROOM = 17 << 13, /* numbers of the left matrix that a thread packs: half of a second-level cache */
    RIGHT_ROOM = 17 << 17, /* numbers of the right matrix that all of them share */
    PACKED_DEPTH = 64, PACKED_PANELS = 8, /* what is packed at a time: some lines of panels side by side */
    OWN_ROOM = LEFT_ROOM + (MOST_DEPTH + VECTOR) * MOST_WIDTH, /* of a thread: also for columns that it does not share */
    MOST_SUMS = 1 << 9, /* of a tile */
};

/* The layout is known to acl_emu/matmul.py; the memory of all matrices comes with each call. */
typedef struct {
    int64_t rows, inner, columns;
    matrix a, b, out, added;
    double alpha, beta;
    int64_t lowered;
    int64_t add; /* to what is there: a result in FLOAT with contiguous rows, and nothing else */
    int64_t adds; /* whether there is something to be added */
} product;

/* The same part of all sums for some columns. */
typedef struct {
    const product *whole;
    const gemm_code *code;
    matrix a, b;
    tile_end end;
    int64_t column, columns, depth;
    int64_t panels, most_panels; /* of rows: all, and those that a thread packs at once */
    int64_t slivers, groups; /* of columns */
    int64_t alone; /* whether the rows are so few that nothing is gained from sharing columns */
    float *shared, *own;
    int64_t threads;
    atomic_int_fast64_t next, workers;
} block;

static int64_t at_most(int64_t length, int64_t most)
{
    return length < most ? length : most;
}

static int64_t parts_of(int64_t length, int64_t part)
{
    return (length + part - 1) / part;
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
            if (work->whole->lowered) {
                work->code->lower(place, deep * width, work->whole->lowered);
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
static void ask_for(const matrix *added, int64_t row, int64_t column, int64_t rows, int64_t columns)
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
    float *left = work->own + atomic_fetch_add(&work->workers, 1) * OWN_ROOM, *right = left + LEFT_ROOM;
    const int64_t left_size = code->width * padded(work->depth), right_size = code->columns * padded(work->depth);
    float sums[MOST_SUMS] __attribute__((aligned(64)));
    int64_t taken, count;
    while ((count = take_panels(work, &taken))) {
        const int64_t group = taken / work->panels, panel = taken % work->panels;
        const int64_t first = work->slivers * group / work->groups, end = work->slivers * (group + 1) / work->groups;
        pack_panels(work, left, code->width, &work->a, work->a.down, work->a.across, code->rows, panel, panel + count, work->whole->rows);
        for (int64_t sliver = first; sliver < end; sliver++) {
            if (work->alone) {
                pack_columns(work, right, sliver, sliver + 1);
            }
            const float *b = work->alone ? right : work->shared + sliver * right_size;
            const int64_t column = sliver * code->columns, columns = at_most(work->columns - column, code->columns);
            for (int64_t p = 0; p < count; p++) {
                const int64_t row = (panel + p) * code->rows, rows = at_most(work->whole->rows - row, code->rows);
                if (work->end.complete && work->end.added.memory && work->end.added.across <= (int64_t)sizeof(float)) {
                    ask_for(&work->end.added, row, work->column + column, rows, columns);
                }
                code->multiply(sums, left + p * left_size, b, work->depth, rows, columns);
                code->finish(&work->end, sums, row, work->column + column, rows, columns);
            }
        }
    }
}

static void run_block(block *work, int64_t first_depth)
{
    const product *p = work->whole;
    work->b.memory += work->column * work->b.across + first_depth * work->b.down;
    work->a.memory += first_depth * work->a.across;
    work->panels = parts_of(p->rows, work->code->rows);
    work->slivers = parts_of(work->columns, work->code->columns);
    const int64_t room = LEFT_ROOM / (work->code->width * padded(work->depth));
    work->most_panels = room > 1 ? room : 1;
    work->alone = work->panels <= work->most_panels;
    const int64_t wanted = 4 * work->threads; /* pieces of work */
    work->groups = work->threads == 1 ? 1 : at_most(work->alone ? wanted : parts_of(wanted, work->panels), work->slivers);
    if (!work->alone) {
        acl_emu_engine_together(share_columns, work, at_most(work->threads, parts_of(work->slivers, PACKED_PANELS)));
        atomic_store(&work->next, 0);
    }
    acl_emu_engine_together(multiply_panels, work, at_most(work->threads, work->panels * work->groups));
}

/* Room of the last product, for the next one: to get it anew takes longer than small products do. */
static struct room {
    size_t size;
    float numbers[] __attribute__((aligned(64)));
} *_Atomic spare;

static struct room *take_room(int64_t numbers)
{
    const size_t size = sizeof(struct room) + (size_t)numbers * sizeof(float);
    struct room *room = atomic_exchange(&spare, NULL);
    if (!room || room->size < size) {
        free(room);
        room = aligned_alloc(64, (size + 63) / 64 * 64);
        if (room) {
            room->size = size;
        }
    }
    return room;
}

static void leave_room(struct room *room)
{
    free(atomic_exchange(&spare, room));
}

/* The addresses are those of both matrices, of the result, and of what is added. */
EXPORT int64_t acl_emu_gemm_run(const product *whole, const int64_t *addresses, int64_t threads)
{
    const gemm_code *code = FOR_THIS_PROCESSOR(acl_emu_products);
    const int64_t blocks = whole->inner > MOST_DEPTH ? (whole->inner + BLOCK_DEPTH / 2) / BLOCK_DEPTH : 1;
    const int64_t depth = parts_of(parts_of(whole->inner ? whole->inner : 1, blocks), PIECE) * PIECE;
    const int64_t chunks = parts_of(whole->columns, RIGHT_ROOM / padded(depth) / MOST_WIDTH * MOST_WIDTH);
    const int64_t columns = parts_of(parts_of(whole->columns, chunks), code->columns) * code->columns;
    const int plain = whole->out.dtype == F32 && whole->out.across == sizeof(float) && !whole->adds;
    struct room *room = take_room(RIGHT_ROOM + threads * OWN_ROOM);
    float *partial = blocks > 1 && !plain ? malloc((size_t)(whole->rows * columns) * sizeof(float)) : NULL;
    if (!room || (blocks > 1 && !plain && !partial)) {
        free(room);
        free(partial);
        return NO_ROOM;
    }
    matrix a = whole->a, b = whole->b, out = whole->out, added = whole->added;
    a.memory = (char *)addresses[0];
    b.memory = (char *)addresses[1];
    out.memory = (char *)addresses[2];
    added.memory = whole->adds ? (char *)addresses[3] : NULL;
    for (int64_t column = 0; column < whole->columns; column += columns) {
        for (int64_t first = 0; !first || first < whole->inner; first += depth) {
            const matrix sums = {(char *)partial - column * (int64_t)sizeof(float), F32, columns * (int64_t)sizeof(float), sizeof(float)};
            block work = {
                .whole = whole,
                .code = code,
                .a = a,
                .b = b,
                .end = {
                    .partial = plain ? out : sums,
                    .continued = first || whole->add,
                    .complete = !plain && first + depth >= whole->inner,
                    .out = out,
                    .added = added,
                    .alpha = (float)whole->alpha,
                    .beta = (float)whole->beta,
                },
                .column = column,
                .columns = at_most(whole->columns - column, columns),
                .depth = at_most(whole->inner - first, depth),
                .shared = room->numbers,
                .own = room->numbers + RIGHT_ROOM,
                .threads = threads,
            };
            run_block(&work, first);
        }
    }
    free(partial);
    leave_room(room);
    return DONE;
}

/* Blocks of two dimensions, for programs of which some operands lie along one and some along the other. */
#include "engine_program.h"

/* Rows ahead of which what they are read from is prefetched. */
enum { ROWS_AHEAD = 4 };

/* Bytes of an element of all results that are transposed; 0 where something that is read is. */
static int64_t items_transposed_later(const job *work)
{
    int64_t items = 0;
    for (int64_t k = 0; k < work->code->operands; k++) {
        if (is_transposed(&work->operands[k])) {
            if (k < work->code->reads) {
                return 0;
            }
            items += work->operands[k].item;
        }
    }
    return items;
}

void acl_emu_divide_blocks(job *work, int64_t threads)
{
    const nest *loops = work->loops;
    const int64_t items = items_transposed_later(work), fitting = items ? LEFT_BYTES / (BLOCK_ROWS * items) / BLOCK_COLUMNS * BLOCK_COLUMNS : 0;
    const int64_t most = fitting < (int64_t)work->tile ? fitting : (int64_t)work->tile;
    const int many = loops->outer * loops->block >= MORE_BLOCK_ROWS * LEAST_UNITS * threads;
    work->transposed_later = items > 0;
    work->block_columns = most > BLOCK_COLUMNS ? most : BLOCK_COLUMNS;
    work->block_rows = many && !work->transposed_later ? MORE_BLOCK_ROWS : BLOCK_ROWS;
    work->units = loops->outer * parts_of(loops->block, work->block_rows);
}

static int64_t pitch_of(const job *work, int64_t operand)
{
    return row_pitch(work->block_columns, work->operands[operand].item);
}

/* Of one side, where there are two. */
static size_t side_of(const job *work, int64_t operand)
{
    return (size_t)((is_transposed(&work->operands[operand]) ? work->block_rows : 1) * pitch_of(work, operand));
}

static size_t bytes_of(const job *work, int64_t operand)
{
    return (work->transposed_later ? 2 : 1) * side_of(work, operand);
}

static char *rows_of(const job *work, const buffers *own, int64_t operand, int side)
{
    return own->rows[operand] + (size_t)side * side_of(work, operand);
}

size_t acl_emu_block_buffers(const job *work)
{
    size_t size = 0;
    for (int64_t k = 0; k < work->code->operands; k++) {
        size += bytes_of(work, k);
    }
    return size;
}

void acl_emu_prepare_block(const job *work, buffers *own, char *next)
{
    for (int64_t k = 0; k < work->code->operands; k++) {
        own->rows[k] = next;
        next += bytes_of(work, k);
    }
    own->side = 0;
    own->left.n = 0;
}

static move block_move(const job *work, const buffers *own, int64_t operand, const place *at, int side)
{
    const operand_view *view = &work->operands[operand];
    const int out = operand >= work->code->reads;
    char *first = base_of(work, operand, at->outer) + at->i * view->inner.stride[0] + at->j * view->inner.stride[1], *rows = rows_of(work, own, operand, side);
    return acl_emu_move_of_matrix(first, view->inner.stride[0], view->inner.stride[1], view->item, at->block_rows, at->columns, rows, pitch_of(work, operand), out, out && work->streamed);
}

/* Elements of rows so short that several are worked on before others are prefetched, and of these together. */
enum { SHORT_LINE = 128, SHORT_LINES = 512 };

static int64_t lines_at_once(const place *at)
{
    return at->columns < SHORT_LINE ? SHORT_LINES / at->columns : 1;
}

/* Work on some rows of a block; then go to those that follow. */
static void run_some_lines(const job *work, buffers *own, const place *at, const int64_t to_next[], int64_t rows)
{
    for (int64_t row = 0; row < rows; row++) {
        acl_emu_run_line(work, own, at->outer, (size_t)at->columns);
        for (int64_t k = 0; k < work->code->operands; k++) {
            own->line[k] = (char *)own->line[k] + to_next[k];
        }
    }
}

/* The rows of a block, and after each, or some, cache lines that are prefetched. */
static void run_lines(const job *work, buffers *own, const place *at, const int64_t to_next[], prefetches *soon)
{
    const int64_t lines = soon->count ? acl_emu_prefetch_lines(soon) / at->block_rows + 1 : 0, most = lines_at_once(at);
    for (int64_t i = 0, rows; i < at->block_rows; i += rows) {
        rows = at->block_rows - i < most ? at->block_rows - i : most;
        run_some_lines(work, own, at, to_next, rows);
        acl_emu_prefetch(soon, lines * rows);
    }
}

/* What lies otherwise than most operands is transposed before or after its rows are worked on; what the next block needs is prefetched meanwhile: while
 * results are written, if they are transposed, rather than between loads, which would wait for it. */
static void transpose_and_run(const job *work, buffers *own, const place *at, const place *then)
{
    const program *code = work->code;
    prefetches soon = {.count = 0}, none = {.count = 0};
    int64_t to_next[MOST_OPERANDS];
    int transposed_last = 0;
    for (int64_t k = 0; k < code->operands; k++) {
        const operand_view *view = &work->operands[k];
        const int read = k < code->reads, transposed = is_transposed(view), along = view->inner.count == 2 && !transposed;
        to_next[k] = along ? view->inner.stride[0] : transposed ? pitch_of(work, k) : 0;
        own->line[k] = own->rows[k];
        if (!along && !transposed) {
            continue;
        }
        const move here = block_move(work, own, k, at, 0);
        own->line[k] = along ? here.lines : own->rows[k];
        if (transposed && read) {
            acl_emu_move_all(&here, &none);
        }
        if (read && then->n) {
            const move there = block_move(work, own, k, then, 0);
            acl_emu_add_prefetch(&soon, &there);
        }
        transposed_last |= !read && transposed;
    }
    run_lines(work, own, at, to_next, transposed_last ? &none : &soon);
    for (int64_t k = code->reads; k < code->operands; k++) {
        if (is_transposed(&work->operands[k])) {
            const move back = block_move(work, own, k, at, 0);
            acl_emu_move_all(&back, &soon);
        }
    }
}

/* Of the results that wait in the other buffer, the lines of a part of as many; some cache lines are prefetched meanwhile. */
static void transpose_part(const job *work, const buffers *own, int64_t part, int64_t parts, prefetches *soon)
{
    for (int64_t k = work->code->reads; k < work->code->operands && own->left.n; k++) {
        if (!is_transposed(&work->operands[k])) {
            continue;
        }
        move some = block_move(work, own, k, &own->left, !own->side);
        const transposition *by = &acl_emu_engine_tiles->transpose[some.item][1];
        const int64_t side = by->square ? by->side : 1, begin = part * some.count / parts / side * side;
        const int64_t end = part + 1 == parts ? some.count : (part + 1) * some.count / parts / side * side;
        some.lines += begin * some.stride;
        some.rows += begin * some.by_line;
        some.count = end - begin;
        if (some.count) {
            acl_emu_move_all(&some, soon);
        }
    }
}

/* Results of a block are transposed bit by bit between the rows of the next, while what rows are read from soon is prefetched. So memory is read, written
 * and computed with at the same time. */
static void run_and_transpose_later(const job *work, buffers *own, const place *at, const place *then)
{
    const program *code = work->code;
    const char *lines_then[MOST_OPERANDS];
    char *lines[MOST_OPERANDS];
    int64_t to_next[MOST_OPERANDS];
    for (int64_t k = 0; k < code->operands; k++) {
        const operand_view *view = &work->operands[k];
        const int transposed = is_transposed(view), along = view->inner.count == 2 && !transposed;
        lines[k] = own->rows[k];
        if (along || transposed) {
            const move here = block_move(work, own, k, at, own->side);
            lines[k] = along ? here.lines : here.rows;
        }
        lines_then[k] = along && then->n ? block_move(work, own, k, then, 0).lines : lines[k];
        to_next[k] = along ? view->inner.stride[0] : transposed ? pitch_of(work, k) : 0;
    }
    const int64_t most = lines_at_once(at);
    for (int64_t i = 0; i < at->block_rows; i += most) {
        const int64_t ahead = i + ROWS_AHEAD, rows = at->block_rows - i < most ? at->block_rows - i : most;
        prefetches soon = {.count = 0};
        for (int64_t k = 0; k < code->operands; k++) {
            own->line[k] = lines[k] + i * to_next[k];
            if (k < code->reads && to_next[k] && !work->operands[k].unread) {
                const char *line = ahead < at->block_rows ? lines[k] + ahead * to_next[k] : lines_then[k] + (ahead - at->block_rows) * to_next[k];
                soon.items[soon.count++] = (prefetch){line, to_next[k], most, at->columns * work->operands[k].item};
            }
        }
        run_some_lines(work, own, at, to_next, rows);
        transpose_part(work, own, i / most, parts_of(at->block_rows, most), &soon);
    }
    own->left = *at;
    own->side = !own->side;
    if (!then->n) {
        prefetches none = {.count = 0};
        transpose_part(work, own, 0, 1, &none);
        own->left.n = 0;
    }
}

void acl_emu_run_block(const job *work, buffers *own, int64_t unit)
{
    place next;
    for (place at = block_at(work, unit, 0); at.n; at = next) {
        next = block_at(work, unit, at.j + at.columns);
        const place then = next.n || own->next < 0 ? next : block_at(work, own->next, 0);
        (work->transposed_later ? run_and_transpose_later : transpose_and_run)(work, own, &at, &then);
    }
}

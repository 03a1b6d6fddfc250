/* Blocks of two dimensions, for programs of which some operands lie along one and some along the other. */
#include "engine_program.h"

/* Rows ahead of which what they are read from is asked for. */
enum { ROWS_AHEAD = 4 };

/* Bytes of an element of all results that are turned; 0 where something that is read is. */
static int64_t items_turned_later(const job *work)
{
    int64_t items = 0;
    for (int64_t k = 0; k < work->program->operands; k++) {
        if (is_turned(&work->operands[k])) {
            if (k < work->program->reads) {
                return 0;
            }
            items += work->operands[k].item;
        }
    }
    return items;
}

void acl_emu_divide_blocks(job *work, int64_t threads)
{
    const header *program = work->program;
    const int64_t items = items_turned_later(work), fitting = items ? LEFT_BYTES / (BLOCK_ROWS * items) / BLOCK_COLUMNS * BLOCK_COLUMNS : 0;
    const int64_t most = work->whole || fitting < (int64_t)work->tile ? fitting : (int64_t)work->tile; /* steps work on tiles */
    const int many = program->outer * program->block >= MORE_BLOCK_ROWS * LEAST_UNITS * threads;
    work->turned_later = items > 0;
    work->block_columns = most > BLOCK_COLUMNS ? most : BLOCK_COLUMNS;
    work->block_rows = many && !work->turned_later ? MORE_BLOCK_ROWS : BLOCK_ROWS;
    work->units = program->outer * parts_of(program->block, work->block_rows);
}

static int64_t pitch_of(const job *work, int64_t operand)
{
    return row_pitch(work->block_columns, work->operands[operand].item);
}

/* Of one side, where there are two. */
static size_t side_of(const job *work, int64_t operand)
{
    return (size_t)((is_turned(&work->operands[operand]) ? work->block_rows : 1) * pitch_of(work, operand));
}

static size_t room_of(const job *work, int64_t operand)
{
    return (work->turned_later ? 2 : 1) * side_of(work, operand);
}

static char *rows_of(const job *work, const room *own, int64_t operand, int side)
{
    return own->rows[operand] + (size_t)side * side_of(work, operand);
}

size_t acl_emu_block_room(const job *work)
{
    size_t size = 0;
    for (int64_t k = 0; k < work->program->operands; k++) {
        size += room_of(work, k);
    }
    return size;
}

void acl_emu_prepare_block(const job *work, room *own, char *next)
{
    for (int64_t k = 0; k < work->program->operands; k++) {
        own->rows[k] = next;
        next += room_of(work, k);
    }
    own->side = 0;
    own->left.n = 0;
}

static move block_move(const job *work, const room *own, int64_t operand, const place *at, int side)
{
    const int out = operand >= work->program->reads;
    char *rows = rows_of(work, own, operand, side);
    return acl_emu_move_of_block(&work->operands[operand], base_of(work, operand, at->outer), at, rows, pitch_of(work, operand), out, out && work->streamed);
}

/* What is the same for all rows of blocks is gathered. */
static void gather_repeated(const job *work, const room *own, int64_t operand, const place *at)
{
    const operand_view *view = &work->operands[operand];
    if (view->inner.count != 2 && !view->unread && work->whole) {
        acl_emu_move_range(view, base_of(work, operand, at->outer), 0, (size_t)at->columns, own->line[operand], 0);
    }
}

/* Elements of rows so short that a kernel is called for several, and of these together. */
enum { SHORT_LINE = 128, SHORT_LINES = 512 };

static int64_t lines_at_once(const job *work, const place *at)
{
    return (takes_rows(work) || !work->whole) && at->columns < SHORT_LINE ? SHORT_LINES / at->columns : 1;
}

/* What is said to a kernel that works on rows of a block. */
static fused_call call_on_line(const job *work, const room *own, const int64_t to_next[], int streamed)
{
    return (fused_call){
        .outs = own->line + work->program->reads,
        .ins = (const void *const *)own->line,
        .constants = own->constants,
        .streamed = streamed,
        .rows = 1,
        .pitches = to_next,
        .out_pitches = to_next + work->program->reads,
    };
}

static void to_next_line(const job *work, room *own, const fused_call *call, int64_t rows)
{
    for (int64_t k = 0; k < work->program->operands; k++) {
        own->line[k] = (char *)own->line[k] + rows * call->pitches[k];
    }
}

/* Have the kernel, or steps, work on some rows of a block; then go to those that follow. */
static void run_some_lines(const job *work, room *own, const fused_call *call, const place *at)
{
    if (work->whole) {
        work->kernel(call, (size_t)at->columns);
        to_next_line(work, own, call, call->rows);
        return;
    }
    for (int64_t row = 0; row < call->rows; row++) {
        acl_emu_run_line(work, own, at->outer, (size_t)at->columns);
        to_next_line(work, own, call, 1);
    }
}

/* The rows of a block, and after each, or some, cache lines that are asked for. */
static void run_lines(const job *work, room *own, const place *at, const int64_t to_next[], int streamed, wishes *soon)
{
    const int64_t asked = soon->count ? acl_emu_wished(soon) / at->rows + 1 : 0;
    const int64_t most = lines_at_once(work, at);
    fused_call call = call_on_line(work, own, to_next, streamed);
    for (int64_t i = 0; i < at->rows; i += call.rows) {
        call.rows = at->rows - i < most ? at->rows - i : most;
        run_some_lines(work, own, &call, at);
        acl_emu_ask(soon, asked * call.rows);
    }
}

/* What lies otherwise than most operands is turned before or after its rows are gone through; what the next block needs is asked for meanwhile: while
 * results are written, if they are turned, rather than between loads of a kernel, which would wait for it. */
static void turn_and_run(const job *work, room *own, const place *at, const place *then)
{
    const header *program = work->program;
    wishes soon = {.count = 0}, none = {.count = 0};
    int64_t to_next[MOST_OPERANDS];
    int streamed = work->streamed, turned_last = 0;
    for (int64_t k = 0; k < program->operands; k++) {
        const operand_view *view = &work->operands[k];
        const move here = block_move(work, own, k, at, 0), there = block_move(work, own, k, then, 0);
        const int read = k < program->reads, turned = is_turned(view), along = view->inner.count == 2 && !turned;
        own->line[k] = along ? here.lines : own->rows[k];
        to_next[k] = along ? view->inner.stride[0] : turned ? pitch_of(work, k) : 0;
        if (turned && read) {
            acl_emu_move_all(&here, &none);
        }
        gather_repeated(work, own, k, at);
        if (read && then->n && (along || turned) && !view->unread) {
            acl_emu_wish_for(&soon, &there);
        }
        turned_last |= !read && turned;
        streamed &= read || (along && here.streamed);
    }
    run_lines(work, own, at, to_next, streamed, turned_last ? &none : &soon);
    for (int64_t k = program->reads; k < program->operands; k++) {
        if (is_turned(&work->operands[k])) {
            const move back = block_move(work, own, k, at, 0);
            acl_emu_move_all(&back, &soon);
        }
    }
}

/* Of the results that wait in the other room, the lines of a part of as many; some cache lines are asked for meanwhile. */
static void turn_part(const job *work, const room *own, int64_t part, int64_t parts, wishes *soon)
{
    for (int64_t k = work->program->reads; k < work->program->operands && own->left.n; k++) {
        if (!is_turned(&work->operands[k])) {
            continue;
        }
        move some = block_move(work, own, k, &own->left, !own->side);
        const turning *by = &acl_emu_engine_tiles->turn[some.item][1];
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

/* Results of a block are turned bit by bit between the rows of the next, while what rows are read from soon is asked for: by the kernel as it goes, where
 * it has much to compute, else as they are written. So memory is read, written and computed with at the same time. */
static void run_and_turn_later(const job *work, room *own, const place *at, const place *then)
{
    const header *program = work->program;
    const int asks = kernel_asks(work);
    const char *lines_then[MOST_OPERANDS], *soon[MOST_OPERANDS];
    char *lines[MOST_OPERANDS];
    int64_t to_next[MOST_OPERANDS], apart[MOST_OPERANDS];
    int streamed = work->streamed;
    for (int64_t k = 0; k < program->operands; k++) {
        const operand_view *view = &work->operands[k];
        const move here = block_move(work, own, k, at, own->side);
        const int turned = is_turned(view), along = view->inner.count == 2 && !turned;
        own->line[k] = lines[k] = along ? here.lines : here.rows;
        lines_then[k] = along && then->n ? block_move(work, own, k, then, 0).lines : lines[k];
        to_next[k] = along ? view->inner.stride[0] : turned ? pitch_of(work, k) : 0;
        streamed &= k < program->reads || (along && here.streamed);
        apart[k] = 2 * (int64_t)(acl_emu_engine_tiles->vector_bytes / sizeof(float)) * view->item;
        gather_repeated(work, own, k, at);
    }
    fused_call call = call_on_line(work, own, to_next, streamed);
    const int64_t most = lines_at_once(work, at);
    call.soon = asks && most == 1 ? soon : NULL;
    call.apart = apart;
    for (int64_t i = 0; i < at->rows; i += most) {
        const int64_t ahead = i + ROWS_AHEAD;
        wishes asked = {.count = 0};
        for (int64_t k = 0; k < program->operands; k++) {
            own->line[k] = lines[k] + i * to_next[k];
            soon[k] = ahead < at->rows ? lines[k] + ahead * to_next[k] : lines_then[k] + (ahead - at->rows) * to_next[k];
            if (k < program->reads && to_next[k] && !work->operands[k].unread && !asks) {
                asked.wishes[asked.count++] = (wish){soon[k], to_next[k], most, at->columns * work->operands[k].item};
            }
        }
        call.rows = at->rows - i < most ? at->rows - i : most;
        run_some_lines(work, own, &call, at);
        turn_part(work, own, i / most, parts_of(at->rows, most), &asked);
    }
    own->left = *at;
    own->side = !own->side;
    if (!then->n) {
        wishes none = {.count = 0};
        turn_part(work, own, 0, 1, &none);
        own->left.n = 0;
    }
}

void acl_emu_run_block(const job *work, room *own, int64_t unit)
{
    place next;
    for (place at = block_at(work, unit, 0); at.n; at = next) {
        next = block_at(work, unit, at.j + at.columns);
        const place then = next.n || own->next < 0 ? next : block_at(work, own->next, 0);
        (work->turned_later ? run_and_turn_later : turn_and_run)(work, own, &at, &then);
    }
}

/* Blocks of two dimensions, for programs of which some operands lie along one and some along the other. */
#include "engine_program.h"

static int64_t pitch_of(const job *work, int64_t operand)
{
    return row_pitch(BLOCK_COLUMNS, work->operands[operand].item);
}

static size_t room_of(const job *work, int64_t operand)
{
    return (size_t)((is_turned(&work->operands[operand]) ? work->block_rows : 1) * pitch_of(work, operand));
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
}

static move block_move(const job *work, const room *own, int64_t operand, const place *at)
{
    const int out = operand >= work->program->reads;
    const operand_view *view = &work->operands[operand];
    return acl_emu_move_of_block(view, base_of(work, operand, at->outer), at, own->rows[operand], pitch_of(work, operand), out, out && work->streamed);
}

/* Have the kernel, or steps, go through the rows of a block, and ask for some cache lines after each. */
static void run_lines(const job *work, room *own, const place *at, const int64_t to_next[], int streamed, wishes *soon)
{
    const header *program = work->program;
    const int64_t asked = soon->count ? acl_emu_wished(soon) / at->rows + 1 : 0;
    const fused_call call = {.outs = own->line + program->reads, .ins = (const void *const *)own->line, .constants = own->constants, .streamed = streamed};
    for (int64_t i = 0; i < at->rows; i++) {
        if (work->whole) {
            work->kernel(&call, (size_t)at->columns);
        } else {
            acl_emu_run_line(work, own, at->outer, (size_t)at->columns);
        }
        acl_emu_ask(soon, asked);
        for (int64_t k = 0; k < program->operands; k++) {
            own->line[k] = (char *)own->line[k] + to_next[k];
        }
    }
}

/* What lies otherwise than most operands is turned before or after its rows are gone through; what the next block needs is asked for meanwhile: while
 * results are written, if they are turned, rather than between loads of a kernel, which would wait for it. */
void acl_emu_run_block(const job *work, room *own, int64_t unit)
{
    const header *program = work->program;
    place next;
    for (place at = block_at(work, unit, 0); at.n; at = next) {
        wishes soon = {.count = 0}, none = {.count = 0};
        int64_t to_next[MOST_OPERANDS];
        int streamed = work->streamed, turned_last = 0;
        next = block_at(work, unit, at.j + at.columns);
        const place then = next.n || own->next < 0 ? next : block_at(work, own->next, 0);
        for (int64_t k = 0; k < program->operands; k++) {
            const operand_view *view = &work->operands[k];
            const move here = block_move(work, own, k, &at), there = block_move(work, own, k, &then);
            const int read = k < program->reads, turned = is_turned(view), along = view->inner.count == 2 && !turned;
            own->line[k] = along ? here.lines : own->rows[k];
            to_next[k] = along ? view->inner.stride[0] : turned ? pitch_of(work, k) : 0;
            if (turned && read) {
                acl_emu_move_all(&here, &none);
            } else if (!along && !turned && !view->unread && work->whole) { /* the same everywhere */
                acl_emu_move_range(view, base_of(work, k, at.outer), 0, (size_t)at.columns, own->line[k], 0);
            }
            if (read && then.n && (along || turned)) {
                acl_emu_wish_for(&soon, &there);
            }
            turned_last |= !read && turned;
            streamed &= read || (along && here.streamed);
        }
        run_lines(work, own, &at, to_next, streamed, turned_last ? &none : &soon);
        for (int64_t k = program->reads; k < program->operands; k++) {
            if (is_turned(&work->operands[k])) {
                const move back = block_move(work, own, k, &at);
                acl_emu_move_all(&back, &soon);
            }
        }
    }
}

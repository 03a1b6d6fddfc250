/* Kernels that were compiled as a whole: no registers, operands as they are stored, a row or a part of one at a time. */
#include "engine_program.h"

#include <string.h>

/* Tiles at once: few of what should still be in the first-level cache when it is used, since it was gathered or, as bfloat16 is, looked at before. */
enum { FEW_TILES = 2, MANY_TILES = 8 };
/* Of rows that are turned together, of which fewer would leave half of what memory hands out at a time; and how many cache lines ahead they are asked for. */
enum { TURNED_BYTES = 1 << 19, LEAST_TURNED = 32, LINES_AHEAD = 96 };
/* Rows beside each other that are not worth turning where their elements lie no more than some steps apart. */
enum { FEW_BESIDE = 8 };
/* Bytes from a row of columns to the next, up to which all of them are read in order, and rows of all operands that the caches hold wherever they are. */
enum { NEAR_ROWS = 1024, FEW_ROWS = 24 };
/* Elements of rows that are turned while others are worked on: longer ones leave no room for those. */
enum { MOST_AHEAD = 1 << 18 };
enum { COLUMN_ROWS = 4, ONE_VECTOR = 16, IN_ORDER = 1024, GATHERED_ROWS = 32, REDUCED_ROWS = 128 };
/* Columns that are folded, fewer than so many; what they fill, if possible; and how many they become, at most: a vector of rows of which each is less than
 * twice as wide. */
enum { MOST_FOLDED = 32, FOLDED = 64, FOLDED_COLUMNS = 2 * MOST_FOLDED * ONE_VECTOR };

/* Elements of MAP for whose sake a tile ends where they do: they lie in a row in memory, or repeat themselves, so that a few of them are gathered for all. */
enum { LONG_RUN = 512, LONG_SPAN = 4096, LEAST_PIECE = 32 };

/* How the elements of a row are reached: there is one for all of it; in memory, as they are; gathered once, if they repeat themselves; gathered with those
 * of the rows beside it, since they lie far apart and next to those; or gathered. */
enum { ONE, IN_MEMORY, REPEATED, TURNED, GATHERED };

/* What repeats itself within a tile is looked for as far out as it does: the longer the same is read, the better. */
static int way_in_map(job *work, int64_t operand)
{
    const range_view *inner = &work->operands[operand].inner;
    const int64_t last = inner->count - 1;
    int64_t elements = 1, period = 0, span = 0;
    for (int64_t d = last; d >= 0 && elements <= (int64_t)work->tile; elements *= inner->length[d--]) {
        if (inner->stride[d] == 0) {
            period = elements;
            span = elements * inner->length[d];
        }
    }
    if (span >= LONG_SPAN) {
        work->periods[operand] = period;
        work->spans[operand] = span;
        return REPEATED;
    }
    if (inner->stride[last] == work->operands[operand].item && inner->length[last] >= LONG_RUN) {
        work->spans[operand] = inner->length[last];
        return IN_MEMORY;
    }
    return GATHERED;
}

/* Whether the rows of columns can be gone through several times where they are: no result takes their place, and they are few, or near; many far apart, at
 * distances of powers of two, would drive each other out of the caches. */
static int can_be_read_again(const job *work, int64_t operand)
{
    int can = work->operands[operand].outer.stride[0] <= NEAR_ROWS || work->program->outer * work->program->reads <= FEW_ROWS;
    for (int64_t w = work->program->reads; w < work->program->operands; w++) {
        can &= work->memory[w] != work->memory[operand];
    }
    return can;
}

static int find_way(job *work, int64_t operand)
{
    const int64_t reads = work->program->reads;
    const range_view *outer = &work->operands[operand].outer, *inner = &work->operands[operand].inner;
    const int64_t item = work->operands[operand].item;
    if (operand >= reads && (work->program->of_rows >> (operand - reads) & 1)) {
        return ONE;
    }
    for (int64_t k = 0; operand < reads && k < work->fused_count; k++) {
        if (work->fused_operands[k] == operand) {
            return ONE;
        }
    }
    if (work->operands[operand].unread) {
        return IN_MEMORY;
    }
    if (work->program->shape == COLUMNS && (outer->count != 1 || (has_passes(work) && operand < reads && !can_be_read_again(work, operand)))) {
        return GATHERED;
    }
    if (lies_in_row(work->program, &work->operands[operand])) {
        return IN_MEMORY;
    }
    if (work->program->shape == MAP) {
        return way_in_map(work, operand);
    }
    const int64_t last = outer->count - 1;
    const int few = is_step(inner->stride[0], item) && outer->length[last] < FEW_BESIDE;
    const int beside = inner->count == 1 && inner->stride[0] > item && outer->stride[last] == item && !few;
    const int whole_rows = work->program->shape == ROWS && work->program->run == work->program->inner;
    return beside && whole_rows ? TURNED : GATHERED;
}

static int any_is(const job *work, int way)
{
    for (int64_t k = 0; k < work->program->operands; k++) {
        if (work->ways[k] == way) {
            return 1;
        }
    }
    return 0;
}

/* Bytes of rows that are still in the first-level cache when the next phase goes through them. */
enum { TOGETHER_BYTES = 1 << 14 };

/* How many rows go through a phase together; 0 where they are found one by one, or numbers are that differ from row to row. */
static int64_t rows_together(const job *work)
{
    const header *program = work->program;
    int64_t bytes = 1;
    if (!takes_rows(work)) {
        return 0;
    }
    for (int64_t k = 0; k < program->operands; k++) {
        if (work->ways[k] != IN_MEMORY) {
            return 0;
        }
        bytes += k < program->reads ? program->inner * work->operands[k].item : 0;
    }
    const int64_t fitting = TOGETHER_BYTES / bytes;
    return fitting < 1 ? 1 : fitting < ROWS_TOGETHER ? fitting : ROWS_TOGETHER;
}

/* The longest row of elements that is worked on at once. */
static size_t row_length(const job *work)
{
    switch (work->program->shape) {
    case ROWS: return (size_t)work->program->inner;
    case TOTALS: return (size_t)work->unit_length;
    case COLUMNS: return (size_t)work->program->lanes;
    default: return work->tile;
    }
}

/* Elements of MAP that lie side by side in all operands and are gone through as rows, instead of being gathered; 0 where that is not so, or results would
 * pass by the caches otherwise. */
static int64_t find_piece(const job *work)
{
    const header *program = work->program;
    int64_t piece = program->inner;
    for (int64_t k = 0; k < program->operands; k++) {
        const range_view *inner = &work->operands[k].inner;
        const int64_t last = inner->count - 1;
        if (work->ways[k] == ONE || work->operands[k].unread) {
            continue;
        }
        if (inner->stride[last] != work->operands[k].item) {
            return 0;
        }
        piece = inner->length[last] < piece ? inner->length[last] : piece;
    }
    for (int64_t k = program->reads; k < program->operands && work->streamed; k++) {
        if (piece * work->operands[k].item % (int64_t)acl_emu_engine_tiles->vector_bytes) {
            return 0;
        }
    }
    return piece >= LEAST_PIECE ? piece : 0;
}

/* How far it is in memory from a run to the next; 0 where that differs. */
static int64_t to_next_run(const job *work, int64_t operand)
{
    const range_view *inner = &work->operands[operand].inner;
    const int64_t run = work->program->run;
    return inner->count == 1 ? run * inner->stride[0] : inner->count == 2 && inner->length[1] == run ? inner->stride[0] : 0;
}

static int lie_in_even_groups(const job *work)
{
    const header *program = work->program;
    int even = program->lanes >= program->run && !program->of_rows;
    for (int64_t k = 0; k < program->operands; k++) {
        even &= work->ways[k] == IN_MEMORY && !work->operands[k].unread && to_next_run(work, k);
    }
    return even;
}

/* Rows that are gathered together; 0 where none are. */
static int64_t rows_at_once(const job *work)
{
    const header *program = work->program;
    for (int64_t k = 0; k < program->operands; k++) {
        if (work->ways[k] == TURNED) {
            const int64_t fitting = TURNED_BYTES / (program->inner * work->operands[k].item) / 8 * 8;
            return fitting < LEAST_TURNED ? LEAST_TURNED : fitting < MOST_TURNED ? fitting : MOST_TURNED;
        }
    }
    return 0;
}

void acl_emu_divide_whole(job *work)
{
    const header *program = work->program;
    work->reductions = (int64_t)strlen(work->whole->reductions);
    for (int64_t k = 0; k < program->operands; k++) {
        work->spans[k] = program->inner;
        work->ways[k] = (unsigned char)find_way(work, k);
    }
    if (has_passes(work)) {
        work->in_turn = parts_of(work->unit_length, program->lanes * program->outer);
        work->even_groups = lie_in_even_groups(work);
    } else if (program->shape == MAP) {
        const int in_memory = !any_is(work, GATHERED) && !any_is(work, REPEATED);
        work->piece = takes_rows(work) && any_is(work, GATHERED) ? find_piece(work) : 0;
        work->tile *= in_memory && program->storage != BF16 ? MANY_TILES : FEW_TILES;
    } else if (program->shape == ROWS && (work->turned_rows = rows_at_once(work))) {
        work->unit_length = work->turned_rows;
        work->turned_ahead = kernel_asks(work) && work->turned_rows * program->inner <= MOST_AHEAD;
    } else if (program->shape == ROWS) {
        work->together = rows_together(work);
    }
}

/* Rooms */

static int64_t pitch_of(const job *work, int64_t operand)
{
    return row_pitch(work->program->inner, work->operands[operand].item);
}

static size_t gathered_pitch(const job *work, int64_t operand)
{
    const size_t length = row_length(work) + (work->ways[operand] == REPEATED ? (size_t)work->periods[operand] : 0);
    return (length * (size_t)work->operands[operand].item + 127) / 64 * 64;
}

/* Rows that there is room for at a time: of columns some, of those that are gone through several times all. */
static int64_t gathered_rows(const job *work)
{
    const int64_t rows = work->program->shape == COLUMNS ? work->program->outer : 1;
    return has_passes(work) || rows < GATHERED_ROWS ? rows : GATHERED_ROWS;
}

/* Numbers are kept in what they are worked out in, unless a kernel may leave a row to another, in double. */
static size_t kept_size(const job *work)
{
    const int64_t way = work->program->way;
    const size_t item = way == SETTLED || (way == PLAIN_FLOAT && takes_rows(work)) ? sizeof(float) : sizeof(double);
    return (size_t)(work->together ? work->together : gathered_rows(work)) * padded(row_length(work)) * item;
}

static size_t gathered_size(const job *work, int64_t operand)
{
    if (work->ways[operand] == IN_MEMORY) {
        return 0;
    }
    if (work->ways[operand] == TURNED) {
        return (size_t)((work->turned_ahead ? 2 : 1) * work->turned_rows * pitch_of(work, operand));
    }
    return (size_t)(work->ways[operand] == GATHERED ? gathered_rows(work) : 1) * gathered_pitch(work, operand);
}

static char *turned_room(const job *work, const room *own, int64_t operand, int side)
{
    return own->rows[operand] + side * work->turned_rows * pitch_of(work, operand);
}

static size_t sums_size(const job *work)
{
    return (size_t)(work->reductions + work->whole->values + work->program->operands - work->program->reads) * sums_apart(work) * sizeof(double);
}

size_t acl_emu_whole_room(const job *work)
{
    if (work->program->shape == BLOCKS) {
        return acl_emu_block_room(work);
    }
    size_t size = sums_size(work) + (size_t)work->whole->kept * kept_size(work);
    for (int64_t k = 0; k < work->program->operands; k++) {
        size += gathered_size(work, k);
    }
    return size;
}

void acl_emu_prepare_whole(const job *work, room *own, char *next)
{
    memcpy(own->constants, work->fused_constants, (size_t)work->fused_count * sizeof(double));
    if (work->program->shape == BLOCKS) {
        acl_emu_prepare_block(work, own, next);
        return;
    }
    own->ready = -1;
    own->side = 0;
    for (int64_t k = 0; k < work->program->operands; k++) {
        own->rows[k] = next;
        own->held[k] = NULL;
        next += gathered_size(work, k);
    }
    for (int64_t k = 0; k < work->whole->kept; k++) {
        own->kept[k] = next;
        next += kept_size(work);
    }
    own->sums = (double *)next;
    const int in_place = work->whole->finish && work->reductions == 1 && work->program->operands == work->program->reads + 1;
    own->results = own->sums + (in_place ? 0 : partials_of(work) + (size_t)work->whole->values * sums_apart(work));
}

/* Rows */

/* Constants that differ from row to row. */
static void begin_row(const job *work, room *own, int64_t outer)
{
    for (int64_t k = 0; k < work->fused_count; k++) {
        const int64_t operand = work->fused_operands[k];
        if (operand >= 0) {
            acl_emu_engine_tiles->load[1][work->operands[operand].dtype](&own->constants[k], base_of(work, operand, outer), 1);
        }
    }
}

/* Elements that repeat themselves: a period and a tile of them are gathered, so that there is a tile wherever in a period it begins. */
static void *repeated(const job *work, room *own, int64_t operand, const place *at)
{
    const operand_view *view = &work->operands[operand];
    const int64_t span = work->spans[operand], period = work->periods[operand], begin = at->first / span * span;
    char *base = base_of(work, operand, at->outer);
    const char *from = base + offset_of(&view->inner, begin);
    if (own->held[operand] != from) {
        const int64_t most = period + (int64_t)work->tile;
        acl_emu_move_range(view, base, begin, (size_t)(span < most ? span : most), own->rows[operand], 0);
        own->held[operand] = from;
    }
    return own->rows[operand] + at->first % period * view->item;
}

/* Where the kernel finds and leaves elements of a row, the `turned`th of those that there is room for together; what is gathered is gathered. */
static void find_rows(const job *work, room *own, const place *at, int64_t turned, void *rows[])
{
    for (int64_t k = 0; k < work->program->operands; k++) {
        rows[k] = own->rows[k];
        if (work->ways[k] == IN_MEMORY) {
            rows[k] = base_of(work, k, at->outer) + offset_of(&work->operands[k].inner, at->first);
        } else if (work->ways[k] == REPEATED) {
            rows[k] = repeated(work, own, k, at);
        } else if (work->ways[k] == TURNED) {
            rows[k] = turned_room(work, own, k, own->side) + turned * pitch_of(work, k);
        } else if (work->ways[k] == GATHERED && k < work->program->reads) {
            acl_emu_move_range(&work->operands[k], base_of(work, k, at->outer), at->first, at->n, rows[k], 0);
        }
    }
}

/* Whether results pass by the caches: all of them lie in memory, and as that needs. */
static int passes_by(const job *work, void *const rows[])
{
    int streamed = work->streamed;
    for (int64_t k = work->program->reads; streamed && k < work->program->operands; k++) {
        streamed = work->ways[k] == IN_MEMORY && (uintptr_t)rows[k] % acl_emu_engine_tiles->vector_bytes == 0;
    }
    return streamed;
}

static void spread_out(const job *work, room *own, const place *at)
{
    for (int64_t k = work->program->reads; k < work->program->operands; k++) {
        if (work->ways[k] == GATHERED) {
            acl_emu_move_range(&work->operands[k], base_of(work, k, at->outer), at->first, at->n, own->rows[k], 1);
        }
    }
}

/* What is said to a kernel that works on rows, which are found later. */
static fused_call call_on(const job *work, const room *own, void *rows[])
{
    static const int64_t no_pitches[MOST_OPERANDS];
    return (fused_call){
        .outs = rows + work->program->reads,
        .ins = (const void *const *)rows,
        .constants = own->constants,
        .kept = own->kept,
        .sums = own->sums,
        .results = own->results,
        .stride = PARTIALS,
        .rows = 1,
        .together = 1,
        .pitches = no_pitches,
        .out_pitches = no_pitches,
    };
}

/* Have the kernel work on a part of a row. */
static void call_kernel(const job *work, room *own, const place *at)
{
    void *rows[MOST_OPERANDS];
    fused_call call = call_on(work, own, rows);
    find_rows(work, own, at, 0, rows);
    call.streamed = passes_by(work, rows);
    work->kernel(&call, at->n);
    spread_out(work, own, at);
}

/* Results with one number for a row (or `n` of them, for as many columns), from where the kernel left them. */
static void store_results(const job *work, room *own, const place *at, size_t n)
{
    const header *program = work->program;
    const size_t stride = work->whole->finish || program->shape == COLUMNS ? sums_apart(work) : 1;
    for (int64_t k = program->reads; k < program->operands; k++) {
        if (work->ways[k] != ONE) {
            continue;
        }
        const operand_view *view = &work->operands[k];
        const double *found = own->results + (size_t)(k - program->reads) * stride;
        char *base = base_of(work, k, at->outer);
        if (n == 1 || lies_in_row(work->program, view)) {
            acl_emu_engine_tiles->store[1][view->dtype](base + offset_of(&view->inner, at->first), found, n);
        } else {
            acl_emu_engine_tiles->store[1][view->dtype](own->rows[k], found, n);
            acl_emu_move_range(view, base, at->first, n, own->rows[k], 1);
        }
    }
}

/* One number from each PARTIALS of them. */
static void reduce_partials(const job *work, room *own)
{
    const char *reductions = work->whole->reductions;
    for (size_t k = 0; reductions[k]; k++) {
        double *found = own->sums + k * PARTIALS;
        *found = reductions[k] == 's' ? acl_emu_engine_tiles->total(found) : acl_emu_engine_tiles->largest[1](found);
    }
}

static void finish_row(const job *work, room *own, int64_t outer)
{
    const place at = {.outer = outer, .n = 1};
    if (work->whole->finish) {
        const fused_call call = {.constants = own->constants, .sums = own->sums, .results = own->results, .stride = PARTIALS};
        reduce_partials(work, own);
        work->whole->finish(&call, 1);
    }
    store_results(work, own, &at, 1);
}

/* Reductions of nothing. */
static void clear_sums(const job *work, room *own, size_t stride)
{
    for (size_t k = 0; work->whole->reductions[k]; k++) {
        const double nothing = work->whole->reductions[k] == 's' ? 0 : -1.0 / 0.0;
        acl_emu_engine_tiles->spread[F64](own->sums + k * stride, &nothing, stride);
    }
}

/* What two parts have come to, put together where the first is: numbers of one reduction, and all. */
static void join_lanes(char reduction, double *here, const double *other, size_t n)
{
    if (reduction == 's') {
        acl_emu_engine_tiles->lane_sum[F64](here, other, n);
    } else {
        acl_emu_engine_tiles->functions[F64][MAXIMUM](here, here, other, NULL, n);
    }
}

static void join(const job *work, double *here, const double *other)
{
    const size_t each = sums_apart(work);
    for (const char *reduction = work->whole->reductions; *reduction; reduction++, here += each, other += each) {
        join_lanes(*reduction, here, other, each);
    }
}

/* Rows whose reductions are finished together; nothing but these differs between them. */
typedef struct {
    double sums[MOST_SUMS * PARTIALS];
    int64_t first, count;
} finished;

static void finish_rows(const job *work, const fused_call *call, int64_t first, int64_t count)
{
    work->whole->finish(call, (size_t)count);
    for (int64_t k = work->program->reads; k < work->program->operands; k++) {
        const operand_view *view = &work->operands[k];
        const double *found = call->results + (size_t)(k - work->program->reads) * call->stride;
        const int together = view->outer.count == 1 && view->outer.stride[0] == view->item;
        for (int64_t row = 0; row < count; row += together ? count : 1) {
            acl_emu_engine_tiles->store[1][view->dtype](base_of(work, k, first + row), found + row, together ? (size_t)count : 1);
        }
    }
}

static void finish_some(const job *work, room *own, finished *some)
{
    const fused_call call = {.constants = own->constants, .sums = some->sums, .results = own->results, .stride = PARTIALS};
    finish_rows(work, &call, some->first, some->count);
    some->first += some->count;
    some->count = 0;
}

static void add_to_finished(const job *work, room *own, finished *some)
{
    reduce_partials(work, own);
    for (int64_t k = 0; k < work->reductions; k++) {
        some->sums[k * PARTIALS + some->count] = own->sums[k * PARTIALS];
    }
    if (++some->count == PARTIALS) {
        finish_some(work, own, some);
    }
}

/* Units */

/* How many of n elements from `first` on are in the same span of every operand. */
static int64_t reached_alike(const job *work, int64_t first, int64_t n)
{
    for (int64_t k = 0; k < work->program->operands; k++) {
        if (work->spans[k] < work->program->inner) {
            const int64_t left = work->spans[k] - first % work->spans[k];
            n = left < n ? left : n;
        }
    }
    return n;
}

/* Elements that lie in pieces: as many whole ones at a time as lie evenly. */
static void run_pieces(const job *work, room *own, int64_t row, int64_t begin, int64_t end)
{
    const int64_t piece = work->piece;
    void *rows[MOST_OPERANDS];
    int64_t to_next[MOST_OPERANDS];
    fused_call call = call_on(work, own, rows);
    call.pitches = to_next;
    call.out_pitches = to_next + work->program->reads;
    for (int64_t first = begin, n; first < end; first += call.rows * n) {
        const int64_t left = piece - first % piece, rest = end - first;
        n = left < rest ? left : rest;
        call.rows = acl_emu_even_pieces(work, piece, first, n == piece ? rest / piece : 1, to_next);
        for (int64_t k = 0; k < work->program->operands; k++) {
            const int found = work->ways[k] == ONE || work->operands[k].unread;
            rows[k] = found ? own->rows[k] : base_of(work, k, row) + offset_of(&work->operands[k].inner, first);
        }
        call.streamed = work->streamed;
        for (int64_t k = work->program->reads; k < work->program->operands; k++) {
            call.streamed &= ((uintptr_t)rows[k] | (uintptr_t)to_next[k]) % acl_emu_engine_tiles->vector_bytes == 0;
        }
        work->kernel(&call, (size_t)n);
    }
}

static void run_map(const job *work, room *own, int64_t unit)
{
    const int64_t row = unit / work->chunks, begin = unit % work->chunks * work->unit_length;
    int64_t end = begin + work->unit_length;
    end = end < work->program->inner ? end : work->program->inner;
    begin_row(work, own, row);
    if (work->piece) {
        run_pieces(work, own, row, begin, end);
        return;
    }
    const int64_t tile = (int64_t)work->tile;
    for (int64_t first = begin, n; first < end; first += n) {
        const int64_t left = tile - (first - begin) % tile; /* the next tile begins where it would anyway: aligned */
        n = reached_alike(work, first, left < end - first ? left : end - first);
        const place at = {.outer = row, .first = first, .n = (size_t)n};
        call_kernel(work, own, &at);
    }
}

/* Neighbours of an outer range, whose elements lie side by side in memory: as many from `begin` on as do. */
static move move_of_rows(const job *work, int64_t operand, int64_t begin, int64_t end, char *rows)
{
    const operand_view *view = &work->operands[operand];
    const int64_t item = view->item, left = view->outer.length[view->outer.count - 1] - begin % view->outer.length[view->outer.count - 1];
    move some = {.lines = base_of(work, operand, begin), .stride = view->inner.stride[0], .step = item, .count = work->program->inner, .item = item};
    some.length = left < end - begin ? left : end - begin;
    some.rows = rows;
    some.by_line = item;
    some.by_element = pitch_of(work, operand);
    some.out = operand >= work->program->reads;
    some.streamed = work->streamed && ((uintptr_t)some.lines | (uintptr_t)some.stride) % acl_emu_engine_tiles->vector_bytes == 0;
    some.ahead = (LINES_AHEAD * CACHE_LINE + some.length * item - 1) / (some.length * item);
    return some;
}

static void move_rows(const job *work, room *own, int64_t operand, int64_t begin, int64_t end)
{
    char *rows = turned_room(work, own, operand, own->side);
    while (begin < end) {
        const move some = move_of_rows(work, operand, begin, end, rows);
        wishes soon = {.count = 0};
        if (!some.out) {
            acl_emu_wish_for(&soon, &some);
            acl_emu_ask(&soon, LINES_AHEAD);
        }
        acl_emu_move_all(&some, &soon);
        rows += some.length * some.by_element;
        begin += some.length;
    }
}

/* What the next rows are read from, where they are so short that it finds room beside these. */
static void wish_for_rows(const job *work, int64_t begin, wishes *soon)
{
    const int64_t left = work->program->outer - begin, end = begin + (left < MOST_TURNED ? left : MOST_TURNED);
    for (int64_t k = 0; k < work->program->reads && work->turned_rows == MOST_TURNED && left; k++) {
        if (work->ways[k] == TURNED) {
            const move next = move_of_rows(work, k, begin, end, NULL);
            acl_emu_wish_for(soon, &next);
        }
    }
}

/* How far it is from a row to the next, by operand; 0 where rows have to be found one by one. */
static int lie_evenly(const job *work, int64_t to_next[])
{
    for (int64_t k = 0; k < work->program->operands; k++) {
        const int way = work->ways[k];
        if (way == GATHERED || (way == IN_MEMORY && work->operands[k].outer.count != 1)) {
            return 0;
        }
        to_next[k] = way == IN_MEMORY ? work->operands[k].outer.stride[0] : way == TURNED ? pitch_of(work, k) : 0;
    }
    return 1;
}

static int has_constants_of_rows(const job *work)
{
    for (int64_t k = 0; k < work->fused_count; k++) {
        if (work->fused_operands[k] >= 0) {
            return 1;
        }
    }
    return 0;
}

/* Rows that are turned while those before them are worked on, some lines at a time: the kernel asks for a pair of cache lines of each, row by row, and
 * when it has asked for all pairs of some lines they are turned. */
typedef struct {
    move moves[MOST_OPERANDS]; /* by operand, of no line where it is not turned */
    int64_t pairs;             /* of a line, at most */
    int64_t asked, turns;      /* lines that a row asks for, and rows until there are enough of them */
    int64_t done;              /* lines that have been turned */
    const char *soon[MOST_OPERANDS];
    int64_t apart[MOST_OPERANDS];
} following;

static int64_t pairs_of(const move *some)
{
    return (some->length * some->item + 2 * CACHE_LINE - 1) / (2 * CACHE_LINE);
}

/* 0 where there are none, or not all of them lie side by side. */
static int begin_following(const job *work, const room *own, int64_t unit, following *next)
{
    const int64_t begin = unit * work->unit_length, left = work->program->outer - begin, end = begin + (left < work->unit_length ? left : work->unit_length);
    int64_t side = 1;
    next->pairs = next->done = 0;
    for (int64_t k = 0; k < work->program->reads; k++) {
        next->moves[k].count = next->apart[k] = 0;
        next->soon[k] = own->rows[k];
        if (work->ways[k] == TURNED) {
            next->moves[k] = move_of_rows(work, k, begin, end, turned_room(work, own, k, !own->side));
            const int64_t pairs = pairs_of(&next->moves[k]), most = acl_emu_engine_tiles->turn[work->operands[k].item][1].side;
            if (next->moves[k].length < end - begin) {
                return 0;
            }
            next->moves[k].at_hand = 1;
            next->pairs = pairs > next->pairs ? pairs : next->pairs;
            side = most > side ? most : side;
        }
    }
    if (!next->pairs) { /* results only */
        return 0;
    }
    next->asked = (work->program->inner * next->pairs + work->turned_rows - 1) / work->turned_rows;
    next->turns = (side + next->asked - 1) / next->asked;
    return 1;
}

/* What the kernel asks for while it works on a row. */
static void ask_for_following(const job *work, following *next, int64_t row)
{
    const int64_t pair = row / next->turns % next->pairs, first = next->done + row % next->turns * next->asked;
    for (int64_t k = 0; k < work->program->reads; k++) {
        const move *some = &next->moves[k];
        if (some->count && pair < pairs_of(some)) {
            next->soon[k] = some->lines + first * some->stride + pair * 2 * CACHE_LINE;
            next->apart[k] = some->stride;
        } else {
            next->apart[k] = 0;
        }
    }
}

static void turn_following(const job *work, following *next)
{
    const int64_t lines = next->turns * next->asked;
    wishes none = {.count = 0};
    for (int64_t k = 0; k < work->program->reads; k++) {
        move some = next->moves[k];
        const int64_t left = some.count - next->done;
        if (left > 0) {
            some.lines += next->done * some.stride;
            some.rows += next->done * some.by_line;
            some.count = left < lines ? left : lines;
            acl_emu_move_all(&some, &none);
        }
    }
    next->done += lines;
}

/* Whether all that is wanted of rows that lie evenly is one number for each. */
static int are_reduced_together(const job *work)
{
    return work->whole->rows[work->program->storage] && work->program->operands == work->program->reads + 1;
}

static void reduce_rows(const job *work, room *own, int64_t begin, int64_t end, const int64_t to_next[], wishes *soon, int64_t asked)
{
    void *rows[MOST_OPERANDS];
    double found[REDUCED_ROWS];
    const place at = {.outer = begin, .n = (size_t)work->program->inner};
    fused_call call = {.ins = (const void *const *)rows, .constants = own->constants, .sums = found, .results = found, .pitches = to_next};
    find_rows(work, own, &at, 0, rows);
    for (int64_t row = begin; row < end; row += call.rows) {
        call.rows = end - row < REDUCED_ROWS ? end - row : REDUCED_ROWS;
        work->whole->rows[work->program->storage](&call, at.n);
        finish_rows(work, &call, row, call.rows);
        rows[0] = (char *)rows[0] + call.rows * to_next[0];
        acl_emu_ask(soon, asked * call.rows);
    }
}

/* Rows from `first` on that lie evenly in memory, and how far it is from one to the next. */
static int64_t even_rows(const job *work, int64_t first, int64_t end, int64_t to_next[])
{
    int64_t count = end - first;
    for (int64_t k = 0; k < work->program->operands; k++) {
        const range_view *outer = &work->operands[k].outer;
        const int64_t last = outer->count - 1, left = outer->count > 1 ? outer->length[last] - first % outer->length[last] : count;
        to_next[k] = outer->stride[last];
        count = left < count ? left : count;
    }
    return count;
}

/* As many rows at a time as lie evenly. */
static void work_on_several(const job *work, room *own, int64_t begin, int64_t end)
{
    void *rows[MOST_OPERANDS];
    int64_t to_next[MOST_OPERANDS];
    fused_call call = call_on(work, own, rows);
    call.stride = padded((size_t)work->program->inner);
    call.together = work->together;
    call.pitches = to_next;
    call.out_pitches = to_next + work->program->reads;
    for (int64_t row = begin; row < end; row += call.rows) {
        const place at = {.outer = row};
        call.rows = even_rows(work, row, end, to_next);
        find_rows(work, own, &at, 0, rows);
        call.streamed = passes_by(work, rows);
        for (int64_t k = work->program->reads; k < work->program->operands; k++) {
            call.streamed &= to_next[k] % (int64_t)acl_emu_engine_tiles->vector_bytes == 0;
        }
        work->kernel(&call, (size_t)work->program->inner);
    }
}

static void work_on_rows(const job *work, room *own, int64_t begin, int64_t end, following *next)
{
    void *rows[MOST_OPERANDS];
    int64_t to_next[MOST_OPERANDS];
    const int even = lie_evenly(work, to_next), differ = has_constants_of_rows(work), together = work->whole->finish && !differ;
    wishes soon = {.count = 0};
    if (!next) {
        wish_for_rows(work, end, &soon);
    }
    const int64_t asked = soon.count ? acl_emu_wished(&soon) / (end - begin) + 1 : 0;
    if (even && !differ && are_reduced_together(work)) {
        reduce_rows(work, own, begin, end, to_next, &soon, asked);
        return;
    }
    finished some = {.first = begin};
    fused_call call = call_on(work, own, rows);
    for (int64_t row = begin; row < end; row++) {
        const place at = {.outer = row, .n = (size_t)work->program->inner};
        if (row == begin || !even) {
            find_rows(work, own, &at, row - begin, rows);
        } else {
            for (int64_t k = 0; k < work->program->operands; k++) {
                rows[k] = (char *)rows[k] + to_next[k];
            }
        }
        if (differ) {
            begin_row(work, own, row);
        }
        call.streamed = passes_by(work, rows);
        if (next) {
            ask_for_following(work, next, row - begin);
            call.soon = next->soon;
            call.apart = next->apart;
        }
        work->kernel(&call, at.n);
        spread_out(work, own, &at);
        if (together) {
            add_to_finished(work, own, &some);
        } else if (work->program->of_rows) {
            finish_row(work, own, row);
        }
        if (asked) {
            acl_emu_ask(&soon, asked);
        }
        if (next && (row - begin + 1) % (next->turns * next->pairs) == 0) {
            turn_following(work, next);
        }
    }
    if (some.count) {
        finish_some(work, own, &some);
    }
    while (next && next->done < work->program->inner) {
        turn_following(work, next);
    }
}

/* What a row comes to whose elements lie in several pieces. */
static void join_pieces(const job *work, room *own, int64_t row)
{
    const header *program = work->program;
    const size_t size = partials_of(work) * sizeof(double);
    double found[MOST_SUMS * PARTIALS];
    for (int64_t piece = 0; piece < program->inner / program->run; piece++) {
        place at = piece_at(program, piece, program->run);
        at.outer = row;
        call_kernel(work, own, &at);
        if (piece) {
            join(work, found, own->sums);
        } else {
            memcpy(found, own->sums, size);
        }
    }
    memcpy(own->sums, found, size);
}

/* Whether elements of a row are reduced where they are, in pieces: one number is all that is wanted of them. */
static int are_reduced_in_pieces(const job *work)
{
    const range_view *inner = &work->operands->inner;
    const int64_t last = inner->count - 1;
    return are_reduced_together(work) && last && inner->stride[last] == work->operands->item && inner->length[last] >= LEAST_PIECE;
}

/* What the elements of a place come to, as many whole pieces at a time as lie evenly. */
static void reduce_pieces(const job *work, room *own, const place *at)
{
    const range_view *inner = &work->operands->inner;
    const int64_t piece = inner->length[inner->count - 1], end = at->first + (int64_t)at->n;
    const int is_sum = *work->whole->reductions == 's';
    double found[REDUCED_ROWS];
    const void *pieces;
    int64_t to_next[MOST_OPERANDS];
    fused_call call = {.ins = &pieces, .sums = found, .pitches = to_next};
    clear_sums(work, own, PARTIALS);
    for (int64_t first = at->first, n; first < end; first += call.rows * n) {
        const int64_t left = piece - first % piece, rest = end - first, whole = rest / piece;
        n = left < rest ? left : rest;
        call.rows = acl_emu_even_pieces(work, piece, first, n < piece ? 1 : whole < REDUCED_ROWS ? whole : REDUCED_ROWS, to_next);
        pieces = base_of(work, 0, at->outer) + offset_of(inner, first);
        work->whole->rows[work->program->storage](&call, (size_t)n);
        if (is_sum) {
            acl_emu_engine_tiles->row_sum[F64](own->sums, found, (size_t)call.rows);
        } else {
            acl_emu_engine_tiles->row_max[F64](own->sums, found, (size_t)call.rows);
        }
    }
}

static void work_on_pieces(const job *work, room *own, int64_t begin, int64_t end)
{
    const int reduced = are_reduced_in_pieces(work);
    for (int64_t row = begin; row < end; row++) {
        begin_row(work, own, row);
        if (reduced) {
            reduce_pieces(work, own, &(place){.outer = row, .n = (size_t)work->program->inner});
        } else {
            join_pieces(work, own, row);
        }
        finish_row(work, own, row);
    }
}

static void run_rows(const job *work, room *own, int64_t unit)
{
    const header *program = work->program;
    const int64_t begin = unit * work->unit_length;
    int64_t end = begin + work->unit_length;
    end = end < program->outer ? end : program->outer;
    for (int64_t k = 0; k < program->reads && own->ready != unit; k++) {
        if (work->ways[k] == TURNED) {
            move_rows(work, own, k, begin, end);
        }
    }
    if (program->run < program->inner) {
        work_on_pieces(work, own, begin, end);
        return;
    }
    if (work->together) {
        work_on_several(work, own, begin, end);
        return;
    }
    following next;
    const int ahead = work->turned_ahead && own->next >= 0 && begin_following(work, own, own->next, &next);
    work_on_rows(work, own, begin, end, ahead ? &next : NULL);
    for (int64_t k = program->reads; k < program->operands; k++) {
        if (work->ways[k] == TURNED) {
            move_rows(work, own, k, begin, end);
        }
    }
    own->ready = ahead ? own->next : -1;
    own->side ^= ahead;
}

/* Columns */

/* Rows of columns that are added up together, so that what they have come to is fetched less often; one by one where the first-level cache holds that
 * and memory is then read in order. */
static int64_t column_rows_together(const job *work, const place *at)
{
    const operand_view *first = work->operands;
    const int in_order = (int64_t)at->n * first->item == first->outer.stride[0] && at->n > ONE_VECTOR && at->n <= IN_ORDER;
    return in_order ? 1 : COLUMN_ROWS;
}

static int lie_turned(const operand_view *view)
{
    return view->outer.count == 1 && view->outer.stride[0] == view->item && view->inner.count == 1;
}

/* Elements of columns, gathered in rows (or spread out from them): where those of a column lie side by side, they are turned. */
static void move_columns(const job *work, room *own, int64_t operand, const place *at, int out)
{
    const operand_view *view = &work->operands[operand];
    const int64_t item = view->item, pitch = (int64_t)gathered_pitch(work, operand);
    char *base = base_of(work, operand, at->outer), *row = own->rows[operand];
    if (!out && view->outer.count == 1 && lies_in_row(work->program, view)) {
        const char *from = base + offset_of(&view->inner, at->first);
        acl_emu_engine_tiles->lay_side_by_side(row, pitch, from, view->outer.stride[0], at->rows, (int64_t)at->n * item, 0, 0);
        return;
    }
    if (lie_turned(view)) {
        move all = {.lines = base + at->first * view->inner.stride[0], .stride = view->inner.stride[0], .step = item, .item = item};
        all.count = (int64_t)at->n;
        all.length = at->rows;
        all.rows = row;
        all.by_line = item;
        all.by_element = pitch;
        all.out = out;
        all.streamed = work->streamed && ((uintptr_t)all.lines | (uintptr_t)all.stride) % acl_emu_engine_tiles->vector_bytes == 0;
        all.at_hand = 1;
        wishes none = {.count = 0};
        acl_emu_move_all(&all, &none);
        return;
    }
    for (int64_t k = 0; k < at->rows; k++, row += pitch) {
        acl_emu_move_range(view, base_of(work, operand, at->outer + k), at->first, at->n, row, out);
    }
}

/* What the kernel asks for while it works on columns: as much of the next ones, row by row, or as it lies in memory where these are turned. */
typedef struct {
    const char *soon[MOST_OPERANDS];
    int64_t apart[MOST_OPERANDS];
} asked_columns;

static asked_columns ask_for_columns(const job *work, const room *own, const place *at)
{
    asked_columns next;
    for (int64_t k = 0; k < work->program->reads; k++) {
        const operand_view *view = &work->operands[k];
        const int known = at->n && !view->unread && view->outer.count == 1 && (lies_in_row(work->program, view) || lie_turned(view));
        next.soon[k] = known ? base_of(work, k, at->outer) + offset_of(&view->inner, at->first) : own->rows[k];
        next.apart[k] = !known ? 0 : lie_turned(view) ? (int64_t)at->n * view->item : view->outer.stride[0];
    }
    return next;
}

/* What is said to a kernel about some rows of columns. */
static fused_call call_on_columns(const job *work, const room *own, void *rows[], const int64_t pitches[], const asked_columns *asked)
{
    const int64_t reads = work->program->reads;
    return (fused_call){
        .outs = rows + reads,
        .ins = (const void *const *)rows,
        .constants = own->constants,
        .kept = own->kept,
        .sums = own->sums,
        .results = own->results,
        .stride = sums_apart(work),
        .pitches = pitches,
        .out_pitches = pitches + reads,
        .soon = asked->soon,
        .apart = asked->apart,
    };
}

/* Have the kernel work on some rows of columns, or on all of them; as many as are `folded` are one row, `next` are those that follow, or none. */
static void call_columns(const job *work, room *own, const place *at, int64_t folded, const place *next)
{
    const header *program = work->program;
    const int64_t reads = program->reads;
    void *rows[MOST_OPERANDS];
    int64_t pitches[MOST_OPERANDS];
    int streamed = work->streamed;
    for (int64_t k = 0; k < program->operands; k++) {
        const operand_view *view = &work->operands[k];
        const int in_memory = work->ways[k] == IN_MEMORY;
        rows[k] = in_memory ? base_of(work, k, at->outer) + offset_of(&view->inner, at->first) : own->rows[k];
        pitches[k] = in_memory ? folded * view->outer.stride[0] : (int64_t)gathered_pitch(work, k);
        if (k < reads && work->ways[k] == GATHERED) {
            move_columns(work, own, k, at, 0);
        }
        streamed &= k < reads || (in_memory && ((uintptr_t)rows[k] | (uintptr_t)pitches[k]) % acl_emu_engine_tiles->vector_bytes == 0);
    }
    const asked_columns asked = ask_for_columns(work, own, next);
    fused_call call = call_on_columns(work, own, rows, pitches, &asked);
    call.streamed = streamed;
    call.rows = at->rows / folded;
    call.together = column_rows_together(work, at);
    work->kernel(&call, at->n);
    for (int64_t k = reads; k < program->operands; k++) {
        if (work->ways[k] == GATHERED) {
            move_columns(work, own, k, at, 1);
        }
    }
}

/* The same where runs of columns lie evenly in memory: nothing has to be looked for. */
static void call_group(const job *work, const room *own, int64_t unit, int is_last)
{
    const header *program = work->program;
    void *rows[MOST_OPERANDS];
    int64_t pitches[MOST_OPERANDS];
    asked_columns asked;
    int streamed = work->streamed;
    for (int64_t k = 0; k < program->operands; k++) {
        const int64_t to_next = to_next_run(work, k);
        rows[k] = work->memory[k] + unit * to_next;
        pitches[k] = work->operands[k].outer.stride[0];
        if (k < program->reads) {
            asked.soon[k] = is_last ? own->rows[k] : (char *)rows[k] + to_next;
            asked.apart[k] = is_last ? 0 : pitches[k];
        } else {
            streamed &= ((uintptr_t)rows[k] | (uintptr_t)pitches[k]) % acl_emu_engine_tiles->vector_bytes == 0;
        }
    }
    fused_call call = call_on_columns(work, own, rows, pitches, &asked);
    call.streamed = streamed;
    call.rows = program->outer;
    call.together = COLUMN_ROWS;
    work->kernel(&call, (size_t)program->run);
}

/* From what columns have come to, to results. */
static void finish_columns(const job *work, room *own, int64_t first, size_t n)
{
    const fused_call call = {.constants = own->constants, .sums = own->sums, .results = own->results, .stride = sums_apart(work)};
    const place at = {.first = first, .n = n};
    if (work->whole->finish) {
        work->whole->finish(&call, n);
    }
    store_results(work, own, &at, n);
}

/* The columns of a unit, of all rows or of a part of them: units that follow each other are of the same rows. */
static place columns_at(const job *work, int64_t unit)
{
    const header *program = work->program;
    const int64_t groups = work->units / work->chunks, begin = unit / groups * program->block, left = program->outer - begin;
    place at = piece_at(program, unit % groups, program->lanes);
    at.outer = begin;
    at.rows = left < program->block ? left : program->block;
    return at;
}

/* How far it is, in elements, from a row of columns to the next, the same in all that is read; 0 where it is not, or columns have to be gathered. */
static int64_t even_width(const job *work)
{
    const operand_view *first = work->operands;
    for (int64_t k = 0; k < work->program->reads; k++) {
        const operand_view *view = &work->operands[k];
        if (work->ways[k] != IN_MEMORY || view->unread || view->outer.stride[0] * first->item != first->outer.stride[0] * view->item) {
            return 0;
        }
    }
    return first->outer.stride[0] / first->item;
}

/* Few columns that fill no vectors: as many rows of them as fill whole cache lines are one row, along with what lies between them where that is little. */
static int64_t rows_in_one(const job *work, const place *all)
{
    const int64_t n = (int64_t)all->n, width = even_width(work);
    if (n >= MOST_FOLDED || n % ONE_VECTOR == 0 || width < n || width > 2 * n || work->reductions != 1 || has_passes(work)) {
        return 1;
    }
    int64_t together = FOLDED / (width & -width);
    while (together * width > FOLDED_COLUMNS) {
        together /= 2;
    }
    return together;
}

/* The same with these: what their columns come to is put together. Behind the last row there may be nothing to be read. Returns how many rows that were. */
static int64_t fold_columns(const job *work, room *own, const place *all)
{
    const int64_t together = rows_in_one(work, all), width = even_width(work);
    const int64_t rows = (all->rows - (width > (int64_t)all->n)) / together * together;
    if (together == 1 || !rows) {
        return 0;
    }
    double found[FOLDED_COLUMNS], *const sums = own->sums;
    const size_t columns = (size_t)(together * width);
    own->sums = found;
    clear_sums(work, own, columns);
    call_columns(work, own, &(place){.outer = all->outer, .first = all->first, .rows = rows, .n = columns}, together, &(place){.n = 0});
    own->sums = sums;
    for (int64_t k = 0; k < together; k++) {
        join_lanes(*work->whole->reductions, sums, found + k * width, all->n);
    }
    return rows;
}

/* Columns side by side. */
static void run_columns(const job *work, room *own, int64_t unit)
{
    if (work->even_groups) {
        call_group(work, own, unit, unit + 1 == work->units || (unit + 1) % work->in_turn == 0);
        return;
    }
    const place all = columns_at(work, unit);
    place next = {.n = 0};
    if (unit + 1 < work->units && (unit + 1) % work->in_turn) {
        next = columns_at(work, unit + 1);
    }
    const int64_t most = any_is(work, GATHERED) ? gathered_rows(work) : all.rows;
    if (!has_passes(work)) {
        clear_sums(work, own, sums_apart(work));
    }
    for (int64_t k = fold_columns(work, own, &all); k < all.rows; k += most) {
        place at = all;
        at.outer += k;
        at.rows = all.rows - k < most ? all.rows - k : most;
        call_columns(work, own, &at, 1, &next);
    }
    if (work->partials) {
        const size_t size = partials_of(work);
        memcpy(work->partials + (size_t)unit * size, own->sums, size * sizeof(double));
    } else {
        finish_columns(work, own, all.first, all.n);
    }
}

/* TOTALS: parts of a long row; what they found is combined in order when all are through. */
static void run_part(const job *work, room *own, int64_t unit)
{
    const size_t size = partials_of(work);
    place at = piece_at(work->program, unit % work->chunks, work->unit_length);
    at.outer = unit / work->chunks;
    begin_row(work, own, at.outer);
    if (work->ways[0] == GATHERED && are_reduced_in_pieces(work)) {
        reduce_pieces(work, own, &at);
    } else {
        call_kernel(work, own, &at);
    }
    memcpy(work->partials + (size_t)unit * size, own->sums, size * sizeof(double));
}

/* What `count` units have found, the first of them and then every `step`th, put together in order. */
static void join_partials(const job *work, room *own, int64_t first, int64_t count, int64_t step)
{
    const size_t size = partials_of(work);
    const double *found = work->partials + (size_t)first * size;
    memcpy(own->sums, found, size * sizeof(double));
    for (int64_t unit = 1; unit < count; unit++) {
        found += (size_t)step * size;
        join(work, own->sums, found);
    }
}

void acl_emu_finish_whole(const job *work, room *own)
{
    if (work->program->shape == COLUMNS) {
        const int64_t groups = work->units / work->chunks;
        for (int64_t group = 0; group < groups; group++) {
            const place at = columns_at(work, group);
            join_partials(work, own, group, work->chunks, groups);
            finish_columns(work, own, at.first, at.n);
        }
        return;
    }
    for (int64_t row = 0; row < work->program->outer; row++) {
        join_partials(work, own, row * work->chunks, work->chunks, 1);
        begin_row(work, own, row);
        finish_row(work, own, row);
    }
}

run_unit *const acl_emu_run_whole[] = {run_map, acl_emu_run_block, run_rows, run_columns, run_part};

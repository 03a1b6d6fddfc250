/* Loop nests: which loops, over what, in which order, for a program and the layouts of its operands.
 *
 * Programs without reductions go through all elements (MAP), or through blocks where operands lie along different axes (BLOCKS). Others go along the
 * reduced axes, some rows or a part of one at a time (ROWS, TOTALS), or along the other axes, an accumulator for each column (COLUMNS): as memory lies. */
#include "engine_program.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    SHORT_ROW = 32,           /* shorter rows are better worked on side by side */
    SHORT_LINE = 64,          /* the same of elements that are transposed: what comes between lines takes as long as those */
    LEAST_COLUMNS = 8,        /* side by side in memory, for columns to be worked on as they lie */
    BLOCK_SIDE = 16,          /* a transposed operand with both sides at least as long is worked on in blocks */
    BROADCAST_ROW = 512,      /* from which on a number for a row is not repeated for each element */
    LEAST_RUN = 48,           /* elements that lie side by side in all operands, from which on they are worked on where they are */
    LEAST_MIXED_RUN = 512,    /* the same where other operands are gathered anyway */
    LEAST_COLUMN_RUN = 32,
    LEAST_ROW_RUN = 128,
    STRIP = 512,              /* columns that go through all phases together */
    SAVED_BYTES = 1 << 20,     /* of what is saved of columns from one phase to the next */
    PART_ROWS = 512,          /* of the parts that tall columns are cut into, at least; and how many elements these have */
    PART_ELEMENTS = 1 << 18,
    FEW_ELEMENTS = 1 << 15,
    PARTS = 16,
    FOLDED_LANES = 512 /* that several rows of few columns make together */
};

typedef struct {
    int64_t axis[MOST_DIMS], count;
} axes;

typedef struct {
    const program *code;
    const program_operand *operands;
    const layout *layouts;
    int64_t rank, domain[MOST_DIMS];
    int64_t reduced; /* axes, as bits, counted from the front */
    int64_t view[MOST_OPERANDS][MOST_DIMS]; /* strides along the axes of the domain; 0 where an operand broadcasts */
    int64_t threads;
} planner;

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int is_used(const planner *all, int64_t operand)
{
    return !all->operands[operand].unread;
}

static int64_t item_in(const planner *all, int64_t operand)
{
    return item_of(all->operands[operand].dtype);
}

/* The domain: all axes that operands have, as they broadcast against each other. */
static int find_domain(planner *all)
{
    const program *code = all->code;
    for (int64_t k = 0; k < code->operands; k++) {
        const layout *one = &all->layouts[k];
        for (int64_t a = 0; a < one->rank; a++) {
            const int64_t from_end = k < code->reads ? one->rank - 1 - a : all->operands[k].axes[a];
            all->rank = from_end + 1 > all->rank ? from_end + 1 : all->rank;
        }
    }
    for (int64_t a = 0; a < MOST_DIMS; a++) {
        all->domain[a] = 1;
    }
    for (int64_t k = 0; k < code->operands; k++) {
        const layout *one = &all->layouts[k];
        for (int64_t a = 0; a < one->rank; a++) {
            const int64_t from_end = k < code->reads ? one->rank - 1 - a : all->operands[k].axes[a];
            if (one->shape[a] == 0 || (from_end < 0 && one->shape[a] != 1)) {
                return 0;
            }
            if (from_end < 0 || one->shape[a] == 1) {
                continue;
            }
            const int64_t axis = all->rank - 1 - from_end;
            if (all->domain[axis] != 1 && all->domain[axis] != one->shape[a]) {
                return 0;
            }
            all->domain[axis] = one->shape[a];
            all->view[k][axis] = one->stride[a];
        }
    }
    for (int64_t axis = 0; axis < all->rank; axis++) {
        const int64_t bit = code->axes >> (all->rank - 1 - axis) & 1;
        all->reduced |= bit << axis;
    }
    return !(code->axes >> all->rank); /* what is reduced is there */
}

/* Whether every result has a place of its own for every element, or for every row. */
static int results_fit(const planner *all)
{
    for (int64_t k = all->code->reads; k < all->code->operands; k++) {
        for (int64_t axis = 0; axis < all->rank; axis++) {
            const int along = all->domain[axis] != 1 && !(all->operands[k].of_rows && (all->reduced >> axis & 1));
            if (along && all->view[k][axis] == 0) {
                return 0;
            }
        }
    }
    return 1;
}

static int64_t length_of(const planner *all, const axes *some)
{
    int64_t length = 1;
    for (int64_t k = 0; k < some->count; k++) {
        length *= all->domain[some->axis[k]];
    }
    return length;
}

/* Bytes between neighbours along an axis, whichever of them lies first. */
static int64_t distance(const planner *all, int64_t operand, int64_t axis)
{
    return llabs(all->view[operand][axis]);
}

/* Axes from the widest stride of an operand to the narrowest: those that the loops should have outside and inside. */
static axes ordered_axes(const planner *all, int64_t operand, int64_t reduced, int by_stride)
{
    axes found = {.count = 0};
    for (int64_t axis = 0; axis < all->rank; axis++) {
        if (all->domain[axis] == 1 || (reduced >= 0 && (all->reduced >> axis & 1) != reduced)) {
            continue;
        }
        int64_t place = found.count++;
        for (; place && by_stride && distance(all, operand, found.axis[place - 1]) < distance(all, operand, axis); place--) {
            found.axis[place] = found.axis[place - 1];
        }
        found.axis[place] = axis;
    }
    return found;
}

/* Lengths and strides of a range of an operand, its axes merged where one continues the other. */
static range_view range_of(const planner *all, int64_t operand, const axes *some, int merged)
{
    range_view range = {.count = 0};
    for (int64_t k = 0; k < some->count; k++) {
        const int64_t length = all->domain[some->axis[k]], stride = all->view[operand][some->axis[k]], last = range.count - 1;
        if (merged && range.count && range.stride[last] == stride * length) {
            range.length[last] *= length;
            range.stride[last] = stride;
        } else {
            range.length[range.count] = length;
            range.stride[range.count++] = stride;
        }
    }
    if (!range.count) {
        range = (range_view){.count = 1, .length = {1}};
    }
    return range;
}

/* The axis that an operand is narrowest along; -1 where it is one number. */
static int64_t narrowest(const planner *all, int64_t operand)
{
    int64_t found = -1;
    for (int64_t axis = 0; axis < all->rank; axis++) {
        const int64_t stride = distance(all, operand, axis);
        if (all->domain[axis] != 1 && stride && (found < 0 || stride < distance(all, operand, found))) {
            found = axis;
        }
    }
    return found;
}

/* The operand that decides the order of all elements: one that most lie alike with, in lines not too short, a read at best. A result is transposed with
 * fewer steps than a read, which is copied before. */
static int64_t pace_of(const planner *all)
{
    int64_t best = all->code->reads, best_rank = -1;
    for (int64_t k = 0; k < all->code->operands; k++) {
        int complete = is_used(all, k);
        for (int64_t axis = 0; axis < all->rank; axis++) {
            complete &= all->domain[axis] == 1 || all->view[k][axis] != 0;
        }
        const int64_t along = narrowest(all, k);
        if (!complete || along < 0) {
            continue;
        }
        int64_t alike = 0;
        for (int64_t other = 0; other < all->code->operands; other++) {
            int whole = is_used(all, other);
            for (int64_t axis = 0; axis < all->rank; axis++) {
                whole &= all->domain[axis] == 1 || all->view[other][axis] != 0;
            }
            alike += whole && narrowest(all, other) == along;
        }
        const int64_t rank = (alike * SHORT_LINE + least_of(all->domain[along], SHORT_LINE - 1)) * 2 + (k < all->code->reads);
        if (rank > best_rank) {
            best = k;
            best_rank = rank;
        }
    }
    return best;
}

/* The axis that some operand is contiguous along, where that is not the one that the loops run along; -1 where there is none. */
static int64_t transposed_axis(const planner *all, const axes *order)
{
    const int64_t last = order->count ? order->axis[order->count - 1] : 0;
    if (order->count < 2 || all->domain[last] < BLOCK_SIDE) {
        return -1;
    }
    for (int64_t k = 0; k < all->code->operands; k++) {
        for (int64_t n = 0; n + 1 < order->count && is_used(all, k); n++) {
            const int64_t axis = order->axis[n], item = item_in(all, k);
            if (all->view[k][axis] == item && all->domain[axis] >= BLOCK_SIDE && distance(all, k, last) > item) {
                return axis;
            }
        }
    }
    return -1;
}

/* The read that decides which axis is the inner one: the largest. */
static int64_t leader_of(const planner *all)
{
    int64_t best = 0, most = -1;
    for (int64_t k = 0; k < all->code->reads; k++) {
        int64_t size = is_used(all, k) ? 1 : 0;
        for (int64_t a = 0; a < all->layouts[k].rank; a++) {
            size *= all->layouts[k].shape[a];
        }
        if (size > most) {
            best = k;
            most = size;
        }
    }
    return best;
}

/* Along the rows, or along all columns at once, wherever memory is contiguous; short rows are taken side by side. */
static int in_columns(const planner *all, int64_t leader, const axes *reduced, const axes *others)
{
    int64_t along = -1;
    for (int64_t axis = 0; axis < all->rank; axis++) {
        const int64_t stride = all->domain[axis] == 1 ? 0 : distance(all, leader, axis);
        if (stride && (along < 0 || stride < distance(all, leader, along) || (stride == distance(all, leader, along) && (all->reduced >> axis & 1)))) {
            along = axis;
        }
    }
    const int64_t length = length_of(all, reduced), rows = length_of(all, others);
    if (along < 0 || (all->reduced >> along & 1)) {
        return length < SHORT_ROW && rows > 1; /* however they lie, so that sums of few numbers are the same in every layout */
    }
    /* Results that lie along the rows: it is faster to transpose what is read, in squares, than to scatter what is written. */
    int across = length >= SHORT_ROW && rows >= SHORT_ROW;
    for (int64_t k = all->code->reads; k < all->code->operands; k++) {
        const int64_t narrow = narrowest(all, k);
        across &= narrow >= 0 && (all->reduced >> narrow & 1);
    }
    if (across) {
        return 0;
    }
    return all->domain[along] >= LEAST_COLUMNS || length < SHORT_ROW;
}

/* Whether some reads have one value for a whole row of these axes. */
static int has_row_values(const planner *all, const axes *inner)
{
    for (int64_t k = 0; k < all->code->reads; k++) {
        int one = all->operands[k].dtype != BOOL8 && is_used(all, k);
        for (int64_t n = 0; n < inner->count; n++) {
            one &= all->view[k][inner->axis[n]] == 0;
        }
        if (one) {
            return 1;
        }
    }
    return 0;
}

/* How many elements of the inner range lie side by side in all operands; all of them, where they have to be gathered anyway. */
static int64_t run_of(const planner *all, const axes *inner, int64_t shape)
{
    const int64_t whole = length_of(all, inner);
    int64_t run = whole;
    int mixed = 0;
    for (int64_t k = 0; k < all->code->operands; k++) {
        if (!is_used(all, k)) {
            continue;
        }
        const range_view range = range_of(all, k, inner, 1);
        const int64_t last = range.count - 1;
        if (range.stride[last] == item_in(all, k)) {
            run = least_of(run, range.length[last]);
        } else if (range.count > 1 || range.stride[0] != 0) {
            mixed = 1;
            run = shape == MAP ? run : least_of(run, range.length[last]);
        }
    }
    const int64_t least = shape == COLUMNS ? LEAST_COLUMN_RUN : shape == ROWS ? LEAST_ROW_RUN : mixed ? LEAST_MIXED_RUN : LEAST_RUN;
    return run >= least ? run : whole;
}

/* Rows of few columns that lie evenly, side by side: some of them are one of the nest. The axes of columns become those of an inner range of several rows. */
static int64_t rows_folded(const planner *all, const axes *reduced, const axes *others)
{
    const int64_t columns = length_of(all, others), rows = length_of(all, reduced);
    if (!all->code->in_parts || all->code->ordered || columns * 2 > FOLDED_LANES || rows < 8) {
        return 0;
    }
    for (int64_t k = 0; k < all->code->reads; k++) {
        const range_view down = range_of(all, k, reduced, 1), across = range_of(all, k, others, 1);
        const int even = down.count == 1 && across.count == 1;
        const int dense = even && across.stride[0] == (columns == 1 ? across.stride[0] : item_in(all, k)) && down.stride[0] == columns * item_in(all, k);
        const int repeated = even && down.stride[0] == 0 && across.stride[0] == (columns == 1 ? 0 : item_in(all, k));
        const int one = even && down.stride[0] == 0 && across.stride[0] == 0;
        if (is_used(all, k) && !dense && !repeated && !one) {
            return 0;
        }
    }
    return least_of(FOLDED_LANES / columns, rows);
}

static void fold(const planner *all, nest *loops, operand_view *views, const axes *reduced, const axes *others, int64_t rows)
{
    const int64_t columns = length_of(all, others), length = length_of(all, reduced);
    loops->folded = columns;
    loops->inner = loops->lanes = loops->run = rows * columns;
    loops->outer = parts_of(length, rows);
    loops->last = (length - (loops->outer - 1) * rows) * columns;
    loops->block = parts_of(loops->block, rows);
    for (int64_t k = 0; k < all->code->reads; k++) {
        const int64_t item = item_in(all, k);
        const int dense = range_of(all, k, reduced, 1).stride[0] != 0, one = !dense && range_of(all, k, others, 1).stride[0] == 0;
        views[k].outer = (range_view){.count = 1, .length = {loops->outer}, .stride = {dense ? rows * columns * item : 0}};
        if (dense || one) {
            views[k].inner = (range_view){.count = 1, .length = {rows * columns}, .stride = {dense ? item : 0}};
        } else {
            views[k].inner = (range_view){.count = 2, .length = {rows, columns}, .stride = {0, item}};
        }
    }
}

/* Rows of a part of columns: all, unless there are many of them, and what belongs to parts is put together in the end. */
static int64_t part_rows(const planner *all, int64_t rows, int64_t columns, int64_t lanes)
{
    const int64_t elements = most_of(FEW_ELEMENTS, least_of(PART_ELEMENTS, rows * columns / PARTS));
    const int64_t part = most_of(PART_ROWS, elements / columns / PART_ROWS * PART_ROWS);
    return all->code->in_parts && rows >= 2 * part && columns <= 8 * lanes ? part : rows;
}

static int64_t column_lanes(const planner *all, int64_t tile, int64_t rows, int64_t columns)
{
    int64_t lanes = least_of(tile, STRIP);
    if (all->code->saved) {
        lanes = least_of(lanes, most_of(64, SAVED_BYTES / (all->code->saved * rows * all->code->width)));
    }
    const int64_t strips = all->code->in_parts ? 4 : 8; /* for threads; rows are cut into parts as well, where they can be */
    return most_of(16, least_of(lanes, parts_of(columns, strips * 16) * 16));
}

/* Bytes of an operand that lie before its first element, or all from its lowest to its highest. */
static int64_t extent_of(const planner *all, int64_t operand, int before)
{
    int64_t extent = before ? 0 : item_in(all, operand);
    for (int64_t a = 0; a < all->layouts[operand].rank; a++) {
        const int64_t stride = all->layouts[operand].stride[a];
        extent += stride < 0 || !before ? (all->layouts[operand].shape[a] - 1) * llabs(stride) : 0;
    }
    return extent;
}

static void plan_map(const planner *all, nest *loops, axes *outer, axes *inner)
{
    const axes order = ordered_axes(all, pace_of(all), -1, 1);
    const int64_t along = transposed_axis(all, &order);
    *outer = (axes){.count = 0};
    *inner = order;
    if (along >= 0) {
        loops->shape = BLOCKS;
        loops->block = all->domain[along];
        for (int64_t n = 0; n + 1 < order.count; n++) {
            if (order.axis[n] != along) {
                outer->axis[outer->count++] = order.axis[n];
            }
        }
        *inner = (axes){{along, order.axis[order.count - 1]}, 2};
        return;
    }
    loops->shape = MAP;
    for (int64_t cut = 0; cut < order.count; cut++) {
        axes rest = {.count = order.count - cut};
        memcpy(rest.axis, order.axis + cut, (size_t)rest.count * sizeof rest.axis[0]);
        if (has_row_values(all, &rest)) {
            if (length_of(all, &rest) >= least_of(TILE_BYTES / all->code->width / 2, BROADCAST_ROW)) {
                *inner = rest;
                outer->count = cut;
                memcpy(outer->axis, order.axis, (size_t)cut * sizeof order.axis[0]);
            }
            return;
        }
    }
}

EXPORT int64_t acl_emu_engine_nest(const program *code, const layout *layouts, int64_t threads, int64_t *numbers, int64_t capacity)
{
    const int64_t *words = (const int64_t *)code;
    planner all = {.code = code, .operands = (const program_operand *)(words + code->operand_at), .layouts = layouts, .threads = threads};
    const int64_t size = (int64_t)(sizeof(nest) + (size_t)code->operands * sizeof(operand_view)) / 8 + code->size;
    if (size > capacity || !find_domain(&all) || !results_fit(&all)) {
        return 0;
    }
    nest *loops = (nest *)numbers;
    operand_view *views = (operand_view *)(loops + 1);
    *loops = (nest){.size = size, .operand_at = sizeof(nest) / 8, .program_at = size - code->size, .elements = 1};
    memcpy(numbers + loops->program_at, code, (size_t)code->size * 8);
    for (int64_t axis = 0; axis < all.rank; axis++) {
        loops->elements *= all.domain[axis];
    }
    const int64_t tile = TILE_BYTES / code->width;
    axes outer, inner;
    int64_t folded = 0;
    if (!all.reduced) {
        plan_map(&all, loops, &outer, &inner);
    } else {
        const int64_t leader = leader_of(&all);
        const axes reduced = ordered_axes(&all, leader, 1, !code->ordered), others = ordered_axes(&all, leader, 0, 1);
        folded = rows_folded(&all, &reduced, &others);
        const int side_by_side = in_columns(&all, leader, &reduced, &others);
        folded = side_by_side || length_of(&all, &others) > 1 ? folded : 0; /* one long row is no column */
        loops->shape = side_by_side || folded ? COLUMNS : ROWS;
        outer = loops->shape == COLUMNS ? reduced : others;
        inner = loops->shape == COLUMNS ? others : reduced;
    }
    loops->outer = length_of(&all, &outer);
    loops->inner = length_of(&all, &inner);
    if (loops->shape == ROWS && code->in_parts && !code->ordered && loops->inner > TOTAL_ELEMENTS) {
        loops->shape = TOTALS;
    }
    const int whole = loops->shape == BLOCKS || (loops->shape == ROWS && loops->inner <= tile); /* rows that share a tile, or fill one, are gathered */
    loops->run = whole ? loops->inner : run_of(&all, &inner, loops->shape);
    for (int64_t k = 0; k < code->operands; k++) {
        views[k] = (operand_view){.dtype = all.operands[k].dtype, .item = item_in(&all, k), .unread = all.operands[k].unread, .turn = all.operands[k].turn};
        views[k].extent = extent_of(&all, k, 0);
        views[k].before = extent_of(&all, k, 1);
        views[k].outer = range_of(&all, k, &outer, 1);
        views[k].inner = range_of(&all, k, &inner, loops->shape != BLOCKS);
        if (loops->shape == BLOCKS && (views[k].unread || (!views[k].inner.stride[0] && !views[k].inner.stride[1]))) {
            views[k].inner = (range_view){.count = 1, .length = {1}};
        }
    }
    if (loops->shape == COLUMNS) {
        loops->lanes = least_of(column_lanes(&all, tile, loops->outer, loops->inner), parts_of(loops->run, 16) * 16);
        loops->block = part_rows(&all, loops->outer, loops->inner, loops->lanes);
        if (folded > 1) {
            fold(&all, loops, views, &outer, &inner, folded);
        }
    }
    return size;
}

/* Programs as acl_emu/engine/program.py writes them, and what the threads that run one share. */
#ifndef ACL_EMU_ENGINE_PROGRAM_H
#define ACL_EMU_ENGINE_PROGRAM_H

#include "engine.h"

#include <stdatomic.h>

/* The layout of a program: numbers of 64 bits. */

typedef struct {
    int64_t count, length[MOST_DIMS], stride[MOST_DIMS]; /* strides in bytes; one dimension that is contiguous where possible */
} range_view;

typedef struct {
    int64_t dtype, item;
    int64_t extent;   /* bytes from the address on that may be touched */
    int64_t in_place; /* a write that may lie exactly on a read */
    int64_t unread;   /* a read that no result depends on */
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
    int64_t lane;  /* the type of lanes: float, double or, without functions that need one of these, any other */
    int64_t shape; /* MAP, ... */
    int64_t outer, inner;
    int64_t reads, operands, slots, constants, kept, sums, phases;
    int64_t prologue_end;
    int64_t block; /* BLOCKS: length of its last dimension but one; COLUMNS of whole kernels: rows of a part */
    int64_t lanes; /* in a tile, and in a column of COLUMNS */
    int64_t fused, way, storage; /* a kernel that was compiled as a whole, or -1, how it is evaluated, and the type of its elements */
    int64_t of_rows;             /* writes, as bits, that get one number of each row from it */
    int64_t run;                 /* of the inner range, as many elements lie side by side in memory: units of COLUMNS and TOTALS, pieces of ROWS, and tiles of MAP in steps are cut within them */
    int64_t operand_at, constant_at, phase_at, step_at, fused_constant_at, fused_operand_at;
} header;

/* The first three are known to acl_emu/engine/program.py. */
enum {
    MOST_OPERANDS = 32, MOST_SLOTS = 64, MOST_SUMS = 8,
    CHUNK_TILES = 16, MOST_CHUNK_TILES = 256, LEAST_UNITS = 16, TOTAL_TILES = 64, /* of units, and units of a thread */
    BLOCK_ROWS = 64, MORE_BLOCK_ROWS = 128, BLOCK_COLUMNS = 256, MOST_TURNED = 128, /* of blocks, and rows that are turned together */
    LEFT_BYTES = 1 << 18, /* of results that wait until they are turned */
    THREADED_LANES = 1 << 16, MOST_SHARES = 16
};

typedef struct {
    const header *program;
    const operand_view *operands;
    const phase *phases;
    const step *steps;
    const double *constants, *fused_constants;
    const int64_t *fused_operands; /* reads whose number of a row is a constant, -1 for the others */
    int64_t fused_count;
    const fused_entry *whole; /* a kernel compiled as a whole, or NULL, and what of it is called */
    fused_kernel *kernel;
    int64_t reductions;
    unsigned char ways[MOST_OPERANDS]; /* whole kernels: how the elements of a row are reached, see engine_whole.c */
    int64_t spans[MOST_OPERANDS], periods[MOST_OPERANDS]; /* MAP of whole kernels: elements that are reached alike, and after how many they repeat themselves */
    char *memory[MOST_OPERANDS];
    int large;    /* the caches do not hold all operands */
    int streamed; /* results pass by the caches */
    size_t lane_size, tile;
    int64_t units, in_turn; /* how many, and how many a thread takes at a time */
    int64_t unit_length;    /* lanes, or rows, of a unit */
    int64_t block_rows, block_columns; /* BLOCKS: of a unit, and columns that are worked on at a time */
    int turned_later;                  /* BLOCKS: results, while the rows of the next block are worked on */
    int64_t turned_rows;    /* ROWS of whole kernels: those gathered together */
    int64_t piece;          /* MAP of whole kernels that take several rows: elements that lie side by side in all operands and are one; else 0 */
    int even_groups;        /* COLUMNS of whole kernels that have passes: those of a unit are a run, read and written where they are, and all runs lie evenly */
    int64_t together;       /* ROWS of whole kernels that take several: those that go through a phase together; else 0 */
    int turned_ahead;       /* ROWS: while those before them are worked on */
    int64_t chunks;      /* MAP, TOTALS: units of a row; COLUMNS: parts of all rows */
    double *partials;    /* TOTALS, COLUMNS in parts: what each unit found */
    int64_t shares; /* units are divided among threads, who take from each other what is left */
    atomic_int_fast64_t workers, taken[MOST_SHARES];
    atomic_int failed;
} job;

/* Cache lines that are needed soon: asked for bit by bit while others are moved, so that memory is never idle. */
typedef struct {
    const char *line;
    int64_t stride, lines, bytes;
} wish;

typedef struct {
    wish wishes[MOST_OPERANDS];
    int64_t count, next, byte; /* how many there are, and what is asked for next */
} wishes;

/* Where a tile lies: of the inner range from `first` on, or a block of two dimensions. */
typedef struct {
    int64_t outer, first;
    size_t n;
    int64_t i, j, rows, columns;
} place;

/* Room of one thread: registers, what a tile gathers, kept rows, sums. */
typedef struct {
    char *registers;
    size_t size;
    void *slot[MOST_SLOTS];
    char *kept[MOST_SLOTS];
    void *sum[MOST_SUMS];
    char *gathered; /* a tile of any type */
    char *rows[MOST_OPERANDS]; /* whole kernels and blocks: operands that do not lie in a row */
    const char *held[MOST_OPERANDS]; /* MAP: what the room of an operand that repeats itself was filled from */
    void *line[MOST_OPERANDS]; /* BLOCKS: where the row is that is worked on */
    double constants[MOST_SLOTS];
    double *sums, *results;
    int64_t next;  /* the unit after the one that is worked on, where that is known, or -1 */
    int64_t ready; /* ROWS: the one whose reads are turned already, or -1 */
    int side;      /* which of two rooms of turned operands is worked on */
    place left;    /* BLOCKS: the block whose results wait in the other one; of no element where none do */
} room;

typedef void run_unit(const job *work, room *own, int64_t unit);

/* Some rows of a matrix, from column j on; empty behind the last. */
static inline place block_at(const job *work, int64_t unit, int64_t j)
{
    const int64_t rows = work->program->block, columns = work->program->inner / rows, most = work->block_rows, parts = (rows + most - 1) / most;
    place at = {.outer = unit / parts, .i = unit % parts * most, .j = j};
    at.rows = rows - at.i < most ? rows - at.i : most;
    at.columns = columns - j < work->block_columns ? columns - j : work->block_columns;
    at.n = (size_t)(at.rows * at.columns);
    return at;
}

/* engine_move.c */

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

/* Pieces of an inner range of so many elements at most, none of which goes beyond a run; and where one of them is. */
static inline int64_t pieces_of(const header *program, int64_t length)
{
    return program->inner / program->run * parts_of(program->run, length);
}

static inline place piece_at(const header *program, int64_t piece, int64_t length)
{
    const int64_t parts = parts_of(program->run, length), begin = piece % parts * length, left = program->run - begin;
    return (place){.first = piece / parts * program->run + begin, .n = (size_t)(left < length ? left : length)};
}

/* Pieces of MAP from `first` on, at most `count`, that lie evenly in operands whose elements lie side by side in them; and how far it is there from one
 * to the next. */
int64_t acl_emu_even_pieces(const job *work, int64_t piece, int64_t first, int64_t count, int64_t to_next[]);

/* Whether the elements of a piece lie side by side. */
static inline int lies_in_row(const header *program, const operand_view *operand)
{
    const int64_t last = operand->inner.count - 1;
    return operand->inner.stride[last] == operand->item && (last == 0 || operand->inner.length[last] >= program->run);
}

/* BLOCKS: an operand that does not lie along the rows of a block. */
static inline int is_turned(const operand_view *operand)
{
    return operand->inner.count == 2 && operand->inner.stride[1] != operand->item;
}

static inline char *base_of(const job *work, int64_t operand, int64_t outer)
{
    return work->memory[operand] + offset_of(&work->operands[operand].outer, outer);
}

/* Bytes from one gathered row to the next: no power of two, lest they drive each other out of the cache. */
static inline int64_t row_pitch(int64_t length, int64_t item)
{
    return (length * item + 63) / 64 * 64 + 64;
}

/* Whether elements lie as far apart as engine_tile.c has functions for. */
static inline int is_step(int64_t stride, int64_t item)
{
    return (item == 2 || item == 4) && stride > item && stride <= MOST_STEP * item && stride % item == 0;
}

/* Some elements of an inner range, gathered in a row (or spread out from one). There is room for a vector behind what is gathered. */
void acl_emu_move_range(const operand_view *operand, char *base, int64_t first, size_t n, char *row, int out);

/* Lines of an operand, far apart in memory, and rows in a room that hold an element of each. */
typedef struct {
    char *lines; /* `count` of them, `stride` apart, of `length` elements that are `step` apart */
    int64_t stride, step, count, length, item;
    char *rows; /* where the first element of the first line is, and how far it is to those of the next line and to the next of the same line */
    int64_t by_line, by_element;
    int out, streamed; /* to memory, past the caches */
    int at_hand;       /* lines have been asked for already */
    int64_t ahead;     /* how many lines ahead those are asked for that are read; 0: others see to it */
} move;

void acl_emu_wish_for(wishes *soon, const move *some);
int64_t acl_emu_wished(const wishes *soon); /* cache lines */
void acl_emu_ask(wishes *soon, int64_t count);

move acl_emu_move_of_block(const operand_view *operand, char *base, const place *at, char *rows, int64_t pitch, int out, int streamed);
void acl_emu_move_all(const move *some, wishes *soon);

/* Elements of a row that some are added to, so that vectors may go beyond its end. */
static inline size_t padded(size_t n)
{
    return (n + 31) / 32 * 32;
}

/* COLUMNS of whole kernels that go through all rows several times: these are not cut into parts, and there is room for what is kept of all of them. */
static inline int has_passes(const job *work)
{
    return work->program->shape == COLUMNS && work->whole && !work->whole->finish;
}

/* Whether there is a whole kernel that asks for what it is told is needed soon. */
static inline int kernel_asks(const job *work)
{
    return work->whole && (work->whole->asks >> work->program->storage & 1);
}

/* Whether there is one that takes several rows. */
static inline int takes_rows(const job *work)
{
    return work->whole && (work->whole->several & TAKES_ROWS(work->program->storage, work->program->way));
}

/* Numbers from what one reduction of a unit has come to so far to what the next has, and all of them. */
static inline size_t sums_apart(const job *work)
{
    return work->program->shape == COLUMNS ? padded((size_t)work->program->lanes) : PARTIALS;
}

static inline size_t partials_of(const job *work)
{
    return (size_t)work->reductions * sums_apart(work);
}

/* engine_block.c: units of BLOCKS */

void acl_emu_divide_blocks(job *work, int64_t threads);
size_t acl_emu_block_room(const job *work);
void acl_emu_prepare_block(const job *work, room *own, char *next);
run_unit acl_emu_run_block;

/* engine.c: the steps of a program on a row of a block. */
void acl_emu_run_line(const job *work, room *own, int64_t outer, size_t n);

/* engine_whole.c: units of programs that were compiled as a whole. */

size_t acl_emu_whole_room(const job *work);
void acl_emu_prepare_whole(const job *work, room *own, char *next);
extern run_unit *const acl_emu_run_whole[TOTALS + 1]; /* by shape */
void acl_emu_finish_whole(const job *work, room *own);

/* What of a division into units is different for them. */
void acl_emu_divide_whole(job *work);

#endif

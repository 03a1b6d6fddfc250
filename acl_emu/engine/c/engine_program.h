/* Programs, which say what is computed, loop nests, which say in what order, and what the threads that run one share.
 *
 * A program (acl_emu/engine/program.py) knows types and axes, no lengths: it serves all calls of a kind. engine_nest.c makes a loop nest of it and of
 * the layouts of its operands; engine.c runs that. All are rows of 64-bit numbers. */
#ifndef ACL_EMU_ENGINE_PROGRAM_H
#define ACL_EMU_ENGINE_PROGRAM_H

#include "engine.h"

#include <stdatomic.h>

/* What a step does. The order is known to acl_emu/engine/program.py; so is what its fields mean. */
enum {
    CALL,   /* function x; results and arguments, registers, are in the pool from `at` on */
    LOAD,   /* operand y as type x to register z */
    CAST,   /* register y of type `at` as type x to register z */
    STORE,  /* register z of type x to operand y; `at`: the register may be computed where it is stored */
    REDUCE, /* register z, of elements of y bytes, into accumulator x */
    SCAN,   /* register y, of elements of `at` bytes, into accumulator x, and what that is after each element to register z */
    FINISH, /* accumulator x as type y to register z, a number for each row */
    SPREAD, /* register y, a number of x bytes for each row, to all elements of register z */
    CALL_LATE, /* the late step at address x, as CALL */
    UNLESS_LATE, /* the y steps that follow are left out as long as the late step at address x has not been compiled */
    SKIP /* the y steps that follow are left out */
};

/* A fused step that is compiled on demand (acl_emu/engine/on_demand.py): it lives as long as the process. */
typedef struct {
    _Atomic(tile_step *) run; /* NULL until it has been compiled */
    atomic_int_fast64_t used; /* nanoseconds that programs spent without it */
} late_step;

typedef struct {
    int64_t code, x, y, z, at, results, arguments;
} step;

typedef struct {
    int64_t tile_begin, tile_end; /* steps on every tile */
    int64_t row_begin, row_end;   /* steps when the tiles of a row are through */
    int64_t accumulator_begin, accumulator_end;
} phase;

typedef struct {
    int64_t dtype;
    int64_t unread;         /* a read that no result depends on */
    int64_t of_rows;        /* a write with one number for each row */
    int64_t turn;           /* when it is loaded for the last time, or stored: a result may lie exactly on a read whose turn is not later */
    int64_t axes[MOST_DIMS]; /* of a write: the axis of the domain that each of its own is, counted from the end, from 0; -1: of length 1 */
} program_operand;

typedef struct {
    int64_t slot, dtype, spread; /* spread: over a whole register */
    int64_t value;               /* the bits of a double, or of an integer */
} program_constant;

typedef struct {
    int64_t size;  /* of all in words */
    int64_t reads, operands, slots, constants, saved, accumulators, phases;
    int64_t width; /* bytes of the widest element of a register */
    int64_t axes;  /* that are reduced, as bits, counted from the end */
    int64_t ordered;  /* these are one axis, gone along in order */
    int64_t in_parts; /* parts of a row can be worked on independently: one phase, and nothing but reduced results */
    int64_t unbuffered; /* registers hold nothing that is not loaded or stored, where that lies in memory as it is */
    int64_t late;  /* how many late steps there are; their addresses are at late_at */
    int64_t operand_at, constant_at, saved_at, accumulator_at, phase_at, step_at, pool_at, late_at;
} program;

/* How an operand lies in memory; strides in bytes. */
typedef struct {
    int64_t rank, shape[MOST_DIMS], stride[MOST_DIMS];
} layout;

/* The loop nest: operands are seen as two nested ranges, outer and inner, each of one or several dimensions. */

typedef struct {
    int64_t count, length[MOST_DIMS], stride[MOST_DIMS]; /* one dimension that is contiguous where possible */
} range_view;

typedef struct {
    int64_t dtype, item;
    int64_t extent; /* bytes that may be touched, and how many of them lie before the address: where strides are negative */
    int64_t before;
    int64_t unread, turn; /* as the program says */
    range_view outer, inner;
} operand_view;

enum { MAP, BLOCKS, ROWS, COLUMNS, TOTALS };

typedef struct {
    int64_t size;  /* of all in words, the program included */
    int64_t shape; /* MAP, ... */
    int64_t outer, inner;
    int64_t block; /* BLOCKS: length of its last dimension but one; COLUMNS: rows of a part */
    int64_t lanes; /* COLUMNS: of a unit */
    int64_t run;   /* of the inner range, as many elements lie side by side in memory: units of COLUMNS and TOTALS, tiles of MAP and ROWS are cut within them */
    int64_t folded; /* COLUMNS: those of the domain, where some rows of them are one row of the nest; else 0 */
    int64_t last;   /* and elements of the last row of the nest */
    int64_t elements;
    int64_t operand_at, program_at;
} nest;

/* The first three are known to acl_emu/engine/program.py. */
enum {
    MOST_OPERANDS = 32, MOST_SLOTS = 64, MOST_ACCUMULATORS = 16,
    CHUNK_TILES = 16, MOST_CHUNK_TILES = 256, LEAST_UNITS = 16, /* of units, and units of a thread */
    TOTAL_ELEMENTS = 1 << 16, /* of a unit of TOTALS, whatever the tiles are: sums depend on it */
    BLOCK_ROWS = 64, MORE_BLOCK_ROWS = 128, BLOCK_COLUMNS = 256, MOST_GROUP = 128, /* of blocks, and rows that are transposed together */
    LEFT_BYTES = 1 << 18, /* of results that wait until they are transposed */
    THREADED_LANES = 1 << 16, MOST_SHARES = 16
};

/* Make the nest of a program and the layouts of its operands, in at most `capacity` words; 0 where the engine has no way to run it. */
int64_t acl_emu_engine_nest(const program *code, const layout *layouts, int64_t threads, int64_t *numbers, int64_t capacity);

typedef struct {
    const nest *loops;
    const program *code;
    const operand_view *operands;
    const program_constant *constants;
    const phase *phases;
    const step *steps;
    const int64_t *pool, *saved, *accumulators; /* saved: slot and item of each */
    char *memory[MOST_OPERANDS];
    unsigned char transposed[MOST_OPERANDS]; /* ROWS: gathered with the rows beside */
    int large;    /* the caches do not hold all operands */
    int streamed; /* results pass by the caches */
    size_t tile;  /* elements */
    int64_t units, in_turn; /* how many, and how many a thread takes at a time */
    int64_t unit_length;    /* elements, or rows, of a unit */
    int64_t rows;           /* ROWS, COLUMNS: those of a tile */
    int whole_rows;         /* ROWS: none is in several tiles */
    int sources;            /* what reductions take as it lies in memory, where nothing else is done with it; else 0 */
    int lines;              /* COLUMNS: those of a tile are reduced where they lie in memory */
    int64_t group;          /* ROWS: those that are transposed together; else 0 */
    int64_t block_rows, block_columns; /* BLOCKS: of a unit, and columns that are worked on at a time */
    int transposed_later;              /* BLOCKS: results, while the rows of the next block are worked on */
    int copied;      /* MAP: nothing is done but to copy runs of bytes */
    int64_t chunks;  /* MAP, TOTALS: units of a row; COLUMNS: parts of all rows */
    char *partials;  /* TOTALS, COLUMNS in parts: accumulators of each unit */
    int timed;      /* some late step has not been compiled */
    atomic_int_fast64_t used; /* nanoseconds of all threads, where that is so */
    int64_t shares; /* units are divided among threads, who take from each other what is left */
    atomic_int_fast64_t workers, taken[MOST_SHARES];
    atomic_int failed;
} job;

/* Cache lines that are needed soon: prefetched bit by bit while others are moved, so that memory is never idle. */
typedef struct {
    const char *line;
    int64_t stride, lines, bytes;
} prefetch;

typedef struct {
    prefetch items[MOST_OPERANDS];
    int64_t count, next, byte; /* how many there are, and what is prefetched next */
} prefetches;

/* Where a tile lies: some rows of the outer range, and of each the inner range from `first` on; or a block of two dimensions. */
typedef struct {
    int64_t outer, rows, first;
    size_t n; /* of a row */
    int64_t i, j, block_rows, columns;
} place;

/* Buffers of one thread: registers, what a tile gathers, saved rows, accumulators. */
typedef struct {
    char *registers;
    size_t size;
    void *slot[MOST_SLOTS];
    int64_t held[MOST_SLOTS]; /* the row whose number a register was filled with, and as how many elements */
    size_t held_count[MOST_SLOTS];
    int64_t in_memory[MOST_SLOTS]; /* COLUMNS in lines: bytes from row to row of what is reduced where it lies */
    int source[MOST_SLOTS];        /* what reductions find there */
    char *saved[MOST_SLOTS];
    char *accumulator[MOST_ACCUMULATORS];
    char *gathered; /* a tile of any type */
    char *rows[MOST_OPERANDS]; /* blocks, transposed rows: operands that do not lie in a row */
    void *line[MOST_OPERANDS]; /* BLOCKS: where the row is that is worked on */
    int64_t group_first;       /* ROWS: the first of those that were transposed together */
    int64_t next;  /* the unit after the one that is worked on, where that is known, or -1 */
    int side;      /* which of two buffers of transposed operands is worked on */
    place left;    /* BLOCKS: the block whose results wait in the other one; of no element where none do */
} buffers;

typedef void run_unit(const job *work, buffers *own, int64_t unit);

/* Some rows of a matrix, from column j on; empty behind the last. */
static inline place block_at(const job *work, int64_t unit, int64_t j)
{
    const int64_t rows = work->loops->block, columns = work->loops->inner / rows, most = work->block_rows, parts = (rows + most - 1) / most;
    place at = {.outer = unit / parts, .rows = 1, .i = unit % parts * most, .j = j};
    at.block_rows = rows - at.i < most ? rows - at.i : most;
    at.columns = columns - j < work->block_columns ? columns - j : work->block_columns;
    at.n = (size_t)(at.block_rows * at.columns);
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
static inline int64_t pieces_of(const nest *loops, int64_t length)
{
    return loops->inner / loops->run * parts_of(loops->run, length);
}

static inline place piece_at(const nest *loops, int64_t piece, int64_t length)
{
    const int64_t parts = parts_of(loops->run, length), begin = piece % parts * length, left = loops->run - begin;
    return (place){.rows = 1, .first = piece / parts * loops->run + begin, .n = (size_t)(left < length ? left : length)};
}

/* Whether the elements of a piece lie side by side. */
static inline int lies_in_row(const nest *loops, const operand_view *operand)
{
    const int64_t last = operand->inner.count - 1;
    return operand->inner.stride[last] == operand->item && (last == 0 || operand->inner.length[last] >= loops->run);
}

/* Whether they are all the same. */
static inline int is_one(const operand_view *operand)
{
    return operand->inner.count == 1 && operand->inner.stride[0] == 0;
}

/* BLOCKS: an operand that does not lie along the rows of a block. */
static inline int is_transposed(const operand_view *operand)
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

/* Some elements of an inner range, gathered in a row (or scattered from one). There is a vector of spare memory behind what is gathered. */
void acl_emu_move_range(const operand_view *operand, char *base, int64_t first, size_t n, char *row, int out);

/* Lines of an operand, far apart in memory, and rows in a buffer that hold an element of each. */
typedef struct {
    char *lines; /* `count` of them, `stride` apart, of `length` elements that are `step` apart */
    int64_t stride, step, count, length, item;
    char *rows; /* where the first element of the first line is, and how far it is to those of the next line and to the next of the same line */
    int64_t by_line, by_element;
    int out, streamed; /* to memory, past the caches */
    int64_t ahead;     /* how many lines ahead those are prefetched that are read; 0: others see to it */
} move;

void acl_emu_add_prefetch(prefetches *soon, const move *some);
int64_t acl_emu_prefetch_lines(const prefetches *soon); /* that are left */
void acl_emu_prefetch(prefetches *soon, int64_t count);

/* Some rows and columns of a matrix with a stride down and one across. */
move acl_emu_move_of_matrix(char *first, int64_t down, int64_t across, int64_t item, int64_t rows, int64_t columns, char *to, int64_t pitch, int out, int streamed);
void acl_emu_move_all(const move *some, prefetches *soon);

/* Elements of a row that some are added to, so that vectors may go beyond its end. */
static inline size_t padded(size_t n)
{
    return (n + 31) / 32 * 32;
}

/* engine_block.c: units of BLOCKS */

void acl_emu_divide_blocks(job *work, int64_t threads);
size_t acl_emu_block_buffers(const job *work);
void acl_emu_prepare_block(const job *work, buffers *own, char *next);
run_unit acl_emu_run_block;

/* engine.c: the steps of a program on a row of a block. */
void acl_emu_run_line(const job *work, buffers *own, int64_t outer, size_t n);

#endif

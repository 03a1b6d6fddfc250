/* The engine: runs traced kernels over tiles of numbers that stay in the first-level cache. */
#ifndef ACL_EMU_ENGINE_H
#define ACL_EMU_ENGINE_H

#include <stddef.h>
#include <stdint.h>

enum {
    TILE_BYTES = 4096, /* of one register; a kernel has few of them alive at a time */
    MOST_DIMS = 8,
    PARTIALS = 16 /* numbers that a sum along a row is kept in until its end */
};

/* How elements lie in memory. The order is known to acl_emu/native/program.py. */
enum { F32, F64, F16, BF16, BOOL8, I8, U8, I16, I32, I64, DTYPES };

/* What a step does. The order is known to acl_emu/native/program.py. */
enum {
    ADD, SUB, MUL, DIV, NEG, ABS, SIGN, SQUARE, MAXIMUM, MINIMUM, EXP, EXP_OF_DIFFERENCE, LOG, LOG1P, SQRT,
    LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, AND, OR, NOT, WHERE, AS_NUMBER, ROUND_F32, ROUND_F16, ROUND_BF16, FUNCTIONS,
    LOAD = FUNCTIONS, LOAD_MASK, STORE, KEEP, TAKE, SUM, DOT, MAX, FINISH_SUM, FINISH_MAX, SPREAD, WHOLE
};

/* dst = function(a, b, c) on n lanes; dst may be one of the others. */
typedef void tile_function(void *dst, const void *a, const void *b, const void *c, size_t n);

/* What is compiled once for each instruction set: functions on lanes of float (0) and of double (1). */
typedef struct {
    tile_function *functions[2][FUNCTIONS];
    void (*load[2][DTYPES])(void *lanes, const void *memory, size_t n);
    void (*load_mask[2])(void *lanes, const uint8_t *memory, size_t n);
    void (*store[2][BF16 + 1])(void *memory, const void *lanes, size_t n);
    void (*spread[2])(void *lanes, const void *value, size_t n);
    void (*row_sum[2])(double *partials, const void *lanes, size_t n);
    void (*row_max[2])(void *partials, const void *lanes, size_t n);
    void (*row_dot[2])(double *partials, const void *lanes, const void *others, size_t n);
    void (*lane_sum[2])(double *sums, const void *lanes, size_t n);
    void (*lane_dot[2])(double *sums, const void *lanes, const void *others, size_t n);
    void (*from_double[2])(void *lanes, const double *values, size_t n);
    int (*moderate_bf16)(const uint16_t *memory, size_t n);
    /* Of elements of two and of four bytes: eight lines of eight, turned (strides in bytes), and every second one. */
    void (*turn[2])(char *to, int64_t to_stride, const char *from, int64_t from_stride);
    void (*every_second[2])(void *to, const void *from, size_t n);
} tile_code;

/* How a kernel is evaluated: in float, with what may round wrongly again in double; in double; in float, which cannot round wrongly
 * unless numbers fade; in float whatever they do, with the kernel of the way before. */
enum { SETTLED, IN_DOUBLE, PLAIN_FLOAT, IN_FLOAT };

/* A kernel compiled as a whole: outs = kernel(ins, constants) on n elements of one storage type. */
typedef void fused_kernel(void *const *outs, const void *const *ins, const double *constants, size_t n);

typedef struct {
    const char *signature;
    fused_kernel *kernels[BF16 + 1][3]; /* by storage type and way; NULL where there is none */
} fused_entry;

typedef struct {
    const fused_entry *entries;
    int64_t count;
} fused_table;

extern const fused_table acl_emu_fused_baseline;
extern const fused_table acl_emu_fused_v3;

extern const tile_code acl_emu_tiles_baseline;
extern const tile_code acl_emu_tiles_v3;

/* Call function(argument) on the calling thread and on up to `threads` - 1 helpers at once; returns when all of them have returned. */
void acl_emu_engine_together(void (*function)(void *), void *argument, int64_t threads);

#endif

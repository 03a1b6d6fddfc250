/* The engine: runs traced kernels over tiles of numbers that stay in the first-level cache. */
#ifndef ACL_EMU_ENGINE_H
#define ACL_EMU_ENGINE_H

#include <stddef.h>
#include <stdint.h>

enum {
    TILE_BYTES = 4096, /* of one register; a kernel has few of them alive at a time */
    MOST_DIMS = 8,
    CACHE_LINE = 64,
    PARTIALS = 16, /* numbers that a sum along a row is kept in until its end */
    ROWS_TOGETHER = 8 /* rows that go through a phase of a kernel before the next begins, at most; no fewer than numbers in a vector */
};

/* How elements lie in memory, and what lanes are. The order is known to acl_emu/engine/program.py. */
enum { F32, F64, F16, BF16, BOOL8, I8, U8, I16, I32, I64, U16, U32, U64, DTYPES };

/* Bytes of an element. */
static inline int64_t item_of(int64_t dtype)
{
    static const unsigned char items[DTYPES] = {4, 8, 2, 2, 1, 1, 1, 2, 4, 8, 2, 4, 8};
    return items[dtype];
}

static inline int64_t parts_of(int64_t length, int64_t part)
{
    return (length + part - 1) / part;
}

/* Memory that is read some steps later; not into the first-level cache, which has no room for it. */
static inline void ask_for(const char *first, int64_t size)
{
    for (int64_t n = 0; n < size; n += CACHE_LINE) {
        __builtin_prefetch(first + n, 0, 2);
    }
}

/* What a step does. The order is known to acl_emu/engine/program.py. */
enum {
    ADD, SUB, MUL, DIV, NEG, ABS, SIGN, SQUARE, MAXIMUM, MINIMUM, EXP, EXP_OF_DIFFERENCE, EXP_OF_PRODUCT, LOG, LOG1P, LOG_OF_ODDS, SQRT,
    LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, AND, OR, NOT, WHERE, AS_NUMBER, ROUND_F32, ROUND_F16, ROUND_BF16,
    ADD_PRODUCT, SUB_PRODUCT, FUNCTIONS, /* the last two, a + b × c and a - b × c, of whole numbers only: nothing is rounded */
    LOAD = FUNCTIONS, LOAD_MASK, STORE, KEEP, TAKE, SUM, DOT, MAX, FINISH_SUM, FINISH_MAX, SPREAD
};

/* dst = function(a, b, c) on n lanes; dst may be one of the others. */
typedef void tile_function(void *dst, const void *a, const void *b, const void *c, size_t n);

/* A square of `side` by `side` elements becomes its transpose; strides in bytes. Streamed: past the caches, to memory that is aligned as that needs. */
typedef struct {
    void (*square)(char *to, int64_t to_stride, const char *from, int64_t from_stride, int streamed);
    int64_t side;
} turning;

/* Of elements of four bytes, some from each of many lines become a few lines of that many elements. */
enum { STRIP_ITEM = 4, STRIP_LINES = 4, STRIP_ELEMENTS = 64 };

/* How many elements apart those may lie that are taken out of whole vectors. */
enum { MOST_STEP = 8 };

/* What is compiled once for each instruction set: functions on lanes of float and of double and, as far as whole numbers need them, of other types. */
typedef struct {
    tile_function *functions[I64 + 1][FUNCTIONS];
    void (*load[DTYPES][DTYPES])(void *lanes, const void *memory, size_t n); /* by the type of lanes, then of memory */
    void (*load_mask[2])(void *lanes, const uint8_t *memory, size_t n);
    void (*store[2][BF16 + 1])(void *memory, const void *lanes, size_t n);
    void (*stream_store[BF16 + 1])(void *memory, const void *lanes, size_t n); /* of float lanes, past the caches, to aligned memory */
    void (*spread[DTYPES])(void *lanes, const void *value, size_t n);
    void (*row_sum[2])(double *partials, const void *lanes, size_t n);
    void (*row_max[I64 + 1])(void *partials, const void *lanes, size_t n);
    void (*row_whole_sum[I64 + 1])(void *partials, const void *lanes, size_t n);
    void (*row_dot[2])(double *partials, const void *lanes, const void *others, size_t n);
    void (*lane_sum[2])(double *sums, const void *lanes, size_t n);
    void (*lane_dot[2])(double *sums, const void *lanes, const void *others, size_t n);
    double (*total)(const double *partials); /* of PARTIALS of them */
    double (*largest[2])(const void *partials);
    void (*from_double[2])(void *lanes, const double *values, size_t n);
    turning turn[8 + 1][2]; /* by the size of an element, where there is one: few lines, and the most */
    void (*turn_strip)(char *to, int64_t to_stride, const char *from, int64_t from_stride, int streamed); /* or NULL; STRIP_ELEMENTS lines become STRIP_LINES */
    /* Elements of two and of four bytes from places that are up to MOST_STEP elements apart, and back to them. */
    void (*take_steps[2])(void *to, const void *from, int64_t step, size_t n);
    void (*put_steps[2])(void *to, int64_t step, const void *from, size_t n);
    /* Elements `stride` bytes apart, each as many times in a row; by how often their size doubles. The last vector may go beyond the end. */
    void (*repeat[4])(char *to, const char *from, int64_t stride, size_t n, size_t times);
    /* Lines of some bytes, from `stride` to `pitch` apart; of the first `asked` the one that lies `ahead` lines on is asked for. */
    void (*lay_side_by_side)(char *to, int64_t pitch, const char *from, int64_t stride, int64_t count, int64_t size, int64_t ahead, int64_t asked);
    void (*stream)(char *to, const char *from, size_t size); /* a copy past the caches; a fence has to follow */
    size_t vector_bytes;
} tile_code;

/* How a kernel is evaluated: in float, with what may round wrongly again in double; in double; in float. */
enum { SETTLED, IN_DOUBLE, PLAIN_FLOAT, WAYS };
#define TAKES_ROWS(dtype, way) (1 << ((dtype) * WAYS + (way))) /* in fused_entry.several */

typedef struct {
    void *const *outs; /* where elements of results go, by their number */
    const void *const *ins;
    const double *constants;
    char *const *kept;      /* rooms for as many numbers as there are elements, and some more */
    double *sums, *results; /* reductions, and results with one number for a row; `stride` apart where there are several */
    size_t stride; /* also numbers from what is kept of a row to what is of the next */
    int streamed; /* `outs` are written past the caches, and aligned as that needs */
    int64_t rows, together; /* of columns, or one after another; as many together are added up before the next columns are, or go through a phase */
    const int64_t *pitches; /* how many bytes each lies behind the last, by the number of what is read */
    const int64_t *out_pitches; /* and of results */
    /* Memory that is needed soon, by the number of what is read, in pairs of cache lines, and how many bytes each lies behind the last; or NULL. Of columns
     * as much as is read of these, and how many bytes a row lies behind the last. */
    const char *const *soon;
    const int64_t *apart;
} fused_call;

/* A kernel compiled as a whole, on n elements of one storage type: of a row, or of a part of one, in which case `sums` gets PARTIALS
 * numbers for each reduction; or of as many columns, of each of which it adds the elements of some rows to `sums`, or of which it has all rows, the
 * first phases of which go column by column, the last row by row. */
typedef void fused_kernel(const fused_call *call, size_t n);

typedef struct {
    const char *signature;
    const char *reductions; /* a letter for each: s (sum), m (max) */
    int64_t kept;
    int asks; /* storage types, as bits, whose kernels ask for what they are told is needed soon */
    int several; /* those of `kernels`, as bits, that take several rows */
    int64_t values; /* numbers of each column that follow its reductions in `sums`, where its kernels of columns have all rows */
    fused_kernel *kernels[BF16 + 1][WAYS]; /* by storage type and way; NULL where there is none */
    fused_kernel *columns[BF16 + 1][WAYS];
    fused_kernel *rows[BF16 + 1]; /* of several rows, of each of which `sums` gets one number; NULL where there is none */
    fused_kernel *finish; /* from `sums` to `results`, where rows can be worked on in parts */
} fused_entry;

typedef struct {
    const fused_entry *entries;
    int64_t count;
} fused_table;

/* What was compiled several times, as it suits this processor best. */
#if defined(__x86_64__)
enum { PLAIN_PROCESSOR, WITH_AVX2, WITH_AVX512 };
int acl_emu_engine_processor(void);
#define FOR_THIS_PROCESSOR(name)                                                                                    \
    (acl_emu_engine_processor() == WITH_AVX512 ? &name##_v4 : acl_emu_engine_processor() == WITH_AVX2 ? &name##_v3 : &name##_baseline)
#else
#define FOR_THIS_PROCESSOR(name) (&name##_baseline)
#endif

extern const fused_table acl_emu_fused_baseline;
extern const fused_table acl_emu_fused_v3;
extern const fused_table acl_emu_fused_v4;

extern const tile_code acl_emu_tiles_baseline;
extern const tile_code acl_emu_tiles_v3;
extern const tile_code acl_emu_tiles_v4;

extern const tile_code *acl_emu_engine_tiles; /* for this processor */

/* Call function(argument) on the calling thread and on up to `threads` - 1 helpers at once; returns when all of them have returned. */
void acl_emu_engine_together(void (*function)(void *), void *argument, int64_t threads);

#endif

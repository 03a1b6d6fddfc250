/* The engine: runs captured kernels over tiles of numbers that stay in the first-level cache. */
#ifndef ACL_EMU_ENGINE_H
#define ACL_EMU_ENGINE_H

#include <stddef.h>
#include <stdint.h>

enum {
    TILE_BYTES = 4096, /* of one register; a kernel has few of them alive at a time */
    MOST_DIMS = 8,
    CACHE_LINE = 64,
    PARTIALS = 16 /* accumulators of a reduction along a row: element i belongs to number i % PARTIALS */
};

/* How elements lie in memory, and what registers hold. The order is known to acl_emu/engine/program.py. */
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

/* Memory that is read some steps later; not into the first-level cache, which it would fill. */
static inline void prefetch_bytes(const char *first, int64_t size)
{
    for (int64_t n = 0; n < size; n += CACHE_LINE) {
        __builtin_prefetch(first + n, 0, 2);
    }
}

/* A step on registers: functions of n elements, single or fused. A result may lie exactly on an argument. */
typedef void tile_step(void *const *results, const void *const *arguments, size_t n);

typedef struct {
    const char *name; /* such as add.f32, or of a fused step the digest of its graph */
    tile_step *run;
} named_step;

typedef struct {
    const named_step *steps;
    int64_t count;
} step_table;

/* What a reduction finds its elements as: in the type of the register, or in a half type that would be widened to it. */
enum { AS_REGISTER, FROM_F16, FROM_BF16, SOURCES };

/* A reduction of registers of one type, or a scan. Along a row there are PARTIALS accumulators, side by side one for each column. */
typedef struct {
    const char *name; /* such as sum.f32 */
    int64_t dtype;    /* of what it results in */
    size_t item;      /* bytes of an accumulator */
    void (*begin)(void *accumulators, size_t count);
    void (*row[SOURCES])(void *accumulators, const void *elements, size_t n, int64_t first); /* the first element's place in its row is a multiple of PARTIALS */
    void (*lanes[SOURCES])(void *accumulators, const void *elements, size_t n, int64_t row, int64_t rows, int64_t pitch); /* rows: `pitch` bytes apart */
    void (*rows[SOURCES])(void *results, const void *elements, size_t n, size_t rows); /* of n elements each, from beginning to end, without accumulators; of floats, else NULL */
    void (*merge)(void *accumulators, const void *others, size_t count); /* those of elements that come later */
    void (*finish_row)(void *result, const void *accumulators);
    void (*finish_lanes)(void *results, const void *accumulators, size_t count);
    void (*scan_row)(void *results, void *accumulator, const void *elements, size_t n); /* of scans, which have no others but begin() */
    void (*scan_lanes)(void *results, void *accumulators, const void *elements, size_t n);
} reduction;

/* A square of `side` by `side` elements becomes its transpose; strides in bytes. Streamed: past the caches, to memory that is aligned as that needs. */
typedef struct {
    void (*square)(char *to, int64_t to_stride, const char *from, int64_t from_stride, int streamed);
    int64_t side;
} transposition;

/* Of elements of four bytes, some from each of many lines become a few lines of that many elements. */
enum { STRIP_ITEM = 4, STRIP_LINES = 4, STRIP_ELEMENTS = 64 };

/* How many elements apart those may lie that are taken out of whole vectors. */
enum { MOST_STEP = 8 };

/* What is compiled once for each instruction set. */
typedef struct {
    const named_step *steps;
    int64_t step_count;
    const reduction *reductions;
    int64_t reduction_count;
    void (*cast[DTYPES][DTYPES])(void *to, const void *from, size_t n); /* by the type of the result, then of the argument */
    void (*stream_store[BF16 + 1])(void *memory, const void *floats, size_t n); /* past the caches, to aligned memory; NULL where there is none */
    void (*spread[8 + 1])(void *to, const void *values, size_t n, size_t count); /* each of them n times; by the size of an element */
    void (*exp)(double *to, const double *from, size_t n);
    void (*log1p)(double *to, const double *from, size_t n);
    void (*add_up)(double *partials, const double *numbers, size_t n); /* to PARTIALS of them */
    transposition transpose[8 + 1][2]; /* by the size of an element, where there is one: few lines, and the most */
    void (*transpose_strip)(char *to, int64_t to_stride, const char *from, int64_t from_stride, int streamed); /* or NULL; STRIP_ELEMENTS lines become STRIP_LINES */
    /* Elements of two and of four bytes from places that are up to MOST_STEP elements apart, and back to them. */
    void (*take_steps[2])(void *to, const void *from, int64_t step, size_t n);
    void (*put_steps[2])(void *to, int64_t step, const void *from, size_t n);
    /* Elements `stride` bytes apart, each as many times in a row; by how often their size doubles. The last vector may go beyond the end. */
    void (*repeat[4])(char *to, const char *from, int64_t stride, size_t n, size_t times);
    void (*reverse[4])(char *to, const char *last, size_t n); /* elements in a row, from the last to the first; by how often their size doubles */
    /* Lines of some bytes, from `stride` to `pitch` apart; of the first `prefetched` the one that lies `ahead` lines on is prefetched. */
    void (*copy_lines)(char *to, int64_t pitch, const char *from, int64_t stride, int64_t count, int64_t size, int64_t ahead, int64_t prefetched);
    void (*stream)(char *to, const char *from, size_t size); /* a copy past the caches; a fence has to follow */
    size_t vector_bytes;
} tile_code;

/* What was compiled several times, as it suits this processor best. */
#if defined(__x86_64__)
enum { PLAIN_PROCESSOR, WITH_AVX2, WITH_AVX512 };
int acl_emu_engine_processor(void);
#define FOR_THIS_PROCESSOR(name)                                                                                    \
    (acl_emu_engine_processor() == WITH_AVX512 ? &name##_v4 : acl_emu_engine_processor() == WITH_AVX2 ? &name##_v3 : &name##_baseline)
#else
#define FOR_THIS_PROCESSOR(name) (&name##_baseline)
#endif

extern const step_table acl_emu_fused_baseline;
extern const step_table acl_emu_fused_v3;
extern const step_table acl_emu_fused_v4;

extern const tile_code acl_emu_tiles_baseline;
extern const tile_code acl_emu_tiles_v3;
extern const tile_code acl_emu_tiles_v4;

extern const tile_code *acl_emu_engine_tiles; /* for this processor */

/* Call function(argument) on the calling thread and on up to `threads` - 1 helpers at once; returns when all of them have returned. */
void acl_emu_engine_together(void (*function)(void *), void *argument, int64_t threads);

#endif

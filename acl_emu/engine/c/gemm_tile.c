/* Tiles of matrix products: packing, the sums in registers, and what is stored. build.py compiles this once for each instruction set. */
#include "gemm.h"
#include "engine_types.h"

/* As many sums as there are registers for, but for a row of the right matrix and a number of the left one. */
#if defined(HAS_64)
enum { ROWS = 14, VECTORS = 2 };
#elif defined(HAS_32)
enum { ROWS = 6, VECTORS = 2 };
#else
enum { ROWS = 6, VECTORS = 1 };
#endif
enum { MOST_ROWS = 14, COLUMNS = VECTORS * FLOATS, WIDTH = (ROWS + FLOATS - 1) / FLOATS * FLOATS };

#define INLINED static inline __attribute__((always_inline))

INLINED int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

INLINED void copy_items(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t item, int64_t count)
{
    for (int64_t n = 0; n < count; n++) {
        if (item == sizeof(float)) {
            memcpy(to + n * to_stride, from + n * from_stride, sizeof(float));
        } else {
            memcpy(to + n * to_stride, from + n * from_stride, sizeof(uint16_t));
        }
    }
}

/* A vector of contiguous elements as floats. */
INLINED float_vector read_any(const char *from, int64_t dtype)
{
    return dtype == F32 ? read_float((const float *)from) : dtype == F16 ? read_f16((const uint16_t *)from) : read_bf16((const uint16_t *)from);
}

/* The same for whole vectors. */
INLINED void load_whole(float *to, const char *from, int64_t dtype, int64_t count)
{
    for (int64_t n = 0; n < count; n += FLOATS) {
        write_float(to + n, read_any(from + n * item_of(dtype), dtype));
    }
}

#ifdef HAS_64
/* Less contiguous elements than a vector has as floats, and zeros. */
INLINED float_vector read_some(const char *from, int64_t dtype, int64_t count)
{
    const float_mask some = first_ones((size_t)count);
    if (dtype == F32) {
        return (float_vector)_mm512_maskz_loadu_ps(some, from);
    }
    uint16_t halves[FLOATS];
    _mm256_storeu_si256((__m256i *)halves, _mm256_maskz_loadu_epi16(some, from));
    return dtype == F16 ? read_f16(halves) : read_bf16(halves);
}
#endif

/* Up to COLUMNS or WIDTH elements as floats, and zeros up to whole vectors. */
INLINED void load(float *to, const char *from, int64_t stride, int64_t dtype, int64_t count)
{
    const int64_t item = item_of(dtype);
#ifdef HAS_64
    if (stride == item) {
        const int64_t whole = count / FLOATS * FLOATS;
        load_whole(to, from, dtype, whole);
        if (whole < count) {
            write_float(to + whole, read_some(from + whole * item, dtype, count - whole));
        }
        return;
    }
#endif
    char own[COLUMNS * sizeof(float)];
    if (stride != item || count % FLOATS) {
        memset(own, 0, sizeof own);
        copy_items(own, item, from, stride, item, count);
        from = own;
    }
    load_whole(to, from, dtype, count);
}

INLINED void store(char *to, int64_t stride, int64_t dtype, const float *from, int64_t count)
{
    const int64_t item = item_of(dtype);
    char own[COLUMNS * sizeof(float)];
    const int direct = stride == item && count % FLOATS == 0;
    for (int64_t n = 0; n < count; n += FLOATS) {
        char *place = (direct ? to : own) + n * item;
        const float_vector values = read_float(from + n);
        if (dtype == F32) {
            write_float((float *)place, values);
        } else if (dtype == F16) {
            write_f16((uint16_t *)place, values);
        } else {
            write_bf16((uint16_t *)place, values);
        }
    }
    if (!direct) {
        copy_items(to, stride, own, item, item, count);
    }
}

/* Elements of a line that are transposed one after the other. */
enum { LINE = 64 };

/* Whether lines drive each other out of the first-level cache before the rest of them is transposed: such lines are copied. */
INLINED int is_crowded(const char *lines, int64_t stride)
{
    return stride % 1024 == 0 && (uintptr_t)lines % CACHE_LINE;
}

INLINED void pack_type(float *to, int64_t width, const char *from, int64_t dtype, int64_t stride, int64_t depth_stride, int64_t count, int64_t depth)
{
    if (stride <= depth_stride) {
        for (int64_t d = 0; d < depth; d++, to += width) {
            if (stride == item_of(dtype) && count == width) {
                load_whole(to, from + d * depth_stride, dtype, width);
                continue;
            }
            load(to, from + d * depth_stride, stride, dtype, count);
            for (int64_t n = (count + FLOATS - 1) / FLOATS * FLOATS; n < width; n++) {
                to[n] = 0;
            }
        }
        return;
    }
    const transposition *transpose = &acl_emu_engine_tiles->transpose[sizeof(float)][1]; /* FLOATS on each side */
    for (int64_t d = 0; d < depth; d += LINE) {
        const int64_t deep = least_of(depth - d, LINE);
        for (int64_t first = 0; first < width; first += FLOATS) {
            const char *lines = from + first * stride + d * depth_stride;
            float own[FLOATS * LINE];
            int64_t pitch = stride, line = (deep + FLOATS - 1) / FLOATS * FLOATS;
            if (dtype != F32 || depth_stride != sizeof(float) || deep % FLOATS || count - first < FLOATS || is_crowded(lines, stride)) {
                for (int64_t n = 0; n < FLOATS; n++) {
                    for (int64_t k = 0; k < deep; k += FLOATS) {
                        float *place = own + n * line + k;
                        if (first + n < count) {
                            load(place, lines + n * stride + k * depth_stride, depth_stride, dtype, least_of(deep - k, FLOATS));
                        } else {
                            write_float(place, all_float(0));
                        }
                    }
                }
                lines = (const char *)own;
                pitch = line * (int64_t)sizeof(float);
            }
            for (int64_t k = 0; k < deep; k += FLOATS) {
                transpose->square((char *)(to + (d + k) * width + first), width * (int64_t)sizeof(float), lines + k * (int64_t)sizeof(float), pitch, 0);
            }
        }
    }
}

static void pack(float *to, int64_t width, const char *from, int64_t dtype, int64_t stride, int64_t depth_stride, int64_t count, int64_t depth)
{
    if (dtype == F32) {
        pack_type(to, width, from, F32, stride, depth_stride, count, depth);
    } else if (dtype == F16) {
        pack_type(to, width, from, F16, stride, depth_stride, count, depth);
    } else {
        pack_type(to, width, from, BF16, stride, depth_stride, count, depth);
    }
}

static void lower(float *numbers, int64_t count, int64_t how)
{
    for (int64_t n = 0; n < count; n += FLOATS) {
        const float_vector values = read_float(numbers + n);
        if (how == AS_HALF) {
            uint16_t halves[FLOATS];
            write_f16(halves, values);
            write_float(numbers + n, read_f16(halves));
        } else { /* HFLOAT32: 11 of the 23 bits behind the point, rounded to nearest even */
            const float_bits bits = (float_bits)values, shortened = (bits + 0x7FF + (bits >> 12 & 1)) & 0xFFFFF000;
            write_float(numbers + n, select_float(less_float(absolute_float(values), all_float(INFINITY)), (float_vector)shortened, values));
        }
    }
}

/* How the right matrix lies: one depth after the other, or numbers of half types of two depths side by side. */
enum { LINES = 1, PAIRS = 2 };

/* A vector of columns, of pairs those of one depth or of the other. */
INLINED float_vector read_columns(const char *from, int64_t dtype, int kind, int place)
{
    if (kind == LINES) {
        return read_any(from, dtype);
    }
    float_bits pairs;
    memcpy(&pairs, from, sizeof pairs);
    if (dtype == BF16) {
        return (float_vector)(place ? pairs & 0xFFFF0000 : pairs << 16);
    }
    const half_vector halves = upper_halves(place ? pairs : pairs << 16);
    return read_f16((const uint16_t *)&halves);
}

/* sum[r][v] += row r × column v, one depth after the other; numbers between rows and depths of the left matrix, bytes between lines of the right. */
INLINED void add_products(float_vector sum[MOST_ROWS][VECTORS], const float *a, int64_t down, int64_t across, const char *b, int64_t pitch,
                          int64_t dtype, int kind, int64_t depth, int rows, int vectors)
{
    for (; depth > 0; depth -= kind, b += pitch) {
#pragma GCC unroll 2
        for (int place = 0; place < kind; place++, a += across) {
            float_vector columns[VECTORS];
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) {
                columns[v] = read_columns(b + v * FLOATS * item_of(dtype) * kind, dtype, kind, place);
            }
#pragma GCC unroll 14
            for (int r = 0; r < rows; r++) {
                const float_vector number = all_float(a[r * down]);
#pragma GCC unroll 2
                for (int v = 0; v < vectors; v++) {
                    sum[r][v] = fma_float(number, columns[v], sum[r][v]);
                }
            }
        }
    }
}

/* What is written for a number of rows and vectors that are known. */
#define BY_ROWS(rows, CASE)                                                                                                         \
    switch (rows) {                                                                                                                 \
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14)        \
    }

INLINED void multiply_tile(float *sums, const float *a, int64_t down, int64_t across, const float *b, int64_t depth, int rows, int vectors)
{
    for (int64_t first = 0; !first || first < depth; first += PIECE, a += PIECE * across, b += PIECE * COLUMNS) {
        float_vector sum[MOST_ROWS][VECTORS];
#pragma GCC unroll 14
        for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) {
                sum[r][v] = all_float(0);
            }
        }
        add_products(sum, a, down, across, (const char *)b, COLUMNS * sizeof(float), F32, LINES, least_of(depth - first, PIECE), rows, vectors);
#pragma GCC unroll 14
        for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) {
                float *place = sums + r * COLUMNS + v * FLOATS;
                write_float(place, first ? read_float(place) + sum[r][v] : sum[r][v]);
            }
        }
    }
}

#define TILE(count, down, across)                                                 \
    case count:                                                                   \
        if (count > ROWS) {                                                       \
            break;                                                                \
        }                                                                         \
        if (columns > FLOATS) {                                                   \
            multiply_tile(sums, a, down, across, b, depth, count, VECTORS);       \
        } else {                                                                  \
            multiply_tile(sums, a, down, across, b, depth, count, 1);             \
        }                                                                         \
        break;

static void multiply(float *sums, const float *a, const float *b, int64_t depth, int64_t rows, int64_t columns)
{
#define CASE(count) TILE(count, 1, WIDTH)
    BY_ROWS(rows, CASE)
#undef CASE
}

static void multiply_rows(float *sums, const float *a, int64_t down, const float *b, int64_t depth, int64_t rows, int64_t columns)
{
#define CASE(count) TILE(count, down, 1)
    BY_ROWS(rows, CASE)
#undef CASE
}
#undef TILE

/* Depths of a thin product that are worked on at a time: of a right matrix as it lies, and of what is packed. */
enum { SOME_IN_PLACE = 8, SOME_PACKED = 32 };

/* Depths between what is packed of columns that stand in memory and what is prefetched: one column at a time, as far as the memory's own reading ahead
 * makes the most of. */
enum { AHEAD = COLUMNS * SOME_PACKED };

/* Some depths more of the sums of a tile, or the first ones. */
INLINED void go_on(float *sums, const float *a, int64_t width, const char *b, int64_t pitch, int64_t dtype, int kind, int64_t depth, int begins,
                   int rows, int vectors)
{
    float_vector sum[MOST_ROWS][VECTORS];
#pragma GCC unroll 14
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            sum[r][v] = begins ? all_float(0) : read_float(sums + r * COLUMNS + v * FLOATS);
        }
    }
    add_products(sum, a, 1, rows == 1 ? width : WIDTH, b, pitch, dtype, kind, depth, rows, vectors);
#pragma GCC unroll 14
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            write_float(sums + r * COLUMNS + v * FLOATS, sum[r][v]);
        }
    }
}

/* The same for all rows of a thin product, a tile below the other. */
INLINED void go_on_down(float *sums, const float *a, int64_t width, int64_t size, const char *b, int64_t pitch, int64_t dtype, int kind,
                        int64_t depth, int begins, int64_t rows, int vectors)
{
    for (int64_t left = rows; left > 0; left -= ROWS, sums += ROWS * COLUMNS, a += size) {
#define CASE(count)                                                                               \
    case count:                                                                                   \
        if (count > ROWS) {                                                                       \
            break;                                                                                \
        }                                                                                         \
        if (depth == SOME_IN_PLACE) {                                                             \
            go_on(sums, a, width, b, pitch, dtype, kind, SOME_IN_PLACE, begins, count, vectors);  \
        } else {                                                                                  \
            go_on(sums, a, width, b, pitch, dtype, kind, depth, begins, count, vectors);          \
        }                                                                                         \
        break;
        BY_ROWS(least_of(left, ROWS), CASE)
#undef CASE
    }
}

/* Columns of a half type as they stand in memory, transposed pair by pair. */
static void turn_pairs(char *to, const char *from, int64_t stride)
{
    enum { PAIR = sizeof(uint32_t) };
    const transposition *transpose = &acl_emu_engine_tiles->transpose[PAIR][1]; /* FLOATS on each side */
    for (int64_t first = 0; first < COLUMNS; first += FLOATS) {
        for (int64_t pair = 0; pair < SOME_PACKED / PAIRS; pair += FLOATS) {
            const char *lines = from + first * stride + pair * PAIR;
            transpose->square(to + (pair * COLUMNS + first) * PAIR, COLUMNS * PAIR, lines, stride, 0);
        }
    }
}

/* Of columns that stand in memory, one at a time so that each is read for a while: what follows, or the beginning of the next ones. */
INLINED void ask_for_column(const matrix *b, int64_t item, int64_t d, int64_t depth)
{
    const int64_t column = d / SOME_PACKED % COLUMNS, next = d / AHEAD * AHEAD + AHEAD;
    const char *place = b->memory + column * b->across + (next < depth ? next * item : COLUMNS * b->across);
    prefetch_bytes(place, AHEAD * item);
}

INLINED void multiply_thin_type(float *sums, float *pieces, const float *a, int64_t size, const matrix *b, int64_t dtype, int64_t lowered,
                                int64_t depth, int64_t rows, int64_t columns)
{
    const int64_t item = item_of(dtype), width = rows == 1 ? 1 : WIDTH, in_place = b->across == item && !lowered && columns >= COLUMNS;
    const int64_t some = in_place ? SOME_IN_PLACE : SOME_PACKED;
    for (int64_t first = 0; !first || first < depth; first += PIECE) {
        const int64_t end = first + least_of(depth - first, PIECE);
        for (int64_t d = first; d == first || d < end; d += some) {
            const int64_t deep = least_of(end - d, some);
            const float *left = a + d * width;
            for (int64_t column = 0; column < columns; column += COLUMNS) {
                const int64_t count = least_of(columns - column, COLUMNS);
                const char *place = b->memory + d * b->down + column * b->across;
                float *tile = pieces + column * rows;
                if (in_place && count == COLUMNS) {
                    for (int64_t k = SOME_IN_PLACE; k < 2 * SOME_IN_PLACE; k++) {
                        prefetch_bytes(place + k * b->down, COLUMNS * item);
                    }
                    go_on_down(tile, left, width, size, place, b->down, dtype, LINES, deep, d == first, rows, VECTORS);
                    continue;
                }
                float numbers[SOME_PACKED * COLUMNS] __attribute__((aligned(VECTOR_BYTES)));
                if (dtype != F32 && b->down == item && !lowered && count == COLUMNS && deep == SOME_PACKED && !is_crowded(place, b->across)) {
                    turn_pairs((char *)numbers, place, b->across);
                    ask_for_column(b, item, d, depth);
                    go_on_down(tile, left, width, size, (const char *)numbers, COLUMNS * PAIRS * item, dtype, PAIRS, deep, d == first, rows, VECTORS);
                    continue;
                }
                pack(numbers, COLUMNS, place, dtype, b->across, b->down, count, deep);
                if (lowered) {
                    lower(numbers, deep * COLUMNS, lowered);
                }
                if (b->down == item) {
                    ask_for_column(b, item, d, depth);
                }
                if (count > FLOATS) {
                    go_on_down(tile, left, width, size, (const char *)numbers, COLUMNS * sizeof(float), F32, LINES, deep, d == first, rows, VECTORS);
                } else {
                    go_on_down(tile, left, width, size, (const char *)numbers, COLUMNS * sizeof(float), F32, LINES, deep, d == first, rows, 1);
                }
            }
        }
        for (int64_t n = 0; n < (columns + COLUMNS - 1) / COLUMNS * COLUMNS * rows; n += FLOATS) {
            const float_vector piece = read_float(pieces + n);
            write_float(sums + n, first ? read_float(sums + n) + piece : piece);
        }
    }
}

static void multiply_thin(float *sums, float *pieces, const float *a, int64_t size, const matrix *b, int64_t lowered, int64_t depth, int64_t rows,
                          int64_t columns)
{
    if (b->dtype == F32) {
        multiply_thin_type(sums, pieces, a, size, b, F32, lowered, depth, rows, columns);
    } else if (b->dtype == F16) {
        multiply_thin_type(sums, pieces, a, size, b, F16, lowered, depth, rows, columns);
    } else {
        multiply_thin_type(sums, pieces, a, size, b, BF16, lowered, depth, rows, columns);
    }
}

static void multiply_pieces(float *sums, const matrix *a, const matrix *b, int64_t lowered, int64_t count, int64_t depth)
{
    for (int64_t first = 0; first < count; first += FLOATS) {
        const int64_t some = least_of(count - first, FLOATS);
        float_vector sum = all_float(0);
        for (int64_t d = 0; d < depth; d += LINE) {
            const int64_t deep = least_of(depth - d, LINE);
            float left[LINE * FLOATS] __attribute__((aligned(VECTOR_BYTES))), right[LINE * FLOATS] __attribute__((aligned(VECTOR_BYTES)));
            pack(left, FLOATS, a->memory + (first * PIECE + d) * a->across, a->dtype, PIECE * a->across, a->across, some, deep);
            pack(right, FLOATS, b->memory + (first * PIECE + d) * b->down, b->dtype, PIECE * b->down, b->down, some, deep);
            if (lowered) {
                lower(left, deep * FLOATS, lowered);
                lower(right, deep * FLOATS, lowered);
            }
            for (int64_t k = 0; k < deep; k++) {
                sum = fma_float(read_float(left + k * FLOATS), read_float(right + k * FLOATS), sum);
            }
        }
        float numbers[FLOATS];
        write_float(numbers, sum);
        memcpy(sums + first, numbers, (size_t)some * sizeof(float));
    }
}

static void finish(const tile_end *end, float *sums, int64_t row, int64_t column, int64_t rows, int64_t columns)
{
    for (int64_t r = 0; r < rows; r++, row++) {
        float *values = sums + r * COLUMNS, others[COLUMNS];
        char *partial = end->partial.memory + row * end->partial.down + column * (int64_t)sizeof(float);
        if (end->continued) {
            load(others, partial, sizeof(float), F32, columns);
            for (int64_t n = 0; n < columns; n += FLOATS) {
                write_float(values + n, read_float(others + n) + read_float(values + n));
            }
        }
        if (!end->complete) {
            store(partial, sizeof(float), F32, values, columns);
            continue;
        }
        if (end->added.memory) {
            const matrix *added = &end->added;
            load(others, added->memory + row * added->down + column * added->across, added->across, added->dtype, columns);
            for (int64_t n = 0; n < columns; n += FLOATS) {
                write_float(values + n, read_float(values + n) * all_float(end->alpha) + read_float(others + n) * all_float(end->beta));
            }
        }
        store(end->out.memory + row * end->out.down + column * end->out.across, end->out.across, end->out.dtype, values, columns);
    }
}

const gemm_code PRODUCTS = {ROWS, COLUMNS, WIDTH, pack, lower, multiply, multiply_rows, multiply_thin, multiply_pieces, finish};

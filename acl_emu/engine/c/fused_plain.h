/* Kernels of graphs that do nothing with elements but add up an input, or look for its largest number. All of them are written here; fused.c refers to them. */
#ifndef ACL_EMU_FUSED_PLAIN_H
#define ACL_EMU_FUSED_PLAIN_H

#include "fused.h"

/* A row, or a part of one. */

#define SUM_OF_ROW(storage)                                                                                               \
    static void sum_of_row_##storage(const fused_call *call, size_t n)                                                    \
    {                                                                                                                     \
        double_vector low = all_double(0), high = low;                                                                    \
        add_row_##storage(call->ins[0], n, &low, &high);                                                                  \
        store_sums(call->sums, low, high);                                                                                \
    }                                                                                                                     \
    static void max_of_row_##storage(const fused_call *call, size_t n)                                                    \
    {                                                                                                                     \
        store_largest(call->sums, largest_##storage(call->ins[0], n));                                                    \
    }
SUM_OF_ROW(f32)
SUM_OF_ROW(f16)
SUM_OF_ROW(bf16)

/* Several rows, of each of which `sums` gets one number: the same that its PARTIALS would come to. Where they lie apart, the beginning of the next one is
 * asked for: a processor does not foresee it. */

enum { ASKED_OF_ROW = 1024 };

static inline void ask_for_next_row(const char *row, int64_t pitch, int64_t size)
{
    if (pitch != size) {
        ask_for(row + pitch, size < ASKED_OF_ROW ? size : ASKED_OF_ROW);
    }
}

#define SUMS_OF_ROWS(storage, type)                                                                                       \
    static void sum_of_rows_##storage(const fused_call *call, size_t n)                                                   \
    {                                                                                                                     \
        const char *row = call->ins[0];                                                                                   \
        int64_t k = 0;                                                                                                    \
        double_vector low, high;                                                                                          \
        SUMS_OF_EIGHT_ROWS(storage, type)                                                                                 \
        for (; k < call->rows; k++, row += call->pitches[0]) {                                                            \
            ask_for_next_row(row, call->pitches[0], n * sizeof(type));                                                    \
            low = high = all_double(0);                                                                                   \
            add_row_##storage(row, n, &low, &high);                                                                       \
            call->sums[k] = sums_of(low, high);                                                                           \
        }                                                                                                                 \
    }                                                                                                                     \
    static void max_of_rows_##storage(const fused_call *call, size_t n)                                                   \
    {                                                                                                                     \
        for (int64_t k = 0; k < call->rows; k++) {                                                                        \
            call->sums[k] = largest_##storage((const char *)call->ins[0] + k * call->pitches[0], n);                      \
        }                                                                                                                 \
    }
#ifdef HAS_64
#define SUMS_OF_EIGHT_ROWS(storage, type)                                                                                 \
    for (; k + 8 <= call->rows; k += 8) {                                                                                 \
        double_vector sums[8];                                                                                            \
        EVERY for (int r = 0; r < 8; r++, row += call->pitches[0]) {                                                      \
            ask_for_next_row(row, call->pitches[0], n * sizeof(type));                                                    \
            low = high = all_double(0);                                                                                   \
            add_row_##storage(row, n, &low, &high);                                                                       \
            sums[r] = low + high;                                                                                         \
        }                                                                                                                 \
        write_double(call->sums + k, sums_of_eight(sums));                                                                \
    }
#else
#define SUMS_OF_EIGHT_ROWS(storage, type)
#endif
SUMS_OF_ROWS(f32, float)
SUMS_OF_ROWS(f16, uint16_t)
SUMS_OF_ROWS(bf16, uint16_t)

/* Columns: some rows at a time, so that what they have come to is fetched less often; all of them, where few vectors hold that. Of some, those that
 * follow are asked for meanwhile: rows of a column lie in other pages than each other, which the processor does not foresee. */

enum { COLUMN_BLOCK = 4 * FLOATS, ROWS_AT_ONCE = 8 };

/* Some rows of a block, and how many bytes on the rows are that follow. */
typedef struct {
    const char *first;
    int64_t pitch, count, ahead;
} column_rows;

/* A block is `width` columns. */
static inline __attribute__((always_inline)) void sum_of_block_f32(const column_rows *rows, double *sums, size_t width)
{
    double_vector held[COLUMN_BLOCK / DOUBLES];
    EVERY for (size_t k = 0; k < width / DOUBLES; k++) {
        held[k] = read_double(sums + k * DOUBLES);
    }
    for (int64_t row = 0; row < rows->count; row++) {
        const char *from = rows->first + row * rows->pitch;
        ask_for(from + rows->ahead, width * sizeof(float));
        EVERY for (size_t k = 0; k < width / DOUBLES; k++) {
            held[k] = added_double(held[k], double_of_floats((const float *)from + k * DOUBLES));
        }
    }
    EVERY for (size_t k = 0; k < width / DOUBLES; k++) {
        write_double(sums + k * DOUBLES, held[k]);
    }
}

/* Numbers of half types are mostly added up in float: if that is not exact, in the same order in double. */
#define READ_ROW(half, from, pitch, row) read_##half((const uint16_t *)((from) + (int64_t)(row) * (pitch)))
#define ROWS_FIT(half, from, pitch, sum)                                                                                  \
    PAIRS_FIT(ROWS_AT_ONCE, 2, (first = READ_ROW(half, from, pitch, k), second = READ_ROW(half, from, pitch, k + 1)), sum)

#define SUM_OF_BLOCK(half)                                                                                                \
    static inline void add_rows_##half(const char *from, int64_t pitch, double_vector *low, double_vector *high)          \
    {                                                                                                                     \
        float_vector sum;                                                                                                 \
        double_vector lower = all_double(0), upper = lower;                                                               \
        if (ROWS_FIT(half, from, pitch, sum)) {                                                                           \
            lower = lower_half(sum);                                                                                      \
            upper = upper_half(sum);                                                                                      \
        } else {                                                                                                          \
            for (int k = 0; k < ROWS_AT_ONCE; k += 2) {                                                                   \
                const float_vector first = READ_ROW(half, from, pitch, k), second = READ_ROW(half, from, pitch, k + 1);   \
                lower += lower_half(first) + lower_half(second);                                                          \
                upper += upper_half(first) + upper_half(second);                                                          \
            }                                                                                                             \
        }                                                                                                                 \
        *low += lower;                                                                                                    \
        *high += upper;                                                                                                   \
    }                                                                                                                     \
    static inline __attribute__((always_inline)) void sum_of_block_##half(const column_rows *rows, double *sums, size_t width) \
    {                                                                                                                     \
        int64_t row = 0;                                                                                                  \
        double_vector low[COLUMN_BLOCK / FLOATS], high[COLUMN_BLOCK / FLOATS];                                            \
        EVERY for (size_t k = 0; k < width / FLOATS; k++) {                                                               \
            low[k] = read_double(sums + k * FLOATS);                                                                      \
            high[k] = read_double(sums + k * FLOATS + DOUBLES);                                                           \
        }                                                                                                                 \
        for (; row + ROWS_AT_ONCE <= rows->count; row += ROWS_AT_ONCE) {                                                  \
            const char *from = rows->first + row * rows->pitch;                                                           \
            for (int k = 0; k < ROWS_AT_ONCE; k++) {                                                                      \
                ask_for(from + rows->ahead + k * rows->pitch, width * sizeof(uint16_t));                                  \
            }                                                                                                             \
            EVERY for (size_t k = 0; k < width / FLOATS; k++) {                                                           \
                add_rows_##half(from + k * FLOATS * sizeof(uint16_t), rows->pitch, &low[k], &high[k]);                    \
            }                                                                                                             \
        }                                                                                                                 \
        for (; row < rows->count; row++) {                                                                                \
            const uint16_t *from = (const uint16_t *)(rows->first + row * rows->pitch);                                   \
            EVERY for (size_t k = 0; k < width / FLOATS; k++) {                                                           \
                const float_vector values = read_##half(from + k * FLOATS);                                               \
                low[k] = added_double(low[k], lower_half(values));                                                        \
                high[k] = added_double(high[k], upper_half(values));                                                      \
            }                                                                                                             \
        }                                                                                                                 \
        EVERY for (size_t k = 0; k < width / FLOATS; k++) {                                                               \
            write_double(sums + k * FLOATS, low[k]);                                                                      \
            write_double(sums + k * FLOATS + DOUBLES, high[k]);                                                           \
        }                                                                                                                 \
    }
SUM_OF_BLOCK(f16)
SUM_OF_BLOCK(bf16)

/* What is no number is looked for apart from the largest: what has been found before stays if it is none. */
#define MAX_OF_BLOCK(storage, type, read)                                                                                 \
    static inline __attribute__((always_inline)) void max_of_block_##storage(const column_rows *rows, double *sums, size_t width) \
    {                                                                                                                     \
        float_vector held[COLUMN_BLOCK / FLOATS];                                                                         \
        float_mask nans[COLUMN_BLOCK / FLOATS];                                                                           \
        EVERY for (size_t k = 0; k < width / FLOATS; k++) {                                                               \
            held[k] = joined(read_double(sums + k * FLOATS), read_double(sums + k * FLOATS + DOUBLES));                   \
            nans[k] = first_ones(0);                                                                                      \
        }                                                                                                                 \
        for (int64_t row = 0; row < rows->count; row++) {                                                                 \
            const char *from = rows->first + row * rows->pitch;                                                           \
            ask_for(from + rows->ahead, width * sizeof(type));                                                            \
            EVERY for (size_t k = 0; k < width / FLOATS; k++) {                                                           \
                const float_vector values = read((const type *)from + k * FLOATS);                                        \
                held[k] = larger_float(held[k], values);                                                                  \
                nans[k] |= unordered(values, values);                                                                     \
            }                                                                                                             \
        }                                                                                                                 \
        EVERY for (size_t k = 0; k < width / FLOATS; k++) {                                                               \
            const float_vector largest = select_float(nans[k], all_float(NAN), held[k]);                                  \
            write_double(sums + k * FLOATS, lower_half(largest));                                                         \
            write_double(sums + k * FLOATS + DOUBLES, upper_half(largest));                                               \
        }                                                                                                                 \
    }
MAX_OF_BLOCK(f32, float, read_float)
MAX_OF_BLOCK(f16, uint16_t, read_f16)
MAX_OF_BLOCK(bf16, uint16_t, read_bf16)

/* The last columns, fewer than a vector holds, are taken along with those before them, or filled up with zeros. */
#define OF_COLUMNS(reduction, storage, type)                                                                              \
    static void reduction##_of_last_columns_##storage(const column_rows *rows, double *sums, size_t left)                 \
    {                                                                                                                     \
        char padded[ROWS_AT_ONCE * VECTOR_BYTES];                                                                         \
        column_rows some = {padded, VECTOR_BYTES, ROWS_AT_ONCE, 0};                                                       \
        for (int64_t row = 0; row < rows->count; row += ROWS_AT_ONCE) {                                                   \
            some.count = rows->count - row < ROWS_AT_ONCE ? rows->count - row : ROWS_AT_ONCE;                             \
            for (int64_t k = 0; k < some.count; k++) {                                                                    \
                read_part(padded + k * VECTOR_BYTES, rows->first + (row + k) * rows->pitch, left * sizeof(type));         \
            }                                                                                                             \
            reduction##_of_block_##storage(&some, sums, FLOATS);                                                          \
        }                                                                                                                 \
    }                                                                                                                     \
    static void reduction##_of_columns_##storage(const fused_call *call, size_t n)                                        \
    {                                                                                                                     \
        const int64_t pitch = call->pitches[0], together = n <= COLUMN_BLOCK ? call->rows : ROWS_AT_ONCE;                 \
        for (int64_t first = 0; first < call->rows; first += together) {                                                  \
            const int64_t left = call->rows - first, count = left < together ? left : together;                           \
            column_rows rows = {(const char *)call->ins[0] + first * pitch, pitch, count, left >= 2 * together ? together * pitch : 0}; \
            size_t i = 0;                                                                                                 \
            for (; i + COLUMN_BLOCK <= n; i += COLUMN_BLOCK, rows.first += COLUMN_BLOCK * sizeof(type)) {                 \
                reduction##_of_block_##storage(&rows, call->sums + i, COLUMN_BLOCK);                                      \
            }                                                                                                             \
            for (; i + FLOATS <= n; i += FLOATS, rows.first += FLOATS * sizeof(type)) {                                   \
                reduction##_of_block_##storage(&rows, call->sums + i, FLOATS);                                            \
            }                                                                                                             \
            if (i < n && i) {                                                                                             \
                double last[FLOATS];                                                                                      \
                memcpy(last, call->sums + n - FLOATS, sizeof last);                                                       \
                rows.first -= (i + FLOATS - n) * sizeof(type);                                                            \
                reduction##_of_block_##storage(&rows, last, FLOATS);                                                      \
                memcpy(call->sums + i, last + (i + FLOATS - n), (n - i) * sizeof(double));                                \
            } else if (i < n) {                                                                                           \
                reduction##_of_last_columns_##storage(&rows, call->sums, n);                                              \
            }                                                                                                             \
        }                                                                                                                 \
    }
OF_COLUMNS(sum, f32, float)
OF_COLUMNS(sum, f16, uint16_t)
OF_COLUMNS(sum, bf16, uint16_t)
OF_COLUMNS(max, f32, float)
OF_COLUMNS(max, f16, uint16_t)
OF_COLUMNS(max, bf16, uint16_t)

#endif

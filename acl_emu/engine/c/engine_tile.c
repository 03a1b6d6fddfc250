/* What runs on tiles, compiled once for each instruction set: single steps, casts, reductions, transpositions.
 *
 * TILES names the table that comes out. Compiled without contraction and without -ffast-math: every + - * / is rounded as written. */
#define _GNU_SOURCE
#include "engine_types.h"

/* A loop that reads nothing of what it has written before, though both may lie in the same place. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define HALF_TYPE(half)                                                                                        \
    static void load_##half##_float(void *lanes, const void *memory, size_t n)                                 \
    {                                                                                                          \
        float *d = lanes;                                                                                      \
        const uint16_t *a = memory;                                                                            \
        size_t i = 0;                                                                                          \
        for (; i + FLOATS <= n; i += FLOATS) {                                                                           \
            write_float(d + i, read_##half(a + i));                                                            \
        }                                                                                                      \
        if (i < n) {                                                                                           \
            char from[VECTOR_BYTES], to[VECTOR_BYTES];                                                         \
            read_part(from, a + i, (n - i) * sizeof *a);                                                       \
            write_float((float *)to, read_##half((const uint16_t *)from));                                     \
            write_part(d + i, to, (n - i) * sizeof *d);                                                        \
        }                                                                                                      \
    }                                                                                                          \
    static void load_##half##_double(void *lanes, const void *memory, size_t n)                                \
    {                                                                                                          \
        double *d = lanes;                                                                                     \
        const uint16_t *a = memory;                                                                            \
        size_t i = 0;                                                                                          \
        for (; i + FLOATS <= n; i += FLOATS) {                                                                           \
            const float_vector values = read_##half(a + i);                                                    \
            write_double(d + i, lower_half(values));                                                           \
            write_double(d + i + DOUBLES, upper_half(values));                                                       \
        }                                                                                                      \
        for (; i < n; i++) {                                                                                   \
            d[i] = float_of_##half(a[i]);                                                                      \
        }                                                                                                      \
    }                                                                                                          \
    static void store_##half##_float(void *memory, const void *lanes, size_t n)                                \
    {                                                                                                          \
        uint16_t *d = memory;                                                                                  \
        const float *a = lanes;                                                                                \
        size_t i = 0;                                                                                          \
        for (; i + FLOATS <= n; i += FLOATS) {                                                                           \
            write_##half(d + i, read_float(a + i));                                                            \
        }                                                                                                      \
        if (i < n) {                                                                                           \
            char from[VECTOR_BYTES], to[VECTOR_BYTES];                                                         \
            read_part(from, a + i, (n - i) * sizeof *a);                                                       \
            write_##half((uint16_t *)to, read_float((const float *)from));                                     \
            write_part(d + i, to, (n - i) * sizeof *d);                                                        \
        }                                                                                                      \
    }                                                                                                          \
    static void store_##half##_double(void *memory, const void *lanes, size_t n)                               \
    {                                                                                                          \
        uint16_t *d = memory;                                                                                  \
        const double *a = lanes;                                                                               \
        size_t i = 0;                                                                                          \
        for (; i + FLOATS <= n; i += FLOATS) {                                                                           \
            write_##half(d + i, odd_joined(read_double(a + i), read_double(a + i + DOUBLES)));                       \
        }                                                                                                      \
        for (; i < n; i++) {                                                                                   \
            d[i] = half##_of_float(odd_float(a[i]));                                                           \
        }                                                                                                      \
    }

HALF_TYPE(f16)
HALF_TYPE(bf16)

#include "tile_steps.h"

#define STREAM_STORE(name, type, stream, rounded, last)                                                              \
    static void stream_store_##name(void *memory, const void *lanes, size_t n)                                 \
    {                                                                                                          \
        type *d = memory;                                                                                      \
        const float *a = lanes;                                                                                \
        size_t i = 0;                                                                                          \
        for (; i + FLOATS <= n; i += FLOATS) {                                                                 \
            stream(d + i, rounded(read_float(a + i)));                                                         \
        }                                                                                                      \
        last(d + i, a + i, (n - i));                                                             \
    }
#define COPY_FLOATS(to, from, n) memcpy(to, from, (n) * sizeof(float))
STREAM_STORE(f32, float, stream_float, , COPY_FLOATS)
STREAM_STORE(f16, uint16_t, stream_half, rounded_f16, store_f16_float)
STREAM_STORE(bf16, uint16_t, stream_half, rounded_bf16, store_bf16_float)

#if defined(HAS_64)
/* Sixteen lines of sixteen elements of four bytes; each store fills a cache line. */
static inline __attribute__((always_inline)) void transpose_registers(__m512i line[16], char *to, int64_t to_stride, int streamed)
{
    __m512i pair[16];
    for (int k = 0; k < 16; k += 2) {
        pair[k] = _mm512_unpacklo_epi32(line[k], line[k + 1]);
        pair[k + 1] = _mm512_unpackhi_epi32(line[k], line[k + 1]);
    }
    for (int k = 0; k < 16; k += 4) {
        line[k] = _mm512_unpacklo_epi64(pair[k], pair[k + 2]);
        line[k + 1] = _mm512_unpackhi_epi64(pair[k], pair[k + 2]);
        line[k + 2] = _mm512_unpacklo_epi64(pair[k + 1], pair[k + 3]);
        line[k + 3] = _mm512_unpackhi_epi64(pair[k + 1], pair[k + 3]);
    }
    for (int k = 0; k < 4; k++) {
        pair[k] = _mm512_shuffle_i32x4(line[k], line[k + 4], 0x88);
        pair[k + 4] = _mm512_shuffle_i32x4(line[k], line[k + 4], 0xdd);
        pair[k + 8] = _mm512_shuffle_i32x4(line[k + 8], line[k + 12], 0x88);
        pair[k + 12] = _mm512_shuffle_i32x4(line[k + 8], line[k + 12], 0xdd);
    }
    for (int k = 0; k < 8; k++) {
        line[k] = _mm512_shuffle_i32x4(pair[k], pair[k + 8], 0x88);
        line[k + 8] = _mm512_shuffle_i32x4(pair[k], pair[k + 8], 0xdd);
    }
    for (int k = 0; k < 16; k++) {
        if (streamed) {
            _mm512_stream_si512((void *)(to + k * to_stride), line[k]);
        } else {
            _mm512_storeu_si512(to + k * to_stride, line[k]);
        }
    }
}

static void transpose_lines_4(char *to, int64_t to_stride, const char *from, int64_t from_stride, int streamed)
{
    __m512i line[16];
    for (int k = 0; k < 16; k++) {
        line[k] = _mm512_loadu_si512(from + k * from_stride);
    }
    transpose_registers(line, to, to_stride, streamed);
}

/* Four elements of each of 64 lines: four rows of whole cache lines that follow each other. */
static void transpose_strip_4(char *to, int64_t to_stride, const char *from, int64_t from_stride, int streamed)
{
    __m512i row[4][4];
    for (int k = 0; k < 4; k++, from += 16 * from_stride) {
        __m512i line[4], pair[4];
        for (int l = 0; l < 4; l++) {
            const char *next = from + l * from_stride;
            line[l] = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)next));
            line[l] = _mm512_mask_broadcast_i32x4(line[l], 0x00f0, _mm_loadu_si128((const __m128i *)(next + 4 * from_stride)));
            line[l] = _mm512_mask_broadcast_i32x4(line[l], 0x0f00, _mm_loadu_si128((const __m128i *)(next + 8 * from_stride)));
            line[l] = _mm512_mask_broadcast_i32x4(line[l], 0xf000, _mm_loadu_si128((const __m128i *)(next + 12 * from_stride)));
        }
        for (int l = 0; l < 4; l += 2) {
            pair[l] = _mm512_unpacklo_epi32(line[l], line[l + 1]);
            pair[l + 1] = _mm512_unpackhi_epi32(line[l], line[l + 1]);
        }
        for (int l = 0; l < 2; l++) {
            row[2 * l][k] = _mm512_unpacklo_epi64(pair[l], pair[l + 2]);
            row[2 * l + 1][k] = _mm512_unpackhi_epi64(pair[l], pair[l + 2]);
        }
    }
    for (int l = 0; l < 4; l++) {
        for (int k = 0; k < 4; k++) {
            if (streamed) {
                _mm512_stream_si512((void *)(to + l * to_stride + k * CACHE_LINE), row[l][k]);
            } else {
                _mm512_storeu_si512(to + l * to_stride + k * CACHE_LINE, row[l][k]);
            }
        }
    }
}

/* Lines in pairs, whose elements side by side are like one of four bytes. */
static void transpose_lines_2(char *to, int64_t to_stride, const char *from, int64_t from_stride, int streamed)
{
    uint16_t order[32];
    for (int half = 0; half < 32; half += 16) {
        for (int k = 0; k < 32; k++) {
            order[k] = (uint16_t)(half + k / 2 + k % 2 * 32);
        }
        const __m512i side_by_side = _mm512_loadu_si512(order);
        __m512i line[16];
        for (int k = 0; k < 16; k++) {
            const char *pair = from + 2 * k * from_stride;
            line[k] = _mm512_permutex2var_epi16(_mm512_loadu_si512(pair), side_by_side, _mm512_loadu_si512(pair + from_stride));
        }
        transpose_registers(line, to + half * to_stride, to_stride, streamed);
    }
}
#endif

#if defined(HAS_64) || defined(HAS_32)
static void transpose_4(char *to, int64_t to_stride, const char *from, int64_t from_stride, int streamed)
{
    __m256 line[8], pair[8];
    for (int k = 0; k < 8; k++) {
        line[k] = _mm256_loadu_ps((const float *)(from + k * from_stride));
    }
    for (int k = 0; k < 8; k += 2) {
        pair[k] = _mm256_unpacklo_ps(line[k], line[k + 1]);
        pair[k + 1] = _mm256_unpackhi_ps(line[k], line[k + 1]);
    }
    for (int k = 0; k < 8; k += 4) {
        line[k] = _mm256_shuffle_ps(pair[k], pair[k + 2], 0x44);
        line[k + 1] = _mm256_shuffle_ps(pair[k], pair[k + 2], 0xee);
        line[k + 2] = _mm256_shuffle_ps(pair[k + 1], pair[k + 3], 0x44);
        line[k + 3] = _mm256_shuffle_ps(pair[k + 1], pair[k + 3], 0xee);
    }
    for (int k = 0; k < 8; k++) {
        const __m256 transposed = k < 4 ? _mm256_permute2f128_ps(line[k], line[k + 4], 0x20) : _mm256_permute2f128_ps(line[k - 4], line[k], 0x31);
        if (streamed) {
            _mm256_stream_ps((float *)(to + k * to_stride), transposed);
        } else {
            _mm256_storeu_ps((float *)(to + k * to_stride), transposed);
        }
    }
}

static void transpose_1(char *to, int64_t to_stride, const char *from, int64_t from_stride, int streamed)
{
    __m128i line[16], pair[16];
    for (int k = 0; k < 16; k++) {
        line[k] = _mm_loadu_si128((const __m128i *)(from + k * from_stride));
    }
    for (int round = 0; round < 4; round++) {
        for (int k = 0; k < 8; k++) {
            pair[2 * k] = _mm_unpacklo_epi8(line[k], line[k + 8]);
            pair[2 * k + 1] = _mm_unpackhi_epi8(line[k], line[k + 8]);
        }
        memcpy(line, pair, sizeof line);
    }
    for (int k = 0; k < 16; k++) {
        if (streamed) {
            _mm_stream_si128((__m128i *)(to + k * to_stride), line[k]);
        } else {
            _mm_storeu_si128((__m128i *)(to + k * to_stride), line[k]);
        }
    }
}

static void transpose_2(char *to, int64_t to_stride, const char *from, int64_t from_stride, int streamed)
{
    __m128i line[8], pair[8];
    for (int k = 0; k < 8; k++) {
        line[k] = _mm_loadu_si128((const __m128i *)(from + k * from_stride));
    }
    for (int k = 0; k < 4; k++) {
        pair[2 * k] = _mm_unpacklo_epi16(line[k], line[k + 4]);
        pair[2 * k + 1] = _mm_unpackhi_epi16(line[k], line[k + 4]);
    }
    for (int k = 0; k < 4; k++) {
        line[2 * k] = _mm_unpacklo_epi16(pair[k], pair[k + 4]);
        line[2 * k + 1] = _mm_unpackhi_epi16(pair[k], pair[k + 4]);
    }
    for (int k = 0; k < 8; k++) {
        const __m128i transposed = k % 2 ? _mm_unpackhi_epi16(line[k / 2], line[k / 2 + 4]) : _mm_unpacklo_epi16(line[k / 2], line[k / 2 + 4]);
        if (streamed) {
            _mm_stream_si128((__m128i *)(to + k * to_stride), transposed);
        } else {
            _mm_storeu_si128((__m128i *)(to + k * to_stride), transposed);
        }
    }
}
#else
#define TRANSPOSE(name, type, side)                                                                         \
    static void name(char *to, int64_t to_stride, const char *from, int64_t from_stride, int streamed) \
    {                                                                                                  \
        (void)streamed;                                                                                \
        for (int i = 0; i < side; i++) {                                                               \
            for (int k = 0; k < side; k++) {                                                           \
                memcpy(to + i * to_stride + k * (int)sizeof(type), from + k * from_stride + i * (int)sizeof(type), sizeof(type)); \
            }                                                                                          \
        }                                                                                              \
    }
TRANSPOSE(transpose_1, uint8_t, 16)
TRANSPOSE(transpose_2, uint16_t, 8)
TRANSPOSE(transpose_4, uint32_t, 8)
#endif

/* Elements some steps apart, one after the other, and back again; at any address. What lies between them may belong to somebody else: it is not written, and
 * behind the last one not even read. What is done with vectors says how many elements that were. */
typedef uint16_t loose_2 __attribute__((aligned(1), may_alias));
typedef uint32_t loose_4 __attribute__((aligned(1), may_alias));
#if defined(HAS_64)
#define LANES_0_TO_31 {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}
#define STEPS(type, bits, digits, size)                                                                    \
    static const uint##bits##_t lanes_##type[32] = LANES_0_TO_31;                                          \
    static size_t take_##type(type *to, const type *from, int64_t step, size_t n)                          \
    {                                                                                                      \
        enum { EACH = CACHE_LINE / sizeof(type) };                                                         \
        const __m512i where = _mm512_mullo_epi##bits(_mm512_loadu_si512(lanes_##type), _mm512_set1_epi##bits((int##bits##_t)step)); \
        __mmask##size in[MOST_STEP]; /* those who are in a vector; of where they are a permutation takes the last digits */ \
        for (int64_t k = 0; k < step; k++) {                                                               \
            in[k] = _mm512_cmpeq_epi##bits##_mask(_mm512_srli_epi##bits(where, digits), _mm512_set1_epi##bits((int##bits##_t)k)); \
        }                                                                                                  \
        size_t done = 0;                                                                                   \
        for (; n - done > EACH; done += EACH, from += step * EACH) {                                       \
            __m512i some = _mm512_permutexvar_epi##bits(where, _mm512_loadu_si512(from));                  \
            for (int64_t k = 1; k < step; k++) {                                                           \
                some = _mm512_mask_permutexvar_epi##bits(some, in[k], where, _mm512_loadu_si512(from + k * EACH)); \
            }                                                                                              \
            _mm512_storeu_si512(to + done, some);                                                          \
        }                                                                                                  \
        return done;                                                                                       \
    }                                                                                                      \
    static size_t put_second_##type(type *to, const type *from, size_t n)                                  \
    {                                                                                                      \
        enum { EACH = CACHE_LINE / sizeof(type) };                                                         \
        const __mmask##size every_second = (__mmask##size)0x55555555;                                      \
        const __m512i low = _mm512_srli_epi##bits(_mm512_loadu_si512(lanes_##type), 1);                    \
        const __m512i high = _mm512_add_epi##bits(low, _mm512_set1_epi##bits(EACH / 2));                   \
        size_t done = 0;                                                                                   \
        for (; n - done >= EACH; done += EACH, to += 2 * EACH) {                                           \
            const __m512i some = _mm512_loadu_si512(from + done);                                          \
            _mm512_mask_storeu_epi##bits(to, every_second, _mm512_permutexvar_epi##bits(low, some));       \
            _mm512_mask_storeu_epi##bits(to + EACH, every_second, _mm512_permutexvar_epi##bits(high, some)); \
        }                                                                                                  \
        return done;                                                                                       \
    }
#else
#define STEPS(type, bits, digits, size)                                                                    \
    static size_t take_##type(type *to, const type *from, int64_t step, size_t n)                          \
    {                                                                                                      \
        enum { EACH = CACHE_LINE / sizeof(type) };                                                         \
        size_t done = 0;                                                                                   \
        for (; n - done >= EACH; done += EACH, from += step * EACH) {                                      \
            for (int64_t i = 0; i < EACH && step == 2; i++) {                                              \
                to[done + (size_t)i] = from[2 * i];                                                        \
            }                                                                                              \
            for (int64_t i = 0; i < EACH && step != 2; i++) {                                              \
                to[done + (size_t)i] = from[step * i];                                                     \
            }                                                                                              \
        }                                                                                                  \
        return done;                                                                                       \
    }                                                                                                      \
    static size_t put_second_##type(type *to, const type *from, size_t n)                                  \
    {                                                                                                      \
        (void)to, (void)from, (void)n;                                                                     \
        return 0;                                                                                          \
    }
#endif

#define STEPPING(name, type, bits, digits, size)                                                           \
    STEPS(type, bits, digits, size)                                                                        \
    static void take_##name(void *to, const void *from, int64_t step, size_t n)                            \
    {                                                                                                      \
        for (size_t i = take_##type(to, from, step, n); i < n; i++) {                                      \
            ((type *)to)[i] = ((const type *)from)[(int64_t)i * step];                                     \
        }                                                                                                  \
    }                                                                                                      \
    static void put_##name(void *to, int64_t step, const void *from, size_t n)                             \
    {                                                                                                      \
        size_t i = step == 2 ? put_second_##type(to, from, n) : 0;                                         \
        type *d = (type *)to + (int64_t)i * step;                                                          \
        for (const type *a = from; i < n; i++, d += step) {                                                \
            *d = a[i];                                                                                     \
        }                                                                                                  \
    }
STEPPING(steps_2, loose_2, 16, 5, 32)
STEPPING(steps_4, loose_4, 32, 4, 16)

/* Short runs are written in short vectors, few of which go over the end of a cache line. */
#define REPEAT(name, type)                                                                                  \
    static inline __attribute__((always_inline)) void name##_by(char *to, const char *from, int64_t stride, size_t n, size_t size, size_t vector) \
    {                                                                                                       \
        for (; n; n--, from += stride, to += size) {                                                        \
            type value, all[VECTOR_BYTES / sizeof(type)];                                                   \
            memcpy(&value, from, sizeof value);                                                             \
            for (size_t k = 0; k < vector / sizeof(type); k++) {                                            \
                all[k] = value;                                                                             \
            }                                                                                               \
            for (size_t i = 0; i < size; i += vector) {                                                     \
                memcpy(to + i, all, vector);                                                                \
            }                                                                                               \
        }                                                                                                   \
    }                                                                                                       \
    static void name(char *to, const char *from, int64_t stride, size_t n, size_t times)                    \
    {                                                                                                       \
        const size_t size = times * sizeof(type);                                                           \
        if (size <= 16) {                                                                                   \
            name##_by(to, from, stride, n, size, 16);                                                       \
        } else {                                                                                            \
            name##_by(to, from, stride, n, size, VECTOR_BYTES);                                             \
        }                                                                                                   \
    }
REPEAT(repeat_1, uint8_t)
REPEAT(repeat_2, uint16_t)
REPEAT(repeat_4, uint32_t)
REPEAT(repeat_8, uint64_t)

/* Vector by vector, each turned around in registers. */
#define REVERSE(name, type)                                                              \
    static void name(char *to, const char *last, size_t n)                               \
    {                                                                                    \
        enum { MANY = VECTOR_BYTES / sizeof(type) };                                     \
        size_t i = 0;                                                                    \
        for (; i + MANY <= n; i += MANY) {                                               \
            type forth[MANY], back[MANY];                                                \
            memcpy(forth, last - (i + MANY - 1) * sizeof(type), sizeof forth);           \
            for (size_t k = 0; k < MANY; k++) {                                          \
                back[k] = forth[MANY - 1 - k];                                           \
            }                                                                            \
            memcpy(to + i * sizeof(type), back, sizeof back);                            \
        }                                                                                \
        for (; i < n; i++) {                                                             \
            memcpy(to + i * sizeof(type), last - i * sizeof(type), sizeof(type));        \
        }                                                                                \
    }
REVERSE(reverse_1, uint8_t)
REVERSE(reverse_2, uint16_t)
REVERSE(reverse_4, uint32_t)
REVERSE(reverse_8, uint64_t)

static void copy_lines(char *to, int64_t pitch, const char *from, int64_t stride, int64_t count, int64_t size, int64_t ahead, int64_t prefetched)
{
    const int64_t whole = size / CACHE_LINE * CACHE_LINE;
    for (int64_t k = 0; k < count; k++, to += pitch, from += stride) {
        for (int64_t i = 0; i < size && k < prefetched; i += CACHE_LINE) {
            __builtin_prefetch(from + ahead * stride + i, 0, 2); /* not into the first-level cache, where lines far apart drive each other out */
        }
        for (int64_t i = 0; i < whole; i += VECTOR_BYTES) {
            write_float((float *)(to + i), read_float((const float *)(from + i)));
        }
        if (whole < size) {
            memcpy(to + whole, from + whole, (size_t)(size - whole));
        }
    }
}

static void stream(char *to, const char *from, size_t size)
{
    const size_t before = (64 - (uintptr_t)to % 64) % 64, begin = before < size ? before : size, end = begin + (size - begin) / 64 * 64;
    memcpy(to, from, begin);
    for (size_t i = begin; i < end; i += VECTOR_BYTES) {
        stream_float((float *)(to + i), read_float((const float *)(from + i)));
    }
    memcpy(to + end, from + end, size - end);
}

#include "engine_casts.h"

/* Plain loops over doubles, for functions that indices drive. */
static void exp_doubles(double *to, const double *from, size_t n)
{
    INDEPENDENT for (size_t i = 0; i < n; i++)
    {
        to[i] = exp_f64(from[i]);
    }
}

static void log1p_doubles(double *to, const double *from, size_t n)
{
    INDEPENDENT for (size_t i = 0; i < n; i++)
    {
        to[i] = log1p_f64(from[i]);
    }
}

static void add_up(double *partials, const double *numbers, size_t n)
{
    row_sum_f64(partials, numbers, n, 0);
}

/* By the type of the argument; integers with and without a sign are cast alike. */
#define CASTS_TO(to, word)                                                                                                   \
    {                                                                                                                        \
        load_f32_##to, load_f64_##to, load_f16_##to, load_bf16_##to, load_b8_##word, load_i8_##word, load_u8_##word,         \
            load_i16_##word, load_i32_##word, load_i64_##word, load_u16_##word, load_u32_##word, load_u64_##word             \
    }

const tile_code TILES = {
    .steps = steps,
    .step_count = sizeof steps / sizeof steps[0],
    .reductions = reductions,
    .reduction_count = sizeof reductions / sizeof reductions[0],
    .cast = {[F32] = CASTS_TO(float, float),
             [F64] = CASTS_TO(double, double),
             [F16] = CASTS_TO(f16, f16),
             [BF16] = CASTS_TO(bf16, bf16),
             [BOOL8] = CASTS_TO(b8, b8),
             [I8] = CASTS_TO(w8, w8),
             [U8] = CASTS_TO(w8, w8),
             [I16] = CASTS_TO(w16, w16),
             [U16] = CASTS_TO(w16, w16),
             [I32] = CASTS_TO(i32, w32),
             [U32] = CASTS_TO(u32, w32),
             [I64] = CASTS_TO(i64, w64),
             [U64] = CASTS_TO(u64, w64)},
    .stream_store = {stream_store_f32, NULL, stream_store_f16, stream_store_bf16},
    .spread = {[1] = spread_w8, [2] = spread_w16, [4] = spread_w32, [8] = spread_w64},
    .exp = exp_doubles,
    .log1p = log1p_doubles,
    .add_up = add_up,
#ifdef HAS_64
    .transpose = {[1] = {{transpose_1, 16}, {transpose_1, 16}}, [2] = {{transpose_2, 8}, {transpose_lines_2, 32}}, [4] = {{transpose_4, 8}, {transpose_lines_4, 16}}},
    .transpose_strip = transpose_strip_4,
#else
    .transpose = {[1] = {{transpose_1, 16}, {transpose_1, 16}}, [2] = {{transpose_2, 8}, {transpose_2, 8}}, [4] = {{transpose_4, 8}, {transpose_4, 8}}},
#endif
    .take_steps = {take_steps_2, take_steps_4},
    .put_steps = {put_steps_2, put_steps_4},
    .repeat = {repeat_1, repeat_2, repeat_4, repeat_8},
    .reverse = {reverse_1, reverse_2, reverse_4, reverse_8},
    .copy_lines = copy_lines,
    .stream = stream,
    .vector_bytes = VECTOR_BYTES,
};

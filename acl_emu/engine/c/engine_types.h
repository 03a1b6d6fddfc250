/* Vectors and half types: what everything that works on tiles is made of.
 *
 * Three kinds of processors: with 64-byte vectors and masks of bits (HAS_64), with 32-byte vectors and fused multiply-add (HAS_32), and any
 * other, for which the compiler makes 32-byte vectors of what there is. All take the same steps; only the last rounds a product before a sum. */
#ifndef ACL_EMU_ENGINE_TYPES_H
#define ACL_EMU_ENGINE_TYPES_H

#include "engine.h"
#include "functions.h"

#include <math.h>
#include <string.h>
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include <immintrin.h>
#define HAS_64 1
#define VECTOR_BYTES 64
#elif defined(__F16C__) && defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define HAS_32 1
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 32
#endif

/* Numbers in a vector. */
enum { FLOATS = VECTOR_BYTES / 4, DOUBLES = VECTOR_BYTES / 8 };

typedef float float_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t float_words __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t float_bits __attribute__((vector_size(VECTOR_BYTES)));
typedef double double_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t double_words __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t double_bits __attribute__((vector_size(VECTOR_BYTES)));

/* As many numbers of a half type, as they are stored. */
typedef uint16_t half_vector __attribute__((vector_size(VECTOR_BYTES / 2)));

/* Truth values: a bit for each number, or as many bits as the number has. Either way & | ~ work on them. */
#ifdef HAS_64
typedef __mmask16 float_mask;
typedef __mmask8 double_mask;
#else
typedef float_words float_mask;
typedef double_words double_mask;
#endif

#define T float
#define V float_vector
#define M float_mask
#define I float_words
#define NAME(name) name##_float
#ifdef HAS_64
#define BARE __m512
#define WIDE(name) _mm512_##name##_ps
#define WIDE_COMPARED _mm512_cmp_ps_mask
#else
#define BARE __m256
#define WIDE(name) _mm256_##name##_ps
#endif
#define SIGN_BIT ((int32_t)0x80000000)
#include "engine_vector.h"

#define T double
#define V double_vector
#define M double_mask
#define I double_words
#define NAME(name) name##_double
#ifdef HAS_64
#define BARE __m512d
#define WIDE(name) _mm512_##name##_pd
#define WIDE_COMPARED _mm512_cmp_pd_mask
#else
#define BARE __m256d
#define WIDE(name) _mm256_##name##_pd
#endif
#define SIGN_BIT ((int64_t)0x8000000000000000)
#include "engine_vector.h"

/* Half types. Loads are exact; stores round once to nearest, ties to even. */

static inline float float_of_word(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t word_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of_bf16(uint16_t bits)
{
    return float_of_word((uint32_t)bits << 16);
}

static inline uint16_t bf16_of_float(float value)
{
    const uint32_t bits = word_of_float(value), rounded = bits + 0x7fff + (bits >> 16 & 1);
    return value == value ? rounded >> 16 : (bits >> 16 & 0x8000) | 0x7fc0;
}

static inline float float_of_f16(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
    const float normal = float_of_word((rest << 13) + (112u << 23));
    const float small = float_of_word((rest << 13) + (113u << 23)) - float_of_word(113u << 23);
    const float special = float_of_word((rest << 13) | (255u << 23));
    return float_of_word(word_of_float(rest >= 0x7c00 ? special : rest < 0x400 ? (rest ? small : 0.0f) : normal) | sign);
}

static inline uint16_t f16_of_float(float value)
{
    const uint32_t bits = word_of_float(value), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) {
        return sign | 0x7e00;
    }
    if (rest >= 0x477ff000) { /* from the middle between the largest number and the next on */
        return sign | 0x7c00;
    }
    if (rest < 0x38800000) { /* below the smallest normal number: the addition rounds */
        return sign | (word_of_float(float_of_word(rest) + 0.5f) - word_of_float(0.5f));
    }
    return sign | ((rest + 0xfff + (rest >> 13 & 1) - (112u << 23)) >> 13);
}

/* The float next to a double whose last digit is odd where it is not exact: rounding it again gives what rounding once would. */
static inline float odd_float(double value)
{
    const float near = (float)value;
    uint32_t bits = word_of_float(near);
    if ((double)near != value && !(bits & 1)) {
        bits += fabs((double)near) > fabs(value) ? -1 : 1;
    }
    return float_of_word(bits);
}

/* Between vectors of float and the two vectors of double that have as many numbers. */

static inline double_vector lower_half(float_vector values)
{
#if defined(HAS_64)
    return (double_vector)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)values));
#elif defined(HAS_32)
    return (double_vector)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)values));
#else
    return (double_vector){values[0], values[1], values[2], values[3]};
#endif
}

/* Fewer bytes than a vector has: those beyond are read as zero and not written. */

static inline void read_part(void *padded, const void *from, size_t size)
{
#ifdef HAS_64
    _mm512_storeu_si512(padded, _mm512_maskz_loadu_epi8((1ull << size) - 1, from));
#else
    memset(padded, 0, VECTOR_BYTES);
    memcpy(padded, from, size);
#endif
}

/* In parts of as many bytes as powers of two: a masked store of all would hold up whoever reads what lies behind, as rows that follow do. */
static inline void write_part(void *to, const void *padded, size_t size)
{
    char *there = to;
    const char *here = padded;
#define WRITE_SOME(bytes)                 \
    if (size & (bytes)) {                 \
        memcpy(there, here, bytes);       \
        there += (bytes), here += (bytes); \
    }
    WRITE_SOME(32) WRITE_SOME(16) WRITE_SOME(8) WRITE_SOME(4) WRITE_SOME(2) WRITE_SOME(1)
#undef WRITE_SOME
}

/* As many floats of memory as there are doubles in a vector. */
static inline double_vector double_of_floats(const float *memory)
{
#if defined(HAS_64)
    return (double_vector)_mm512_cvtps_pd(_mm256_loadu_ps(memory));
#elif defined(HAS_32)
    return (double_vector)_mm256_cvtps_pd(_mm_loadu_ps(memory));
#else
    return (double_vector){memory[0], memory[1], memory[2], memory[3]};
#endif
}

static inline double_vector upper_half(float_vector values)
{
#if defined(HAS_64)
    return (double_vector)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)values, 1));
#elif defined(HAS_32)
    return (double_vector)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)values, 1));
#else
    return (double_vector){values[4], values[5], values[6], values[7]};
#endif
}

static inline double_mask lower_mask(float_mask mask)
{
#if defined(HAS_64)
    return (double_mask)mask;
#elif defined(HAS_32)
    return (double_mask)_mm256_cvtepi32_epi64(_mm256_castsi256_si128((__m256i)mask));
#else
    return (double_mask){mask[0], mask[1], mask[2], mask[3]};
#endif
}

static inline double_mask upper_mask(float_mask mask)
{
#if defined(HAS_64)
    return (double_mask)(mask >> 8);
#elif defined(HAS_32)
    return (double_mask)_mm256_cvtepi32_epi64(_mm256_extracti128_si256((__m256i)mask, 1));
#else
    return (double_mask){mask[4], mask[5], mask[6], mask[7]};
#endif
}

static inline float_mask joined_masks(double_mask low, double_mask high)
{
#if defined(HAS_64)
    return (float_mask)(low | high << 8);
#elif defined(HAS_32)
    const __m256i lows = (__m256i)low, highs = (__m256i)high; /* a mask is the same in all of its words */
    const __m256i words = (__m256i)_mm256_shuffle_ps((__m256)lows, (__m256)highs, 0x88);
    return (float_mask)_mm256_permute4x64_epi64(words, 0xd8);
#else
    return (float_mask){low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]};
#endif
}

#ifdef HAS_64
static inline float_vector side_by_side(__m256 low, __m256 high)
{
    return (float_vector)_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}
#endif

static inline float_vector joined(double_vector low, double_vector high)
{
#if defined(HAS_64)
    return side_by_side(_mm512_cvtpd_ps((__m512d)low), _mm512_cvtpd_ps((__m512d)high));
#elif defined(HAS_32)
    return (float_vector)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)high), _mm256_cvtpd_ps((__m256d)low));
#else
    return (float_vector){low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]};
#endif
}

#ifdef HAS_64
/* With halves, and with quarters of either, in each other's place. */
static inline double_vector other_half(double_vector values)
{
    return (double_vector)_mm512_shuffle_f64x2((__m512d)values, (__m512d)values, 0x4e);
}

static inline double_vector other_quarter(double_vector values)
{
    return (double_vector)_mm512_shuffle_f64x2((__m512d)values, (__m512d)values, 0xb1);
}
#endif

static inline double sums_of(double_vector low, double_vector high)
{
    double_vector sums = low + high;
#ifdef HAS_64
    sums += other_half(sums);
    sums += other_quarter(sums);
    return sums[0] + sums[1];
#else
    for (int width = DOUBLES / 2; width; width /= 2) {
        for (int k = 0; k < width; k++) {
            sums[k] += sums[k + width];
        }
    }
    return sums[0];
#endif
}

static inline double largest_double_of(double_vector low, double_vector high)
{
    double_vector both = maximum_double(low, high);
    int count = DOUBLES;
#ifdef HAS_64
    both = maximum_double(both, other_half(both));
    both = maximum_double(both, other_quarter(both));
    count = 2;
#endif
    double best = both[0];
    for (int k = 1; k < count; k++) {
        best = best >= both[k] || best != best ? best : both[k];
    }
    return best;
}

static inline int any(float_mask mask)
{
#if defined(HAS_64)
    return mask != 0;
#elif defined(HAS_32)
    return _mm256_movemask_ps((__m256)mask);
#else
    int found = 0;
    for (int i = 0; i < FLOATS; i++) {
        found |= mask[i];
    }
    return found;
#endif
}

/* Where either is no number. */
static inline float_mask unordered(float_vector x, float_vector y)
{
#if defined(HAS_64)
    return _mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_UNORD_Q);
#elif defined(HAS_32)
    return (float_mask)_mm256_cmp_ps((__m256)x, (__m256)y, _CMP_UNORD_Q);
#else
    return not_equal_float(x, x) | not_equal_float(y, y);
#endif
}

/* The first `count` of a vector. */
static inline float_mask first_ones(size_t count)
{
#if defined(HAS_64)
    return (float_mask)((1u << count) - 1);
#else
    const float_words number = {0, 1, 2, 3, 4, 5, 6, 7};
    return number < (float_words){} + (int32_t)count;
#endif
}

/* As many numbers of a half type, and truth values. */

static inline float_vector read_f16(const uint16_t *memory)
{
#if defined(HAS_64)
    return (float_vector)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)memory));
#elif defined(HAS_32)
    return (float_vector)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)memory));
#else
    float_vector values;
    for (int i = 0; i < FLOATS; i++) {
        values[i] = float_of_f16(memory[i]);
    }
    return values;
#endif
}

static inline float_vector read_bf16(const uint16_t *memory)
{
#if defined(HAS_64)
    return (float_vector)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)memory)), 16);
#elif defined(HAS_32)
    return (float_vector)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)memory)), 16);
#else
    float_vector values;
    for (int i = 0; i < FLOATS; i++) {
        values[i] = float_of_bf16(memory[i]);
    }
    return values;
#endif
}

static inline float_mask read_mask(const uint8_t *memory)
{
#if defined(HAS_64)
    const __m128i values = _mm_loadu_si128((const __m128i *)memory);
    return _mm_test_epi8_mask(values, values);
#elif defined(HAS_32)
    const __m256i values = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)memory));
    return (float_mask)_mm256_cmpgt_epi32(values, _mm256_setzero_si256());
#else
    float_mask mask;
    for (int i = 0; i < FLOATS; i++) {
        mask[i] = memory[i] ? -1 : 0;
    }
    return mask;
#endif
}

static inline half_vector rounded_f16(float_vector values)
{
#if defined(HAS_64)
    return (half_vector)_mm512_cvtps_ph((__m512)values, _MM_FROUND_TO_NEAREST_INT);
#elif defined(HAS_32)
    return (half_vector)_mm256_cvtps_ph((__m256)values, _MM_FROUND_TO_NEAREST_INT);
#else
    half_vector halves;
    for (int i = 0; i < FLOATS; i++) {
        halves[i] = f16_of_float(values[i]);
    }
    return halves;
#endif
}

/* The upper halves of numbers of four bytes. */
#define HALVES_FROM(last) last, last - 2, last - 4, last - 6, last - 8, last - 10, last - 12, last - 14, last - 16, last - 18, last - 20, \
        last - 22, last - 24, last - 26, last - 28, last - 30
static inline half_vector upper_halves(float_bits bits)
{
#if defined(HAS_64)
    const __m512i upper = _mm512_set_epi16(HALVES_FROM(31), HALVES_FROM(31));
    return (half_vector)_mm512_castsi512_si256(_mm512_permutexvar_epi16(upper, (__m512i)bits));
#elif defined(HAS_32)
    const __m256i upper = _mm256_srli_epi32((__m256i)bits, 16);
    return (half_vector)_mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
#else
    half_vector halves;
    for (int i = 0; i < FLOATS; i++) {
        halves[i] = (uint16_t)(bits[i] >> 16);
    }
    return halves;
#endif
}

static inline half_vector rounded_bf16(float_vector values)
{
#ifdef HAS_64
    const __m512i bits = (__m512i)values, raised = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
    const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000)), nan = not_equal_float(values, values);
    const __m512i nudged = _mm512_mask_add_epi32(raised, odd, raised, _mm512_set1_epi32(1));
    return upper_halves((float_bits)_mm512_mask_or_epi32(nudged, nan, bits, _mm512_set1_epi32(0x400000))); /* NaN keeps its sign */
#else
    const float_bits bits = (float_bits)values, nudged = bits + 0x7fff + (bits >> 16 & 1);
    const float_vector quiet = (float_vector)(bits | 0x400000);
    return upper_halves((float_bits)select_float(not_equal_float(values, values), quiet, (float_vector)nudged));
#endif
}

static inline void write_half(uint16_t *memory, half_vector values)
{
    memcpy(memory, &values, sizeof values);
}

static inline void write_f16(uint16_t *memory, float_vector values)
{
    write_half(memory, rounded_f16(values));
}

static inline void write_bf16(uint16_t *memory, float_vector values)
{
    write_half(memory, rounded_bf16(values));
}

/* The same past the caches, to memory that is aligned to whole vectors; a fence has to follow. */

static inline void stream_float(float *memory, float_vector values)
{
#if defined(HAS_64)
    _mm512_stream_ps(memory, (__m512)values);
#elif defined(HAS_32)
    _mm256_stream_ps(memory, (__m256)values);
#else
    write_float(memory, values);
#endif
}

static inline void stream_half(uint16_t *memory, half_vector values)
{
#if defined(HAS_64)
    _mm256_stream_si256((__m256i *)memory, (__m256i)values);
#elif defined(HAS_32)
    _mm_stream_si128((__m128i *)memory, (__m128i)values);
#else
    write_half(memory, values);
#endif
}

#ifdef HAS_32
/* Four doubles as odd floats, provided that none lies between zero and the smallest normal float. */
static inline __m128 odd_floats(__m256d values)
{
    const __m256i bits = _mm256_castpd_si256(values), low = _mm256_set1_epi64x((1LL << 29) - 1);
    const __m256i exact = _mm256_cmpeq_epi64(_mm256_and_si256(bits, low), _mm256_setzero_si256());
    const __m256i sticky = _mm256_andnot_si256(exact, _mm256_set1_epi64x(1LL << 29));
    return _mm256_cvtpd_ps(_mm256_castsi256_pd(_mm256_or_si256(_mm256_andnot_si256(low, bits), sticky)));
}

static inline __m256d tiny(__m256d values)
{
    const __m256d magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), values);
    const __m256d below = _mm256_cmp_pd(magnitude, _mm256_set1_pd(1.1754943508222875e-38), _CMP_LT_OQ);
    return _mm256_and_pd(below, _mm256_cmp_pd(values, _mm256_setzero_pd(), _CMP_NEQ_OQ));
}
#endif

#ifdef HAS_64
/* Doubles cut off to floats, of which those that lost something are odd, unless they are below the smallest normal float. */
static inline __m256 cut_floats(double_vector values)
{
    const __m512i bits = (__m512i)values;
    const __mmask8 inexact = _mm512_test_epi64_mask(bits, _mm512_set1_epi64((1LL << 29) - 1));
    const __m512i odd = _mm512_mask_or_epi64(bits, inexact, bits, _mm512_set1_epi64(1LL << 29));
    return _mm512_cvt_roundpd_ps((__m512d)odd, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
#endif

/* Doubles as odd floats, which round to a half type as the doubles would. */
static inline float_vector odd_joined(double_vector low, double_vector high)
{
#if defined(HAS_64)
    const float_vector values = side_by_side(cut_floats(low), cut_floats(high));
    if (__builtin_expect(_mm512_fpclass_ps_mask((__m512)values, 0x20) == 0, 1)) { /* none is that small, but for zeros: what comes to them is one in a half type */
        return values;
    }
    const double_mask lost_low = not_equal_double(lower_half(values), low), lost_high = not_equal_double(upper_half(values), high);
    return (float_vector)_mm512_mask_or_epi32((__m512i)values, joined_masks(lost_low, lost_high), (__m512i)values, _mm512_set1_epi32(1));
#else
#ifdef HAS_32
    if (!_mm256_movemask_pd(_mm256_or_pd(tiny((__m256d)low), tiny((__m256d)high)))) {
        return (float_vector)_mm256_set_m128(odd_floats((__m256d)high), odd_floats((__m256d)low));
    }
#endif
    float_vector values = {0};
    for (int i = 0; i < DOUBLES; i++) {
        values[i] = odd_float(low[i]);
        values[i + DOUBLES] = odd_float(high[i]);
    }
    return values;
#endif
}

#endif

/* Vectors of 32 bytes, functions on them, and half types: what everything that works on tiles is made of. */
#ifndef ACL_EMU_ENGINE_TYPES_H
#define ACL_EMU_ENGINE_TYPES_H

#include "engine.h"

#include <math.h>
#include <string.h>
#if defined(__F16C__) && defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define WIDE 1
#endif

typedef float float_vector __attribute__((vector_size(32)));
typedef int32_t float_mask __attribute__((vector_size(32)));
typedef uint32_t float_bits __attribute__((vector_size(32)));
typedef double double_vector __attribute__((vector_size(32)));
typedef int64_t double_mask __attribute__((vector_size(32)));
typedef uint64_t double_bits __attribute__((vector_size(32)));

/* Polynomials fitted to (exp(r) - 1 - r) / r² on ±ln(2)/2 and to the tail of log(1 + f) on [√½ - 1, √2 - 1]. */

#define T float
#define V float_vector
#define M float_mask
#define U float_bits
#define UNSIGNED uint32_t
#define BARE __m256
#define WIDTH 8
#define NAME(name) name##_float
#define SELECT_WIDE _mm256_blendv_ps
#define FMA_WIDE _mm256_fmadd_ps
#define MIN_WIDE _mm256_min_ps
#define MAX_WIDE _mm256_max_ps
#define SIGN_BIT ((int32_t)0x80000000)
#define DIGITS 23
#define BIAS 127
#define ROUNDING 12582912.0f
#define EXP_LEAST -104.0f
#define EXP_MOST 89.0f
#define LN2_HIGH 0.693359375f
#define LN2_LOW -2.12194440e-4f
#define LEAST_NORMAL 1.17549435e-38f
#define SCALE_UP 33554432.0f
#define SCALE_DIGITS 25.0f

static inline V NAME(fma)(V a, V b, V c);

static inline V NAME(exp_polynomial)(V r)
{
    const V r2 = r * r;
    const V p01 = NAME(fma)(r, (V){} + 0.166666667f, (V){} + 0.500000001f);
    const V p23 = NAME(fma)(r, (V){} + 0.00833331084f, (V){} + 0.0416664642f);
    const V p45 = NAME(fma)(r, (V){} + 0.000198910805f, (V){} + 0.00139337307f);
    return NAME(fma)(NAME(fma)(p45, r2, p23), r2, p01);
}

static inline V NAME(log_polynomial)(V f, V k)
{
    const V f2 = f * f, f4 = f2 * f2;
    const V p01 = NAME(fma)(f, (V){} - 0.24999997f, (V){} + 0.333333312f);
    const V p23 = NAME(fma)(f, (V){} - 0.166678031f, (V){} + 0.200007162f);
    const V p45 = NAME(fma)(f, (V){} - 0.124256546f, (V){} + 0.142490396f);
    const V p67 = NAME(fma)(f, (V){} - 0.114800684f, (V){} + 0.116855803f);
    const V high = NAME(fma)((V){} + 0.0697158481f, f2, p67);
    const V p = NAME(fma)(NAME(fma)(high, f2, p45), f4, NAME(fma)(p23, f2, p01));
    const V tail = NAME(fma)(f2, (V){} - 0.5f, NAME(fma)(p * f, f2, k * LN2_LOW));
    return NAME(fma)(k, (V){} + LN2_HIGH, f + tail);
}

static inline V NAME(reduced)(V x, V k)
{
    return NAME(fma)(-k, (V){} + LN2_LOW, NAME(fma)(-k, (V){} + LN2_HIGH, x));
}

static inline M NAME(shifted_down)(M value, int digits);

/* In two steps, so that results below the smallest normal number come out right. */
static inline V NAME(scaled)(V value, M power)
{
    const M half = NAME(shifted_down)(power, 1);
    return value * (V)((half + BIAS) << DIGITS) * (V)((power - half + BIAS) << DIGITS);
}

#include "engine_vector.h"

/* Off by less than 1 ulp. */
static inline V exp_of_float(V x)
{
    return exp_within_float(within_float(x, EXP_LEAST, EXP_MOST), all_float(0));
}

/* exp(x - y), with what the difference loses. */
static inline V exp_of_difference_float(V x, V y)
{
    const V difference = x - y, other = difference - x;
    const V rest = (x - (difference - other)) - (y + other);
    /* Beyond the limits, where the result is zero, infinite or no number, there is nothing to make up for. */
    const V kept = select_float((difference > EXP_LEAST) & (difference < EXP_MOST), rest, all_float(0));
    return exp_within_float(within_float(difference, EXP_LEAST, EXP_MOST), kept);
}

#include "engine_forget.h"

#define T double
#define V double_vector
#define M double_mask
#define U double_bits
#define UNSIGNED uint64_t
#define BARE __m256d
#define WIDTH 4
#define NAME(name) name##_double
#define SELECT_WIDE _mm256_blendv_pd
#define FMA_WIDE _mm256_fmadd_pd
#define MIN_WIDE _mm256_min_pd
#define MAX_WIDE _mm256_max_pd
#define SIGN_BIT ((int64_t)0x8000000000000000)
#define DIGITS 52
#define BIAS 1023
#define ROUNDING 6755399441055744.0
#define EXP_LEAST -708.0
#define EXP_MOST 709.0
#define EXP_ZERO -745.14 /* below it there is no double but zero: what is multiplied by infinity is no number */
#define LEAST_NORMAL 2.2250738585072014e-308
#define SCALE_UP 18014398509481984.0
#define SCALE_DIGITS 54.0

static inline V NAME(fma)(V a, V b, V c);

static inline V NAME(exp_polynomial)(V r)
{
    const V r2 = r * r, r4 = r2 * r2;
    const V p01 = NAME(fma)(r, (V){} + 0.16666666666662553836, (V){} + 0.49999999999954746175);
    const V p23 = NAME(fma)(r, (V){} + 0.0083333333442683942447, (V){} + 0.041666666786985556425);
    const V p45 = NAME(fma)(r, (V){} + 0.0001984122441829194417, (V){} + 0.0013888838910996057013);
    const V p67 = NAME(fma)(r, (V){} + 2.7617685465165069099e-6, (V){} + 0.000024868002978056963801);
    return NAME(fma)(NAME(fma)(p67, r2, p45), r4, NAME(fma)(p23, r2, p01));
}

static inline V NAME(log_polynomial)(V f, V k)
{
    const V f2 = f * f, f4 = f2 * f2;
    const V p01 = NAME(fma)(f, (V){} + 0.3333333333193194184, (V){} - 0.50000000000020465305);
    const V p23 = NAME(fma)(f, (V){} + 0.20000000407935694342, (V){} - 0.24999999979348106125);
    const V p45 = NAME(fma)(f, (V){} + 0.14285681869506348167, (V){} - 0.16666670252456556454);
    const V p67 = NAME(fma)(f, (V){} + 0.11112122835309404258, (V){} - 0.12499758795956556775);
    const V p89 = NAME(fma)(f, (V){} + 0.090790439522321352628, (V){} - 0.10007819261695784451);
    const V pab = NAME(fma)(f, (V){} + 0.076768918565240445915, (V){} - 0.082045914750355921765);
    const V pcd = NAME(fma)(f, (V){} + 0.079166152409136248889, (V){} - 0.081382616905579802229);
    const V top = NAME(fma)((V){} - 0.040042435278283544482, f2, pcd);
    const V high = NAME(fma)(pab, f2, p89), next = NAME(fma)(p67, f2, p45), low = NAME(fma)(p23, f2, p01);
    const V p = NAME(fma)(NAME(fma)(NAME(fma)(top, f4, high), f4, next), f4, low);
    return NAME(fma)(k, (V){} + 0.69314718055994530942, NAME(fma)(p, f2, f));
}

static inline V NAME(reduced)(V x, V k)
{
    return NAME(fma)(-k, (V){} + 0.69314718055994530942, x);
}

static inline V NAME(scaled)(V value, M power)
{
    return value * (V)((power + BIAS) << DIGITS);
}

#include "engine_vector.h"

/* Off by 2^-43: results end in narrower types, in which those below 10^-307 are zero, and differences of such numbers lose nothing. */
static inline V exp_of_double(V x)
{
    const V value = exp_within_double(within_double(x, EXP_LEAST, EXP_MOST), all_double(0));
    return select_double(x > EXP_MOST, all_double(INFINITY), select_double(x < EXP_ZERO, all_double(0), value));
}

static inline V exp_of_difference_double(V x, V y)
{
    return exp_of_double(x - y);
}

#include "engine_forget.h"

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

static inline double_vector lower_half(float_vector values)
{
#ifdef WIDE
    return (double_vector)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)values));
#else
    return (double_vector){values[0], values[1], values[2], values[3]};
#endif
}

static inline double_vector upper_half(float_vector values)
{
#ifdef WIDE
    return (double_vector)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)values, 1));
#else
    return (double_vector){values[4], values[5], values[6], values[7]};
#endif
}

static inline float_vector joined(double_vector low, double_vector high)
{
#ifdef WIDE
    return (float_vector)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)high), _mm256_cvtpd_ps((__m256d)low));
#else
    return (float_vector){low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]};
#endif
}

static inline int any(float_mask mask)
{
#ifdef WIDE
    return _mm256_movemask_ps((__m256)mask);
#else
    int found = 0;
    for (int i = 0; i < 8; i++) {
        found |= mask[i];
    }
    return found;
#endif
}

/* Eight numbers of a half type. */

static inline float_vector read_f16(const uint16_t *memory)
{
#ifdef WIDE
    return (float_vector)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)memory));
#else
    float_vector values;
    for (int i = 0; i < 8; i++) {
        values[i] = float_of_f16(memory[i]);
    }
    return values;
#endif
}

static inline float_vector read_bf16(const uint16_t *memory)
{
#ifdef WIDE
    return (float_vector)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)memory)), 16);
#else
    float_vector values;
    for (int i = 0; i < 8; i++) {
        values[i] = float_of_bf16(memory[i]);
    }
    return values;
#endif
}

static inline void write_f16(uint16_t *memory, float_vector values)
{
#ifdef WIDE
    _mm_storeu_si128((__m128i *)memory, _mm256_cvtps_ph((__m256)values, _MM_FROUND_TO_NEAREST_INT));
#else
    for (int i = 0; i < 8; i++) {
        memory[i] = f16_of_float(values[i]);
    }
#endif
}

static inline void write_bf16(uint16_t *memory, float_vector values)
{
#ifdef WIDE
    const __m256i bits = (__m256i)values, high = _mm256_srli_epi32(bits, 16), one = _mm256_set1_epi32(1);
    const __m256i nudged = _mm256_add_epi32(bits, _mm256_add_epi32(_mm256_and_si256(high, one), _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(high, _mm256_set1_epi32(0x40)); /* NaN keeps its sign */
    const __m256 nan = _mm256_cmp_ps((__m256)values, (__m256)values, _CMP_UNORD_Q);
    const __m256i chosen = _mm256_blendv_epi8(_mm256_srli_epi32(nudged, 16), quiet, (__m256i)nan);
    _mm_storeu_si128((__m128i *)memory, _mm_packus_epi32(_mm256_castsi256_si128(chosen), _mm256_extracti128_si256(chosen, 1)));
#else
    for (int i = 0; i < 8; i++) {
        memory[i] = bf16_of_float(values[i]);
    }
#endif
}

#ifdef WIDE
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

/* Doubles as odd floats, which round to a half type as the doubles would. */
static inline float_vector odd_joined(double_vector low, double_vector high)
{
#ifdef WIDE
    if (!_mm256_movemask_pd(_mm256_or_pd(tiny((__m256d)low), tiny((__m256d)high)))) {
        return (float_vector)_mm256_set_m128(odd_floats((__m256d)high), odd_floats((__m256d)low));
    }
#endif
    float_vector values;
    for (int i = 0; i < 4; i++) {
        values[i] = odd_float(low[i]);
        values[i + 4] = odd_float(high[i]);
    }
    return values;
}

#endif

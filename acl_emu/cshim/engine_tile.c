/* What runs on tiles, compiled once for each instruction set: arithmetic, functions, casts, sums.
 *
 * TILES names the table that comes out. Compiled without contraction and without -ffast-math: every + - * / is rounded as written. */
#define _GNU_SOURCE
#include "engine.h"

#include <math.h>
#include <string.h>
#if defined(__F16C__) && defined(__AVX2__)
#include <immintrin.h>
#define WIDE 1
#endif

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define FMA_FLOAT(a, b, c) __builtin_fmaf(a, b, c)
#define FMA_DOUBLE(a, b, c) __builtin_fma(a, b, c)
#else
#define FMA_FLOAT(a, b, c) ((a) * (b) + (c))
#define FMA_DOUBLE(a, b, c) ((a) * (b) + (c))
#endif

/* Polynomials fitted to (exp(r) - 1 - r) / r² on ±ln(2)/2 and to the tail of log(1 + f) on [√½ - 1, √2 - 1]. */

static inline float exp_polynomial_float(float r)
{
    float p = FMA_FLOAT(0.000198910805f, r, 0.00139337307f);
    p = FMA_FLOAT(p, r, 0.00833331084f);
    p = FMA_FLOAT(p, r, 0.0416664642f);
    p = FMA_FLOAT(p, r, 0.166666667f);
    return FMA_FLOAT(p, r, 0.500000001f);
}

static inline double exp_polynomial_double(double r)
{
    /* In pairs: a shorter chain of dependent steps. */
    const double r2 = r * r, r4 = r2 * r2;
    const double p01 = FMA_DOUBLE(0.16666666666662553836, r, 0.49999999999954746175);
    const double p23 = FMA_DOUBLE(0.0083333333442683942447, r, 0.041666666786985556425);
    const double p45 = FMA_DOUBLE(0.0001984122441829194417, r, 0.0013888838910996057013);
    const double p67 = FMA_DOUBLE(2.7617685465165069099e-6, r, 0.000024868002978056963801);
    return FMA_DOUBLE(FMA_DOUBLE(p67, r2, p45), r4, FMA_DOUBLE(p23, r2, p01));
}

static inline float log_polynomial_float(float f, float k)
{
    float p = FMA_FLOAT(0.0697158481f, f, -0.114800684f);
    p = FMA_FLOAT(p, f, 0.116855803f);
    p = FMA_FLOAT(p, f, -0.124256546f);
    p = FMA_FLOAT(p, f, 0.142490396f);
    p = FMA_FLOAT(p, f, -0.166678031f);
    p = FMA_FLOAT(p, f, 0.200007162f);
    p = FMA_FLOAT(p, f, -0.24999997f);
    p = FMA_FLOAT(p, f, 0.333333312f);
    const float f2 = f * f;
    float tail = FMA_FLOAT(p * f, f2, k * -2.12194440e-4f);
    tail = FMA_FLOAT(f2, -0.5f, tail);
    return FMA_FLOAT(k, 0.693359375f, f + tail);
}

static inline double log_polynomial_double(double f, double k)
{
    static const double c[15] = {-0.50000000000020465305, 0.3333333333193194184,   -0.24999999979348106125, 0.20000000407935694342,
                                 -0.16666670252456556454, 0.14285681869506348167,  -0.12499758795956556775, 0.11112122835309404258,
                                 -0.10007819261695784451, 0.090790439522321352628, -0.082045914750355921765, 0.076768918565240445915,
                                 -0.081382616905579802229, 0.079166152409136248889, -0.040042435278283544482};
    const double f2 = f * f, f4 = f2 * f2;
    const double low = FMA_DOUBLE(FMA_DOUBLE(c[3], f, c[2]), f2, FMA_DOUBLE(c[1], f, c[0]));
    const double next = FMA_DOUBLE(FMA_DOUBLE(c[7], f, c[6]), f2, FMA_DOUBLE(c[5], f, c[4]));
    const double high = FMA_DOUBLE(FMA_DOUBLE(c[11], f, c[10]), f2, FMA_DOUBLE(c[9], f, c[8]));
    const double top = FMA_DOUBLE(c[14], f2, FMA_DOUBLE(c[13], f, c[12]));
    const double p = FMA_DOUBLE(FMA_DOUBLE(FMA_DOUBLE(top, f4, high), f4, next), f4, low);
    return FMA_DOUBLE(k, 0.69314718055994530942, FMA_DOUBLE(p, f2, f));
}

#define T float
#define MASK int32_t
#define UNSIGNED uint32_t
#define NAME(name) name##_float
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
#define MULTIPLY_ADD(a, b, c) FMA_FLOAT(a, b, c)
#define EXP_POLYNOMIAL(r) exp_polynomial_float(r)
#define LOG_POLYNOMIAL(f, k) log_polynomial_float(f, k)
#define SQUARE_ROOT(x) sqrtf(x)
#include "engine_lanes.h"
#undef T
#undef MASK
#undef UNSIGNED
#undef NAME
#undef SIGN_BIT
#undef DIGITS
#undef BIAS
#undef ROUNDING
#undef EXP_LEAST
#undef EXP_MOST
#undef LN2_HIGH
#undef LN2_LOW
#undef LEAST_NORMAL
#undef SCALE_UP
#undef SCALE_DIGITS
#undef MULTIPLY_ADD
#undef EXP_POLYNOMIAL
#undef LOG_POLYNOMIAL
#undef SQUARE_ROOT

#define T double
#define MASK int64_t
#define UNSIGNED uint64_t
#define NAME(name) name##_double
#define SIGN_BIT ((int64_t)0x8000000000000000)
#define DIGITS 52
#define BIAS 1023
#define ROUNDING 6755399441055744.0
#define EXP_LEAST -746.0
#define EXP_MOST 710.0
#define LN2_HIGH 0.693147180369123816490
#define LN2_LOW 1.90821492927058770002e-10
#define LEAST_NORMAL 2.2250738585072014e-308
#define SCALE_UP 18014398509481984.0
#define SCALE_DIGITS 54.0
#define MULTIPLY_ADD(a, b, c) FMA_DOUBLE(a, b, c)
#define EXP_POLYNOMIAL(r) exp_polynomial_double(r)
#define LOG_POLYNOMIAL(f, k) log_polynomial_double(f, k)
#define SQUARE_ROOT(x) sqrt(x)
#include "engine_lanes.h"

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

#ifdef WIDE
/* Four doubles as odd floats, provided that none lies between zero and the smallest normal float. */
static inline __m128 odd_floats(__m256d values)
{
    const __m256i bits = _mm256_castpd_si256(values), low = _mm256_set1_epi64x((1LL << 29) - 1);
    const __m256i exact = _mm256_cmpeq_epi64(_mm256_and_si256(bits, low), _mm256_setzero_si256());
    const __m256i sticky = _mm256_andnot_si256(exact, _mm256_set1_epi64x(1LL << 29));
    return _mm256_cvtpd_ps(_mm256_castsi256_pd(_mm256_or_si256(_mm256_andnot_si256(low, bits), sticky)));
}

static inline int any_tiny(__m256d values)
{
    const __m256d magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), values);
    const __m256d below = _mm256_cmp_pd(magnitude, _mm256_set1_pd(1.1754943508222875e-38), _CMP_LT_OQ);
    return _mm256_movemask_pd(_mm256_and_pd(below, _mm256_cmp_pd(values, _mm256_setzero_pd(), _CMP_NEQ_OQ)));
}

static inline __m256 floats_of_bf16(const uint16_t *memory)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)memory)), 16));
}

static inline __m128i bf16_of_floats(__m256 values)
{
    const __m256i bits = _mm256_castps_si256(values);
    const __m256i even = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(even, _mm256_set1_epi32(0x7fff))), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
    const __m256i quiet = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(0x8000)), _mm256_set1_epi32(0x7fc0));
    const __m256i chosen = _mm256_blendv_epi8(rounded, quiet, nan);
    const __m256i packed = _mm256_packus_epi32(chosen, chosen);
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
}

#define FLOATS_OF_F16(memory) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(memory)))
#define F16_OF_FLOATS(values) _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT)
#define WIDE_PART(...) __VA_ARGS__
#else
#define WIDE_PART(...)
#endif

#define HALF_TYPE(half, floats_of, halves_of)                                                                  \
    static void load_##half##_float(void *lanes, const void *memory, size_t n)                                 \
    {                                                                                                          \
        float *d = lanes;                                                                                      \
        const uint16_t *a = memory;                                                                            \
        size_t i = 0;                                                                                          \
        WIDE_PART(for (; i + 8 <= n; i += 8) { _mm256_storeu_ps(d + i, floats_of(a + i)); })                   \
        for (; i < n; i++) {                                                                                   \
            d[i] = float_of_##half(a[i]);                                                                      \
        }                                                                                                      \
    }                                                                                                          \
    static void load_##half##_double(void *lanes, const void *memory, size_t n)                                \
    {                                                                                                          \
        double *d = lanes;                                                                                     \
        const uint16_t *a = memory;                                                                            \
        size_t i = 0;                                                                                          \
        WIDE_PART(for (; i + 8 <= n; i += 8) {                                                                 \
            const __m256 values = floats_of(a + i);                                                            \
            _mm256_storeu_pd(d + i, _mm256_cvtps_pd(_mm256_castps256_ps128(values)));                          \
            _mm256_storeu_pd(d + i + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(values, 1)));                    \
        })                                                                                                     \
        for (; i < n; i++) {                                                                                   \
            d[i] = float_of_##half(a[i]);                                                                      \
        }                                                                                                      \
    }                                                                                                          \
    static void store_##half##_float(void *memory, const void *lanes, size_t n)                                \
    {                                                                                                          \
        uint16_t *d = memory;                                                                                  \
        const float *a = lanes;                                                                                \
        size_t i = 0;                                                                                          \
        WIDE_PART(for (; i + 8 <= n; i += 8) { _mm_storeu_si128((__m128i *)(d + i), halves_of(_mm256_loadu_ps(a + i))); }) \
        for (; i < n; i++) {                                                                                   \
            d[i] = half##_of_float(a[i]);                                                                      \
        }                                                                                                      \
    }                                                                                                          \
    static void store_##half##_double(void *memory, const void *lanes, size_t n)                               \
    {                                                                                                          \
        uint16_t *d = memory;                                                                                  \
        const double *a = lanes;                                                                               \
        size_t i = 0;                                                                                          \
        WIDE_PART(for (; i + 8 <= n; i += 8) {                                                                 \
            const __m256d low = _mm256_loadu_pd(a + i), high = _mm256_loadu_pd(a + i + 4);                     \
            if (any_tiny(low) | any_tiny(high)) {                                                              \
                for (size_t k = i; k < i + 8; k++) {                                                           \
                    d[k] = half##_of_float(odd_float(a[k]));                                                   \
                }                                                                                              \
            } else {                                                                                           \
                const __m256 floats = _mm256_insertf128_ps(_mm256_castps128_ps256(odd_floats(low)), odd_floats(high), 1); \
                _mm_storeu_si128((__m128i *)(d + i), halves_of(floats));                                       \
            }                                                                                                  \
        })                                                                                                     \
        for (; i < n; i++) {                                                                                   \
            d[i] = half##_of_float(odd_float(a[i]));                                                           \
        }                                                                                                      \
    }

HALF_TYPE(f16, FLOATS_OF_F16, F16_OF_FLOATS)
HALF_TYPE(bf16, floats_of_bf16, bf16_of_floats)

/* Rounding to a narrower type that is not the one to be stored. */
#define ROUND_LANES(half, lane)                                                                                \
    static void round_##half##_##lane(void *dst, const void *a, const void *b, const void *c, size_t n)        \
    {                                                                                                          \
        uint16_t room[TILE_BYTES / sizeof(lane)];                                                              \
        (void)b;                                                                                               \
        (void)c;                                                                                               \
        store_##half##_##lane(room, a, n);                                                                     \
        load_##half##_##lane(dst, room, n);                                                                    \
    }

ROUND_LANES(f16, float)
ROUND_LANES(f16, double)
ROUND_LANES(bf16, float)
ROUND_LANES(bf16, double)

static void round_f32_double(void *dst, const void *first, const void *b, const void *c, size_t n)
{
    double *d = dst;
    const double *a = first;
    (void)b;
    (void)c;
    for (size_t i = 0; i < n; i++) {
        d[i] = (double)(float)a[i];
    }
}

static void round_f32_float(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    (void)b;
    (void)c;
    memmove(dst, a, n * sizeof(float));
}

#define FUNCTION_TABLE(lane)                                                                                                 \
    {                                                                                                                        \
        add_##lane, subtract_##lane, multiply_##lane, divide_##lane, negate_##lane, absolute_##lane, sign_of_##lane,         \
            square_##lane, maximum_##lane, minimum_##lane, exponential_##lane, exponential_of_difference_##lane,             \
            logarithm_##lane, logarithm_1p_##lane, square_root_##lane, less_##lane, less_equal_##lane, equal_##lane,         \
            not_equal_##lane, both_##lane, either_##lane, inverse_##lane, where_##lane, as_number_##lane, round_f32_##lane,  \
            round_f16_##lane, round_bf16_##lane                                                                              \
    }
#define LOAD_TABLE(lane)                                                                                                     \
    {                                                                                                                        \
        load_f32_##lane, load_f64_##lane, load_f16_##lane, load_bf16_##lane, load_bool_##lane, load_i8_##lane, load_u8_##lane, \
            load_i16_##lane, load_i32_##lane, load_i64_##lane                                                                \
    }
#define STORE_TABLE(lane) {store_f32_##lane, store_f64_##lane, store_f16_##lane, store_bf16_##lane}

const tile_code TILES = {
    .functions = {FUNCTION_TABLE(float), FUNCTION_TABLE(double)},
    .load = {LOAD_TABLE(float), LOAD_TABLE(double)},
    .load_mask = {load_mask_float, load_mask_double},
    .store = {STORE_TABLE(float), STORE_TABLE(double)},
    .spread = {spread_float, spread_double},
    .row_sum = {row_sum_float, row_sum_double},
    .row_max = {row_max_float, row_max_double},
    .lane_sum = {lane_sum_float, lane_sum_double},
    .from_double = {from_double_float, from_double_double},
};

/* Vectors, functions on them, and half types: what everything that works on tiles is made of.
 *
 * Three kinds of processors: with 64-byte vectors and masks of bits (HAS_64), with 32-byte vectors and fused multiply-add (HAS_32), and any
 * other, for which the compiler makes 32-byte vectors of what there is. All take the same steps; only the last rounds a product before a sum. */
#ifndef ACL_EMU_ENGINE_TYPES_H
#define ACL_EMU_ENGINE_TYPES_H

#include "engine.h"

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

/* Polynomials fitted to (exp(r) - 1 - r) / r² on ±ln(2)/2 and to the tail of log(1 + f) on [√½ - 1, √2 - 1]. */

#define T float
#define V float_vector
#define M float_mask
#define I float_words
#define U float_bits
#define UNSIGNED uint32_t
#define NAME(name) name##_float
#ifdef HAS_64
#define BARE __m512
#define WIDE(name) _mm512_##name##_ps
#define WIDE_COMPARED _mm512_cmp_ps_mask
#define WIDE_WORDS _mm512_set1_epi32
#else
#define BARE __m256
#define WIDE(name) _mm256_##name##_ps
#endif
#define SIGN_BIT ((int32_t)0x80000000)
#define DIGITS 23
#define BIAS 127
#define ROUNDING 12582912.0f
#define EXP_LEAST -104.0f
#define EXP_MOST 89.0f
#define LN2_HIGH 0.693359375f
#define LN2_LOW -2.12194440e-4f
#define ROOT_OF_TWO 1.41421354f
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

#ifdef HAS_64
/* log(1 + f) of an f near one of 16 centers: the logarithm there, and that of a number near 1, for which a short polynomial will do. Centers
 * are chosen so that their logarithms and reciprocals are floats, as good as exactly, and with so few digits that f - center is exact. */
typedef struct {
    float center[16], logarithm[16], reciprocal[16];
} log_table;

/* What is beyond the logarithm of the center that the last digits of `place` tell; a, b and c are of the polynomial. */
static inline V beyond_center(const log_table *table, V f, __m512i place, float a, float b, float c)
{
    const V rest = f - (V)_mm512_permutexvar_ps(place, _mm512_loadu_ps(table->center));
    const V reciprocal = (V)_mm512_permutexvar_ps(place, _mm512_loadu_ps(table->reciprocal)), z = rest * reciprocal;
    return NAME(fma)(rest, reciprocal, NAME(fma)(NAME(fma)((V){} + c, z, (V){} + b), z, (V){} + a) * (z * z));
}

static inline V at_center(const log_table *table, __m512i place)
{
    return (V)_mm512_permutexvar_ps(place, _mm512_loadu_ps(table->logarithm));
}

/* For f from -¼ to ½; those below 0 come last. */
static const log_table logs = {
    {0.0f, 0.05113578f, 0.099650145f, 0.15018082f, 0.19971514f, 0.2510972f, 0.3006122f, 0.34896994f, 0.39956236f, 0.45012355f, 0.50030994f, -0.25110507f, -0.20083714f, -0.14941025f, -0.09943056f, -0.05093479f},
    {0.0f, 0.049871273f, 0.09499208f, 0.13991916f, 0.18208414f, 0.22402093f, 0.2628351f, 0.2993413f, 0.3361596f, 0.37164876f, 0.40567172f, -0.2891566f, -0.22419052f, -0.16182534f, -0.104728006f, -0.05227777f},
    {1.0f, 0.9513519f, 0.90938014f, 0.8694285f, 0.8335312f, 0.7992984f, 0.7688687f, 0.74130636f, 0.71450907f, 0.6895964f, 0.66652894f, 1.3353008f, 1.2513094f, 1.1756549f, 1.1104085f, 1.0536684f},
};

static inline V NAME(log_polynomial)(V f, V k)
{
    const __m512i place = (__m512i)NAME(fma)(f, (V){} + 20.0f, (V){} + ROUNDING);
    const V tail = beyond_center(&logs, f, place, -0.49999994f, 0.3334653f, -0.25025362f);
    return NAME(fma)(k, (V){} + LN2_HIGH, at_center(&logs, place) + NAME(fma)(k, (V){} + LN2_LOW, tail));
}

/* For f from 0 to 1. */
static const log_table logs_to_one = {
    {0.0f, 0.06711173f, 0.13419795f, 0.19971514f, 0.26567388f, 0.3321345f, 0.39956236f, 0.46644282f, 0.5325296f, 0.60116005f, 0.6671908f, 0.73420644f, 0.80091596f, 0.86777353f, 0.93213844f, 1.0f},
    {0.0f, 0.06495568f, 0.12592575f, 0.18208414f, 0.23560469f, 0.28678253f, 0.3361596f, 0.38283962f, 0.4269197f, 0.4707284f, 0.51114005f, 0.5505499f, 0.5882954f, 0.6247471f, 0.6586274f, 0.6931472f},
    {1.0f, 0.937109f, 0.8816803f, 0.8335312f, 0.79009295f, 0.75067496f, 0.71450907f, 0.68192226f, 0.65251595f, 0.6245472f, 0.5998114f, 0.5766326f, 0.555273f, 0.5353968f, 0.51756126f, 0.5f},
};

static inline V log1p_of_part_float(V x)
{
    const __m512i place = (__m512i)NAME(fma)(x, (V){} + 15.0f, (V){} + ROUNDING);
    return at_center(&logs_to_one, place) + beyond_center(&logs_to_one, x, place, -0.5000006f, 0.33351877f, -0.24941584f);
}
#else
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
#endif

static inline V NAME(reduced)(V x, V k)
{
    return NAME(fma)(k, (V){} - LN2_LOW, NAME(fma)(k, (V){} - LN2_HIGH, x));
}

#include "engine_vector.h"

/* x without a power of two, which is `shifted` by what rounds it, and exp() of what is left. */
#ifdef HAS_64
/* With sixteenth powers of two from a table, which fits in a vector, and what those lost, a shorter polynomial will do. */
#define SIXTEENTHS (ROUNDING / 16)
static const float roots[16] = {1.0f, 1.0442737f, 1.0905077f, 1.1387886f, 1.1892071f, 1.2418578f, 1.2968396f, 1.3542556f, 1.4142135f, 1.4768262f, 1.5422108f, 1.6104903f, 1.6817929f, 1.7562522f, 1.8340081f, 1.9152066f};
static const float roots_lost[16] = {0.0f, 4.83347e-08f, -1.307754e-08f, 5.3862223e-08f, 3.7976353e-08f, 4.496838e-08f, -4.0189995e-08f, -1.0123349e-08f, 2.4203235e-08f, -4.500899e-08f, 8.070905e-09f, 9.836217e-09f, -2.4755327e-08f, -9.23577e-09f, -1.1239278e-08f, 9.845328e-09f};

static inline V exp_split(V x, V *shifted)
{
    const V rounding = all_float(SIXTEENTHS);
    *shifted = fma_float(x, all_float(1.4426950408889634074f), rounding);
    return reduced_float(x, *shifted - rounding);
}

static inline V exp_joined(V r, V shifted)
{
    const V root = (V)_mm512_permutexvar_ps((__m512i)shifted, _mm512_loadu_ps(roots));
    const V lost = (V)_mm512_permutexvar_ps((__m512i)shifted, _mm512_loadu_ps(roots_lost));
    const V tail = fma_float(fma_float(r, all_float(0.16666667f), all_float(0.50000978f)), r * r, r);
    return scaled_float(root + fma_float(root, tail, lost), shifted - all_float(SIXTEENTHS));
}

/* exp(x) / 2^less as a number times a power of two, and what rounding that number lost: both are off by less than 2^-28 in all, for an x of a
 * half type within ±2^8, of which what is left without a multiple of LN2_HIGH is exact. */
static inline V exp_in_parts(V x, V less, V *rest, V *power)
{
    const V rounding = all_float(SIXTEENTHS + BIAS) - less, shifted = fma_float(x, all_float(1.4426950408889634074f), rounding);
    const V r = reduced_float(x, shifted - rounding);
    const V root = (V)_mm512_permutexvar_ps((__m512i)shifted, _mm512_loadu_ps(roots));
    const V lost = (V)_mm512_permutexvar_ps((__m512i)shifted, _mm512_loadu_ps(roots_lost));
    const V p = fma_float(fma_float(r, all_float(1.0f / 24), all_float(1.0f / 6)), r, all_float(0.5f));
    const V beyond = fma_float(root, fma_float(p, r * r, r), lost), value = root + beyond;
    *rest = beyond - (value - root);
    *power = (V)(((I)shifted << (DIGITS - 4)) & -(1 << DIGITS));
    return value;
}
#else
#define exp_split exp_reduced_float
#define exp_joined exp_of_rest_float
#endif

/* Off by less than 1 ulp. */
static inline V exp_of_float(V x)
{
    V power;
    const V r = exp_split(within_float(x, EXP_LEAST, EXP_MOST), &power);
    return exp_joined(r, power);
}

/* The same in fewer steps, where a result of a half type is made of it; off by less than 3 of 2^-24 of itself, for an x of a half type within
 * ±2^17. Beyond that and of infinities it is infinite, zero or none. */
#ifdef HAS_64
static inline V exp_roughly_float(V x)
{
    /* With powers of two by thirty-seconds a square is all that counts of what is left. */
    static const float finer_roots[32] = {1.0f, 1.0218972f, 1.0442737f, 1.0671405f, 1.0905077f, 1.1143868f, 1.1387886f, 1.1637249f, 1.1892071f, 1.2152474f, 1.2418578f, 1.269051f, 1.2968396f, 1.3252367f, 1.3542556f, 1.38391f, 1.4142135f, 1.4451808f, 1.4768262f, 1.5091645f, 1.5422108f, 1.5759809f, 1.6104903f, 1.6457555f, 1.6817929f, 1.7186193f, 1.7562522f, 1.7947091f, 1.8340081f, 1.8741677f, 1.9152066f, 1.9571441f};
    const V rounding = all_float(ROUNDING / 32), shifted = fma_float(x, all_float(1.4426950408889634074f), rounding), k = shifted - rounding;
    const V r = reduced_float(x, k), root = (V)_mm512_permutex2var_ps(_mm512_loadu_ps(finer_roots), (__m512i)shifted, _mm512_loadu_ps(finer_roots + 16));
    return scaled_float(fma_float(root * r, fma_float(r, all_float(0.50000453f), all_float(1.0000147f)), root), k);
}
#else
#define exp_roughly_float exp_of_float
#endif

/* The same for any x that is not positive. */
static inline V exp_roughly_to_part(V x)
{
    return exp_roughly_float(larger_float(x, all_float(EXP_LEAST)));
}

/* exp(x + rest) for an x that lost the rest. */
static inline V exp_made_up(V x, V rest)
{
    /* Where the result is zero, infinite or no number, there is nothing to make up for. */
    const V kept = select_float(less_float(absolute_float(x), all_float(-EXP_LEAST)), rest, all_float(0));
    V power;
    const V r = exp_split(within_float(x, EXP_LEAST, EXP_MOST), &power);
    return exp_joined(r + kept, power);
}

/* What x - y loses. */
static inline V lost_of_difference(V x, V y, V difference)
{
    const V other = difference - x;
    return (x - (difference - other)) - (y + other);
}

/* exp(x - y), with what the difference loses. */
static inline V exp_of_difference_float(V x, V y)
{
    const V difference = x - y;
    return exp_made_up(difference, lost_of_difference(x, y, difference));
}

/* The same for an x that is not above y, and that lost the rest. */
static inline V exp_of_rounded_distance_float(V x, V rest, V y)
{
    const V difference = x - y, least = all_float(EXP_LEAST);
    const V kept = select_float(less_float(least, difference), lost_of_difference(x, y, difference) + rest, all_float(0));
    V power;
    const V r = exp_split(larger_float(difference, least), &power);
    return exp_joined(r + kept, power);
}

static inline V exp_of_distance_float(V x, V y)
{
    return exp_of_rounded_distance_float(x, all_float(-0.0f), y);
}

/* z - x × y, not rounded, for a z that is near the product. */
static inline V lost_of_product(V x, V y, V z)
{
#if defined(HAS_64) || defined(HAS_32)
    return fma_float(-x, y, z);
#else
    /* Products of half the digits are exact. */
    const V x1 = (V)((I)x & ~0xfff), y1 = (V)((I)y & ~0xfff), x2 = x - x1, y2 = y - y1;
    return z - x1 * y1 - x1 * y2 - x2 * y1 - x2 * y2;
#endif
}

/* exp(x × y), with what the product loses. */
static inline V exp_of_product_float(V x, V y)
{
    const V product = x * y;
    return exp_made_up(product, -lost_of_product(x, y, product));
}

/* log(x / (1 - x)), with what the difference and the quotient lose. */
static inline V log_of_odds_float(V x)
{
    const V one = all_float(1), whole = one - x, odds = x / whole;
    const V rest = (lost_of_product(odds, whole, x) - odds * (one - whole - x)) / whole;
    V k;
    const V m = split_float(odds, &k, 1);
    return log_beyond_float(odds, log_polynomial_float(m - one + scaled_float(rest, -k), k));
}

#include "engine_forget.h"

#define T double
#define V double_vector
#define M double_mask
#define I double_words
#define U double_bits
#define UNSIGNED uint64_t
#define NAME(name) name##_double
#ifdef HAS_64
#define BARE __m512d
#define WIDE(name) _mm512_##name##_pd
#define WIDE_COMPARED _mm512_cmp_pd_mask
#define WIDE_WORDS _mm512_set1_epi64
#else
#define BARE __m256d
#define WIDE(name) _mm256_##name##_pd
#endif
#define SIGN_BIT ((int64_t)0x8000000000000000)
#define DIGITS 52
#define BIAS 1023
#define ROUNDING 6755399441055744.0
#define EXP_LEAST -746.0
#define EXP_MOST 710.0
#define ROOT_OF_TWO 1.4142135623730951
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

#include "engine_vector.h"

/* Off by 2^-43. */
static inline V exp_inside(V inside)
{
#ifdef HAS_64
    /* With sixteenth powers of two from a table, which fits in two vectors, a shorter polynomial will do. */
    static const double roots[16] = {1.0, 1.0442737824274138, 1.0905077326652577, 1.1387886347566916, 1.189207115002721, 1.241857812073484, 1.2968395546510096, 1.3542555469368927, 1.4142135623730951, 1.4768261459394993, 1.5422108254079407, 1.6104903319492543, 1.681792830507429, 1.7562521603732995, 1.8340080864093424, 1.9152065613971474};
    const V rounding = all_double(ROUNDING / 16), shifted = fma_double(inside, all_double(1.4426950408889634074), rounding);
    const V k = shifted - rounding, r = reduced_double(inside, k), r2 = r * r;
    const V root = (V)_mm512_permutex2var_pd(_mm512_loadu_pd(roots), (__m512i)shifted, _mm512_loadu_pd(roots + 8));
    const V p01 = fma_double(r, all_double(1.0 / 6), all_double(0.5)), p23 = fma_double(r, all_double(1.0 / 120), all_double(1.0 / 24));
    return scaled_double(fma_double(root, fma_double(fma_double(p23, r2, p01), r2, r), root), k);
#else
    V k;
    const V r = exp_reduced_double(inside, &k);
    return exp_of_rest_double(r, k);
#endif
}

static inline V exp_of_double(V x)
{
    return exp_inside(within_double(x, EXP_LEAST, EXP_MOST));
}

static inline V exp_of_difference_double(V x, V y)
{
    return exp_of_double(x - y);
}

/* The same for an x that is not above y. */
static inline V exp_of_distance_double(V x, V y)
{
    return exp_inside(larger_double(x - y, all_double(EXP_LEAST)));
}

static inline V exp_of_product_double(V x, V y)
{
    return exp_of_double(x * y);
}

static inline V log_of_odds_double(V x)
{
    return log_of_double(x / (1 - x));
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

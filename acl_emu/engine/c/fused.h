/* What kernels that are compiled as a whole have in common; fused.c is generated.
 *
 * Half types are computed in double and rounded once. Where that is dear, a result is computed in float first, along with how far that
 * may be off (`units` of 2^-24 of it, worked out by the generator, or an error that is computed with it); if all numbers as near as that
 * round to the same half number, it is the one. Constants, rows and inputs are looked at before: products and quotients of a few of
 * them have to stay in the normal range of float, as those of float16 always do. */
#ifndef ACL_EMU_FUSED_H
#define ACL_EMU_FUSED_H

#include "engine_types.h"

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#define UNIT 0x1p-24f

/* Elements whose functions are evaluated before anything is made of them. */
enum { BLOCK = 512 };

/* Elements from i on, of which `left` are there: the others are read as zero and not written. */

#define FETCH(type, memory, i, left, read)                                                              \
    ({                                                                                                  \
        const type *from = (const type *)(memory) + (i);                                                \
        type padded[VECTOR_BYTES / sizeof(type)];                                                       \
        if (UNLIKELY((left) < FLOATS)) {                                                                \
            read_part(padded, from, (left) * sizeof(type));                                             \
            from = padded;                                                                              \
        }                                                                                               \
        read(from);                                                                                     \
    })
#define FETCH_f32(memory, i, left) FETCH(float, memory, i, left, read_float)
#define FETCH_f16(memory, i, left) FETCH(uint16_t, memory, i, left, read_f16)
#define FETCH_bf16(memory, i, left) FETCH(uint16_t, memory, i, left, read_bf16)
#define FETCH_mask(memory, i, left) FETCH(uint8_t, memory, i, left, read_mask)

/* While there is much to compute, memory is asked for that is needed soon: what the caller says, else the row that follows, since short ones end before
 * the processor knows what comes next. */
enum { SHORT_ROW = 1 << 13 };
#define APART(number, item) (call->soon ? call->apart[number] : (int64_t)(2 * FLOATS * (item)))
#define SOON(number, item) (call->soon ? call->soon[number] : (const char *)in##number + (n <= SHORT_ROW ? n * (item) : 0))
#define ASK_FOR(memory, step, i) __builtin_prefetch((memory) + (int64_t)((i) / (2 * FLOATS)) * (step) + (i) / FLOATS % 2 * CACHE_LINE, 0, 2)
#define ASK_IF_TOLD(memory, step, i)  \
    do {                              \
        if (told) {                   \
            ASK_FOR(memory, step, i); \
        }                             \
    } while (0)

/* The same of columns, whose rows lie as far apart. */
#define ASK_FOR_ROW(soon, apart, row, at) __builtin_prefetch((soon) + (row) * (apart) + (at), 0, 2)

#define PUT(type, name, memory, i, left, values)                                                        \
    do {                                                                                                \
        type *to = (type *)(memory) + (i), padded[VECTOR_BYTES / sizeof(type)];                         \
        if (UNLIKELY((left) < FLOATS)) {                                                                \
            write_##name(padded, values);                                                               \
            write_part(to, padded, (left) * sizeof(type));                                              \
        } else if (streamed) {                                                                          \
            stream_##name(to, values);                                                                  \
        } else {                                                                                        \
            write_##name(to, values);                                                                   \
        }                                                                                               \
    } while (0)
#define PUT_f32(memory, i, left, values) PUT(float, float, memory, i, left, values)
#define PUT_half(memory, i, left, values) PUT(uint16_t, half, memory, i, left, values)
#define PUT_f16(memory, i, left, values) PUT_half(memory, i, left, rounded_f16(values))
#define PUT_bf16(memory, i, left, values) PUT_half(memory, i, left, rounded_bf16(values))

#define JOINED_f32(low, high) joined(low, high)
#define JOINED_f16(low, high) odd_joined(low, high)
#define JOINED_bf16(low, high) odd_joined(low, high)

/* Numbers that are kept as float for a later phase; those that are too small for it as no number, which is doubtful later. As float16
 * their results are zero. */
#define KEPT_f16(low, high) joined(low, high)
#define KEPT_bf16(low, high) without_tiny(joined(low, high), low, high)

static inline float_vector without_tiny(float_vector values, double_vector low, double_vector high)
{
    const float_mask little = less_float(absolute_float(values), all_float(0x1p-90f));
    if (any(little)) {
        const float_mask there = joined_masks(not_equal_double(low, all_double(0)), not_equal_double(high, all_double(0)));
        return select_float(little & there, all_float(NAN), values);
    }
    return values;
}

/* What the product of an element and a constant lost: the constant, of which the rest is beyond float, and the product were rounded. */
static inline float_vector rest_of_product(float_vector x, float_vector constant, float_vector rest, float_vector product)
{
    return fma_float(x, rest, -lost_of_product(x, constant, product));
}

/* Zero, no number, or one that products and quotients with a few others stay in the normal range of float with. */
static inline int is_moderate(double value)
{
    const double magnitude = fabs(value);
    return !(magnitude > 0x1p32) && !(magnitude < 0x1p-32 && magnitude > 0);
}

/* Numbers that are, of many rows; no others, and nothing that is no number. */
static inline double_mask are_moderate(double_vector values)
{
    const double_vector magnitudes = absolute_double(values);
    const double_mask within = less_equal_double(all_double(0x1p-32), magnitudes) & less_equal_double(magnitudes, all_double(0x1p32));
    return within | equal_double(values, all_double(0));
}

/* What float makes of numbers of many rows; none where they are not moderate, so that what is made of it is doubtful. */
static inline float_vector trusted(double_vector low, double_vector high, float_vector values)
{
    return select_float(joined_masks(are_moderate(low), are_moderate(high)), values, all_float(NAN));
}

static inline int is_float(double value)
{
    return (double)(float)value == value;
}

#ifdef HAS_64
/* Stored numbers of a row from the ith on, as many as a vector holds, with zeros behind the last. */
static inline __m512i read_halves(const uint16_t *memory, size_t i, size_t n)
{
    return _mm512_maskz_loadu_epi16(n - i < 2 * FLOATS ? (1u << (n - i)) - 1 : ~0u, memory + i);
}
#endif

/* Whether stored numbers of a row that are not zero are between two others; `sign` is all but zero where signs do not matter. */
static inline int are_between(const uint16_t *memory, size_t n, uint16_t sign, uint16_t least_of_all, uint16_t most_of_all)
{
#ifdef HAS_64
    const __m512i magnitude = _mm512_set1_epi16((short)~sign), least = _mm512_set1_epi16((short)least_of_all);
    const __m512i range = _mm512_set1_epi16((short)(most_of_all - least_of_all));
    __mmask32 outside = 0;
    for (size_t i = 0; i < n; i += 2 * FLOATS) {
        const __m512i numbers = _mm512_and_si512(read_halves(memory, i, n), magnitude);
        outside |= _mm512_mask_cmpgt_epu16_mask(_mm512_test_epi16_mask(numbers, numbers), _mm512_sub_epi16(numbers, least), range);
    }
    return !outside;
#else
    uint16_t largest = 0, smallest = UINT16_MAX; /* of numbers less one step: zero comes out on top */
    for (size_t i = 0; i < n; i++) {
        const uint16_t number = memory[i] & (uint16_t)~sign, less = (uint16_t)(number - 1);
        largest = number > largest ? number : largest;
        smallest = less < smallest ? less : smallest;
    }
    return largest <= most_of_all && smallest >= least_of_all - 1;
#endif
}

#define BF16_POWER(k) ((127 + (k)) << 7)

/* The same of inputs. */
static inline int is_moderate_bf16(const uint16_t *memory, size_t n)
{
    return are_between(memory, n, 0x8000, BF16_POWER(-24), BF16_POWER(16));
}

/* Numbers that others are weighed with: none is negative, and products with moderate ones have all digits. */
static inline int are_weights_bf16(const uint16_t *memory, size_t n)
{
    return are_between(memory, n, 0, BF16_POWER(-60), BF16_POWER(16));
}

static inline int are_weights_f16(const uint16_t *memory, size_t n)
{
#ifdef HAS_64
    __m512i any = _mm512_setzero_si512();
    for (size_t i = 0; i < n; i += 2 * FLOATS) {
        any = _mm512_or_si512(any, read_halves(memory, i, n));
    }
    return !_mm512_movepi16_mask(any);
#else
    uint16_t any = 0;
    for (size_t i = 0; i < n; i++) {
        any |= memory[i];
    }
    return any < 0x8000;
#endif
}

/* Which exponentials are beyond 2^-60 and 2^60. */
static inline float_mask extreme(float_vector values)
{
#ifdef HAS_64
    const __m512i above = _mm512_sub_epi32((__m512i)values, _mm512_set1_epi32((127 - 60) << 23));
    return _mm512_cmpgt_epu32_mask(above, _mm512_set1_epi32(120 << 23));
#else
    return less_float(all_float(0x1p60f), values) | less_float(values, all_float(0x1p-60f));
#endif
}

/* No less than error / size, and little more. */
static inline float_vector over_float(float_vector error, float_vector size)
{
#if defined(HAS_64)
    return error * (float_vector)_mm512_rcp14_ps((__m512)size) * 1.001f;
#elif defined(HAS_32)
    return error * (float_vector)_mm256_rcp_ps((__m256)size) * 1.001f;
#else
    return error / size;
#endif
}

/* Numbers that round to two different half numbers. */
static inline float_mask apart_f16(float_vector above, float_vector below, half_vector *rounded)
{
#if defined(HAS_64)
    const __m256i up = _mm512_cvtps_ph((__m512)above, _MM_FROUND_TO_NEAREST_INT);
    const __m256i down = _mm512_cvtps_ph((__m512)below, _MM_FROUND_TO_NEAREST_INT);
    *rounded = (half_vector)up;
    return _mm256_cmpneq_epi16_mask(up, down);
#elif defined(HAS_32)
    const __m128i up = _mm256_cvtps_ph((__m256)above, _MM_FROUND_TO_NEAREST_INT);
    const __m128i down = _mm256_cvtps_ph((__m256)below, _MM_FROUND_TO_NEAREST_INT);
    *rounded = (half_vector)up;
    return ~(float_mask)_mm256_cvtepi16_epi32(_mm_cmpeq_epi16(up, down));
#else
    const half_vector down = rounded_f16(below);
    *rounded = rounded_f16(above);
    float_mask doubt;
    for (int i = 0; i < FLOATS; i++) {
        doubt[i] = (*rounded)[i] != down[i] ? -1 : 0;
    }
    return doubt;
#endif
}

static inline float_mask apart_bf16(float_vector above, float_vector below, half_vector *rounded)
{
    /* A tie would be rounded up: what lies above it is no tie, and so differs from it. */
    const float_bits up = (float_bits)above + 0x8000, down = (float_bits)below + 0x7fff;
    *rounded = upper_halves(up);
#ifdef HAS_64
    return _mm512_test_epi32_mask((__m512i)(up ^ down), _mm512_set1_epi32((int)0xffff0000));
#else
    return (float_words)((up ^ down) & 0xffff0000) != 0;
#endif
}

/* The same where what is no number differs too: its lower end is made to. */
#define DIFFERING(half)                                                                                                   \
    static inline float_mask differing_##half(float_vector above, float_vector below, half_vector *rounded)               \
    {                                                                                                                     \
        return apart_##half(above, larger_float(all_float(-INFINITY), below), rounded);                                   \
    }
DIFFERING(f16)
DIFFERING(bf16)

/* Results that are off by up to `units` of 2^-24 of themselves as half numbers; which of them are in doubt. */

static inline float_mask close_f16(float_vector values, float units, half_vector *rounded)
{
    return differing_f16(values * (1 + (units + 2) * UNIT), values * (1 - (units + 2) * UNIT), rounded);
}

static inline float_mask close_bf16(float_vector values, float units, half_vector *rounded)
{
    /* What is rounded off, counted from just below the middle; what is no number becomes one that lies there. */
    const uint32_t width = (uint32_t)units + 3;
    const float_bits raised = (float_bits)larger_float(all_float(-0x1.ffp127f), values) + (0x8000 + width), dropped = raised & 0xffff;
    *rounded = upper_halves(raised);
#ifdef HAS_64
    return _mm512_cmple_epu32_mask((__m512i)dropped, _mm512_set1_epi32(2 * (int)width));
#else
    return (float_mask)((float_words)dropped <= 2 * (int32_t)width);
#endif
}

/* Numbers too small for all digits, unless zero. */
static inline float_mask faded(float_vector values)
{
    return less_float(absolute_float(values), all_float(0x1p-90f)) & not_equal_float(values, all_float(0));
}

/* A first look at the same, in fewer steps: which are certain, but for numbers below `least`, of which nothing is said. */
static inline float_mask clear_of_middle(float_vector values, uint32_t dropped_values, uint32_t width, float least)
{
    const float_bits dropped = ((float_bits)values + (dropped_values / 2 + width)) & (dropped_values - 1);
#ifdef HAS_64
    const __mmask16 clear = _mm512_cmpgt_epu32_mask((__m512i)dropped, _mm512_set1_epi32(2 * (int)width));
    return _mm512_mask_cmp_ps_mask(clear, (__m512)absolute_float(values), _mm512_set1_ps(least), _CMP_GE_OQ);
#else
    return (float_mask)((float_words)dropped > 2 * (int32_t)width) & less_equal_float(all_float(least), absolute_float(values));
#endif
}

static inline float_mask unclear_f16(float_vector values, float units, half_vector *rounded)
{
    *rounded = rounded_f16(values);
    return ~clear_of_middle(values, 0x2000, (uint32_t)units + 1, 0x1p-14f);
}

static inline float_mask unclear_bf16(float_vector values, float units, half_vector *rounded)
{
    *rounded = upper_halves((float_bits)values + 0x8000);
    return ~clear_of_middle(values, 0x10000, (uint32_t)units + 1, 0x1p-90f);
}

/* The same for results of which each is off by up to its error besides. What adds takes turns with the conversions of float16, what multiplies
 * does not: both are used. */

static inline float_vector slack_of(float_vector values, float_vector error, float units)
{
    return fma_float(absolute_float(values), all_float((units + 2) * UNIT), error);
}

static inline float_mask unsure_f16(float_vector values, float_vector error, float units, half_vector *rounded)
{
    const float_vector slack = slack_of(values, error, units);
    return differing_f16(values + slack, fma_float(slack, all_float(-1), values), rounded);
}

static inline float_mask unsure_bf16(float_vector values, float_vector error, float units, half_vector *rounded)
{
    const float_vector slack = slack_of(values, error, units);
    return differing_bf16(values + slack, values - slack, rounded);
}

/* Results that lie between two numbers, which are made of a number of the row that is a little less, and one that is a little more: rounded
 * up and down, where that can be chosen, nothing is left out, however small. */

/* A number that is rounded to float, and multiplied by others that are off by `units`. */
static inline void spread(double value, float units, float_vector *least, float_vector *most)
{
    const double slack = fabs(value) * ((units + 2) * UNIT);
    *least = all_float((float)(value - slack));
    *most = all_float((float)(value + slack));
}

/* The same of many rows; none where they are not moderate. */
static inline void spread_columns(double_vector low, double_vector high, float units, float_vector *least, float_vector *most)
{
    const double_vector width = all_double((units + 2) * UNIT), lower = absolute_double(low) * width, upper = absolute_double(high) * width;
    *least = trusted(low, high, joined(low - lower, high - upper));
    *most = trusted(low, high, joined(low + lower, high + upper));
}

/* from - size × (least … most), for a size that is not negative. */
static inline void ends_of(float_vector from, float_vector size, float_vector least, float_vector most, float_vector *above, float_vector *below)
{
#ifdef HAS_64
    *above = (float_vector)_mm512_fnmadd_round_ps((__m512)size, (__m512)least, (__m512)from, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    *below = (float_vector)_mm512_fnmadd_round_ps((__m512)size, (__m512)most, (__m512)from, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#else
    const float_vector high = fma_float(-size, least, from), low = fma_float(-size, most, from); /* zeros keep their signs */
    *above = larger_float(high * (1 + 2 * UNIT), high * (1 - 2 * UNIT));
    *below = -larger_float(low * -(1 + 2 * UNIT), low * -(1 - 2 * UNIT));
#endif
}

/* Numbers less multiples of exponentials. As float16, those that come to nothing in float count where they say which sign a zero has, which
 * shows when they are rounded up and down. Where there is nothing to be multiplied, zeros rounded up are as if rounded to the nearest. */
#ifdef HAS_64
#define MATTER_f16(exponentials) first_ones(0)
#else
#define MATTER_f16(exponentials) extreme(exponentials)
#endif
#define MATTER_bf16(exponentials) extreme(exponentials)
#define LESS_EXPONENTIALS(half)                                                                                           \
    static inline float_mask less_exponentials_##half(float_vector from, float_vector exponentials, float_vector least,   \
                                                      float_vector most, half_vector *rounded)                            \
    {                                                                                                                     \
        float_vector above, below;                                                                                        \
        ends_of(from, exponentials, least, most, &above, &below);                                                         \
        float_mask doubt = differing_##half(above, below, rounded) | MATTER_##half(exponentials);                         \
        if (UNLIKELY(any(doubt))) {                                                                                       \
            doubt &= not_equal_float(most, all_float(0)) | not_equal_float(exponentials * most, all_float(0));            \
        }                                                                                                                 \
        return doubt;                                                                                                     \
    }
LESS_EXPONENTIALS(f16)
LESS_EXPONENTIALS(bf16)

/* Numbers less one of their row, weighed: the first products are exact. Zeros less zeros are the same. */
#define LESS_WEIGHED(half)                                                                                                \
    static inline float_mask less_weighed_##half(float_vector from, float_vector weights, float_vector least,             \
                                                 float_vector most, half_vector *rounded)                                 \
    {                                                                                                                     \
        float_vector above, below;                                                                                        \
        ends_of(from * weights, weights, least, most, &above, &below);                                                    \
        float_mask doubt = apart_##half(above, below, rounded);                                                           \
        if (UNLIKELY(any(doubt))) {                                                                                       \
            doubt &= not_equal_float(from * weights, all_float(0)) | not_equal_float(weights * most, all_float(0));       \
        }                                                                                                                 \
        return doubt;                                                                                                     \
    }
LESS_WEIGHED(f16)
LESS_WEIGHED(bf16)

/* Plain arithmetic on float that is followed step by step: operations that round in any direction, as long as it is to a number next to the
 * result, and where they did, in all of the range of float. With 64-byte vectors directions can be chosen, and what is the same rounded up
 * and down was not rounded at all; numbers of float16 are never so small that a remainder is lost. */

#ifdef HAS_64
#define DIRECTED(name, op, direction)                                                                        \
    static inline float_vector name##_##op(float_vector a, float_vector b)                                   \
    {                                                                                                        \
        return (float_vector)_mm512_##op##_round_ps((__m512)a, (__m512)b, direction | _MM_FROUND_NO_EXC);    \
    }
DIRECTED(raised, add, _MM_FROUND_TO_POS_INF)
DIRECTED(raised, sub, _MM_FROUND_TO_POS_INF)
DIRECTED(raised, mul, _MM_FROUND_TO_POS_INF)
DIRECTED(lowered, mul, _MM_FROUND_TO_NEG_INF)
DIRECTED(cut, mul, _MM_FROUND_TO_ZERO)
DIRECTED(cut, div, _MM_FROUND_TO_ZERO)

/* Where multiplications are made, lest they wait for those that are rounded up, and for conversions. */
#define LOWERED(op, name)                                                                                    \
    static inline float_vector lowered_##op(float_vector a, float_vector b)                                  \
    {                                                                                                        \
        const __m512 one = _mm512_set1_ps(1);                                                                \
        return (float_vector)_mm512_##name##_round_ps((__m512)a, one, (__m512)b, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); \
    }
LOWERED(add, fmadd)
LOWERED(sub, fmsub)

static inline float_mask is_left(float_vector remainder) /* not where it is none: infinities are not rounded */
{
    return _mm512_cmp_ps_mask((__m512)remainder, _mm512_setzero_ps(), _CMP_NEQ_OQ);
}

#define near_add_f16 raised_add
#define near_sub_f16 raised_sub
#define near_mul_f16 cut_mul
#define near_div_f16 cut_div
#define near_add_bf16 raised_add
#define near_sub_bf16 raised_sub
#define near_mul_bf16 raised_mul
#define near_div_bf16(a, b) ((a) / (b))
#define inexact_add_f16(a, b, sum) not_equal_float(sum, lowered_add(a, b))
#define inexact_sub_f16(a, b, difference) not_equal_float(difference, lowered_sub(a, b))
#define inexact_mul_f16(a, b, product) is_left(fma_float(a, b, -(product)))
#define inexact_div_f16(a, b, quotient) is_left(fma_float(-(quotient), b, a))
#define inexact_add_bf16 inexact_add_f16
#define inexact_sub_bf16 inexact_sub_f16
#define inexact_mul_bf16(a, b, product) not_equal_float(product, lowered_mul(a, b))
#define inexact_div_bf16(a, b, quotient) (not_equal_float(raised_mul(quotient, b), a) | not_equal_float(lowered_mul(quotient, b), a))
#else
#define NEAREST(name, operator, half)                                                                        \
    static inline float_vector near_##name##_##half(float_vector a, float_vector b)                          \
    {                                                                                                        \
        return a operator b;                                                                                 \
    }
NEAREST(add, +, f16)
NEAREST(sub, -, f16)
NEAREST(mul, *, f16)
NEAREST(div, /, f16)
NEAREST(add, +, bf16)
NEAREST(sub, -, bf16)
NEAREST(mul, *, bf16)
NEAREST(div, /, bf16)

static inline float_mask inexact_add_f16(float_vector a, float_vector b, float_vector sum)
{
    return not_equal_float(sum - a, b) | not_equal_float(sum - b, a);
}

static inline float_mask inexact_sub_f16(float_vector a, float_vector b, float_vector difference)
{
    return not_equal_float(a - difference, b) | not_equal_float(difference + b, a);
}

#define inexact_add_bf16 inexact_add_f16
#define inexact_sub_bf16 inexact_sub_f16

#ifdef HAS_32
/* What is so small that its last digits, or those of a remainder, may be lost. */
static inline float_mask is_little(float_vector values)
{
    return less_float(absolute_float(values), all_float(0x1p-100f));
}

static inline float_mask inexact_mul_f16(float_vector a, float_vector b, float_vector product)
{
    return not_equal_float(fma_float(a, b, -product), all_float(0));
}

static inline float_mask inexact_div_f16(float_vector a, float_vector b, float_vector quotient)
{
    return not_equal_float(fma_float(-quotient, b, a), all_float(0));
}

static inline float_mask inexact_mul_bf16(float_vector a, float_vector b, float_vector product)
{
    const float_mask none = equal_float(a, all_float(0)) | equal_float(b, all_float(0));
    return inexact_mul_f16(a, b, product) | (is_little(product) & ~none);
}

static inline float_mask inexact_div_bf16(float_vector a, float_vector b, float_vector quotient)
{
    return inexact_div_f16(a, b, quotient) | (is_little(a) & not_equal_float(a, all_float(0)));
}
#else
static inline float_mask inexact_mul_f16(float_vector a, float_vector b, float_vector product)
{
    float_mask lost;
    for (int i = 0; i < FLOATS; i++) {
        lost[i] = (double)a[i] * (double)b[i] != (double)product[i] ? -1 : 0;
    }
    return lost;
}

static inline float_mask inexact_div_f16(float_vector a, float_vector b, float_vector quotient)
{
    float_mask lost;
    for (int i = 0; i < FLOATS; i++) {
        lost[i] = (double)quotient[i] * (double)b[i] != (double)a[i] ? -1 : 0;
    }
    return lost;
}

#define inexact_mul_bf16 inexact_mul_f16
#define inexact_div_bf16 inexact_div_f16
#endif
#endif

/* Results as half numbers, and which of those that were rounded before lie in the middle between two of them. */

static inline float_mask middle_f16(float_vector values, float_mask rounded, half_vector *halves)
{
#ifdef HAS_64
    /* Products and quotients were cut off: with a last digit that says so they are rounded as if they had not been. */
    *halves = rounded_f16((float_vector)_mm512_mask_or_epi32((__m512i)values, rounded, (__m512i)values, _mm512_set1_epi32(1)));
    return first_ones(0);
#else
    const float_bits dropped = (float_bits)values & 0x1fff;
    const float_mask small = less_float(absolute_float(values), all_float(0x1p-14f)); /* where more digits are dropped */
    *halves = rounded_f16(values);
    return rounded & ((float_mask)(dropped == 0x1000) | small);
#endif
}

/* Where there is no number, its lower half is zero. */
static inline float_mask middle_bf16(float_vector values, float_mask rounded, half_vector *halves)
{
#ifdef HAS_64
    const __m512i raised = _mm512_add_epi32((__m512i)values, _mm512_set1_epi32(0x8000));
    const __mmask16 middle = _mm512_testn_epi32_mask(raised, _mm512_set1_epi32(0xffff));
    *halves = upper_halves((float_bits)_mm512_mask_and_epi32(raised, middle, raised, _mm512_set1_epi32(~0x10000)));
    return rounded & middle;
#else
    const float_bits dropped = (float_bits)values & 0xffff;
    *halves = rounded_bf16(values);
    return rounded & (float_mask)(dropped == 0x8000);
#endif
}

/* What counts in a reduction: numbers of elements that are there. */

static inline float_vector live_float(size_t left, float_vector values, float nothing)
{
    return UNLIKELY(left < FLOATS) ? select_float(first_ones(left), values, all_float(nothing)) : values;
}

static inline double_vector live_lower(size_t left, double_vector values, double nothing)
{
    return UNLIKELY(left < FLOATS) ? select_double(lower_mask(first_ones(left)), values, all_double(nothing)) : values;
}

static inline double_vector live_upper(size_t left, double_vector values, double nothing)
{
    return UNLIKELY(left < FLOATS) ? select_double(upper_mask(first_ones(left)), values, all_double(nothing)) : values;
}

/* A sum, made where multiplications are: others take turns with conversions. */
static inline double_vector added_double(double_vector sum, double_vector values)
{
#if defined(HAS_64) || defined(HAS_32)
    return fma_double(values, all_double(1), sum);
#else
    return sum + values;
#endif
}

/* The same without some. */
static inline double_vector added_unless(double_mask left_out, double_vector sum, double_vector values)
{
#ifdef HAS_64
    return (double_vector)_mm512_mask3_fmadd_pd((__m512d)values, _mm512_set1_pd(1), (__m512d)sum, (__mmask8)~left_out);
#else
    return select_double(left_out, sum, added_double(sum, values));
#endif
}

/* How many of the elements that are there are marked. */
static inline size_t count_of(float_mask marked, size_t left)
{
    if (UNLIKELY(left < FLOATS)) {
        marked &= first_ones(left);
    }
#if defined(HAS_64)
    return (size_t)__builtin_popcount(marked);
#elif defined(HAS_32)
    return (size_t)__builtin_popcount((unsigned)_mm256_movemask_ps((__m256)marked));
#else
    size_t found = 0;
    for (int i = 0; i < FLOATS; i++) {
        found += marked[i] != 0;
    }
    return found;
#endif
}

/* The sum of some vectors of a half type, a whole number of pairs, added to what is there. Their few digits mostly fit in float, rounded up or down. */
enum { RUN = 8 * FLOATS };
#ifdef HAS_64
static inline void read_two_f16(const uint16_t *from, float_vector *first, float_vector *second)
{
    *first = read_f16(from);
    *second = read_f16(from + FLOATS);
}

/* In any order. */
static inline void read_two_bf16(const uint16_t *from, float_vector *first, float_vector *second)
{
    const __m512i pairs = _mm512_loadu_si512(from);
    *first = (float_vector)_mm512_slli_epi32(pairs, 16);
    *second = (float_vector)_mm512_and_epi32(pairs, _mm512_set1_epi32((int)0xffff0000));
}

/* `read` reads two vectors for each k below `count`, so many apart: whether their sum is exact in float, and what it is. */
#define PAIRS_FIT(count, apart, read, sum)                                                                                \
    ({                                                                                                                    \
        float_vector above = all_float(0), below = above, first, second;                                                  \
        _Pragma("GCC unroll 4") for (size_t k = 0; k < (count); k += (apart)) {                                           \
            read;                                                                                                         \
            above = raised_add(above, raised_add(first, second));                                                         \
            below = lowered_add(below, lowered_add(first, second));                                                       \
        }                                                                                                                 \
        (sum) = above;                                                                                                    \
        !any(not_equal_float(above, below));                                                                              \
    })
#else
#define PAIRS_FIT(count, apart, read, sum) ((sum) = all_float(0), 0)
#endif
#define SUM_FITS(half, from, count, sum) PAIRS_FIT(count, 2 * FLOATS, read_two_##half((from) + k, &first, &second), sum)
#define ADD_RUN(half)                                                                                                     \
    static inline void add_run_##half(const uint16_t *from, size_t count, double_vector *low, double_vector *high)        \
    {                                                                                                                     \
        float_vector sum;                                                                                                 \
        if (SUM_FITS(half, from, count, sum)) {                                                                           \
            *low += lower_half(sum);                                                                                      \
            *high += upper_half(sum);                                                                                     \
        } else {                                                                                                          \
            for (size_t k = 0; k < count; k += 2 * FLOATS) {                                                              \
                const float_vector first = read_##half(from + k), second = read_##half(from + k + FLOATS);                \
                *low += lower_half(first) + lower_half(second);                                                           \
                *high += upper_half(first) + upper_half(second);                                                          \
            }                                                                                                             \
        }                                                                                                                 \
    }
ADD_RUN(f16)
ADD_RUN(bf16)

/* Reductions: what a part of a row comes to, and what all of it does. */

/* Numbers of some rows, of which the last fills the vector that it is in. */
static inline void fill_up(double *numbers, int64_t count)
{
    for (int64_t k = count; k % DOUBLES; k++) {
        numbers[k] = numbers[count - 1];
    }
}

/* Loops whose steps have vectors of their own, which stay in registers. */
#define EVERY _Pragma("GCC unroll 8")

#ifdef HAS_64
_Static_assert(ROWS_TOGETHER == 8, "sums_of_eight() adds up all of them");

/* What eight vectors come to, each as by sums_of(). */
static inline double_vector sums_of_eight(const double_vector *some)
{
    __m512d halves[4], quarters[2];
    EVERY for (int k = 0; k < 4; k++) {
        const __m512d a = (__m512d)some[k], b = (__m512d)some[k + 4];
        halves[k] = _mm512_shuffle_f64x2(a, b, 0x44) + _mm512_shuffle_f64x2(a, b, 0xee);
    }
    EVERY for (int k = 0; k < 2; k++) {
        quarters[k] = _mm512_shuffle_f64x2(halves[k], halves[k + 2], 0x88) + _mm512_shuffle_f64x2(halves[k], halves[k + 2], 0xdd);
    }
    const __m512d sums = _mm512_unpacklo_pd(quarters[0], quarters[1]) + _mm512_unpackhi_pd(quarters[0], quarters[1]);
    return (double_vector)_mm512_permutexvar_pd(_mm512_set_epi64(7, 6, 3, 2, 5, 4, 1, 0), sums); /* 0 1 4 5 2 3 6 7 */
}
#endif

/* What rows come to, from the vectors that they have been added up in. */
static inline void sums_of_rows(const double_vector *held, int64_t count, double *sums)
{
#ifdef HAS_64
    if (count == ROWS_TOGETHER) {
        write_double(sums, sums_of_eight(held));
        return;
    }
#endif
    for (int64_t k = 0; k < count; k++) {
        sums[k] = sums_of(held[k], all_double(0));
    }
    fill_up(sums, count);
}

/* Where what is kept of one of several rows is. */
#define KEPT_OF_ROW(type, room, row) (call->kept[room] + (size_t)(row) * call->stride * sizeof(type))

static inline void store_sums(double *sums, double_vector low, double_vector high)
{
    memset(sums, 0, PARTIALS * sizeof(double));
    write_double(sums, low);
    write_double(sums + DOUBLES, high);
}

static inline void store_largest(double *sums, double largest)
{
    for (int k = 0; k < PARTIALS; k += DOUBLES) {
        write_double(sums + k, all_double(largest));
    }
}

/* The exponentials of a row less its largest number, added up in float along with what that loses; where they are counted, without those that
 * are one. They are kept as multiples of `unit`, and cut off below exp(-86). Their sum is off by less than ROUGH of itself: a result that may
 * come out otherwise for that is worked out again in double. */
#define ROUGH 0x1.2p-28
/* Columns of no more rows are not worth a unit of their own. */
enum { FEW_EXPONENTIALS = 6 };

static inline int is_fit_for_float(double largest, size_t n)
{
#ifdef HAS_64
    return n >= 4 * FLOATS && n <= 1 << 20 && fabs(largest) < 64; /* rows that are worth it, not so long that what is lost adds up */
#else
    (void)largest, (void)n;
    return 0;
#endif
}

#ifdef HAS_64
/* What is nothing is so as bfloat16, rather than too small; as float16 both are zero. */
#define OR_NOTHING_f16(x, power) power
#define OR_NOTHING_bf16(x, power) select_float(equal_float(x, all_float(-INFINITY)), all_float(0), power)
#define ADD_EXPONENTIAL(half, x, live, counted, room, in_parts)                                                           \
    do {                                                                                                                  \
        float_vector rest, power, value = in_parts(larger_float(x, least), less, most, &rest, &power);                    \
        power = live_float(live, power, 0);                                                                               \
        if (count) {                                                                                                      \
            const float_mask one = equal_float(x, most);                                                                  \
            power = select_float(one, all_float(0), power);                                                               \
            counted;                                                                                                      \
        }                                                                                                                 \
        if (kept) {                                                                                                       \
            power = OR_NOTHING_##half(x, power);                                                                          \
            write_float(room, value * power);                                                                             \
        }                                                                                                                 \
        lost = fma_float(rest, power, lost);                                                                              \
        value *= power;                                                                                                   \
        *low = added_double(*low, lower_half(value));                                                                     \
        *high = added_double(*high, upper_half(value));                                                                   \
    } while (0)
#define EXP_IN_UNITS(x, less, most, rest, power) exp_in_parts(x, less, rest, power)

/* The same of how far numbers lie above the largest, and what that lost. */
static inline float_vector exp_of_distance_in_parts(float_vector x, float_vector less, float_vector most, float_vector *rest, float_vector *power)
{
    (void)less;
    const float_vector distance = x - most, taken = x - distance, lost = (x - (distance + taken)) + (taken - most);
    const float_vector value = exp_in_parts(distance, all_float(0), rest, power);
    *rest = fma_float(value, lost, *rest);
    return value;
}

#define ADD_EXPONENTIALS(half)                                                                                            \
    const double whole = floor(largest * 1.4426950408889634074);                                                          \
    const float_vector less = all_float((float)whole), most = all_float((float)largest), least = most - all_float(86);    \
    float_vector lost = all_float(0);                                                                                     \
    for (size_t i = 0; i < n; i += FLOATS) {                                                                              \
        const size_t left = n - i;                                                                                        \
        ASK_FOR(soon, apart, i);                                                                                          \
        const float_vector x = FETCH_##half(memory, i, left);                                                             \
        ADD_EXPONENTIAL(half, x, left, *count += count_of(one, left), kept + i, EXP_IN_UNITS);                            \
    }                                                                                                                     \
    *unit = exp_of_double(all_double(whole * 0.69314718055994530942 - largest));                                          \
    *low = (*low + lower_half(lost)) * *unit;                                                                             \
    *high = (*high + upper_half(lost)) * *unit;

/* The same of columns, each with a largest number of its own; 0 where that, or what the sum comes to, does not fit. */
static inline double_vector unit_of(double_vector whole, double_vector largest)
{
    return exp_of_double(whole * 0.69314718055994530942 - largest);
}

#define COUNT_ONES *count = select_float(one, *count + 1, *count)
#define ADD_COLUMNS(half)                                                                                                 \
    if (any((float_mask)~less_float(absolute_float(most), all_float(64)))) {                                              \
        return 0;                                                                                                         \
    }                                                                                                                     \
    const float_vector less = (float_vector)_mm512_roundscale_ps((__m512)(most * 1.44269504f), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); \
    const float_vector least = most - all_float(86);                                                                      \
    const int few = rows <= FEW_EXPONENTIALS;                                                                             \
    float_vector lost = all_float(0);                                                                                     \
    for (int64_t row = 0; row < rows; row++) {                                                                            \
        ASK_FOR_ROW(soon, apart, row, i * sizeof(uint16_t));                                                              \
        const float_vector x = FETCH_##half(memory + row * pitch, i, left);                                               \
        if (few) {                                                                                                        \
            ADD_EXPONENTIAL(half, x, FLOATS, COUNT_ONES, kept + (size_t)row * stride, exp_of_distance_in_parts);          \
        } else {                                                                                                          \
            ADD_EXPONENTIAL(half, x, FLOATS, COUNT_ONES, kept + (size_t)row * stride, EXP_IN_UNITS);                      \
        }                                                                                                                 \
    }                                                                                                                     \
    *low_unit = few ? all_double(1) : unit_of(lower_half(less), lower_half(most));                                        \
    *high_unit = few ? all_double(1) : unit_of(upper_half(less), upper_half(most));                                       \
    *low = (*low + lower_half(lost)) * *low_unit;                                                                         \
    *high = (*high + upper_half(lost)) * *high_unit;                                                                      \
    return !any(joined_masks(less_equal_double(*low, all_double(0x1p-60)), less_equal_double(*high, all_double(0x1p-60))));
#else
#define ADD_COLUMNS(half)                                                                                                 \
    (void)memory, (void)pitch, (void)rows, (void)i, (void)left, (void)soon, (void)apart, (void)most, (void)kept, (void)stride; \
    (void)low, (void)high, (void)count, (void)low_unit, (void)high_unit;                                                  \
    return 0;
#define ADD_EXPONENTIALS(half)                                                                                            \
    (void)memory, (void)n, (void)soon, (void)apart, (void)largest, (void)kept, (void)low, (void)high, (void)count, (void)unit;
#endif
#define ROUGHLY(half)                                                                                                     \
    static inline void add_exponentials_##half(const void *memory, size_t n, const char *soon, int64_t apart,             \
                                               double largest, float *kept, double_vector *low,                           \
                                               double_vector *high, size_t *count, double_vector *unit)                   \
    {                                                                                                                     \
        ADD_EXPONENTIALS(half)                                                                                            \
    }                                                                                                                     \
    static inline __attribute__((always_inline)) int add_columns_##half(const char *memory, int64_t pitch, int64_t rows,  \
        size_t i, size_t left, const char *soon, int64_t apart, float_vector most, float *kept, size_t stride,            \
        double_vector *low, double_vector *high, float_vector *count, double_vector *low_unit, double_vector *high_unit)  \
    {                                                                                                                     \
        ADD_COLUMNS(half)                                                                                                 \
    }                                                                                                                     \
    static inline int is_shaky_##half(double_vector low, double_vector high)                                              \
    {                                                                                                                     \
        const half_vector above = rounded_##half(odd_joined(low * (1 + ROUGH), high * (1 + ROUGH)));                      \
        const half_vector below = rounded_##half(odd_joined(low * (1 - ROUGH), high * (1 - ROUGH)));                      \
        return memcmp(&above, &below, sizeof above) != 0;                                                                 \
    }
ROUGHLY(f16)
ROUGHLY(bf16)

/* The sum of a row, added to what is there: of FLOAT by twos, so that none waits for the last, of half types in runs. */
static inline void add_row_f32(const void *memory, size_t n, double_vector *low, double_vector *high)
{
    const float *from = memory;
    double_vector next_low = all_double(0), next_high = next_low;
    size_t i = 0;
    for (; i + 2 * FLOATS <= n; i += 2 * FLOATS) {
        *low = added_double(*low, double_of_floats(from + i));
        *high = added_double(*high, double_of_floats(from + i + DOUBLES));
        next_low = added_double(next_low, double_of_floats(from + i + FLOATS));
        next_high = added_double(next_high, double_of_floats(from + i + FLOATS + DOUBLES));
    }
    for (; i < n; i += FLOATS) {
        const float_vector values = FETCH_f32(memory, i, n - i);
        *low += lower_half(values);
        *high += upper_half(values);
    }
    *low += next_low;
    *high += next_high;
}

#define ADD_ROW(half)                                                                                                     \
    static inline void add_row_##half(const void *memory, size_t n, double_vector *low, double_vector *high)              \
    {                                                                                                                     \
        size_t i = 0;                                                                                                     \
        for (; i + RUN <= n; i += RUN) {                                                                                  \
            add_run_##half((const uint16_t *)memory + i, RUN, low, high);                                                 \
        }                                                                                                                 \
        const size_t rest = (n - i) / (2 * FLOATS) * (2 * FLOATS);                                                        \
        if (rest) {                                                                                                       \
            add_run_##half((const uint16_t *)memory + i, rest, low, high);                                                \
        }                                                                                                                 \
        for (i += rest; i < n; i += FLOATS) {                                                                             \
            const float_vector values = FETCH_##half(memory, i, n - i);                                                   \
            *low += lower_half(values);                                                                                   \
            *high += upper_half(values);                                                                                  \
        }                                                                                                                 \
    }
ADD_ROW(f16)
ADD_ROW(bf16)

/* The sum of the products of two rows of a half type, which have few enough digits for float, by twos, so
 * that none waits for the last. */
#define ADD_PRODUCTS(half)                                                                                                \
    static inline void add_products_##half(const void *a, const void *b, size_t n, double_vector *low, double_vector *high) \
    {                                                                                                                     \
        double_vector next_low = all_double(0), next_high = all_double(0);                                                \
        for (size_t i = 0; i < n; i += 2 * FLOATS) {                                                                      \
            const size_t left = n - i, after = left > FLOATS ? left - FLOATS : 0;                                         \
            const float_vector here = FETCH_##half(a, i, left) * FETCH_##half(b, i, left);                                \
            const float_vector next = FETCH_##half(a, i + FLOATS, after) * FETCH_##half(b, i + FLOATS, after);            \
            *low = added_double(*low, lower_half(here));                                                                  \
            *high = added_double(*high, upper_half(here));                                                                \
            next_low = added_double(next_low, lower_half(next));                                                          \
            next_high = added_double(next_high, upper_half(next));                                                        \
        }                                                                                                                 \
        *low += next_low;                                                                                                 \
        *high += next_high;                                                                                               \
    }
ADD_PRODUCTS(f16)
ADD_PRODUCTS(bf16)

#define add_dot_f16 add_products_f16

static inline void add_dot_f32(const void *a, const void *b, size_t n, double_vector *low, double_vector *high)
{
    const float *first = a, *second = b;
    size_t i = 0;
    for (; i + FLOATS <= n; i += FLOATS) {
        *low = fma_double(double_of_floats(first + i), double_of_floats(second + i), *low);
        *high = fma_double(double_of_floats(first + i + DOUBLES), double_of_floats(second + i + DOUBLES), *high);
    }
    if (i < n) {
        const float_vector here = FETCH_f32(a, i, n - i), there = FETCH_f32(b, i, n - i);
        *low = fma_double(lower_half(here), lower_half(there), *low);
        *high = fma_double(upper_half(here), upper_half(there), *high);
    }
}

/* Products of bfloat16 may be too large or too small for float, which does not matter where their sum is neither. */
static inline void add_dot_bf16(const void *a, const void *b, size_t n, double_vector *low, double_vector *high)
{
    add_products_bf16(a, b, n, low, high);
    const double magnitude = fabs(sums_of(*low, *high));
    if (UNLIKELY(!(magnitude > 0x1p-32 && magnitude < 0x1p32))) {
        *low = *high = all_double(0);
        for (size_t i = 0; i < n; i += FLOATS) {
            const float_vector first = FETCH_bf16(a, i, n - i), second = FETCH_bf16(b, i, n - i);
            *low = fma_double(lower_half(first), lower_half(second), *low);
            *high = fma_double(upper_half(first), upper_half(second), *high);
        }
    }
}

/* The same of columns; 0 where the second are no weights, or products of bfloat16 may have been too large or too small. */

/* Which numbers are not fit to weigh others with. */
static inline float_mask are_no_weights_f16(float_vector values)
{
#ifdef HAS_64
    return _mm512_movepi32_mask((__m512i)values);
#else
    return (float_mask)((float_words)values < 0);
#endif
}

static inline float_mask are_no_weights_bf16(float_vector values)
{
    const uint32_t least = (127 - 60) << 23, width = (60 + 16) << 23;
#ifdef HAS_64
    const __m512i bits = (__m512i)values, above = _mm512_sub_epi32(bits, _mm512_set1_epi32((int)least));
    return _mm512_mask_cmpgt_epu32_mask(_mm512_test_epi32_mask(bits, bits), above, _mm512_set1_epi32((int)width));
#else
    const float_bits bits = (float_bits)values;
    return (float_mask)(bits - least > width) & (float_mask)(bits != 0);
#endif
}

#define HAVE_FIT_f16(sums) 1
#define HAVE_FIT_bf16(sums) (!any((float_mask)~(less_float(all_float(0x1p-32f), sums) & less_float(sums, all_float(0x1p32f)))))
#define ADD_WEIGHED(half)                                                                                                 \
    static inline int add_weighed_##half(const char *a, int64_t a_pitch, const char *b, int64_t b_pitch, int64_t rows,    \
                                         size_t i, size_t left, double_vector *low, double_vector *high)                  \
    {                                                                                                                     \
        float_mask odd = first_ones(0);                                                                                   \
        for (int64_t row = 0; row < rows; row++) {                                                                        \
            const float_vector weights = FETCH_##half(b + row * b_pitch, i, left);                                        \
            const float_vector product = FETCH_##half(a + row * a_pitch, i, left) * weights;                              \
            odd |= are_no_weights_##half(weights);                                                                        \
            *low = added_double(*low, lower_half(product));                                                               \
            *high = added_double(*high, upper_half(product));                                                             \
        }                                                                                                                 \
        return !any(odd) && HAVE_FIT_##half(absolute_float(joined(*low, *high)));                                         \
    }
ADD_WEIGHED(f16)
ADD_WEIGHED(bf16)

/* The largest number of a row of a half type, by what is stored: with all but the sign of negative numbers turned around they are in order. */
#define LARGEST(half, infinity)                                                                                           \
    static inline double largest_##half(const void *memory, size_t n)                                                     \
    {                                                                                                                     \
        int16_t most = ~infinity, least = infinity;                                                                       \
        for (size_t i = 0; i < n; i++) {                                                                                  \
            const int16_t stored = ((const int16_t *)memory)[i], ordered = stored ^ (int16_t)((uint16_t)(stored >> 15) >> 1); \
            most = ordered > most ? ordered : most;                                                                       \
            least = ordered < least ? ordered : least;                                                                    \
        }                                                                                                                 \
        const int nans = most > infinity || least < ~infinity; /* beyond the infinities of either sign */                 \
        return nans ? NAN : float_of_##half((uint16_t)(most < 0 ? most ^ 0x7fff : most));                                 \
    }
LARGEST(f16, 0x7c00)
LARGEST(bf16, 0x7f80)

/* nans: where there was a number that is none. */
static inline double largest_float_of(float_vector largest, float_mask nans)
{
    if (any(nans)) {
        return NAN;
    }
#ifdef HAS_64
    return _mm512_reduce_max_ps((__m512)largest);
#else
    return largest_double_of(lower_half(largest), upper_half(largest));
#endif
}

/* The same of a row of FLOAT, some vectors at a time, so that none waits for the last. */
static inline double largest_f32(const void *memory, size_t n)
{
    float_vector first = all_float(-INFINITY), second = first, third = first, fourth = first;
    float_mask nans = first_ones(0);
    size_t i = 0;
    for (; i + 4 * FLOATS <= n; i += 4 * FLOATS) {
        const float *from = (const float *)memory + i;
        const float_vector a = read_float(from), b = read_float(from + FLOATS), c = read_float(from + 2 * FLOATS), d = read_float(from + 3 * FLOATS);
        first = larger_float(first, a);
        second = larger_float(second, b);
        third = larger_float(third, c);
        fourth = larger_float(fourth, d);
        nans |= unordered(a, b) | unordered(c, d);
    }
    for (; i < n; i += FLOATS) {
        const float_vector last = live_float(n - i, FETCH_f32(memory, i, n - i), -INFINITY);
        first = larger_float(first, last);
        nans |= unordered(last, last);
    }
    return largest_float_of(larger_float(larger_float(first, second), larger_float(third, fourth)), nans);
}

#endif

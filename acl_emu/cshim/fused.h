/* What kernels that are compiled as a whole have in common; fused.c is generated.
 *
 * A graph has a body on vectors of float and one on vectors of double. Half types are evaluated in float where the error of that is
 * known (`units` of 2^-24 of the result, worked out by the generator): a result that close to the middle between two half numbers may
 * round to the wrong one, and is evaluated again in double. So every result is that of double, rounded once. Inputs are such that
 * products and quotients of a few of them stay in the normal range of float: those of float16 always are, bfloat16 is looked at before.
 * tiny_counts: all bits where numbers too small for float count; as float16 they are zero. */
#ifndef ACL_EMU_FUSED_H
#define ACL_EMU_FUSED_H

#include "engine_types.h"

#define FETCH_f32(memory, i) read_float((const float *)(memory) + (i))
#define FETCH_f16(memory, i) read_f16((const uint16_t *)(memory) + (i))
#define FETCH_bf16(memory, i) read_bf16((const uint16_t *)(memory) + (i))
#define PUT_f32(memory, i, values) write_float((float *)(memory) + (i), values)
#define PUT_f16(memory, i, values) write_f16((uint16_t *)(memory) + (i), values)
#define PUT_bf16(memory, i, values) write_bf16((uint16_t *)(memory) + (i), values)
#define JOINED_f32(low, high) joined(low, high)
#define JOINED_f16(low, high) odd_joined(low, high)
#define JOINED_bf16(low, high) odd_joined(low, high)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#define UNIT 0x1p-24f

static inline void write_upper_halves(uint16_t *memory, float_bits bits)
{
#ifdef WIDE
    const __m256i upper = _mm256_srli_epi32((__m256i)bits, 16);
    _mm_storeu_si128((__m128i *)memory, _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1)));
#else
    for (int i = 0; i < 8; i++) {
        memory[i] = (uint16_t)(bits[i] >> 16);
    }
#endif
}

/* Write results that are off by up to `units` of 2^-24 of themselves; whether some of them could round otherwise, or are doubtful anyway.
 * fades: some may be too small for float. */
static inline int write_close_f16(uint16_t *memory, float_vector values, float units, float_mask doubt, int fades)
{
    (void)fades; /* as float16 such a number is zero */
#ifdef WIDE
    const __m128i above = _mm256_cvtps_ph((__m256)(values * (1 + (units + 2) * UNIT)), _MM_FROUND_TO_NEAREST_INT);
    const __m128i below = _mm256_cvtps_ph((__m256)(values * (1 - (units + 2) * UNIT)), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128((__m128i *)memory, above);
    return (_mm_movemask_epi8(_mm_cmpeq_epi16(above, below)) != 0xffff) | any(doubt);
#else
    uint16_t below[8];
    write_f16(memory, values * (1 + (units + 2) * UNIT));
    write_f16(below, values * (1 - (units + 2) * UNIT));
    return memcmp(memory, below, sizeof below) || any(doubt);
#endif
}

static inline int write_close_bf16(uint16_t *memory, float_vector values, float units, float_mask doubt, int fades)
{
    /* What is rounded off, counted from just below the middle; nothing else is so close to it that a tie would matter. */
    const int32_t width = (int32_t)units + 2;
    const float_bits raised = (float_bits)values + (0x8000 + (uint32_t)width);
    doubt |= (float_mask)(raised & 0xffff) <= 2 * width;
    if (fades) {
        doubt |= absolute_float(values) < 0x1p-90f;
    }
    write_upper_halves(memory, raised);
    return any(doubt);
}

/* The same for results of which each is off by up to its error. */
static inline int write_unsure_f16(uint16_t *memory, float_vector values, float_vector error, float_mask doubt, int fades)
{
    const float_vector slack = error + absolute_float(values) * (2 * UNIT);
    uint16_t above[8], below[8];
    (void)fades; /* as float16 such a number is zero */
    write_f16(memory, values);
    write_f16(above, values + slack);
    write_f16(below, values - slack);
#ifdef WIDE
    const __m128i here = _mm_loadu_si128((const __m128i *)memory);
    const __m128i up = _mm_cmpeq_epi16(here, _mm_loadu_si128((const __m128i *)above));
    const __m128i down = _mm_cmpeq_epi16(here, _mm_loadu_si128((const __m128i *)below));
    return (_mm_movemask_epi8(_mm_and_si128(up, down)) != 0xffff) | any(doubt);
#else
    return memcmp(memory, above, sizeof above) || memcmp(memory, below, sizeof below) || any(doubt);
#endif
}

static inline int write_unsure_bf16(uint16_t *memory, float_vector values, float_vector error, float_mask doubt, int fades)
{
    const float_vector slack = error + absolute_float(values) * (2 * UNIT);
    /* What is rounded off: bits below the sixteenth, after half a step has been added. */
    const float_bits above = (float_bits)(values + slack) + 0x8000, below = (float_bits)(values - slack) + 0x8000;
    doubt |= ((float_mask)((above ^ below) & 0xffff0000) != 0) | (slack != slack);
    if (fades) {
        doubt |= absolute_float(values) < 0x1p-90f;
    }
    write_upper_halves(memory, (float_bits)values + 0x8000);
    return any(doubt);
}

#endif

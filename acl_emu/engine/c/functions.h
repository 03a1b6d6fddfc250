/* Every function that kernels are made of, once: the single steps of the tile interpreter and the loops that render.py writes call the same ones.
 *
 * A function is <name>_<type>; the name is numpy's. All are free of branches, so that a loop around them is vectorised, and round every operation as
 * written: a result depends on its arguments alone, not on its place in a vector or on the loop it is called from. Float functions are within 4 ulp;
 * those that are seldom used compute in double, which leaves half an ulp. docs/kernels.md has the largest error of each. */
#ifndef ACL_EMU_FUNCTIONS_H
#define ACL_EMU_FUNCTIONS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wtype-limits" /* numbers without a sign are compared with zero, too */

#define INLINE static inline __attribute__((always_inline, unused))

/* Processors without a fused multiply-add round the product as well. */
#ifdef __FMA__
#define FMA_F32(a, b, c) __builtin_fmaf(a, b, c)
#define FMA_F64(a, b, c) __builtin_fma(a, b, c)
#else
#define FMA_F32(a, b, c) ((a) * (b) + (c))
#define FMA_F64(a, b, c) ((a) * (b) + (c))
#endif

INLINE int32_t bits_f32(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE float from_bits_f32(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE int64_t bits_f64(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE double from_bits_f64(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Arithmetic, comparisons, choices: the operations of IEEE 754; integers wrap around, which is undefined for signed ones in C. */

#define FLOAT_ARITHMETIC(t, T, suffix)                                                                       \
    INLINE T add_##t(T x, T y) { return x + y; }                                                             \
    INLINE T subtract_##t(T x, T y) { return x - y; }                                                        \
    INLINE T multiply_##t(T x, T y) { return x * y; }                                                        \
    INLINE T divide_##t(T x, T y) { return x / y; }                                                          \
    INLINE T negative_##t(T x) { return -x; }                                                                \
    INLINE T positive_##t(T x) { return x; }                                                                 \
    INLINE T square_##t(T x) { return x * x; }                                                               \
    INLINE T reciprocal_##t(T x) { return 1 / x; }                                                           \
    INLINE T absolute_##t(T x) { return fabs##suffix(x); }                                                   \
    INLINE T sign_##t(T x)                                                                                   \
    {                                                                                                        \
        const T side = x < 0 ? (T)-1 : (T)1, known = x == 0 ? (T)0 : side;                                   \
        return x != x ? x : known;                                                                           \
    }                                                                                                        \
    INLINE T maximum_##t(T x, T y) /* NaN, if there is one; two choices, since gcc makes branches of a condition with an or */ \
    {                                                                                                        \
        const T larger = y > x ? y : x;                                                                      \
        return y != y ? y : larger;                                                                          \
    }                                                                                                        \
    INLINE T minimum_##t(T x, T y)                                                                           \
    {                                                                                                        \
        const T smaller = y < x ? y : x;                                                                     \
        return y != y ? y : smaller;                                                                         \
    }                                                                                                        \
    INLINE T fmax_##t(T x, T y) { return (x >= y) | (y != y) ? x : y; } /* a number, if there is one */       \
    INLINE T fmin_##t(T x, T y) { return (x <= y) | (y != y) ? x : y; }                                       \
    INLINE T sqrt_##t(T x) { return sqrt##suffix(x); }                                                       \
    INLINE T rsqrt_##t(T x) { return 1 / sqrt##suffix(x); }                                                  \
    INLINE T floor_##t(T x) { return floor##suffix(x); }                                                     \
    INLINE T ceil_##t(T x) { return ceil##suffix(x); }                                                       \
    INLINE T trunc_##t(T x) { return trunc##suffix(x); }                                                     \
    INLINE T rint_##t(T x) { return rint##suffix(x); }                                                       \
    INLINE T copysign_##t(T x, T y) { return copysign##suffix(x, y); }                                       \
    INLINE T fmod_##t(T x, T y) { return fmod##suffix(x, y); }                                               \
    INLINE T remainder_##t(T x, T y)                                                                         \
    {                                                                                                        \
        const T rest = fmod##suffix(x, y);                                                                   \
        return rest == 0 ? copysign##suffix(0, y) : (rest < 0) != (y < 0) ? rest + y : rest;                 \
    }                                                                                                        \
    INLINE T floor_divide_##t(T x, T y)                                                                      \
    {                                                                                                        \
        const T rest = fmod##suffix(x, y), cut = (x - rest) / y;                                             \
        const T quotient = rest != 0 && (rest < 0) != (y < 0) ? cut - 1 : cut, whole = floor##suffix(quotient); \
        const T near = quotient - whole > (T)0.5 ? whole + 1 : whole;                                        \
        return y == 0 ? x / y : quotient == 0 ? copysign##suffix(0, x / y) : near;                           \
    }                                                                                                        \
    INLINE bool isnan_##t(T x) { return x != x; }                                                            \
    INLINE bool isinf_##t(T x) { return fabs##suffix(x) == (T)INFINITY; }                                    \
    INLINE bool isfinite_##t(T x) { return fabs##suffix(x) < (T)INFINITY; }

FLOAT_ARITHMETIC(f32, float, f)
FLOAT_ARITHMETIC(f64, double, )

#define COMPARISONS(t, T)                                                                                    \
    INLINE bool less_##t(T x, T y) { return x < y; }                                                         \
    INLINE bool less_equal_##t(T x, T y) { return x <= y; }                                                  \
    INLINE bool equal_##t(T x, T y) { return x == y; }                                                       \
    INLINE bool not_equal_##t(T x, T y) { return x != y; }                                                   \
    INLINE T where_##t(bool chosen, T x, T y) { return chosen ? x : y; }

COMPARISONS(f32, float)
COMPARISONS(f64, double)
COMPARISONS(i8, int8_t)
COMPARISONS(u8, uint8_t)
COMPARISONS(i16, int16_t)
COMPARISONS(u16, uint16_t)
COMPARISONS(i32, int32_t)
COMPARISONS(u32, uint32_t)
COMPARISONS(i64, int64_t)
COMPARISONS(u64, uint64_t)
COMPARISONS(b8, bool)

/* U holds T without a sign and is not promoted to int. Dividing by zero gives zero, as in numpy; so does shifting by too much. */
#define INTEGER_ARITHMETIC(t, T, U)                                                                            \
    INLINE T add_##t(T x, T y) { return (T)((U)x + (U)y); }                                                  \
    INLINE T subtract_##t(T x, T y) { return (T)((U)x - (U)y); }                                             \
    INLINE T multiply_##t(T x, T y) { return (T)((U)x * (U)y); }                                             \
    INLINE T negative_##t(T x) { return (T)(0 - (U)x); }                                                     \
    INLINE T positive_##t(T x) { return x; }                                                                 \
    INLINE T square_##t(T x) { return (T)((U)x * (U)x); }                                                    \
    INLINE T absolute_##t(T x) { return (T)(x < 0 ? 0 - (U)x : (U)x); }                                      \
    INLINE T sign_##t(T x) { return (T)((x > 0) - (x < 0)); }                                                \
    INLINE T maximum_##t(T x, T y) { return x > y ? x : y; }                                                 \
    INLINE T minimum_##t(T x, T y) { return x < y ? x : y; }                                                 \
    INLINE T bitwise_and_##t(T x, T y) { return (T)(x & y); }                                                \
    INLINE T bitwise_or_##t(T x, T y) { return (T)(x | y); }                                                 \
    INLINE T bitwise_xor_##t(T x, T y) { return (T)(x ^ y); }                                                \
    INLINE T invert_##t(T x) { return (T)~x; }                                                               \
    INLINE T left_shift_##t(T x, T y) { return (U)y < 8 * sizeof(T) ? (T)((U)x << ((U)y % (8 * sizeof(T)))) : (T)0; }            \
    INLINE T right_shift_##t(T x, T y) { return (U)y < 8 * sizeof(T) ? (T)(x >> ((U)y % (8 * sizeof(T)))) : x < 0 ? (T)-1 : (T)0; } \
    INLINE T fmod_##t(T x, T y)                                                                              \
    {                                                                                                        \
        const T by = (y == 0) | ((y < 0) & (y == (T)-1)) ? (T)1 : y; /* the least number has no opposite */      \
        return (T)(x % by);                                                                                  \
    }                                                                                                        \
    INLINE T remainder_##t(T x, T y)                                                                         \
    {                                                                                                        \
        const T rest = fmod_##t(x, y);                                                                       \
        return (rest != 0) & ((rest < 0) != (y < 0)) ? (T)(rest + y) : rest;                                    \
    }                                                                                                        \
    INLINE T floor_divide_##t(T x, T y)                                                                      \
    {                                                                                                        \
        const T by = (y == 0) | ((y < 0) & (y == (T)-1)) ? (T)1 : y, whole = (T)(x / by), rest = (T)(x % by);    \
        const T down = (T)(whole - ((rest != 0) & ((rest < 0) != (by < 0))));                                   \
        return y == 0 ? (T)0 : (y < 0) & (y == (T)-1) ? (T)(0 - (U)x) : down;                                   \
    }

INTEGER_ARITHMETIC(i8, int8_t, uint32_t)
INTEGER_ARITHMETIC(u8, uint8_t, uint32_t)
INTEGER_ARITHMETIC(i16, int16_t, uint32_t)
INTEGER_ARITHMETIC(u16, uint16_t, uint32_t)
INTEGER_ARITHMETIC(i32, int32_t, uint32_t)
INTEGER_ARITHMETIC(u32, uint32_t, uint32_t)
INTEGER_ARITHMETIC(i64, int64_t, uint64_t)
INTEGER_ARITHMETIC(u64, uint64_t, uint64_t)

INLINE bool logical_and_b8(bool x, bool y) { return x & y; }
INLINE bool logical_or_b8(bool x, bool y) { return x | y; }
INLINE bool logical_xor_b8(bool x, bool y) { return x ^ y; }
INLINE bool logical_not_b8(bool x) { return !x; }
INLINE bool maximum_b8(bool x, bool y) { return x | y; }
INLINE bool minimum_b8(bool x, bool y) { return x & y; }

/* Casts. Integers wrap around; floats are cut off towards zero, NaN is 0, and what is too large becomes the largest number of 32 and 64 bits, of which
 * narrower ones are the last bits (aclnnop/math/conversion.py). Nothing is converted that the type does not hold: that would be undefined. */

#define CUT_OFF(f, F, t, T, least, most, beyond)                                                             \
    INLINE T t##_of_##f(F x)                                                                                 \
    {                                                                                                        \
        const F below = x < (F)(beyond) ? x : 0; /* NaN is not below */                                      \
        const T whole = (T)(below > (F)(least) ? below : (F)(least));                                        \
        return x >= (F)(beyond) ? most : whole;                                                              \
    }

#define CASTS_OF_FLOAT(f, F)                                                                                 \
    CUT_OFF(f, F, i32, int32_t, INT32_MIN, INT32_MAX, 0x1p31)                                                \
    CUT_OFF(f, F, u32, uint32_t, 0, UINT32_MAX, 0x1p32)                                                      \
    CUT_OFF(f, F, i64, int64_t, INT64_MIN, INT64_MAX, 0x1p63)                                                \
    CUT_OFF(f, F, u64, uint64_t, 0, UINT64_MAX, 0x1p64)                                                      \
    INLINE int8_t i8_of_##f(F x) { return (int8_t)i32_of_##f(x); }                                           \
    INLINE uint8_t u8_of_##f(F x) { return (uint8_t)i32_of_##f(x); }                                         \
    INLINE int16_t i16_of_##f(F x) { return (int16_t)i32_of_##f(x); }                                        \
    INLINE uint16_t u16_of_##f(F x) { return (uint16_t)i32_of_##f(x); }                                      \
    INLINE float f32_of_##f(F x) { return (float)x; }                                                        \
    INLINE double f64_of_##f(F x) { return (double)x; }                                                      \
    INLINE bool b8_of_##f(F x) { return x != 0; }

CASTS_OF_FLOAT(f32, float)
CASTS_OF_FLOAT(f64, double)

#define CASTS_OF_INTEGER(f, F)                                                                                 \
    INLINE int8_t i8_of_##f(F x) { return (int8_t)x; }                                                       \
    INLINE uint8_t u8_of_##f(F x) { return (uint8_t)x; }                                                     \
    INLINE int16_t i16_of_##f(F x) { return (int16_t)x; }                                                    \
    INLINE uint16_t u16_of_##f(F x) { return (uint16_t)x; }                                                  \
    INLINE int32_t i32_of_##f(F x) { return (int32_t)x; }                                                    \
    INLINE uint32_t u32_of_##f(F x) { return (uint32_t)x; }                                                  \
    INLINE int64_t i64_of_##f(F x) { return (int64_t)x; }                                                    \
    INLINE uint64_t u64_of_##f(F x) { return (uint64_t)x; }                                                  \
    INLINE float f32_of_##f(F x) { return (float)x; }                                                        \
    INLINE double f64_of_##f(F x) { return (double)x; }                                                      \
    INLINE bool b8_of_##f(F x) { return x != 0; }

CASTS_OF_INTEGER(i8, int8_t)
CASTS_OF_INTEGER(u8, uint8_t)
CASTS_OF_INTEGER(i16, int16_t)
CASTS_OF_INTEGER(u16, uint16_t)
CASTS_OF_INTEGER(i32, int32_t)
CASTS_OF_INTEGER(u32, uint32_t)
CASTS_OF_INTEGER(i64, int64_t)
CASTS_OF_INTEGER(u64, uint64_t)
#define CAST_OF_BOOL(t, T) INLINE T t##_of_b8(bool x) { return x ? (T)1 : (T)0; } /* a conversion would not be vectorised */
CAST_OF_BOOL(i8, int8_t)
CAST_OF_BOOL(u8, uint8_t)
CAST_OF_BOOL(i16, int16_t)
CAST_OF_BOOL(u16, uint16_t)
CAST_OF_BOOL(i32, int32_t)
CAST_OF_BOOL(u32, uint32_t)
CAST_OF_BOOL(i64, int64_t)
CAST_OF_BOOL(u64, uint64_t)
CAST_OF_BOOL(f32, float)
CAST_OF_BOOL(f64, double)

/* Exponentials and logarithms */

#define ROUNDING_F32 12582912.0f      /* adding it rounds to an integer, which is in the last bits then */
#define ROUNDING_F64 6755399441055744.0

/* x times 2 to the integer that `shifted` holds, in two steps, so that results below the smallest normal number come out right. */
INLINE float scaled_f32(float x, float shifted)
{
    const int32_t power = bits_f32(shifted) - bits_f32(ROUNDING_F32), half = power >> 1;
    return x * from_bits_f32((int32_t)((uint32_t)(half + 127) << 23)) * from_bits_f32((int32_t)((uint32_t)(power - half + 127) << 23));
}

INLINE double scaled_f64(double x, double shifted)
{
    const int64_t power = bits_f64(shifted) - bits_f64(ROUNDING_F64);
    const int32_t word = (int32_t)power, half = word >> 1; /* a shift of 64 bits that keeps the sign is no instruction everywhere */
    return x * from_bits_f64((int64_t)((uint64_t)(int64_t)(half + 1023) << 52)) * from_bits_f64((int64_t)((uint64_t)(int64_t)(word - half + 1023) << 52));
}

/* (exp(r) - 1 - r) / r² for r within ±ln(2)/2. */
INLINE float exp_tail_f32(float r)
{
    const float r2 = r * r;
    const float low = FMA_F32(r, 0.166666668f, 0.500000005f), middle = FMA_F32(r, 0.00833327414f, 0.0416663545f), high = FMA_F32(r, 0.000199135692f, 0.00139410197f);
    return FMA_F32(FMA_F32(high, r2, middle), r2, low);
}

/* x less a multiple of ln(2), and the multiple. */
INLINE float exp_reduced_f32(float x, float *shifted)
{
    *shifted = FMA_F32(x, 1.44269502f, ROUNDING_F32);
    const float k = *shifted - ROUNDING_F32;
    return FMA_F32(k, 2.12194440e-4f, FMA_F32(k, -0.693359375f, x));
}

/* As few steps as there are: most of what kernels do is this. */
INLINE float exp_f32(float x)
{
    const uint32_t word = (uint32_t)bits_f32(x), above = (uint32_t)bits_f32(-104.0f); /* what is below zero is the larger, the further it is */
    const int32_t low = (int32_t)(word < above ? word : above), most = bits_f32(89.0f);
    const float inside = from_bits_f32(low < most ? low : most);
    float shifted;
    const float r = exp_reduced_f32(inside, &shifted), value = FMA_F32(FMA_F32(exp_tail_f32(r), r, 1.0f), r, 1.0f);
    /* Times a power of two that is a normal number, then times another that is the same for nearly all: results below the smallest normal number are
     * rounded once. */
    const bool tiny = inside < -86.0f;
    const float power = from_bits_f32((int32_t)((uint32_t)bits_f32(shifted) << 23) + (tiny ? (126 + 64) << 23 : 126 << 23));
    const float scaled = value * power * (tiny ? 0x1p-63f : 2.0f);
    return x == x ? scaled : x;
}

INLINE float expm1_f32(float x)
{
    const float low = x < -20.0f ? -20.0f : x, inside = low > 89.0f ? 89.0f : low;
    float shifted;
    const float r = exp_reduced_f32(inside, &shifted), part = FMA_F32(exp_tail_f32(r) * r, r, r);
    const float power = scaled_f32(0.5f, shifted), value = 2 * (FMA_F32(power, part, power - 0.5f)); /* the largest power is none of float */
    return copysignf(value, x); /* zeros keep their sign */
}

INLINE double exp_f64(double x)
{
    const double low = x < -746.0 ? -746.0 : x, inside = low > 710.0 ? 710.0 : low;
    const double shifted = FMA_F64(inside, 1.4426950408889634074, ROUNDING_F64), k = shifted - ROUNDING_F64;
    const double r = FMA_F64(k, -1.90821492927058770002e-10, FMA_F64(k, -6.93147180369123816490e-01, inside)), r2 = r * r, r4 = r2 * r2;
    const double a = FMA_F64(r, 1.0 / 6, 0.5), b = FMA_F64(r, 1.0 / 120, 1.0 / 24), c = FMA_F64(r, 1.0 / 5040, 1.0 / 720);
    const double d = FMA_F64(r, 1.0 / 362880, 1.0 / 40320), e = FMA_F64(r, 1.0 / 39916800, 1.0 / 3628800);
    const double tail = FMA_F64(FMA_F64(FMA_F64(r2, 1.0 / 479001600, e), r4, FMA_F64(d, r2, c)), r4, FMA_F64(b, r2, a));
    return scaled_f64(FMA_F64(FMA_F64(tail, r, 1.0), r, 1.0), shifted);
}

/* x > 0 between √½ and √2, and the power of two that it was scaled by. */
INLINE float split_f32(float x, float *k)
{
    const bool tiny = x < 1.17549435e-38f;
    const int32_t bits = bits_f32(tiny ? x * 33554432.0f : x), power = (bits - bits_f32(0.707106769f)) >> 23;
    *k = (float)power - (tiny ? 25.0f : 0.0f);
    return from_bits_f32(bits - (int32_t)((uint32_t)power << 23));
}

/* log(1 + f) + k log(2) for 1 + f between √½ and √2. */
INLINE float log_tail_f32(float f, float k)
{
    const float f2 = f * f, f4 = f2 * f2;
    const float a = FMA_F32(f, -0.24999997f, 0.333333312f), b = FMA_F32(f, -0.166678031f, 0.200007162f);
    const float c = FMA_F32(f, -0.124256546f, 0.142490396f), d = FMA_F32(f, -0.114800684f, 0.116855803f);
    const float p = FMA_F32(FMA_F32(FMA_F32(0.0697158481f, f2, d), f2, c), f4, FMA_F32(b, f2, a));
    const float tail = FMA_F32(f2, -0.5f, FMA_F32(p * f, f2, k * -2.12194440e-4f));
    return FMA_F32(k, 0.693359375f, f + tail);
}

/* What a logarithm is where no formula holds: of zero, of what is below, of infinity and of NaN. */
INLINE float log_beyond_f32(float x, float value)
{
    const float inside = x > 0 ? value : (float)NAN, from_zero = x == 0 ? -(float)INFINITY : inside;
    return x < (float)INFINITY ? from_zero : x;
}

INLINE float log_f32(float x)
{
    float k;
    const float m = split_f32(x, &k);
    return log_beyond_f32(x, log_tail_f32(m - 1, k));
}

INLINE float log1p_f32(float x)
{
    const float sum = 1 + x, added = sum - 1, lost = (1 - (sum - added)) + (x - added); /* what the sum lost, exact */
    /* As split_f32 does, without what is below the smallest normal number: a sum is 0 or at least 2^-24. `power` stands where the exponent does. */
    const int32_t power = (int32_t)((uint32_t)(bits_f32(sum) - bits_f32(0.707106769f)) & 0xff800000u), most = 126 << 23;
    const float m = from_bits_f32(bits_f32(sum) - power), k = (float)(power >> 23);
    const float f = (m - 1) + lost * from_bits_f32((127 << 23) - (power < most ? power : most));
    return copysignf(log_beyond_f32(sum, log_tail_f32(f, k)), x); /* zeros keep their sign */
}

INLINE double split_f64(double x, double *k)
{
    const bool tiny = x < 2.2250738585072014e-308;
    const int64_t bits = bits_f64(tiny ? x * 18014398509481984.0 : x), above = bits - bits_f64(0.70710678118654752);
    const int32_t power = (int32_t)((uint64_t)(above + (1ll << 62)) >> 52) - 1024;
    *k = (double)power - (tiny ? 54.0 : 0.0);
    return from_bits_f64(bits - (int64_t)((uint64_t)(int64_t)power << 52));
}

/* log(m) + k log(2): twice the area tangent of f / (2 + f). */
INLINE double log_tail_f64(double f, double k)
{
    const double s = f / (2 + f), z = s * s, z2 = z * z, z4 = z2 * z2;
    const double a = FMA_F64(z, 2.0 / 5, 2.0 / 3), b = FMA_F64(z, 2.0 / 9, 2.0 / 7), c = FMA_F64(z, 2.0 / 13, 2.0 / 11), d = FMA_F64(z, 2.0 / 17, 2.0 / 15);
    const double p = FMA_F64(FMA_F64(z4, 2.0 / 19, FMA_F64(d, z2, c)), z4, FMA_F64(b, z2, a)) * z;
    const double half = 0.5 * f * f, small = FMA_F64(s, half + p, k * 1.90821492927058770002e-10);
    return FMA_F64(k, 6.93147180369123816490e-01, f - (half - small));
}

INLINE double log_beyond_f64(double x, double value)
{
    const double inside = x > 0 ? value : NAN, from_zero = x == 0 ? -INFINITY : inside;
    return x < INFINITY ? from_zero : x;
}

INLINE double log_f64(double x)
{
    double k;
    const double m = split_f64(x, &k);
    return log_beyond_f64(x, log_tail_f64(m - 1, k));
}

INLINE double log1p_f64(double x)
{
    const double whole = 1 + x, added = whole - 1, lost = (1 - (whole - added)) + (x - added), value = log_f64(whole);
    return copysign((whole > 0) & (whole < INFINITY) ? value + lost / whole : value, x); /* zeros keep their sign */
}

INLINE float exp2_f32(float x) { return (float)exp_f64((double)x * 0.69314718055994530942); }
INLINE float log2_f32(float x) { return (float)(log_f64(x) * 1.4426950408889634074); }
INLINE float log10_f32(float x) { return (float)(log_f64(x) * 0.43429448190325182765); }

INLINE float power_f32(float x, float y)
{
    const float size = fabsf(y), whole = rintf(y);
    const bool is_whole = (whole == y) | (size >= 8388608.0f), is_odd = is_whole & (size < 16777216.0f) & (((int32_t)(size < 16777216.0f ? whole : 0.0f) & 1) != 0);
    const float value = (float)exp_f64((double)y * log_f64(fabsf(x)));
    const float with_sign = is_odd & (bits_f32(x) < 0) ? -value : value;
    const float defined = (x < 0) & !is_whole & (fabsf(x) < (float)INFINITY) ? (float)NAN : with_sign;
    const float of_one = (x == -1) & (size == (float)INFINITY) ? 1.0f : defined; /* whose logarithm is zero */
    return (x == 1) | (y == 0) ? 1.0f : of_one;
}

/* Hyperbolic functions */

INLINE float tanh_f32(float x)
{
    const float z = x * x, size = fabsf(x);
    const float a = FMA_F32(z, 0.133331799f, -0.333333302f), b = FMA_F32(z, 0.0216811767f, -0.0539433147f), c = FMA_F32(z, 0.00209668345f, -0.0081278551f);
    const float near = FMA_F32(FMA_F32(FMA_F32(c, z * z, b), z * z, a) * z, x, x);
    const float far = 1 - 2 / (exp_f32(2 * size) + 1);
    return copysignf(size < 0.625f ? near : far, x);
}

INLINE float sinh_f32(float x)
{
    const double wide = x, z = wide * wide, e = exp_f64(wide < -100 ? -100 : wide > 100 ? 100 : wide);
    const double near = wide * (1 + z * (1.0 / 6 + z * (1.0 / 120))), far = 0.5 * (e - 1 / e);
    return fabsf(x) < 0.015625f ? (float)near : (float)far;
}

INLINE float cosh_f32(float x)
{
    const double wide = x, e = exp_f64(wide < -100 ? -100 : wide > 100 ? 100 : wide);
    return (float)(0.5 * (e + 1 / e));
}

INLINE float arcsinh_f32(float x)
{
    const double size = fabsf(x), z = size * size;
    const double near = size * (1 - z * (1.0 / 6 - z * (3.0 / 40))), far = log_f64(size + sqrt(z + 1));
    return copysignf((float)(size < 0.015625 ? near : far), x);
}

INLINE float arccosh_f32(float x)
{
    const double wide = x;
    return wide < 1 ? (float)NAN : (float)log_f64(wide + sqrt((wide - 1) * (wide + 1)));
}

INLINE float arctanh_f32(float x)
{
    const double size = fabsf(x), z = size * size;
    const double near = size * (1 + z * (1.0 / 3 + z * (1.0 / 5))), far = 0.5 * log_f64((1 + size) / (1 - size));
    return copysignf((float)(size < 0.015625 ? near : far), x);
}

/* Trigonometric functions */

/* 2^k × 2/π modulo 4 in three parts, for k from 0 on: the first two have 28 bits, so that a product with the 24 bits of a float is exact. */
enum { REDUCTION_SIZE = 105 };
static const double reduction_high[REDUCTION_SIZE] = {
    0x1.45f3068000000p-1, 0x1.45f306c000000p+0, 0x1.45f306c000000p+1, 0x1.17cc1b4000000p+0, 0x1.17cc1b6000000p+1, 0x1.7cc1b70000000p-2,
    0x1.7cc1b70000000p-1, 0x1.7cc1b70000000p+0, 0x1.7cc1b72000000p+1, 0x1.f306dc8000000p+0, 0x1.f306dc8000000p+1, 0x1.e60db92000000p+1,
    0x1.cc1b726000000p+1, 0x1.9836e4e000000p+1, 0x1.306dc9c000000p+1, 0x1.836e4e0000000p-1, 0x1.836e4e4000000p+0, 0x1.836e4e4000000p+1,
    0x1.06dc9c8000000p+1, 0x1.b727200000000p-4, 0x1.b727220000000p-3, 0x1.b727220000000p-2, 0x1.b727220000000p-1, 0x1.b727220000000p+0,
    0x1.b727220000000p+1, 0x1.6e4e440000000p+1, 0x1.b939104000000p+0, 0x1.b939104000000p+1, 0x1.727220a000000p+1, 0x1.c9c8828000000p+0,
    0x1.c9c882a000000p+1, 0x1.9391054p+1, 0x1.27220a8000000p+1, 0x1.3910548p-1, 0x1.3910548p+0, 0x1.391054a000000p+1, 0x1.c882a50000000p-1,
    0x1.c882a50000000p+0, 0x1.c882a52000000p+1, 0x1.91054a6000000p+1, 0x1.220a94e000000p+1, 0x1.1054a78000000p-1, 0x1.1054a7c000000p+0,
    0x1.1054a7e000000p+1, 0x1.054a7f0000000p-2, 0x1.054a7f0000000p-1, 0x1.054a7f0000000p+0, 0x1.054a7f0000000p+1, 0x1.529fc00000000p-4,
    0x1.529fc20000000p-3, 0x1.529fc20000000p-2, 0x1.529fc20000000p-1, 0x1.529fc24000000p+0, 0x1.529fc26000000p+1, 0x1.4a7f09c000000p+0,
    0x1.4a7f09c000000p+1, 0x1.29fc274000000p+0, 0x1.29fc274000000p+1, 0x1.4fe13a8000000p-1, 0x1.4fe13a8000000p+0, 0x1.4fe13aa000000p+1,
    0x1.3f84eac000000p+0, 0x1.3f84eae000000p+1, 0x1.fc27578000000p-1, 0x1.fc2757c000000p+0, 0x1.fc2757c000000p+1, 0x1.f84eafa000000p+1,
    0x1.f09d5f4000000p+1, 0x1.e13abe8000000p+1, 0x1.c2757d0000000p+1, 0x1.84eafa2000000p+1, 0x1.09d5f46000000p+1, 0x1.3abe8e0000000p-3,
    0x1.3abe8f0000000p-2, 0x1.3abe8f8000000p-1, 0x1.3abe8f8000000p+0, 0x1.3abe8fa000000p+1, 0x1.d5f47d0000000p-1, 0x1.d5f47d4000000p+0,
    0x1.d5f47d4000000p+1, 0x1.abe8fa8000000p+1, 0x1.57d1f52000000p+1, 0x1.5f47d4c000000p+0, 0x1.5f47d4c000000p+1, 0x1.7d1f534000000p+0,
    0x1.7d1f534000000p+1, 0x1.f47d4d0000000p+0, 0x1.f47d4d2000000p+1, 0x1.e8fa9a6000000p+1, 0x1.d1f534c000000p+1, 0x1.a3ea69a000000p+1,
    0x1.47d4d36000000p+1, 0x1.1f534dc000000p+0, 0x1.1f534dc000000p+1, 0x1.f534dd0000000p-2, 0x1.f534dd8000000p-1, 0x1.f534ddc000000p+0,
    0x1.f534ddc000000p+1, 0x1.ea69bb8000000p+1, 0x1.d4d3770000000p+1, 0x1.a9a6ee0000000p+1, 0x1.534ddc0000000p+1, 0x1.4d37700000000p+0,
    0x1.4d37702000000p+1, 0x1.34ddc0c000000p+0,
};
static const double reduction_middle[REDUCTION_SIZE] = {
    0x1.727220a000000p-27, 0x1.c9c8828000000p-28, 0x1.c9c882a000000p-27, 0x1.9391054p-27, 0x1.27220a8000000p-27, 0x1.3910548p-29, 0x1.3910548p-28,
    0x1.391054a000000p-27, 0x1.c882a50000000p-29, 0x1.c882a50000000p-28, 0x1.c882a52000000p-27, 0x1.91054a6000000p-27, 0x1.220a94e000000p-27,
    0x1.1054a78000000p-29, 0x1.1054a7c000000p-28, 0x1.1054a7e000000p-27, 0x1.054a7f0000000p-30, 0x1.054a7f0000000p-29, 0x1.054a7f0000000p-28,
    0x1.054a7f0000000p-27, 0x1.529fc00000000p-32, 0x1.529fc20000000p-31, 0x1.529fc20000000p-30, 0x1.529fc20000000p-29, 0x1.529fc24000000p-28,
    0x1.529fc26000000p-27, 0x1.4a7f09c000000p-28, 0x1.4a7f09c000000p-27, 0x1.29fc274000000p-28, 0x1.29fc274000000p-27, 0x1.4fe13a8000000p-29,
    0x1.4fe13a8000000p-28, 0x1.4fe13aa000000p-27, 0x1.3f84eac000000p-28, 0x1.3f84eae000000p-27, 0x1.fc27578000000p-29, 0x1.fc2757c000000p-28,
    0x1.fc2757c000000p-27, 0x1.f84eafa000000p-27, 0x1.f09d5f4000000p-27, 0x1.e13abe8000000p-27, 0x1.c2757d0000000p-27, 0x1.84eafa2000000p-27,
    0x1.09d5f46000000p-27, 0x1.3abe8e0000000p-31, 0x1.3abe8f0000000p-30, 0x1.3abe8f8000000p-29, 0x1.3abe8f8000000p-28, 0x1.3abe8fa000000p-27,
    0x1.d5f47d0000000p-29, 0x1.d5f47d4000000p-28, 0x1.d5f47d4000000p-27, 0x1.abe8fa8000000p-27, 0x1.57d1f52000000p-27, 0x1.5f47d4c000000p-28,
    0x1.5f47d4c000000p-27, 0x1.7d1f534000000p-28, 0x1.7d1f534000000p-27, 0x1.f47d4d0000000p-28, 0x1.f47d4d2000000p-27, 0x1.e8fa9a6000000p-27,
    0x1.d1f534c000000p-27, 0x1.a3ea69a000000p-27, 0x1.47d4d36000000p-27, 0x1.1f534dc000000p-28, 0x1.1f534dc000000p-27, 0x1.f534dd0000000p-30,
    0x1.f534dd8000000p-29, 0x1.f534ddc000000p-28, 0x1.f534ddc000000p-27, 0x1.ea69bb8000000p-27, 0x1.d4d3770000000p-27, 0x1.a9a6ee0000000p-27,
    0x1.534ddc0000000p-27, 0x1.4d37700000000p-28, 0x1.4d37702000000p-27, 0x1.34ddc0c000000p-28, 0x1.34ddc0c000000p-27, 0x1.a6ee068000000p-29,
    0x1.a6ee06c000000p-28, 0x1.a6ee06c000000p-27, 0x1.4ddc0da000000p-27, 0x1.377036c000000p-28, 0x1.377036c000000p-27, 0x1.bb81b68000000p-29,
    0x1.bb81b6c000000p-28, 0x1.bb81b6c000000p-27, 0x1.77036d8000000p-27, 0x1.dc0db60000000p-28, 0x1.dc0db62000000p-27, 0x1.b81b6c4000000p-27,
    0x1.7036d8a000000p-27, 0x1.c0db628000000p-28, 0x1.c0db628000000p-27, 0x1.81b6c52000000p-27, 0x1.036d8a4000000p-27, 0x1.b6c5280000000p-33,
    0x1.b6c5280000000p-32, 0x1.b6c52a0000000p-31, 0x1.b6c52b0000000p-30, 0x1.b6c52b0000000p-29, 0x1.b6c52b0000000p-28, 0x1.b6c52b2000000p-27,
    0x1.6d8a566000000p-27, 0x1.b629598000000p-28,
};
static const double reduction_low[REDUCTION_SIZE] = {
    0x1.29fc2757d1f53p-56, 0x1.29fc2757d1f53p-55, 0x1.4fe13abe8fa9ap-57, 0x1.4fe13abe8fa9ap-56, 0x1.4fe13abe8fa9ap-55, 0x1.3f84eafa3ea6ap-56,
    0x1.3f84eafa3ea6ap-55, 0x1.fc2757d1f534ep-57, 0x1.fc2757d1f534ep-56, 0x1.fc2757d1f534ep-55, 0x1.f84eafa3ea69cp-55, 0x1.f09d5f47d4d37p-55,
    0x1.e13abe8fa9a6fp-55, 0x1.c2757d1f534dep-55, 0x1.84eafa3ea69bcp-55, 0x1.09d5f47d4d377p-55, 0x1.3abe8fa9a6ee0p-59, 0x1.3abe8fa9a6ee0p-58,
    0x1.3abe8fa9a6ee0p-57, 0x1.3abe8fa9a6ee0p-56, 0x1.3abe8fa9a6ee0p-55, 0x1.d5f47d4d37703p-57, 0x1.d5f47d4d37703p-56, 0x1.d5f47d4d37703p-55,
    0x1.abe8fa9a6ee07p-55, 0x1.57d1f534ddc0ep-55, 0x1.5f47d4d377037p-56, 0x1.5f47d4d377037p-55, 0x1.7d1f534ddc0dbp-56, 0x1.7d1f534ddc0dbp-55,
    0x1.f47d4d377036ep-56, 0x1.f47d4d377036ep-55, 0x1.e8fa9a6ee06dbp-55, 0x1.d1f534ddc0db6p-55, 0x1.a3ea69bb81b6cp-55, 0x1.47d4d377036d9p-55,
    0x1.1f534ddc0db63p-56, 0x1.1f534ddc0db63p-55, 0x1.f534ddc0db629p-58, 0x1.f534ddc0db629p-57, 0x1.f534ddc0db629p-56, 0x1.f534ddc0db629p-55,
    0x1.ea69bb81b6c53p-55, 0x1.d4d377036d8a5p-55, 0x1.a9a6ee06db14bp-55, 0x1.534ddc0db6296p-55, 0x1.4d377036d8a56p-56, 0x1.4d377036d8a56p-55,
    0x1.34ddc0db6295ap-56, 0x1.34ddc0db6295ap-55, 0x1.a6ee06db14acdp-57, 0x1.a6ee06db14acdp-56, 0x1.a6ee06db14acdp-55, 0x1.4ddc0db629599p-55,
    0x1.377036d8a5665p-56, 0x1.377036d8a5665p-55, 0x1.bb81b6c52b328p-57, 0x1.bb81b6c52b328p-56, 0x1.bb81b6c52b328p-55, 0x1.77036d8a5664fp-55,
    0x1.dc0db6295993cp-56, 0x1.dc0db6295993cp-55, 0x1.b81b6c52b3279p-55, 0x1.7036d8a5664f1p-55, 0x1.c0db6295993c4p-56, 0x1.c0db6295993c4p-55,
    0x1.81b6c52b32788p-55, 0x1.036d8a5664f11p-55, 0x1.b6c52b3278872p-61, 0x1.b6c52b3278872p-60, 0x1.b6c52b3278872p-59, 0x1.b6c52b3278872p-58,
    0x1.b6c52b3278872p-57, 0x1.b6c52b3278872p-56, 0x1.b6c52b3278872p-55, 0x1.6d8a5664f10e4p-55, 0x1.b6295993c4390p-56, 0x1.b6295993c4390p-55,
    0x1.6c52b32788721p-55, 0x1.b14acc9e21c82p-56, 0x1.b14acc9e21c82p-55, 0x1.6295993c43904p-55, 0x1.8a5664f10e410p-56, 0x1.8a5664f10e410p-55,
    0x1.14acc9e21c821p-55, 0x1.4acc9e21c8210p-58, 0x1.4acc9e21c8210p-57, 0x1.4acc9e21c8210p-56, 0x1.4acc9e21c8210p-55, 0x1.2b32788720840p-56,
    0x1.2b32788720840p-55, 0x1.5993c439041fep-57, 0x1.5993c439041fep-56, 0x1.5993c439041fep-55, 0x1.664f10e4107f9p-56, 0x1.664f10e4107f9p-55,
    0x1.993c439041fe5p-56, 0x1.993c439041fe5p-55, 0x1.3278872083fcap-55, 0x1.93c439041fe51p-57, 0x1.93c439041fe51p-56, 0x1.93c439041fe51p-55,
    0x1.278872083fca3p-55, 0x1.3c439041fe516p-57, 0x1.3c439041fe516p-56,
};

/* x less a multiple of π/2, and the last two bits of the multiple. */
INLINE double quarter_f32(float x, int32_t *quarter)
{
    const double wide = x;
    const int64_t exponent = ((bits_f64(wide) >> 52) & 2047) - 1046, least = exponent > 0 ? exponent : 0;
    const int64_t power = least < REDUCTION_SIZE ? least : REDUCTION_SIZE - 1;
    const double digits = wide * from_bits_f64((int64_t)((uint64_t)(1023 - power) << 52));
    const double product = digits * reduction_high[power], turns = product - 4 * ((product * 0.25 + ROUNDING_F64) - ROUNDING_F64);
    const double shifted = turns + ROUNDING_F64, rest = turns - (shifted - ROUNDING_F64);
    *quarter = (int32_t)bits_f64(shifted);
    return (rest + (digits * reduction_middle[power] + digits * reduction_low[power])) * 1.5707963267948966192;
}

INLINE double sine_near(double r)
{
    const double z = r * r;
    return r * (1 - z * (1.0 / 6 - z * (1.0 / 120 - z * (1.0 / 5040 - z * (1.0 / 362880 - z * (1.0 / 39916800))))));
}

INLINE double cosine_near(double r)
{
    const double z = r * r;
    return 1 - z * (0.5 - z * (1.0 / 24 - z * (1.0 / 720 - z * (1.0 / 40320 - z * (1.0 / 3628800 - z * (1.0 / 479001600))))));
}

INLINE float sin_f32(float x)
{
    int32_t quarter;
    const double r = quarter_f32(x, &quarter), value = quarter & 1 ? cosine_near(r) : sine_near(r);
    return fabsf(x) < (float)INFINITY ? (float)(quarter & 2 ? -value : value) : x - x;
}

INLINE float cos_f32(float x)
{
    int32_t quarter;
    const double r = quarter_f32(x, &quarter), value = quarter & 1 ? sine_near(r) : cosine_near(r);
    return fabsf(x) < (float)INFINITY ? (float)((quarter + 1) & 2 ? -value : value) : x - x;
}

INLINE float tan_f32(float x)
{
    int32_t quarter;
    const double r = quarter_f32(x, &quarter), sine = sine_near(r), cosine = cosine_near(r);
    const double value = (quarter & 1 ? -cosine : sine) / (quarter & 1 ? sine : cosine);
    return fabsf(x) < (float)INFINITY ? (float)value : x - x;
}

INLINE double arctan_f64_of_f32(double x)
{
    const double size = fabs(x), inside = size > 1 ? 1 / size : size;
    const bool far = inside > 0.41421356237309503;
    const double s = far ? (inside - 1) / (inside + 1) : inside, z = s * s, z2 = z * z;
    const double a = FMA_F64(z, -0.33333333278737171, 0.99999999999927847), b = FMA_F64(z, -0.14285392399630037, 0.19999993221612278);
    const double c = FMA_F64(z, -0.089933786816528749, 0.11103553846533519), d = FMA_F64(z, -0.037713080021934693, 0.069776877935160866);
    const double value = s * FMA_F64(FMA_F64(d, z2, c), z2 * z2, FMA_F64(b, z2, a)) + (far ? 0.78539816339744830962 : 0.0);
    return copysign(size > 1 ? 1.5707963267948966192 - value : value, x);
}

INLINE float arctan_f32(float x) { return x != x ? x : (float)arctan_f64_of_f32(x); }

INLINE float arctan2_f32(float y, float x)
{
    const double up = fabsf(y), along = fabsf(x), low = up < along ? up : along, high = up < along ? along : up;
    const double part = arctan_f64_of_f32(high == 0 ? 0.0 : low == (double)INFINITY ? 1.0 : low / high);
    const double first = up > along ? 1.5707963267948966192 - part : part, half = bits_f32(x) < 0 ? 3.14159265358979323846 - first : first;
    return (x != x) | (y != y) ? x + y : copysignf((float)half, y);
}

/* asin(x) for x within ±½. */
INLINE double arcsine_near(double x)
{
    const double z = x * x, z2 = z * z, z4 = z2 * z2;
    const double a = FMA_F64(z, 0.1666666666633777, 1.0000000000000042), b = FMA_F64(z, 0.044642825441801842, 0.075000000517163837);
    const double c = FMA_F64(z, 0.02235411080751986, 0.030382937469979169), d = FMA_F64(z, 0.012518655558522525, 0.017555632803169838);
    const double e = FMA_F64(FMA_F64(z, 0.031666449390243177, -0.0075149809083576331), z, 0.018032997341420848);
    return x * FMA_F64(FMA_F64(e, z4, FMA_F64(d, z2, c)), z4, FMA_F64(b, z2, a));
}

INLINE float arcsin_f32(float x)
{
    const double size = fabsf(x), far = 1.5707963267948966192 - 2 * arcsine_near(sqrt(0.5 - 0.5 * size));
    return copysignf((float)(size <= 0.5 ? arcsine_near(size) : far), x);
}

INLINE float arccos_f32(float x)
{
    const double size = fabsf(x), far = 2 * arcsine_near(sqrt(0.5 - 0.5 * size));
    return (float)(size <= 0.5 ? 1.5707963267948966192 - arcsine_near(x) : x < 0 ? 3.14159265358979323846 - far : far);
}

/* The error function */

INLINE float erf_f32(float x)
{
    const float size = fabsf(x), z = x * x, z2 = z * z;
    const float a = FMA_F32(z, -0.376126384f, 0.12837917f), b = FMA_F32(z, -0.0268654f, 0.11283782f);
    const float c = FMA_F32(z, -0.000848282878f, 0.00522094543f), d = FMA_F32(z, -9.64151478e-06f, 0.000112569474f);
    const float near = FMA_F32(x, FMA_F32(FMA_F32(d, z2, c), z2 * z2, FMA_F32(b, z2, a)), x);
    /* The logarithm of what is missing to 1. */
    const float t = size > 4 ? 4.0f : size, t2 = t * t;
    const float e = FMA_F32(t, -1.12939706f, 0.000153382188f), f = FMA_F32(t, -0.107905702f, -0.633627316f), g = FMA_F32(t, -0.00401339486f, 0.0248127919f);
    const float h = FMA_F32(t, -1.2329887e-05f, 0.000384784975f), i = -6.6282062e-07f;
    const float missing = FMA_F32(FMA_F32(FMA_F32(i, t2, h), t2, g), t2 * t2, FMA_F32(f, t2, e));
    return size < 1 ? near : copysignf(1 - exp_f32(missing), x);
}

INLINE float erfc_f32(float x)
{
    const double size = fabsf(x), u = size < 10.5 ? size : 10.5, t = (u - 4) / (u + 4), t2 = t * t, t4 = t2 * t2;
    const double a = FMA_F64(t, -0.13962111721033951, 1.232995118611973), b = FMA_F64(t, 0.068097082928519848, 0.015379655025154475);
    const double c = FMA_F64(t, 0.093732160752436927, -0.10103915039752369), d = FMA_F64(t, 0.037174221555069241, -0.066329832840751807);
    const double e = FMA_F64(t, 0.0050040997842739536, -0.01619456996689252), f = FMA_F64(t, -0.00017365710465995499, -0.00079708607827952589);
    const double g = FMA_F64(t, 4.4671983641547886e-05, 0.00024332835333651902);
    const double p = FMA_F64(FMA_F64(g, t4, FMA_F64(f, t2, e)), t4 * t4, FMA_F64(FMA_F64(d, t2, c), t4, FMA_F64(b, t2, a)));
    const double value = exp_f64(-size * size) * p / (1 + 2 * u);
    return x != x ? x : (float)(x < 0 ? 2 - value : value);
}

#endif

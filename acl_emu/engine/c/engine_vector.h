/* Elementary functions on vectors of one type; engine_types.h includes this once for float and once for double.
 *
 * They take the same steps on every lane, so a result does not depend on its place in a vector. */

/* From memory that need not be aligned, and back. */
static inline V NAME(read)(const T *memory)
{
    V value;
    memcpy(&value, memory, sizeof value);
    return value;
}

static inline void NAME(write)(T *memory, V value)
{
    memcpy(memory, &value, sizeof value);
}

static inline V NAME(all)(T value)
{
    return value - (V){0};
}

#ifdef HAS_64
#define COMPARISON(name, operator, predicate)                          \
    static inline M NAME(name)(V x, V y)                               \
    {                                                                  \
        return WIDE_COMPARED((BARE)x, (BARE)y, predicate);             \
    }
#else
#define COMPARISON(name, operator, predicate)                          \
    static inline M NAME(name)(V x, V y)                               \
    {                                                                  \
        return x operator y;                                           \
    }
#endif
COMPARISON(less, <, _CMP_LT_OQ)
COMPARISON(less_equal, <=, _CMP_LE_OQ)
COMPARISON(equal, ==, _CMP_EQ_OQ)
COMPARISON(not_equal, !=, _CMP_NEQ_UQ)
#undef COMPARISON

static inline V NAME(select)(M mask, V first, V second)
{
#if defined(HAS_64)
    return (V)WIDE(mask_blend)(mask, (BARE)second, (BARE)first);
#elif defined(HAS_32)
    return (V)WIDE(blendv)((BARE)second, (BARE)first, (BARE)mask);
#else
    return (V)(((I)first & mask) | ((I)second & ~mask));
#endif
}

static inline V NAME(fma)(V a, V b, V c)
{
#if defined(HAS_64) || defined(HAS_32)
    return (V)WIDE(fmadd)((BARE)a, (BARE)b, (BARE)c);
#else
    return a * b + c;
#endif
}

static inline V NAME(absolute)(V x)
{
    return (V)((I)x & ~SIGN_BIT);
}

static inline V NAME(sign)(V x)
{
    const V one = NAME(all)(1), zero = NAME(all)(0);
    const V side = NAME(select)(NAME(less)(zero, x), one, NAME(select)(NAME(less)(x, zero), -one, x));
    return NAME(select)(NAME(equal)(x, zero), zero, side);
}

/* The larger of two numbers; x, if one of them is none. */
static inline V NAME(larger)(V x, V y)
{
#if defined(HAS_64) || defined(HAS_32)
    return (V)WIDE(max)((BARE)y, (BARE)x);
#else
    return NAME(select)(y > x, y, x);
#endif
}

/* The first of two equal numbers; NaN, if there is one. */
static inline V NAME(maximum)(V x, V y)
{
#if defined(HAS_64) || defined(HAS_32)
    return NAME(select)(NAME(not_equal)(y, y), y, (V)WIDE(max)((BARE)y, (BARE)x));
#else
    return NAME(select)((x >= y) | (x != x), x, y);
#endif
}

static inline V NAME(minimum)(V x, V y)
{
#if defined(HAS_64) || defined(HAS_32)
    return NAME(select)(NAME(not_equal)(y, y), y, (V)WIDE(min)((BARE)y, (BARE)x));
#else
    return NAME(select)((x <= y) | (x != x), x, y);
#endif
}

static inline V NAME(number)(M mask)
{
    return NAME(select)(mask, NAME(all)(1), NAME(all)(0));
}

/* x, or the limit that it exceeds; NaN stays. */
static inline V NAME(within)(V x, T least, T most)
{
#if defined(HAS_64) || defined(HAS_32)
    return (V)WIDE(min)((BARE)NAME(all)(most), WIDE(max)((BARE)NAME(all)(least), (BARE)x));
#else
    x = NAME(select)(x < least, NAME(all)(least), x);
    return NAME(select)(x > most, NAME(all)(most), x);
#endif
}

/* value / 2^digits, rounded down, of a number far from the largest: there may be no shift that keeps the sign. */
static inline I NAME(shifted_down)(I value, int digits)
{
#ifdef HAS_64
    return value >> digits;
#else
    const I offset = (I){0} + ((UNSIGNED)1 << (8 * sizeof(T) - 2));
    return (I)((U)(value + offset) >> digits) - (I)((U)offset >> digits);
#endif
}

/* Whole numbers, far from the largest, as numbers and back. */
static inline V NAME(of_words)(I words)
{
    const V rounding = NAME(all)(ROUNDING);
    return (V)((I)rounding + words) - rounding;
}

static inline I NAME(words_of)(V whole)
{
    const V rounding = NAME(all)(ROUNDING);
    return (I)(whole + rounding) - (I)rounding;
}

/* x × 2^k for a whole k; with 64-byte vectors for any, rounded down. */
static inline V NAME(scaled)(V x, V k)
{
#ifdef HAS_64
    return (V)WIDE(scalef)((BARE)x, (BARE)k);
#else
    /* In two steps, so that results below the smallest normal number come out right. */
    const I power = NAME(words_of)(k), half = NAME(shifted_down)(power, 1);
    return x * (V)((half + BIAS) << DIGITS) * (V)((power - half + BIAS) << DIGITS);
#endif
}

/* x without the power of two k that is nearest to it as a logarithm. */
static inline V NAME(exp_reduced)(V x, V *k)
{
    const V rounding = NAME(all)(ROUNDING);
    *k = NAME(fma)(x, NAME(all)((T)1.4426950408889634074), rounding) - rounding;
    return NAME(reduced)(x, *k);
}

static inline V NAME(exp_of_rest)(V r, V k)
{
    const V one = NAME(all)(1);
    return NAME(scaled)(NAME(fma)(NAME(fma)(NAME(exp_polynomial)(r), r, one), r, one), k);
}

/* x > 0 between √½ and √2, where logarithms come from a table between ¾ and 1½, and the power of two that it was scaled by; tiny numbers only
 * where it says so. */
static inline V NAME(split)(V x, V *k, int may_be_tiny)
{
#ifdef HAS_64
    const V one = NAME(all)(1), e = (V)WIDE(getexp)((BARE)x);
    (void)may_be_tiny;
#if DIGITS == 23
    const V m = (V)WIDE(getmant)((BARE)x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_src);
    *k = (V)WIDE(mask_add)((BARE)e, NAME(less)(m, one), (BARE)e, (BARE)one);
    return m;
#else
    const V m = (V)WIDE(getmant)((BARE)x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
    const M high = NAME(less_equal)(NAME(all)(ROOT_OF_TWO), m);
    *k = (V)WIDE(mask_add)((BARE)e, high, (BARE)e, (BARE)one);
    return (V)WIDE(mask_mul)((BARE)m, high, (BARE)m, (BARE)NAME(all)((T)0.5));
#endif
#else
    const M tiny = x < LEAST_NORMAL;
    const V normal = may_be_tiny ? NAME(select)(tiny, x * SCALE_UP, x) : x;
    const I power = NAME(shifted_down)((I)normal - (I)NAME(all)(ROOT_OF_TWO / 2), DIGITS);
    *k = NAME(of_words)(power);
    if (may_be_tiny) {
        *k -= NAME(select)(tiny, NAME(all)(SCALE_DIGITS), NAME(all)(0));
    }
    return (V)((I)normal - (power << DIGITS));
#endif
}

/* log(x), computed as `value`, but for an x of which it is not: what is no number or infinite stays, zeros and what is below have their own. */
static inline V NAME(log_beyond)(V x, V value)
{
#ifdef HAS_64
    /* By kinds of x, a digit each, the last for NaN: what is above 0 keeps the value. */
    return (V)WIDE(fixupimm)((BARE)value, (BARE)x, WIDE_WORDS(0x03530422), 0);
#else
    const V infinity = NAME(all)((T)INFINITY), zero = NAME(all)(0);
    const V inside = NAME(select)(NAME(less)(x, zero), NAME(all)((T)NAN), value);
    return NAME(select)(NAME(less)(x, infinity), NAME(select)(NAME(equal)(x, zero), -infinity, inside), x);
#endif
}

static inline V NAME(log_of)(V x)
{
    V k;
    const V m = NAME(split)(x, &k, 1);
    return NAME(log_beyond)(x, NAME(log_polynomial)(m - 1, k));
}

static inline V NAME(log1p_of)(V x)
{
    const V one = NAME(all)(1), whole = x + one;
    V k;
    const V m = NAME(split)(whole, &k, 0);
#if defined(HAS_64) || defined(HAS_32)
    const V power = NAME(scaled)(one, -k), f = NAME(fma)(x, power, power - one);
    (void)m;
#else
    /* What the sum lost, exact in either order of magnitude; nothing that counts of a large number. */
    const V rest = NAME(select)(NAME(less)(x, one), x - (whole - one), one - (whole - x));
    const V f = m - one + NAME(select)(NAME(less)(x, NAME(all)(ROUNDING)), NAME(scaled)(rest, -k), NAME(all)(0));
#endif
    const V value = NAME(log_beyond)(whole, NAME(log_polynomial)(f, k));
    return (V)((I)value | ((I)x & SIGN_BIT)); /* zeros keep their sign */
}

#if !defined(HAS_64) || DIGITS != 23 /* floats have a table there */
/* The same for numbers from 0 to 1, of which exponentials are often known to be. */
static inline V NAME(log1p_of_part)(V x)
{
    const V one = NAME(all)(1), half = NAME(all)((T)0.5), whole = x + one, lost = x - (whole - one);
    const M high = NAME(less_equal)(NAME(all)(ROOT_OF_TWO), whole);
    const V m = NAME(select)(high, whole * half, whole), rest = NAME(select)(high, lost * half, lost);
    return NAME(log_polynomial)(m - one + rest, NAME(number)(high));
}
#endif

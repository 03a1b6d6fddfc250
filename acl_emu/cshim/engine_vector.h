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

static inline V NAME(select)(M mask, V first, V second)
{
#ifdef WIDE
    return (V)SELECT_WIDE((BARE)second, (BARE)first, (BARE)mask);
#else
    return (V)(((M)first & mask) | ((M)second & ~mask));
#endif
}

static inline V NAME(fma)(V a, V b, V c)
{
#if defined(WIDE)
    return (V)FMA_WIDE((BARE)a, (BARE)b, (BARE)c);
#else
    return a * b + c;
#endif
}

static inline V NAME(absolute)(V x)
{
    return (V)((M)x & ~SIGN_BIT);
}

static inline V NAME(sign)(V x)
{
    const V one = NAME(all)(1);
    const V side = NAME(select)(x > 0, one, NAME(select)(x < 0, -one, x));
    return NAME(select)(x == 0, NAME(all)(0), side);
}

static inline V NAME(maximum)(V x, V y)
{
    return NAME(select)((x >= y) | (x != x), x, y);
}

static inline V NAME(minimum)(V x, V y)
{
    return NAME(select)((x <= y) | (x != x), x, y);
}

static inline V NAME(number)(M mask)
{
    return (V)((M)NAME(all)(1) & mask);
}

/* x, or the limit that it exceeds; NaN stays. */
static inline V NAME(within)(V x, T least, T most)
{
#ifdef WIDE
    return (V)MIN_WIDE((BARE)NAME(all)(most), MAX_WIDE((BARE)NAME(all)(least), (BARE)x));
#else
    x = NAME(select)(x < least, NAME(all)(least), x);
    return NAME(select)(x > most, NAME(all)(most), x);
#endif
}

/* value / 2^digits, rounded down, of a number far from the largest: there may be no shift that keeps the sign. */
static inline M NAME(shifted_down)(M value, int digits)
{
    const M offset = (M){0} + ((UNSIGNED)1 << (8 * sizeof(T) - 2));
    return (M)((U)(value + offset) >> digits) - (M)((U)offset >> digits);
}

/* exp(x + rest), rest being tiny beside x, for x in a range that no result overflows in. */
static inline V NAME(exp_within)(V x, V rest)
{
    const V rounding = NAME(all)(ROUNDING), shifted = NAME(fma)(x, NAME(all)((T)1.4426950408889634074), rounding);
    const V k = shifted - rounding;
    const V r = NAME(reduced)(x, k) + rest;
    const V grown = NAME(fma)(NAME(fma)(NAME(exp_polynomial)(r), r, NAME(all)(1)), r, NAME(all)(1));
    return NAME(scaled)(grown, (M)shifted - (M)rounding);
}

/* The power of two that brings x > 0 between √½ and √2. */
static inline M NAME(power_of)(V x)
{
    return NAME(shifted_down)((M)x - (M)NAME(all)((T)0.70710678118654752440), DIGITS);
}

/* log(x) for x > 0 that is no infinity; the same accuracy. lost: of x without its power; exponent: what x was scaled down by. */
static inline V NAME(log_of_normal)(V x, M power, V lost, V exponent)
{
    const V rounding = NAME(all)(ROUNDING), f = (V)((M)x - (power << DIGITS)) - 1 + lost;
    return NAME(log_polynomial)(f, (V)((M)rounding + power) - rounding + exponent);
}

static inline V NAME(log_of)(V x)
{
    const V zero = NAME(all)(0), infinity = NAME(all)((T)INFINITY);
    const M tiny = x < LEAST_NORMAL;
    const V normal = NAME(select)(tiny, x * SCALE_UP, x);
    const V value = NAME(log_of_normal)(normal, NAME(power_of)(normal), zero, NAME(select)(tiny, NAME(all)(-SCALE_DIGITS), zero));
    const V inside = NAME(select)(x == 0, -infinity, NAME(select)(x < 0, NAME(all)((T)NAN), value));
    return NAME(select)(x < infinity, inside, x); /* infinity and NaN stay */
}

static inline V NAME(log1p_of)(V x)
{
    const V whole = x + 1, zero = NAME(all)(0), infinity = NAME(all)((T)INFINITY);
    /* What the sum lost, exact in either order of magnitude; nothing that counts of a large number. */
    const V rest = NAME(select)(x < 1, x - (whole - 1), 1 - (whole - x));
    const M power = NAME(power_of)(whole);
    const V lost = NAME(select)(x < ROUNDING, rest * (V)((BIAS - power) << DIGITS), zero);
    const V value = NAME(log_of_normal)(whole, power, lost, zero);
    const V inside = NAME(select)(x == 0, x, NAME(select)(whole == 0, -infinity, NAME(select)(x < -1, NAME(all)((T)NAN), value)));
    return NAME(select)(x < infinity, inside, x);
}

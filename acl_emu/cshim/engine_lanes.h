/* The functions on lanes of one type; included by engine_tile.c once for float and once for double.
 *
 * No loop depends on where in memory or on which thread it runs: what is left over behind whole vectors goes through the same
 * operations one by one, so a result never changes with the cut. Functions of one rounding are the ones of IEEE 754, as in numpy;
 * the others say how far they may be off. */

#define EACH for (size_t i = 0; i < n; i++)
#define LANES _Pragma("GCC ivdep") EACH

#define BINARY(name, expression)                                                                    \
    static void NAME(name)(void *dst, const void *first, const void *second, const void *third, size_t n) \
    {                                                                                               \
        T *d = dst;                                                                                 \
        const T *a = first, *b = second;                                                            \
        (void)third;                                                                                \
        LANES                                                                                       \
        {                                                                                           \
            const T x = a[i], y = b[i];                                                             \
            d[i] = expression;                                                                      \
        }                                                                                           \
    }

#define UNARY(name, expression)                                                                     \
    static void NAME(name)(void *dst, const void *first, const void *second, const void *third, size_t n) \
    {                                                                                               \
        T *d = dst;                                                                                 \
        const T *a = first;                                                                         \
        (void)second;                                                                               \
        (void)third;                                                                                \
        LANES                                                                                       \
        {                                                                                           \
            const T x = a[i];                                                                       \
            d[i] = expression;                                                                      \
        }                                                                                           \
    }

/* A mask is all ones or all zeros. */
#define COMPARISON(name, expression)                                                                \
    static void NAME(name)(void *dst, const void *first, const void *second, const void *third, size_t n) \
    {                                                                                               \
        MASK *d = dst;                                                                              \
        const T *a = first, *b = second;                                                            \
        (void)third;                                                                                \
        LANES                                                                                       \
        {                                                                                           \
            const T x = a[i], y = b[i];                                                             \
            d[i] = (expression) ? -1 : 0;                                                           \
        }                                                                                           \
    }

#define LOGICAL(name, expression)                                                                   \
    static void NAME(name)(void *dst, const void *first, const void *second, const void *third, size_t n) \
    {                                                                                               \
        MASK *d = dst;                                                                              \
        const MASK *a = first, *b = second;                                                         \
        (void)third;                                                                                \
        LANES                                                                                       \
        {                                                                                           \
            const MASK x = a[i], y = b[i];                                                          \
            (void)y;                                                                                \
            d[i] = expression;                                                                      \
        }                                                                                           \
    }

static inline T NAME(from_bits)(MASK bits)
{
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline MASK NAME(bits_of)(T value)
{
    MASK bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* exp(x + rest), rest being tiny beside x. Off by less than 1 ulp in float; in double, whose results end in narrower types, by 2^-43. */
static inline T NAME(exp_of)(T x, T rest)
{
    x = x < EXP_LEAST ? (T)EXP_LEAST : x;
    x = x > EXP_MOST ? (T)EXP_MOST : x;
    const T shifted = MULTIPLY_ADD(x, (T)1.4426950408889634074, ROUNDING);
    const T k = shifted - ROUNDING;
    T r = MULTIPLY_ADD(-k, LN2_HIGH, x);
    r = MULTIPLY_ADD(-k, LN2_LOW, r) + rest;
    const T grown = MULTIPLY_ADD(r * r, EXP_POLYNOMIAL(r), r) + 1;
    /* In two steps, so that results below the smallest normal number come out right. */
    const MASK power = NAME(bits_of)(shifted) - NAME(bits_of)(ROUNDING), half = power >> 1;
    return grown * NAME(from_bits)((half + BIAS) << DIGITS) * NAME(from_bits)((power - half + BIAS) << DIGITS);
}

/* log(x * (1 + rest / x)) for x > 0 that is no infinity, and rest tiny beside it; same accuracy. */
static inline T NAME(log_of_normal)(T x, T rest, T exponent)
{
    const MASK shift = (NAME(bits_of)(x) - NAME(bits_of)((T)0.70710678118654752440)) >> DIGITS;
    const T significand = NAME(from_bits)(NAME(bits_of)(x) - (MASK)((UNSIGNED)shift << DIGITS));
    const T f = significand - 1 + rest * NAME(from_bits)((BIAS - shift) << DIGITS);
    const T k = NAME(from_bits)(NAME(bits_of)(ROUNDING) + shift) - ROUNDING + exponent;
    return LOG_POLYNOMIAL(f, k);
}

static inline T NAME(log_of)(T x)
{
    const int tiny = x < LEAST_NORMAL;
    const T value = NAME(log_of_normal)(tiny ? x * SCALE_UP : x, 0, tiny ? -SCALE_DIGITS : (T)0);
    T result = x == 0 ? -(T)INFINITY : x < 0 ? (T)NAN : value;
    return x < (T)INFINITY ? result : x; /* infinity and NaN */
}

static inline T NAME(log1p_of)(T x)
{
    const T whole = 1 + x;
    /* What the sum lost: exact in either order of magnitude. */
    const T rest = x < 1 ? x - (whole - 1) : 1 - (whole - x);
    const T value = NAME(log_of_normal)(whole, rest, 0);
    T result = whole == 0 ? -(T)INFINITY : x < -1 ? (T)NAN : value;
    result = x == 0 ? x : result;
    return x < (T)INFINITY ? result : x;
}

/* exp(x - y), with what the difference loses. */
static inline T NAME(exp_of_difference)(T x, T y)
{
    const T difference = x - y;
    const T other = difference - x;
    const T rest = (x - (difference - other)) - (y + other);
    /* Where the difference is no number or infinite there is nothing to make up for. */
    return NAME(exp_of)(difference, rest - rest == 0 ? rest : 0);
}

BINARY(add, x + y)
BINARY(subtract, x - y)
BINARY(multiply, x *y)
BINARY(divide, x / y)
UNARY(negate, -x)
UNARY(absolute, NAME(from_bits)(NAME(bits_of)(x) & ~SIGN_BIT))
UNARY(sign_of, x > 0 ? (T)1 : x < 0 ? (T)-1 : x == 0 ? (T)0 : x)
UNARY(square, x *x)
BINARY(maximum, x >= y || x != x ? x : y)
BINARY(minimum, x <= y || x != x ? x : y)
UNARY(exponential, NAME(exp_of)(x, 0))
BINARY(exponential_of_difference, NAME(exp_of_difference)(x, y))
UNARY(logarithm, NAME(log_of)(x))
UNARY(logarithm_1p, NAME(log1p_of)(x))
UNARY(square_root, SQUARE_ROOT(x))
COMPARISON(less, x < y)
COMPARISON(less_equal, x <= y)
COMPARISON(equal, x == y)
COMPARISON(not_equal, x != y)
LOGICAL(both, x &y)
LOGICAL(either, x | y)
LOGICAL(inverse, ~x)

static void NAME(where)(void *dst, const void *first, const void *second, const void *third, size_t n)
{
    T *d = dst;
    const MASK *mask = first;
    const T *a = second, *b = third;
    LANES
    {
        d[i] = mask[i] ? a[i] : b[i];
    }
}

static void NAME(as_number)(void *dst, const void *first, const void *second, const void *third, size_t n)
{
    T *d = dst;
    const MASK *mask = first;
    (void)second;
    (void)third;
    LANES
    {
        d[i] = NAME(from_bits)(mask[i] & NAME(bits_of)((T)1));
    }
}

static void NAME(spread)(void *lanes, const void *value, size_t n)
{
    T *d = lanes;
    const T x = *(const T *)value;
    EACH
    {
        d[i] = x;
    }
}

static void NAME(load_mask)(void *lanes, const uint8_t *memory, size_t n)
{
    MASK *d = lanes;
    EACH
    {
        d[i] = memory[i] ? -1 : 0;
    }
}

#define LOAD_FROM(name, type)                                          \
    static void NAME(name)(void *lanes, const void *memory, size_t n)  \
    {                                                                  \
        T *d = lanes;                                                  \
        const type *a = memory;                                        \
        EACH                                                           \
        {                                                              \
            d[i] = (T)a[i];                                            \
        }                                                              \
    }

LOAD_FROM(load_f32, float)
LOAD_FROM(load_f64, double)
LOAD_FROM(load_i8, int8_t)
LOAD_FROM(load_u8, uint8_t)
LOAD_FROM(load_i16, int16_t)
LOAD_FROM(load_i32, int32_t)
LOAD_FROM(load_i64, int64_t)

static void NAME(load_bool)(void *lanes, const void *memory, size_t n)
{
    T *d = lanes;
    const uint8_t *a = memory;
    EACH
    {
        d[i] = a[i] ? (T)1 : (T)0;
    }
}

#define STORE_TO(name, type)                                           \
    static void NAME(name)(void *memory, const void *lanes, size_t n)  \
    {                                                                  \
        type *d = memory;                                              \
        const T *a = lanes;                                            \
        EACH                                                           \
        {                                                              \
            d[i] = (type)a[i];                                         \
        }                                                              \
    }

STORE_TO(store_f32, float)
STORE_TO(store_f64, double)

/* Sums are taken in double, whatever the lanes are. */
static void NAME(row_sum)(double *partials, const void *lanes, size_t n)
{
    const T *a = lanes;
    double sums[PARTIALS];
    size_t i = 0;
    memcpy(sums, partials, sizeof sums);
    for (; i + PARTIALS <= n; i += PARTIALS) {
        for (size_t k = 0; k < PARTIALS; k++) {
            sums[k] += (double)a[i + k];
        }
    }
    for (size_t k = 0; i + k < n; k++) {
        sums[k] += (double)a[i + k];
    }
    memcpy(partials, sums, sizeof sums);
}

/* The larger of each pair; NaN is larger than everything. */
static void NAME(row_max)(void *partials, const void *lanes, size_t n)
{
    typedef T vector __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
    typedef MASK mask_vector __attribute__((vector_size(32), may_alias));
    enum { WIDTH = 32 / sizeof(T), VECTORS = PARTIALS / WIDTH };
    const T *a = lanes;
    vector best[VECTORS];
    size_t i = 0;
    memcpy(best, partials, sizeof best);
    for (; i + PARTIALS <= n; i += PARTIALS) {
        for (size_t k = 0; k < VECTORS; k++) {
            const vector value = *(const vector *)(a + i + k * WIDTH);
            const mask_vector taken = (mask_vector)(value > best[k]) | (mask_vector)(value != value);
            best[k] = (vector)(((mask_vector)value & taken) | ((mask_vector)best[k] & ~taken));
        }
    }
    memcpy(partials, best, sizeof best);
    for (T *rest = partials; i < n; i++, rest++) {
        *rest = a[i] > *rest || a[i] != a[i] ? a[i] : *rest;
    }
}

static void NAME(lane_sum)(double *sums, const void *lanes, size_t n)
{
    const T *a = lanes;
    EACH
    {
        sums[i] += (double)a[i];
    }
}

static void NAME(from_double)(void *lanes, const double *values, size_t n)
{
    T *d = lanes;
    EACH
    {
        d[i] = (T)values[i];
    }
}

#undef EACH
#undef LANES
#undef BINARY
#undef UNARY
#undef COMPARISON
#undef LOGICAL
#undef LOAD_FROM
#undef STORE_TO

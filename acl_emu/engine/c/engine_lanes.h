/* The functions on registers of one type; included by engine_tile.c once for float and once for double, after engine_vector.h.
 *
 * No loop depends on where in memory or on which thread it runs: what is left over behind whole vectors goes through the same
 * operations one by one, so a result never changes with the cut. Functions of one rounding are the ones of IEEE 754, as in numpy;
 * the others say how far they may be off. */

#define EACH for (size_t i = 0; i < n; i++)
#define LANES INDEPENDENT EACH

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

/* The same with whole vectors; what is left over is filled up with the last of them. */
#define BY_VECTORS(name, expression)                                                                \
    static void NAME(name)(void *dst, const void *first, const void *second, const void *third, size_t n) \
    {                                                                                               \
        T *d = dst;                                                                                 \
        const T *a = first, *b = second;                                                            \
        size_t i = 0;                                                                               \
        (void)third;                                                                                \
        for (; i + WIDTH <= n; i += WIDTH) {                                                        \
            const V x = NAME(read)(a + i), y = NAME(read)(b + i);                                   \
            (void)y;                                                                                \
            NAME(write)(d + i, expression);                                                         \
        }                                                                                           \
        if (i < n) {                                                                                \
            T left[WIDTH] = {0}, right[WIDTH] = {0};                                                \
            memcpy(left, a + i, (n - i) * sizeof(T));                                               \
            memcpy(right, b + i, (n - i) * sizeof(T));                                              \
            const V x = NAME(read)(left), y = NAME(read)(right);                                    \
            (void)y;                                                                                \
            NAME(write)(left, expression);                                                          \
            memcpy(d + i, left, (n - i) * sizeof(T));                                               \
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

BINARY(add, x + y)
BINARY(subtract, x - y)
BINARY(multiply, x *y)
BINARY(divide, x / y)
UNARY(negate, -x)
UNARY(magnitude, ABSOLUTE(x))
UNARY(sign_of, x > 0 ? (T)1 : x < 0 ? (T)-1 : x == 0 ? (T)0 : x)
UNARY(square, x *x)
BINARY(larger_of, x >= y || x != x ? x : y)
BINARY(smaller_of, x <= y || x != x ? x : y)
BY_VECTORS(exponential, NAME(exp_of)(x))
BY_VECTORS(exponential_of_difference, NAME(exp_of_difference)(x, y))
BY_VECTORS(exponential_of_product, NAME(exp_of_product)(x, y))
BY_VECTORS(logarithm, NAME(log_of)(x))
BY_VECTORS(logarithm_1p, NAME(log1p_of)(x))
BY_VECTORS(logarithm_of_odds, NAME(log_of_odds)(x))
UNARY(square_root, SQUARE_ROOT(x))
COMPARISON(is_less, x < y)
COMPARISON(is_less_equal, x <= y)
COMPARISON(is_equal, x == y)
COMPARISON(is_not_equal, x != y)
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
        d[i] = mask[i] ? (T)1 : (T)0;
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
LOAD_FROM(load_u16, uint16_t)
LOAD_FROM(load_u32, uint32_t)
LOAD_FROM(load_u64, uint64_t)

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

/* Sums of products, which are exact where the lanes are float. */
static void NAME(row_dot)(double *partials, const void *lanes, const void *others, size_t n)
{
    const T *a = lanes, *b = others;
    double sums[PARTIALS];
    size_t i = 0;
    memcpy(sums, partials, sizeof sums);
    for (; i + PARTIALS <= n; i += PARTIALS) {
        for (size_t k = 0; k < PARTIALS; k++) {
            sums[k] += (double)a[i + k] * (double)b[i + k];
        }
    }
    for (size_t k = 0; i + k < n; k++) {
        sums[k] += (double)a[i + k] * (double)b[i + k];
    }
    memcpy(partials, sums, sizeof sums);
}

/* The larger of each pair; NaN is larger than everything. */
static void NAME(row_max)(void *partials, const void *lanes, size_t n)
{
    enum { VECTORS = PARTIALS / WIDTH };
    const T *a = lanes;
    T *best = partials;
    V largest[VECTORS];
    size_t i = 0;
    for (size_t k = 0; k < VECTORS; k++) {
        largest[k] = NAME(read)(best + k * WIDTH);
    }
    for (; i + PARTIALS <= n; i += PARTIALS) {
        for (size_t k = 0; k < VECTORS; k++) {
            const V value = NAME(read)(a + i + k * WIDTH);
            largest[k] = NAME(maximum)(largest[k], value);
        }
    }
    for (size_t k = 0; k < VECTORS; k++) {
        NAME(write)(best + k * WIDTH, largest[k]);
    }
    for (; i < n; i++, best++) {
        *best = a[i] > *best || a[i] != a[i] ? a[i] : *best;
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

static void NAME(lane_dot)(double *sums, const void *lanes, const void *others, size_t n)
{
    const T *a = lanes, *b = others;
    EACH
    {
        sums[i] += (double)a[i] * (double)b[i];
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
#undef BY_VECTORS
#undef COMPARISON
#undef LOGICAL
#undef LOAD_FROM
#undef STORE_TO

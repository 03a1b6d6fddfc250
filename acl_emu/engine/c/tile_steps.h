/* The single steps on registers, and reductions of them; included by engine_tile.c. Every loop calls the functions of functions.h and is vectorised; for
 * that, truth values are bytes in registers: gcc has no vectors of bool. */

#define TYPES_OF_FLOATS(X) X(f32, float) X(f64, double)
#define TYPES_OF_WHOLE(X) \
    X(i8, int8_t) X(u8, uint8_t) X(i16, int16_t) X(u16, uint16_t) X(i32, int32_t) X(u32, uint32_t) X(i64, int64_t) X(u64, uint64_t)
#define ALL_TYPES(X) TYPES_OF_FLOATS(X) TYPES_OF_WHOLE(X) X(b8, uint8_t)

#define EACH INDEPENDENT for (size_t i = 0; i < n; i++)

#define STEP_1(name, t, T, R)                                                                                \
    static void step_##name##_##t(void *const *results, const void *const *arguments, size_t n)              \
    {                                                                                                        \
        R *d = results[0];                                                                                   \
        const T *a = arguments[0];                                                                           \
        EACH                                                                                                 \
        {                                                                                                    \
            d[i] = name##_##t(a[i]);                                                                         \
        }                                                                                                    \
    }
#define STEP_2(name, t, T, R)                                                                                \
    static void step_##name##_##t(void *const *results, const void *const *arguments, size_t n)              \
    {                                                                                                        \
        R *d = results[0];                                                                                   \
        const T *a = arguments[0], *b = arguments[1];                                                        \
        EACH                                                                                                 \
        {                                                                                                    \
            d[i] = name##_##t(a[i], b[i]);                                                                   \
        }                                                                                                    \
    }
#define STEP_WHERE(t, T)                                                                                     \
    static void step_where_##t(void *const *results, const void *const *arguments, size_t n)                 \
    {                                                                                                        \
        T *d = results[0];                                                                                   \
        const uint8_t *chosen = arguments[0];                                                                   \
        const T *a = arguments[1], *b = arguments[2];                                                        \
        EACH                                                                                                 \
        {                                                                                                    \
            d[i] = where_##t(chosen[i], a[i], b[i]);                                                         \
        }                                                                                                    \
    }
#define NAMED(name, t) {#name "." #t, step_##name##_##t},

/* What there is, by types: each list is gone through once for the functions and once for their names. */
#define OF_FLOATS(F1, F2, t, T)                                                                              \
    F1(negative, t, T, T) F1(square, t, T, T) F1(reciprocal, t, T, T) F1(absolute, t, T, T) F1(sign, t, T, T) \
    F1(sqrt, t, T, T) F1(rsqrt, t, T, T) F1(floor, t, T, T) F1(ceil, t, T, T) F1(trunc, t, T, T) F1(rint, t, T, T) \
    F1(exp, t, T, T) F1(log, t, T, T) F1(log1p, t, T, T)                                                     \
    F1(isnan, t, T, uint8_t) F1(isinf, t, T, uint8_t) F1(isfinite, t, T, uint8_t)                                     \
    F2(add, t, T, T) F2(subtract, t, T, T) F2(multiply, t, T, T) F2(divide, t, T, T) F2(maximum, t, T, T)    \
    F2(minimum, t, T, T) F2(fmax, t, T, T) F2(fmin, t, T, T) F2(copysign, t, T, T) F2(fmod, t, T, T)         \
    F2(remainder, t, T, T) F2(floor_divide, t, T, T)
#define OF_FLOAT32(F1, F2)                                                                                   \
    F1(exp2, f32, float, float) F1(expm1, f32, float, float) F1(log2, f32, float, float) F1(log10, f32, float, float) \
    F1(sin, f32, float, float) F1(cos, f32, float, float) F1(tan, f32, float, float) F1(arcsin, f32, float, float) \
    F1(arccos, f32, float, float) F1(arctan, f32, float, float) F1(sinh, f32, float, float) F1(cosh, f32, float, float) \
    F1(tanh, f32, float, float) F1(arcsinh, f32, float, float) F1(arccosh, f32, float, float) F1(arctanh, f32, float, float) \
    F1(erf, f32, float, float) F1(erfc, f32, float, float) F2(power, f32, float, float) F2(arctan2, f32, float, float)
#define OF_WHOLE(F1, F2, t, T)                                                                               \
    F1(negative, t, T, T) F1(square, t, T, T) F1(absolute, t, T, T) F1(sign, t, T, T) F1(invert, t, T, T)    \
    F2(add, t, T, T) F2(subtract, t, T, T) F2(multiply, t, T, T) F2(maximum, t, T, T) F2(minimum, t, T, T)   \
    F2(bitwise_and, t, T, T) F2(bitwise_or, t, T, T) F2(bitwise_xor, t, T, T) F2(left_shift, t, T, T)        \
    F2(right_shift, t, T, T) F2(fmod, t, T, T) F2(remainder, t, T, T) F2(floor_divide, t, T, T)
#define OF_BOOL(F1, F2)                                                                                      \
    F1(logical_not, b8, uint8_t, uint8_t) F2(logical_and, b8, uint8_t, uint8_t) F2(logical_or, b8, uint8_t, uint8_t)           \
    F2(logical_xor, b8, uint8_t, uint8_t) F2(maximum, b8, uint8_t, uint8_t) F2(minimum, b8, uint8_t, uint8_t)
#define OF_ALL(F2, t, T) F2(less, t, T, uint8_t) F2(less_equal, t, T, uint8_t) F2(equal, t, T, uint8_t) F2(not_equal, t, T, uint8_t)

#define DEFINE_FLOATS(t, T) OF_FLOATS(STEP_1, STEP_2, t, T)
#define DEFINE_WHOLE(t, T) OF_WHOLE(STEP_1, STEP_2, t, T)
#define DEFINE_ALL(t, T) OF_ALL(STEP_2, t, T) STEP_WHERE(t, T)
TYPES_OF_FLOATS(DEFINE_FLOATS)
TYPES_OF_WHOLE(DEFINE_WHOLE)
ALL_TYPES(DEFINE_ALL)
OF_FLOAT32(STEP_1, STEP_2)
OF_BOOL(STEP_1, STEP_2)

#define NAME_STEP(name, t, T, R) NAMED(name, t)
#define NAME_FLOATS(t, T) OF_FLOATS(NAME_STEP, NAME_STEP, t, T)
#define NAME_WHOLE(t, T) OF_WHOLE(NAME_STEP, NAME_STEP, t, T)
#define NAME_ALL(t, T) OF_ALL(NAME_STEP, t, T) NAMED(where, t)

static const named_step steps[] = {
    TYPES_OF_FLOATS(NAME_FLOATS) TYPES_OF_WHOLE(NAME_WHOLE) ALL_TYPES(NAME_ALL) OF_FLOAT32(NAME_STEP, NAME_STEP) OF_BOOL(NAME_STEP, NAME_STEP)
};

/* Reductions. Floats are added up and multiplied in double, whole numbers in 64 bits, of which a narrower result takes the last: it wraps around. */

#define ACCUMULATE(name, t, T, A, start, expression)                                                         \
    static void begin_##name##_##t(void *accumulators, size_t count)                                         \
    {                                                                                                        \
        A *found = accumulators;                                                                             \
        for (size_t k = 0; k < count; k++) {                                                                 \
            found[k] = start;                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static inline A join_##name##_##t(A x, A y)                                                              \
    {                                                                                                        \
        return expression;                                                                                   \
    }                                                                                                        \
    static void lanes_##name##_##t(void *accumulators, const void *elements, size_t n, int64_t row)          \
    {                                                                                                        \
        A *found = accumulators;                                                                             \
        const T *a = elements;                                                                               \
        (void)row;                                                                                           \
        EACH                                                                                                 \
        {                                                                                                    \
            found[i] = join_##name##_##t(found[i], (A)a[i]);                                                 \
        }                                                                                                    \
    }                                                                                                        \
    static void merge_##name##_##t(void *accumulators, const void *others, size_t n)                         \
    {                                                                                                        \
        A *found = accumulators;                                                                             \
        const A *a = others;                                                                                 \
        EACH                                                                                                 \
        {                                                                                                    \
            found[i] = join_##name##_##t(found[i], a[i]);                                                    \
        }                                                                                                    \
    }                                                                                                        \
    static void finish_row_##name##_##t(void *result, const void *accumulators)                              \
    {                                                                                                        \
        A found[PARTIALS];                                                                                   \
        memcpy(found, accumulators, sizeof found);                                                           \
        for (size_t half = PARTIALS / 2; half; half /= 2) {                                                  \
            for (size_t k = 0; k < half; k++) {                                                              \
                found[k] = join_##name##_##t(found[k], found[k + half]);                                     \
            }                                                                                                \
        }                                                                                                    \
        memcpy(result, found, sizeof found[0]);                                                              \
    }                                                                                                        \
    static void finish_lanes_##name##_##t(void *results, const void *accumulators, size_t n)                 \
    {                                                                                                        \
        memcpy(results, accumulators, n * sizeof(A));                                                        \
    }
/* Along a row: element i belongs to accumulator i % PARTIALS. */
#define ROW_OF(name, t, T, A)                                                                                \
    static void row_##name##_##t(void *accumulators, const void *elements, size_t n, int64_t first)          \
    {                                                                                                        \
        A found[PARTIALS];                                                                                   \
        const T *a = elements;                                                                               \
        size_t i = 0;                                                                                        \
        (void)first;                                                                                         \
        memcpy(found, accumulators, sizeof found);                                                           \
        for (; i + PARTIALS <= n; i += PARTIALS) {                                                           \
            for (size_t k = 0; k < PARTIALS; k++) {                                                          \
                found[k] = join_##name##_##t(found[k], (A)a[i + k]);                                         \
            }                                                                                                \
        }                                                                                                    \
        for (size_t k = 0; i + k < n; k++) {                                                                 \
            found[k] = join_##name##_##t(found[k], (A)a[i + k]);                                             \
        }                                                                                                    \
        memcpy(accumulators, found, sizeof found);                                                           \
    }
/* The same of the largest and smallest, which gcc does not vectorise by itself: `keeps` says where what was found stays. */
#define ROW_ORDERED(name, t, T, I, keeps)                                                                    \
    static void row_##name##_##t(void *accumulators, const void *elements, size_t n, int64_t first)          \
    {                                                                                                        \
        typedef T numbers __attribute__((vector_size(PARTIALS * sizeof(T))));                                \
        typedef I masks __attribute__((vector_size(PARTIALS * sizeof(T))));                                  \
        numbers x, y;                                                                                        \
        T *found = accumulators;                                                                             \
        const T *a = elements;                                                                               \
        size_t i = 0;                                                                                        \
        (void)first;                                                                                         \
        memcpy(&x, found, sizeof x);                                                                         \
        for (; i + PARTIALS <= n; i += PARTIALS) {                                                           \
            memcpy(&y, a + i, sizeof y);                                                                     \
            const masks kept = (masks)(keeps);                                                               \
            x = (numbers)(((masks)x & kept) | ((masks)y & ~kept));                                           \
        }                                                                                                    \
        memcpy(found, &x, sizeof x);                                                                         \
        for (size_t k = 0; i + k < n; k++) {                                                                 \
            found[k] = join_##name##_##t(found[k], a[i + k]);                                                \
        }                                                                                                    \
    }
#define NAME_REDUCTION(kind, t, A, D)                                                                        \
    {.name = #kind "." #t, .dtype = D, .item = sizeof(A), .begin = begin_##kind##_##t, .row = row_##kind##_##t, .lanes = lanes_##kind##_##t, \
     .merge = merge_##kind##_##t, .finish_row = finish_row_##kind##_##t, .finish_lanes = finish_lanes_##kind##_##t},

/* Where the first of the largest or smallest is; NaN comes before all numbers. */
#define LOCATE(name, t, T, before)                                                                           \
    typedef struct {                                                                                         \
        T value;                                                                                             \
        int64_t at;                                                                                          \
    } located_##name##_##t;                                                                                  \
    static void begin_##name##_##t(void *accumulators, size_t count)                                         \
    {                                                                                                        \
        located_##name##_##t *found = accumulators;                                                          \
        for (size_t k = 0; k < count; k++) {                                                                 \
            found[k].at = -1;                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static inline void look_##name##_##t(located_##name##_##t *found, T x, int64_t at)                       \
    {                                                                                                        \
        const T y = found->value;                                                                            \
        const int is_first = found->at < 0 || before || (!(x != y) && at < found->at) || (x != x && y != y && at < found->at); \
        if (at >= 0 && is_first) {                                                                           \
            found->value = x;                                                                                \
            found->at = at;                                                                                  \
        }                                                                                                    \
    }                                                                                                        \
    static void row_##name##_##t(void *accumulators, const void *elements, size_t n, int64_t first)          \
    {                                                                                                        \
        const T *a = elements;                                                                               \
        for (size_t i = 0; i < n; i++) {                                                                     \
            look_##name##_##t((located_##name##_##t *)accumulators + i % PARTIALS, a[i], first + (int64_t)i); \
        }                                                                                                    \
    }                                                                                                        \
    static void lanes_##name##_##t(void *accumulators, const void *elements, size_t n, int64_t row)          \
    {                                                                                                        \
        const T *a = elements;                                                                               \
        for (size_t i = 0; i < n; i++) {                                                                     \
            look_##name##_##t((located_##name##_##t *)accumulators + i, a[i], row);                          \
        }                                                                                                    \
    }                                                                                                        \
    static void merge_##name##_##t(void *accumulators, const void *others, size_t n)                         \
    {                                                                                                        \
        const located_##name##_##t *more = others;                                                           \
        for (size_t i = 0; i < n; i++) {                                                                     \
            look_##name##_##t((located_##name##_##t *)accumulators + i, more[i].value, more[i].at);          \
        }                                                                                                    \
    }                                                                                                        \
    static void finish_row_##name##_##t(void *result, const void *accumulators)                              \
    {                                                                                                        \
        const located_##name##_##t *found = accumulators;                                                    \
        located_##name##_##t best = found[0];                                                                \
        for (size_t k = 1; k < PARTIALS; k++) {                                                              \
            look_##name##_##t(&best, found[k].value, found[k].at);                                           \
        }                                                                                                    \
        memcpy(result, &best.at, sizeof best.at);                                                            \
    }                                                                                                        \
    static void finish_lanes_##name##_##t(void *results, const void *accumulators, size_t n)                 \
    {                                                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                     \
            ((int64_t *)results)[i] = ((const located_##name##_##t *)accumulators)[i].at;                    \
        }                                                                                                    \
    }

/* What the accumulator is after each element. */
#define SCAN_OF(name, t, T, A, start, operator)                                                              \
    static void begin_##name##_##t(void *accumulators, size_t count)                                         \
    {                                                                                                        \
        A *found = accumulators;                                                                             \
        for (size_t k = 0; k < count; k++) {                                                                 \
            found[k] = start;                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void scan_row_##name##_##t(void *results, void *accumulator, const void *elements, size_t n)      \
    {                                                                                                        \
        A so_far;                                                                                            \
        T *d = results;                                                                                      \
        const T *a = elements;                                                                               \
        memcpy(&so_far, accumulator, sizeof so_far);                                                         \
        for (size_t i = 0; i < n; i++) {                                                                     \
            so_far = so_far operator(A) a[i];                                                                \
            d[i] = (T)so_far;                                                                                \
        }                                                                                                    \
        memcpy(accumulator, &so_far, sizeof so_far);                                                         \
    }                                                                                                        \
    static void scan_lanes_##name##_##t(void *results, void *accumulators, const void *elements, size_t n)   \
    {                                                                                                        \
        A *found = accumulators;                                                                             \
        T *d = results;                                                                                      \
        const T *a = elements;                                                                               \
        EACH                                                                                                 \
        {                                                                                                    \
            found[i] = found[i] operator(A) a[i];                                                            \
            d[i] = (T)found[i];                                                                              \
        }                                                                                                    \
    }
#define NAME_SCAN(kind, t, A, D)                                                                             \
    {.name = #kind "." #t, .dtype = D, .item = sizeof(A), .begin = begin_##kind##_##t, .scan_row = scan_row_##kind##_##t, .scan_lanes = scan_lanes_##kind##_##t},

/* The larger of two; NaN is larger than everything, and of all smaller ones as well. */
#define ORDERED(t, T, I, least, most)                                                                        \
    ACCUMULATE(max, t, T, T, least, maximum_##t(x, y))                                                       \
    ACCUMULATE(min, t, T, T, most, minimum_##t(x, y))                                                        \
    ROW_ORDERED(max, t, T, I, (x >= y) | (x != x))                                                           \
    ROW_ORDERED(min, t, T, I, (x <= y) | (x != x))
#define LOCATED(t, T)                                                                                        \
    LOCATE(argmax, t, T, x > y || (x != x && y == y))                                                        \
    LOCATE(argmin, t, T, x < y || (x != x && y == y))

#define REDUCE_FLOAT(t, T)                                                                                   \
    ACCUMULATE(sum, t, T, double, 0, x + y)                                                                  \
    ACCUMULATE(prod, t, T, double, 1, x * y)                                                                 \
    ROW_OF(sum, t, T, double)                                                                                \
    ROW_OF(prod, t, T, double)                                                                               \
    SCAN_OF(cumsum, t, T, double, 0, +)                                                                      \
    SCAN_OF(cumprod, t, T, double, 1, *)                                                                     \
    LOCATED(t, T)
#define REDUCE_WHOLE(t, T)                                                                                   \
    ACCUMULATE(sum, t, T, uint64_t, 0, x + y)                                                                \
    ACCUMULATE(prod, t, T, uint64_t, 1, x * y)                                                               \
    ROW_OF(sum, t, T, uint64_t)                                                                              \
    ROW_OF(prod, t, T, uint64_t)                                                                             \
    LOCATED(t, T)

TYPES_OF_FLOATS(REDUCE_FLOAT)
TYPES_OF_WHOLE(REDUCE_WHOLE)
SCAN_OF(cumsum, i64, int64_t, uint64_t, 0, +)
SCAN_OF(cumprod, i64, int64_t, uint64_t, 1, *)
ORDERED(f32, float, int32_t, -(float)INFINITY, (float)INFINITY)
ORDERED(f64, double, int64_t, -INFINITY, INFINITY)
ORDERED(i8, int8_t, int8_t, INT8_MIN, INT8_MAX)
ORDERED(u8, uint8_t, int8_t, 0, UINT8_MAX)
ORDERED(i16, int16_t, int16_t, INT16_MIN, INT16_MAX)
ORDERED(u16, uint16_t, int16_t, 0, UINT16_MAX)
ORDERED(i32, int32_t, int32_t, INT32_MIN, INT32_MAX)
ORDERED(u32, uint32_t, int32_t, 0, UINT32_MAX)
ORDERED(i64, int64_t, int64_t, INT64_MIN, INT64_MAX)
ORDERED(u64, uint64_t, int64_t, 0, UINT64_MAX)
ORDERED(b8, uint8_t, int8_t, 0, 1)

#define NAME_LOCATED(t) NAME_REDUCTION(argmax, t, located_argmax_##t, I64) NAME_REDUCTION(argmin, t, located_argmin_##t, I64)
#define NAME_FLOAT_REDUCTIONS(t, T, D)                                                                       \
    NAME_REDUCTION(sum, t, double, F64) NAME_REDUCTION(prod, t, double, F64) NAME_REDUCTION(max, t, T, D) NAME_REDUCTION(min, t, T, D) \
    NAME_SCAN(cumsum, t, double, D) NAME_SCAN(cumprod, t, double, D) NAME_LOCATED(t)
#define NAME_WHOLE_REDUCTIONS(t, T, D)                                                                       \
    NAME_REDUCTION(sum, t, uint64_t, I64) NAME_REDUCTION(prod, t, uint64_t, I64) NAME_REDUCTION(max, t, T, D) NAME_REDUCTION(min, t, T, D) \
    NAME_LOCATED(t)

static const reduction reductions[] = {
    NAME_FLOAT_REDUCTIONS(f32, float, F32) NAME_FLOAT_REDUCTIONS(f64, double, F64) NAME_WHOLE_REDUCTIONS(i8, int8_t, I8)
    NAME_WHOLE_REDUCTIONS(u8, uint8_t, U8) NAME_WHOLE_REDUCTIONS(i16, int16_t, I16) NAME_WHOLE_REDUCTIONS(u16, uint16_t, U16)
    NAME_WHOLE_REDUCTIONS(i32, int32_t, I32) NAME_WHOLE_REDUCTIONS(u32, uint32_t, U32) NAME_WHOLE_REDUCTIONS(i64, int64_t, I64)
    NAME_WHOLE_REDUCTIONS(u64, uint64_t, U64) NAME_REDUCTION(max, b8, uint8_t, BOOL8) NAME_REDUCTION(min, b8, uint8_t, BOOL8)
    NAME_SCAN(cumsum, i64, uint64_t, I64) NAME_SCAN(cumprod, i64, uint64_t, I64)
};

#undef EACH

/* The single steps on registers, and reductions of them; included by engine_tile.c. Every loop calls the functions of functions.h and is vectorised; for
 * that, truth values are bytes in registers: gcc has no vectors of bool. */

#define TYPES_OF_FLOATS(X) X(f32, float) X(f64, double)
#define TYPES_OF_INTEGER(X) \
    X(i8, int8_t) X(u8, uint8_t) X(i16, int16_t) X(u16, uint16_t) X(i32, int32_t) X(u32, uint32_t) X(i64, int64_t) X(u64, uint64_t)
#define ALL_TYPES(X) TYPES_OF_FLOATS(X) TYPES_OF_INTEGER(X) X(b8, uint8_t)

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

/* What there is, by types: each list is expanded once for the functions and once for their names. */
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
#define OF_INTEGER(F1, F2, t, T)                                                                               \
    F1(negative, t, T, T) F1(square, t, T, T) F1(absolute, t, T, T) F1(sign, t, T, T) F1(invert, t, T, T)    \
    F2(add, t, T, T) F2(subtract, t, T, T) F2(multiply, t, T, T) F2(maximum, t, T, T) F2(minimum, t, T, T)   \
    F2(bitwise_and, t, T, T) F2(bitwise_or, t, T, T) F2(bitwise_xor, t, T, T) F2(left_shift, t, T, T)        \
    F2(right_shift, t, T, T) F2(fmod, t, T, T) F2(remainder, t, T, T) F2(floor_divide, t, T, T)
#define OF_BOOL(F1, F2)                                                                                      \
    F1(logical_not, b8, uint8_t, uint8_t) F2(logical_and, b8, uint8_t, uint8_t) F2(logical_or, b8, uint8_t, uint8_t)           \
    F2(logical_xor, b8, uint8_t, uint8_t) F2(maximum, b8, uint8_t, uint8_t) F2(minimum, b8, uint8_t, uint8_t)
#define OF_ALL(F2, t, T) F2(less, t, T, uint8_t) F2(less_equal, t, T, uint8_t) F2(equal, t, T, uint8_t) F2(not_equal, t, T, uint8_t)

#define DEFINE_FLOATS(t, T) OF_FLOATS(STEP_1, STEP_2, t, T)
#define DEFINE_INTEGER(t, T) OF_INTEGER(STEP_1, STEP_2, t, T)
#define DEFINE_ALL(t, T) OF_ALL(STEP_2, t, T) STEP_WHERE(t, T)
TYPES_OF_FLOATS(DEFINE_FLOATS)
TYPES_OF_INTEGER(DEFINE_INTEGER)
ALL_TYPES(DEFINE_ALL)
OF_FLOAT32(STEP_1, STEP_2)
OF_BOOL(STEP_1, STEP_2)

#define NAME_STEP(name, t, T, R) NAMED(name, t)
#define NAME_FLOATS(t, T) OF_FLOATS(NAME_STEP, NAME_STEP, t, T)
#define NAME_INTEGER(t, T) OF_INTEGER(NAME_STEP, NAME_STEP, t, T)
#define NAME_ALL(t, T) OF_ALL(NAME_STEP, t, T) NAMED(where, t)

static const named_step steps[] = {
    TYPES_OF_FLOATS(NAME_FLOATS) TYPES_OF_INTEGER(NAME_INTEGER) ALL_TYPES(NAME_ALL) OF_FLOAT32(NAME_STEP, NAME_STEP) OF_BOOL(NAME_STEP, NAME_STEP)
};

/* Reductions. Floats are added up and multiplied in double, integers in 64 bits, of which a narrower result takes the last: it wraps around. */

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
    static inline void join_lines_##name##_##t(A *found, const char *line, size_t n, int64_t rows, int64_t pitch) \
    {                                                                                                        \
        for (; rows; rows--, line += pitch) {                                                                \
            const T *a = (const T *)line;                                                                    \
            EACH                                                                                             \
            {                                                                                                \
                found[i] = join_##name##_##t(found[i], (A)a[i]);                                             \
            }                                                                                                \
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
    static void finish_lanes_##name##_##t(void *results, const void *accumulators, size_t n)                 \
    {                                                                                                        \
        memcpy(results, accumulators, n * sizeof(A));                                                        \
    }
/* Of what is not float. Along a row element i belongs to accumulator i % PARTIALS. */
#define ROW_OF(name, t, T, A)                                                                                \
    static void lanes_##name##_##t(void *accumulators, const void *elements, size_t n, int64_t row, int64_t rows, int64_t pitch) \
    {                                                                                                        \
        (void)row;                                                                                           \
        join_lines_##name##_##t(accumulators, elements, n, rows, pitch);                                     \
    }                                                                                                        \
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
    }

/* Floats, PARTIALS of them at a time in vectors: gcc does not find all of this by itself. */
typedef struct {
    float_vector part[PARTIALS / FLOATS];
} floats_beside;

typedef struct {
    double_vector part[PARTIALS / DOUBLES];
} doubles_beside;

/* Stored numbers as they are added up and compared; `some` reads a vector of floats. */
#define READ_BESIDE(s, stored, some)                                                                         \
    static inline doubles_beside read_##s##_double(const stored *memory)                                     \
    {                                                                                                        \
        doubles_beside x;                                                                                    \
        for (size_t k = 0; k < PARTIALS / FLOATS; k++) {                                                     \
            const float_vector values = some(memory + k * FLOATS);                                           \
            x.part[2 * k] = lower_half(values);                                                              \
            x.part[2 * k + 1] = upper_half(values);                                                          \
        }                                                                                                    \
        return x;                                                                                            \
    }                                                                                                        \
    static inline floats_beside read_##s##_float(const stored *memory)                                       \
    {                                                                                                        \
        floats_beside x;                                                                                     \
        for (size_t k = 0; k < PARTIALS / FLOATS; k++) {                                                     \
            x.part[k] = some(memory + k * FLOATS);                                                           \
        }                                                                                                    \
        return x;                                                                                            \
    }
READ_BESIDE(f32, float, read_float)
READ_BESIDE(f16, uint16_t, read_f16)
READ_BESIDE(bf16, uint16_t, read_bf16)

#define READ_AND_WRITE(T, many)                                                                              \
    static inline many##_beside read_##many(const T *memory)                                                 \
    {                                                                                                        \
        many##_beside x;                                                                                     \
        for (size_t k = 0; k < sizeof x / VECTOR_BYTES; k++) {                                               \
            x.part[k] = read_##T(memory + k * (VECTOR_BYTES / sizeof(T)));                                   \
        }                                                                                                    \
        return x;                                                                                            \
    }                                                                                                        \
    static inline void write_##many(T *memory, many##_beside x)                                              \
    {                                                                                                        \
        for (size_t k = 0; k < sizeof x / VECTOR_BYTES; k++) {                                               \
            write_##T(memory + k * (VECTOR_BYTES / sizeof(T)), x.part[k]);                                   \
        }                                                                                                    \
    }
READ_AND_WRITE(float, floats)
READ_AND_WRITE(double, doubles)
#define read_f64_double read_doubles

#define ADDED(x, y) ((x) + (y))
#define MULTIPLIED(x, y) ((x) * (y))

/* Groups of PARTIALS whose accumulators fit in the registers. */
#if defined(HAS_64)
enum { GROUPS = 4 };
#else
enum { GROUPS = 2 };
#endif

/* V: joins vectors; S: joins some numbers side by side, of any vector type, whose masks are of type I. */
#define FLOAT_TOTALS(name, t, T, A, I, V, S, start)                                                          \
    static inline A##s_beside beside_##name##_##t(A##s_beside x, A##s_beside y)                              \
    {                                                                                                        \
        for (size_t k = 0; k < sizeof x.part / sizeof x.part[0]; k++) {                                      \
            x.part[k] = V(x.part[k], y.part[k]);                                                             \
        }                                                                                                    \
        return x;                                                                                            \
    }                                                                                                        \
    static inline A##s_beside none_##name##_##t(void)                                                        \
    {                                                                                                        \
        A##s_beside none;                                                                                    \
        for (size_t k = 0; k < sizeof none.part / sizeof none.part[0]; k++) {                                \
            none.part[k] = all_##A(start);                                                                   \
        }                                                                                                    \
        return none;                                                                                         \
    }                                                                                                        \
    static inline A total_##name##_##t(A##s_beside x)                                                        \
    {                                                                                                        \
        typedef A eight __attribute__((vector_size(8 * sizeof(A))));                                         \
        typedef A four __attribute__((vector_size(4 * sizeof(A))));                                          \
        typedef I eight_masks __attribute__((vector_size(8 * sizeof(A)), unused));                           \
        typedef I four_masks __attribute__((vector_size(4 * sizeof(A)), unused));                            \
        A found[PARTIALS];                                                                                   \
        eight p, q;                                                                                          \
        four v, w;                                                                                           \
        write_##A##s(found, x);                                                                              \
        __asm__("" : "+m"(found)); /* else gcc 12 keeps all of x in memory, from the first element on */     \
        memcpy(&p, found, sizeof p);                                                                         \
        memcpy(&q, found + 8, sizeof q);                                                                     \
        p = S(eight, eight_masks, p, q);                                                                     \
        memcpy(&v, &p, sizeof v);                                                                            \
        memcpy(&w, (const char *)&p + sizeof v, sizeof w);                                                   \
        v = S(four, four_masks, v, w);                                                                       \
        w = (four){v[2], v[3], v[0], v[1]};                                                                  \
        v = S(four, four_masks, v, w);                                                                       \
        w = (four){v[1], v[0], v[3], v[2]};                                                                  \
        v = S(four, four_masks, v, w);                                                                       \
        return v[0];                                                                                         \
    }                                                                                                        \
    static void finish_row_##name##_##t(void *result, const void *accumulators)                              \
    {                                                                                                        \
        *(A *)result = total_##name##_##t(read_##A##s(accumulators));                                        \
    }

/* Of elements that are stored as one type, and computed with as type t. A row is added up in GROUPS chains, which do not wait for each other. */
#define FLOAT_ROWS(name, from, stored, t, T, A, start)                                                       \
    static inline A##s_beside along_##name##_##from(A##s_beside x, const stored *a, size_t n)                \
    {                                                                                                        \
        const size_t ends = n / PARTIALS * PARTIALS;                                                         \
        size_t i = 0;                                                                                        \
        T rest[PARTIALS]; /* made first: no vector stays in its register over a call */                      \
        if (ends < n) {                                                                                      \
            for (size_t k = 0; k < PARTIALS; k++) {                                                          \
                rest[k] = (T)(start); /* which changes nothing */                                            \
            }                                                                                                \
            widen_##from(rest, a + ends, n - ends);                                                          \
        }                                                                                                    \
        if (n >= 2 * GROUPS * PARTIALS) {                                                                    \
            A##s_beside chain[GROUPS];                                                                       \
            for (size_t k = 0; k < GROUPS; k++) {                                                            \
                chain[k] = none_##name##_##t();                                                              \
            }                                                                                                \
            for (; i + GROUPS * PARTIALS <= n; i += GROUPS * PARTIALS) {                                     \
                for (size_t k = 0; k < GROUPS; k++) {                                                        \
                    chain[k] = beside_##name##_##t(chain[k], read_##from##_##A(a + i + k * PARTIALS));       \
                }                                                                                            \
            }                                                                                                \
            for (size_t k = 0; k < GROUPS; k++) {                                                            \
                x = beside_##name##_##t(x, chain[k]);                                                        \
            }                                                                                                \
        }                                                                                                    \
        for (; i < ends; i += PARTIALS) {                                                                    \
            x = beside_##name##_##t(x, read_##from##_##A(a + i));                                            \
        }                                                                                                    \
        return ends < n ? beside_##name##_##t(x, read_##t##_##A(rest)) : x;                                  \
    }                                                                                                        \
    static void row_##name##_##from(void *accumulators, const void *elements, size_t n, int64_t first)       \
    {                                                                                                        \
        (void)first;                                                                                         \
        write_##A##s(accumulators, along_##name##_##from(read_##A##s(accumulators), elements, n));           \
    }                                                                                                        \
    static void rows_##name##_##from(void *results, const void *elements, size_t n, size_t rows)             \
    {                                                                                                        \
        A *d = results;                                                                                      \
        const A##s_beside none = none_##name##_##t();                                                        \
        for (const stored *a = elements; rows; rows--, a += n, d++) {                                        \
            *d = total_##name##_##t(along_##name##_##from(none, a, n));                                      \
        }                                                                                                    \
    }                                                                                                        \
    static void lanes_##name##_##from(void *accumulators, const void *elements, size_t n, int64_t row, int64_t rows, int64_t pitch)\
    {                                                                                                        \
        A *found = accumulators;                                                                             \
        const char *first = elements;                                                                        \
        size_t i = 0;                                                                                        \
        (void)row;                                                                                           \
        for (; i + GROUPS * PARTIALS <= n; i += GROUPS * PARTIALS) {                                         \
            A##s_beside x[GROUPS];                                                                           \
            const char *line = first + i * sizeof(stored);                                                   \
            for (size_t k = 0; k < GROUPS; k++) {                                                            \
                x[k] = read_##A##s(found + i + k * PARTIALS);                                                \
            }                                                                                                \
            for (int64_t r = 0; r < rows; r++, line += pitch) {                                              \
                for (size_t k = 0; k < GROUPS; k++) {                                                        \
                    x[k] = beside_##name##_##t(x[k], read_##from##_##A((const stored *)line + k * PARTIALS));\
                }                                                                                            \
            }                                                                                                \
            for (size_t k = 0; k < GROUPS; k++) {                                                            \
                write_##A##s(found + i + k * PARTIALS, x[k]);                                                \
            }                                                                                                \
        }                                                                                                    \
        for (const char *line = first + i * sizeof(stored); rows && i < n; rows--, line += pitch) {          \
            T rest[GROUPS * PARTIALS];                                                                       \
            widen_##from(rest, line, n - i);                                                                 \
            join_lines_##name##_##t(found + i, (const char *)rest, n - i, 1, 0);                             \
        }                                                                                                    \
    }
#define widen_f32(to, from, n) memcpy(to, from, (n) * sizeof(float))
#define widen_f64(to, from, n) memcpy(to, from, (n) * sizeof(double))
#define widen_f16 load_f16_float
#define widen_bf16 load_bf16_float
#define ROWS_OF_f32(name, A, start)                                                                          \
    FLOAT_ROWS(name, f32, float, f32, float, A, start)                                                       \
    FLOAT_ROWS(name, f16, uint16_t, f32, float, A, start)                                                    \
    FLOAT_ROWS(name, bf16, uint16_t, f32, float, A, start)
#define ROWS_OF_f64(name, A, start) FLOAT_ROWS(name, f64, double, f64, double, A, start)
#define SUM_BESIDE(V, M, x, y) ((x) + (y))
#define PRODUCT_BESIDE(V, M, x, y) ((x) * (y))
#define KEPT_BESIDE(V, M, x, y, keeps) ((V)(((M)x & (M)(keeps)) | ((M)y & ~(M)(keeps))))
#define LARGEST_BESIDE(V, M, x, y) KEPT_BESIDE(V, M, x, y, (x >= y) | (x != x))
#define SMALLEST_BESIDE(V, M, x, y) KEPT_BESIDE(V, M, x, y, (x <= y) | (x != x))

#define NAME_REDUCTION(kind, t, A, D) NAMED_REDUCTION(kind, t, A, D, {row_##kind##_##t}, {lanes_##kind##_##t}, {NULL})
#define NAME_f64_REDUCTION(kind, A, D) NAMED_REDUCTION(kind, f64, A, D, {row_##kind##_f64}, {lanes_##kind##_f64}, {rows_##kind##_f64})
#define NAME_f32_REDUCTION(kind, A, D)                                                                       \
    NAMED_REDUCTION(kind, f32, A, D, STORED(row_##kind), STORED(lanes_##kind), STORED(rows_##kind))
#define STORED(function) {function##_f32, function##_f16, function##_bf16}
#define NAMED_REDUCTION(kind, t, A, D, ...)                                                                  \
    {#kind "." #t, D, sizeof(A), begin_##kind##_##t, __VA_ARGS__, merge_##kind##_##t, finish_row_##kind##_##t, finish_lanes_##kind##_##t, NULL, NULL},

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
    static void lanes_##name##_##t(void *accumulators, const void *elements, size_t n, int64_t row, int64_t rows, int64_t pitch) \
    {                                                                                                        \
        const char *line = elements;                                                                         \
        for (const int64_t end = row + rows; row < end; row++, line += pitch) {                              \
            for (size_t i = 0; i < n; i++) {                                                                 \
                look_##name##_##t((located_##name##_##t *)accumulators + i, ((const T *)line)[i], row);      \
            }                                                                                                \
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
#define ORDERED(t, T, least, most)                                                                           \
    ACCUMULATE(max, t, T, T, least, maximum_##t(x, y))                                                       \
    ACCUMULATE(min, t, T, T, most, minimum_##t(x, y))
#define ORDERED_INTEGER(t, T, least, most)                                                                     \
    ORDERED(t, T, least, most)                                                                               \
    ROW_OF(max, t, T, T)                                                                                     \
    ROW_OF(min, t, T, T)
#define ORDERED_FLOAT(t, T, I)                                                                               \
    ORDERED(t, T, -(T)INFINITY, (T)INFINITY)                                                                 \
    FLOAT_TOTALS(max, t, T, T, I, maximum_##T, LARGEST_BESIDE, -(T)INFINITY)                                 \
    FLOAT_TOTALS(min, t, T, T, I, minimum_##T, SMALLEST_BESIDE, (T)INFINITY)                                 \
    ROWS_OF_##t(max, T, -(T)INFINITY)                                                                        \
    ROWS_OF_##t(min, T, (T)INFINITY)
#define LOCATED(t, T)                                                                                        \
    LOCATE(argmax, t, T, x > y || (x != x && y == y))                                                        \
    LOCATE(argmin, t, T, x < y || (x != x && y == y))

#define REDUCE_FLOAT(t, T)                                                                                   \
    ACCUMULATE(sum, t, T, double, 0, x + y)                                                                  \
    ACCUMULATE(prod, t, T, double, 1, x * y)                                                                 \
    FLOAT_TOTALS(sum, t, T, double, int64_t, ADDED, SUM_BESIDE, 0)                                           \
    FLOAT_TOTALS(prod, t, T, double, int64_t, MULTIPLIED, PRODUCT_BESIDE, 1)                                 \
    ROWS_OF_##t(sum, double, 0)                                                                              \
    ROWS_OF_##t(prod, double, 1)                                                                             \
    SCAN_OF(cumsum, t, T, double, 0, +)                                                                      \
    SCAN_OF(cumprod, t, T, double, 1, *)                                                                     \
    LOCATED(t, T)
#define REDUCE_INTEGER(t, T)                                                                                   \
    ACCUMULATE(sum, t, T, uint64_t, 0, x + y)                                                                \
    ACCUMULATE(prod, t, T, uint64_t, 1, x * y)                                                               \
    ROW_OF(sum, t, T, uint64_t)                                                                              \
    ROW_OF(prod, t, T, uint64_t)                                                                             \
    LOCATED(t, T)

TYPES_OF_FLOATS(REDUCE_FLOAT)
TYPES_OF_INTEGER(REDUCE_INTEGER)
SCAN_OF(cumsum, i64, int64_t, uint64_t, 0, +)
SCAN_OF(cumprod, i64, int64_t, uint64_t, 1, *)
ORDERED_FLOAT(f32, float, int32_t)
ORDERED_FLOAT(f64, double, int64_t)
ORDERED_INTEGER(i8, int8_t, INT8_MIN, INT8_MAX)
ORDERED_INTEGER(u8, uint8_t, 0, UINT8_MAX)
ORDERED_INTEGER(i16, int16_t, INT16_MIN, INT16_MAX)
ORDERED_INTEGER(u16, uint16_t, 0, UINT16_MAX)
ORDERED_INTEGER(i32, int32_t, INT32_MIN, INT32_MAX)
ORDERED_INTEGER(u32, uint32_t, 0, UINT32_MAX)
ORDERED_INTEGER(i64, int64_t, INT64_MIN, INT64_MAX)
ORDERED_INTEGER(u64, uint64_t, 0, UINT64_MAX)
ORDERED_INTEGER(b8, uint8_t, 0, 1)

#define NAME_LOCATED(t) NAME_REDUCTION(argmax, t, located_argmax_##t, I64) NAME_REDUCTION(argmin, t, located_argmin_##t, I64)
#define NAME_FLOAT_REDUCTIONS(t, T, D)                                                                       \
    NAME_##t##_REDUCTION(sum, double, F64) NAME_##t##_REDUCTION(prod, double, F64)                           \
    NAME_##t##_REDUCTION(max, T, D) NAME_##t##_REDUCTION(min, T, D)                                          \
    NAME_SCAN(cumsum, t, double, D) NAME_SCAN(cumprod, t, double, D) NAME_LOCATED(t)
#define NAME_INTEGER_REDUCTIONS(t, T, D)                                                                       \
    NAME_REDUCTION(sum, t, uint64_t, I64) NAME_REDUCTION(prod, t, uint64_t, I64) NAME_REDUCTION(max, t, T, D) NAME_REDUCTION(min, t, T, D) \
    NAME_LOCATED(t)

static const reduction reductions[] = {
    NAME_FLOAT_REDUCTIONS(f32, float, F32) NAME_FLOAT_REDUCTIONS(f64, double, F64) NAME_INTEGER_REDUCTIONS(i8, int8_t, I8)
    NAME_INTEGER_REDUCTIONS(u8, uint8_t, U8) NAME_INTEGER_REDUCTIONS(i16, int16_t, I16) NAME_INTEGER_REDUCTIONS(u16, uint16_t, U16)
    NAME_INTEGER_REDUCTIONS(i32, int32_t, I32) NAME_INTEGER_REDUCTIONS(u32, uint32_t, U32) NAME_INTEGER_REDUCTIONS(i64, int64_t, I64)
    NAME_INTEGER_REDUCTIONS(u64, uint64_t, U64) NAME_REDUCTION(max, b8, uint8_t, BOOL8) NAME_REDUCTION(min, b8, uint8_t, BOOL8)
    NAME_SCAN(cumsum, i64, uint64_t, I64) NAME_SCAN(cumprod, i64, uint64_t, I64)
};

#undef EACH

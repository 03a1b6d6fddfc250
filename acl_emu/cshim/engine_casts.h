/* Numbers of one type as another, and arithmetic on lanes of whole numbers; included by engine_tile.c, which has the casts to float and double.
 *
 * load_<from>_<to>: the type of lanes is one of memory, or w8 ... w64, whole numbers of so many bits, which are the same with and without a sign.
 * All is defined by what numpy computes (aclnnop/math/conversion.py): whole numbers wrap around; floats are cut off towards zero, NaN is 0, and
 * what is too large becomes the largest number of 32 and 64 bits, of which narrower ones are the last bits; every other number is rounded once. */

#define EACH _Pragma("GCC ivdep") for (size_t i = 0; i < n; i++)

#define CAST(from, from_type, to, to_type, expression)                                      \
    static void load_##from##_##to(void *lanes, const void *memory, size_t n)               \
    {                                                                                       \
        to_type *d = lanes;                                                                 \
        const from_type *a = memory;                                                        \
        EACH                                                                                \
        {                                                                                   \
            const from_type x = a[i];                                                       \
            d[i] = (to_type)(expression);                                                   \
        }                                                                                   \
    }

/* By way of another type that holds all numbers of the first, or what of them counts: some at a time, which stay in the first-level cache. */
#define CAST_BY_WAY(from, from_type, to, to_type, middle, first, second)                    \
    static void load_##from##_##to(void *lanes, const void *memory, size_t n)               \
    {                                                                                       \
        enum { SOME = 512 };                                                                \
        middle room[SOME];                                                                  \
        to_type *d = lanes;                                                                 \
        const from_type *a = memory;                                                        \
        for (size_t i = 0; i < n; i += SOME) {                                              \
            const size_t some = n - i < SOME ? n - i : SOME;                                \
            first(room, a + i, some);                                                       \
            second(d + i, room, some);                                                      \
        }                                                                                   \
    }

/* Whole numbers */

#define FROM_WHOLE(to, to_type, expression)      \
    CAST(i8, int8_t, to, to_type, expression)    \
    CAST(u8, uint8_t, to, to_type, expression)   \
    CAST(i16, int16_t, to, to_type, expression)  \
    CAST(u16, uint16_t, to, to_type, expression) \
    CAST(i32, int32_t, to, to_type, expression)  \
    CAST(u32, uint32_t, to, to_type, expression) \
    CAST(i64, int64_t, to, to_type, expression)  \
    CAST(u64, uint64_t, to, to_type, expression)

FROM_WHOLE(w8, uint8_t, x)
FROM_WHOLE(w16, uint16_t, x)
FROM_WHOLE(w32, uint32_t, x)
FROM_WHOLE(w64, uint64_t, x)
FROM_WHOLE(bool, uint8_t, x != 0)

CAST(bool, uint8_t, w8, uint8_t, x != 0)
CAST(bool, uint8_t, w16, uint16_t, x != 0)
CAST(bool, uint8_t, w32, uint32_t, x != 0)
CAST(bool, uint8_t, w64, uint64_t, x != 0)
CAST(bool, uint8_t, bool, uint8_t, x != 0)

/* Floats as whole numbers. Nothing is converted that the type does not hold: that would be undefined. */

#define CUT_OFF(from, from_type, to, to_type, least, most, beyond)                                   \
    static inline to_type cut_off_##from##_##to(from_type x)                                         \
    {                                                                                                \
        const from_type above = x >= (from_type)(least) ? x : (from_type)(least), held = above < (from_type)(beyond) ? above : 0; \
        const to_type whole = x >= (from_type)(beyond) ? most : (to_type)held;                       \
        return x == x ? whole : 0;                                                                   \
    }

#define FROM_FLOAT(from, from_type)                                                                  \
    CUT_OFF(from, from_type, i32, int32_t, INT32_MIN, INT32_MAX, 0x1p31)                             \
    CUT_OFF(from, from_type, u32, uint32_t, 0, UINT32_MAX, 0x1p32)                                   \
    CUT_OFF(from, from_type, i64, int64_t, INT64_MIN, INT64_MAX, 0x1p63)                             \
    CUT_OFF(from, from_type, u64, uint64_t, 0, UINT64_MAX, 0x1p64)                                   \
    CAST(from, from_type, w8, uint8_t, cut_off_##from##_i32(x))                                      \
    CAST(from, from_type, w16, uint16_t, cut_off_##from##_i32(x))                                    \
    CAST(from, from_type, i32, int32_t, cut_off_##from##_i32(x))                                     \
    CAST(from, from_type, u32, uint32_t, cut_off_##from##_u32(x))                                    \
    CAST(from, from_type, i64, int64_t, cut_off_##from##_i64(x))                                     \
    CAST(from, from_type, u64, uint64_t, cut_off_##from##_u64(x))                                    \
    CAST(from, from_type, bool, uint8_t, x != 0)

FROM_FLOAT(f32, float)
FROM_FLOAT(f64, double)

#define FROM_HALF(half)                                                                              \
    CAST_BY_WAY(half, uint16_t, w8, uint8_t, float, load_##half##_float, load_f32_w8)                \
    CAST_BY_WAY(half, uint16_t, w16, uint16_t, float, load_##half##_float, load_f32_w16)             \
    CAST_BY_WAY(half, uint16_t, i32, int32_t, float, load_##half##_float, load_f32_i32)              \
    CAST_BY_WAY(half, uint16_t, u32, uint32_t, float, load_##half##_float, load_f32_u32)             \
    CAST_BY_WAY(half, uint16_t, i64, int64_t, float, load_##half##_float, load_f32_i64)              \
    CAST_BY_WAY(half, uint16_t, u64, uint64_t, float, load_##half##_float, load_f32_u64)             \
    CAST(half, uint16_t, bool, uint8_t, (x & 0x7fff) != 0)                                           \
    CAST(half, uint16_t, half, uint16_t, x)

FROM_HALF(f16)
FROM_HALF(bf16)

/* Half types. What float rounds of a whole number is too large for FLOAT16 before and after. */

#define TO_F16(from, from_type) CAST_BY_WAY(from, from_type, f16, uint16_t, float, load_##from##_float, store_f16_float)
#define TO_BF16(from, from_type, middle) CAST_BY_WAY(from, from_type, bf16, uint16_t, middle, load_##from##_##middle, store_bf16_##middle)

TO_F16(bf16, uint16_t)
TO_F16(bool, uint8_t)
TO_F16(i8, int8_t)
TO_F16(u8, uint8_t)
TO_F16(i16, int16_t)
TO_F16(u16, uint16_t)
TO_F16(i32, int32_t)
TO_F16(u32, uint32_t)
TO_F16(i64, int64_t)
TO_F16(u64, uint64_t)

/* Whole numbers of more than 53 bits: the last of those that are left is odd where any was cut off, so that rounding gives what rounding once would. */
static inline double odd_double(int64_t x)
{
    const int is_held = x >= -(1ll << 53) && x <= 1ll << 53;
    const int64_t kept = is_held ? x : x >> 11 | ((x & 2047) != 0);
    return (double)kept * (is_held ? 1.0 : 2048.0);
}

static inline double odd_double_of_unsigned(uint64_t x)
{
    const int is_held = x <= 1ull << 53;
    const uint64_t kept = is_held ? x : x >> 11 | ((x & 2047) != 0);
    return (double)(int64_t)kept * (is_held ? 1.0 : 2048.0);
}

CAST(i64, int64_t, odd_double, double, odd_double(x))
CAST(u64, uint64_t, odd_double, double, odd_double_of_unsigned(x))

TO_BF16(f16, uint16_t, float)
TO_BF16(i8, int8_t, float)
TO_BF16(u8, uint8_t, float)
TO_BF16(i16, int16_t, float)
TO_BF16(u16, uint16_t, float)
TO_BF16(i32, int32_t, double)
TO_BF16(u32, uint32_t, double)
CAST_BY_WAY(i64, int64_t, bf16, uint16_t, double, load_i64_odd_double, store_bf16_double)
CAST_BY_WAY(u64, uint64_t, bf16, uint16_t, double, load_u64_odd_double, store_bf16_double)

#define load_bool_bf16 load_u8_bf16 /* ml_dtypes takes truth values as they are */
#define load_f32_f16 store_f16_float
#define load_f64_f16 store_f16_double
#define load_f32_bf16 store_bf16_float
#define load_f64_bf16 store_bf16_double

/* Arithmetic on whole numbers, of which the last bits are kept: unsigned, and in no type that is promoted to int, since overflows are undefined there. */

#define COMBINE(name, word, type, wide, operator)                                                                          \
    static void name##_##word(void *dst, const void *first, const void *second, const void *third, size_t n)               \
    {                                                                                                                      \
        type *d = dst;                                                                                                     \
        const type *a = first, *b = second;                                                                                \
        (void)third;                                                                                                       \
        EACH                                                                                                               \
        {                                                                                                                  \
            d[i] = (type)((wide)a[i] operator (wide)b[i]);                                                                \
        }                                                                                                                  \
    }

#define ARITHMETIC(word, type, wide)         \
    COMBINE(add, word, type, wide, +)        \
    COMBINE(subtract, word, type, wide, -)   \
    COMBINE(multiply, word, type, wide, *)

ARITHMETIC(w8, uint8_t, uint32_t)
ARITHMETIC(w16, uint16_t, uint32_t)
ARITHMETIC(w32, uint32_t, uint32_t)
ARITHMETIC(w64, uint64_t, uint64_t)

#define SPREAD_WHOLE(word, type)                                               \
    static void spread_##word(void *lanes, const void *value, size_t n)        \
    {                                                                          \
        type *d = lanes;                                                       \
        const type x = *(const type *)value;                                   \
        for (size_t i = 0; i < n; i++) {                                       \
            d[i] = x;                                                          \
        }                                                                      \
    }

SPREAD_WHOLE(w8, uint8_t)
SPREAD_WHOLE(w16, uint16_t)
SPREAD_WHOLE(w32, uint32_t)
SPREAD_WHOLE(w64, uint64_t)

/* The largest, of as many at a time as there is room for where sums of doubles are kept. */
#define LARGEST_OF(name, type)                                                                                             \
    static void larger_of_##name(void *dst, const void *first, const void *second, const void *third, size_t n)            \
    {                                                                                                                      \
        type *d = dst;                                                                                                     \
        const type *a = first, *b = second;                                                                                \
        (void)third;                                                                                                       \
        EACH                                                                                                               \
        {                                                                                                                  \
            d[i] = a[i] > b[i] ? a[i] : b[i];                                                                              \
        }                                                                                                                  \
    }                                                                                                                      \
    static void row_max_##name(void *partials, const void *lanes, size_t n)                                                \
    {                                                                                                                      \
        enum { TOGETHER = PARTIALS * sizeof(double) / sizeof(type) };                                                      \
        type best[TOGETHER];                                                                                               \
        const type *a = lanes;                                                                                             \
        memcpy(best, partials, sizeof best);                                                                               \
        for (; n >= TOGETHER; a += TOGETHER, n -= TOGETHER) {                                                              \
            for (size_t k = 0; k < TOGETHER; k++) {                                                                        \
                best[k] = a[k] > best[k] ? a[k] : best[k];                                                                 \
            }                                                                                                              \
        }                                                                                                                  \
        for (size_t k = 0; k < n; k++) {                                                                                   \
            best[k] = a[k] > best[k] ? a[k] : best[k];                                                                     \
        }                                                                                                                  \
        memcpy(partials, best, sizeof best);                                                                               \
    }

LARGEST_OF(i8, int8_t)
LARGEST_OF(u8, uint8_t)
LARGEST_OF(i16, int16_t)
LARGEST_OF(i32, int32_t)
LARGEST_OF(i64, int64_t)

#define WHOLE_FUNCTIONS(name, word) {[ADD] = add_##word, [SUB] = subtract_##word, [MUL] = multiply_##word, [MAXIMUM] = larger_of_##name}

#undef EACH

/* Numbers of one type as another; included by engine_tile.c, which has the casts from and to half types.
 *
 * load_<from>_<to>: the result is a type of memory, or w8 ... w64, integers of so many bits, which are the same with and without a sign.
 * All is defined by what numpy computes (aclnnop/math/conversion.py): integers wrap around; floats are cut off towards zero, NaN is 0, and
 * what is too large becomes the largest number of 32 and 64 bits, of which narrower ones are the last bits; every other number is rounded once. */

#define EACH INDEPENDENT for (size_t i = 0; i < n; i++)

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
        middle scratch[SOME];                                                                  \
        to_type *d = lanes;                                                                 \
        const from_type *a = memory;                                                        \
        for (size_t i = 0; i < n; i += SOME) {                                              \
            const size_t some = n - i < SOME ? n - i : SOME;                                \
            first(scratch, a + i, some);                                                       \
            second(d + i, scratch, some);                                                      \
        }                                                                                   \
    }

/* Integers */

#define FROM_INTEGER(to, to_type, expression)      \
    CAST(i8, int8_t, to, to_type, expression)    \
    CAST(u8, uint8_t, to, to_type, expression)   \
    CAST(i16, int16_t, to, to_type, expression)  \
    CAST(u16, uint16_t, to, to_type, expression) \
    CAST(i32, int32_t, to, to_type, expression)  \
    CAST(u32, uint32_t, to, to_type, expression) \
    CAST(i64, int64_t, to, to_type, expression)  \
    CAST(u64, uint64_t, to, to_type, expression)

FROM_INTEGER(w8, uint8_t, x)
FROM_INTEGER(w16, uint16_t, x)
FROM_INTEGER(w32, uint32_t, x)
FROM_INTEGER(w64, uint64_t, x)
FROM_INTEGER(b8, uint8_t, x != 0)

FROM_INTEGER(float, float, x)
FROM_INTEGER(double, double, x)
CAST(f32, float, float, float, x)
CAST(f64, double, float, float, x)
CAST(f32, float, double, double, x)
CAST(f64, double, double, double, x)

CAST(b8, uint8_t, float, float, x != 0)
CAST(b8, uint8_t, double, double, x != 0)
CAST(b8, uint8_t, w8, uint8_t, x != 0)
CAST(b8, uint8_t, w16, uint16_t, x != 0)
CAST(b8, uint8_t, w32, uint32_t, x != 0)
CAST(b8, uint8_t, w64, uint64_t, x != 0)
CAST(b8, uint8_t, b8, uint8_t, x != 0)

/* Floats as integers. */

#define FROM_FLOAT(from, from_type)                                                                         \
    CAST(from, from_type, u32, uint32_t, u32_of_##from(x))                                                  \
    CAST(from, from_type, i64, int64_t, i64_of_##from(x))                                                   \
    CAST(from, from_type, u64, uint64_t, u64_of_##from(x))                                                  \
    CAST(from, from_type, b8, uint8_t, x != 0)

FROM_FLOAT(f32, float)
FROM_FLOAT(f64, double)

#define FROM_HALF(half)                                                                                     \
    CAST_BY_WAY(half, uint16_t, u32, uint32_t, float, load_##half##_float, load_f32_u32)                    \
    CAST_BY_WAY(half, uint16_t, i64, int64_t, float, load_##half##_float, load_f32_i64)                     \
    CAST_BY_WAY(half, uint16_t, u64, uint64_t, float, load_##half##_float, load_f32_u64)                    \
    CAST(half, uint16_t, b8, uint8_t, (x & 0x7fff) != 0)                                                  \
    CAST(half, uint16_t, half, uint16_t, x)

FROM_HALF(f16)
FROM_HALF(bf16)

/* To 32 bits or the last of them. */
#ifdef HAS_64
/* The instruction gives the least number for all that does not fit, which is right unless it is none, or too large. */
static inline __m512i cut_off_floats(float_vector x)
{
    const __m512i whole = _mm512_maskz_cvttps_epi32(equal_float(x, x), (__m512)x);
    return _mm512_mask_mov_epi32(whole, less_equal_float(all_float(0x1p31f), x), _mm512_set1_epi32(INT32_MAX));
}

static inline __m256i cut_off_some_doubles(const double *memory)
{
    const double_vector x = read_double(memory);
    return _mm512_maskz_cvttpd_epi32(equal_double(x, x), _mm512_min_pd((__m512d)x, _mm512_set1_pd(INT32_MAX)));
}

#define cut_off_f32(memory) cut_off_floats(read_float(memory))
#define cut_off_f16(memory) cut_off_floats(read_f16(memory))
#define cut_off_bf16(memory) cut_off_floats(read_bf16(memory))
#define cut_off_f64(memory) _mm512_inserti64x4(_mm512_castsi256_si512(cut_off_some_doubles(memory)), cut_off_some_doubles((memory) + DOUBLES), 1)
#define write_i32(memory, words) _mm512_storeu_si512(memory, words)
#define write_w16(memory, words) _mm256_storeu_si256((__m256i *)(memory), _mm512_cvtepi32_epi16(words))
#define write_w8(memory, words) _mm_storeu_si128((__m128i *)(memory), _mm512_cvtepi32_epi8(words))

#define TO_32(from, from_type, number, to, to_type)                                                         \
    static void load_##from##_##to(void *lanes, const void *memory, size_t n)                               \
    {                                                                                                       \
        to_type *d = lanes;                                                                                 \
        const from_type *a = memory;                                                                        \
        size_t i = 0;                                                                                       \
        for (; i + FLOATS <= n; i += FLOATS) {                                                              \
            write_##to(d + i, cut_off_##from(a + i));                                                       \
        }                                                                                                   \
        for (; i < n; i++) {                                                                                \
            const from_type x = a[i];                                                                       \
            d[i] = (to_type)(number);                                                                       \
        }                                                                                                   \
    }
#define HALF_TO_32(half, to, to_type) TO_32(half, uint16_t, i32_of_f32(float_of_##half(x)), to, to_type)
#else
#define TO_32(from, from_type, number, to, to_type) CAST(from, from_type, to, to_type, number)
#define HALF_TO_32(half, to, to_type) CAST_BY_WAY(half, uint16_t, to, to_type, float, load_##half##_float, load_f32_##to)
#endif

#define ALL_TO_32(to, to_type)                                \
    TO_32(f32, float, i32_of_f32(x), to, to_type)        \
    TO_32(f64, double, i32_of_f64(x), to, to_type)       \
    HALF_TO_32(f16, to, to_type)                              \
    HALF_TO_32(bf16, to, to_type)

ALL_TO_32(w8, uint8_t)
ALL_TO_32(w16, uint16_t)
ALL_TO_32(i32, int32_t)

/* Half types. What float rounds of an integer is too large for FLOAT16 before and after. */

#define TO_F16(from, from_type) CAST_BY_WAY(from, from_type, f16, uint16_t, float, load_##from##_float, store_f16_float)
#define TO_BF16(from, from_type) CAST_BY_WAY(from, from_type, bf16, uint16_t, float, load_##from##_float, store_bf16_float)

TO_F16(bf16, uint16_t)
TO_F16(b8, uint8_t)
TO_F16(i8, int8_t)
TO_F16(u8, uint8_t)
TO_F16(i16, int16_t)
TO_F16(u16, uint16_t)
TO_F16(i32, int32_t)
TO_F16(u32, uint32_t)
TO_F16(i64, int64_t)
TO_F16(u64, uint64_t)

/* Integers beyond those that a float or a double holds are cut off by some bits; the last one that is left is set where any was, so that rounding
 * to a half type gives what rounding once would. */
#define ODD(from, from_type, signed_type, to, bits, is_within)                                              \
    static inline to odd_##to##_of_##from(from_type x)                                                      \
    {                                                                                                       \
        const int is_held = is_within;                                                                      \
        const from_type cut = (from_type)(x >> bits | ((x & ((1 << bits) - 1)) != 0));                      \
        return (to)(signed_type)(is_held ? x : cut) * (is_held ? (to)1 : (to)(1 << bits));                  \
    }
#define TO_BF16_BY_ODD(from, from_type, middle)                                                             \
    CAST(from, from_type, odd_##middle, middle, odd_##middle##_of_##from(x))                                \
    CAST_BY_WAY(from, from_type, bf16, uint16_t, middle, load_##from##_odd_##middle, store_bf16_##middle)

ODD(i32, int32_t, int32_t, float, 8, x >= -(1 << 24) && x <= 1 << 24)
ODD(u32, uint32_t, int32_t, float, 8, x <= 1 << 24)
ODD(i64, int64_t, int64_t, double, 11, x >= -(1ll << 53) && x <= 1ll << 53)
ODD(u64, uint64_t, int64_t, double, 11, x <= 1ull << 53)

#ifdef HAS_64
static void load_i32_bf16(void *lanes, const void *memory, size_t n)
{
    uint16_t *d = lanes;
    const int32_t *a = memory;
    size_t i = 0;
    for (; i + FLOATS <= n; i += FLOATS) {
        const __m512i whole = _mm512_loadu_si512(a + i);
        const __m512 cut = _mm512_cvt_roundepi32_ps(whole, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        const __mmask16 lost = _mm512_cmpneq_epi32_mask(_mm512_cvttps_epi32(cut), whole);
        write_bf16(d + i, (float_vector)_mm512_mask_or_epi32((__m512i)cut, lost, (__m512i)cut, _mm512_set1_epi32(1)));
    }
    for (; i < n; i++) {
        d[i] = bf16_of_float(odd_float_of_i32(a[i]));
    }
}
#else
TO_BF16_BY_ODD(i32, int32_t, float)
#endif
TO_BF16_BY_ODD(u32, uint32_t, float)
TO_BF16_BY_ODD(i64, int64_t, double)
TO_BF16_BY_ODD(u64, uint64_t, double)

TO_BF16(f16, uint16_t)
TO_BF16(i8, int8_t)
TO_BF16(u8, uint8_t)
TO_BF16(i16, int16_t)
TO_BF16(u16, uint16_t)

#define load_b8_bf16 load_u8_bf16 /* ml_dtypes takes truth values as they are */
#define load_f32_f16 store_f16_float
#define load_f64_f16 store_f16_double
#define load_f32_bf16 store_bf16_float
#define load_f64_bf16 store_bf16_double

#define SPREAD_INTEGER(word, type)                                                         \
    static void spread_##word(void *lanes, const void *values, size_t n, size_t count)   \
    {                                                                                    \
        type *d = lanes;                                                                 \
        for (const type *a = values; count; count--, a++, d += n) {                      \
            const type x = *a;                                                           \
            for (size_t i = 0; i < n; i++) {                                             \
                d[i] = x;                                                                \
            }                                                                            \
        }                                                                                \
    }

SPREAD_INTEGER(w8, uint8_t)
SPREAD_INTEGER(w16, uint16_t)
SPREAD_INTEGER(w32, uint32_t)
SPREAD_INTEGER(w64, uint64_t)

#undef EACH

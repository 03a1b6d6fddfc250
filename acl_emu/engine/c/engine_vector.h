/* Operations on vectors of one type; engine_types.h includes this once for float and once for double. */

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

#undef T
#undef V
#undef M
#undef I
#undef BARE
#undef NAME
#undef WIDE
#undef WIDE_COMPARED
#undef SIGN_BIT

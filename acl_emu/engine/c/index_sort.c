/* Rows in order, or what has some ranks in them: values, and the places where they were.
 *
 * Numbers become keys that compare as integers: NaN is the largest, both zeros are equal. A key and a place are an item; of equal keys
 * the first place comes first, whichever way they are sorted. */
#include "index.h"

#include <string.h>

enum {
    RUN = 32,
    MERGED = 512, /* shorter rows are merged, longer ones sorted by digits */
    DIGIT = 11,
    BUCKETS = 1 << DIGIT,
    CHUNKS = 8, /* of a row that several threads share */
    LOADED = 512,
};

/* The order is known to aclnnop/math/ordering.py. Operands: the rows, values where there are any, indices; then space for items. */
typedef struct {
    operand_list list;
    int64_t dtype, descending, length;
    int64_t first, last; /* ranks */
    int64_t selects, chunked, has_values;
    int64_t rows, slots, space, capacity; /* rows with the same number modulo `slots` share the space; capacity: items that a selection holds */
    int64_t from_along, values_along, indices_along;
    int64_t axes, lengths[MOST_DIMS], from[MOST_DIMS], values[MOST_DIMS], indices[MOST_DIMS]; /* of the rows; strides in bytes */
} sort_call;

typedef struct {
    const sort_call *call;
    char *memory[MOST_OPERANDS];
} sort_run;

static int64_t offset_of(const sort_call *call, const int64_t *strides, int64_t row)
{
    int64_t offset = 0;
    for (int64_t axis = call->axes - 1; axis >= 0; axis--) {
        offset += row % call->lengths[axis] * strides[axis];
        row /= call->lengths[axis];
    }
    return offset;
}

static inline uint32_t key_of_f32(uint32_t bits)
{
    const uint32_t size = bits & 0x7fffffff;
    return size > 0x7f800000 ? ~(uint32_t)0 : !size ? 0x80000000 : bits >> 31 ? ~bits : bits | 0x80000000;
}

static inline uint64_t key_of_f64(uint64_t bits)
{
    const uint64_t sign = (uint64_t)1 << 63, size = bits & ~sign;
    return size > (uint64_t)0x7ff << 52 ? ~(uint64_t)0 : !size ? sign : bits & sign ? ~bits : bits | sign;
}

static inline uint16_t key_of_half(uint16_t bits, uint16_t infinity)
{
    const uint16_t size = bits & 0x7fff;
    return size > infinity ? 0xffff : !size ? 0x8000 : bits >> 15 ? (uint16_t)~bits : (uint16_t)(bits | 0x8000);
}

/* Keys of up to 32 bits and places below 2^32 are one number. */
#define ITEM uint64_t
#define NAMED(function) narrow_##function
#define KEY(item) ((item) >> 32)
#define PLACE(item) ((item) & 0xffffffff)
#define IS_LESS(a, b) ((a) < (b))
#define MAKE(key, place) ((uint64_t)(key) << 32 | (uint64_t)(place))

/* The rank of an item is the number of smaller ones: no branch depends on the data. */
FOR_EACH_CPU static void narrow_sort_run(uint64_t *items, int64_t count)
{
    uint64_t all[RUN];
    for (int64_t n = 0; n < RUN; n++) {
        all[n] = n < count ? items[n] : ~(uint64_t)0;
    }
    for (int64_t n = 0; n < count; n++) {
        uint64_t rank = 0;
        for (int64_t k = 0; k < RUN; k++) {
            rank += all[k] < all[n];
        }
        items[rank] = all[n];
    }
}

#include "sort_items.h"
#undef ITEM
#undef NAMED
#undef KEY
#undef PLACE
#undef IS_LESS
#undef MAKE

typedef struct {
    uint64_t key, place;
} wide_item;

#define ITEM wide_item
#define NAMED(function) wide_##function
#define KEY(item) ((item).key)
#define PLACE(item) ((item).place)
#define IS_LESS(a, b) ((a).key < (b).key || ((a).key == (b).key && (a).place < (b).place))
#define MAKE(key, place) ((wide_item){(key), (uint64_t)(place)})

static void wide_sort_run(wide_item *items, int64_t count)
{
    for (int64_t n = 1; n < count; n++) {
        const wide_item item = items[n];
        int64_t at = n;
        for (; at > 0 && IS_LESS(item, items[at - 1]); at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}

#include "sort_items.h"

static void sort_rows(const sort_run *one, int64_t threads)
{
    const sort_call *call = one->call;
    const int is_wide = item_of(call->dtype) == 8;
    int64_t counts[CHUNKS][BUCKETS];
    if (!call->chunked) {
        run(is_wide ? wide_run_rows : narrow_run_rows, one, call->slots, threads);
        return;
    }
    for (int64_t row = 0; row < call->rows; row++) {
        char *space = one->memory[2 + call->has_values];
        if (is_wide) {
            wide_row(call, one->memory, row, (wide_item *)space, threads, counts);
        } else {
            narrow_row(call, one->memory, row, (uint64_t *)space, threads, counts);
        }
    }
}

EXPORT int64_t acl_emu_sort_rows(const sort_call *call, const int64_t *addresses, int64_t threads)
{
    sort_run one = {.call = call};
    if (!acl_emu_index_locate(&call->list, addresses, one.memory)) {
        return LEFT_TO_NUMPY;
    }
    sort_rows(&one, threads);
    return DONE;
}

/* The same of arrays of a kernel: rows, indices, space. The list of operands is not looked at. */
EXPORT void acl_emu_order_rows(const sort_call *call, char *const *memory, int64_t threads)
{
    sort_run one = {.call = call, .memory = {memory[0], memory[1], memory[2]}};
    sort_rows(&one, threads);
}

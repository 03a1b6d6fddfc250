/* Work on elements that indices choose: what all of it shares, and products of chosen rows. */
#include "index.h"

#include <string.h>

int acl_emu_index_locate(const operand_list *list, const int64_t *addresses, char **memory)
{
    for (int64_t k = 0; k < list->operands; k++) {
        memory[k] = list->extents[k] ? region_locate(list->regions, addresses[k], list->extents[k]) : NULL;
        if (list->extents[k] && !memory[k]) {
            return 0;
        }
    }
    for (int64_t w = list->reads; w < list->operands; w++) {
        for (int64_t k = 0; k < w; k++) {
            if (memory[k] < memory[w] + list->extents[w] && memory[w] < memory[k] + list->extents[k]) {
                return 0;
            }
        }
    }
    return 1;
}

enum { SOME = 512 }; /* numbers that are brought together before they are cast */

#define SPREAD_OUT(type)                                                              \
    for (int64_t n = 0; n < count; n++) {                                             \
        memcpy(to + n * to_stride, from + n * from_stride, sizeof(type));             \
    }

static void copy_apart(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t item, int64_t count)
{
    switch (item) {
    case 1: SPREAD_OUT(uint8_t) break;
    case 2: SPREAD_OUT(uint16_t) break;
    case 4: SPREAD_OUT(uint32_t) break;
    default: SPREAD_OUT(uint64_t) break;
    }
}

void acl_emu_index_load(double *to, const char *from, int64_t stride, int64_t dtype, int64_t count)
{
    const int64_t item = item_of(dtype);
    if (stride == item) {
        acl_emu_engine_tiles->cast[F64][dtype](to, from, (size_t)count);
        return;
    }
    for (int64_t n = 0; n < count; n += SOME) {
        char scratch[SOME * sizeof(double)];
        const int64_t some = at_most(count - n, SOME);
        copy_apart(scratch, item, from + n * stride, stride, item, some);
        acl_emu_engine_tiles->cast[F64][dtype](to + n, scratch, (size_t)some);
    }
}

void acl_emu_index_store(char *to, int64_t stride, int64_t dtype, const double *from, int64_t count)
{
    const int64_t item = item_of(dtype);
    if (stride == item) {
        acl_emu_engine_tiles->cast[dtype][F64](to, from, (size_t)count);
        return;
    }
    for (int64_t n = 0; n < count; n += SOME) {
        char scratch[SOME * sizeof(double)];
        const int64_t some = at_most(count - n, SOME);
        acl_emu_engine_tiles->cast[dtype][F64](scratch, from + n, (size_t)some);
        copy_apart(to + n * stride, stride, scratch, item, item, some);
    }
}

void acl_emu_index_round(double *numbers, int64_t dtype, int64_t count)
{
    for (int64_t n = 0; n < count; n += SOME) {
        char scratch[SOME * sizeof(double)];
        const int64_t some = at_most(count - n, SOME);
        acl_emu_engine_tiles->cast[dtype][F64](scratch, numbers + n, (size_t)some);
        acl_emu_engine_tiles->cast[F64][dtype](numbers + n, scratch, (size_t)some);
    }
}

#define INTEGERS(type)                                                                   \
    for (int64_t n = 0; n < count; n++) {                                             \
        type value;                                                                   \
        memcpy(&value, from + n * stride, sizeof value);                              \
        to[n] = (int64_t)value;                                                       \
    }

void acl_emu_index_load_integers(int64_t *to, const char *from, int64_t stride, int64_t dtype, int64_t count)
{
    switch (dtype) {
    case BOOL8:
    case U8: INTEGERS(uint8_t) break;
    case I32: INTEGERS(int32_t) break;
    default: INTEGERS(int64_t) break;
    }
}

/* There is always an element 0 to be read instead of none: no branch is missed. */
#define COPY(type)                                                                                     \
    for (int64_t n = 0; n < count; n++) {                                                              \
        const int64_t at = index[n];                                                                \
        type value;                                                                                    \
        memcpy(&value, from + n * stride + (at < 0 ? 0 : at) * step, sizeof value);      \
        value &= at < 0 ? 0 : (type)-1;                                                             \
        memcpy(to + n * (int64_t)sizeof value, &value, sizeof value);                                  \
    }

void acl_emu_index_gather(char *to, const char *from, int64_t stride, int64_t step, const int64_t *index, int64_t count, int64_t item)
{
    switch (item) {
    case 2: COPY(uint16_t) break;
    case 4: COPY(uint32_t) break;
    default: COPY(uint64_t) break;
    }
}

/* Products of a row of one matrix and a row of another, in double. */

enum { DOT_LANES = 16, DOTS = 64 };

typedef struct {
    const float *a, *b; /* rows of `inner` contiguous numbers */
    int64_t inner, count;
    const int64_t *row_of_a, *row_of_b;
    double *result;
} dots_call;

FOR_EACH_CPU double acl_emu_index_dot(const float *a, const float *b, int64_t inner)
{
    double sums[DOT_LANES] = {0}, total = 0;
    int64_t k = 0;
    for (; k + DOT_LANES <= inner; k += DOT_LANES) {
        for (int64_t lane = 0; lane < DOT_LANES; lane++) {
            sums[lane] += (double)a[k + lane] * (double)b[k + lane];
        }
    }
    for (int64_t lane = 0; lane < DOT_LANES; lane++) {
        total += sums[lane];
    }
    for (; k < inner; k++) {
        total += (double)a[k] * (double)b[k];
    }
    return total;
}

static void run_dots(void *argument)
{
    job *work = argument;
    const dots_call *call = work->call;
    for (int64_t unit; next_unit(work, &unit);) {
        const int64_t end = at_most((unit + 1) * DOTS, call->count);
        for (int64_t n = unit * DOTS; n < end; n++) {
            call->result[n] = acl_emu_index_dot(call->a + call->row_of_a[n] * call->inner, call->b + call->row_of_b[n] * call->inner, call->inner);
        }
    }
}

EXPORT void acl_emu_index_dots(const dots_call *call, int64_t threads)
{
    run(run_dots, call, parts_of(call->count, DOTS), threads);
}

/* Sorting items of one type, included once for each: ITEM, its name, and what of it is the key. Items are all different, so that every
 * algorithm gives the same order. The includer
 * defines ITEM, NAMED(sort_run) for at most RUN items, NAMED(function), KEY(item), PLACE(item), IS_LESS(a, b), MAKE(key, place). */

static void NAMED(load)(ITEM *to, const char *from, int64_t stride, int64_t dtype, int descending, int64_t first, int64_t count)
{
    const uint64_t flip = descending ? ~(uint64_t)0 >> (64 - 8 * item_of(dtype)) : 0;
#define LOAD(type, key)                                                                         \
    for (int64_t n = 0; n < count; n++) {                                                       \
        type bits;                                                                              \
        memcpy(&bits, from + n * stride, sizeof bits);                                          \
        to[n] = MAKE((uint64_t)(key) ^ flip, first + n);                                        \
    }
    switch (dtype) {
    case F32: LOAD(uint32_t, key_of_f32(bits)) break;
    case F64: LOAD(uint64_t, key_of_f64(bits)) break;
    case F16: LOAD(uint16_t, key_of_half(bits, 0x7c00)) break;
    case BF16: LOAD(uint16_t, key_of_half(bits, 0x7f80)) break;
    case BOOL8: LOAD(uint8_t, bits != 0) break;
    case I8: LOAD(uint8_t, bits ^ 0x80) break;
    case U8: LOAD(uint8_t, bits) break;
    case I16: LOAD(uint16_t, bits ^ 0x8000) break;
    case U16: LOAD(uint16_t, bits) break;
    case I32: LOAD(uint32_t, bits ^ 0x80000000u) break;
    case U32: LOAD(uint32_t, bits) break;
    case I64: LOAD(uint64_t, bits ^ (uint64_t)1 << 63) break;
    default: LOAD(uint64_t, bits) break;
    }
#undef LOAD
}

/* Short runs are sorted, then merged. Returns where the result is. */
static ITEM *NAMED(merge)(ITEM *items, ITEM *spare, int64_t count)
{
    for (int64_t first = 0; first < count; first += RUN) {
        NAMED(sort_run)(items + first, at_most(count - first, RUN));
    }
    for (int64_t length = RUN; length < count; length *= 2) {
        for (int64_t first = 0; first < count; first += 2 * length) {
            const int64_t middle = at_most(first + length, count), end = at_most(first + 2 * length, count);
            int64_t left = first, right = middle, n = first;
            while (left < middle && right < end) { /* without a branch on the data */
                const ITEM a = items[left], b = items[right];
                const int is_right = IS_LESS(b, a);
                spare[n++] = is_right ? b : a;
                right += is_right;
                left += !is_right;
            }
            memcpy(spare + n, items + left, (size_t)(middle - left) * sizeof *items);
            n += middle - left;
            memcpy(spare + n, items + right, (size_t)(end - right) * sizeof *items);
        }
        ITEM *sorted = spare;
        spare = items;
        items = sorted;
    }
    return items;
}

static void NAMED(count_digits)(const ITEM *items, int64_t count, int64_t shift, int64_t *counts)
{
    memset(counts, 0, BUCKETS * sizeof *counts);
    for (int64_t n = 0; n < count; n++) {
        counts[KEY(items[n]) >> shift & (BUCKETS - 1)]++;
    }
}

static void NAMED(scatter)(ITEM *to, const ITEM *items, int64_t count, int64_t shift, int64_t *places)
{
    for (int64_t n = 0; n < count; n++) {
        to[places[KEY(items[n]) >> shift & (BUCKETS - 1)]++] = items[n];
    }
}

/* One of the chunks of a long row that several threads sort together, digit by digit; then each counts and scatters its own. */
typedef struct {
    ITEM *items, *spare;
    int64_t count, chunks, shift;
    int64_t (*counts)[BUCKETS];
} NAMED(digit);

static void NAMED(run_count)(void *argument)
{
    job *work = argument;
    const NAMED(digit) *one = work->call;
    for (int64_t chunk; next_unit(work, &chunk);) {
        const int64_t first = chunk * one->count / one->chunks, end = (chunk + 1) * one->count / one->chunks;
        NAMED(count_digits)(one->items + first, end - first, one->shift, one->counts[chunk]);
    }
}

static void NAMED(run_scatter)(void *argument)
{
    job *work = argument;
    const NAMED(digit) *one = work->call;
    for (int64_t chunk; next_unit(work, &chunk);) {
        const int64_t first = chunk * one->count / one->chunks, end = (chunk + 1) * one->count / one->chunks;
        NAMED(scatter)(one->spare, one->items + first, end - first, one->shift, one->counts[chunk]);
    }
}

/* From the lowest digit to the highest; a digit that all have in common is left out. Returns where the result is. */
static ITEM *NAMED(radix)(ITEM *items, ITEM *spare, int64_t count, int64_t bits, int64_t chunks, int64_t threads, int64_t (*counts)[BUCKETS])
{
    NAMED(digit) one = {.items = items, .spare = spare, .count = count, .chunks = chunks, .counts = counts};
    for (one.shift = 0; one.shift < bits; one.shift += DIGIT) {
        int64_t next = 0, most = 0;
        run(NAMED(run_count), &one, chunks, threads);
        for (int64_t bucket = 0; bucket < BUCKETS; bucket++) {
            const int64_t before = next;
            for (int64_t chunk = 0; chunk < chunks; chunk++) {
                const int64_t some = counts[chunk][bucket];
                counts[chunk][bucket] = next;
                next += some;
            }
            most = next - before > most ? next - before : most;
        }
        if (most == count) {
            continue;
        }
        run(NAMED(run_scatter), &one, chunks, threads);
        ITEM *sorted = one.spare;
        one.spare = one.items;
        one.items = sorted;
    }
    return one.items;
}

/* The `wanted` first items of all come to the front, in no order. The pivot is never the last one, so that every round parts something. */
static void NAMED(select)(ITEM *items, int64_t count, int64_t wanted)
{
    for (int64_t first = 0, end = count; end - first > 1;) {
        const ITEM a = items[first], b = items[first + (end - first - 1) / 2], c = items[end - 1];
        const ITEM pivot = IS_LESS(a, b) ? (IS_LESS(b, c) ? b : IS_LESS(a, c) ? c : a) : (IS_LESS(a, c) ? a : IS_LESS(b, c) ? c : b);
        int64_t left = first - 1, right = end;
        for (;;) {
            do {
                left++;
            } while (IS_LESS(items[left], pivot));
            do {
                right--;
            } while (IS_LESS(pivot, items[right]));
            if (left >= right) {
                break;
            }
            const ITEM item = items[left];
            items[left] = items[right];
            items[right] = item;
        }
        if (right + 1 <= wanted) {
            first = right + 1;
        } else {
            end = right + 1;
        }
        if (first >= wanted || end <= wanted) {
            break;
        }
    }
}

/* The `wanted` first items of a part of a row, at the front of `best`, which holds `capacity`; returns how many there are. */
static int64_t NAMED(best_of)(ITEM *best, int64_t capacity, int64_t wanted, const sort_call *call, const char *from, int64_t first, int64_t count)
{
    ITEM some[LOADED];
    int64_t held = 0, filled = 0;
    ITEM worst = MAKE(0, 0);
    for (int64_t done = 0; done < count; done += LOADED) {
        const int64_t loaded = at_most(count - done, LOADED);
        NAMED(load)(some, from + (first + done) * call->from_along, call->from_along, call->dtype, (int)call->descending, first + done, loaded);
        for (int64_t n = 0; wanted == 1 && n < loaded; n++) {
            worst = (!done && !n) || IS_LESS(some[n], worst) ? some[n] : worst;
        }
        for (int64_t n = 0; wanted > 1 && n < loaded; n++) {
            best[held] = some[n];
            held += !filled || IS_LESS(some[n], worst);
            if (held == capacity) {
                NAMED(select)(best, held, wanted);
                held = wanted;
                worst = best[0];
                for (int64_t k = 1; k < wanted; k++) {
                    worst = IS_LESS(worst, best[k]) ? best[k] : worst;
                }
                filled = 1;
            }
        }
    }
    if (wanted == 1) {
        best[0] = worst;
        return 1;
    }
    if (held > wanted) {
        NAMED(select)(best, held, wanted);
        held = wanted;
    }
    return held;
}

typedef struct {
    const sort_call *call;
    const char *from;
    ITEM *best;
    int64_t held[CHUNKS];
} NAMED(parts);

static void NAMED(run_best)(void *argument)
{
    job *work = argument;
    NAMED(parts) *one = (void *)(uintptr_t)work->call;
    const sort_call *call = one->call;
    for (int64_t chunk; next_unit(work, &chunk);) {
        const int64_t first = chunk * call->length / CHUNKS, end = (chunk + 1) * call->length / CHUNKS;
        one->held[chunk] = NAMED(best_of)(one->best + chunk * call->capacity, call->capacity, call->last, call, one->from, first, end - first);
    }
}

/* A row: what is wanted of it, in order, is stored. With several threads they work on it together. */
static void NAMED(row)(const sort_call *call, char *const *memory, int64_t row, ITEM *space, int64_t threads, int64_t (*counts)[BUCKETS])
{
    const char *from = memory[0] + offset_of(call, call->from, row);
    const int64_t chunks = call->chunked ? CHUNKS : 1, bits = 8 * item_of(call->dtype);
    ITEM *sorted;
    if (call->selects) {
        NAMED(parts) parts = {.call = call, .from = from, .best = space};
        int64_t held;
        if (call->chunked) {
            run(NAMED(run_best), &parts, CHUNKS, threads);
            held = parts.held[0];
            for (int64_t chunk = 1; chunk < CHUNKS; chunk++) {
                memmove(space + held, space + chunk * call->capacity, (size_t)parts.held[chunk] * sizeof *space);
                held += parts.held[chunk];
            }
            NAMED(select)(space, held, call->last);
            held = call->last;
        } else {
            held = NAMED(best_of)(space, call->capacity, call->last, call, from, 0, call->length);
        }
        sorted = NAMED(merge)(space, space + held, held); /* by places too: the selection left equal keys in no order */
    } else {
        ITEM *spare = space + call->length;
        NAMED(load)(space, from, call->from_along, call->dtype, (int)call->descending, 0, call->length);
        sorted = call->length > MERGED ? NAMED(radix)(space, spare, call->length, bits, chunks, threads, counts) : NAMED(merge)(space, spare, call->length);
    }
    char *indices = memory[1 + call->has_values] + offset_of(call, call->indices, row);
    for (int64_t rank = call->first; rank < call->last; rank++) {
        const int64_t place = (int64_t)PLACE(sorted[rank]);
        memcpy(indices + (rank - call->first) * call->indices_along, &place, sizeof place);
    }
    if (call->has_values) {
        char *values = memory[1] + offset_of(call, call->values, row);
#define STORE(type)                                                                                                                    \
    for (int64_t rank = call->first; rank < call->last; rank++) {                                                                      \
        memcpy(values + (rank - call->first) * call->values_along, from + (int64_t)PLACE(sorted[rank]) * call->from_along, sizeof(type)); \
    }
        switch (item_of(call->dtype)) {
        case 1: STORE(uint8_t) break;
        case 2: STORE(uint16_t) break;
        case 4: STORE(uint32_t) break;
        default: STORE(uint64_t) break;
        }
#undef STORE
    }
}

static void NAMED(run_rows)(void *argument)
{
    job *work = argument;
    const sort_run *one = work->call;
    const sort_call *call = one->call;
    int64_t counts[1][BUCKETS];
    for (int64_t slot; next_unit(work, &slot);) {
        for (int64_t row = slot; row < call->rows; row += call->slots) {
            NAMED(row)(call, one->memory, row, (ITEM *)one->memory[2 + call->has_values] + slot * call->space, 1, counts);
        }
    }
}

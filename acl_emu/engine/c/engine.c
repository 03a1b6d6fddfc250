/* Programs that acl_emu/engine makes of kernels, run on all threads: the loops around the tiles.
 *
 * A program sees its operands as two nested ranges, outer and inner, each of one or several dimensions. What a unit of work is depends
 * on its shape only, never on the number of threads, and each unit is one thread's: no result changes with their number. */
#define _GNU_SOURCE
#include "engine_program.h"
#include "regions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))

enum {
    LASTING_ROOM = 8 << 20, /* bytes that a thread may keep from one run to the next */
    STREAMED_BYTES = 24 << 20
};

static __thread room own_room;
static pthread_key_t ending; /* its value is the room of a thread, to be freed when the thread ends */

static void free_room(void *own)
{
    free(((room *)own)->registers);
    ((room *)own)->registers = NULL;
    ((room *)own)->size = 0;
}

__attribute__((constructor)) static void watch_threads(void)
{
    pthread_key_create(&ending, free_room);
}

#if defined(__x86_64__)
static int find_processor(void)
{
    unsigned a, b, c = 0, d;
    __builtin_cpu_init();
    __get_cpuid(1, &a, &b, &c, &d); /* not all compilers know the name of bit_F16C */
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !(c & bit_F16C)) {
        return PLAIN_PROCESSOR;
    }
    const int wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512vl");
    return wide ? WITH_AVX512 : WITH_AVX2;
}

/* Asked once: a virtual machine takes microseconds to answer. */
int acl_emu_engine_processor(void)
{
    static atomic_int found = -1;
    int processor = atomic_load_explicit(&found, memory_order_relaxed);
    if (processor < 0) {
        processor = find_processor();
        atomic_store_explicit(&found, processor, memory_order_relaxed);
    }
    return processor;
}
#endif

const tile_code *acl_emu_engine_tiles = &acl_emu_tiles_baseline;
static const fused_table *fused = &acl_emu_fused_baseline;

__attribute__((constructor)) static void choose_instructions(void)
{
    acl_emu_engine_tiles = FOR_THIS_PROCESSOR(acl_emu_tiles);
    fused = FOR_THIS_PROCESSOR(acl_emu_fused);
}

/* The number of the kernel of a graph for a storage type and way, of rows or of columns; -1 where there is none. */
EXPORT int64_t acl_emu_engine_find_fused(const char *signature, int64_t dtype, int64_t way, int64_t columns)
{
    for (int64_t k = 0; k < fused->count; k++) {
        const fused_entry *entry = &fused->entries[k];
        if (!strcmp(entry->signature, signature)) {
            return (columns ? entry->columns : entry->kernels)[dtype][way] ? k : -1;
        }
    }
    return -1;
}

/* Memory operands */

static void load(const job *work, room *own, int64_t index, int64_t dst, const place *at, int mask)
{
    const operand_view *operand = &work->operands[index];
    const int64_t lane = work->program->lane;
    char *base = work->memory[index] + offset_of(&operand->outer, at->outer);
    char *lanes = own->registers + (size_t)dst * TILE_BYTES;
    const char *row = own->gathered;
    own->slot[dst] = lanes;
    const int in_block = work->program->shape == BLOCKS && operand->inner.count == 2;
    if (in_block || lies_in_row(work->program, operand)) {
        row = in_block ? own->line[index] : base + offset_of(&operand->inner, at->first);
        if (!mask && operand->dtype == lane && (uintptr_t)row % work->lane_size == 0) {
            own->slot[dst] = (void *)row;
            return;
        }
    } else if (operand->inner.count == 1 && operand->inner.stride[0] == 0) {
        if (mask) {
            acl_emu_engine_tiles->load_mask[lane](lanes, (const uint8_t *)base, 1);
        } else {
            acl_emu_engine_tiles->load[lane][operand->dtype](lanes, base, 1);
        }
        acl_emu_engine_tiles->spread[lane](lanes, lanes, at->n);
        return;
    } else {
        acl_emu_move_range(operand, base, at->first, at->n, own->gathered, 0);
    }
    if (mask) {
        acl_emu_engine_tiles->load_mask[lane](lanes, (const uint8_t *)row, at->n);
    } else {
        acl_emu_engine_tiles->load[lane][operand->dtype](lanes, row, at->n);
    }
}

/* Past the caches: to aligned memory from float lanes, which are cast on the way; others are cast before. */
static void stream_out(const job *work, room *own, const operand_view *operand, char *there, const void *lanes, size_t n)
{
    const int64_t lane = work->program->lane;
    if (lane == F32 && operand->dtype <= BF16) {
        const int aligned = (uintptr_t)there % acl_emu_engine_tiles->vector_bytes == 0 && operand->dtype != F64;
        (aligned ? acl_emu_engine_tiles->stream_store[operand->dtype] : acl_emu_engine_tiles->load[operand->dtype][lane])(there, lanes, n);
        return;
    }
    if (operand->dtype != lane) {
        acl_emu_engine_tiles->load[operand->dtype][lane](own->gathered, lanes, n);
        lanes = own->gathered;
    }
    acl_emu_engine_tiles->stream(there, lanes, n * (size_t)operand->item);
}

static void store(const job *work, room *own, int64_t index, const void *lanes, const place *at)
{
    const operand_view *operand = &work->operands[index];
    const int64_t lane = work->program->lane;
    char *base = work->memory[index] + offset_of(&operand->outer, at->outer);
    const int in_block = work->program->shape == BLOCKS && operand->inner.count == 2;
    if (in_block || lies_in_row(work->program, operand) || at->n == 1) {
        char *there = in_block ? own->line[index] : base + offset_of(&operand->inner, at->first);
        const int in_memory = !in_block || !is_turned(operand);
        if (work->streamed && in_memory) {
            stream_out(work, own, operand, there, lanes, at->n);
        } else {
            acl_emu_engine_tiles->load[operand->dtype][lane](there, lanes, at->n);
        }
    } else {
        acl_emu_engine_tiles->load[operand->dtype][lane](own->gathered, lanes, at->n);
        acl_emu_move_range(operand, base, at->first, at->n, own->gathered, 1);
    }
}

/* Steps */

static void clear_sums(const job *work, room *own, size_t lanes)
{
    const header *program = work->program;
    for (int64_t k = 0; k < program->sums; k++) {
        memset(own->sum[k], 0, lanes * sizeof(double));
    }
}

static int is_whole_number(int64_t lane)
{
    return lane > BF16;
}

/* Lanes that the largest of a row are kept in: of whole numbers as many as there is room for. */
static size_t partial_lanes(const job *work)
{
    return is_whole_number(work->program->lane) ? PARTIALS * sizeof(double) / work->lane_size : PARTIALS;
}

static void begin_max(const job *work, void *best, size_t lanes)
{
    static const int64_t least[I64 + 1] = {[I8] = INT8_MIN, [I16] = INT16_MIN, [I32] = INT32_MIN, [I64] = INT64_MIN};
    static const double below_all = -1.0 / 0.0;
    const int64_t lane = work->program->lane;
    acl_emu_engine_tiles->load[lane][is_whole_number(lane) ? I64 : F64](best, is_whole_number(lane) ? (const void *)&least[lane] : &below_all, 1);
    acl_emu_engine_tiles->spread[lane](best, best, lanes);
}

/* What a reduction of whole numbers does: to the elements of a row, and to numbers side by side. */
static void reduce_row(const job *work, int64_t code, void *found, const void *lanes, size_t n)
{
    const int64_t lane = work->program->lane;
    (code == SUM ? acl_emu_engine_tiles->row_whole_sum : acl_emu_engine_tiles->row_max)[lane](found, lanes, n);
}

static void reduce_pairs(const job *work, int64_t code, void *found, const void *others, size_t n)
{
    acl_emu_engine_tiles->functions[work->program->lane][code == SUM ? ADD : MAXIMUM](found, found, others, NULL, n);
}

/* What a row has come to: one half with the other, until there is one number left. */
static void finish_whole_numbers(const job *work, int64_t code, void *result, char *found)
{
    for (size_t n = partial_lanes(work) / 2; n; n /= 2) {
        reduce_pairs(work, code, found, found + n * work->lane_size, n);
    }
    memcpy(result, found, work->lane_size);
}

/* Steps of reductions in whole numbers. */
static void reduce_whole_numbers(const job *work, room *own, const step *s, size_t n)
{
    const int in_columns = work->program->shape == COLUMNS;
    switch (s->code) {
    case SUM:
    case MAX: (in_columns ? reduce_pairs : reduce_row)(work, s->code, own->sum[s->dst], own->slot[s->a], n); break;
    default:
        if (in_columns) {
            memcpy(own->slot[s->dst], own->sum[s->a], n * work->lane_size);
        } else {
            finish_whole_numbers(work, s->code == FINISH_SUM ? SUM : MAX, own->slot[s->dst], own->sum[s->a]);
        }
    }
}

static void run_steps(const job *work, room *own, int64_t begin, int64_t end, const place *at, size_t n)
{
    const header *program = work->program;
    const int64_t lane = program->lane;
    const int in_columns = program->shape == COLUMNS;
    for (const step *s = work->steps + begin; s < work->steps + end; s++) {
        if (s->code < FUNCTIONS) {
            acl_emu_engine_tiles->functions[lane][s->code](own->slot[s->dst], own->slot[s->a], own->slot[s->b], own->slot[s->c], n);
            continue;
        }
        if (is_whole_number(lane) && s->code >= SUM && s->code < SPREAD) {
            reduce_whole_numbers(work, own, s, n);
            continue;
        }
        switch (s->code) {
        case LOAD:
        case LOAD_MASK: load(work, own, s->a, s->dst, at, s->code == LOAD_MASK); break;
        case STORE: store(work, own, s->dst, own->slot[s->a], at); break;
        case KEEP: memcpy(own->kept[s->dst] + (size_t)(in_columns ? at->outer * program->lanes : at->first) * work->lane_size, own->slot[s->a], n * work->lane_size); break;
        case TAKE: own->slot[s->dst] = own->kept[s->a] + (size_t)(in_columns ? at->outer * program->lanes : at->first) * work->lane_size; break;
        case SUM: (in_columns ? acl_emu_engine_tiles->lane_sum : acl_emu_engine_tiles->row_sum)[lane](own->sum[s->dst], own->slot[s->a], n); break;
        case DOT: (in_columns ? acl_emu_engine_tiles->lane_dot : acl_emu_engine_tiles->row_dot)[lane](own->sum[s->dst], own->slot[s->a], own->slot[s->b], n); break;
        case MAX:
            if (in_columns) {
                acl_emu_engine_tiles->functions[lane][MAXIMUM](own->sum[s->dst], own->sum[s->dst], own->slot[s->a], NULL, n);
            } else {
                acl_emu_engine_tiles->row_max[lane](own->sum[s->dst], own->slot[s->a], n);
            }
            break;
        case FINISH_SUM:
        case FINISH_MAX:
            if (!in_columns) {
                const double value = s->code == FINISH_SUM ? acl_emu_engine_tiles->total(own->sum[s->a]) : acl_emu_engine_tiles->largest[lane](own->sum[s->a]);
                acl_emu_engine_tiles->from_double[lane](own->slot[s->dst], &value, 1);
            } else if (s->code == FINISH_SUM) {
                acl_emu_engine_tiles->from_double[lane](own->slot[s->dst], own->sum[s->a], n);
            } else {
                memcpy(own->slot[s->dst], own->sum[s->a], n * work->lane_size);
            }
            break;
        case SPREAD:
            if (in_columns) {
                memcpy(own->slot[s->dst], own->slot[s->a], n * work->lane_size);
            } else {
                acl_emu_engine_tiles->spread[lane](own->slot[s->dst], own->slot[s->a], work->tile);
            }
            break;
        }
    }
}

/* Sums start at zero, maxima below everything. */
static void begin_phase(const job *work, room *own, const phase *now, size_t lanes)
{
    clear_sums(work, own, lanes);
    for (const step *s = work->steps + now->lane_begin; s < work->steps + now->lane_end; s++) {
        if (s->code == MAX) {
            begin_max(work, own->sum[s->dst], lanes);
        }
    }
}

/* Units of work */

/* Whether what the last step makes is stored in a row, as it is: then it is made in its place. */
static int is_made_in_place(const job *work)
{
    const step *last = work->steps + work->phases->lane_end - 1;
    if (work->streamed || work->phases->lane_end - work->phases->lane_begin < 2 || last->code != STORE || last[-1].dst != last->a) {
        return 0;
    }
    const operand_view *write = &work->operands[last->dst];
    return lies_in_row(work->program, write) && write->dtype == work->program->lane && (uintptr_t)work->memory[last->dst] % work->lane_size == 0;
}

static int is_computed_in_place(const job *work)
{
    return is_made_in_place(work) && work->steps[work->phases->lane_end - 2].code < FUNCTIONS;
}

/* Whether all that the last step is made of lies in rows, as it is: then nothing has to fit into a register. */
static int is_read_in_place(const job *work)
{
    const step *first = work->steps + work->phases->lane_begin, *last = work->steps + work->phases->lane_end - 2;
    int in_place = last - first == work->program->reads && !work->program->constants;
    for (const step *s = first; s < last && in_place; s++) {
        const operand_view *read = &work->operands[s->a];
        in_place = s->code == LOAD && lies_in_row(work->program, read) && read->dtype == work->program->lane && (uintptr_t)work->memory[s->a] % work->lane_size == 0;
    }
    return in_place;
}

/* Whether all there is to do is to load numbers. */
static int is_loaded_only(const job *work)
{
    const step *first = work->steps + work->phases->lane_begin;
    return is_made_in_place(work) && work->phases->lane_end - work->phases->lane_begin == 2 && first->code == LOAD && lies_in_row(work->program, &work->operands[first->a]);
}

/* The steps on a tile, of which the last leaves its numbers where they are stored. */
static void run_to_place(const job *work, room *own, const place *at)
{
    const step *last = work->steps + work->phases->lane_end - 2, *stored = last + 1;
    void *there = base_of(work, stored->dst, at->outer) + offset_of(&work->operands[stored->dst].inner, at->first);
    run_steps(work, own, work->phases->lane_begin, work->phases->lane_end - 2, at, at->n);
    acl_emu_engine_tiles->functions[work->program->lane][last->code](there, own->slot[last->a], own->slot[last->b], own->slot[last->c], at->n);
}

/* Elements of which the last step is all there is to do, or that are only loaded, from where they are to where they are stored: pieces that lie side by
 * side in all operands, as many at a time as lie evenly. */
static void run_in_place(const job *work, const place *at)
{
    const header *program = work->program;
    const step *stored = work->steps + work->phases->lane_end - 1, *last = stored - 1;
    const int64_t end = at->first + (int64_t)at->n;
    int64_t operands[MOST_SLOTS] = {0}, to_next[MOST_OPERANDS];
    char *here[MOST_OPERANDS];
    for (const step *s = work->steps + work->phases->lane_begin; s <= last && s->code == LOAD; s++) {
        operands[s->dst] = s->a;
    }
    for (int64_t first = at->first, n, rows; first < end; first += rows * n) {
        const int64_t left = program->run - first % program->run, rest = end - first;
        n = left < rest ? left : rest;
        rows = acl_emu_even_pieces(work, program->run, first, n == program->run ? rest / n : 1, to_next);
        for (int64_t k = 0; k < program->operands; k++) {
            here[k] = base_of(work, k, at->outer) + offset_of(&work->operands[k].inner, first);
        }
        for (int64_t row = 0; row < rows; row++) {
            if (last->code == LOAD) {
                acl_emu_engine_tiles->load[program->lane][work->operands[last->a].dtype](here[stored->dst], here[last->a], (size_t)n);
            } else {
                const char *const a = here[operands[last->a]], *const b = here[operands[last->b]], *const c = here[operands[last->c]];
                acl_emu_engine_tiles->functions[program->lane][last->code](here[stored->dst], a, b, c, (size_t)n);
            }
            for (int64_t k = 0; k < program->operands; k++) {
                here[k] += to_next[k];
            }
        }
    }
}

static void run_map(const job *work, room *own, int64_t unit)
{
    const int64_t row = unit / work->chunks, begin = unit % work->chunks * work->unit_length;
    int64_t end = begin + work->unit_length;
    end = end < work->program->inner ? end : work->program->inner;
    const int to_place = is_computed_in_place(work);
    if (is_loaded_only(work) || (to_place && is_read_in_place(work))) {
        run_in_place(work, &(place){.outer = row, .first = begin, .n = (size_t)(end - begin)});
        return;
    }
    const int64_t tile = (int64_t)work->tile, run = work->program->run;
    for (int64_t first = begin, n; first < end; first += n) {
        n = end - first < tile ? end - first : tile;
        if (run < work->program->inner) {
            const int64_t left = run - first % run;
            n = left < n ? left : n;
        }
        const place at = {.outer = row, .first = first, .n = (size_t)n};
        if (to_place) {
            run_to_place(work, own, &at);
        } else {
            run_steps(work, own, work->phases->lane_begin, work->phases->lane_end, &at, at.n);
        }
    }
}

void acl_emu_run_line(const job *work, room *own, int64_t outer, size_t n)
{
    const place at = {.outer = outer, .n = n};
    run_steps(work, own, work->phases->lane_begin, work->phases->lane_end, &at, n);
}

static void run_rows(const job *work, room *own, int64_t unit)
{
    const header *program = work->program;
    const int64_t begin = unit * work->unit_length;
    int64_t end = begin + work->unit_length;
    end = end < program->outer ? end : program->outer;
    for (int64_t row = begin; row < end; row++) {
        for (int64_t p = 0; p < program->phases; p++) {
            const phase *now = &work->phases[p];
            begin_phase(work, own, now, partial_lanes(work));
            for (int64_t first = 0; first < program->inner; first += (int64_t)work->tile) {
                const size_t left = (size_t)(program->inner - first), n = left < work->tile ? left : work->tile;
                const place at = {.outer = row, .first = first, .n = n};
                run_steps(work, own, now->lane_begin, now->lane_end, &at, n);
            }
            const place whole = {.outer = row, .n = 1};
            run_steps(work, own, now->row_begin, now->row_end, &whole, 1);
        }
    }
}

static void run_columns(const job *work, room *own, int64_t unit)
{
    const header *program = work->program;
    const place all = piece_at(program, unit, program->lanes);
    for (int64_t p = 0; p < program->phases; p++) {
        const phase *now = &work->phases[p];
        begin_phase(work, own, now, all.n);
        place at = all;
        for (; at.outer < program->outer; at.outer++) {
            run_steps(work, own, now->lane_begin, now->lane_end, &at, at.n);
        }
        run_steps(work, own, now->row_begin, now->row_end, &all, all.n);
    }
}

/* TOTALS: parts of a long row; what they found is combined in order when all are through. */
static void run_part(const job *work, room *own, int64_t unit)
{
    const header *program = work->program;
    const phase *only = work->phases;
    const int64_t row = unit / work->chunks;
    const place part = piece_at(program, unit % work->chunks, work->unit_length);
    const int64_t end = part.first + (int64_t)part.n;
    begin_phase(work, own, only, partial_lanes(work));
    for (int64_t first = part.first; first < end; first += (int64_t)work->tile) {
        const size_t n = (size_t)(end - first) < work->tile ? (size_t)(end - first) : work->tile;
        const place at = {.outer = row, .first = first, .n = n};
        run_steps(work, own, only->lane_begin, only->lane_end, &at, n);
    }
    double *found = work->partials + (size_t)unit * partials_of(work);
    for (int64_t k = 0; k < program->sums; k++) {
        memcpy(found + k * PARTIALS, own->sum[k], PARTIALS * sizeof(double));
    }
}

static void finish_totals(const job *work, room *own)
{
    const header *program = work->program;
    const phase *only = work->phases;
    for (int64_t row = 0; row < program->outer; row++) {
        begin_phase(work, own, only, partial_lanes(work));
        for (int64_t chunk = 0; chunk < work->chunks; chunk++) {
            const double *found = work->partials + (size_t)(row * work->chunks + chunk) * partials_of(work);
            for (const step *s = work->steps + only->lane_begin; s < work->steps + only->lane_end; s++) {
                if (is_whole_number(program->lane) && (s->code == SUM || s->code == MAX)) {
                    reduce_pairs(work, s->code, own->sum[s->dst], found + s->dst * PARTIALS, partial_lanes(work));
                } else if (s->code == MAX) {
                    acl_emu_engine_tiles->row_max[program->lane](own->sum[s->dst], found + s->dst * PARTIALS, PARTIALS);
                } else if (s->code == SUM || s->code == DOT) {
                    acl_emu_engine_tiles->row_sum[1](own->sum[s->dst], found + s->dst * PARTIALS, PARTIALS);
                }
            }
        }
        const place whole = {.outer = row, .n = 1};
        run_steps(work, own, only->row_begin, only->row_end, &whole, 1);
    }
}

/* Rooms */

static int make_room(room *own, size_t size)
{
    if (own->size < size) {
        free_room(own);
        own->registers = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
        if (!own->registers) {
            return 0;
        }
        own->size = size;
        pthread_setspecific(ending, own);
    }
    return 1;
}

static int prepare_room(const job *work, room *own)
{
    const header *program = work->program;
    if (work->whole) {
        const int there = make_room(own, acl_emu_whole_room(work));
        if (there) {
            acl_emu_prepare_whole(work, own, own->registers);
        }
        return there;
    }
    const size_t columns = program->shape == COLUMNS ? (size_t)(program->outer * program->lanes) : (size_t)program->inner;
    const size_t kept = program->kept ? (columns * work->lane_size + 63) / 64 * 64 : 0;
    const size_t sums = (work->tile > PARTIALS ? work->tile : PARTIALS) * sizeof(double);
    const size_t block = program->shape == BLOCKS ? acl_emu_block_room(work) : 0;
    const size_t gathered = work->tile * sizeof(double) + CACHE_LINE; /* of the widest type; what repeats itself is written in vectors, beyond the end */
    const size_t size = (size_t)program->slots * TILE_BYTES + gathered + kept * (size_t)program->kept + sums * (size_t)program->sums + block;
    if (!make_room(own, size)) {
        return 0;
    }
    char *next = own->registers;
    for (int64_t k = 0; k < program->slots; k++, next += TILE_BYTES) {
        own->slot[k] = next;
    }
    own->gathered = next;
    next += gathered;
    for (int64_t k = 0; k < program->kept; k++, next += kept) {
        own->kept[k] = next;
    }
    for (int64_t k = 0; k < program->sums; k++, next += sums) {
        own->sum[k] = next;
    }
    if (block) {
        acl_emu_prepare_block(work, own, next);
    }
    for (int64_t k = 0; k < program->constants; k++) {
        acl_emu_engine_tiles->load[program->lane][is_whole_number(program->lane) ? I64 : F64](own->slot[k], &work->constants[k], 1);
        acl_emu_engine_tiles->spread[program->lane](own->slot[k], own->slot[k], work->tile);
    }
    const place everywhere = {.n = work->tile};
    run_steps(work, own, 0, program->prologue_end, &everywhere, work->tile);
    return 1;
}

/* What a long row took is given back. */
static void leave_room(room *own)
{
    if (own->size > LASTING_ROOM) {
        free_room(own);
    }
}

static run_unit *const run_in_steps[] = {run_map, acl_emu_run_block, run_rows, run_columns, run_part}; /* by shape */

/* The next units of a share; -1 where there are none left. */
static int64_t next_of_share(job *work, int64_t share)
{
    const int64_t turns = (work->units + work->in_turn - 1) / work->in_turn;
    const int64_t begin = share * turns / work->shares, end = (share + 1) * turns / work->shares;
    const int64_t turn = begin + atomic_fetch_add(&work->taken[share], 1);
    return turn < end ? turn * work->in_turn : -1;
}

/* Those of one's own share or, when that is through, of another. In programs that come one after another a thread gets the same part of memory, which
 * is in its cache. */
static int64_t next_units(job *work, int64_t *share)
{
    for (int64_t tried = 0; tried < work->shares; tried++, *share = (*share + 1) % work->shares) {
        const int64_t first = next_of_share(work, *share);
        if (first >= 0) {
            return first;
        }
    }
    return -1;
}

/* Whether units are worked on that memory is turned for: these have shares of their own, and are known one ahead. */
static int is_turned_somewhere(const job *work)
{
    return work->program->shape == BLOCKS || work->turned_rows;
}

static void run_units(void *argument)
{
    job *work = argument;
    int64_t share = atomic_fetch_add(&work->workers, 1) % work->shares;
    run_unit *const run = (work->whole ? acl_emu_run_whole : run_in_steps)[work->program->shape];
    room *own = &own_room;
    int ready = 0;
    for (int64_t first = next_units(work, &share); first >= 0; first = own->next >= 0 ? own->next : next_units(work, &share)) {
        own->next = is_turned_somewhere(work) ? next_of_share(work, share) : -1; /* no other's: there is nothing to be gained from who waits */
        if (!ready && !(ready = prepare_room(work, own))) {
            atomic_store(&work->failed, 1);
            return;
        }
        for (int64_t unit = first; unit < work->units && unit < first + work->in_turn; unit++) {
            run(work, own, unit);
        }
    }
#if defined(__x86_64__)
    if (work->streamed) {
        _mm_sfence(); /* what passed by the caches is there for whoever is told that all is done */
    }
#endif
    leave_room(own);
}

/* Running */

static const int64_t no_region = 0, *regions = &no_region; /* count, then first address, end, and distance to where kernels find it */

EXPORT void acl_emu_engine_set_regions(const int64_t *table)
{
    regions = table;
}

enum { DONE = 0, OVERLAP = 1, NO_MEMORY = 2 };

/* Whether some write lies partly on another operand: then a result may only be stored when all of it has been computed. */
static int overlapping(const job *work)
{
    const header *program = work->program;
    for (int64_t w = program->reads; w < program->operands; w++) {
        const char *begin = work->memory[w], *end = begin + work->operands[w].extent;
        for (int64_t k = 0; k < program->operands; k++) {
            const char *other = work->memory[k];
            if (k == w || work->operands[k].unread || other >= end || other + work->operands[k].extent <= begin) {
                continue;
            }
            const int same = k < program->reads && other == begin && work->operands[w].in_place &&
                             !memcmp(&work->operands[w].outer, &work->operands[k].outer, 2 * sizeof(range_view)) &&
                             work->operands[w].item == work->operands[k].item;
            if (!same) {
                return 1;
            }
        }
    }
    return 0;
}

/* Whether the caches do not hold all operands. */
static int is_large(const job *work)
{
    int64_t bytes = 0;
    for (int64_t k = 0; k < work->program->operands; k++) {
        bytes += work->operands[k].extent;
    }
    return bytes >= STREAMED_BYTES;
}

/* Whether results are best written past the caches: nothing of them was read. */
static int is_streamed(const job *work)
{
    const header *program = work->program;
    for (int64_t k = 0; k < program->reads; k++) {
        for (int64_t w = program->reads; w < program->operands; w++) {
            if (work->memory[k] == work->memory[w]) {
                return 0;
            }
        }
    }
    return work->large;
}

/* Tiles of a unit whose length no number depends on, or of such that are taken together: as many as leave some units for every thread, since it takes a while after each until
 * memory is read ahead again. */
static int64_t chunk_tiles(const header *program, int64_t tile, int64_t threads)
{
    const int64_t fitting = program->outer * program->inner / (tile * threads * LEAST_UNITS);
    return fitting < CHUNK_TILES ? CHUNK_TILES : fitting < MOST_CHUNK_TILES ? fitting : MOST_CHUNK_TILES;
}

/* Bytes that operands some steps apart are gathered from at a time, and elements that have to be found there: for fewer it takes too long to begin. */
enum { STEPPED_BYTES = 1280, LEAST_STEPPED = 64 };

/* Such operands are gathered a few cache lines at a time: where memory is gone through piece by piece, a processor reads ahead best in short ones. */
static void shorten_tile(job *work)
{
    for (int64_t k = 0; k < work->program->operands; k++) {
        const operand_view *view = &work->operands[k];
        const int64_t stride = view->inner.stride[view->inner.count - 1];
        if (is_step(stride, view->item) && stride * LEAST_STEPPED <= STEPPED_BYTES) {
            const size_t fitting = padded((size_t)(STEPPED_BYTES / stride));
            work->tile = fitting < work->tile ? fitting : work->tile;
        }
    }
}

/* Whether what units find is put together when all are through. */
static int has_partials(const job *work)
{
    return work->program->shape == TOTALS || (work->program->shape == COLUMNS && work->chunks > 1);
}

/* Cut a program into units; 0 where there is no memory for what they find. */
static int divide(job *work, int64_t threads)
{
    const header *program = work->program;
    const int64_t tile = (int64_t)(TILE_BYTES / (work->whole ? sizeof(float) : work->lane_size));
    const int64_t chunk = chunk_tiles(program, tile, threads) * tile, rows = chunk / program->inner;
    work->tile = (size_t)tile;
    work->in_turn = program->shape == TOTALS ? parts_of(chunk, TOTAL_TILES * tile) : 1;
    work->reductions = program->sums;
    work->unit_length = program->shape == ROWS ? (rows ? rows : 1) : program->shape == TOTALS ? TOTAL_TILES * tile : chunk;
    if (work->whole) {
        acl_emu_divide_whole(work);
    }
    if (program->shape == MAP && work->large) {
        shorten_tile(work);
    }
    work->chunks = program->shape == MAP ? parts_of(program->inner, work->unit_length) : pieces_of(program, work->unit_length);
    switch (program->shape) {
    case BLOCKS: acl_emu_divide_blocks(work, threads); break;
    case ROWS: work->units = parts_of(program->outer, work->unit_length); break;
    case COLUMNS:
        work->chunks = work->whole ? parts_of(program->outer, program->block) : 1;
        work->units = work->chunks * pieces_of(program, program->lanes);
        break;
    default: work->units = program->outer * work->chunks; break;
    }
    if (has_partials(work)) {
        work->partials = malloc((size_t)work->units * partials_of(work) * sizeof(double));
    }
    return !has_partials(work) || work->partials;
}

/* 0: done; 1: operands overlap; 2: no memory; -1 - k: operand k does not lie in device memory. */
static int64_t run_program(const int64_t *numbers, const int64_t *addresses, int on_host, int64_t threads)
{
    const header *program = (const header *)numbers;
    job work = {
        .program = program,
        .operands = (const operand_view *)(numbers + program->operand_at),
        .phases = (const phase *)(numbers + program->phase_at),
        .steps = (const step *)(numbers + program->step_at),
        .constants = (const double *)(numbers + program->constant_at),
        .fused_constants = (const double *)(numbers + program->fused_constant_at),
        .fused_operands = numbers + program->fused_operand_at,
        .fused_count = program->fused_operand_at - program->fused_constant_at,
        .lane_size = (size_t)item_of(program->lane),
    };
    for (int64_t k = 0; k < program->operands; k++) {
        work.memory[k] = on_host ? (char *)addresses[k] : region_locate(regions, addresses[k], work.operands[k].extent);
        if (!work.memory[k]) {
            return -1 - k;
        }
    }
    if (overlapping(&work)) {
        return OVERLAP;
    }
    if (program->fused >= 0) {
        work.whole = &fused->entries[program->fused];
        work.kernel = (program->shape == COLUMNS ? work.whole->columns : work.whole->kernels)[program->storage][program->way];
    }
    work.large = is_large(&work);
    work.streamed = is_streamed(&work);
    if (!divide(&work, threads)) {
        return NO_MEMORY;
    }
    if (program->outer * program->inner < THREADED_LANES || work.units < 2) {
        threads = 1;
    }
    threads = threads < work.units ? threads : work.units;
    /* What the caches do not hold is read in order, by all threads together, unless it is turned: then they would read the same pages side by side. */
    const int together = work.large && !is_turned_somewhere(&work);
    work.shares = together ? 1 : threads < MOST_SHARES ? threads : MOST_SHARES;
    acl_emu_engine_together(run_units, &work, threads);
    if (has_partials(&work) && !atomic_load(&work.failed)) {
        if (prepare_room(&work, &own_room)) {
            (work.whole ? acl_emu_finish_whole : finish_totals)(&work, &own_room);
        } else {
            atomic_store(&work.failed, 1);
        }
    }
    free(work.partials);
    return atomic_load(&work.failed) ? NO_MEMORY : DONE;
}

EXPORT int64_t acl_emu_engine_run(const int64_t *numbers, const int64_t *addresses, int64_t threads)
{
    return run_program(numbers, addresses, 0, threads);
}

/* The same on any memory of the process. */
EXPORT int64_t acl_emu_engine_run_on_host(const int64_t *numbers, const int64_t *addresses, int64_t threads)
{
    return run_program(numbers, addresses, 1, threads);
}

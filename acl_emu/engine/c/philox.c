/* Philox4x32 with ten rounds: random words from a key and a counter, each block of four from its own counter. */
#include "index.h"

enum { LANES = 16, UNIT = 4096 }; /* blocks side by side, and blocks of one unit of work: a multiple of LANES */

typedef struct {
    int64_t key, stream;    /* the upper half of every counter */
    int64_t first, blocks;  /* the lower halves */
    uint32_t *words;        /* four for each block */
} philox_call;

/* Blocks `first` to `first + LANES - 1`. */
static inline void lanes(uint32_t *words, uint64_t key, uint64_t stream, uint64_t first)
{
    uint32_t c0[LANES], c1[LANES], c2[LANES], c3[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        const uint64_t block = first + (uint64_t)lane;
        c0[lane] = (uint32_t)block;
        c1[lane] = (uint32_t)(block >> 32);
        c2[lane] = (uint32_t)stream;
        c3[lane] = (uint32_t)(stream >> 32);
    }
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        for (int lane = 0; lane < LANES; lane++) {
            const uint64_t a = (uint64_t)c0[lane] * 0xD2511F53u, b = (uint64_t)c2[lane] * 0xCD9E8D57u;
            c0[lane] = (uint32_t)(b >> 32) ^ c1[lane] ^ k0;
            c2[lane] = (uint32_t)(a >> 32) ^ c3[lane] ^ k1;
            c1[lane] = (uint32_t)b;
            c3[lane] = (uint32_t)a;
        }
    }
    for (int lane = 0; lane < LANES; lane++) {
        words[4 * lane] = c0[lane];
        words[4 * lane + 1] = c1[lane];
        words[4 * lane + 2] = c2[lane];
        words[4 * lane + 3] = c3[lane];
    }
}

FOR_EACH_CPU static void fill(const philox_call *call, int64_t begin, int64_t end)
{
    const uint64_t key = (uint64_t)call->key, stream = (uint64_t)call->stream, first = (uint64_t)call->first;
    int64_t block = begin;
    for (; block + LANES <= end; block += LANES) {
        lanes(call->words + 4 * block, key, stream, first + (uint64_t)block);
    }
    if (block < end) {
        uint32_t rest[4 * LANES];
        lanes(rest, key, stream, first + (uint64_t)block);
        for (int64_t word = 0; word < 4 * (end - block); word++) {
            call->words[4 * block + word] = rest[word];
        }
    }
}

static void run_philox(void *argument)
{
    job *work = argument;
    const philox_call *call = work->call;
    for (int64_t unit; next_unit(work, &unit);) {
        fill(call, unit * UNIT, at_most((unit + 1) * UNIT, call->blocks));
    }
}

EXPORT void acl_emu_philox_words(const philox_call *call, int64_t threads)
{
    run(run_philox, call, parts_of(call->blocks, UNIT), threads);
}

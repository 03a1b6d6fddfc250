/* A kernel as a row of steps, programs of the engine and functions in C, each on what those before it have left. */
#include "index.h"

#include <stdlib.h>

/* The order of the fields is known to acl_emu/engine/chain.py. */

enum { MOST_PARTS = 16, ELSEWHERE = -1 };

typedef struct {
    int64_t (*run)(const int64_t *numbers, const int64_t *addresses, int64_t threads);
    int64_t numbers; /* where they begin, behind all steps */
    int64_t threaded, parts;
    struct {
        int64_t place; /* an operand, the scratch behind them, or ELSEWHERE */
        int64_t offset;
    } part[];
} chain_step;

typedef struct {
    operand_list list;
    int64_t scratch; /* bytes */
    int64_t steps, length; /* how many steps, and how many numbers they take */
    int64_t first[];
} chain_call;

EXPORT int64_t acl_emu_chain_run(const chain_call *call, const int64_t *addresses, int64_t threads)
{
    char *memory[MOST_OPERANDS + 1];
    if (!acl_emu_index_locate(&call->list, addresses, memory)) {
        return LEFT_TO_NUMPY;
    }
    char *scratch = memory[call->list.operands] = call->scratch ? aligned_alloc(64, (size_t)call->scratch) : NULL;
    if (call->scratch && !scratch) {
        return LEFT_TO_NUMPY;
    }
    const int64_t *next = call->first;
    int64_t result = DONE;
    for (int64_t k = 0; k < call->steps && result == DONE; k++) {
        const chain_step *step = (const chain_step *)next;
        int64_t given[MOST_PARTS];
        for (int64_t p = 0; p < step->parts; p++) {
            given[p] = step->part[p].offset + (step->part[p].place == ELSEWHERE ? 0 : (int64_t)memory[step->part[p].place]);
        }
        result = step->run(call->first + call->length + step->numbers, given, step->threaded ? threads : 1);
        next = (const int64_t *)&step->part[step->parts];
    }
    free(scratch);
    return result == DONE ? DONE : LEFT_TO_NUMPY;
}

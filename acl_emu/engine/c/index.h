/* What the functions share whose work is driven by indices. */
#ifndef ACL_EMU_INDEX_H
#define ACL_EMU_INDEX_H

#include "engine.h"
#include "regions.h"

#include <stdatomic.h>

#define EXPORT __attribute__((visibility("default")))
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_CPU __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_CPU
#endif

typedef struct {
    const void *call;
    int64_t units;
    atomic_int_fast64_t next;
} job;

static inline int64_t at_most(int64_t length, int64_t most)
{
    return length < most ? length : most;
}

/* Call function(job) on several threads; each takes units by their numbers until there are no more. */
static inline void run(void (*function)(void *), const void *call, int64_t units, int64_t threads)
{
    job work = {.call = call, .units = units};
    acl_emu_engine_together(function, &work, at_most(threads, units));
}

static inline int next_unit(job *work, int64_t *unit)
{
    *unit = atomic_fetch_add(&work->next, 1);
    return *unit < work->units;
}

/* What a function that does a whole kernel returns; numpy then does the kernel, and names what is wrong. The order is known to
 * acl_emu/engine/calls.py. */
enum { DONE, LEFT_TO_NUMPY };

/* As acl_emu/spec/kinds.py numbers reductions. */
enum { NO_REDUCTION, MEAN_OF_ALL, SUM_OF_ALL };

enum { MOST_OPERANDS = 24 };

/* How the operands of such a function come: reads, writes, then parts of the workspace. Known to acl_emu/engine/calls.py. */
typedef struct {
    const int64_t *regions;
    int64_t reads, operands;
    int64_t extents[MOST_OPERANDS]; /* in bytes */
} operand_list;

/* Where operands lie for kernels; 0 where one does not lie in device memory, or what is written lies on another. */
int acl_emu_index_locate(const operand_list *list, const int64_t *addresses, char **memory);

/* Rows of numbers, `stride` bytes apart, as doubles and back with one rounding; the types are those of engine.h. */
void acl_emu_index_load(double *to, const char *from, int64_t stride, int64_t dtype, int64_t count);
void acl_emu_index_store(char *to, int64_t stride, int64_t dtype, const double *from, int64_t count);

/* The same by way of another type, as doubles that the type holds. */
void acl_emu_index_round(double *numbers, int64_t dtype, int64_t count);

/* Rows of integers. */
void acl_emu_index_load_integers(int64_t *to, const char *from, int64_t stride, int64_t dtype, int64_t count);

/* to[n] = from[index[n]], whose element 0 lies n strides behind `from` and the others a step apart each; 0 where the index is negative. */
void acl_emu_index_gather(char *to, const char *from, int64_t stride, int64_t step, const int64_t *index, int64_t count, int64_t item);

/* The product of two rows of contiguous numbers, in double. */
double acl_emu_index_dot(const float *a, const float *b, int64_t inner);

#endif

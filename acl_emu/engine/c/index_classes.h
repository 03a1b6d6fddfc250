/* Targets that choose classes: arrays with an axis of classes, and a target for each place on their other axes, which is called a pixel. */
#ifndef ACL_EMU_INDEX_CLASSES_H
#define ACL_EMU_INDEX_CLASSES_H

#include "index.h"

/* Pixels are numbered line by line; arrays of them lie any number of bytes apart. */
typedef struct {
    int64_t batch, height, width;
} space;

typedef struct {
    int64_t down, along, across;
} steps;

/* Pixels that are looked at together: where they are only read, all that is known of them stays in the first-level cache; where a class of theirs
 * is written at a time, the lines in memory are to be long. */
enum { READ = 512, WRITTEN = 2048, ITEM = 4 }; /* ITEM: bytes of the longest number */

/* Pixels side by side in a line. */
typedef struct {
    int64_t first, count;
    int64_t batch, line, at;
} stretch;

static inline stretch stretch_from(const space *pixels, int64_t first, int64_t end, int64_t most)
{
    const int64_t line = first / pixels->width, at = first % pixels->width;
    const int64_t count = at_most(at_most(pixels->width - at, end - first), most);
    return (stretch){first, count, line / pixels->height, line % pixels->height, at};
}

static inline int64_t count_of(const space *pixels)
{
    return pixels->batch * pixels->height * pixels->width;
}

static inline int64_t offset_of(const steps *array, const stretch *some)
{
    return some->batch * array->down + some->line * array->along + some->at * array->across;
}

/* Targets as they lie in memory where they can be used so, else brought into the scratch. */
static inline const int64_t *targets_of(const char *memory, int64_t stride, int64_t dtype, int64_t count, int64_t *scratch)
{
    if (dtype == I64 && stride == (int64_t)sizeof *scratch && (uintptr_t)memory % sizeof *scratch == 0) {
        return (const int64_t *)memory;
    }
    acl_emu_index_load_integers(scratch, memory, stride, dtype, count);
    return scratch;
}

/* The class of each target, -1 where it is ignored or outside the classes; whether one that is not ignored is outside. */
int64_t acl_emu_index_find_classes(int64_t *index, const int64_t *targets, int64_t count, int64_t classes, int64_t ignored);

#endif

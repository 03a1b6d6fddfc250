/* Random calls at the whole C interface: fuzz SEED CALLS [trace]
 *
 * Handles are null, living, dead, of another kind, or no handles at all; pointers, sizes, dimensions and enumerations are as wild. The
 * driver keeps its own books of what is alive and stops at the first answer that cannot be right. What a device, too, must take on trust
 * is kept sane: host memory that is written to belongs to the driver, and code that is called is its own.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* Randomness */

static uint64_t state;

static uint64_t any(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1DULL;
}

static int below(int limit)
{
    return (int)((any() >> 33) % (uint64_t)limit);
}

static int chance(int percent)
{
    return below(100) < percent;
}

#define ONE_OF(array) ((array)[below(COUNT(array))])

/* Calls: counted by name, their answers judged */

typedef struct {
    const char *name;
    long calls, successes;
} Tally;

#define NAMES 8192

static Tally tallies[NAMES];
static int tally_count;
static Tally *now;
static long total, traced;
static uint64_t seed;

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "fuzz: seed %llu, call %ld, %s: ", (unsigned long long)seed, total, now ? now->name : "start");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    fflush(stderr);
    _exit(1);
}

static void begin(const char *name)
{
    int i = 0;
    while (i < tally_count && strcmp(tallies[i].name, name) != 0)
        i++;
    if (i == NAMES)
        fail("more than %d functions", NAMES);
    if (i == tally_count)
        tallies[tally_count++].name = name;
    now = &tallies[i];
    now->calls++;
    total++;
    if (traced)
        fprintf(stderr, "%ld %s\n", total, name);
}

/* A failure inside the emulator has no code of its own: its text gives it away. */
static void look_inside(int status)
{
    if (status != ACL_ERROR_INTERNAL_ERROR && status != ACLNN_ERR_INNER && status != ACL_ERROR_RT_AICORE_EXCEPTION)
        return;
    const char *text = aclGetRecentErrMsg();
    if (text && strstr(text, " stopped with ") && !strstr(text, "MemoryError"))
        fail("an exception came through: %s", text);
}

static int finish(int status, int refuse)
{
    if (!status && refuse)
        fail("success with an argument that has to be refused");
    now->successes += !status;
    look_inside(status);
    return status;
}

static void *made(void *handle)
{
    now->successes += handle != NULL;
    return handle;
}

#define STATUS(refuse, name, ...) (begin(#name), finish((int)name(__VA_ARGS__), refuse))
#define MAKE(name, ...) (begin(#name), made((void *)name(__VA_ARGS__)))

/* The books */

enum { TENSOR, SCALAR, INTS, FLOATS, BOOLS, TENSORS, SCALARS, EXECUTOR, STREAM, EVENT, CONTEXT, DEVICE_MEMORY, HOST_MEMORY, KINDS };
enum { VALID, NOTHING, BAD };

#define MOST 256
#define PLENTY 40 /* where a pool stops growing by itself */
#define DEAD 64
#define GONE 2048
#define MEMBERS 6

typedef struct {
    void *handle;
    void *context;       /* of a stream */
    size_t size;         /* of memory */
    int device;          /* of a primary context, else -1 */
    int operator_index;  /* of an executor */
    int repeatable;
    void *members[MEMBERS];
    int member_count;
} Thing;

typedef struct {
    Thing living[MOST];
    int count;
    void *dead[DEAD];
    int dead_count;
    void *gone[GONE]; /* died with their list: destroying them once more is tolerated once */
    int gone_count;
} Pool;

static Pool pools[KINDS];

static Thing *find(int kind, const void *handle)
{
    for (int i = 0; i < pools[kind].count; i++)
        if (pools[kind].living[i].handle == handle)
            return &pools[kind].living[i];
    return NULL;
}

static int full(int kind)
{
    return pools[kind].count >= PLENTY;
}

static Thing *add(int kind, void *handle)
{
    Pool *pool = &pools[kind];
    if (!handle)
        fail("success without a result");
    if (find(kind, handle))
        fail("%p was given out twice", handle);
    if (pool->count == MOST)
        fail("the books are full");
    for (int i = 0; i < pool->dead_count; i++) /* addresses, unlike handles, come again */
        if (pool->dead[i] == handle)
            pool->dead[i--] = pool->dead[--pool->dead_count];
    Thing *thing = &pool->living[pool->count++];
    memset(thing, 0, sizeof *thing);
    thing->handle = handle;
    thing->device = -1;
    return thing;
}

static void bury(int kind, const void *handle)
{
    Pool *pool = &pools[kind];
    Thing *thing = find(kind, handle);
    if (thing)
        *thing = pool->living[--pool->count];
    int place = pool->dead_count < DEAD ? pool->dead_count++ : below(DEAD);
    pool->dead[place] = (void *)(uintptr_t)handle;
}

static void die_with_list(int kind, const void *handle)
{
    Pool *pool = &pools[kind];
    Thing *thing = find(kind, handle);
    if (!thing)
        return;
    *thing = pool->living[--pool->count];
    if (pool->gone_count == GONE)
        pool->gone[below(GONE)] = pool->gone[--pool->gone_count];
    pool->gone[pool->gone_count++] = (void *)(uintptr_t)handle;
}

static int forgive(int kind, const void *handle)
{
    Pool *pool = &pools[kind];
    for (int i = 0; i < pool->gone_count; i++)
        if (pool->gone[i] == handle) {
            pool->gone[i] = pool->gone[--pool->gone_count];
            return 1;
        }
    return 0;
}

/* Pointers that are nothing */

static unsigned char *arena; /* memory of the driver's own, before memory that does not exist */
#define ARENA (1 << 20)

static void callback(void *data)
{
    if (data)
        __atomic_add_fetch((int *)data, 1, __ATOMIC_RELAXED);
}

static int called;
static void *heap;

static void *near_a_handle(void)
{
    for (int tries = 0; tries < 20; tries++) {
        Pool *pool = &pools[below(KINDS)];
        if (pool->count) {
            static const int distances[] = {1, -1, 8, 4};
            return (char *)pool->living[below(pool->count)].handle + ONE_OF(distances);
        }
    }
    return (void *)1;
}

static void *foreign(void)
{
    int stack = 0;
    switch (below(9)) {
    case 0: return (void *)((uintptr_t)&stack & ~(uintptr_t)7);
    case 1: return heap;
    case 2: return (void *)(uintptr_t)callback;
    case 3: return (void *)(uintptr_t)(1 + below(5000));
    case 4: return (void *)(uintptr_t)(any() | 1ULL << 63);
    case 5: return (void *)(uintptr_t)(0x5AC1000000000000ULL + any() % 0x100000000ULL);
    case 6: return (void *)UINTPTR_MAX;
    case 7: return arena + ARENA;
    default: return near_a_handle();
    }
}

static void *pick(int kind, int *what)
{
    Pool *pool = &pools[kind];
    int dice = below(100);
    *what = VALID;
    if (dice < 72 && pool->count)
        return pool->living[below(pool->count)].handle;
    if (dice < 80) {
        *what = NOTHING;
        return NULL;
    }
    *what = BAD;
    if (dice < 88 && pool->dead_count)
        return pool->dead[below(pool->dead_count)];
    if (dice < 90 && pool->gone_count)
        return pool->gone[below(pool->gone_count)];
    for (int tries = 0; dice < 95 && tries < 10; tries++) {
        int other = below(KINDS);
        if (other != kind && pools[other].count)
            return pools[other].living[below(pools[other].count)].handle;
    }
    return foreign();
}

/* Where a result goes: mostly to a variable, at times to where nothing can be written. */
static void *out(void *variable, int *refuse)
{
    if (chance(92))
        return variable;
    *refuse = 1;
    switch (below(6)) {
    case 0: return NULL;
    case 1: return (void *)(uintptr_t)callback;
    case 2: return (void *)(uintptr_t)(1 + below(4000));
    case 3: return arena + ARENA;
    case 4: return (void *)(uintptr_t)(any() | 1ULL << 63);
    default: return pools[DEVICE_MEMORY].count ? pools[DEVICE_MEMORY].living[0].handle : NULL;
    }
}

/* Values. Large ones are so large that nobody can serve them: what could be served would only take long. */

static int64_t wild(void)
{
    static const int64_t values[] = {0, 1, 2, 3, -1, -2, 7, 100, -100, 1LL << 31, -(1LL << 31), 1LL << 46, 1LL << 61, INT64_MAX, INT64_MIN};
    return chance(80) ? ONE_OF(values) : (int64_t)any();
}

static int wild_int(void)
{
    return chance(70) ? below(12) - 2 : (int)any();
}

static size_t wild_size(void)
{
    static const size_t values[] = {0, 1, 3, 32, 64, 100, 512, 4096, (size_t)1 << 46, (size_t)1 << 62, (size_t)1 << 63, SIZE_MAX};
    return chance(60) ? (size_t)below(2048) : ONE_OF(values);
}

static int timeout(int *refuse)
{
    static const int values[] = {1, 2, 3, 1000, 0, -2, INT32_MIN};
    int value = ONE_OF(values);
    *refuse |= value <= 0;
    return value;
}

static int dtype(void)
{
    static const int usual[] = {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT64, ACL_INT32, ACL_UINT8, ACL_BOOL, ACL_DOUBLE};
    return chance(85) ? ONE_OF(usual) : chance(70) ? below(48) - 3 : (int)any();
}

/* Device addresses of every sort */
static void *device_address(void)
{
    Pool *pool = &pools[DEVICE_MEMORY];
    int dice = below(100);
    if (dice < 80 && pool->count)
        return (char *)pool->living[below(pool->count)].handle + (chance(20) ? below(256) : 0);
    if (dice < 86 && pool->dead_count)
        return pool->dead[below(pool->dead_count)];
    if (dice < 90)
        return NULL;
    if (dice < 95)
        return arena;
    return foreign();
}

/* Host memory that may be written to, and how much of it. */
static void *host_target(size_t *capacity)
{
    Pool *pool = &pools[HOST_MEMORY];
    if (pool->count && chance(60)) {
        Thing *thing = &pool->living[below(pool->count)];
        *capacity = thing->size;
        return thing->handle;
    }
    *capacity = ARENA;
    return arena;
}

/* Whether writing there harms nobody: device memory, or no memory at all. */
static int is_harmless(const char *address)
{
    for (int i = 0; i < pools[DEVICE_MEMORY].count; i++) {
        const char *first = pools[DEVICE_MEMORY].living[i].handle;
        if (address >= first && address <= first + 256)
            return 1;
    }
    for (int i = 0; i < pools[DEVICE_MEMORY].dead_count; i++)
        if (address == pools[DEVICE_MEMORY].dead[i])
            return 1;
    return (uintptr_t)address < 65536 || (uintptr_t)address >> 47 || address == (const char *)arena + ARENA ||
           address == (const char *)(uintptr_t)callback;
}

/* Where a copy may go: any device address, memory of the driver, or where nothing can be written. capacity: bytes behind it that may be lost. */
static void *target(size_t *capacity)
{
    if (chance(40))
        return host_target(capacity);
    *capacity = SIZE_MAX;
    void *address = device_address();
    if (is_harmless(address))
        return address;
    *capacity = ARENA;
    return arena;
}

/* Tensors, scalars, arrays, lists */

static int64_t dims[64], strides[64], storage[64];
static const int shapes[][5] = {{2, 2, 4}, {2, 2, 4}, {1, 4}, {1, 2}, {0}, {1, 1}, {4, 1, 3, 2, 2}, {3, 1, 2, 2}, {2, 4, 2}, {3, 2, 1, 4}};

static uint64_t random_dims(void)
{
    const int *shape = ONE_OF(shapes);
    uint64_t rank = (uint64_t)shape[0];
    for (uint64_t i = 0; i < rank; i++)
        dims[i] = shape[i + 1];
    if (chance(15)) {
        rank = (uint64_t)below(10);
        for (uint64_t i = 0; i < rank; i++)
            dims[i] = chance(90) ? below(4) : wild();
    }
    uint64_t step = 1;
    for (uint64_t i = rank; i-- > 0; step *= (uint64_t)dims[i])
        strides[i] = (int64_t)step;
    if (chance(15))
        for (uint64_t i = 0; i < rank; i++)
            strides[i] = chance(70) ? below(6) : wild();
    memcpy(storage, dims, sizeof dims);
    return rank;
}

static const void *array(const void *good, uint64_t *count, int *refuse)
{
    if (chance(93))
        return good;
    switch (below(3)) {
    case 0:
        *refuse |= *count != 0;
        return NULL;
    case 1:
        *refuse |= *count != 0;
        return (void *)(uintptr_t)(1 + below(4000));
    default:
        *count = chance(50) ? (uint64_t)1 << 40 : UINT64_MAX;
        *refuse = 1;
        return good;
    }
}

static void make_tensor(void)
{
    uint64_t rank = random_dims(), storage_rank = chance(90) ? rank : (uint64_t)below(9);
    int refuse = 0;
    const int64_t *view_dims = array(dims, &rank, &refuse), *storage_dims = array(storage, &storage_rank, &refuse);
    aclTensor *tensor = MAKE(aclCreateTensor, view_dims, rank, (aclDataType)dtype(), chance(60) ? strides : NULL, chance(90) ? 0 : wild(),
                             (aclFormat)(chance(90) ? 2 : wild_int()), storage_dims, storage_rank, device_address());
    if (tensor && refuse)
        fail("a tensor of nothing");
    if (!tensor && !refuse && rank <= 8 && storage_rank <= 8)
        fail("no tensor");
    if (tensor)
        add(TENSOR, tensor);
}

static void make_scalar(void)
{
    double value = 1.5;
    int type = dtype(), refuse = 0;
    void *where = out(&value, &refuse);
    if (where == (void *)(uintptr_t)callback || find(DEVICE_MEMORY, where)) /* these can be read */
        refuse = 0;
    int has_scalars = type != ACL_STRING && type != ACL_INT4 && type != ACL_UINT1 && type != ACL_COMPLEX32 && type >= 0 && type < 64;
    aclScalar *scalar = MAKE(aclCreateScalar, where, (aclDataType)type);
    if (scalar && (refuse || !has_scalars))
        fail("a scalar of nothing, dtype %d at %p", type, where);
    if (scalar)
        add(SCALAR, scalar);
}

static void make_array(void)
{
    static const float floats[8] = {1, -1, 0.5f};
    static const bool bools[8] = {true, false};
    uint64_t count = (uint64_t)below(8);
    int refuse = 0, kind = INTS + below(3);
    const void *values = kind == INTS ? (const void *)dims : kind == FLOATS ? (const void *)floats : (const void *)bools;
    values = array(values, &count, &refuse);
    void *made_array = kind == INTS     ? MAKE(aclCreateIntArray, values, count)
                       : kind == FLOATS ? MAKE(aclCreateFloatArray, values, count)
                                        : MAKE(aclCreateBoolArray, values, count);
    if (made_array && refuse && values)
        fail("an array of nothing");
    if (made_array)
        add(kind, made_array);
}

static void make_list(void)
{
    int kind = chance(60) ? TENSORS : SCALARS, count = below(MEMBERS + 1), what;
    void *members[MEMBERS];
    for (int i = 0; i < count; i++)
        members[i] = pick(kind == TENSORS ? TENSOR : SCALAR, &what);
    void *list = kind == TENSORS ? MAKE(aclCreateTensorList, (const aclTensor *const *)members, (uint64_t)count)
                                 : MAKE(aclCreateScalarList, (const aclScalar *const *)members, (uint64_t)count);
    Thing *thing = add(kind, list);
    thing->member_count = count;
    memcpy(thing->members, members, sizeof members);
}

static void destroy_object(int kind)
{
    int what, status;
    void *handle = pick(kind, &what);
    int forgiven = (kind == TENSOR || kind == SCALAR) && what == BAD && forgive(kind, handle);
    int refuse = what == BAD && !forgiven;
    switch (kind) {
    case TENSOR: status = STATUS(refuse, aclDestroyTensor, handle); break;
    case SCALAR: status = STATUS(refuse, aclDestroyScalar, handle); break;
    case INTS: status = STATUS(refuse, aclDestroyIntArray, handle); break;
    case FLOATS: status = STATUS(refuse, aclDestroyFloatArray, handle); break;
    case BOOLS: status = STATUS(refuse, aclDestroyBoolArray, handle); break;
    case TENSORS: status = STATUS(refuse, aclDestroyTensorList, handle); break;
    case SCALARS: status = STATUS(refuse, aclDestroyScalarList, handle); break;
    default: status = STATUS(what != VALID, aclDestroyAclOpExecutor, handle); break;
    }
    if (what == NOTHING && kind != EXECUTOR && status)
        fail("destroying nothing is refused with %d", status);
    if (what == VALID && status)
        fail("a living object cannot be destroyed: %d", status);
    if (forgiven)
        bury(kind, handle);
    if (what != VALID)
        return;
    Thing *thing = find(kind, handle);
    if (kind == TENSORS || kind == SCALARS)
        for (int i = 0; i < thing->member_count; i++)
            die_with_list(kind == TENSORS ? TENSOR : SCALAR, thing->members[i]);
    bury(kind, handle);
}

static void make_object(void)
{
    int kind = below(10);
    if (kind < 5 && !full(TENSOR))
        make_tensor();
    else if (kind < 7 && !full(SCALAR))
        make_scalar();
    else if (kind < 9 && !full(INTS) && !full(FLOATS) && !full(BOOLS))
        make_array();
    else if (!full(TENSORS) && !full(SCALARS))
        make_list();
    else
        destroy_object(below(EXECUTOR));
}

static void ask_tensor(void)
{
    int what, refuse;
    aclTensor *tensor = pick(TENSOR, &what);
    int64_t *values = NULL, offset;
    uint64_t count;
    aclFormat format;
    aclDataType type;
    void *address;
    refuse = what != VALID;
    switch (below(8)) {
    case 0: {
        int64_t **where = out(&values, &refuse);
        if (!STATUS(refuse, aclGetViewShape, tensor, where, out(&count, &refuse)))
            free(values);
        break;
    }
    case 1: {
        int64_t **where = out(&values, &refuse);
        if (!STATUS(refuse, aclGetViewStrides, tensor, where, out(&count, &refuse)))
            free(values);
        break;
    }
    case 2: {
        int64_t **where = out(&values, &refuse);
        if (!STATUS(refuse, aclGetStorageShape, tensor, where, out(&count, &refuse)))
            free(values);
        break;
    }
    case 3: STATUS(refuse, aclGetViewOffset, tensor, out(&offset, &refuse)); break;
    case 4: STATUS(refuse, aclGetFormat, tensor, out(&format, &refuse)); break;
    case 5: STATUS(refuse, aclGetDataType, tensor, out(&type, &refuse)); break;
    case 6: STATUS(refuse, aclGetRawTensorAddr, tensor, out(&address, &refuse)); break;
    default: STATUS(refuse, aclSetRawTensorAddr, tensor, device_address()); break;
    }
}

static void ask_array(void)
{
    int kind = INTS + below(TENSORS - INTS + 2), what;
    void *handle = pick(kind, &what);
    uint64_t size;
    int refuse = what != VALID;
    void *where = out(&size, &refuse);
    switch (kind) {
    case INTS: STATUS(refuse, aclGetIntArraySize, handle, where); break;
    case FLOATS: STATUS(refuse, aclGetFloatArraySize, handle, where); break;
    case BOOLS: STATUS(refuse, aclGetBoolArraySize, handle, where); break;
    case TENSORS: STATUS(refuse, aclGetTensorListSize, handle, where); break;
    default: STATUS(refuse, aclGetScalarListSize, handle, where); break;
    }
}

static void init_tensor(void)
{
    int what, refuse = 0;
    aclTensor *tensor = pick(TENSOR, &what);
    uint64_t rank = random_dims(), storage_rank = chance(90) ? rank : (uint64_t)below(9);
    const int64_t *view_dims = array(dims, &rank, &refuse), *storage_dims = array(storage, &storage_rank, &refuse);
    STATUS(what != VALID || (refuse && view_dims && storage_dims), aclInitTensor, tensor, view_dims, rank, (aclDataType)dtype(),
           chance(60) ? strides : NULL, chance(90) ? 0 : wild(), (aclFormat)(chance(90) ? 2 : wild_int()), storage_dims, storage_rank,
           device_address());
}

/* Executors and operators */

static void change_address(void)
{
    int what, other;
    aclOpExecutor *executor = pick(EXECUTOR, &what);
    aclTensor *tensor = pick(TENSOR, &other);
    size_t index = chance(80) ? (size_t)below(6) : wild_size(), member = chance(80) ? (size_t)below(3) : wild_size();
    void *address = device_address();
    int refuse = what != VALID || other != VALID;
    switch (below(14)) {
    case 0: STATUS(refuse, aclSetInputTensorAddr, executor, index, tensor, address); return;
    case 1: STATUS(refuse, aclSetOutputTensorAddr, executor, index, tensor, address); return;
    case 2: STATUS(refuse, aclSetTensorAddr, executor, index, tensor, address); return;
    case 3: STATUS(refuse, AclSetInputTensorAddr, executor, index, tensor, address); return;
    case 4: STATUS(refuse, AclSetOutputTensorAddr, executor, index, tensor, address); return;
    case 5: STATUS(refuse, AclSetTensorAddr, executor, index, tensor, address); return;
    case 6:
        if (!STATUS(what != VALID, aclSetAclOpExecutorRepeatable, executor))
            find(EXECUTOR, executor)->repeatable = 1;
        return;
    case 7: destroy_object(EXECUTOR); return;
    }
    aclTensorList *list = pick(TENSORS, &other);
    refuse = what != VALID || other != VALID;
    switch (below(6)) {
    case 0: STATUS(refuse, aclSetDynamicInputTensorAddr, executor, index, member, list, address); break;
    case 1: STATUS(refuse, aclSetDynamicOutputTensorAddr, executor, index, member, list, address); break;
    case 2: STATUS(refuse, aclSetDynamicTensorAddr, executor, index, member, list, address); break;
    case 3: STATUS(refuse, AclSetDynamicInputTensorAddr, executor, index, member, list, address); break;
    case 4: STATUS(refuse, AclSetDynamicOutputTensorAddr, executor, index, member, list, address); break;
    default: STATUS(refuse, AclSetDynamicTensorAddr, executor, index, member, list, address); break;
    }
}

/* Tensors that an operator accepts, so that not every call stops at the first check. */
typedef struct {
    const char *name;
    struct {
        int type, rank;
        int64_t dims[4];
    } tensors[12];
} Recipe;

#define F ACL_FLOAT
static const Recipe recipes[] = {
    {"aclnnSmoothL1LossBackward", {{F, 2, {2, 4}}, {F, 2, {2, 4}}, {F, 2, {2, 4}}, {F, 2, {2, 4}}}},
    {"aclnnLogSoftmaxBackward", {{F, 2, {2, 4}}, {F, 2, {2, 4}}, {F, 2, {2, 4}}}},
    {"aclnnNLLLoss2dBackward",
     {{F, 3, {1, 2, 2}}, {F, 4, {1, 3, 2, 2}}, {ACL_INT64, 3, {1, 2, 2}}, {F, 1, {3}}, {F, 1, {1}}, {F, 4, {1, 3, 2, 2}}}},
    {"aclnnFusedLinearCrossEntropyLossGrad",
     {{F, 1, {8}}, {ACL_FLOAT16, 2, {8, 16}}, {ACL_FLOAT16, 2, {128, 16}}, {ACL_UINT8, 1, {1}}, {ACL_INT32, 1, {8}}, {F, 1, {8}},
      {F, 1, {8}}, {F, 2, {8, 128}}, {ACL_FLOAT16, 2, {8, 16}}, {ACL_FLOAT16, 2, {128, 16}}}},
};

static const Recipe *recipe_of(const char *name)
{
    for (int i = 0; i < COUNT(recipes); i++)
        if (strcmp(recipes[i].name, name) == 0)
            return &recipes[i];
    return NULL;
}

static int friendly; /* whether the call is meant to succeed */
static aclDataType common_type;
static uint64_t common_rank;
static int64_t common_dims[4];

static void choose_common(void)
{
    static const int types[] = {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32, ACL_INT64, ACL_BOOL};
    common_type = (aclDataType)ONE_OF(types);
    common_rank = (uint64_t)below(4);
    for (int i = 0; i < 4; i++)
        common_dims[i] = chance(90) ? 4 : below(4);
}

/* The tensor for one parameter: as the recipe wants it, or any. position: among the tensors of the operator. */
static void *tensor_for(const char *operator, int position, int *refuse)
{
    static void *kept[COUNT(recipes)][12];
    const Recipe *recipe = recipe_of(operator);
    if (recipe && (friendly || chance(80)) && pools[TENSOR].count < MOST && pools[DEVICE_MEMORY].count) {
        void **slot = &kept[recipe - recipes][position];
        const int64_t *wanted = recipe->tensors[position].dims;
        uint64_t rank = (uint64_t)recipe->tensors[position].rank;
        if (chance(50) || !find(TENSOR, *slot)) {
            *slot = MAKE(aclCreateTensor, wanted, rank, (aclDataType)recipe->tensors[position].type, NULL, 0, ACL_FORMAT_ND, wanted, rank,
                         pools[DEVICE_MEMORY].living[below(pools[DEVICE_MEMORY].count)].handle);
            add(TENSOR, *slot);
        }
        return *slot;
    }
    if (friendly && !recipe && pools[TENSOR].count < MOST && pools[DEVICE_MEMORY].count && chance(97)) { /* all alike: what most operators take */
        void *tensor = MAKE(aclCreateTensor, common_dims, common_rank, common_type, NULL, 0, ACL_FORMAT_ND, common_dims, common_rank,
                            pools[DEVICE_MEMORY].living[below(pools[DEVICE_MEMORY].count)].handle);
        add(TENSOR, tensor);
        return tensor;
    }
    int what;
    void *handle = pick(TENSOR, &what);
    *refuse |= what == BAD;
    return handle;
}

static void *object_for(int kind, int *refuse)
{
    int what;
    if (friendly && pools[kind].count)
        return pools[kind].living[below(pools[kind].count)].handle;
    void *handle = pick(kind, &what);
    *refuse |= what == BAD;
    return handle;
}

static int64_t integer(void)
{
    return chance(90) || friendly ? below(4) - 1 : wild();
}

static double real_number(void)
{
    static const double values[] = {1.0, 0.5, 0.0, 0.1, -1.0, 1e30, 1e-30, 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0};
    if (friendly)
        return below(2);
    return chance(70) ? ONE_OF(values) : (double)(int64_t)any();
}

static char *text_for(int *refuse)
{
    static char texts[][8] = {"", "none", "mean", "sum", "\xff\xfe"};
    if (chance(95))
        return chance(10) ? NULL : ONE_OF(texts);
    *refuse = 1;
    return chance(50) ? (char *)arena + ARENA : (char *)(uintptr_t)(1 + below(4000));
}

static void *workspace(uint64_t *size)
{
    *size = chance(85) ? 1 << 20 : wild_size();
    return chance(85) && pools[DEVICE_MEMORY].count ? pools[DEVICE_MEMORY].living[0].handle : device_address();
}

static void note_executor(int operator_index, aclOpExecutor *executor)
{
    add(EXECUTOR, executor)->operator_index = operator_index;
}

static void ran(int operator_index, void *executor)
{
    Thing *thing = find(EXECUTOR, executor);
    if (thing && thing->operator_index == operator_index && !thing->repeatable)
        bury(EXECUTOR, executor);
}

/* OPERATORS, operator_names, phase_one(index), phase_two(index, executor, what): one case per declared operator. not_emulated(): what only
 * refuses. */
#include "declared.inc"

static void run_operator(void)
{
    int operator_index = below(OPERATORS);
    int can_succeed = chance(50); /* half of the calls, however many operators there are */
    while (can_succeed && !recipe_of(operator_names[operator_index]))
        operator_index = below(OPERATORS);
    friendly = chance(60);
    choose_common();
    if (!full(EXECUTOR) && chance(55))
        phase_one(operator_index);
    else if (pools[EXECUTOR].count && chance(70)) {
        Thing *thing = &pools[EXECUTOR].living[below(pools[EXECUTOR].count)];
        phase_two(thing->operator_index, thing->handle, VALID);
    } else {
        int what;
        void *executor = pick(EXECUTOR, &what);
        phase_two(operator_index, executor, what);
    }
}

/* Devices, contexts, streams, events */

static int references[2];

static void *current_context(void)
{
    void *context = NULL;
    int device;
    if (aclrtGetCurrentContext(&context) || find(CONTEXT, context))
        return context;
    if (aclrtGetDevice(&device))
        fail("a context without a device");
    add(CONTEXT, context)->device = device;
    return context;
}

static void context_died(void *context)
{
    for (int i = 0; i < pools[STREAM].count; i++)
        if (pools[STREAM].living[i].context == context)
            bury(STREAM, pools[STREAM].living[i--].handle);
    bury(CONTEXT, context);
}

static void device_released(int device)
{
    references[device] = 0;
    for (int i = 0; i < pools[CONTEXT].count; i++)
        if (pools[CONTEXT].living[i].device == device)
            context_died(pools[CONTEXT].living[i--].handle);
}

static void set_device(int device)
{
    if (!STATUS(device < 0 || device > 1, aclrtSetDevice, device)) {
        references[device]++;
        current_context();
    }
}

static void devices(void)
{
    int device = chance(85) ? below(2) : wild_int(), peer = chance(85) ? below(2) : wild_int(), refuse = 0, number;
    int bad_device = device < 0 || device > 1, bad_peer = peer < 0 || peer > 1;
    uint32_t count;
    int64_t value;
    switch (below(22)) {
    case 0:
    case 1:
    case 2: set_device(device); break;
    case 3:
        if (!bad_device && references[device] == 1 && chance(90))
            break;
        if (!STATUS(bad_device || !references[device], aclrtResetDevice, device) && !--references[device])
            device_released(device);
        break;
    case 4:
        if (!bad_device && chance(70))
            break;
        if (!STATUS(bad_device || !references[device], aclrtResetDeviceForce, device))
            device_released(device);
        break;
    case 5: STATUS(refuse, aclrtGetDevice, out(&number, &refuse)); break;
    case 6: STATUS(refuse, aclrtGetDeviceCount, out(&count, &refuse)); break;
    case 7:
        if (chance(50)) {
            STATUS(0, aclrtSynchronizeDevice);
        } else {
            int milliseconds = timeout(&refuse);
            STATUS(refuse, aclrtSynchronizeDeviceWithTimeout, milliseconds);
        }
        break;
    case 8: {
        aclrtRunMode mode;
        STATUS(refuse, aclrtGetRunMode, out(&mode, &refuse));
        break;
    }
    case 9: {
        int id = wild_int();
        STATUS(id < 0 || id > 1, aclrtSetTsDevice, (aclrtTsId)id);
        break;
    }
    case 10: {
        aclrtDeviceStatus status;
        refuse = bad_device;
        STATUS(refuse, aclrtQueryDeviceStatus, device, out(&status, &refuse));
        break;
    }
    case 11:
        refuse = bad_device;
        STATUS(refuse, aclrtGetDeviceInfo, (uint32_t)device, (aclrtDevAttr)wild_int(), out(&value, &refuse));
        break;
    case 12: {
        int least, greatest;
        void *first = out(&least, &refuse);
        STATUS(refuse, aclrtDeviceGetStreamPriorityRange, first, out(&greatest, &refuse));
        break;
    }
    case 13:
        refuse = bad_device || bad_peer || device == peer;
        STATUS(refuse, aclrtDeviceCanAccessPeer, out(&number, &refuse), device, peer);
        break;
    case 14: STATUS(bad_peer, aclrtDeviceEnablePeerAccess, peer, (uint32_t)(chance(80) ? 0 : any())); break;
    case 15: STATUS(bad_peer, aclrtDeviceDisablePeerAccess, peer); break;
    case 16:
        refuse = bad_device || bad_peer;
        STATUS(refuse, aclrtDevicePeerAccessStatus, device, peer, out(&number, &refuse));
        break;
    case 17: {
        int mode = wild_int();
        STATUS(mode < 0 || mode > 1, aclrtSetDeviceSatMode, (aclrtFloatOverflowMode)mode);
        break;
    }
    case 18: {
        aclrtFloatOverflowMode mode;
        STATUS(refuse, aclrtGetDeviceSatMode, out(&mode, &refuse));
        break;
    }
    case 19: STATUS(refuse, aclGetCannAttribute, (aclCannAttr)wild_int(), out(&number, &refuse)); break;
    case 20:
        refuse = bad_device;
        STATUS(refuse, aclGetDeviceCapability, (uint32_t)device, (aclDeviceInfo)wild_int(), out(&value, &refuse));
        break;
    default:
        begin("aclrtGetSocName");
        if (!aclrtGetSocName())
            fail("the chip has no name");
        now->successes++;
        break;
    }
}

static void contexts(void)
{
    int what, refuse = 0;
    void *context = pick(CONTEXT, &what), *result = NULL;
    switch (below(6)) {
    case 0:
        if (pools[CONTEXT].count < 5) {
            int device = chance(85) ? below(2) : wild_int();
            refuse = device < 0 || device > 1;
            if (!STATUS(refuse, aclrtCreateContext, out(&result, &refuse), device))
                add(CONTEXT, result);
            break;
        } /* fall through */
    case 1: {
        int primary = what == VALID && find(CONTEXT, context)->device >= 0;
        if (!STATUS(what != VALID || primary, aclrtDestroyContext, context))
            context_died(context);
        break;
    }
    case 2:
    case 3: STATUS(what != VALID, aclrtSetCurrentContext, context); break;
    case 4: STATUS(refuse, aclrtGetCurrentContext, out(&result, &refuse)); break;
    default:
        if (!STATUS(refuse, aclrtCtxGetCurrentDefaultStream, out(&result, &refuse)) && !find(STREAM, result) && !full(STREAM))
            add(STREAM, result)->context = current_context();
        break;
    }
}

static pthread_t reporter;

static void streams(void)
{
    int what, refuse = 0, number;
    void *stream = pick(STREAM, &what), *result = NULL;
    int bad = what == BAD;
    uint32_t count;
    switch (below(18)) {
    case 0:
    case 1:
    case 2:
        if (pools[STREAM].count >= 12)
            goto destroy;
        if (!(chance(60) ? STATUS(refuse, aclrtCreateStream, out(&result, &refuse))
                         : STATUS(refuse, aclrtCreateStreamWithConfig, out(&result, &refuse), (uint32_t)wild_int(), (uint32_t)below(64))))
            add(STREAM, result)->context = current_context();
        break;
    case 3:
    destroy:
        if (!STATUS(what != VALID, aclrtDestroyStream, stream))
            bury(STREAM, stream);
        break;
    case 4:
        if (!STATUS(what != VALID, aclrtDestroyStreamForce, stream))
            bury(STREAM, stream);
        break;
    case 5:
    case 6:
    case 7: STATUS(bad, aclrtSynchronizeStream, stream); break;
    case 8: {
        int milliseconds = timeout(&bad);
        STATUS(bad, aclrtSynchronizeStreamWithTimeout, stream, milliseconds);
        break;
    }
    case 9: {
        aclrtStreamStatus status;
        STATUS(bad, aclrtStreamQuery, stream, out(&status, &bad));
        break;
    }
    case 10: STATUS(bad, aclrtStreamGetPriority, stream, out(&count, &bad)); break;
    case 11: STATUS(bad, aclrtStreamGetFlags, stream, out(&count, &bad)); break;
    case 12: STATUS(bad, aclrtStreamGetId, stream, out(&number, &bad)); break;
    case 13: STATUS(refuse, aclrtGetStreamAvailableNum, out(&count, &refuse)); break;
    case 14: {
        uint64_t mode = chance(85) ? 0 : chance(30) ? 1 : any();
        STATUS(bad || mode > 1, aclrtSetStreamFailureMode, stream, mode);
        break;
    }
    case 15: STATUS(bad, aclrtSubscribeReport, (uint64_t)reporter, stream); break;
    case 16: STATUS(bad, aclrtUnSubscribeReport, chance(90) ? (uint64_t)reporter : any(), stream); break;
    default: { /* nobody would run the callbacks of this one */
        uint64_t thread = any();
        if (!STATUS(bad, aclrtSubscribeReport, thread, stream) && STATUS(0, aclrtUnSubscribeReport, thread, stream))
            fail("a subscription cannot be undone");
        break;
    }
    }
}

static void callbacks(void)
{
    int what, refuse;
    void *stream = pick(STREAM, &what);
    void (*function)(void *) = callback;
    refuse = what == BAD;
    if (chance(15)) { /* not code */
        void *const wrong[] = {NULL, heap, arena, arena + ARENA, (void *)1, (void *)(1ULL << 63), &called};
        void *chosen = ONE_OF(wrong);
        memcpy(&function, &chosen, sizeof function);
        refuse = 1;
    }
    int *data = chance(80) ? &called : NULL;
    switch (below(5)) {
    case 0:
    case 1: STATUS(refuse, aclrtLaunchHostFunc, stream, function, data); break;
    case 2:
    case 3: {
        int block = chance(90) ? below(2) : wild_int();
        STATUS(refuse || block < 0 || block > 1, aclrtLaunchCallback, function, data, (aclrtCallbackBlockType)block, stream);
        break;
    }
    default: {
        refuse = 1; /* this thread is not subscribed */
        int milliseconds = timeout(&refuse);
        STATUS(refuse, aclrtProcessReport, milliseconds);
        break;
    }
    }
}

static volatile int ending;

static void *report(void *unused)
{
    (void)unused;
    while (!ending)
        if (aclrtProcessReport(5) == ACL_ERROR_RT_THREAD_SUBSCRIBE)
            usleep(500);
    return NULL;
}

static void events(void)
{
    int what, where, refuse = 0;
    void *event = pick(EVENT, &what), *stream = pick(STREAM, &where), *result = NULL;
    int bad = what != VALID, either = what != VALID || where == BAD;
    uint32_t flag = chance(80) ? (uint32_t)(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE) : (uint32_t)any();
    switch (below(17)) {
    case 0:
    case 1:
    case 2: {
        if (full(EVENT))
            goto destroy;
        int which = below(3);
        int status = which == 0   ? STATUS(refuse, aclrtCreateEvent, out(&result, &refuse))
                     : which == 1 ? STATUS(refuse, aclrtCreateEventWithFlag, out(&result, &refuse), flag)
                                  : STATUS(refuse, aclrtCreateEventExWithFlag, out(&result, &refuse), flag);
        if (!status)
            add(EVENT, result);
        break;
    }
    case 3:
    destroy:
        if (!STATUS(bad, aclrtDestroyEvent, event))
            bury(EVENT, event);
        break;
    case 4:
    case 5:
    case 6: STATUS(either, aclrtRecordEvent, event, stream); break;
    case 7: STATUS(either, aclrtResetEvent, event, stream); break;
    case 8:
    case 9: STATUS(either, aclrtStreamWaitEvent, stream, event); break;
    case 10: STATUS(bad, aclrtSynchronizeEvent, event); break;
    case 11: {
        int milliseconds = timeout(&bad);
        STATUS(bad, aclrtSynchronizeEventWithTimeout, event, milliseconds);
        break;
    }
    case 12: {
        aclrtEventStatus status;
        STATUS(bad, aclrtQueryEvent, event, out(&status, &bad));
        break;
    }
    case 13: {
        aclrtEventRecordedStatus status;
        STATUS(bad, aclrtQueryEventStatus, event, out(&status, &bad));
        break;
    }
    case 14: {
        aclrtEventWaitStatus status;
        STATUS(bad, aclrtQueryEventWaitStatus, event, out(&status, &bad));
        break;
    }
    case 15: {
        float milliseconds;
        void *start = pick(EVENT, &where);
        bad |= where != VALID;
        STATUS(bad, aclrtEventElapsedTime, out(&milliseconds, &bad), start, event);
        break;
    }
    default: {
        uint64_t time;
        STATUS(bad, aclrtEventGetTimestamp, event, out(&time, &bad));
        break;
    }
    }
}

/* Memory */

static void allocate(void)
{
    size_t size = chance(90) ? (size_t)(1 + below(4096)) : wild_size();
    void *address = NULL;
    int refuse = size == 0 || size > (size_t)1 << 40, which = below(4), status, kind = which == 3 ? HOST_MEMORY : DEVICE_MEMORY;
    aclrtMemMallocPolicy policy = (aclrtMemMallocPolicy)(chance(90) ? below(3) : wild_int());
    if (full(kind))
        return;
    void *where = out(&address, &refuse);
    switch (which) {
    case 0: status = STATUS(refuse, aclrtMalloc, where, size, policy); break;
    case 1: status = STATUS(refuse, aclrtMallocAlign32, where, size, policy); break;
    case 2: status = STATUS(refuse, aclrtMallocCached, where, size, policy); break;
    default: status = STATUS(refuse, aclrtMallocHost, where, size); break;
    }
    if (!status)
        add(kind, address)->size = size;
}

static void release(void)
{
    int what, kind = chance(70) ? DEVICE_MEMORY : HOST_MEMORY;
    void *address = pick(kind, &what);
    int status = kind == DEVICE_MEMORY ? STATUS(what != VALID, aclrtFree, address) : STATUS(what != VALID, aclrtFreeHost, address);
    if (what == VALID && status)
        fail("a living allocation cannot be freed: %d", status);
    if (what == VALID)
        bury(kind, address);
}

static void copy(void)
{
    int what, kind = chance(85) ? below(5) : wild_int();
    size_t capacity, source_capacity, count = wild_size();
    void *to = target(&capacity), *from = chance(50) ? device_address() : host_target(&source_capacity), *stream = pick(STREAM, &what);
    if (to != (void *)arena && count > capacity)
        count = capacity;
    size_t most = chance(85) ? count : wild_size();
    int known = kind >= 0 && kind <= 7;
    int refuse = count && (!to || !from || most < count || !known);
    switch (below(8)) {
    case 0:
    case 1: STATUS(refuse, aclrtMemcpy, to, most, from, count, (aclrtMemcpyKind)kind); break;
    case 2:
    case 3: STATUS(refuse || what == BAD, aclrtMemcpyAsync, to, most, from, count, (aclrtMemcpyKind)kind, stream); break;
    case 4: STATUS(count && (!to || most < count), aclrtMemset, to, most, wild_int(), count); break;
    case 5: STATUS(what == BAD || (count && (!to || most < count)), aclrtMemsetAsync, to, most, wild_int(), count, stream); break;
    default: {
        size_t width = (size_t)below(64), height = (size_t)below(8), pitch = width + (size_t)below(16), other = chance(90) ? pitch : wild_size();
        if (capacity == SIZE_MAX && chance(20)) {
            width = wild_size(), height = wild_size(), pitch = wild_size();
        } else if (pitch * height > capacity) {
            height = 0;
        }
        int nothing = !width || !height;
        refuse = !nothing && (!to || !from || width > pitch || width > other || !known);
        if (chance(50))
            STATUS(refuse, aclrtMemcpy2d, to, pitch, from, other, width, height, (aclrtMemcpyKind)kind);
        else
            STATUS(refuse || what == BAD, aclrtMemcpy2dAsync, to, pitch, from, other, width, height, (aclrtMemcpyKind)kind, stream);
        break;
    }
    }
}

static void ask_memory(void)
{
    int refuse = 0;
    if (chance(50)) {
        size_t free_bytes, all;
        int attribute = wild_int();
        refuse = attribute < 0 || attribute > 11;
        void *first = out(&free_bytes, &refuse);
        STATUS(refuse, aclrtGetMemInfo, (aclrtMemAttr)attribute, first, out(&all, &refuse));
    } else {
        aclrtPtrAttributes attributes;
        void *address = device_address();
        refuse = !address;
        STATUS(refuse, aclrtPointerGetAttributes, address, out(&attributes, &refuse));
    }
}

/* The rest */

static void process(void)
{
    int refuse = 0, option = wild_int(), bad_option = option < 0 || option > 3, bad_context_option = option < 0 || option > 2;
    int64_t value;
    uint64_t count;
    switch (below(16)) {
    case 0: STATUS(0, aclInit, chance(80) ? NULL : ""); break;
    case 1: STATUS(1, aclInit, chance(50) ? "/nonexistent/acl.json" : (const char *)(uintptr_t)(1 + below(4000))); break;
    case 2: STATUS(0, aclFinalize); break;
    case 3: {
        void *where = out(&count, &refuse);
        STATUS(where && refuse, aclFinalizeReference, where);
        break;
    }
    case 4: {
        int major, minor, patch;
        void *first = out(&major, &refuse), *second = out(&minor, &refuse);
        STATUS(refuse, aclrtGetVersion, first, second, out(&patch, &refuse));
        break;
    }
    case 5: STATUS(bad_option, aclrtSetSysParamOpt, (aclSysParamOpt)option, wild()); break;
    case 6:
        refuse = bad_option;
        STATUS(refuse, aclrtGetSysParamOpt, (aclSysParamOpt)option, out(&value, &refuse));
        break;
    case 7: STATUS(bad_context_option, aclrtCtxSetSysParamOpt, (aclSysParamOpt)option, wild()); break;
    case 8:
        refuse = bad_context_option;
        STATUS(refuse, aclrtCtxGetSysParamOpt, (aclSysParamOpt)option, out(&value, &refuse));
        break;
    case 9: MAKE(aclGetRecentErrMsg); break;
    case 10: STATUS(option != 0, aclrtGetLastError, (aclrtLastErrLevel)option); break;
    case 11: STATUS(option != 0, aclrtPeekAtLastError, (aclrtLastErrLevel)option); break;
    case 12:
        begin("aclDataTypeSize");
        now->successes += aclDataTypeSize((aclDataType)dtype()) > 0;
        break;
    case 13:
        begin("aclFloatToFloat16");
        now->successes += aclFloatToFloat16((float)real_number()) != 0;
        break;
    case 14:
        begin("aclFloat16ToFloat");
        now->successes += aclFloat16ToFloat((aclFloat16)any()) != 0;
        break;
    default:
        if (chance(50))
            STATUS(0, aclnnInit, chance(80) ? NULL : "");
        else
            STATUS(0, aclnnFinalize);
        break;
    }
}

static size_t free_bytes(int device)
{
    size_t bytes, all;
    if (aclrtSetDevice(device) || aclrtGetMemInfo(ACL_HBM_MEM, &bytes, &all) || aclrtResetDevice(device))
        fail("device %d cannot be asked", device);
    return bytes;
}

static void give_everything_back(void)
{
    now = NULL;
    for (int kind = TENSOR; kind <= EXECUTOR; kind++)
        while (pools[kind].count)
            destroy_object(kind);
    for (int device = 0; device < 2; device++) {
        if (references[device])
            aclrtResetDeviceForce(device);
        device_released(device);
    }
    static const int order[] = {CONTEXT, EVENT, DEVICE_MEMORY, HOST_MEMORY}; /* streams die with their contexts */
    for (int i = 0; i < COUNT(order); i++)
        while (pools[order[i]].count) {
            void *handle = pools[order[i]].living[0].handle;
            int status = order[i] == CONTEXT         ? aclrtDestroyContext(handle)
                         : order[i] == EVENT         ? aclrtDestroyEvent(handle)
                         : order[i] == DEVICE_MEMORY ? aclrtFree(handle)
                                                     : aclrtFreeHost(handle);
            if (status)
                fail("%p of kind %d cannot be given back: %d", handle, order[i], status);
            if (order[i] == CONTEXT)
                context_died(handle);
            else
                bury(order[i], handle);
        }
    for (int kind = 0; kind < KINDS; kind++)
        if (pools[kind].count)
            fail("%d of kind %d are left", pools[kind].count, kind);
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    seed = strtoull(arguments[1], NULL, 10);
    state = (seed + 1) * 0x9E3779B97F4A7C15ULL;
    long calls = atol(arguments[2]);
    traced = count > 3;
    arena = mmap(NULL, ARENA + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(arena + ARENA, 65536, PROT_NONE);
    memset(arena, 1, ARENA);
    heap = malloc(64);
    size_t before[2] = {free_bytes(0), free_bytes(1)};
    pthread_create(&reporter, NULL, report, NULL);
    set_device(0);
    while (total < calls) {
        void (*const groups[])(void) = {make_object, make_object, ask_tensor, ask_array, init_tensor, change_address, run_operator, run_operator,
                                        run_operator, run_operator, run_operator, run_operator, devices, contexts, streams, streams, callbacks, events, events, allocate, allocate, release,
                                        copy, copy, ask_memory, process, not_emulated};
        ONE_OF(groups)();
        if (chance(20))
            destroy_object(below(EXECUTOR + 1));
        while (pools[TENSOR].count > PLENTY)
            destroy_object(TENSOR);
        int device;
        if (aclrtGetDevice(&device)) /* without a context most calls end early */
            set_device(below(2));
    }
    give_everything_back();
    ending = 1;
    pthread_join(reporter, NULL);
    for (int device = 0; device < 2; device++) {
        size_t after = free_bytes(device);
        if (after != before[device])
            fail("device %d has %zu bytes free, %zu at the start", device, after, before[device]);
    }
    for (int i = 0; i < tally_count; i++)
        printf("%s %ld %ld\n", tallies[i].name, tallies[i].calls, tallies[i].successes);
    return 0;
}

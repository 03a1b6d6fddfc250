/* Device memory: what is allocated and what is free, and copies of the host, for calls that need no Python.
 *
 * Each device owns a range of addresses that the program sees, and another one of the same size for kernels: acl_emu/runtime/memory.py.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bridge.h"

#define MEMORIES 64
#define ALIGNMENT 512 /* memory.ALIGNMENT */
/* What the driver maps at a time. An access past its allocation is seen by nobody as long as it stays in mapped memory. */
#define MAPPED_STEP (256ull << 20)
#define HUGE_PAGE (2ull << 20)
/* From which size on allocations lie how far apart, where there is room. A load whose address ends as that of a store just before it waits
 * for that store, though it is of another page: all do where one operand lies a little further in its page than another. With what is added
 * to a power of two it makes eight places in a page. */
#define STAGGERED (64ull << 10)
#define STAGGER (2 * ALIGNMENT)
/* The same for those of huge pages: operands a power of two apart compete for the same banks and cache sets. */
#define HUGE_STAGGER (STAGGER + (68ull << 10))
/* After so many frees what is free goes back to the system: a program that writes where nothing is allocated would keep all of it. Smaller
 * pieces are not worth it. */
#define TRIM_EVERY 1000
#define TRIMMED (64ull << 10)
#define LAST_KIND 5 /* of a copy at once: ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE */

typedef struct {
    uint64_t first, end;
} range;

struct acl_emu_memory {
    acl_emu_usage usage;
    uint64_t start, end, backing, made, frees;
    acl_emu_allocation *allocations; /* by address */
    size_t count, capacity;
    range *free; /* by address */
    size_t free_count, free_capacity;
};

static acl_emu_memory *memories[MEMORIES];
static int64_t *regions; /* the table of acl_emu/runtime/memory.py */

/* The memory of the calling thread's device, as long as the epoch lasts. */
static __thread struct {
    uint64_t epoch;
    acl_emu_memory *memory;
    uint64_t padding;
} current;

void acl_emu_set_regions(int64_t *table)
{
    regions = table;
}

int acl_emu_holds(uint64_t address, uint64_t size)
{
    for (int64_t k = 0; regions && k < regions[0]; k++) {
        const int64_t *region = regions + 1 + 3 * k;
        if (address >= (uint64_t)region[0] && address < (uint64_t)region[1])
            return size <= (uint64_t)region[1] - address;
    }
    return 0;
}

static uint64_t rounded(uint64_t size, uint64_t step)
{
    return (size + step - 1) / step * step;
}

/* Tells the engine how far mapped memory goes. */
static void publish(const acl_emu_memory *memory)
{
    for (int64_t k = 0; regions && k < regions[0]; k++) {
        if (regions[1 + 3 * k] == (int64_t)memory->start)
            __atomic_store_n(&regions[2 + 3 * k], (int64_t)memory->usage.mapped_end, __ATOMIC_RELEASE);
    }
}

acl_emu_memory *acl_emu_memory_new(uint64_t start, uint64_t end, uint64_t backing, uint64_t available)
{
    acl_emu_memory *made = calloc(1, sizeof *made);
    range *free_ranges = calloc(64, sizeof *free_ranges);
    int place = 0;
    acl_emu_lock();
    while (place < MEMORIES && memories[place])
        place++;
    if (made && free_ranges && place < MEMORIES) {
        *made = (acl_emu_memory){.usage = {.available = available, .mapped_end = start}, .start = start, .end = end, .backing = backing};
        made->free = free_ranges;
        made->free[0] = (range){start, end};
        made->free_count = 1;
        made->free_capacity = 64;
        memories[place] = made;
    } else {
        free(made);
        free(free_ranges);
        made = NULL;
    }
    acl_emu_unlock();
    return made;
}

void acl_emu_memory_close(acl_emu_memory *memory)
{
    acl_emu_lock();
    for (int i = 0; i < MEMORIES; i++)
        memories[i] = memories[i] == memory ? NULL : memories[i];
    free(memory->allocations);
    free(memory->free);
    memory->allocations = NULL;
    memory->free = NULL;
    memory->count = memory->capacity = memory->free_count = memory->free_capacity = 0;
    acl_emu_unlock();
}

const acl_emu_usage *acl_emu_memory_usage(const acl_emu_memory *memory)
{
    return &memory->usage;
}

int acl_emu_memory_take(acl_emu_memory *memory, int64_t bytes)
{
    acl_emu_lock();
    acl_emu_usage *usage = &memory->usage;
    int fits = bytes <= 0 || usage->used + (uint64_t)bytes <= usage->available;
    if (fits) {
        usage->used += (uint64_t)bytes;
        usage->peak = usage->used > usage->peak ? usage->used : usage->peak;
    }
    acl_emu_unlock();
    return fits;
}

static acl_emu_memory *memory_of(uint64_t address)
{
    for (int i = 0; i < MEMORIES; i++) {
        if (memories[i] && address >= memories[i]->start && address < memories[i]->end)
            return memories[i];
    }
    return NULL;
}

/* Room for one more element behind the others; 0 where there is no memory. */
static int has_capacity(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return 1;
    size_t larger = *capacity ? 2 * *capacity : 64;
    void *before, *moved;
    memcpy(&before, array, sizeof before);
    moved = realloc(before, larger * size);
    if (!moved)
        return 0;
    memcpy(array, &moved, sizeof moved);
    *capacity = larger;
    return 1;
}

/* How many allocations begin at or below an address. */
static size_t begun(const acl_emu_memory *memory, uint64_t address)
{
    size_t low = 0, high = memory->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (memory->allocations[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t first_fit(const acl_emu_memory *memory, uint64_t size)
{
    size_t index = 0;
    while (index < memory->free_count && memory->free[index].end - memory->free[index].first < size)
        index++;
    return index;
}

/* Puts `count` ranges in the place of `replaced` ones. */
static void replace_free(acl_emu_memory *memory, size_t index, size_t replaced, const range *ranges, size_t count)
{
    range *at = memory->free + index;
    memmove(at + count, at + replaced, (memory->free_count - index - replaced) * sizeof *at);
    memcpy(at, ranges, count * sizeof *at);
    memory->free_count += count - replaced;
}

/* With the lock held: an address, or 0. */
static uint64_t allocate(acl_emu_memory *memory, uint64_t size, uint64_t padding, int64_t policy)
{
    acl_emu_usage *usage = &memory->usage;
    if (size > memory->end - memory->start)
        return 0;
    uint64_t extent = rounded(size, 32) + padding, step = rounded(extent, ALIGNMENT);
    uint64_t gap = step >= HUGE_PAGE ? HUGE_STAGGER : step >= STAGGERED ? STAGGER : 0;
    size_t index = first_fit(memory, gap + step);
    if (index == memory->free_count && gap) {
        gap = 0;
        index = first_fit(memory, step);
    }
    if (index == memory->free_count || usage->used + step > usage->available ||
        !has_capacity(&memory->allocations, memory->count, &memory->capacity, sizeof *memory->allocations) ||
        !has_capacity(&memory->free, memory->free_count + 1, &memory->free_capacity, sizeof *memory->free))
        return 0;
    const range before = memory->free[index];
    uint64_t first = before.first + gap;
    range rest[2];
    size_t rests = 0;
    if (gap)
        rest[rests++] = (range){before.first, first};
    if (first + step < before.end)
        rest[rests++] = (range){first + step, before.end};
    replace_free(memory, index, 1, rest, rests);
    size_t place = begun(memory, first);
    acl_emu_allocation *made = memory->allocations + place;
    memmove(made + 1, made, (memory->count++ - place) * sizeof *made);
    *made = (acl_emu_allocation){first, size, extent, ++memory->made, policy, acl_emu_note_allocation(first, size, extent)};
    usage->used += step;
    usage->peak = usage->used > usage->peak ? usage->used : usage->peak;
    uint64_t mapped = memory->start + rounded(first + step - memory->start, MAPPED_STEP);
    mapped = mapped < memory->end ? mapped : memory->end;
    if (mapped > usage->mapped_end) {
        usage->mapped_end = mapped;
        publish(memory);
    }
    if (step >= HUGE_PAGE) /* fewer page faults where it is taken; nothing is lost where it is not */
        madvise((void *)(memory->backing + (first - memory->start) / HUGE_PAGE * HUGE_PAGE), step, MADV_HUGEPAGE);
    return first;
}

uint64_t acl_emu_memory_allocate(acl_emu_memory *memory, uint64_t size, uint64_t padding, int64_t policy)
{
    acl_emu_lock();
    uint64_t address = allocate(memory, size, padding, policy);
    acl_emu_unlock();
    return address;
}

/* Gives the pages of free memory back to the system. They read as zero when they are used again. */
static void trim(const acl_emu_memory *memory)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < memory->free_count; i++) {
        uint64_t end = memory->free[i].end < memory->usage.mapped_end ? memory->free[i].end : memory->usage.mapped_end;
        uint64_t first = rounded(memory->free[i].first, page);
        end = end / page * page;
        if (end > first && end - first >= TRIMMED)
            madvise((void *)(memory->backing + (first - memory->start)), end - first, MADV_DONTNEED);
    }
}

int acl_emu_memory_free(uint64_t address, acl_emu_allocation *freed)
{
    acl_emu_lock();
    acl_emu_memory *memory = memory_of(address);
    size_t place = memory ? begun(memory, address) : 0;
    int found = place && memory->allocations[place - 1].address == address &&
                has_capacity(&memory->free, memory->free_count, &memory->free_capacity, sizeof *memory->free);
    if (found) {
        acl_emu_allocation *allocation = memory->allocations + place - 1;
        range left = {address, address + rounded(allocation->extent, ALIGNMENT)};
        memory->usage.used -= left.end - left.first;
        acl_emu_forget_allocation(allocation->noted);
        if (freed)
            *freed = *allocation;
        memmove(allocation, allocation + 1, (memory->count-- - place) * sizeof *allocation);
        size_t low = 0, high = memory->free_count, replaced = 0;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (memory->free[middle].first < address)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < memory->free_count && memory->free[low].first == left.end) {
            left.end = memory->free[low].end;
            replaced++;
        }
        if (low && memory->free[low - 1].end == left.first) {
            left.first = memory->free[--low].first;
            replaced++;
        }
        replace_free(memory, low, replaced, &left, 1);
        if (++memory->frees % TRIM_EVERY == 0)
            trim(memory);
    }
    acl_emu_unlock();
    return found;
}

int acl_emu_memory_find(const acl_emu_memory *memory, uint64_t address, acl_emu_allocation *found)
{
    acl_emu_lock();
    size_t place = begun(memory, address);
    if (place)
        *found = memory->allocations[place - 1];
    acl_emu_unlock();
    return place != 0;
}

uint64_t acl_emu_memory_addresses(const acl_emu_memory *memory, uint64_t *addresses, uint64_t capacity)
{
    acl_emu_lock();
    uint64_t count = memory->count;
    for (uint64_t i = 0; i < count && i < capacity; i++)
        addresses[i] = memory->allocations[i].address;
    acl_emu_unlock();
    return count;
}

/* Calls of C programs */

void acl_emu_remember_memory(acl_emu_memory *memory, uint64_t padding, uint64_t epoch)
{
    current.memory = memory;
    current.padding = padding;
    current.epoch = epoch;
}

/* Whether the calling thread has a context, and nobody watches. */
static int is_ready(void)
{
    return __atomic_load_n(&acl_emu_open, __ATOMIC_RELAXED) && current.epoch == __atomic_load_n(&acl_emu_epoch, __ATOMIC_SEQ_CST);
}

/* aclrtMalloc(devPtr, size, policy); huge pages of a gigabyte have no padding */
int acl_emu_malloc(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    (void)function;
    uint64_t size = arguments[1].u, policy = arguments[2].u;
    if (!size || size >> 62 || policy > ACL_EMU_PLAIN_POLICIES || !is_ready() || !current.memory || !acl_emu_writable(arguments[0].u))
        return 0;
    uint64_t address = acl_emu_memory_allocate(current.memory, size, current.padding, (int64_t)policy);
    if (address)
        memcpy((void *)(uintptr_t)arguments[0].u, &address, sizeof address);
    result->i = 0;
    return address != 0;
}

/* aclrtFree(devPtr) */
int acl_emu_free(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    (void)function;
    result->i = 0;
    return __atomic_load_n(&acl_emu_open, __ATOMIC_RELAXED) && acl_emu_memory_free(arguments[0].u, NULL);
}

/* Where kernels find bytes that lie in one living allocation; 0 where they do not. *is_device: whether it is a device address at all. */
static uint64_t locate(uint64_t address, uint64_t size, int *is_device)
{
    uint64_t found = 0;
    acl_emu_lock();
    const acl_emu_memory *memory = memory_of(address);
    size_t place = memory ? begun(memory, address) : 0;
    if (place) {
        const acl_emu_allocation *holds = memory->allocations + place - 1;
        uint64_t past = address - holds->address;
        if (past < holds->extent && size <= holds->extent - past)
            found = memory->backing + (address - memory->start);
    }
    *is_device = memory != NULL;
    acl_emu_unlock();
    return found;
}

/* Copies between memory of the host, which may not be there, and memory that is. */
static int copy_guarded(uint64_t host, uint64_t known, uint64_t size, int to_host)
{
    if (acl_emu_on_stack(host, size)) {
        memcpy((void *)(to_host ? host : known), (const void *)(to_host ? known : host), size);
        return 1;
    }
    for (uint64_t done = 0; done < size;) {
        size_t part = size - done < 1u << 30 ? size - done : 1u << 30;
        struct iovec here = {(void *)(known + done), part}, there = {(void *)(host + done), part};
        ssize_t copied = (to_host ? process_vm_writev : process_vm_readv)(getpid(), &here, 1, &there, 1, 0);
        if (copied <= 0)
            return 0; /* whoever copies it again has the words for it */
        done += (uint64_t)copied;
    }
    return 1;
}

/* aclrtMemcpy(dst, destMax, src, count, kind); copies that leave their allocation, and those between host addresses, are left to Python */
int acl_emu_memcpy(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    (void)function;
    uint64_t target = arguments[0].u, source = arguments[2].u, size = arguments[3].u;
    if (!target || !source || target == source || !size || size > arguments[1].u || arguments[4].u > LAST_KIND || !is_ready())
        return 0;
    int to_device, from_device;
    uint64_t real_target = locate(target, size, &to_device), real_source = locate(source, size, &from_device);
    result->i = 0;
    if (real_target && real_source) {
        memmove((void *)real_target, (const void *)real_source, size);
        return 1;
    }
    if (real_target && !from_device)
        return copy_guarded(source, real_target, size, 0);
    return real_source && !to_device && copy_guarded(target, real_source, size, 1);
}

/* What a program is told when the host dereferences a device address.
 *
 * The handler of SIGSEGV may run at any moment, in any thread, in the child of a fork: it takes no lock and calls nothing but write. So the
 * allocations lie in a table that is valid at every moment: a slot belongs to an allocation from the store of its address on, until that
 * becomes 0, and blocks of slots stay for good.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bridge.h"

#define REGIONS 64
#define BLOCK 1024
#define BLOCKS 16384

typedef struct {
    uint64_t address, size, extent;
    uint64_t next; /* free slots: the next one plus one */
} slot;

static struct {
    uint64_t first, end;
    int device;
} regions[REGIONS];
static int region_count;
static slot *blocks[BLOCKS];
static uint64_t slots, free_slots; /* how many there are; the first free one plus one */
static struct sigaction previous;

static slot *slot_at(uint64_t index)
{
    return &__atomic_load_n(&blocks[index / BLOCK], __ATOMIC_ACQUIRE)[index % BLOCK];
}

int64_t acl_emu_note_allocation(uint64_t address, uint64_t size, uint64_t extent)
{
    int64_t place = -1;
    if (free_slots) {
        place = (int64_t)(free_slots - 1);
        free_slots = slot_at(free_slots - 1)->next;
    } else if (slots < (uint64_t)BLOCK * BLOCKS) {
        slot *block = slots % BLOCK ? blocks[slots / BLOCK] : calloc(BLOCK, sizeof(slot));
        if (block) {
            __atomic_store_n(&blocks[slots / BLOCK], block, __ATOMIC_RELEASE);
            place = (int64_t)slots;
            __atomic_store_n(&slots, slots + 1, __ATOMIC_RELEASE);
        }
    }
    if (place >= 0) {
        slot *taken = slot_at((uint64_t)place);
        taken->size = size;
        taken->extent = extent;
        __atomic_store_n(&taken->address, address, __ATOMIC_RELEASE);
    }
    return place;
}

void acl_emu_forget_allocation(int64_t place)
{
    if (place < 0)
        return;
    slot *left = slot_at((uint64_t)place);
    __atomic_store_n(&left->address, 0, __ATOMIC_RELEASE);
    left->next = free_slots;
    free_slots = (uint64_t)place + 1;
}

/* The allocation that begins last at or below an address, not below `first`. */
static slot nearest_below(uint64_t address, uint64_t first)
{
    slot found = {0};
    uint64_t count = __atomic_load_n(&slots, __ATOMIC_ACQUIRE);
    for (uint64_t i = 0; i < count; i++) {
        const slot *one = slot_at(i);
        slot copy = {.address = __atomic_load_n(&one->address, __ATOMIC_ACQUIRE)};
        if (copy.address < first || copy.address > address || copy.address <= found.address)
            continue;
        copy.size = __atomic_load_n(&one->size, __ATOMIC_ACQUIRE);
        copy.extent = __atomic_load_n(&one->extent, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&one->address, __ATOMIC_ACQUIRE) == copy.address)
            found = copy;
    }
    return found;
}

typedef struct {
    char text[1024];
    size_t length;
} message;

static void say(message *said, const char *text)
{
    while (*text && said->length < sizeof said->text)
        said->text[said->length++] = *text++;
}

static void say_number(message *said, uint64_t number, unsigned base)
{
    char digits[24];
    size_t place = sizeof digits;
    digits[--place] = 0;
    do
        digits[--place] = "0123456789abcdef"[number % base];
    while (number /= base);
    say(said, base == 16 ? "0x" : "");
    say(said, digits + place);
}

static void describe(message *said, uint64_t address, uint64_t first)
{
    const slot found = nearest_below(address, first);
    int inside = found.address && address - found.address < found.extent;
    say(said, inside ? "it is byte " : found.address ? "no allocation holds it; the nearest below ends " : "no allocation holds it");
    if (!found.address)
        return;
    say_number(said, address - found.address - (inside ? 0 : found.size), 10);
    say(said, inside ? " of the allocation of " : " bytes before (");
    say_number(said, found.size, 10);
    say(said, " bytes at ");
    say_number(said, found.address, 16);
    say(said, inside ? "" : ")");
}

/* Whether it is a device address, which is then explained. */
static int explain(uint64_t address)
{
    int count = __atomic_load_n(&region_count, __ATOMIC_ACQUIRE), index = 0;
    while (index < count && (address < regions[index].first || address >= regions[index].end))
        index++;
    if (index == count)
        return 0;
    message said = {.length = 0};
    say(&said, "acl-emu: the host dereferenced device address ");
    say_number(&said, address, 16);
    say(&said, " (device ");
    say_number(&said, (uint64_t)regions[index].device, 10);
    say(&said, "): ");
    describe(&said, address, regions[index].first);
    say(&said, ".\nacl-emu: device memory cannot be read or written by the host; copy it with aclrtMemcpy (ACL_MEMCPY_DEVICE_TO_HOST or "
               "ACL_MEMCPY_HOST_TO_DEVICE) and use the copy.\n");
    for (size_t done = 0; done < said.length;) {
        ssize_t written = write(STDERR_FILENO, said.text + done, said.length - done);
        if (written < 0 && errno != EINTR)
            break;
        done += written > 0 ? (size_t)written : 0;
    }
    return 1;
}

/* Explains a device address, then lets the signal take the course that it would have without this handler. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    int before = errno, faulted = info->si_code > 0;
    int explained = faulted && explain((uint64_t)(uintptr_t)info->si_addr);
    if (previous.sa_handler == SIG_IGN && !faulted) {
        errno = before;
        return;
    }
    if (!explained && previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        errno = before;
        if (previous.sa_flags & SA_SIGINFO)
            previous.sa_sigaction(number, info, context);
        else
            previous.sa_handler(number);
        return;
    }
    sigaction(number, &previous, NULL);
    if (!faulted) /* nothing comes again by itself */
        raise(number);
    errno = before;
}

void acl_emu_unwatch_faults(uint64_t first)
{
    acl_emu_lock();
    for (int place = 0; place < region_count; place++) {
        if (regions[place].first == first)
            __atomic_store_n(&regions[place].end, 0, __ATOMIC_RELEASE); /* no address lies below it: the place is free */
    }
    acl_emu_unlock();
}

void acl_emu_watch_faults(uint64_t first, uint64_t end, int device)
{
    acl_emu_lock();
    int count = region_count, place = 0;
    while (place < count && regions[place].end)
        place++;
    if (place < REGIONS) {
        regions[place].first = first;
        regions[place].device = device;
        __atomic_store_n(&regions[place].end, end, __ATOMIC_RELEASE);
        if (place == count)
            __atomic_store_n(&region_count, count + 1, __ATOMIC_RELEASE);
    }
    acl_emu_unlock();
    if (!count) {
        struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&action.sa_mask);
        sigaction(SIGSEGV, NULL, &previous); /* known before the handler can run */
        sigaction(SIGSEGV, &action, NULL);
    }
}

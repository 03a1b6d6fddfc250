/* Calls that come after the end of Python, from destructors and from what C runs at exit, and calls in the child of a fork.
 *
 * What was alive when Python ended is known by then, so that giving it back succeeds, once, and giving back anything else fails as before.
 * Everything else is an error.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bridge.h"

#define FUNCTIONS 4096

/* What a function gives back that takes things of one kind. */
typedef struct {
    uint32_t kind; /* 0: there is no rule */
    int takes_one; /* whether its first argument says which */
    int takes_all;
    int64_t of_null, of_dead; /* status of a null pointer, where it takes one, and of what is not alive */
} rule;

typedef struct {
    uint32_t kind;
    uint64_t value;
} living;

static rule rules[FUNCTIONS];
static living *things;
static size_t count, capacity;
static enum { RUNNING, ENDING, ENDED, FORKED } state;
static pthread_t last_thread;
static int exit_code = -1;

int acl_emu_ended;
acl_emu_entry acl_emu_python;
acl_emu_refusal acl_emu_python_refuses;

void acl_emu_set_rule(uint32_t function, uint32_t kind, int takes_one, int takes_all, int64_t of_null, int64_t of_dead)
{
    if (function < FUNCTIONS)
        rules[function] = (rule){kind, takes_one, takes_all, of_null, of_dead};
}

int acl_emu_leave_living(uint32_t kind, uint64_t value)
{
    if (count == capacity) {
        size_t larger = capacity ? 2 * capacity : 256;
        living *moved = realloc(things, larger * sizeof *moved);
        if (!moved)
            return 0;
        things = moved;
        capacity = larger;
    }
    things[count++] = (living){kind, value};
    return 1;
}

void acl_emu_begin_end(void)
{
    last_thread = pthread_self();
    __atomic_store_n(&state, ENDING, __ATOMIC_RELEASE);
}

void acl_emu_end(void)
{
    if (state == FORKED)
        return;
    __atomic_store_n(&state, ENDED, __ATOMIC_RELEASE);
    __atomic_store_n(&acl_emu_ended, 1, __ATOMIC_RELEASE);
}

static int64_t give_back(const rule *known, uint64_t value)
{
    int64_t status = known->of_dead;
    acl_emu_lock();
    for (size_t i = count; i-- > 0;) {
        if (things[i].kind == known->kind && things[i].value == value) {
            things[i] = things[--count];
            status = 0;
            if (!known->takes_all)
                break;
        }
    }
    acl_emu_unlock();
    return status;
}

static int answer(uint32_t function, const acl_emu_arg *arguments, acl_emu_arg *result)
{
    const rule *known = function < FUNCTIONS ? &rules[function] : NULL;
    if (!known || !known->kind)
        return 1;
    uint64_t value = known->takes_one ? arguments[0].u : 0;
    result->i = known->takes_one && !value && known->of_null >= 0 ? known->of_null : give_back(known, value);
    return 0;
}

/* Python ends every other thread that asks for its lock. */
static int python_answers(int now)
{
    return now == RUNNING || (now == ENDING && pthread_equal(pthread_self(), last_thread));
}

int acl_emu_gate(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result, const void *caller)
{
    int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    if (python_answers(now))
        return acl_emu_python(function, arguments, result, caller);
    return now == ENDED ? answer(function, arguments, result) : 1;
}

int acl_emu_refusal_gate(const char *name, acl_emu_arg *result, const void *caller)
{
    return python_answers(__atomic_load_n(&state, __ATOMIC_ACQUIRE)) ? acl_emu_python_refuses(name, result, caller) : 1;
}

/* Python's lock, or another, may be held by a thread that is not there any more. */
static void refuse_all(void)
{
    if (acl_emu_python) {
        state = FORKED;
        acl_emu_open = 0;
    }
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, refuse_all);
}

void acl_emu_exit_with(int code)
{
    exit_code = code;
}

static void leave(void *unused)
{
    (void)unused;
    fflush(NULL);
    _exit(exit_code);
}

extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);

/* What is registered now comes after everything else that is due when a process exits. */
__attribute__((destructor)) static void replace_exit_code(void)
{
    if (exit_code >= 0)
        __cxa_atexit(leave, NULL, NULL);
}

/* What the exported functions, the loader and the Python bridge agree on. */
#ifndef ACL_EMU_SHIM_H
#define ACL_EMU_SHIM_H

#include <stdint.h>

/* One argument or result: every C type of the interface fits one of these. */
typedef union {
    int64_t i;
    uint64_t u;
    double d;
    const void *p;
} acl_emu_arg;

/* The Python side: 0 when the call was carried out and *result is set. caller: where the program called from. */
typedef int (*acl_emu_entry)(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result, const void *caller);

/* A function that C carries out without Python where it can: 1, and *result is set. */
typedef int (*acl_emu_quick)(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result);

/* The same for a function that is documented but not emulated: Python has only to say so. */
typedef int (*acl_emu_refusal)(const char *name, acl_emu_arg *result, const void *caller);

/* What the Python side sets: its entries, and by function the quick way, where there is one. */
typedef struct {
    acl_emu_entry entry;
    acl_emu_refusal refusal;
    const acl_emu_quick *quick;
    const int *ended; /* whether Python has ended, and the entry answers without it */
} acl_emu_side;

/* Names of the exported functions; the index is what acl_emu_entry gets. */
extern const char *const acl_emu_names[];
extern const uint32_t acl_emu_count;

/* Calls Python, starting it first where needed. Not 0: it could not be called, and *result is not set. */
int acl_emu_enter(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result, const void *caller);

/* The status of an exported function that is not emulated. Thousands of them are told apart by where they lie, not by what they pass on. */
int acl_emu_refuse(const void *function);

#endif

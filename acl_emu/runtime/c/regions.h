/* Device memory as kernels find it. */
#ifndef ACL_EMU_REGIONS_H
#define ACL_EMU_REGIONS_H

#include <stddef.h>
#include <stdint.h>

/* Where bytes at a device address lie; NULL where not all of them are mapped. The table is that of acl_emu/runtime/memory.py: how many regions, then of
 * each the first address, the end of mapped memory, and the distance to where kernels find it. */
static inline char *region_locate(const int64_t *regions, int64_t address, int64_t extent)
{
    for (const int64_t *region = regions + 1, *end = region + 3 * regions[0]; region < end; region += 3) {
        if (address >= region[0] && address < region[1]) {
            return address + extent <= region[1] ? (char *)(address + region[2]) : NULL;
        }
    }
    return NULL;
}

#endif

#ifndef ACL_EMU_SECUREC_H
#define ACL_EMU_SECUREC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifndef EOK
#define EOK 0
#endif
typedef int errno_t;

/* The checked copies that programs use; a target that is too small is refused and left alone. */
static inline errno_t memcpy_s(void *dest, size_t destMax, const void *src, size_t count)
{
    if (!dest || !src || count > destMax) {
        return 22;
    }
    memcpy(dest, src, count);
    return EOK;
}

static inline errno_t memset_s(void *dest, size_t destMax, int c, size_t count)
{
    if (!dest || count > destMax) {
        return 22;
    }
    memset(dest, c, count);
    return EOK;
}

static inline errno_t strcpy_s(char *strDest, size_t destMax, const char *strSrc)
{
    return strSrc ? memcpy_s(strDest, destMax, strSrc, strlen(strSrc) + 1) : 22;
}

static inline int snprintf_s(char *strDest, size_t destMax, size_t count, const char *format, ...)
{
    va_list arguments;
    int written;
    va_start(arguments, format);
    written = vsnprintf(strDest, count < destMax ? count + 1 : destMax, format, arguments);
    va_end(arguments);
    return written < 0 || (size_t)written >= destMax ? -1 : written;
}

#endif /* ACL_EMU_SECUREC_H */

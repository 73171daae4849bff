/* Allocations that never fail: if there is no memory, the program writes a message and ends. */
#ifndef PS_REPORT_MEMORY_H
#define PS_REPORT_MEMORY_H

#include <stdio.h>
#include <stdlib.h>

#include "compiler.h"

PS_NORETURN static inline void memory_is_short(void)
{
    fprintf(stderr, "psthreads-report: out of memory\n");
    exit(1);
}

static inline void *memory_new(size_t num, size_t bytes)
{
    void *new = calloc(num ? num : 1, bytes);
    if (!new)
        memory_is_short();
    return new;
}

static inline void *memory_more(void *old, size_t bytes)
{
    void *new = realloc(old, bytes);
    if (!new)
        memory_is_short();
    return new;
}

PS_PRINTF(1, 2) static inline char *memory_text(const char *format, ...)
{
    char *text;
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    int bytes = vasprintf(&text, format, arguments);
    __builtin_va_end(arguments);
    if (bytes < 0)
        memory_is_short();
    return text;
}

#endif

/* GNU entry points that libgomp's offloading plug-ins call. None is ever loaded here, since the host is the only
 * device; a process that brings one along all the same finds each symbol.
 *
 * Memory and messages behave as libgomp's. A device's own threads and queues do not exist. Some calls about them say
 * nothing (a profiling event without listeners, thread data of no thread). The others end the program with one line: a
 * plug-in that calls them believes it was given work, which it was not. No shared state. Source: libgomp-plugin.h of
 * GCC 12 and of its trunk. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "gomp.h"

#define OACC_DIMS 3u

static void say(const char *format, va_list args)
{
    fputs("\nlibgomp: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

__attribute__((format(printf, 1, 2))) PS_NORETURN static void fatal(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    exit(EXIT_FAILURE);
}

static void *checked(void *p, size_t bytes)
{
    if (p == NULL)
        fatal("Out of memory allocating %zu bytes", bytes);
    return p;
}

PS_EXPORT void *GOMP_PLUGIN_malloc(size_t bytes) { return checked(malloc(bytes), bytes); }
PS_EXPORT void *GOMP_PLUGIN_malloc_cleared(size_t bytes) { return checked(calloc(1, bytes), bytes); }
PS_EXPORT void *GOMP_PLUGIN_realloc(void *p, size_t bytes) { return checked(realloc(p, bytes), bytes); }

__attribute__((format(printf, 2, 3))) PS_EXPORT void GOMP_PLUGIN_debug(PS_UNUSED int kind, const char *format, ...)
{
    if (!ort_settings.debug)
        return;
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
}

__attribute__((format(printf, 1, 2))) PS_EXPORT void GOMP_PLUGIN_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

__attribute__((format(printf, 1, 2))) PS_NORETURN PS_EXPORT void GOMP_PLUGIN_fatal(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    exit(EXIT_FAILURE);
}

/* No thread has data of OpenACC's or of a device's. */
PS_EXPORT void *GOMP_PLUGIN_goacc_thread(void) { return NULL; }
PS_EXPORT void *GOMP_PLUGIN_acc_thread(void) { return NULL; }

/* 0: the device is to choose. */
PS_EXPORT int GOMP_PLUGIN_acc_default_dim(unsigned which)
{
    if (which >= OACC_DIMS)
        fatal("invalid dimension argument: %u", which);
    return 0;
}

PS_EXPORT void GOMP_PLUGIN_goacc_profiling_dispatch(PS_UNUSED void *prof, PS_UNUSED void *event, PS_UNUSED void *api) {}

PS_EXPORT void GOMP_PLUGIN_async_unmap_vars(PS_UNUSED void *p, PS_UNUSED int async)
{
    fatal("invalid plugin function");
}

PS_EXPORT void GOMP_PLUGIN_target_task_completion(PS_UNUSED void *task)
{
    fatal("a plugin completed a target task, but regions run on the host: it was given none");
}

PS_EXPORT void GOMP_PLUGIN_target_rev(PS_UNUSED uint64_t fn)
{
    fatal("a plugin asked for reverse offload, but regions run on the host");
}

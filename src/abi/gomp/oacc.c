/* OpenACC on the host: all of what libgomp exports of it, so that a program built with -fopenacc starts and runs.
 *
 * Does: compute constructs run at once on the calling thread (gangs, workers and vectors of one). The host is the only
 * device and its memory is shared, so data clauses and routines move nothing. Every queue is always empty. libgomp
 * without offload devices does the same.
 * Does not: profiling: call-backs are accepted and never called. Asking for another device ends the program with a
 * line, as in libgomp.
 * Callers: anybody, on any stack. No shared state.
 * OpenACC 2.6 chapter 3; libgomp's manual, chapter "OpenACC Runtime Library Routines". */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gomp.h"

/* acc_device_t, as far as it matters here. */
enum device { DEVICE_CURRENT = -1, DEVICE_NONE = 0, DEVICE_DEFAULT = 1, DEVICE_HOST = 2, DEVICES = 9 };

static const char *device_name(int device)
{
    static const char *const names[DEVICES] = {"none",   "default", "host",    "host_nonshm", "not_host",
                                               "nvidia", "unknown", "unknown", "radeon"};
    return device >= 0 && device < DEVICES ? names[device] : "unknown";
}

/* Whether the device is the host, for calls that take any device's type. */
static bool oacc_is_host(int device)
{
    return device == DEVICE_CURRENT || device == DEVICE_DEFAULT || device == DEVICE_HOST;
}

static void need_host(int device, int number)
{
    if (oacc_is_host(device) && number <= 0)
        return;
    if (oacc_is_host(device))
        fprintf(stderr, "\nlibgomp: device %d out of range\n", number);
    else
        fprintf(stderr, "\nlibgomp: device type %s not supported\n", device_name(device));
    exit(EXIT_FAILURE);
}

/* --- constructs --- */

PS_EXPORT void GOACC_parallel_keyed(int flags, void (*fn)(void *), size_t n, void **addresses, size_t *sizes,
                                    unsigned short *kinds, ...)
{
    (void)flags, (void)n, (void)sizes, (void)kinds;
    fn(addresses);
}

PS_EXPORT void GOACC_parallel(int flags, void (*fn)(void *), size_t n, void **addresses, size_t *sizes,
                              unsigned short *kinds, int gangs, int workers, int vector, int async, int waits, ...)
{
    (void)flags, (void)n, (void)sizes, (void)kinds, (void)gangs, (void)workers, (void)vector, (void)async, (void)waits;
    fn(addresses);
}

PS_EXPORT void GOACC_data_start(int flags, size_t n, void **addresses, size_t *sizes, unsigned short *kinds)
{
    (void)flags, (void)n, (void)addresses, (void)sizes, (void)kinds;
}

PS_EXPORT void GOACC_data_end(void) {}

#define DATA(name)                                                                                           \
    PS_EXPORT void GOACC_##name(int flags, size_t n, void **addresses, size_t *sizes, unsigned short *kinds, \
                                int async, int waits, ...)                                                   \
    {                                                                                                        \
        (void)flags, (void)n, (void)addresses, (void)sizes, (void)kinds, (void)async, (void)waits;           \
    }
DATA(enter_exit_data)
DATA(enter_data)
DATA(exit_data)
DATA(update)

PS_EXPORT void GOACC_declare(int flags, size_t n, void **addresses, size_t *sizes, unsigned short *kinds)
{
    (void)flags, (void)n, (void)addresses, (void)sizes, (void)kinds;
}

PS_EXPORT void GOACC_wait(int async, int waits, ...) { (void)async, (void)waits; }

PS_EXPORT int GOACC_get_num_threads(void) { return 1; }

PS_EXPORT int GOACC_get_thread_num(void) { return 0; }

/* --- devices --- */

PS_EXPORT int acc_get_num_devices(int device) { return oacc_is_host(device); }
PS_EXPORT int acc_get_num_devices_h_(const int *device) { return acc_get_num_devices(*device); }

PS_EXPORT void acc_set_device_type(int device) { need_host(device, 0); }
PS_EXPORT void acc_set_device_type_h_(const int *device) { need_host(*device, 0); }

PS_EXPORT int acc_get_device_type(void) { return DEVICE_HOST; }
PS_EXPORT int acc_get_device_type_h_(void) { return DEVICE_HOST; }

PS_EXPORT void acc_set_device_num(int number, int device)
{
    if (device != DEVICE_NONE)
        need_host(device, number);
}
PS_EXPORT void acc_set_device_num_h_(const int *number, const int *device) { acc_set_device_num(*number, *device); }

PS_EXPORT int acc_get_device_num(int device)
{
    need_host(device, 0);
    return 0;
}
PS_EXPORT int acc_get_device_num_h_(const int *device) { return acc_get_device_num(*device); }

PS_EXPORT void acc_init(int device) { need_host(device, 0); }
PS_EXPORT void acc_init_h_(const int *device) { need_host(*device, 0); }
PS_EXPORT void acc_shutdown(int device) { need_host(device, 0); }
PS_EXPORT void acc_shutdown_h_(const int *device) { need_host(*device, 0); }

PS_EXPORT int acc_on_device(int device) { return device == DEVICE_HOST || device == DEVICE_NONE; }
PS_EXPORT int acc_on_device_h_(const int *device) { return acc_on_device(*device); }

PS_EXPORT size_t acc_get_property(int number, int device, int property)
{
    (void)property; /* the host says nothing of its memory */
    need_host(device, number);
    return 0;
}
PS_EXPORT size_t acc_get_property_h_(int number, int device, int property)
{
    return acc_get_property(number, device, property);
}

PS_EXPORT const char *acc_get_property_string(int number, int device, int property)
{
    enum { NAME = 0x10001, VENDOR = 0x10002, DRIVER = 0x10003 };
    need_host(device, number);
    return property == NAME ? "GOMP" : property == VENDOR ? "GNU" : property == DRIVER ? "1.0" : NULL;
}
PS_EXPORT void acc_get_property_string_h_(int number, int device, int property, char *out, size_t length)
{
    const char *text = acc_get_property_string(number, device, property);
    size_t n = text != NULL ? strlen(text) : 0;
    memset(out, ' ', length);
    memcpy(out, text != NULL ? text : "", n < length ? n : length);
}

PS_EXPORT void *acc_get_current_cuda_device(void) { return NULL; }
PS_EXPORT void *acc_get_current_cuda_context(void) { return NULL; }
PS_EXPORT void *acc_get_cuda_stream(int async)
{
    (void)async;
    return NULL;
}
PS_EXPORT int acc_set_cuda_stream(int async, void *stream) { return async < -2 || stream == NULL ? 0 : -1; }

/* --- queues: always empty --- */

PS_EXPORT int acc_async_test(int async)
{
    (void)async;
    return 1;
}
PS_EXPORT int acc_async_test_h_(const int *async)
{
    (void)async;
    return 1;
}
PS_EXPORT int acc_async_test_all(void) { return 1; }
PS_EXPORT int acc_async_test_all_h_(void) { return 1; }
PS_EXPORT void acc_wait(int async) { (void)async; }
PS_EXPORT void acc_wait_h_(const int *async) { (void)async; }
PS_EXPORT void acc_async_wait(int async) { (void)async; }
PS_EXPORT void acc_wait_async(int async, int queue) { (void)async, (void)queue; }
PS_EXPORT void acc_wait_async_h_(const int *async, const int *queue) { (void)async, (void)queue; }
PS_EXPORT void acc_wait_all(void) {}
PS_EXPORT void acc_wait_all_h_(void) {}
PS_EXPORT void acc_async_wait_all(void) {}
PS_EXPORT void acc_wait_all_async(int queue) { (void)queue; }
PS_EXPORT void acc_wait_all_async_h_(const int *queue) { (void)queue; }

/* --- memory: the device's is the host's --- */

PS_EXPORT void *acc_malloc(size_t bytes) { return bytes > 0 ? malloc(bytes) : NULL; }
PS_EXPORT void acc_free(void *p) { free(p); }
PS_EXPORT void *acc_deviceptr(void *p) { return p; }
PS_EXPORT void *acc_hostptr(void *p) { return p; }

PS_EXPORT int acc_is_present(void *p, size_t bytes) { return p != NULL && bytes > 0; }
PS_EXPORT int acc_is_present_32_h_(void *p, const int32_t *bytes) { return p != NULL && *bytes > 0; }
PS_EXPORT int acc_is_present_64_h_(void *p, const int64_t *bytes) { return p != NULL && *bytes > 0; }
PS_EXPORT int acc_is_present_array_h_(void *descriptor) { return descriptor != NULL; }

PS_EXPORT void acc_memcpy_to_device(void *to, void *from, size_t bytes) { memmove(to, from, bytes); }
PS_EXPORT void acc_memcpy_from_device(void *to, void *from, size_t bytes) { memmove(to, from, bytes); }
PS_EXPORT void acc_memcpy_device(void *to, void *from, size_t bytes) { memmove(to, from, bytes); }
PS_EXPORT void acc_memcpy_device_async(void *to, void *from, size_t bytes, int async)
{
    (void)async;
    memmove(to, from, bytes);
}
PS_EXPORT void acc_memcpy_to_device_async(void *to, void *from, size_t bytes, int async)
{
    (void)async;
    memmove(to, from, bytes);
}
PS_EXPORT void acc_memcpy_from_device_async(void *to, void *from, size_t bytes, int async)
{
    (void)async;
    memmove(to, from, bytes);
}

PS_EXPORT void acc_map_data(void *host, void *device, size_t bytes)
{
    (void)bytes;
    if (host == device)
        return;
    fputs("\nlibgomp: cannot map data on shared-memory system\n", stderr);
    exit(EXIT_FAILURE);
}
PS_EXPORT void acc_unmap_data(void *host) { (void)host; }

#define ENTER(name)                                   \
    PS_EXPORT void *acc_##name(void *p, size_t bytes) \
    {                                                 \
        (void)bytes;                                  \
        return p;                                     \
    }
ENTER(copyin)
ENTER(present_or_copyin)
ENTER(pcopyin)
ENTER(create)
ENTER(present_or_create)
ENTER(pcreate)

#define MOVE(name) \
    PS_EXPORT void acc_##name(void *p, size_t bytes) { (void)p, (void)bytes; }
MOVE(copyout)
MOVE(copyout_finalize)
MOVE(delete)
MOVE(delete_finalize)
MOVE(update_device)
MOVE(update_self)

#define MOVE_ASYNC(name) \
    PS_EXPORT void acc_##name(void *p, size_t bytes, int async) { (void)p, (void)bytes, (void)async; }
MOVE_ASYNC(copyin_async)
MOVE_ASYNC(create_async)
MOVE_ASYNC(copyout_async)
MOVE_ASYNC(copyout_finalize_async)
MOVE_ASYNC(delete_async)
MOVE_ASYNC(delete_finalize_async)
MOVE_ASYNC(update_device_async)
MOVE_ASYNC(update_self_async)

#define ATTACH(name) \
    PS_EXPORT void acc_##name(void **p) { (void)p; }
#define ATTACH_ASYNC(name) \
    PS_EXPORT void acc_##name(void **p, int async) { (void)p, (void)async; }
ATTACH(attach)
ATTACH(detach)
ATTACH(detach_finalize)
ATTACH_ASYNC(attach_async)
ATTACH_ASYNC(detach_async)
ATTACH_ASYNC(detach_finalize_async)

/* Fortran: addresses of everything; an array comes as its descriptor. */
#define FORTRAN(name)                                                                          \
    PS_EXPORT void acc_##name##_32_h_(void *p, const int32_t *bytes) { (void)p, (void)bytes; } \
    PS_EXPORT void acc_##name##_64_h_(void *p, const int64_t *bytes) { (void)p, (void)bytes; } \
    PS_EXPORT void acc_##name##_array_h_(void *descriptor) { (void)descriptor; }
FORTRAN(copyin)
FORTRAN(present_or_copyin)
FORTRAN(create)
FORTRAN(present_or_create)
FORTRAN(copyout)
FORTRAN(copyout_finalize)
FORTRAN(delete)
FORTRAN(delete_finalize)
FORTRAN(update_device)
FORTRAN(update_self)

#define FORTRAN_ASYNC(name)                                                            \
    PS_EXPORT void acc_##name##_32_h_(void *p, const int32_t *bytes, const int *async) \
    {                                                                                  \
        (void)p, (void)bytes, (void)async;                                             \
    }                                                                                  \
    PS_EXPORT void acc_##name##_64_h_(void *p, const int64_t *bytes, const int *async) \
    {                                                                                  \
        (void)p, (void)bytes, (void)async;                                             \
    }                                                                                  \
    PS_EXPORT void acc_##name##_array_h_(void *descriptor, const int *async) { (void)descriptor, (void)async; }
FORTRAN_ASYNC(copyin_async)
FORTRAN_ASYNC(create_async)
FORTRAN_ASYNC(copyout_async)
FORTRAN_ASYNC(copyout_finalize_async)
FORTRAN_ASYNC(delete_async)
FORTRAN_ASYNC(delete_finalize_async)
FORTRAN_ASYNC(update_device_async)
FORTRAN_ASYNC(update_self_async)

/* --- profiling: nobody is ever called --- */

PS_EXPORT void acc_prof_register(int event, void *callback, int how) { (void)event, (void)callback, (void)how; }
PS_EXPORT void acc_prof_unregister(int event, void *callback, int how) { (void)event, (void)callback, (void)how; }
PS_EXPORT void *acc_prof_lookup(const char *name)
{
    (void)name;
    return NULL;
}
PS_EXPORT void acc_register_library(void *reg, void *unreg, void *lookup) { (void)reg, (void)unreg, (void)lookup; }

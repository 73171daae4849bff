/* OpenACC on the host: all OpenACC functions that libgomp exports, so that a program built with -fopenacc starts and
 * runs.
 *
 * Does: compute constructs run at once on the calling thread (one gang, one worker, one vector lane). The host is the
 * only device and its memory is shared, so data clauses, and the functions that move data, leave it where it is. Six
 * functions (acc_memcpy_to_device and the like) copy from one address to the other, and acc_map_data with two different
 * addresses ends the program. Every queue is always empty. libgomp without offload devices does the same. Does not:
 * profiling. Call-backs are accepted and never called. A call that names another device ends the program with one line,
 * as in libgomp. (acc_get_num_devices and acc_on_device return 0 instead.) Callers: any thread, on any stack. No shared
 * state. OpenACC 2.6 chapter 3; libgomp's manual, chapter "OpenACC Runtime Library Routines". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gomp.h"

/* acc_device_t: the values that are used here. */
enum device { DEVICE_CURRENT = -1, DEVICE_NONE = 0, DEVICE_DEFAULT = 1, DEVICE_HOST = 2, DEVICES = 9 };

static const char *device_name(int device)
{
    static const char *const names[DEVICES] = {"none",   "default", "host",    "host_nonshm", "not_host",
                                               "nvidia", "unknown", "unknown", "radeon"};
    return device >= 0 && device < DEVICES ? names[device] : "unknown";
}

/* Returns whether the device type means the host. */
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

/* Entry points that ignore their arguments. They are defined without parameters. That works because on the supported
 * processors the caller, not the function, removes the arguments from the stack. */
#define ALWAYS(type, name, value) \
    PS_EXPORT type name(void) { return value; }
#define NOTHING(name) \
    PS_EXPORT void name(void) {}

/* --- constructs --- */

PS_EXPORT void GOACC_parallel_keyed(PS_UNUSED int flags, void (*fn)(void *), PS_UNUSED size_t n, void **addresses, ...)
{
    fn(addresses);
}
PS_EXPORT void GOACC_parallel(PS_UNUSED int flags, void (*fn)(void *), PS_UNUSED size_t n, void **addresses, ...)
{
    fn(addresses);
}
ALWAYS(int, GOACC_get_num_threads, 1)
ALWAYS(int, GOACC_get_thread_num, 0)

/* --- devices --- */

PS_EXPORT int acc_get_num_devices(int device) { return oacc_is_host(device); }
PS_EXPORT int acc_get_num_devices_h_(const int *device) { return acc_get_num_devices(*device); }

PS_EXPORT void acc_set_device_type(int device) { need_host(device, 0); }
PS_EXPORT void acc_set_device_type_h_(const int *device) { need_host(*device, 0); }

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
    (void)property; /* the host has no information about its memory */
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

ALWAYS(int, acc_get_device_type, DEVICE_HOST)
ALWAYS(int, acc_get_device_type_h_, DEVICE_HOST)
ALWAYS(void *, acc_get_current_cuda_device, NULL)
ALWAYS(void *, acc_get_current_cuda_context, NULL)
ALWAYS(void *, acc_get_cuda_stream, NULL)
ALWAYS(void *, acc_prof_lookup, NULL)
PS_EXPORT int acc_set_cuda_stream(int async, void *stream) { return async < -2 || stream == NULL ? 0 : -1; }

/* --- memory: device memory is the host's memory --- */

PS_EXPORT void *acc_malloc(size_t bytes) { return bytes > 0 ? malloc(bytes) : NULL; }
PS_EXPORT void acc_free(void *p) { free(p); }

PS_EXPORT int acc_is_present(void *p, size_t bytes) { return p != NULL && bytes > 0; }
PS_EXPORT int acc_is_present_32_h_(void *p, const int32_t *bytes) { return p != NULL && *bytes > 0; }
PS_EXPORT int acc_is_present_64_h_(void *p, const int64_t *bytes) { return p != NULL && *bytes > 0; }
PS_EXPORT int acc_is_present_array_h_(void *descriptor) { return descriptor != NULL; }

#define COPY(name) \
    PS_EXPORT void acc_##name(void *to, void *from, size_t bytes) { memmove(to, from, bytes); }
COPY(memcpy_to_device)
COPY(memcpy_to_device_async)
COPY(memcpy_from_device)
COPY(memcpy_from_device_async)
COPY(memcpy_device)
COPY(memcpy_device_async)

#define SAME(name) \
    PS_EXPORT void *acc_##name(void *p) { return p; }
SAME(deviceptr)
SAME(hostptr)
SAME(copyin)
SAME(present_or_copyin)
SAME(pcopyin)
SAME(create)
SAME(present_or_create)
SAME(pcreate)

PS_EXPORT void acc_map_data(void *host, void *device)
{
    if (host == device)
        return;
    fputs("\nlibgomp: cannot map data on shared-memory system\n", stderr);
    exit(EXIT_FAILURE);
}

/* --- functions that do nothing: data stays in its place, queues are empty, and no call-back is ever called --- */

#define FORTRAN(name) NOTHING(acc_##name##_32_h_) NOTHING(acc_##name##_64_h_) NOTHING(acc_##name##_array_h_)
#define MOVE(name) NOTHING(acc_##name) FORTRAN(name)
/* clang-format off */
NOTHING(GOACC_data_start) NOTHING(GOACC_data_end) NOTHING(GOACC_enter_exit_data) NOTHING(GOACC_enter_data)
NOTHING(GOACC_exit_data) NOTHING(GOACC_update) NOTHING(GOACC_declare) NOTHING(GOACC_wait)
MOVE(copyout) MOVE(copyout_finalize) MOVE(delete) MOVE(delete_finalize) MOVE(update_device) MOVE(update_self)
MOVE(copyin_async) MOVE(create_async) MOVE(copyout_async) MOVE(copyout_finalize_async) MOVE(delete_async)
MOVE(delete_finalize_async) MOVE(update_device_async) MOVE(update_self_async)
FORTRAN(copyin) FORTRAN(present_or_copyin) FORTRAN(create) FORTRAN(present_or_create)
NOTHING(acc_attach) NOTHING(acc_detach) NOTHING(acc_detach_finalize)
NOTHING(acc_attach_async) NOTHING(acc_detach_async) NOTHING(acc_detach_finalize_async) NOTHING(acc_unmap_data)
ALWAYS(int, acc_async_test, 1) ALWAYS(int, acc_async_test_all, 1)
ALWAYS(int, acc_async_test_h_, 1) ALWAYS(int, acc_async_test_all_h_, 1)
NOTHING(acc_wait) NOTHING(acc_wait_async) NOTHING(acc_wait_all) NOTHING(acc_wait_all_async)
NOTHING(acc_wait_h_) NOTHING(acc_wait_async_h_) NOTHING(acc_wait_all_h_) NOTHING(acc_wait_all_async_h_)
NOTHING(acc_async_wait) NOTHING(acc_async_wait_all)
NOTHING(acc_prof_register) NOTHING(acc_prof_unregister) NOTHING(acc_register_library)

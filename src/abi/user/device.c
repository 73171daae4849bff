/* Device routines where the host is the only device. There are no other devices, so omp_get_num_devices returns 0, and
 * 0 is the host's device number. -1 (omp_initial_device) means the host too. Device memory is the host's memory. OpenMP
 * 5.2 sections 18.7, 18.8; 6.0 chapter 25. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../gomp/gomp_task.h"
#include "user.h"

#define HOST 0
#define INITIAL (-1) /* omp_initial_device */
#define INVALID (-4) /* omp_invalid_device */
#define DEFAULT (-5) /* omp_default_device */

/* Sets the caller's default-device-var. A negative number is kept, as in newer libgomps; libgomp 12 changed it to 0.
 * The number omp_default_device changes nothing. */
static void set_default_device(int device)
{
    struct ort_icv *icv = device != DEFAULT ? ort_icv_write(ort_self()) : NULL;
    if (icv != NULL)
        icv->default_device = device;
}

USER_SET(omp_set_default_device, set_default_device)
USER_GET(omp_get_default_device, ort_icv(ort_self())->default_device)
USER_GET(omp_get_num_devices, 0)
USER_GET(omp_get_device_num, HOST)
USER_GET(omp_get_initial_device, HOST)
USER_GET(omp_is_initial_device, 1)

/* Returns whether the device number means the host. */
static bool user_is_host(int device)
{
    if (device == DEFAULT)
        device = ort_icv(ort_self())->default_device;
    return device == HOST || device == INITIAL;
}

static int pause_host(int kind) { return ort_pause(kind == 2) == 0 ? 0 : -1; }
static int user_pause_device(int kind, int device) { return user_is_host(device) ? pause_host(kind) : -1; }

PS_EXPORT int omp_pause_resource(int kind, int device) { return user_pause_device(kind, device); }
PS_EXPORT int32_t omp_pause_resource_(const int32_t *kind, const int32_t *device)
{
    return user_pause_device(*kind, *device);
}
PS_EXPORT int omp_pause_resource_all(int kind) { return pause_host(kind); }
PS_EXPORT int32_t omp_pause_resource_all_(const int32_t *kind) { return pause_host(*kind); }

/* --- memory of devices --- */

PS_EXPORT void *omp_target_alloc(size_t bytes, int device) { return user_is_host(device) ? malloc(bytes) : NULL; }

PS_EXPORT void omp_target_free(void *p, int device)
{
    if (user_is_host(device))
        free(p);
}

PS_EXPORT int omp_target_is_present(const void *p, int device) { return p != NULL && user_is_host(device); }

PS_EXPORT int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset, size_t from_offset,
                                int to_device, int from_device)
{
    if (!user_is_host(to_device) || !user_is_host(from_device))
        return EINVAL;
    memcpy((char *)to + to_offset, (const char *)from + from_offset, bytes);
    return 0;
}

/* The source or the destination of a copy between arrays of several dimensions: for each dimension where the copied
 * part begins, and the array's length. */
struct side {
    const size_t *offset, *dimension;
};

/* Computes the distance in bytes between neighbours in the outermost dimension, and the offset of the first element.
 * Returns false if a number does not fit into a size_t. */
static bool outermost(const struct side *s, int dims, size_t element, size_t *stride, size_t *start)
{
    *stride = element;
    for (int i = 1; i < dims; i++)
        if (__builtin_mul_overflow(*stride, s->dimension[i], stride))
            return false;
    return !__builtin_mul_overflow(*stride, s->offset[0], start);
}

static int copy_box(char *to, const char *from, size_t element, int dims, const size_t *volume, struct side t,
                    struct side f)
{
    size_t to_stride, from_stride, to_at, from_at, bytes;
    if (!outermost(&t, dims, element, &to_stride, &to_at) || !outermost(&f, dims, element, &from_stride, &from_at))
        return EINVAL;
    to += to_at;
    from += from_at;
    if (dims == 1) {
        if (__builtin_mul_overflow(element, volume[0], &bytes))
            return EINVAL;
        memcpy(to, from, bytes);
        return 0;
    }
    struct side inner_t = {t.offset + 1, t.dimension + 1}, inner_f = {f.offset + 1, f.dimension + 1};
    int error = 0;
    for (size_t i = 0; i < volume[0] && error == 0; i++)
        error = copy_box(to + i * to_stride, from + i * from_stride, element, dims - 1, volume + 1, inner_t, inner_f);
    return error;
}

PS_EXPORT int omp_target_memcpy_rect(void *to, const void *from, size_t element, int dims, const size_t *volume,
                                     const size_t *to_offsets, const size_t *from_offsets, const size_t *to_dimensions,
                                     const size_t *from_dimensions, int to_device, int from_device)
{
    if (to == NULL && from == NULL)
        return INT_MAX; /* with two null pointers the caller asks how many dimensions are supported */
    if (!user_is_host(to_device) || !user_is_host(from_device) || dims < 1)
        return EINVAL;
    return copy_box(to, from, element, dims, volume, (struct side){to_offsets, to_dimensions},
                    (struct side){from_offsets, from_dimensions});
}

/* The host's memory cannot be associated with any other. */
PS_EXPORT int omp_target_associate_ptr(PS_UNUSED const void *host, PS_UNUSED const void *device_ptr,
                                       PS_UNUSED size_t bytes, PS_UNUSED size_t offset, PS_UNUSED int device)
{
    return EINVAL;
}
PS_EXPORT int omp_target_disassociate_ptr(PS_UNUSED const void *p, PS_UNUSED int device) { return EINVAL; }

PS_EXPORT void *omp_get_mapped_ptr(const void *p, int device)
{
    return user_is_host(device) ? (void *)(uintptr_t)p : NULL;
}
PS_EXPORT int omp_target_is_accessible(const void *p, size_t bytes, int device)
{
    return p != NULL && bytes > 0 && user_is_host(device);
}

PS_EXPORT void *omp_target_memset(void *p, int value, size_t bytes, int device)
{
    return user_is_host(device) ? memset(p, value, bytes) : p;
}

/* --- copying and filling as tasks, with the dependences that omp_depend_t objects name --- */

static void as_task(void (*fn)(void *), void *data, size_t bytes, int num_objects, const void *objects)
{
    struct ort_task_args args = {.fn = fn, .data = data, .size = bytes, .align = alignof(max_align_t)};
    struct ort_depend_list list;
    if (num_objects > 0) {
        list = gomp_depend_objects(objects, (size_t)num_objects);
        args.depend = &list;
    }
    ort_task_create(ort_self(), &args);
}

struct copy {
    void *to;
    const void *from;
    size_t bytes, to_offset, from_offset;
};

static void copy_task(void *data)
{
    const struct copy *c = data;
    memcpy((char *)c->to + c->to_offset, (const char *)c->from + c->from_offset, c->bytes);
}

PS_EXPORT int omp_target_memcpy_async(void *to, const void *from, size_t bytes, size_t to_offset, size_t from_offset,
                                      int to_device, int from_device, int num_objects, void *objects)
{
    if (!user_is_host(to_device) || !user_is_host(from_device))
        return EINVAL;
    struct copy c = {to, from, bytes, to_offset, from_offset};
    as_task(copy_task, &c, sizeof c, num_objects, objects);
    return 0;
}

struct rect {
    void *to;
    const void *from;
    size_t element;
    int dims;
    /* the program must keep this array, and those of t and f, until the task is complete, as with libgomp */
    const size_t *volume;
    struct side t, f;
};

static void rect_task(void *data)
{
    const struct rect *r = data;
    copy_box(r->to, r->from, r->element, r->dims, r->volume, r->t, r->f);
}

PS_EXPORT int omp_target_memcpy_rect_async(void *to, const void *from, size_t element, int dims, const size_t *volume,
                                           const size_t *to_offsets, const size_t *from_offsets,
                                           const size_t *to_dimensions, const size_t *from_dimensions, int to_device,
                                           int from_device, int num_objects, void *objects)
{
    if (to == NULL && from == NULL)
        return INT_MAX;
    if (!user_is_host(to_device) || !user_is_host(from_device) || dims < 1)
        return EINVAL;
    struct rect r = {to, from, element, dims, volume, {to_offsets, to_dimensions}, {from_offsets, from_dimensions}};
    as_task(rect_task, &r, sizeof r, num_objects, objects);
    return 0;
}

struct fill {
    void *p;
    int value;
    size_t bytes;
};

static void fill_task(void *data)
{
    const struct fill *f = data;
    memset(f->p, f->value, f->bytes);
}

PS_EXPORT void *omp_target_memset_async(void *p, int value, size_t bytes, int device, int num_objects, void *objects)
{
    if (user_is_host(device)) {
        struct fill f = {p, value, bytes};
        as_task(fill_task, &f, sizeof f, num_objects, objects);
    }
    return p;
}

/* --- names, distances, dimensions of devices --- */

static const char host_uid[] = "OMP_INITIAL_DEVICE"; /* the name is libgomp's */

PS_EXPORT const char *omp_get_uid_from_device(int device) { return user_is_host(device) ? host_uid : NULL; }
PS_EXPORT void omp_get_uid_from_device_(const char **text, size_t *length, int32_t device)
{
    *text = omp_get_uid_from_device(device);
    *length = *text != NULL ? sizeof host_uid - 1 : 0;
}
PS_EXPORT void omp_get_uid_from_device_8_(const char **text, size_t *length, int64_t device)
{
    omp_get_uid_from_device_(text, length, user_int(device));
}

static int device_of(const char *uid, size_t length)
{
    return length == sizeof host_uid - 1 && memcmp(uid, host_uid, length) == 0 ? HOST : INVALID;
}
PS_EXPORT int omp_get_device_from_uid(const char *uid) { return uid != NULL ? device_of(uid, strlen(uid)) : INVALID; }
PS_EXPORT int omp_get_device_from_uid_(const char *uid, size_t length) { return device_of(uid, length); }

/* Stores -1 as the distance to a device that does not exist, as libgomp does. */
PS_EXPORT void omp_get_device_distances(int n, const int *devices, int *distances)
{
    for (int i = 0; i < n; i++)
        distances[i] = user_is_host(devices[i]) ? 0 : -1;
}

/* Teams and leagues have one dimension. */
static int dims_of(int device) { return user_is_host(device); }
static int supported(int device, int dim, int most) { return !user_is_host(device) ? 0 : dim <= 1 ? most : 1; }

PS_EXPORT int omp_get_supported_active_team_dims(int device, PS_UNUSED int natively) { return dims_of(device); }
PS_EXPORT int omp_get_supported_active_team_dims_(const int *device, PS_UNUSED const int *natively)
{
    return dims_of(*device);
}
PS_EXPORT int omp_get_supported_active_league_dims(int device, PS_UNUSED int natively) { return dims_of(device); }
PS_EXPORT int omp_get_supported_active_league_dims_(const int *device, PS_UNUSED const int *natively)
{
    return dims_of(*device);
}
PS_EXPORT int omp_get_supported_teams_dim(int device, int dim) { return supported(device, dim, INT_MAX); }
PS_EXPORT int omp_get_supported_threads_dim(int device, int dim)
{
    return supported(device, dim, (int)ORT_THREADS_MAX);
}

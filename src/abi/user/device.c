/* Devices where the host is the only one: it has number 0, which is also how many other devices there are. Memory of the device is memory.
 * OpenMP 5.2 sections 18.7, 18.8. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user.h"

#define HOST 0

static void set_default_device(int device)
{
    struct ort_icv *icv = ort_icv_write(ort_self());
    if (icv != NULL)
        icv->default_device = device >= 0 ? device : HOST;
}

USER_SET(omp_set_default_device, set_default_device)
USER_GET(omp_get_default_device, ort_icv(ort_self())->default_device)
USER_GET(omp_get_num_devices, 0)
USER_GET(omp_get_device_num, HOST)
USER_GET(omp_get_initial_device, HOST)
USER_GET(omp_is_initial_device, 1)

static int pause_host(int kind) { return ort_pause(kind == 2) == 0 ? 0 : -1; }
static int pause_device(int kind, int device) { return device == HOST ? pause_host(kind) : -1; }

PS_EXPORT int omp_pause_resource(int kind, int device) { return pause_device(kind, device); }
PS_EXPORT int32_t omp_pause_resource_(const int32_t *kind, const int32_t *device)
{
    return pause_device(*kind, *device);
}
PS_EXPORT int omp_pause_resource_all(int kind) { return pause_host(kind); }
PS_EXPORT int32_t omp_pause_resource_all_(const int32_t *kind) { return pause_host(*kind); }

/* --- memory of devices ----------------------------------------------------------------------------------------------------- */

PS_EXPORT void *omp_target_alloc(size_t bytes, int device) { return device == HOST ? malloc(bytes) : NULL; }

PS_EXPORT void omp_target_free(void *p, int device)
{
    if (device == HOST)
        free(p);
}

PS_EXPORT int omp_target_is_present(const void *p, int device) { return p == NULL || device == HOST; }

PS_EXPORT int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset, size_t from_offset,
                                int to_device, int from_device)
{
    if (to_device != HOST || from_device != HOST)
        return EINVAL;
    memcpy((char *)to + to_offset, (const char *)from + from_offset, bytes);
    return 0;
}

/* One side of a copy between arrays of several dimensions. */
struct side {
    const size_t *offset, *dimension;
};

/* Bytes between neighbours in the outermost dimension, and where the first is; false: more than a size holds. */
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
        return INT_MAX; /* asks for how many dimensions are supported */
    if (to_device != HOST || from_device != HOST || dims < 1)
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

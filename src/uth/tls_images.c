/* Copies of TLS segments' initial values: see tls_images.h. */
#include "tls_images.h"

#include "atomic.h"
#include "os.h"

#include <string.h>

#define MOST_BYTES ((size_t)32 * 1024) /* if there is more to copy, the dynamic linker is as quick */

/* The segments that were copied; the copies of their images lie behind this array. NULL: there are no segments, there
 * is too much to copy, or there is no memory. */
static struct uth_tls_segment *segments;
static unsigned num;
static _Atomic bool doubted;

__attribute__((constructor)) static void copy_images(void)
{
    static struct uth_tls_segment found[UTH_TLS_MAX_SEGMENTS];
    unsigned n = uth_tls_objects_static(found, NULL, 0);
    size_t bytes = n * sizeof found[0], values = 0;
    for (unsigned i = 0; i < n; i++)
        values += found[i].image_bytes;
    if (n == 0 || n == UTH_TLS_MAX_SEGMENTS || values > MOST_BYTES || (segments = os_map(bytes + values)) == NULL)
        return;
    char *to = (char *)(segments + n);
    for (num = 0; num < n; num++) {
        segments[num] = found[num];
        segments[num].image = memcpy(to, found[num].image, found[num].image_bytes);
        to += found[num].image_bytes;
    }
}

bool uth_tls_images_usable(void) { return segments != NULL && !ps_load_relaxed(&doubted); }

void uth_tls_images_check(const struct uth_tls_segment *now, unsigned n)
{
    for (unsigned i = 0; i < num; i++)
        for (unsigned k = 0; k < n; k++)
            if (now[k].module == segments[i].module &&
                (now[k].object != segments[i].object || now[k].from_tp != segments[i].from_tp ||
                 now[k].bytes != segments[i].bytes || now[k].image_bytes != segments[i].image_bytes ||
                 memcmp(now[k].image, segments[i].image, segments[i].image_bytes) != 0))
                ps_store_relaxed(&doubted, true);
}

bool uth_tls_images_have(size_t module, ptrdiff_t from_tp)
{
    for (unsigned i = 0; i < num; i++)
        if (segments[i].module == module)
            return segments[i].from_tp == from_tp;
    return false;
}

void uth_tls_images_write(char *tp, ptrdiff_t spared)
{
    for (const struct uth_tls_segment *s = segments; s < segments + num; s++) {
        char *to = tp + s->from_tp;
        if (s->from_tp == spared)
            continue;
        if (s->image_bytes != 0)
            memcpy(to, s->image, s->image_bytes);
        if (s->bytes != s->image_bytes)
            memset(to + s->image_bytes, 0, s->bytes - s->image_bytes);
    }
}

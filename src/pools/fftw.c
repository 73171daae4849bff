/* FFTW's threads (3.3.9 and later): fftw_threads_set_callback, in each precision. See pools.h.
 *
 * FFTW gives the parts of a loop to a function. The plan says how many parts there are (fftw_plan_with_nthreads), and
 * no part waits for another. So the parts are the members of a region. Where no virtual processor is idle, the caller
 * runs them as calls. While the width is 1 (width.c), the caller runs them without a region. */
#include "pools.h"

#include <stdlib.h>
#include <string.h>

typedef void *(*fftw_part)(char *data);
typedef void (*fftw_loop)(fftw_part part, char *data, size_t bytes, int parts, void *own);

struct parts {
    fftw_part part;
    char *data;
    size_t bytes;
};

static void run_part(void *data, unsigned id)
{
    const struct parts *loop = data;
    loop->part(loop->data + id * loop->bytes);
}

static void run_parts(fftw_part part, char *data, size_t bytes, int parts, void *own)
{
    struct parts loop = {part, data, bytes};
    struct pools_library *library = own;
    ps_add_relaxed(&library->num_calls, 1);
    pools_width_at_call();
    if (parts > 1 && pools_width_now() > 1)
        pools_core->run((unsigned)parts, run_part, &loop);
    else
        for (int i = 0; i < parts; i++)
            run_part(&loop, (unsigned)i);
}

struct pools_library *fftw_begins(const struct object *o)
{
    struct pools_library *library = NULL;
    /* fftw_, fftwf_, fftwl_ and fftwq_ are usually four libraries, but may be one object. */
    for (ElfW(Sym) *s = NULL; (s = object_symbol(o, "_threads_set_callback", s));) {
        if (strncmp(object_name(o, s), "fftw", 4) != 0 || (!library && !(library = calloc(1, sizeof *library))))
            continue;
        library->kind = POOLS_FFTW;
        void (*set)(fftw_loop, void *) = (void (*)(fftw_loop, void *))object_address(o, s);
        if (pools_core)
            set(run_parts, library);
    }
    return library;
}

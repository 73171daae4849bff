/* See thread_pools.h. */
#include "thread_pools.h"

/* OpenBLAS's builds have prefixes and suffixes of their own (scipy_openblas_...64_). */
static bool is_open(const struct elf *e)
{
    static const char *const fftw[] = {"fftw_threads_set_callback", "fftwf_threads_set_callback",
                                       "fftwl_threads_set_callback", "fftwq_threads_set_callback"};
    for (unsigned i = 0; i < sizeof fftw / sizeof fftw[0]; i++)
        if (elf_defines(e, fftw[i], NULL))
            return true;
    return elf_find(e, "openblas_set_threads_callback_function") < e->num_sym;
}

const struct object *thread_pools_first_open(const struct closure *c)
{
    for (unsigned i = 0; i < c->num; i++)
        if (c->object[i]->found && is_open(&c->object[i]->elf))
            return c->object[i];
    return NULL;
}

/* Finds thread pools in files: see file_pools.h. */
#include "file_pools.h"

#include <stdio.h>
#include <string.h>

#include "known.h"

/* Returns whether the library lets other code run its parallel jobs. Builds of OpenBLAS add prefixes and suffixes to
 * its names (scipy_openblas_...64_), so a part of the name is enough. */
static bool is_open(const struct elf *e)
{
    static const char *const fftw[] = {"fftw_threads_set_callback", "fftwf_threads_set_callback",
                                       "fftwl_threads_set_callback", "fftwq_threads_set_callback"};
    for (unsigned i = 0; i < sizeof fftw / sizeof fftw[0]; i++)
        if (elf_defines(e, fftw[i], NULL))
            return true;
    return elf_find(e, "openblas_set_threads_callback_function") < e->num_sym;
}

const struct object *file_pools_first_open(const struct closure *c)
{
    for (unsigned i = 0; i < c->num; i++)
        if (c->object[i]->found && is_open(&c->object[i]->elf))
            return c->object[i];
    return NULL;
}

bool file_pools_follow_load(const struct closure *c)
{
    static const char *const asked[] = {"omp_get_max_threads", NULL};
    for (unsigned i = 0; i < c->num; i++) {
        const struct elf *e = &c->object[i]->elf;
        if (c->object[i]->found && elf_find(e, "blas_cpu_number") < e->num_sym && elf_wants_any(e, asked))
            return true;
    }
    return false;
}

static bool file_defines(const void *elf, const char *name, bool part)
{
    const struct elf *e = elf;
    return part ? elf_find(e, name) < e->num_sym : elf_defines(e, name, NULL);
}

/* Returns what carries the threads of OpenBLAS, FFTW or BLIS: "openmp", "pthreads", or "disabled" if the library has no
 * threads. */
static const char *layer_of(const struct elf *e)
{
    static const char *const openmp[] = {"GOMP_parallel", "__kmpc_fork_call", NULL};
    static const char *const pthreads[] = {"pthread_create", NULL};
    return elf_wants_any(e, openmp) ? "openmp" : elf_wants_any(e, pthreads) ? "pthreads" : "disabled";
}

static void add_pool(struct process *to, const struct elf *e, struct known_facts *f)
{
    const char *advice, *ours = known_ours[known_judge(f, &advice)];
    char prefix[64];
    size_t n;
    const char *leaf = known_prefix(e->path, &n);
    snprintf(prefix, sizeof prefix, "%.*s", (int)n, leaf);
    const char *const fields[NUM_FIELDS] = {[FIELD_USER_API] = known_api[f->kind].user_api,
                                            [FIELD_INTERNAL_API] = known_api[f->kind].internal_api,
                                            [FIELD_PREFIX] = prefix,
                                            [FIELD_FILEPATH] = e->path,
                                            [FIELD_THREADING_LAYER] = f->layer,
                                            [FIELD_OURS] = ours,
                                            [FIELD_ADVICE] = advice};
    report_add_pool(to, fields);
}

void file_pools_add(struct process *to, const struct elf *const *file, unsigned num, const struct file_pools_facts *all)
{
    const char *mkl_layer = NULL;
    bool has_front = false; /* MKL's layers are listed only if MKL's front (known_is_mkl_front) is not there */
    for (unsigned i = 0; i < num; i++) {
        mkl_layer = known_mkl_layer(file[i]->path) ? known_mkl_layer(file[i]->path) : mkl_layer;
        has_front |= known_is_mkl_front(file[i]->path);
    }
    for (unsigned i = 0; i < num; i++) {
        const struct elf *e = file[i];
        struct known_facts f = {.kind = known_kind_of(e->path, file_defines, e),
                                .runtime = all->runtime,
                                .openmp_taken = all->openmp_taken,
                                .is_runtime = elf_defines(e, "ort_layer", NULL)};
        if (f.kind == KNOWN_NONE || (f.kind == KNOWN_MKL && has_front && !known_is_mkl_front(e->path)))
            continue;
        if (f.kind == KNOWN_MKL)
            f.layer = mkl_layer;
        else if (f.kind == KNOWN_NUMBA)
            f.layer = known_numba_layer(e->path);
        else if (f.kind == KNOWN_OPENBLAS || f.kind == KNOWN_BLIS || f.kind == KNOWN_FFTW)
            f.layer = layer_of(e);
        f.is_open = (f.kind == KNOWN_OPENBLAS || f.kind == KNOWN_FFTW) && is_open(e);
        f.is_taken = f.is_open && all->takes_jobs && strcmp(f.layer, "pthreads") == 0;
        add_pool(to, e, &f);
    }
}

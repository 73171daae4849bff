/* Finds the libraries whose pools are taken. See pools.h.
 *
 * At the start all objects are examined that are loaded then. Later the runtime reports objects as they are loaded,
 * before their constructors run (`objects_by`; identity/loader.c says which objects). A library that is found stays
 * loaded, because its functions may be called at any time. */
#include "pools.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Atomic(struct pools_library *) pools_libraries;
const struct ort_layer *pools_core;

enum { WANT_OPENBLAS = 1, WANT_FFTW = 2, WANT_ALL = 3 };
static unsigned wanted = WANT_ALL;
static bool verbose;

static bool has_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0") != 0;
}

/* Reads PSTHREADS_POOLS: "none", or a list of names. */
static void read_choice(void)
{
    static const char *const names[] = {"openblas", "fftw"};
    const char *text = getenv("PSTHREADS_POOLS");
    if (!text || !*text)
        return;
    unsigned found = 0;
    for (const char *at = strcmp(text, "none") == 0 ? NULL : text; at;) {
        size_t length = strcspn(at, ",");
        unsigned i = 0;
        while (i < 2 && (strlen(names[i]) != length || strncmp(at, names[i], length) != 0))
            i++;
        if (i == 2) {
            fprintf(stderr, "psthreads: PSTHREADS_POOLS=%s: \"%.*s\" is not openblas or fftw; both are used\n", text,
                    (int)length, at);
            return;
        }
        found |= 1U << i;
        at = at[length] ? at + length + 1 : NULL;
    }
    wanted = found;
}

static bool is_known(ElfW(Addr) base)
{
    for (struct pools_library *l = ps_load_acquire(&pools_libraries); l; l = l->next)
        if (l->base == base)
            return true;
    return false;
}

/* Adds the object to pools_libraries if it is new and a library with a known pool. Called inside dl_iterate_phdr, which
 * holds a lock. dlopen and dlsym take that lock after another one, so neither may be called here. */
static void look_into(const struct dl_phdr_info *info)
{
    struct object o;
    if (!object_read(&o, info) || is_known(o.base))
        return;
    struct pools_library *l = wanted & WANT_OPENBLAS ? openblas_begins(&o) : NULL;
    if (!l)
        l = wanted & WANT_FFTW ? fftw_begins(&o) : NULL;
    if (!l)
        return;
    l->base = o.base;
    l->path = strdup(o.path);
    l->next = ps_load_relaxed(&pools_libraries);
    ps_store_release(&pools_libraries, l);
    if (verbose)
        fprintf(stderr, "psthreads: %s: %s%s\n", *o.path ? o.path : "the program",
                l->left ? "its thread pool is left alone: " : "its parallel calls are regions of ours",
                l->left ? l->left : "");
}

/* Keeps the libraries loaded that were found after `last`. */
static void keep_loaded(const struct pools_library *last)
{
    for (struct pools_library *l = ps_load_acquire(&pools_libraries); l && l != last; l = l->next)
        if (l->path)
            dlopen(l->path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static int look_at_each(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    (void)bytes;
    (void)unused;
    look_into(info);
    return 0;
}

static int look_at_code(struct dl_phdr_info *info, size_t bytes, void *code)
{
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (ElfW(Addr))code - info->dlpi_addr - p->p_vaddr < p->p_memsz) {
            look_into(info);
            return 1;
        }
    }
    return 0;
}

/* Called by the runtime inside dlopen, which holds its lock: no other object begins or ends meanwhile. */
static void object_begins(const void *code)
{
    const struct pools_library *last = ps_load_acquire(&pools_libraries);
    dl_iterate_phdr(look_at_code, (void *)(uintptr_t)code);
    keep_loaded(last);
}

PS_EXPORT void psthreads_pools_begin(void)
{
    if (pools_core)
        return;
    const struct ort_layer *core = dlsym(RTLD_DEFAULT, "ort_layer");
    const struct ps_layer *threads = dlsym(RTLD_DEFAULT, "ps_layer");
    if (!core || core->bytes < sizeof *core || !threads || threads->bytes < sizeof *threads || wanted == 0)
        return;
    openblas_find_openmp();
    pools_core = core;
    threads->objects_by(object_begins);
    dl_iterate_phdr(look_at_each, NULL);
    keep_loaded(NULL);
    pthread_atfork(NULL, NULL, pools_width_after_fork);
}

static __attribute__((constructor)) void pools_loaded(void)
{
    verbose = has_variable("PSTHREADS_VERBOSE");
    read_choice();
    psthreads_pools_begin();
}

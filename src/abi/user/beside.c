/* Says at a process's end which other OpenMP runtimes were loaded, and whether calls of their users came here (PSTHREADS_VERBOSE).
 *
 * psrun names what it replaces before it starts a program, and cannot know what that loads later: each wheel of Python has a copy of libgomp
 * with a name of its own. Such a copy is loaded all the same; what counts is whose entry points the dynamic linker finds first.
 * Does not see a library that was loaded to search itself first (RTLD_DEEPBIND), nor what was unloaded before the end.
 * Runtimes are known by their file's name, as threadpoolctl does. Called by the dynamic linker, once; no shared field; a process that ends
 * by _exit (a forked worker) says nothing. The dynamic linker is asked directly: who ends a process needs its lock in any case.
 * Cost: a look at one environment variable where nobody asked. */
#include "user.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

void GOMP_parallel(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags);

static bool has_name_of_runtime(const char *path)
{
    static const char *const prefixes[] = {"libgomp", "libomp.", "libomp-", "libiomp5"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (unsigned i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return strstr(name, ".so") != NULL;
    return false;
}

static bool has_this(const struct dl_phdr_info *info)
{
    uintptr_t here = (uintptr_t)(void *)has_name_of_runtime;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            here - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) < info->dlpi_phdr[i].p_memsz)
            return true;
    return false;
}

static int tell_of(struct dl_phdr_info *info, size_t bytes, void *ours_first)
{
    (void)bytes;
    if (has_name_of_runtime(info->dlpi_name) && !has_this(info))
        ps_warn("%s is loaded too; %s", info->dlpi_name,
                *(bool *)ours_first ? "not used: our entry points are found first"
                                    : "its entry points are found before ours");
    return 0;
}

__attribute__((destructor)) static void tell_of_others(void)
{
    if (!getenv("PSTHREADS_VERBOSE"))
        return;
    bool ours_first = dlsym(RTLD_DEFAULT, "GOMP_parallel") == (void *)GOMP_parallel;
    dl_iterate_phdr(tell_of, &ours_first);
}

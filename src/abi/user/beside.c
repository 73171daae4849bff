/* PSTHREADS_VERBOSE: what this library reports of itself and of other OpenMP runtimes. When the process's first OpenMP
 * thread appears, this library prints one line: "psthreads VERSION runs this process: N vps, replaced: libgomp.so.1
 * (path)". In a process without OpenMP threads it prints a line at the end. At the end it also prints which other
 * OpenMP runtimes are loaded, and whether the dynamic linker finds this library's entry points (GOMP_parallel) before
 * theirs.
 *
 * psrun prints what it replaces before it starts a program, but cannot know what the program loads later. For example,
 * many Python wheels have a copy of libgomp under a name of its own. Such a copy is loaded beside this library, and the
 * program uses the one whose entry points the dynamic linker finds first. Runtimes are recognised by their file's name,
 * as threadpoolctl does. Not seen are a library that was loaded to search itself first (RTLD_DEEPBIND), and a runtime
 * that was unloaded before the end. A process that ends by _exit (a forked worker) prints nothing at the end.
 *
 * The constructor, `started` and the destructor run once each, one after the other, so the variables need no lock. Cost
 * without PSTHREADS_VERBOSE: the look-up of one environment variable at the start and at the end. */
#include "user.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "os.h"

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

/* The names of OpenMP runtimes that loaded objects need (DT_NEEDED), each once, with commas between them. The
 * constructor writes it. It is not checked that these objects have really got this library instead. */
static char replaced[400];

static void note_runtime_beside(const char *file, PS_UNUSED void *arg)
{
    size_t used = strlen(replaced), length = strlen(file);
    if (!has_name_of_runtime(file) || used + length + 3 > sizeof replaced)
        return;
    for (const char *p = replaced; (p = strstr(p, file)) != NULL; p += length)
        if (p[length] == ',' || p[length] == '\0')
            return;
    snprintf(replaced + used, sizeof replaced - used, "%s%s", used > 0 ? ", " : "", file);
}

static const char linked_in[] = "linked into the program";
static const char *own_file(void)
{
    Dl_info info;
    return dladdr(replaced, &info) && info.dli_fname ? info.dli_fname : linked_in;
}

static bool has_started;
static void started(unsigned num_vps)
{
    const char *file = own_file();
    has_started = true;
    dprintf(STDERR_FILENO, "psthreads " PS_VERSION " runs this process: %u vps, replaced: %s (%s)\n", num_vps,
            replaced[0]         ? replaced
            : file == linked_in ? "nothing"
                                : "what asks for a runtime later",
            file);
}

__attribute__((constructor)) static void listen(void)
{
    if (!os_env_switch("PSTHREADS_VERBOSE"))
        return;
    os_needed_visit(note_runtime_beside, NULL);
    ort_started = started;
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
    if (!os_env_switch("PSTHREADS_VERBOSE"))
        return;
    if (!has_started)
        dprintf(STDERR_FILENO, "psthreads " PS_VERSION " is in this process, which has no OpenMP thread (%s)\n",
                own_file());
    bool ours_first = dlsym(RTLD_DEFAULT, "GOMP_parallel") == (void *)GOMP_parallel;
    dl_iterate_phdr(tell_of, &ours_first);
}

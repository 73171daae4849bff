/* Finds what a program loads when it starts: see closure.h. */
#include "closure.h"

#include "ld_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum runtime runtime_of(const struct elf *e)
{
    bool gnu = elf_defines(e, "GOMP_parallel", NULL) || elf_defines(e, "GOMP_parallel_start", NULL);
    bool llvm = elf_defines(e, "__kmpc_fork_call", NULL);
    if (gnu && llvm)
        return RUNTIME_BOTH;
    if (gnu || llvm)
        return gnu ? RUNTIME_GNU : RUNTIME_LLVM;
    return elf_defines(e, "omp_get_thread_num", NULL) ? RUNTIME_OTHER : RUNTIME_NONE;
}

const char *runtime_name(enum runtime r)
{
    static const char *const names[] = {
        [RUNTIME_NONE] = "none",         [RUNTIME_GNU] = "GNU",       [RUNTIME_LLVM] = "LLVM",
        [RUNTIME_BOTH] = "LLVM and GNU", [RUNTIME_OTHER] = "unknown",
    };
    return names[r];
}

static int add_object(struct closure *c, const char *name, const char *path, const struct elf *dropin)
{
    struct object **grown = realloc(c->object, (c->num + 1) * sizeof *grown);
    if (!grown)
        return ENOMEM;
    c->object = grown;
    struct object *o = calloc(1, sizeof *o);
    char *copy = strdup(name);
    if (!o || !copy) {
        free(o);
        free(copy);
        return ENOMEM;
    }
    o->name = copy;
    o->found = path && elf_open(&o->elf, path) == ELF_OK;
    if (o->found) {
        o->runtime = runtime_of(&o->elf);
        o->ours = dropin && o->elf.dev == dropin->dev && o->elf.ino == dropin->ino;
    }
    c->object[c->num++] = o;
    return 0;
}

static void drop_last(struct closure *c)
{
    struct object *o = c->object[--c->num];
    if (o->found)
        elf_close(&o->elf);
    free(o->name);
    free(o);
}

/* Adds the library of one line of the loader's output: " libm.so.6 => /lib/libm.so.6 (0x7f..)", " /lib/ld.so (0x7f..)",
 * " ./libx.so (0x7f..)" or " libx.so => not found". */
static int add_loader_line(struct closure *c, char *line, const struct elf *dropin)
{
    line += strspn(line, " \t");
    line[strcspn(line, "\n")] = '\0';
    char *address = NULL; /* the last " (0x" in the line: a folder's name may contain one */
    for (char *at = line; (at = strstr(at, " (0x")) != NULL; at++)
        address = at;
    if (address)
        *address = '\0';
    char *arrow = strstr(line, " => ");
    if (arrow) {
        *arrow = '\0';
        const char *path = arrow + 4;
        return add_object(c, line, strchr(path, '/') ? path : NULL, dropin);
    }
    if (!strchr(line, '/') || !address)
        return 0; /* no library: the vdso, or a message */
    const char *base = strrchr(line, '/') + 1;
    return add_object(c, base, line, dropin);
}

static void trace_in_child(int out, const char *interp, const char *program, const char *library_path,
                           const char *preload, bool with_gaps)
{
    /* psrun may have been started with descriptors 0, 1 or 2 closed: so the pipe gets a number above 2. */
    if (out < 3 && (out = fcntl(out, F_DUPFD_CLOEXEC, 3)) < 0)
        _exit(127);
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 2);
    }
    dup2(out, 1);
    if (with_gaps)
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    else
        unsetenv("LD_TRACE_LOADED_OBJECTS");
    unsetenv("LD_WARN");
    unsetenv("LD_BIND_NOW");
    unsetenv("LD_DEBUG");
    unsetenv("LD_VERBOSE");
    if (library_path)
        setenv("LD_LIBRARY_PATH", library_path, 1);
    if (preload)
        setenv("LD_PRELOAD", preload, 1);
    if (with_gaps)
        execl(interp, interp, program, (char *)NULL);
    else
        execl(interp, interp, "--list", program, (char *)NULL);
    _exit(127);
}

static int trace(struct closure *c, const char *interp, const char *program, const char *library_path,
                 const char *preload, const struct elf *dropin, bool with_gaps, int *status)
{
    *c = (struct closure){0};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    /* If SIGCHLD is ignored, waitpid does not return a child's status. */
    struct sigaction before, told = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &told, &before);
    pid_t pid = fork();
    if (pid < 0) {
        int error = errno;
        sigaction(SIGCHLD, &before, NULL);
        close(ends[0]);
        close(ends[1]);
        return error;
    }
    if (pid == 0)
        trace_in_child(ends[1], interp, program, library_path, preload, with_gaps);
    close(ends[1]);
    int error = add_object(c, program, program, dropin);
    FILE *lines = fdopen(ends[0], "r");
    char *line = NULL;
    size_t capacity = 0;
    while (!error && lines && getline(&line, &capacity, lines) >= 0)
        error = add_loader_line(c, line, dropin);
    free(line);
    if (lines)
        fclose(lines);
    else
        close(ends[0]);
    *status = 0;
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGCHLD, &before, NULL);
    if (error)
        closure_free(c);
    return error;
}

/* Returns whether the environment leaves the loader only LD_LIBRARY_PATH and its cache to find libraries by. False for
 * other loaders than glibc's in its usual place: only that one is known to use the cache of /etc. */
static bool is_plain_search(const char *interp)
{
    for (char **v = environ; *v; v++)
        if ((strncmp(*v, "LD_", 3) == 0 && strncmp(*v, "LD_LIBRARY_PATH=", 16) != 0 &&
             strncmp(*v, "LD_PRELOAD=", 11) != 0) ||
            strncmp(*v, "GLIBC_TUNABLES=", 15) == 0)
            return false;
    return strncmp(interp, "/lib", 4) == 0 && strstr(interp, "/ld-linux") && access("/etc/ld.so.preload", F_OK) != 0;
}

static bool has_name(const struct object *o, const char *name)
{
    return strcmp(o->name, name) == 0 || (o->elf.soname && strcmp(o->elf.soname, name) == 0);
}

/* Adds the library that an object needs under `name`, unless the closure has it under that name or as the same file.
 * Returns false if the loader must be asked. */
static bool add_needed(struct closure *c, const struct ld_cache *cache, const char *name, const char *interp,
                       const char *folder, const struct elf *dropin)
{
    char path[PATH_MAX];
    const char *file = path;
    for (unsigned i = 0; i < c->num; i++)
        if (has_name(c->object[i], name))
            return true;
    if (strpbrk(name, "/$") || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    if (strcmp(strrchr(interp, '/') + 1, name) == 0)
        file = interp;
    else if (access(path, F_OK) != 0)
        file = ld_cache_find(cache, name);
    if (!file || add_object(c, name, file, dropin) != 0)
        return false;
    const struct elf *e = &c->object[c->num - 1]->elf, *first = &c->object[0]->elf;
    if (!c->object[c->num - 1]->found || e->own_search || e->machine != first->machine)
        return false;
    for (unsigned i = 0; i + 1 < c->num; i++)
        if (c->object[i]->elf.ino == e->ino && c->object[i]->elf.dev == e->dev) {
            drop_last(c);
            break;
        }
    return true;
}

bool closure_read(struct closure *c, const char *interp, const char *program, const char *folder,
                  const struct elf *dropin)
{
    struct ld_cache cache;
    *c = (struct closure){0};
    if (!is_plain_search(interp) || !ld_cache_open(&cache))
        return false;
    bool plain = add_object(c, program, program, dropin) == 0 && c->object[0]->found && !c->object[0]->elf.own_search;
    for (unsigned i = 0; plain && i < c->num; i++)
        for (unsigned k = 0; plain && k < c->object[i]->elf.num_needed; k++)
            plain = add_needed(c, &cache, c->object[i]->elf.needed[k], interp, folder, dropin);
    ld_cache_close(&cache);
    if (!plain)
        closure_free(c);
    return plain;
}

int closure_trace(struct closure *c, const char *interp, const char *program, const char *library_path,
                  const char *preload, const struct elf *dropin)
{
    int status = 0;
    /* The loader takes $ORIGIN from the name that it is given. It gets the real name, because $ORIGIN is the folder of
     * the program's file, not of a symbolic link to it. */
    char *real = realpath(program, NULL);
    const char *file = real ? real : program;
    int error = trace(c, interp, file, library_path, preload, dropin, false, &status);
    /* The loader has failed, usually because a library is missing. With LD_TRACE_LOADED_OBJECTS it says which. The
     * first attempt is made without this variable, because a wrapper under which psrun runs (valgrind) would obey it
     * too, and list itself. */
    if (!error && status != 0) {
        closure_free(c);
        error = trace(c, interp, file, library_path, preload, dropin, true, &status);
        if (!error && WIFEXITED(status) && WEXITSTATUS(status) == 127 && c->num == 1) {
            closure_free(c);
            error = ENOEXEC; /* the loader itself could not be run */
        }
    }
    free(real);
    return error;
}

unsigned closure_missing(const struct closure *c, const char **first)
{
    unsigned n = 0;
    for (unsigned i = 1; i < c->num; i++)
        if (!c->object[i]->found && n++ == 0)
            *first = c->object[i]->name;
    return n;
}

void closure_free(struct closure *c)
{
    while (c->num > 0)
        drop_last(c);
    free(c->object);
    *c = (struct closure){0};
}

unsigned closure_foreign(const struct closure *c, unsigned i)
{
    while (i < c->num && (c->object[i]->runtime == RUNTIME_NONE || c->object[i]->ours))
        i++;
    return i;
}

static bool closure_has_ours(const struct closure *c)
{
    for (unsigned i = 0; i < c->num; i++)
        if (c->object[i]->ours)
            return true;
    return false;
}

bool closure_has_runtime(const struct closure *c) { return closure_has_ours(c) || closure_foreign(c, 0) < c->num; }

static bool is_c_library(const struct object *o)
{
    return strncmp(o->name, "libc.so", 7) == 0 || strncmp(o->name, "ld-linux", 8) == 0 ||
           strncmp(o->name, "ld64", 4) == 0;
}

bool closure_wants_any(const struct closure *c, const char *const names[])
{
    for (unsigned i = 0; i < c->num; i++) {
        if (!c->object[i]->found || is_c_library(c->object[i]))
            continue;
        if (elf_wants_any(&c->object[i]->elf, names))
            return true;
    }
    return false;
}

static bool begins_with_any(const char *name, const char *const *prefix, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (strncmp(name, prefix[i], strlen(prefix[i])) == 0)
            return true;
    return false;
}

/* `systems`: libraries of the system, which do not count as the program's. `state`: functions that use what the C
 * library keeps for each thread. Both lists are those of the runtime (src/uth/tls_objects.c), which psrun is not linked
 * to. */
bool closure_shares_tls(const struct closure *c)
{
    static const char *const sanitizers[] = {"libasan.", "libtsan.", "liblsan.", "libclang_rt."};
    static const char *const systems[] = {"libm.so.",  "libpthread.so.", "libdl.so.",
                                          "librt.so.", "libresolv.so.",  "libgcc_s.so."};
    static const char *const state[] = {"pthread_self", "pthread_setspecific", "tss_set", "thrd_current",
                                        "uselocale",    "flockfile",           NULL};
    bool sanitized = false, wanted = false;
    for (unsigned i = 0; i < c->num; i++) {
        const struct object *o = c->object[i];
        if (!o->found || is_c_library(o) || begins_with_any(o->name, systems, sizeof systems / sizeof systems[0]))
            continue;
        sanitized |= elf_defines(&o->elf, "__asan_init", NULL) || elf_defines(&o->elf, "__tsan_init", NULL) ||
                     elf_defines(&o->elf, "__lsan_init", NULL) || elf_defines(&o->elf, "__safestack_init", NULL);
        if (o->runtime == RUNTIME_NONE &&
            !begins_with_any(o->name, sanitizers, sizeof sanitizers / sizeof sanitizers[0]))
            wanted |= o->elf.tls || elf_wants_any(&o->elf, state);
    }
    return sanitized && wanted;
}

bool closure_misses(const struct closure *c, const char *const *names)
{
    if (!closure_wants_any(c, names))
        return false;
    for (unsigned i = 0; i < c->num && !c->object[i]->ours; i++)
        if (is_c_library(c->object[i]))
            return true;
    return false;
}

static bool is_omp_name(const char *name)
{
    static const char *const prefixes[] = {"GOMP_", "GOACC_", "omp_",  "__kmpc_", "__kmp_",
                                           "kmp_",  "kmpc_",  "ompc_", "acc_"};
    if (!strchr("Gok_a", name[0]) || (name[0] == '_' && name[1] != '_'))
        return false;
    for (unsigned i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Returns whether an object of the program defines the name: the program's own "omp_something" is not an entry point of
 * a runtime. */
static bool defined_elsewhere(const struct closure *c, const char *name)
{
    for (unsigned i = 0; i < c->num; i++)
        if (c->object[i]->found && c->object[i]->runtime == RUNTIME_NONE && elf_defines(&c->object[i]->elf, name, NULL))
            return true;
    return false;
}

static bool is_ours_by_name(const struct closure *c, const char *file)
{
    for (unsigned i = 0; i < c->num; i++)
        if (c->object[i]->ours && strcmp(c->object[i]->name, file) == 0)
            return true;
    return false;
}

unsigned closure_lacks(const struct closure *c, const struct elf *dropin, struct lack *lack, unsigned max,
                       unsigned *num_wanted)
{
    unsigned num = 0;
    *num_wanted = 0;
    for (unsigned i = 0; i < c->num; i++) {
        const struct object *o = c->object[i];
        if (!o->found || o->runtime != RUNTIME_NONE)
            continue;
        for (size_t k = 0; k < o->elf.end_wanted; k++) {
            const char *name = elf_sym_name(&o->elf, k);
            if (!elf_sym_wanted(&o->elf, k) || !is_omp_name(name) || defined_elsewhere(c, name))
                continue;
            ++*num_wanted;
            const struct elf_version *v = elf_sym_version(&o->elf, k);
            if (elf_defines(dropin, name, v ? v->name : NULL))
                continue;
            if (num++ < max)
                lack[num - 1] = (struct lack){name, v ? v->name : NULL, o->name};
        }
        for (unsigned v = 0; v < ELF_VERSIONS_MAX; v++) {
            const struct elf_version *want = &o->elf.version[v];
            if (!want->name || !want->file || !is_ours_by_name(c, want->file) || elf_has_version(dropin, want->name))
                continue;
            if (num++ < max)
                lack[num - 1] = (struct lack){"version", want->name, o->name};
        }
    }
    return num;
}

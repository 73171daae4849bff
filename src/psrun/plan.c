/* See plan.h. */
#include "plan.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/xattr.h>
#include <unistd.h>

#define DROPIN_LINK "libgomp.so.1"
#define SCRIPT_NESTED 5 /* "#!" of "#!" of ...; the kernel gives up behind 5 too */
#define SCRIPT_READ 256 /* bytes of a file that the kernel looks at */

__attribute__((format(printf, 3, 4))) static int fail(struct plan *p, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->why, sizeof p->why, format, args);
    va_end(args);
    return p->status = status;
}

__attribute__((format(printf, 1, 2))) static char *print(const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    if (!text) {
        fprintf(stderr, "psrun: out of memory\n");
        exit(EXIT_USAGE);
    }
    return text;
}

/* --- the drop-in --- */

/* The folder that psrun stands in. Without /proc: from the name that it was started by. */
static bool own_folder(char self[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);
    if (n > 0) {
        self[n] = '\0';
    } else {
        const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
        if (!name || !realpath(name, self))
            return false;
    }
    *strrchr(self, '/') = '\0';
    return true;
}

/* build/bin/psrun -> build/lib/dropin; prefix/bin/psrun -> prefix/lib/psthreads/dropin. */
static char *find_dropin_dir(struct plan *p)
{
    char self[PATH_MAX];
    if (!own_folder(self)) {
        fail(p, EXIT_USAGE, "cannot tell where psrun stands (/proc/self/exe: %s); say where the runtime is: --dropin",
             strerror(errno));
        return NULL;
    }
    static const char *const places[] = {"../lib", "../lib/psthreads"};
    const char *folder = strcmp(p->entities, "pthreads") == 0 ? "dropin-pthreads" : "dropin";
    for (unsigned i = 0; i < 2; i++) {
        char *dir = print("%s/%s/%s", self, places[i], folder);
        char *link = print("%s/" DROPIN_LINK, dir);
        bool there = access(link, R_OK) == 0;
        free(link);
        char *real = there ? realpath(dir, NULL) : NULL;
        free(dir);
        if (real)
            return real;
    }
    fail(p, EXIT_USAGE,
         "there is no %s/" DROPIN_LINK " in %s/%s or %s/%s: build the runtime, or say where it is "
         "(--dropin FOLDER)",
         folder, self, places[0], self, places[1]);
    return NULL;
}

/* What the drop-in of a given folder stands on: its symbols tell the scheduler's, the folder's name (dropin-NAME) all
 * others. */
static const char *entities_of(const struct plan *p)
{
    static const char prefix[] = "dropin-";
    const char *leaf = strrchr(p->dropin_dir, '/') + 1;
    if (elf_defines(&p->dropin, "ps_debug_layout", NULL))
        return "psthreads";
    return strncmp(leaf, prefix, sizeof prefix - 1) == 0 ? leaf + sizeof prefix - 1 : "unknown";
}

static int open_dropin(struct plan *p, const char *given)
{
    p->dropin_dir = given ? realpath(given, NULL) : find_dropin_dir(p);
    if (!p->dropin_dir)
        return p->status ? p->status : fail(p, EXIT_USAGE, "%s: %s", given, strerror(errno));
    if (strpbrk(p->dropin_dir, ":; \t"))
        return fail(p, EXIT_USAGE,
                    "the folder '%s' cannot be named to the loader (it has a blank, ':' or ';' in its name)",
                    p->dropin_dir);
    char *file = print("%s/" DROPIN_LINK, p->dropin_dir);
    enum elf_status s = elf_open(&p->dropin, file);
    if (s != ELF_OK || (runtime_of(&p->dropin) != RUNTIME_GNU && runtime_of(&p->dropin) != RUNTIME_BOTH))
        fail(p, EXIT_USAGE, "%s is not an OpenMP runtime", file);
    else if (given)
        p->entities = entities_of(p);
    free(file);
    return p->status;
}

/* --- the program --- */

/* As execvp would find it. */
static char *find_program(struct plan *p, const char *name)
{
    if (strchr(name, '/')) {
        if (access(name, F_OK) != 0) {
            fail(p, errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN, "%s: %s", name, strerror(errno));
            return NULL;
        }
        return print("%s", name);
    }
    const char *path = getenv("PATH");
    path = path ? path : "/usr/local/bin:/usr/bin:/bin";
    for (const char *end; *name; path = end + 1) {
        end = strchrnul(path, ':');
        char *file = end == path ? print("./%s", name) : print("%.*s/%s", (int)(end - path), path, name);
        struct stat st;
        if (stat(file, &st) == 0 && S_ISREG(st.st_mode) && access(file, X_OK) == 0)
            return file;
        free(file);
        if (!*end)
            break;
    }
    fail(p, EXIT_NOT_FOUND, "%s: no such program in PATH", name);
    return NULL;
}

/* The interpreter that a "#!" line names, as the system reads the line; NULL: it has none. A name ends at a blank or at
 * the line's end (a carriage return is part of it), within what the system reads of a file. Text without such a name,
 * or an empty file, is the shell's, as execvp and all shells have it. This rule holds only for the file that was to be
 * run: the system takes no such file for an interpreter. */
static char *interpreter_of_script(const char *file, bool to_be_run)
{
    char line[SCRIPT_READ + 1];
    FILE *f = fopen(file, "re");
    size_t n = f ? fread(line, 1, SCRIPT_READ, f) : 0;
    if (f)
        fclose(f);
    line[n] = '\0';
    if (n >= 2 && memcmp(line, "#!", 2) == 0) {
        const char *name = line + 2 + strspn(line + 2, " \t");
        size_t length = strcspn(name, " \t\n");
        if (length > 0 && name + length < line + SCRIPT_READ)
            return print("%.*s", (int)length, name);
        if (*name == '\0' && n < SCRIPT_READ)
            return NULL; /* the file ends here: the system refuses it */
    }
    return to_be_run && (n == 0 || (line[0] != '\177' && !memchr(line, '\0', n))) ? print("/bin/sh") : NULL;
}

static int look_at_elf(struct plan *p, struct elf *e, bool allow_library)
{
    p->elf = print("%s", p->file);
    for (int depth = 0;; depth++) {
        enum elf_status s = elf_open(e, p->elf);
        if (s == ELF_OK)
            break;
        if (s == ELF_UNREADABLE)
            return fail(p, access(p->elf, F_OK) == 0 || errno != ENOENT ? EXIT_CANNOT_RUN : EXIT_NOT_FOUND, "%s: %s",
                        p->elf, access(p->elf, R_OK) == 0 ? "is not a file that can be run" : strerror(errno));
        if (s == ELF_FOREIGN)
            return fail(p, EXIT_CANNOT_RUN, "%s is a program for ELF machine %u; this psrun can run its own kind only",
                        p->elf, e->machine);
        char *next = s == ELF_NOT ? interpreter_of_script(p->elf, depth == 0) : NULL;
        if (next && depth == SCRIPT_NESTED) {
            free(next);
            return fail(p, EXIT_CANNOT_RUN, "%s: scripts that run one another, more than %d deep", p->file, depth);
        }
        if (!next)
            return fail(p, EXIT_CANNOT_RUN, "%s is %s", p->elf,
                        s == ELF_NOT ? "neither an ELF program nor a script" : "a broken ELF file");
        free(p->elf);
        p->elf = next;
        p->script = true;
    }
    /* a library has its own name or needs something; a program has a loader, or is static */
    p->library = !e->interp && e->type == ET_DYN && (e->soname || e->num_needed > 0);
    if (p->library && !allow_library)
        return fail(p, EXIT_CANNOT_RUN, "%s is a shared library, not a program", p->elf);
    bool inside = elf_contains(e, "GOMP_parallel") || elf_contains(e, "__kmpc_fork_call");
    if (!p->library && !e->interp) {
        if (inside)
            return fail(p, EXIT_CANNOT_RUN,
                        "%s is linked statically and has an OpenMP runtime inside: it cannot be replaced", p->elf);
        p->alone = "it is linked statically";
        return 0;
    }
    if (elf_defines(e, "GOMP_parallel", NULL) || (!p->library && inside))
        return fail(p, EXIT_CANNOT_RUN, "%s has an OpenMP runtime linked into itself: it cannot be replaced", p->elf);
    if (e->interp && strstr(e->interp, "ld-musl")) {
        for (unsigned i = 0; i < e->num_needed; i++)
            if (strncmp(e->needed[i], "libgomp", 7) == 0 || strncmp(e->needed[i], "libomp", 6) == 0)
                return fail(p, EXIT_CANNOT_RUN, "%s is linked to musl; the runtime needs the GNU C library", p->elf);
        p->alone = "it is linked to musl, not the GNU C library";
    }
    return 0;
}

/* A library asked about needs no such right. */
static int check_executable(struct plan *p)
{
    return !p->library && access(p->file, X_OK) != 0 ? fail(p, EXIT_CANNOT_RUN, "%s: %s", p->file, strerror(errno)) : 0;
}

/* For such programs the loader drops LD_LIBRARY_PATH, and LD_PRELOAD of names with a slash. */
static int check_privileges(struct plan *p)
{
    struct stat st;
    if (getuid() != geteuid() || getgid() != getegid())
        return fail(p, EXIT_CANNOT_RUN,
                    "%s would run with the rights of two users or groups, as psrun does: the loader "
                    "then ignores which library is asked for",
                    p->elf);
    if (stat(p->elf, &st) != 0 || p->library)
        return 0;
    bool user = (st.st_mode & S_ISUID) && st.st_uid != getuid();
    bool group = (st.st_mode & S_ISGID) && st.st_gid != getgid();
    bool capable = getuid() != 0 && getxattr(p->elf, "security.capability", NULL, 0) > 0;
    if (user || group || capable)
        return fail(p, EXIT_CANNOT_RUN, "%s runs with %s: the loader then ignores who asks for another library", p->elf,
                    user    ? "another user's rights (set-user-id)"
                    : group ? "another group's rights (set-group-id)"
                            : "capabilities");
    return 0;
}

/* --- the environment --- */

/* "dir:old", where old loses what an outer psrun put there: entries that end in ours. A folder without a name is the
 * current one to the loader, and so it stays. */
static char *put_first(const char *first, const char *old, const char *separators, bool files)
{
    char *value = print("%s", first);
    for (const char *at = old && *old ? old : NULL; at;) {
        size_t n = strcspn(at, separators);
        const char *leaf = files ? "/" DROPIN_LINK : "";
        char *entry = n > 0 || files ? print("%.*s", (int)n, at) : print(".");
        char *a = print("lib/dropin%s", leaf), *b = print("lib/dropin-pthreads%s", leaf);
        char *c = print("psthreads/dropin%s", leaf), *d = print("psthreads/dropin-pthreads%s", leaf);
        const char *const ends[] = {
            a, b, c, d, first, files ? "/libpsthreads-mpi-openmpi.so" : "", files ? "/libpsthreads-mpi-mpich.so" : ""};
        bool drop = !*entry;
        for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++) {
            size_t m = strlen(ends[i]);
            drop = drop || (m > 0 && n >= m && strcmp(entry + n - m, ends[i]) == 0);
        }
        if (!drop) {
            char *longer = *value ? print("%s:%s", value, entry) : print("%s", entry);
            free(value);
            value = longer;
        }
        free(entry);
        free(a), free(b), free(c), free(d);
        at = at[n] ? at + n + 1 : NULL;
    }
    return value;
}

/* --- MPI --- */

static bool is_linked_to(const struct closure *c, const char *name)
{
    for (unsigned i = 1; i < c->num; i++)
        if (strcmp(c->object[i]->name, name) == 0)
            return true;
    return false;
}

/* The MPI that the program uses, or the processes that it starts. Told by the libraries that it is linked to, by the
 * launcher that it is, or by the launcher that has started it; NULL: none. */
static const char *which_mpi(const struct plan *p)
{
    char real[PATH_MAX];
    const struct closure *c = &p->after;
    if (is_linked_to(c, "libmpi.so.40"))
        return "openmpi";
    if (is_linked_to(c, "libmpich.so.12") || is_linked_to(c, "libmpi.so.12"))
        return "mpich";
    if (is_linked_to(c, "libopen-rte.so.40"))
        return "openmpi";
    const char *name = realpath(p->elf, real) ? strrchr(real, '/') + 1 : "";
    if (strcmp(name, "mpiexec.hydra") == 0 || strcmp(name, "hydra_pmi_proxy") == 0)
        return "mpich";
    if (getenv("OMPI_COMM_WORLD_SIZE"))
        return "openmpi";
    return getenv("MPI_LOCALNRANKS") && getenv("PMI_SIZE") ? "mpich" : NULL;
}

/* Whether the object stands between the program and MPI, as profilers do: it defines MPI's functions, and none by its
 * name for such objects (PMPI_Recv). */
static bool is_mpi_tool(const struct elf *e)
{
    bool any = false;
    for (size_t i = e->end_wanted; i < e->num_sym; i++) {
        const char *name = elf_sym_given(e, i) ? elf_sym_name(e, i) : "";
        if (strncmp(name, "PMPI_", 5) == 0)
            return false;
        any = any || (strncmp(name, "MPI_", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z' && name[5] >= 'a');
    }
    return any;
}

/* The program's libraries that do, each followed by ':'. What is preloaded stands before them. So they are preloaded
 * themselves, before the layer. */
static char *mpi_tools(const struct closure *c)
{
    char *value = print("%s", "");
    for (unsigned i = 1; i < c->num; i++) {
        const struct object *o = c->object[i];
        if (!o->found || strstr(o->name, "libpsthreads-mpi-") || strpbrk(o->elf.path, ": ;") || !is_mpi_tool(&o->elf))
            continue;
        char *longer = print("%s%s:", value, o->elf.path);
        free(value);
        value = longer;
    }
    return value;
}

/* Puts the layer last in what is preloaded: behind tools that stand before MPI, too (src/mpi/tools.c). The layer is
 * found beside the drop-ins. */
static void preload_mpi(struct plan *p, const char *cleaned)
{
    const char *mpi = which_mpi(p);
    if (!mpi || p->no_mpi || strcmp(p->entities, "psthreads") != 0)
        return;
    char *dir = print("%s/../mpi", p->dropin_dir), *real = realpath(dir, NULL);
    char *file = real ? print("%s/libpsthreads-mpi-%s.so", real, mpi) : NULL;
    if (file && access(file, R_OK) == 0) {
        const char *others = p->preload_value ? p->preload_value : cleaned;
        char *tools = mpi_tools(&p->after);
        char *value = print("%s%s%s%s", others, *others ? ":" : "", tools, file);
        free(tools);
        free(p->preload_value);
        p->preload_value = value;
        p->mpi = mpi;
    } else {
        p->mpi_without_layer = mpi;
    }
    free(dir);
    free(real);
    free(file);
}

static const char *const loads_later[] = {"dlopen", "dlmopen", NULL};
static const char *const starts_others[] = {"execve", "execv",  "execvp",  "execvpe",     "execl",
                                            "execlp", "execle", "fexecve", "posix_spawn", "posix_spawnp",
                                            "system", "popen",  NULL};

static int make_environment(struct plan *p, const char *interp, bool compare)
{
    const char *old_path = getenv("LD_LIBRARY_PATH"), *old_preload = getenv("LD_PRELOAD");
    p->library_path = put_first(p->dropin_dir, old_path, ":;", false);
    char *cleaned = put_first("", old_preload, ": ", true);
    char *path_before = put_first("", old_path, ":;", false);
    int error = 0;
    if (compare)
        error = closure_trace(&p->before, interp, p->elf, path_before, cleaned, &p->dropin);
    /* What is compared and shown (doctor, --verbose) is the loader's own word. */
    bool plain = !compare && !*cleaned && strcmp(p->library_path, p->dropin_dir) == 0 &&
                 closure_read(&p->after, interp, p->elf, p->dropin_dir, &p->dropin);
    if (!error && !plain)
        error = closure_trace(&p->after, interp, p->elf, p->library_path, cleaned, &p->dropin);
    free(path_before);
    if (error) {
        free(cleaned);
        return fail(p, EXIT_CANNOT_RUN, "cannot ask the loader %s about %s: %s", interp, p->elf, strerror(error));
    }
    bool any = closure_has_runtime(&p->after);
    p->preload = p->script || !any || closure_foreign(&p->after, 0) < p->after.num;
    /* What programs call where they need the runtime's answers (marked in src/abi/symbols.txt). */
    static const char *const interposed[] = {
#include "interposed.inc"
        NULL};
    p->yields = !p->preload && closure_misses(&p->after, interposed);
    p->preload = p->preload || p->yields;
    if (!p->script && !p->library && !any && !closure_wants_any(&p->after, loads_later) &&
        !closure_wants_any(&p->after, starts_others)) {
        p->alone = "it has no OpenMP runtime, and can neither load one later nor start another program";
        p->preload = false;
    }
    if (p->preload) {
        char *link = print("%s/" DROPIN_LINK, p->dropin_dir);
        p->preload_value = put_first(link, cleaned, ": ", true);
        free(link);
        if (any && !p->yields) { /* what is loaded now depends on ours being there first */
            closure_free(&p->after);
            error = closure_trace(&p->after, interp, p->elf, p->library_path, p->preload_value, &p->dropin);
        }
    } else if (old_preload && strcmp(old_preload, cleaned) != 0) {
        p->preload_value = print("%s", cleaned);
    }
    if (!p->alone)
        preload_mpi(p, cleaned);
    free(cleaned);
    return error ? fail(p, EXIT_CANNOT_RUN, "cannot ask the loader %s about %s: %s", interp, p->elf, strerror(error))
                 : 0;
}

/* All over again, with the other runtime. */
static void use_kernel_threads(struct plan *p, const char *interp, bool compare)
{
    p->entities = "pthreads";
    p->for_sanitizer = true;
    p->mpi = p->mpi_without_layer = NULL;
    closure_free(&p->before);
    closure_free(&p->after);
    free(p->library_path);
    free(p->preload_value);
    free(p->dropin_dir);
    p->preload_value = NULL;
    elf_close(&p->dropin);
    if (open_dropin(p, NULL) == 0)
        make_environment(p, interp, compare);
}

/* The program needs no runtime of ours, but programs that it starts may. */
static int plan_alone(struct plan *p)
{
    char *link = print("%s/" DROPIN_LINK, p->dropin_dir);
    p->library_path = put_first(p->dropin_dir, getenv("LD_LIBRARY_PATH"), ":;", false);
    p->preload_value = put_first(link, getenv("LD_PRELOAD"), ": ", true);
    free(link);
    return 0;
}

/* NULL: not known. A library does not name its loader; psrun's own will do. */
static char *loader_of(const struct elf *e)
{
    struct elf own;
    char *interp = e->interp ? print("%s", e->interp) : NULL;
    if (!interp && elf_open(&own, "/proc/self/exe") == ELF_OK) {
        interp = own.interp ? print("%s", own.interp) : NULL;
        elf_close(&own);
    }
    return interp;
}

/* Libraries that are not found, and entry points that the runtime does not have. */
static int look_for_lacks(struct plan *p)
{
    const char *missing;
    unsigned num_missing = closure_missing(&p->after, &missing);
    if (num_missing > 0)
        return fail(p, EXIT_NOT_FOUND, "%s needs %s, which is not found%s", p->file, missing,
                    num_missing > 1 ? ", nor are others" : "");
    p->num_lacks = closure_lacks(&p->after, &p->dropin, p->lack, PLAN_LACKS_MAX, &p->num_wanted);
    if (!p->num_lacks)
        return 0;
    const struct lack *l = &p->lack[0];
    size_t n = (size_t)snprintf(p->why, sizeof p->why,
                                "%s needs %u OpenMP entry point%s that the runtime does not have:", p->file,
                                p->num_lacks, p->num_lacks == 1 ? "" : "s");
    for (unsigned i = 0; i < p->num_lacks && i < PLAN_LACKS_MAX && n < sizeof p->why - 8; i++, l++)
        n += (size_t)snprintf(p->why + n, sizeof p->why - n, " %s%s%s", l->symbol, l->version ? "@" : "",
                              l->version ? l->version : "");
    return p->status = EXIT_NOT_FOUND;
}

int plan_make(struct plan *p, const char *program, const char *entities, const char *dropin_dir, bool compare,
              bool allow_library)
{
    p->entities = entities ? entities : "psthreads";
    if (open_dropin(p, dropin_dir) || !(p->file = find_program(p, program)))
        return p->status;
    struct stat st;
    if (stat(p->file, &st) == 0 && !S_ISREG(st.st_mode))
        return fail(p, EXIT_CANNOT_RUN, "%s is %s", p->file, S_ISDIR(st.st_mode) ? "a folder" : "no regular file");
    if (!allow_library && access(p->file, X_OK) != 0)
        return fail(p, EXIT_CANNOT_RUN, "%s: %s", p->file, strerror(errno));
    struct elf e = {0};
    if (look_at_elf(p, &e, allow_library) || check_executable(p) || check_privileges(p)) {
        elf_close(&e);
        return p->status;
    }
    char *interp = p->alone ? NULL : loader_of(&e);
    elf_close(&e);
    if (p->alone)
        return plan_alone(p);
    if (!interp || access(interp, X_OK) != 0)
        return fail(p, EXIT_CANNOT_RUN, "%s: its loader %s is not on this machine", p->elf,
                    interp ? interp : "(unknown)");
    make_environment(p, interp, compare);
    if (!p->status && !entities && !dropin_dir && closure_shares_tls(&p->after))
        use_kernel_threads(p, interp, compare);
    free(interp);
    return p->status ? p->status : look_for_lacks(p);
}

/* Decides how a program runs on our runtime: see plan.h. */
#include "file_pools.h"
#include "os.h"
#include "plan_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int plan_fail(struct plan *p, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->why, sizeof p->why, format, args);
    va_end(args);
    return p->status = status;
}

char *plan_text(const char *format, ...)
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

static const char *const loads_later[] = {"dlopen", "dlmopen", NULL};
static const char *const starts_others[] = {"execve", "execv",  "execvp",  "execvpe",     "execl",
                                            "execlp", "execle", "fexecve", "posix_spawn", "posix_spawnp",
                                            "system", "popen",  NULL};

static int make_environment(struct plan *p, const char *interp, bool compare)
{
    const char *old_path = getenv("LD_LIBRARY_PATH"), *old_preload = getenv("LD_PRELOAD");
    p->library_path = plan_put_first(p->dropin_dir, old_path, ":;", false);
    char *cleaned = plan_put_first("", old_preload, ": ", true);
    char *path_before = plan_put_first("", old_path, ":;", false);
    int error = 0;
    if (compare)
        error = closure_trace(&p->before, interp, p->elf, path_before, cleaned, &p->dropin);
    /* For doctor and --verbose the loader is asked in any case: they compare and show the closures. */
    bool plain = !compare && !*cleaned && strcmp(p->library_path, p->dropin_dir) == 0 &&
                 closure_read(&p->after, interp, p->elf, p->dropin_dir, &p->dropin);
    if (!error && !plain)
        error = closure_trace(&p->after, interp, p->elf, p->library_path, cleaned, &p->dropin);
    free(path_before);
    if (error) {
        free(cleaned);
        return plan_fail(p, EXIT_CANNOT_RUN, "cannot ask the loader %s about %s: %s", interp, p->elf, strerror(error));
    }
    bool any = closure_has_runtime(&p->after);
    plan_find_pools(p);
    bool jobs = p->pools && (file_pools_first_open(&p->after) || file_pools_follow_load(&p->after)),
         later = p->script || !any || (p->pools && p->asks_pools);
    p->preload = later || jobs || closure_foreign(&p->after, 0) < p->after.num;
    /* Functions of the C library that programs call, and whose answers must come from the runtime (marked in
     * src/abi/symbols.txt). */
    static const char *const interposed[] = {
#include "interposed.inc"
        NULL};
    p->yields = !p->preload && closure_misses(&p->after, interposed);
    p->preload = p->preload || p->yields;
    if (!p->script && !p->library && !any && !jobs && !closure_wants_any(&p->after, loads_later) &&
        !closure_wants_any(&p->after, starts_others)) {
        p->alone = "it can neither load a library later nor start another program";
        p->preload = false;
    }
    if (p->alone || (!later && !jobs)) {
        free(p->pools);
        p->pools = NULL;
    }
    if (p->preload) {
        char *link = plan_text("%s/" DROPIN_LINK, p->dropin_dir);
        p->preload_value = plan_put_first(link, cleaned, ": ", true);
        free(link);
        if (p->pools)
            plan_preload_pools(p);
        if (any && !p->yields) { /* the preload may change what the program loads: so the loader is asked again */
            closure_free(&p->after);
            error = closure_trace(&p->after, interp, p->elf, p->library_path, p->preload_value, &p->dropin);
        }
    } else if (old_preload && strcmp(old_preload, cleaned) != 0) {
        p->preload_value = plan_text("%s", cleaned);
    }
    if (!p->alone)
        plan_preload_mpi(p, cleaned);
    free(cleaned);
    return error
               ? plan_fail(p, EXIT_CANNOT_RUN, "cannot ask the loader %s about %s: %s", interp, p->elf, strerror(error))
               : 0;
}

/* Makes the plan again, with kernel threads as entities. */
static void use_kernel_threads(struct plan *p, const char *interp, bool compare)
{
    p->entities = "pthreads";
    p->for_sanitizer = true;
    p->mpi = p->mpi_without_layer = NULL;
    closure_free(&p->before);
    closure_free(&p->after);
    free(p->library_path);
    free(p->preload_value);
    free(p->pools);
    free(p->dropin_dir);
    p->preload_value = NULL;
    elf_close(&p->dropin);
    if (plan_open_dropin(p, NULL) == 0)
        make_environment(p, interp, compare);
}

/* The program itself needs no runtime of ours, but programs that it starts may. So the variables are set for these. */
static int plan_alone(struct plan *p)
{
    char *link = plan_text("%s/" DROPIN_LINK, p->dropin_dir);
    p->library_path = plan_put_first(p->dropin_dir, getenv("LD_LIBRARY_PATH"), ":;", false);
    p->preload_value = plan_put_first(link, getenv("LD_PRELOAD"), ": ", true);
    free(link);
    plan_find_pools(p);
    if (p->pools)
        plan_preload_pools(p);
    return 0;
}

/* Returns the program's loader; NULL: unknown. For a library, which names no loader, it is psrun's own. */
static char *loader_of(const struct elf *e)
{
    struct elf own;
    char *interp = e->interp ? plan_text("%s", e->interp) : NULL;
    if (!interp && elf_open(&own, "/proc/self/exe") == ELF_OK) {
        interp = own.interp ? plan_text("%s", own.interp) : NULL;
        elf_close(&own);
    }
    return interp;
}

/* Fails if libraries are not found, or if entry points are needed that the runtime does not have. */
static int look_for_lacks(struct plan *p)
{
    const char *missing;
    unsigned num_missing = closure_missing(&p->after, &missing);
    if (num_missing > 0)
        return plan_fail(p, EXIT_NOT_FOUND, "%s needs %s, which is not found%s", p->file, missing,
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
    if (plan_open_dropin(p, dropin_dir) || !(p->file = plan_find_program(p, program)))
        return p->status;
    struct stat st;
    if (os_stat(p->file, &st) == 0 && !S_ISREG(st.st_mode))
        return plan_fail(p, EXIT_CANNOT_RUN, "%s is %s", p->file, S_ISDIR(st.st_mode) ? "a folder" : "no regular file");
    if (!allow_library && access(p->file, X_OK) != 0)
        return plan_fail(p, EXIT_CANNOT_RUN, "%s: %s", p->file, strerror(errno));
    struct elf e = {0};
    if (plan_look_at_elf(p, &e, allow_library) || plan_check_executable(p) || plan_check_privileges(p)) {
        elf_close(&e);
        return p->status;
    }
    char *interp = p->alone ? NULL : loader_of(&e);
    elf_close(&e);
    if (p->alone)
        return plan_alone(p);
    if (!interp || access(interp, X_OK) != 0)
        return plan_fail(p, EXIT_CANNOT_RUN, "%s: its loader %s is not on this machine", p->elf,
                         interp ? interp : "(unknown)");
    make_environment(p, interp, compare);
    if (!p->status && !entities && !dropin_dir && closure_shares_tls(&p->after))
        use_kernel_threads(p, interp, compare);
    free(interp);
    return p->status ? p->status : look_for_lacks(p);
}

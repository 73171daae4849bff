/* --trace, --stats and their variables: what they ask for, where the output goes, and the recorder's environment. See
 * trace.h. */
#include "trace.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan_parts.h"

extern char **environ;

bool trace_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMG";
    static const uint64_t MOST = UINT64_C(1) << 40;
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (end == text || *text < '0' || *text > '9' || errno || n == 0)
        return false;
    const char *unit = *end ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if ((*end && (!unit || end[1])) || n > MOST >> shift)
        return false;
    *bytes = (uint64_t)n << shift;
    return true;
}

size_t trace_stem(const char *name)
{
    const char *dot = strrchr(base_name(name), '.');
    return dot && dot != base_name(name) ? (size_t)(dot - name) : strlen(name);
}

/* Returns the process's rank in MPI, from its launcher's variables; NULL: it has none. */
static const char *own_rank(void)
{
    const char *rank = setting("OMPI_COMM_WORLD_RANK");
    return rank ? rank : setting("PMI_RANK");
}

/* Adds the MPI rank, if there is one, to a file's name: each rank has its own file. */
static char *name_of_rank(const char *name)
{
    const char *rank = own_rank();
    size_t n = trace_stem(name);
    return rank ? plan_text("%.*s-rank%s%s", (int)n, name, rank, name + n) : plan_text("%s", name);
}

/* Returns whether the name is that of something other than a file, such as a terminal. "-" and /dev/std... count as
 * such. */
static bool is_special(const char *name)
{
    struct stat st;
    if (strcmp(name, "-") == 0 || strncmp(name, "/dev/std", 8) == 0)
        return true;
    return os_stat(name, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* Makes an empty file under this name, or under a similar one that is free. Returns its path. Returns NULL, after a
 * message, if that fails. */
static char *reserve(const char *what, const char *wanted)
{
    enum { MOST = 10000 };
    if (is_special(wanted)) {
        fprintf(stderr, "psrun: %s is no regular file; the program runs without a %s\n", wanted, what);
        return NULL;
    }
    char *folder = NULL, *name = name_of_rank(wanted), *file = NULL;
    const char *leaf = base_name(name);
    if (leaf > name + 1)
        folder = plan_text("%.*s", (int)(leaf - name - 1), name);
    char *real = realpath(folder ? folder : leaf > name ? "/" : ".", NULL);
    struct stat st;
    int fd = -1, error = real ? 0 : errno;
    for (unsigned n = 1; real && n < MOST; n++) {
        free(file);
        file = n == 1 ? plan_text("%s/%s", real, leaf)
                      : plan_text("%s/%.*s-%u%s", real, (int)trace_stem(leaf), leaf, n, leaf + trace_stem(leaf));
        fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        error = errno;
        if (error == EEXIST && os_stat(file, &st) == 0 && S_ISDIR(st.st_mode))
            error = EISDIR;
        if (fd >= 0 || error != EEXIST)
            break;
    }
    if (fd >= 0) {
        close(fd);
        if (strcmp(base_name(file), leaf) != 0)
            fprintf(stderr, "psrun: %s is there already: the %s goes to %s\n", name, what, file);
    } else {
        fprintf(stderr, "psrun: %s cannot be written: %s; the program runs without a %s\n", name, strerror(error),
                what);
        free(file);
        file = NULL;
    }
    free(folder);
    free(real);
    free(name);
    return file;
}

static char *prefix_of(const struct trace *t)
{
    const char *beside = t->out ? t->out : t->json, *folder = setting("TMPDIR");
    if (beside)
        return plan_text("%s.%d", beside, (int)getpid());
    char *real = realpath(folder ? folder : "/tmp", NULL);
    char *prefix = plan_text("%s/psrun.%d", real ? real : "/tmp", (int)getpid());
    free(real);
    return prefix;
}

/* psrun changes its own environment into the program's, so it keeps a copy for psthreads-report. */
static char **copy_of_environment(void)
{
    size_t n = 0;
    while (environ[n])
        n++;
    char **copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = plan_text("%s", environ[i]);
    return copy;
}

static bool lacks(const char *file, const char *what)
{
    if (file)
        return false;
    fprintf(stderr, "psrun: there is no %s; the program runs without a trace and a profile\n", what);
    return true;
}

void trace_make(struct trace *t, const struct plan *p, const struct wishes *w)
{
    *t = (struct trace){.limit = (uint64_t)TRACE_LIMIT_MIB << 20};
    if (!w->trace && !w->stats)
        return;
    t->recorder = plan_layer_file(p, "trace", "libpsthreads-trace.so");
    char *report = plan_layer_file(p, "trace", "psthreads-report");
    bool lack =
        lacks(t->recorder, "recorder (libpsthreads-trace.so) beside the runtime") ||
        lacks(
            report,
            "psthreads-report beside the runtime (its build wants libprotobuf-c-dev, protobuf-c-compiler, libdw-dev)");
    free(report);
    if (lack)
        return;
    if (w->trace_limit)
        trace_size(w->trace_limit, &t->limit);
    if (w->trace)
        t->out = reserve("trace", w->trace);
    if (w->stats && *w->stats)
        t->json = reserve("profile", w->stats);
    const char *rank = own_rank(); /* of several ranks in MPI only rank 0 prints */
    t->screen = w->stats && !*w->stats && (!rank || strcmp(rank, "0") == 0);
    t->on = t->out || t->json || t->screen;
    t->prefix = prefix_of(t);
    t->environment = copy_of_environment();
}

void trace_environment(const struct trace *t)
{
    const char *tools = setting("OMP_TOOL_LIBRARIES");
    char *libraries = plan_text("%s%s%s", tools ? tools : "", tools ? ":" : "", t->recorder);
    char *limit = plan_text("%llu", t->out ? (unsigned long long)t->limit : 0);
    if (setenv("OMP_TOOL_LIBRARIES", libraries, 1) || setenv("PSTHREADS_RECORDING", t->prefix, 1) ||
        setenv("PSTHREADS_TRACE_LIMIT", limit, 1)) {
        fprintf(stderr, "psrun: cannot set the environment: %s\n", strerror(errno));
        exit(EXIT_USAGE);
    }
    unsetenv("OMP_TOOL"); /* its value "disabled" would prevent the recorder */
    unsetenv("PSTHREADS_TRACE");
    unsetenv("PSTHREADS_STATS");
    free(libraries);
    free(limit);
}

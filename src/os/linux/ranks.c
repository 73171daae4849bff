/* Processors for the ranks of an MPI job that share a machine: what os_num_procs is cut to.
 *
 * A launcher tells each process through the environment how many ranks of its job run on this machine, and which of
 * them the process is. Each launcher has its own variables (the table below). Let m be the number of processors that
 * the rank may use, L the number of ranks here, and N the number of processors that the launcher's own processes may
 * use. If m * L <= N, the launcher has bound the ranks, and the rank keeps its binding. Otherwise the launcher has left
 * the ranks free, or has bound several to the same processors. Then the N processors are dealt evenly: rank r gets
 * those from N * r / L up to N * (r + 1) / L, and at least one. Only their number counts: no rank is bound here.
 *
 * N is read from the launcher's affinity mask. The launcher is the first ancestor without the variable: a shell or
 * another program between the launcher and the rank has the variable. So ancestors of the launcher do not count (for
 * example a shell that may use all processors, if taskset has restricted the launcher). A launcher whose environment
 * cannot be read (Slurm's, another user's) counts as one without the variable. Where N is less than m, the launcher has
 * bound itself, and N is taken to be m.
 *
 * Read once, at the first need; constant afterwards. Failure: if a variable cannot be read or makes no sense, the
 * process is no rank. Rejected: a file in shared memory in which the ranks agree (if a rank is killed, another process
 * must remove it; and the launcher tells all that is needed). */
#include "file.h"
#include "os.h"
#include "raw.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANKS_MAX 65536ul
#define ANCESTORS_MAX 16

static const struct {
    const char *size, *rank;
} launchers[] = {
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"}, /* Open MPI's mpirun */
    {"MPI_LOCALNRANKS", "MPI_LOCALRANKID"},                       /* MPICH's hydra, Intel MPI */
    {"MV2_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},   /* MVAPICH2 */
    {"PALS_LOCAL_SIZE", "PALS_LOCAL_RANKID"},                     /* HPE's PALS */
};

static bool number(const char *text, unsigned long *out)
{
    char *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoul(text, &end, 10);
    return !errno && (*end == '\0' || *end == ',' || *end == '(') && *out <= RANKS_MAX;
}

/* Finds the number of tasks on a node in Slurm's list for a step: "4(x2),3" means 4, 4, 3. Returns false if the node is
 * not in it. */
static bool slurm_tasks_on(const char *text, unsigned long node, unsigned long *out)
{
    unsigned long first = 0;
    while (text && number(text, out)) {
        unsigned long times = 1;
        text += strspn(text, "0123456789");
        if (*text == '(' && sscanf(text, "(x%lu)", &times) != 1)
            return false;
        text += strcspn(text, ",");
        text += *text == ',';
        first += times;
        if (node < first)
            return true;
    }
    return false;
}

/* Reads this process's rank and the number of ranks here. *variable gets the name of a variable that the ranks have and
 * their launcher does not. Returns false if this process is no rank. */
static bool read_ranks(unsigned long *size, unsigned long *rank, const char **variable)
{
    unsigned long node;
    for (unsigned i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (number(os_env(*variable = launchers[i].size), size) && number(os_env(launchers[i].rank), rank))
            return *size > 0 && *rank < *size;
    return os_env(*variable = "SLURM_PROCID") && number(os_env("SLURM_LOCALID"), rank) &&
           number(os_env("SLURM_NODEID"), &node) && slurm_tasks_on(os_env("SLURM_STEP_TASKS_PER_NODE"), node, size) &&
           *size > 0 && *rank < *size;
}

/* Returns the number of the process's parent, the fourth field of /proc/PID/stat; 0: unknown. The name, the second
 * field, may contain any character. */
static pid_t parent_of(pid_t pid)
{
    char path[40], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int parent = 0;
    file_text(path, text, sizeof text);
    const char *end = strrchr(text, ')');
    return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

static unsigned processors_of(pid_t pid)
{
    struct os_cpuset mask = {0};
    long bytes = raw_call(SYS_sched_getaffinity, pid, sizeof mask.bits, (long)mask.bits, 0);
    return bytes > 0 ? os_cpuset_count(&mask) : 0;
}

/* Returns whether the process was started with that environment variable; also false if the system does not tell. */
static bool was_given(pid_t pid, const char *variable)
{
    char path[40], text[4096] = "";
    size_t length = strlen(variable), have = 0;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    int file = file_open(path);
    bool found = false, begins = true; /* true: text begins with a name, not inside a value */
    for (long n; file >= 0 && !found && (n = file_read(file, text + have, sizeof text - have)) > 0;) {
        char *at = text, *end = text + have + n, *next;
        for (; (next = memchr(at, '\0', (size_t)(end - at))) != NULL; at = next + 1, begins = true)
            found |= begins && (size_t)(next - at) > length && memcmp(at, variable, length) == 0 && at[length] == '=';
        have = (size_t)(end - at);
        if (have == sizeof text) /* an entry longer than any needed one */
            have = 0, begins = false;
        memmove(text, at, have);
    }
    if (file >= 0)
        file_close(file);
    return found;
}

static unsigned launchers_processors(unsigned own, const char *variable)
{
    pid_t pid = getppid();
    for (int i = 0; i < ANCESTORS_MAX && pid > 0 && was_given(pid, variable); i++)
        pid = parent_of(pid);
    unsigned n = pid > 0 ? processors_of(pid) : 0;
    return n > own ? n : own;
}

static struct os_ranks here; /* written once, by look_for_ranks */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look_for_ranks(void)
{
    unsigned long size, rank;
    const char *variable;
    struct os_cpuset mask;
    if (!read_ranks(&size, &rank, &variable))
        return;
    os_affinity_at_start(&mask);
    unsigned own = os_cpuset_count(&mask);
    here.rank = (unsigned)rank;
    here.size = (unsigned)size;
    here.processors = launchers_processors(own, variable);
    here.bound = size > 1 && (uint64_t)own * size <= here.processors;
}

void os_ranks(struct os_ranks *out)
{
    pthread_once(&once, look_for_ranks);
    *out = here;
}

unsigned os_rank_share(unsigned usable, unsigned quota)
{
    pthread_once(&once, look_for_ranks);
    if (here.size < 2 || here.bound)
        return usable;
    uint64_t all = quota && quota < here.processors ? quota : here.processors, r = here.rank, size = here.size;
    uint64_t share = all * (r + 1) / size - all * r / size;
    return share < 1 ? 1 : share < usable ? (unsigned)share : usable;
}

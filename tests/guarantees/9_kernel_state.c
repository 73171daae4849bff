/* What the kernel keeps for each thread is the member's own over all waits. No other member has it, nor has the program
 * afterwards, but for what the first member sets, since it is the program's thread. The state: nice value, policy,
 * processors, signal at the parent's death, file-system identity, working folder and open files where they are
 * unshared, priority of input and output. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define N 6

/* set: gives the calling thread a value of member id's; get: what it has, as one number. */
static void own_state(void (*set)(int id), long (*get)(void), long (*expected)(int id), bool first_too)
{
    long before = get();
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            wait_in_a_barrier();
            if (id || first_too)
                set(id);
            for (int i = 0; i < 3; i++) {
                wait_in_all_ways();
                CHECK(get() == (id || first_too ? expected(id) : before));
            }
        }
        CHECK(get() == (first_too ? expected(0) : before));
    }
}

#define KIND(name, set, get, expected) \
    static void name(void) { own_state(set, get, expected, false); }

static void set_nice(int id) { CHECK(setpriority(PRIO_PROCESS, 0, 10 + id) == 0); }
static long get_nice(void) { return getpriority(PRIO_PROCESS, 0); }
static long nice_of(int id) { return 10 + id; }
KIND(nice_value, set_nice, get_nice, nice_of)

static void set_policy(int id)
{
    struct sched_param param = {0};
    int policy = id % 2 ? SCHED_BATCH : SCHED_OTHER;
    CHECK((id % 4 < 2 ? sched_setscheduler(0, policy, &param)
                      : pthread_setschedparam(pthread_self(), policy, &param)) == 0);
}
static long get_policy(void)
{
    return sched_getscheduler(0); /* pthread_getschedparam may tell what it was told before */
}
static long policy_of(int id) { return id % 2 ? SCHED_BATCH : SCHED_OTHER; }
KIND(policy, set_policy, get_policy, policy_of)

static cpu_set_t allowed; /* the process's */
static int processor_of(int id)
{
    int n = id % CPU_COUNT(&allowed);
    for (int cpu = 0;; cpu++)
        if (CPU_ISSET(cpu, &allowed) && n-- == 0)
            return cpu;
}
static void set_processor(int id)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor_of(id), &one);
    CHECK((id % 2 ? sched_setaffinity(0, sizeof one, &one)
                  : pthread_setaffinity_np(pthread_self(), sizeof one, &one)) == 0);
}
static long get_processors(void)
{
    cpu_set_t set, again;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0 &&
          pthread_getaffinity_np(pthread_self(), sizeof again, &again) == 0);
    CHECK(CPU_EQUAL(&set, &again) && CPU_ISSET(sched_getcpu(), &set));
    if (CPU_COUNT(&set) > 1)
        return -CPU_COUNT(&set);
    for (int cpu = 0;; cpu++)
        if (CPU_ISSET(cpu, &set))
            return cpu;
}
static long processors_of(int id) { return processor_of(id); }
KIND(processors, set_processor, get_processors, processors_of)
static void processors_of_first(void) { own_state(set_processor, get_processors, processors_of, true); }

static void set_death_signal(int id) { CHECK(prctl(PR_SET_PDEATHSIG, SIGRTMIN + 3 + id) == 0); }
static long get_death_signal(void)
{
    int number = -1;
    CHECK(prctl(PR_GET_PDEATHSIG, &number) == 0);
    return number;
}
static long death_signal_of(int id) { return SIGRTMIN + 3 + id; }
KIND(death_signal, set_death_signal, get_death_signal, death_signal_of)

static void set_io(int id) { CHECK(syscall(SYS_ioprio_set, 1, 0, 2 << 13 | (id + 1) % 8) == 0); }
static long get_io(void) { return syscall(SYS_ioprio_get, 1, 0); }
static long io_of(int id) { return 2 << 13 | (id + 1) % 8; }
KIND(io_priority, set_io, get_io, io_of)

static void set_fsuid(int id) { setfsuid(2000 + (uid_t)id); }
static long get_fsuid(void) { return setfsuid((uid_t)-1); } /* refused: it only tells */
static long fsuid_of(int id) { return 2000 + id; }
static void file_user(void)
{
    if (geteuid() == 0)
        own_state(set_fsuid, get_fsuid, fsuid_of, false);
}

static void set_folder(int id)
{
    CHECK(unshare(CLONE_FS) == 0 && chdir(id % 2 ? "/usr" : "/etc") == 0);
    umask(010 + (mode_t)id);
}
static long get_folder(void)
{
    char name[300] = "";
    CHECK(getcwd(name, sizeof name));
    mode_t mask = umask(0);
    umask(mask);
    return (!strcmp(name, "/usr") ? 1000 : !strcmp(name, "/etc") ? 2000 : 0) + (long)mask;
}
static long folder_of(int id) { return (id % 2 ? 1000 : 2000) + 010 + id; }
static void folder(void) { own_state(set_folder, get_folder, folder_of, false); }

#define FILE_NUMBER 200
static void set_file(int id)
{
    CHECK(unshare(CLONE_FILES) == 0);
    int file = open("/proc/self/stat", O_RDONLY);
    CHECK(file >= 0 && dup2(file, FILE_NUMBER) == FILE_NUMBER && lseek(FILE_NUMBER, 1 + id, SEEK_SET) == 1 + id);
    close(file);
}
static long get_file(void) { return lseek(FILE_NUMBER, 0, SEEK_CUR); }
static long file_of(int id) { return 1 + id; }
static void open_files(void) { own_state(set_file, get_file, file_of, false); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"nice_value", nice_value},     {"policy", policy},
                                           {"processors", processors},     {"processors_of_first", processors_of_first},
                                           {"death_signal", death_signal}, {"io_priority", io_priority},
                                           {"file_user", file_user},       {"folder", folder},
                                           {"open_files", open_files}};
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

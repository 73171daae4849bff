/* What the kernel keeps for each thread is the member's own over all waits. No other member has it, nor has the program
 * afterwards, but for what the first member sets, since it is the program's thread. The state: nice value, policy,
 * processors, priority of input and output. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
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

static void set_nice(int id) { CHECK(setpriority(PRIO_PROCESS, 0, 10 + id) == 0); }
static long get_nice(void) { return getpriority(PRIO_PROCESS, 0); }
static long nice_of(int id) { return 10 + id; }
static void nice_value(void) { own_state(set_nice, get_nice, nice_of, false); }

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
static void policy(void) { own_state(set_policy, get_policy, policy_of, false); }

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
static void processors(void) { own_state(set_processor, get_processors, processors_of, false); }
static void processors_of_first(void) { own_state(set_processor, get_processors, processors_of, true); }

static void set_io(int id) { CHECK(syscall(SYS_ioprio_set, 1, 0, 2 << 13 | (id + 1) % 8) == 0); }
static long get_io(void) { return syscall(SYS_ioprio_get, 1, 0); }
static long io_of(int id) { return 2 << 13 | (id + 1) % 8; }
static void io_priority(void) { own_state(set_io, get_io, io_of, false); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"nice_value", nice_value},
                                           {"policy", policy},
                                           {"processors", processors},
                                           {"processors_of_first", processors_of_first},
                                           {"io_priority", io_priority}};
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

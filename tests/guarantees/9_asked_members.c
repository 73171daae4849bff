/* Members ask for what the kernel keeps for them: number, name, processors, nice value. Their numbers stay from region
 * to region, and /proc lists them. What is set afterwards holds for the member, in the same region when it looks and in
 * the next one: whether it sets that itself, or another thread does so by its number or its handle. Under the runtime
 * a question does not move the member to the kernel thread that has its number. [KIND] */
#define _GNU_SOURCE
#include "carrier.h"
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define N 5
#define REGIONS 20

static pid_t number_of[N];
static pthread_t self[N];
static cpu_set_t allowed;
static int nice_at_start;

/* What number `number` is called in /proc. */
static void name_in_proc(pid_t number, char *name)
{
    char path[60];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", number);
    FILE *f = fopen(path, "r");
    CHECK(f && fgets(name, 32, f));
    fclose(f);
    name[strcspn(name, "\n")] = '\0';
}

static void ask(void)
{
    char name[32], same[32], listed[32];
    cpu_set_t set, again;
    int id = omp_get_thread_num(), policy;
    struct sched_param param;
    pid_t number = id % 2 ? gettid() : (pid_t)syscall(SYS_gettid);
    CHECK(number_of[id] == 0 || number_of[id] == number);
    CHECK(id != 0 || number == getpid());
    number_of[id] = number;
    self[id] = pthread_self();
    CHECK(prctl(PR_GET_NAME, name) == 0 && pthread_getname_np(self[id], same, sizeof same) == 0);
    name_in_proc(number, listed);
    CHECK(!strcmp(name, same) && !strcmp(name, listed));
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_EQUAL(&set, &allowed));
    CHECK(pthread_getaffinity_np(self[id], sizeof again, &again) == 0 && CPU_EQUAL(&again, &allowed));
    CHECK(sched_getaffinity(number, sizeof again, &again) == 0 && CPU_EQUAL(&again, &allowed));
    CHECK(getpriority(PRIO_PROCESS, 0) == nice_at_start && getpriority(PRIO_PROCESS, (id_t)number) == nice_at_start);
    CHECK(sched_getscheduler(0) == SCHED_OTHER && sched_getparam(0, &param) == 0 && param.sched_priority == 0);
    CHECK(pthread_getschedparam(self[id], &policy, &param) == 0 && policy == SCHED_OTHER);
    CHECK(pthread_kill(self[id], 0) == 0 && tgkill(getpid(), number, 0) == 0);
}

static void all_ask(void)
{
#pragma omp parallel num_threads(N)
    ask();
}

static void each(void (*what)(int id))
{
#pragma omp parallel num_threads(N)
    if (omp_get_thread_num() > 0)
        what(omp_get_thread_num());
}

static void is_known(int id) { CHECK(gettid() == number_of[id]); }
static void is_carried_there(int id) { CHECK(carrier_id() == number_of[id]); }
static void is_elsewhere(int id) { CHECK(!getenv("PSTHREADS_NUM_VPS") || carrier_id() != number_of[id]); }

static void numbers_stay(void)
{
    for (int region = 0; region < REGIONS; region++) {
        all_ask();
        each(is_elsewhere);
#pragma omp parallel num_threads(N)
        {
            wait_in_all_ways();
            ask();
            for (int other = 0; other < N; other++)
                CHECK(other == omp_get_thread_num() || number_of[other] != gettid());
        }
    }
}

/* --- set from outside --- */

static cpu_set_t last; /* of the allowed processors */
static struct sched_param none;
static int nice_of(int id) { return nice_at_start + id < 19 ? nice_at_start + id : 19; }
static void set_nice(int id) { CHECK(setpriority(PRIO_PROCESS, (id_t)number_of[id], nice_of(id)) == 0); }
static void have_nice(int id)
{
    CHECK(getpriority(PRIO_PROCESS, 0) == nice_of(id) && getpriority(PRIO_PROCESS, (id_t)number_of[id]) == nice_of(id));
}
static void set_policy(int id) { CHECK(sched_setscheduler(number_of[id], SCHED_BATCH, &none) == 0); }
static void set_policy_by_handle(int id) { CHECK(pthread_setschedparam(self[id], SCHED_BATCH, &none) == 0); }
static void have_policy(int id) { CHECK(id && sched_getscheduler(0) == SCHED_BATCH); }
static void set_processors(int id) { CHECK(sched_setaffinity(number_of[id], sizeof last, &last) == 0); }
static void set_processors_raw(int id)
{
    CHECK(syscall(SYS_sched_setaffinity, number_of[id], sizeof last, &last) == 0);
}
static void set_processors_by_handle(int id) { CHECK(pthread_setaffinity_np(self[id], sizeof last, &last) == 0); }
static void have_processors(int id)
{
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_EQUAL(&set, &last));
    CHECK(pthread_getaffinity_np(self[id], sizeof set, &set) == 0 && CPU_EQUAL(&set, &last));
    CHECK(CPU_COUNT(&last) > 1 || CPU_ISSET(sched_getcpu(), &last));
}
static void set_name(int id)
{
    char name[16];
    snprintf(name, sizeof name, "asked-%d", id);
    CHECK(pthread_setname_np(self[id], name) == 0);
}
static void have_name(int id)
{
    char name[16], got[32], listed[32];
    snprintf(name, sizeof name, "asked-%d", id);
    CHECK(prctl(PR_GET_NAME, got) == 0 && !strcmp(got, name));
    name_in_proc(number_of[id], listed);
    CHECK(!strcmp(listed, name));
}

/* Between regions, and in the middle of one. */
static void set_from_outside(void (*set)(int id), void (*have)(int id))
{
    all_ask();
    each(is_elsewhere);
    for (int id = 1; id < N; id++)
        set(id);
    each(is_carried_there);
    each(have);
    each(is_known);
}
static void set_in_region(void (*set)(int id), void (*have)(int id))
{
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        ask();
#pragma omp barrier
        set((id + 1) % N ? (id + 1) % N : 1);
#pragma omp barrier
        if (id)
            have(id);
        if (id)
            is_carried_there(id);
    }
    each(is_carried_there);
    each(have);
    each(is_known);
}
#define SET_BOTH(what, set, have)                                             \
    static void what##_between_regions(void) { set_from_outside(set, have); } \
    static void what##_in_region(void) { set_in_region(set, have); }
SET_BOTH(nice, set_nice, have_nice)
SET_BOTH(policy, set_policy, have_policy)
SET_BOTH(policy_by_handle, set_policy_by_handle, have_policy)
SET_BOTH(processors, set_processors, have_processors)
SET_BOTH(processors_raw, set_processors_raw, have_processors)
SET_BOTH(processors_by_handle, set_processors_by_handle, have_processors)
SET_BOTH(name, set_name, have_name)

/* --- set by the member itself, some by its number --- */

static void set_itself(int id)
{
    if (id % 2)
        set_nice(id);
    else
        CHECK(setpriority(PRIO_PROCESS, 0, nice_of(id)) == 0);
    is_carried_there(id);
    have_nice(id);
}
static void by_itself(void)
{
    all_ask();
    all_ask();
    each(set_itself);
    for (int region = 0; region < REGIONS; region++) {
        each(is_carried_there);
        each(have_nice);
        each(is_known);
    }
}

/* Some members have set something, and the others have not: in regions of several sizes, which wait in all ways. */
static void some_set(void)
{
    static const int sizes[] = {N, N + 1, N, 2 * N, N, N + 2};
    int inner = 0;
    all_ask();
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int sum = 0;
#pragma omp parallel num_threads(sizes[i]) reduction(+ : sum)
        {
            int id = omp_get_thread_num();
            if (id > 0 && id < N && id % 2)
                set_itself(id);
            wait_in_all_ways();
            wait_for_tasks();
            if (id > 0 && id < N && id % 2) {
                is_carried_there(id);
                have_nice(id);
            }
            if (id < N)
                is_known(id);
#pragma omp parallel num_threads(2) reduction(+ : inner)
            inner++;
            sum++;
        }
        CHECK(sum == sizes[i]);
    }
    CHECK(inner > 0);
}

/* --- signals --- */

static _Thread_local volatile sig_atomic_t handled;
static volatile sig_atomic_t wrong;
static void on_signal(int number)
{
    (void)number;
    handled++;
    if (gettid() != number_of[omp_get_thread_num()])
        wrong++;
}
static void await_one(int id)
{
    (void)id;
    while (!handled) /* hangs where it is lost */
        waits_compute_us(10);
    CHECK(handled == 1);
    handled = 0;
}
static void to_oneself(int id)
{
    CHECK(tgkill(getpid(), number_of[id], SIGUSR1) == 0 && handled == 1); /* before the call returns */
    handled = 0;
}
static void signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    all_ask();
    each(to_oneself);
    for (int region = 0; region < REGIONS; region++) {
        for (int id = 1; id < N; id++)
            CHECK(tgkill(getpid(), number_of[id], SIGUSR1) == 0);
        each(await_one);
        each(is_known);
    }
    CHECK(wrong == 0);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"numbers_stay", numbers_stay},
        {"nice_between_regions", nice_between_regions},
        {"nice_in_region", nice_in_region},
        {"policy_between_regions", policy_between_regions},
        {"policy_in_region", policy_in_region},
        {"policy_by_handle_between_regions", policy_by_handle_between_regions},
        {"policy_by_handle_in_region", policy_by_handle_in_region},
        {"processors_between_regions", processors_between_regions},
        {"processors_in_region", processors_in_region},
        {"processors_raw_between_regions", processors_raw_between_regions},
        {"processors_raw_in_region", processors_raw_in_region},
        {"processors_by_handle_between_regions", processors_by_handle_between_regions},
        {"processors_by_handle_in_region", processors_by_handle_in_region},
        {"name_between_regions", name_between_regions},
        {"name_in_region", name_in_region},
        {"by_itself", by_itself},
        {"some_set", some_set},
        {"signals", signals}};
    nice_at_start = getpriority(PRIO_PROCESS, 0);
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    CPU_ZERO(&last);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_ZERO(&last);
            CPU_SET(cpu, &last);
        }
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

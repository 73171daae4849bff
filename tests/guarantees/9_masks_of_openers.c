/* What a region's members begin with that the kernel keeps - signal mask, processors - is what the region's opener has
 * outside of it. It matters neither which thread's regions came before, nor what the first member sets inside, nor by
 * which call. */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>

#define N 6

static const int signals[] = {SIGUSR1, SIGUSR2, SIGALRM};

static bool blocks(int number)
{
    sigset_t set;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &set) == 0);
    return sigismember(&set, number) == 1;
}

static void set_mask(unsigned long mask, bool by_system_call)
{
    sigset_t set;
    sigemptyset(&set);
    memcpy(&set, &mask, sizeof mask);
    if (by_system_call)
        CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask) == 0);
    else
        CHECK(pthread_sigmask(SIG_SETMASK, &set, NULL) == 0);
}

/* --- kernel threads of the program's, each with a mask of its own --- */

static void *open_regions(void *arg)
{
    long which = (long)arg;
    unsigned long mask = 0;
    for (int i = 0; i < 3; i++)
        mask |= (unsigned long)(which >> i & 1) << (signals[i] - 1);
    set_mask(mask, which & 8);
    for (int region = 0; region < 6; region++)
#pragma omp parallel num_threads(region % 2 ? 2 : N)
    {
        wait_in_a_barrier();
        for (int i = 0; i < 3; i++)
            CHECK(blocks(signals[i]) == (which >> i & 1));
    }
    return NULL;
}

static void of_threads(void)
{
    pthread_t thread[4];
    int begun = 0;
#pragma omp parallel num_threads(N) reduction(+ : begun)
    begun++;
    CHECK(begun == N);
    for (long which = 0; which < 16; which++) {
        CHECK(pthread_create(thread, NULL, open_regions, (void *)which) == 0);
        CHECK(pthread_join(thread[0], NULL) == 0);
    }
    for (long i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, open_regions, (void *)(2 * i + 1)) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
}

/* --- what the first member sets, before the runtime has started the kernel threads for the others --- */

static atomic_int set, ran;

static void after_the_first(unsigned long mask, bool by_system_call)
{
    set = ran = 0;
#pragma omp parallel num_threads(N)
    if (omp_get_thread_num() == 0) {
        set_mask(mask, by_system_call);
        set = 1;
        waits_compute_us(50000);
    } else {
        while (!set)
            ;
        for (int i = 0; i < 3; i++)
            CHECK(!blocks(signals[i]));
        ran++;
    }
}
static void after_the_first_blocks(void) { after_the_first(~0UL, false); }
static void after_the_first_blocks_by_system_call(void) { after_the_first(~0UL, true); }

static int bound_kernel_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int n = 0;
    CHECK(folder != NULL);
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        cpu_set_t own;
        int number = atoi(e->d_name);
        if (number && number != getpid() && sched_getaffinity(number, sizeof own, &own) == 0)
            n += CPU_COUNT(&own) == 1;
    }
    closedir(folder);
    return n;
}

static void bind_first(int how)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
#pragma omp parallel num_threads(N)
    if (omp_get_thread_num() == 0) {
        if (how == 0)
            CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
        else if (how == 1)
            CHECK(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0);
        else
            CHECK(syscall(SYS_sched_setaffinity, 0, sizeof one, &one) >= 0);
        set = 1;
        while (ran < N - 1)
            ;
        CHECK(bound_kernel_threads() == 0);
    } else {
        while (!set)
            ;
        waits_compute_us(20000); /* others get kernel threads */
        ran++;
    }
}

static void after_the_first_is_bound(void)
{
    cpu_set_t own;
    CHECK(sched_getaffinity(0, sizeof own, &own) == 0);
    for (int i = 0; i < 12 && CPU_COUNT(&own) > 1; i++) {
        pid_t child = fork();
        int status;
        CHECK(child >= 0);
        if (child == 0) {
            bind_first(i % 3);
            exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
}

/* --- between two regions: those that were there keep their own --- */

static void of_later_members(void)
{
#pragma omp parallel num_threads(N)
    CHECK(!blocks(SIGUSR2));
    set_mask(1UL << (SIGUSR2 - 1), true);
#pragma omp parallel num_threads(N)
    CHECK(blocks(SIGUSR2) == (omp_get_thread_num() == 0));
#pragma omp parallel num_threads(N + 2)
    CHECK(blocks(SIGUSR2) == (omp_get_thread_num() == 0 || omp_get_thread_num() >= N));
}

static const struct kind_of kinds[] = {
    {"threads", of_threads},
    {"first_blocks", after_the_first_blocks},
    {"first_blocks_by_system_call", after_the_first_blocks_by_system_call},
    {"first_is_bound", after_the_first_is_bound},
    {"later_members", of_later_members},
};

int main(int argc, char **argv)
{
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

/* Members begin with the nice value and policy that the opener of their region had when the team was made. Openers:
 * several threads, in turns and at once, in any order. A member need not ask for that: the kernel thread that carries
 * it has it. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define N 4
#define ROUNDS 20

struct state {
    long nice, policy;
};

/* Of the kernel thread that runs this, by an instruction: a runtime is not asked. */
static long ask(long number, long a, long b)
{
#if defined __x86_64__
    long result;
    register long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0, d = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(d), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
#else
    return syscall(number, a, b, 0, 0, 0);
#endif
}
static struct state of_carrier(void)
{
    return (struct state){20 - ask(SYS_getpriority, PRIO_PROCESS, 0), ask(SYS_sched_getscheduler, 0, 0)};
}
static struct state of_caller(void) { return (struct state){getpriority(PRIO_PROCESS, 0), sched_getscheduler(0)}; }

static void check_same(struct state a, struct state b)
{
    if (a.nice != b.nice || a.policy != b.policy)
        fprintf(stderr, "member %d: nice %ld, policy %ld; to be %ld, %ld\n", omp_get_thread_num(), a.nice, a.policy,
                b.nice, b.policy);
    CHECK(a.nice == b.nice && a.policy == b.policy);
}

static void check_region(int n, struct state expected, bool asks)
{
#pragma omp parallel num_threads(n)
    {
        check_same(of_carrier(), expected);
        wait_in_all_ways();
        check_same(of_carrier(), expected);
        if (asks)
            check_same(of_caller(), expected);
    }
}

static struct state set_state(int nice_value, int policy)
{
    struct sched_param none = {0};
    CHECK(sched_setscheduler(0, policy, &none) == 0);
    CHECK(setpriority(PRIO_PROCESS, 0, nice_value) == 0);
    return of_carrier();
}

static pthread_barrier_t turn;
static int in_turns, asks_too, regions_of_first;

static void *background(void *arg)
{
    int k = *(int *)arg;
    struct state own = set_state(5 + k, k % 2 ? SCHED_BATCH : SCHED_OTHER);
    for (int round = 0; round < ROUNDS; round++) {
        if (in_turns)
            pthread_barrier_wait(&turn);
        check_region(N, own, asks_too && round % 2);
        if (in_turns)
            pthread_barrier_wait(&turn);
    }
    return NULL;
}

static void openers(void)
{
    static int number[3] = {0, 1, 2};
    pthread_t thread[3];
    struct state own = of_carrier();
    pthread_barrier_init(&turn, NULL, 4);
    for (int i = 0; i < regions_of_first; i++)
        check_region(N, own, false);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&thread[i], NULL, background, &number[i]) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        if (in_turns) {
            pthread_barrier_wait(&turn);
            pthread_barrier_wait(&turn);
        }
        check_region(N, own, asks_too && round % 2);
    }
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    check_region(N, own, true);
}

static void at_once(void)
{
    regions_of_first = 3;
    openers();
}
static void at_once_asking(void)
{
    asks_too = 1;
    at_once();
}
static void turns(void)
{
    in_turns = 1;
    at_once();
}
static void background_first(void)
{
    in_turns = 1;
    openers();
}

/* The program's only opener has what it has. */
static void first_is_nice(void)
{
    struct state own = set_state(3, SCHED_BATCH);
    for (int i = 0; i < 5; i++)
        check_region(N, own, i > 2);
}

static const struct kind_of kinds[] = {
    {"at_once", at_once},
    {"at_once_asking", at_once_asking},
    {"turns", turns},
    {"background_first", background_first},
    {"first_is_nice", first_is_nice},
};

int main(int argc, char **argv)
{
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

/* A member's alternate signal stack is its own. Handlers run on it wherever the member goes on, and no other member's
 * handler does. The stack may be unmapped when its owner has taken it back. After the region the program's thread has
 * its own, or none. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/time.h>

#define N 6
#define BYTES (64 * 1024)

static char *stack_of[N];
static void *volatile seen_at[N]; /* where the last handler of the member ran */
static int ids[N];
static volatile sig_atomic_t alarms, astray;
static pthread_key_t key;
static sigjmp_buf back[N];

static int id_of_self(void) { return *(int *)pthread_getspecific(key); }
static bool is_inside(int id, const void *at)
{
    return (char *)at >= stack_of[id] && (char *)at < stack_of[id] + BYTES;
}
static void on_signal(int number)
{
    char here;
    (void)number;
    seen_at[id_of_self()] = &here;
}
static void on_alarm(int number)
{
    char here;
    const int *id = pthread_getspecific(key); /* none: not a member */
    (void)number;
    alarms++;
    /* a region's first thread may be elsewhere, on the alternate stack of the kernel thread that carries it */
    if (id && *id && stack_of[*id] && !is_inside(*id, &here))
        astray++;
}
static void on_overflow(int number)
{
    char here;
    (void)number;
    int id = id_of_self();
    seen_at[id] = &here;
    siglongjmp(back[id], 1);
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    CHECK(sigaction(number, &action, NULL) == 0);
}

static void take_stack(int id)
{
    stack_t stack;
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = memory;
    stack.ss_size = BYTES;
    CHECK(sigaltstack(&stack, NULL) == 0);
    stack_of[id] = memory;
}

static void give_stack(int id)
{
    stack_t none, old;
    char *memory = stack_of[id];
    memset(&none, 0, sizeof none);
    none.ss_flags = SS_DISABLE;
    stack_of[id] = NULL;
    CHECK(sigaltstack(&none, &old) == 0 && old.ss_sp == memory && old.ss_size == BYTES);
    CHECK(munmap(memory, BYTES) == 0);
}

static void check_own(int id)
{
    stack_t now;
    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == stack_of[id] && now.ss_size == BYTES && now.ss_flags == 0);
    seen_at[id] = NULL;
    CHECK(raise(SIGUSR1) == 0 && is_inside(id, seen_at[id]));
}

static int begin(void)
{
    int id = omp_get_thread_num();
    ids[id] = id;
    CHECK(pthread_setspecific(key, &ids[id]) == 0);
    take_stack(id);
    return id;
}

static void own_stacks(void)
{
    handle(SIGUSR1, on_signal);
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = begin();
            for (int i = 0; i < 4; i++) {
                wait_in_all_ways();
                check_own(id);
            }
            give_stack(id);
            wait_in_all_ways();
            seen_at[id] = NULL;
            CHECK(raise(SIGUSR1) == 0 && seen_at[id]); /* on no unmapped one */
        }
    }
}

/* Some members have one, the others and the program's thread have none, then and afterwards. */
static void others_have_none(void)
{
    stack_t now;
    handle(SIGUSR1, on_signal);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        stack_t mine;
        if (id % 2)
            begin();
        wait_in_all_ways();
        CHECK(sigaltstack(NULL, &mine) == 0);
        CHECK(id % 2 ? mine.ss_sp == stack_of[id] && !(mine.ss_flags & SS_DISABLE) : mine.ss_flags & SS_DISABLE);
        wait_in_all_ways();
        if (id % 2)
            give_stack(id);
    }
    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_DISABLE);
}

/* What its first member set is the program's thread's afterwards. */
static void first_member_keeps(void)
{
    handle(SIGUSR1, on_signal);
#pragma omp parallel num_threads(N)
    {
        int id = begin();
        wait_in_all_ways();
        if (id)
            give_stack(id);
        wait_in_all_ways();
    }
    check_own(0);
    give_stack(0);
}

/* Alarms come at any time, to any thread that runs. */
static void alarms_at_any_time(void)
{
    struct itimerval often = {{0, 700}, {0, 700}}, never = {{0, 0}, {0, 0}};
    handle(SIGALRM, on_alarm);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (int round = 0; round < 200 && (round < 5 || alarms < 50); round++) {
#pragma omp parallel num_threads(N)
        {
            int id = begin();
            bool for_others = round % 2 && id == 0; /* the system prefers the first thread */
            sigset_t alarm;
            sigemptyset(&alarm);
            sigaddset(&alarm, SIGALRM);
            CHECK(!for_others || pthread_sigmask(SIG_BLOCK, &alarm, NULL) == 0);
            wait_in_all_ways();
            waits_compute_us(1000);
            wait_in_all_ways();
            CHECK(!for_others || pthread_sigmask(SIG_UNBLOCK, &alarm, NULL) == 0);
            give_stack(id);
        }
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(alarms >= 5 && !astray);
}

static int use_up(volatile char *above)
{
    volatile char frame[2000];
    frame[0] = above[0];
    if (frame[0] == 1)
        return 0; /* never */
    return use_up(frame) + frame[0];
}

/* A stack overflow is survived on the alternate stack. */
static void overflows(void)
{
    handle(SIGSEGV, on_overflow);
#pragma omp parallel num_threads(N)
    {
        int id = begin();
        for (int i = 0; i < 2; i++) {
            wait_in_all_ways();
            seen_at[id] = NULL;
            if (id && sigsetjmp(back[id], 1) == 0) { /* the first one's stack is the system's and large */
                volatile char top = 0;
                use_up(&top);
            }
            CHECK(!id || is_inside(id, seen_at[id]));
        }
        wait_in_all_ways();
        give_stack(id);
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"own_stacks", own_stacks},
                                           {"others_have_none", others_have_none},
                                           {"first_member_keeps", first_member_keeps},
                                           {"alarms_at_any_time", alarms_at_any_time},
                                           {"overflows", overflows}};
    CHECK(pthread_key_create(&key, NULL) == 0);
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

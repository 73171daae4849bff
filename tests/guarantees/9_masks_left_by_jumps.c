/* A handler is left by longjmp, which leaves its signal blocked. The thread that it ran as unblocks it, and is as
 * before; the signal is blocked in no other thread. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define N 8
#define ROUNDS 5

static _Thread_local sigjmp_buf to;
static _Thread_local ucontext_t to_context;
static _Thread_local volatile int known; /* 1 + the thread's number */
static _Atomic int left[N], lefts;
static char *wall;
static long wall_bytes;

static void leave(void)
{
    CHECK(known == omp_get_thread_num() + 1);
    left[known - 1]++;
    lefts++;
    longjmp(to, 1);
}

static void on_signal(int number)
{
    sigjmp_buf own; /* jumps inside of the handler */
    (void)number;
    for (volatile int i = 0; i < 2; i++)
        if (sigsetjmp(own, i) == 0)
            longjmp(own, 1);
    leave();
}

/* A second handler is left into this one, which returns. */
static void on_trap(int number)
{
    (void)number;
    if (_setjmp(to) == 0)
        *(volatile char *)wall = 1;
}

static void on_by_context(int number)
{
    (void)number;
    left[known - 1]++;
    setcontext(&to_context);
}

static void handle(int number, void (*by)(int), int flags)
{
    CHECK(sigaction(number, &(struct sigaction){.sa_handler = by, .sa_flags = flags}, NULL) == 0);
}

static int blocks(int number)
{
    sigset_t now;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    return sigismember(&now, number);
}

static void change(int how, int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    CHECK(pthread_sigmask(how, &set, NULL) == 0);
}

static void wait_in_all_ways_but_tasks(void)
{
    wait_in_a_barrier();
    wait_in_a_critical();
#pragma omp barrier
}

static void write_to_wall(void) { *(volatile char *)wall = 1; }
static void clear_wall(void) { memset(wall, 1, (size_t)wall_bytes / 2 + (size_t)known); }

static void fault_by(void (*access)(void))
{
    if (_setjmp(to) == 0) {
        access();
        CHECK(!"a wall");
    }
    change(SIG_UNBLOCK, SIGSEGV);
}

/* Each member, or each but some, faults once in a round. */
static void fault(void (*access)(void), int of)
{
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(N)
        {
            int me = omp_get_thread_num();
            bool faults = me % of == 0;
            known = me + 1;
            if (me % 2)
                waits_compute_us(100);
            if (faults)
                fault_by(access);
            CHECK(known == me + 1 && omp_get_thread_num() == me);
            wait_in_all_ways_but_tasks();
            CHECK(!blocks(SIGSEGV) && left[me] == faults * (round + 1));
        }
        CHECK(!blocks(SIGSEGV));
    }
}

static void faults(void) { fault(write_to_wall, 1); }
static void faults_of_some(void) { fault(write_to_wall, 3); }
static void faults_in_library(void) { fault(clear_wall, 1); }
static void faults_on_alternate_stack(void)
{
    handle(SIGSEGV, on_signal, SA_ONSTACK);
    fault(write_to_wall, 1);
}
static void faults_on_openers_alternate_stack(void)
{
    stack_t stack = {.ss_size = 64 * 1024, .ss_sp = malloc(64 * 1024)};
    CHECK(stack.ss_sp && sigaltstack(&stack, NULL) == 0);
    faults_on_alternate_stack();
}

/* One after the other; no thread asks for its mask. */
static void other_member_faults(void)
{
#pragma omp parallel num_threads(N)
    {
        int me = omp_get_thread_num();
        known = me + 1;
        for (int turn = N - 1; turn >= 0; turn--) {
            if (turn == me)
                fault_by(write_to_wall);
#pragma omp barrier
        }
        CHECK(left[me] == 1);
    }
    CHECK(lefts == N);
}

static void inner_regions(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(3)
    {
        known = omp_get_thread_num() + 1;
        if (omp_get_thread_num() != 0)
            fault_by(write_to_wall);
#pragma omp barrier
        CHECK(!blocks(SIGSEGV));
    }
    CHECK(lefts == 6 && !blocks(SIGSEGV));
}

/* What sigsetjmp has kept comes back, also after the handler. */
static void kept_mask_comes_back(void)
{
#pragma omp parallel num_threads(N)
    {
        static _Thread_local sigjmp_buf outer;
        static _Thread_local volatile int turns;
        int me = omp_get_thread_num();
        known = me + 1;
        turns = 0;
        if (sigsetjmp(outer, 1) == 0 || turns < ROUNDS) {
            if (_setjmp(to) == 0)
                write_to_wall();
            turns++;
            siglongjmp(outer, 1);
        }
        for (int i = 0; i < ROUNDS; i++) {
            waits_compute_us(500);
            CHECK(!blocks(SIGSEGV));
            wait_in_a_barrier();
        }
        CHECK(left[me] == ROUNDS);
    }
    CHECK(!blocks(SIGSEGV));
}

static void handler_in_handler(void)
{
    handle(SIGTRAP, on_trap, 0);
#pragma omp parallel num_threads(N)
    for (int i = 1; i <= ROUNDS; i++) {
        known = omp_get_thread_num() + 1;
        __asm__ volatile("int3");
        CHECK(left[known - 1] == i);
        if (i % 2)
            CHECK(!blocks(SIGSEGV) && !blocks(SIGTRAP));
        wait_in_a_barrier();
    }
}

static void fault_for_context(int times)
{
    CHECK(getcontext(&to_context) == 0);
    if (left[known - 1] < times)
        write_to_wall();
}

static void by_context(void)
{
    handle(SIGSEGV, on_by_context, 0);
#pragma omp parallel num_threads(N)
    {
        known = omp_get_thread_num() + 1;
        for (int i = 1; i <= ROUNDS; i++) {
            fault_for_context(i);
            wait_in_a_barrier();
        }
    }
    CHECK(!blocks(SIGSEGV));
}

static const struct kind_of kinds[] = {{"faults", faults},
                                       {"faults_of_some", faults_of_some},
                                       {"faults_in_library", faults_in_library},
                                       {"faults_on_alternate_stack", faults_on_alternate_stack},
                                       {"faults_on_openers_alternate_stack", faults_on_openers_alternate_stack},
                                       {"other_member_faults", other_member_faults},
                                       {"inner_regions", inner_regions},
                                       {"kept_mask_comes_back", kept_mask_comes_back},
                                       {"handler_in_handler", handler_in_handler},
                                       {"by_context", by_context}};

int main(int argc, char **argv)
{
    wall_bytes = sysconf(_SC_PAGESIZE);
    wall = mmap(NULL, (size_t)wall_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(wall != MAP_FAILED);
    handle(SIGSEGV, on_signal, 0);
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

/* A handler that is sent to a member which computes leaves by a jump into a frame of that member, and the team goes on.
 * The member computes by itself, or asks OpenMP for its number. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#define N 6
#define ROUNDS 10

enum how { BY_SIGLONGJMP, BY_LONGJMP, BY_CONTEXT, HOWS };

static _Thread_local sigjmp_buf to;
static _Thread_local ucontext_t to_context;
static _Thread_local volatile int known; /* 1 + the thread's number */
static _Thread_local volatile enum how how;
static _Thread_local volatile bool stays; /* until a handler has left */
static pthread_t self[N];
static _Atomic int computing, left, misnamed;
static _Atomic bool over; /* those that are sent nothing may go on */

static void on_signal(int number)
{
    sigjmp_buf own; /* a jump inside of the handler */
    (void)number;
    if (sigsetjmp(own, 1) == 0)
        siglongjmp(own, 1);
    if (!stays)
        return;
    stays = false;
    errno = 77;
    if (how == BY_SIGLONGJMP)
        siglongjmp(to, 3);
    if (how == BY_LONGJMP)
        longjmp(to, 3);
    setcontext(&to_context);
}

static void get_alternate_stack(void)
{
    static _Thread_local char place[65536];
    CHECK(sigaltstack(&(stack_t){.ss_sp = place, .ss_size = sizeof place}, NULL) == 0);
}

static void let_in(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void compute(void)
{
    while (!over)
        ;
}
static void compute_and_ask(void)
{
    while (!over)
        if (omp_get_thread_num() + 1 != known)
            misnamed++;
}

static bool is_to_leave(int round, int id) { return (id + round) % 2 == 0; }

static void compute_and_leave(void (*stay)(void), int me, bool leaves)
{
    volatile bool back = false;
    errno = 0;
    stays = true;
    if (how == BY_CONTEXT)
        CHECK(getcontext(&to_context) == 0);
    if (how == BY_CONTEXT ? !back : sigsetjmp(to, how == BY_SIGLONGJMP) == 0) {
        back = true;
        computing++;
        stay();
        CHECK(!leaves);
        return;
    }
    CHECK(leaves && errno == 77 && known == me + 1 && omp_get_thread_num() == me && omp_get_level() == 1);
    if (how == BY_LONGJMP)
        let_in();
    left++;
}

static void *send_signals(void *arg)
{
    int round = *(int *)arg, leave = 0;
    while (computing < N)
        usleep(100);
    for (int id = 0; id < N; id++)
        if (is_to_leave(round, id)) {
            CHECK(pthread_kill(self[id], SIGUSR1) == 0);
            leave++;
        }
    while (left < leave)
        usleep(100);
    over = true;
    return NULL;
}

static void rounds(void (*stay)(void))
{
    struct sigaction action = {.sa_handler = on_signal};
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t sender;
        bool apart = round >= ROUNDS / 2 && round % 2;
        int ended = 0;
        computing = left = 0;
        over = false;
        action.sa_flags = apart ? SA_ONSTACK : 0;
        CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
        CHECK(pthread_create(&sender, NULL, send_signals, &round) == 0);
#pragma omp parallel num_threads(N) reduction(+ : ended)
        {
            int me = omp_get_thread_num();
            known = me + 1;
            how = (round + me) / 2 % HOWS;
            self[me] = pthread_self();
            if (apart)
                get_alternate_stack();
#pragma omp barrier
            compute_and_leave(stay, me, is_to_leave(round, me));
            ended++;
            wait_in_all_ways();
            wait_for_tasks();
        }
        CHECK(pthread_join(sender, NULL) == 0);
        CHECK(ended == N && left == N / 2 && misnamed == 0);
    }
}

static void run_computing(void) { rounds(compute); }
static void run_asking(void) { rounds(compute_and_ask); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"computing", run_computing}, {"asking", run_asking}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

/* A context of the program's (makecontext, swapcontext) brings its signal mask for the member that goes on with it, and
 * for nobody else while that member waits there. The member has its own mask again when it comes back. */
#define _GNU_SOURCE
#include "waits.h"
#include <signal.h>
#include <ucontext.h>

#define N 6
#define ROUNDS 4
#define STACK_BYTES (96 * 1024)

static ucontext_t member[N], coroutine[N];

static int is_blocked(void)
{
    sigset_t now;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    return sigismember(&now, SIGUSR1);
}

static void run(int id)
{
    for (int i = 0; i < ROUNDS; i++) {
        wait_in_a_critical();
        CHECK(is_blocked() == id % 2);
        CHECK(swapcontext(&coroutine[id], &member[id]) == 0);
    }
}

int main(void)
{
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            char *stack = malloc(STACK_BYTES);
            CHECK(stack && getcontext(&coroutine[id]) == 0);
            coroutine[id].uc_stack.ss_sp = stack;
            coroutine[id].uc_stack.ss_size = STACK_BYTES;
            coroutine[id].uc_link = &member[id];
            if (id % 2)
                sigaddset(&coroutine[id].uc_sigmask, SIGUSR1);
            makecontext(&coroutine[id], (void (*)(void))run, 1, id);
            for (int i = 0; i <= ROUNDS; i++) {
                CHECK(swapcontext(&member[id], &coroutine[id]) == 0);
                CHECK(!is_blocked());
                wait_in_a_barrier();
            }
            free(stack);
        }
        CHECK(!is_blocked());
    }
    return 0;
}

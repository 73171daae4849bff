/* A sleep ends in time where a root is wanted meanwhile, also on a stack of the program's own, where the runtime does
 * not know the thread and cannot leave it. */
#define _GNU_SOURCE
#include "check.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES 65536

static ucontext_t back, coroutine;
static void (*sleeps)(void);
static omp_lock_t lock;

static void by_usleep(void) { usleep(50000); }
static void by_poll(void) { CHECK(poll(NULL, 0, 50) == 0); }
static void by_nanosleep(void)
{
    struct timespec t = {0, 50000000}, rest;
    CHECK(nanosleep(&t, &rest) == 0);
}

static void body(void) { sleeps(); }

static void on_coroutine(void)
{
    void *stack = malloc(STACK_BYTES);
    CHECK(stack && getcontext(&coroutine) == 0);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = STACK_BYTES;
    coroutine.uc_link = &back;
    makecontext(&coroutine, body, 0);
    CHECK(swapcontext(&back, &coroutine) == 0);
    free(stack);
}

/* Member 0, the root, waits for member 1's lock, and is let go while member 2 sleeps. */
static void round_of(void (*way)(void))
{
    int inside = 0;
    sleeps = way;
#pragma omp parallel num_threads(3) shared(inside)
    {
        int id = omp_get_thread_num();
        if (id == 1)
            omp_set_lock(&lock);
#pragma omp barrier
        if (id == 0) {
            omp_set_lock(&lock);
            omp_unset_lock(&lock);
        } else if (id == 1) {
            while (!__atomic_load_n(&inside, __ATOMIC_ACQUIRE))
                continue;
            usleep(2000);
            omp_unset_lock(&lock);
        } else {
            __atomic_store_n(&inside, 1, __ATOMIC_RELEASE);
            on_coroutine();
        }
    }
}

int main(void)
{
    omp_init_lock(&lock);
    round_of(by_usleep);
    round_of(by_poll);
    round_of(by_nanosleep);
    omp_destroy_lock(&lock);
    return 0;
}

/* A signal is sent to a thread that joins one which has not begun, and so runs on the joiner's stack. The handler runs
 * as the joiner, on its stack, with its thread-local variables, while the joined thread goes on. The joiner is a
 * thread, or the program's own. The sender is the joined thread, or a kernel thread of the program's. Linked with the
 * shared library, which answers the C library's functions. */
#define _GNU_SOURCE
#include "../check.h"
#include "psthread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define TIMES 3

static __thread int who;
static pthread_t joiner;
static uintptr_t low, deepest;
static const int *errno_of_joiner;
static _Atomic int handled, wrong;
static sem_t over;

static void on_signal(int number)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    (void)number;
    if (who != 1 || &errno != errno_of_joiner || !pthread_equal(pthread_self(), joiner) || here < low || here > deepest)
        wrong = 1;
    handled = handled + 1;
}

static void *sends(void *unused)
{
    (void)unused;
    for (int i = 1; i <= TIMES; i++) {
        CHECK(pthread_kill(joiner, SIGUSR1) == 0);
        while (handled < i) /* the joined thread, if it is this one, goes on */
            sched_yield();
    }
    sem_post(&over);
    return NULL;
}

static void *joined(void *from_outside)
{
    pthread_t sender;
    who = 2;
    if (from_outside) {
        CHECK(pthread_create(&sender, NULL, sends, NULL) == 0);
        while (sem_trywait(&over) != 0)
            ;
        CHECK(pthread_join(sender, NULL) == 0);
    } else {
        sends(NULL);
        CHECK(sem_trywait(&over) == 0);
    }
    CHECK(who == 2);
    return &who;
}

/* The caller joins on this stack, above `place`. */
static void handle_here(uintptr_t place)
{
    pthread_attr_t attr;
    void *stack;
    size_t bytes;
    who = 1;
    handled = 0;
    joiner = pthread_self();
    errno_of_joiner = &errno;
    CHECK(pthread_getattr_np(joiner, &attr) == 0 && pthread_attr_getstack(&attr, &stack, &bytes) == 0);
    pthread_attr_destroy(&attr);
    low = (uintptr_t)stack;
    deepest = place;
}

static void __attribute__((noinline)) join_one(void *from_outside)
{
    psthread_t t;
    handle_here((uintptr_t)__builtin_frame_address(0));
    CHECK(psthread_create(&t, NULL, joined, from_outside) == 0 && psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
    CHECK(psthread_join(t, NULL) == 0);
    CHECK(who == 1 && handled == TIMES && !wrong);
    CHECK(pthread_equal(joiner, pthread_self()));
}

static void *join_as_thread(void *from_outside)
{
    join_one(from_outside);
    join_one(from_outside);
    return NULL;
}

static void by_a_thread(void *from_outside)
{
    psthread_t t;
    CHECK(psthread_create(&t, NULL, join_as_thread, from_outside) == 0);
    CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
    CHECK(psthread_waitall() == 0); /* runs it on a stack of its own */
}

static void a_thread(void **state)
{
    (void)state;
    by_a_thread(NULL);
}
static void a_thread_from_outside(void **state)
{
    (void)state;
    by_a_thread(&who);
}
static void the_first(void **state)
{
    (void)state;
    join_as_thread(NULL);
}
static void the_first_from_outside(void **state)
{
    (void)state;
    join_as_thread(&who);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_thread), cmocka_unit_test(a_thread_from_outside),
                                       cmocka_unit_test(the_first), cmocka_unit_test(the_first_from_outside)};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sem_init(&over, 0, 0) == 0);
    setenv("PSTHREADS_NUM_VPS", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

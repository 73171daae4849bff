/* System calls by number (syscall) know the member that makes them as the C library's functions do. A lock that the
 * kernel keeps by its owner's number is the member's over all waits. A signal that is sent to a number (tkill) reaches
 * that member or the program's thread, also while it waits. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#define N 6
#define SIGNALS 5

static unsigned word;
static long owner_call(int operation) { return syscall(SYS_futex, &word, operation, 0, NULL, NULL, 0); }

static void owned_futex(void)
{
    static int inside;
    if (owner_call(FUTEX_LOCK_PI) != 0)
        return; /* no such thing in this kernel */
    CHECK(owner_call(FUTEX_UNLOCK_PI) == 0);
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 5; i++) {
        CHECK(owner_call(FUTEX_LOCK_PI) == 0);
        CHECK(__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) == 1);
        if (i == 2)
            wait_in_a_critical();
        else
            waits_compute_us(200);
        CHECK(__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST) == 0);
        CHECK(owner_call(FUTEX_UNLOCK_PI) == 0);
        if (i % 2)
            wait_in_a_barrier();
    }
}

static __thread volatile int handled;
static void on_signal(int number)
{
    (void)number;
    handled = handled + 1;
}

static void sent_by_number(void)
{
    static long number[N];
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        handled = 0;
        number[id] = syscall(SYS_gettid);
#pragma omp barrier
        for (int i = 1; i <= SIGNALS; i++) {
            CHECK(syscall(SYS_tkill, number[(id + 1) % N], SIGUSR1) == 0);
            for (double end = omp_get_wtime() + 10; handled < i && omp_get_wtime() < end;)
                sched_yield();
            CHECK(handled == i);
#pragma omp barrier
        }
        if (id == 1)
            for (int other = 0; other < N; other++)
                if (other != id)
                    CHECK(syscall(SYS_tkill, number[other], SIGUSR1) == 0);
#pragma omp barrier
        wait_in_all_ways();
        CHECK(handled == SIGNALS + (id != 1));
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"owned_futex", owned_futex}, {"sent_by_number", sent_by_number}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

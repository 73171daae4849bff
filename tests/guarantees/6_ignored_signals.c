/* The program's action of each signal is the one that it has set: the standard one, or to ignore it. So it stays while
 * threads that spin keep others waiting, and signals go to members. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static _Atomic int handled;

static void on_signal(int number)
{
    (void)number;
    handled++;
}

/* Some member waits in the kernel, the others spin for it. */
static void spin_for_one_another(void)
{
    for (int round = 0; round < 3; round++) {
        volatile int ready = 0;
#pragma omp parallel num_threads(4)
        {
            if (omp_get_thread_num() == round) {
                usleep(50000);
                ready = 1;
            }
            while (!ready)
                continue;
        }
    }
}

static void send_to_members(void)
{
    pthread_t threads[4];
    handled = 0;
#pragma omp parallel num_threads(4)
    {
        threads[omp_get_thread_num()] = pthread_self();
#pragma omp barrier
#pragma omp master
        for (int i = 1; i < 4; i++)
            pthread_kill(threads[i], SIGUSR1);
        while (handled < 3)
            continue;
    }
}

static int is_left_out(int number)
{
    return number == SIGKILL || number == SIGSTOP || number == SIGUSR1 || (number >= 32 && number < SIGRTMIN);
}

static void check_all(void (*of)(int))
{
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction now;
        if (is_left_out(number))
            continue;
        CHECK(sigaction(number, NULL, &now) == 0);
        CHECK(now.sa_handler == of && !(now.sa_flags & SA_SIGINFO));
    }
}

static void set_all(void (*to)(int), void (*before)(int))
{
    for (int number = 1; number <= SIGRTMAX; number++)
        if (!is_left_out(number))
            CHECK(signal(number, to) == before || before == SIG_ERR);
}

int main(void)
{
    signal(SIGUSR1, on_signal);
    set_all(SIG_DFL, SIG_ERR); /* some may have been ignored where this was started */
    check_all(SIG_DFL);
    spin_for_one_another();
    send_to_members();
    check_all(SIG_DFL);
    set_all(SIG_IGN, SIG_DFL);
    check_all(SIG_IGN);
    spin_for_one_another();
    send_to_members();
    check_all(SIG_IGN);
    set_all(SIG_DFL, SIG_IGN);
    spin_for_one_another();
    check_all(SIG_DFL);
    return 0;
}

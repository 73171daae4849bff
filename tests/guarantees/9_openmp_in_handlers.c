/* A handler of a signal to the process asks OpenMP which thread it is, wherever the signal has interrupted whichever
 * kernel thread: it is answered. OpenMP has started before, since libomp hangs there. */
#define _GNU_SOURCE
#include "check.h"
#include <omp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define N 4
#define ROUNDS 20

static volatile sig_atomic_t handled, wrong;

static void on_alarm(int number)
{
    (void)number;
    handled++;
    int self = omp_get_thread_num();
    wrong |= self < 0 || self >= N || omp_get_level() < 0;
}

static void compute(double seconds)
{
    for (double end = omp_get_wtime() + seconds; omp_get_wtime() < end;)
        continue;
}

int main(void)
{
    CHECK(omp_get_max_threads() > 0);
#pragma omp parallel num_threads(N)
    compute(0.001);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(N)
        {
            if (omp_get_thread_num())
                compute(0.003);
            if (omp_get_thread_num() == 1)
                usleep(2000);
#pragma omp barrier
        }
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(handled > 0 && !wrong);
    return 0;
}

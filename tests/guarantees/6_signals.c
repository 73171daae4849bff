/* A storm of alarms while regions run, with handlers on the thread's own stack and on an alternate one: half a second,
 * and until some have come. */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
    char room[2000];
    memset(room, number, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
    alarms = alarms + 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
    static char alternate[65536];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    omp_set_max_active_levels(2);
    for (int on_stack = 0; on_stack < 2; on_stack++) {
        struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART | (on_stack ? SA_ONSTACK : 0)};
        if (on_stack)
            sigaltstack(&stack, NULL);
        sigaction(SIGALRM, &action, NULL);
        alarms = 0;
        setitimer(ITIMER_REAL, &often, NULL);
        for (double end = now() + 0.5; now() < end || alarms <= 20;) {
            int sum = 0;
#pragma omp parallel num_threads(8) reduction(+ : sum)
            {
                int inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
                {
#pragma omp barrier
                    inner++;
                }
#pragma omp barrier
                sum += inner;
            }
            CHECK(sum == 16);
        }
        setitimer(ITIMER_REAL, &never, NULL);
    }
    return 0;
}

/* A member's kernel thread number is its own from the region's beginning to its end: no other thread has it, no wait
 * changes it, signals, timers and /proc know the member by it. The first member's is the process's. */
#define _GNU_SOURCE
#include "waits.h"
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>

#define N 6

static pid_t number_of[N];
static volatile sig_atomic_t seen[N];

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    for (int id = 0; id < N; id++)
        if (number_of[id] == (pid_t)syscall(SYS_gettid) && info->si_value.sival_int == id)
            seen[id]++;
}

static timer_t timer_for(int id)
{
    struct sigevent event;
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event._sigev_un._tid = number_of[id];
    event.sigev_signo = SIGRTMIN + 5;
    event.sigev_value.sival_int = id;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    return timer;
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    CHECK(sigaction(SIGRTMIN + 5, &action, NULL) == 0);
    for (int region = 0; region < 20; region++) { /* members that have run in no region before */
#pragma omp parallel num_threads(N)
        waits_compute_us(1);
    }
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            number_of[id] = id % 2 ? gettid() : (pid_t)syscall(SYS_gettid);
            CHECK(id || number_of[0] == getpid());
            for (int i = 0; i < 3; i++) {
                wait_in_all_ways();
                CHECK(gettid() == number_of[id] && (pid_t)syscall(SYS_gettid) == number_of[id]);
                for (int other = 0; other < N; other++)
                    CHECK(other == id || number_of[other] != number_of[id]);
                char path[60];
                snprintf(path, sizeof path, "/proc/self/task/%d", number_of[id]);
                CHECK(access(path, F_OK) == 0);
            }
            timer_t timer = timer_for(id);
            struct itimerspec soon = {{0, 1000000}, {0, 1000000}}, never = {{0, 0}, {0, 0}};
            int before = seen[id];
            CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
            wait_in_all_ways();
            while (seen[id] < before + 3) /* hangs where they come to somebody else */
                waits_compute_us(100);
            CHECK(timer_settime(timer, 0, &never, NULL) == 0 && timer_delete(timer) == 0);
        }
        CHECK(gettid() == getpid());
    }
    return 0;
}

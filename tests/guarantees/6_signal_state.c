/* What a handler sees is the interrupted member's: its thread-local variables, its errno, its thread number; and it
 * leaves them alone. Alarms by the kernel's timers, often, with nested members that wait all the time. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static __thread volatile int mine = -1, mine_again = -1;
static volatile sig_atomic_t seen, wrong;

static void on_alarm(int number)
{
    (void)number;
    int before = errno;
    if (mine != mine_again) /* two stores of one thread: at most in between, then they differ by what check() allows */
        wrong += mine != -2 && mine_again != -2;
    seen = seen + 1;
    errno = EDOM;
    close(-1);
    errno = before;
}

static void check(int id)
{
    for (int i = 0; i < 50; i++) {
        mine = -2;
        mine_again = -2;
        mine_again = id;
        mine = id;
        errno = id;
        for (volatile int k = 0; k < 500; k++)
            continue;
        CHECK(errno == id);
#pragma omp barrier
        CHECK(errno == id && mine == id && mine_again == id);
    }
}

int main(void)
{
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    omp_set_max_active_levels(2);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int round = 0; round < 1000 && (round < 5 || seen < 100); round++) {
#pragma omp parallel num_threads(3)
        {
            int outer = omp_get_thread_num();
            check(1 + outer);
#pragma omp parallel num_threads(3)
            check(10 + 3 * outer + omp_get_thread_num());
        }
    }
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK(seen >= 10 && !wrong);
    return 0;
}

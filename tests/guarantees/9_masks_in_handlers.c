/* A handler asks for its signal mask, which is its own. Members of regions that the thread opens afterwards begin with
 * the thread's mask. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile int handled;

static void on_signal(int number)
{
    sigset_t now;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    CHECK(sigismember(&now, number) && sigismember(&now, SIGUSR2));
    handled++;
}

static void expect_none(void)
{
    sigset_t now;
    CHECK(gettid() > 0); /* from here on it has a kernel thread of its own */
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    CHECK(!sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2));
}

static void open_by(int opener)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR2);
    action.sa_handler = on_signal;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == opener) {
        CHECK(gettid() > 0);
        CHECK(raise(SIGUSR1) == 0);
        CHECK(handled == 1);
#pragma omp parallel num_threads(3)
        if (omp_get_thread_num() > 0)
            expect_none();
    }
}

static void first(void) { open_by(0); }
static void member(void) { open_by(1); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"first", first}, {"member", member}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

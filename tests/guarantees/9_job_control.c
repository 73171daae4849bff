/* Job control: a process whose regions run is stopped and continued by its parent, as by a shell. A stop stops all of
 * it, whichever of its threads wait. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>

#define ROUNDS 20
#define N 4

static struct {
    volatile int ready, over;
} * shared; /* by parent and child */
static volatile sig_atomic_t continued, handled, installed;

static void block(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
}

static void handle(int number, void (*handler)(int)) { CHECK(signal(number, handler) != SIG_ERR); }

static void on_continued(int number)
{
    (void)number;
    continued = 1;
}

/* As a program that leaves the terminal in order before it stops. */
static void stop_by_oneself(int number)
{
    sigset_t set, before;
    handled++;
    signal(number, SIG_DFL);
    raise(number);
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, &before); /* here it stops */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    handle(number, stop_by_oneself);
    installed++;
}

/* --- what the child does until it is over --- */

static void live(void)
{
    while (!shared->over) {
#pragma omp parallel num_threads(N)
        {
            int me = omp_get_thread_num();
            struct timespec nap = {0, 1000000};
            if (me == 0)
                gettid();
            if (me == 1)
                nanosleep(&nap, NULL);
            else
                waits_compute_us(200);
#pragma omp critical
            waits_compute_us(10);
#pragma omp single
#pragma omp task
            waits_compute_us(100);
        }
        shared->ready = 1;
    }
}

static void raises(int number)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < ROUNDS; i++) {
        if (omp_get_thread_num() == i % N) {
            shared->ready = 1;
            raise(number);
        }
#pragma omp barrier
    }
}

/* --- the parent --- */

static pid_t begin(void (*body)(int), int number)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        setpgid(0, 0); /* as a shell does: the child's group is no orphan, and stops */
        if (body)
            body(number);
        else
            live();
        _exit(0);
    }
    setpgid(child, child);
    while (!shared->ready)
        usleep(100);
    return child;
}

static void expect_stop(pid_t child, int number)
{
    int status;
    CHECK(waitpid(child, &status, WUNTRACED) == child);
    CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == number);
}

static void go_on(pid_t child)
{
    int status;
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(waitpid(child, &status, WCONTINUED) == child);
    CHECK(WIFCONTINUED(status));
}

static void end(pid_t child)
{
    int status;
    shared->over = 1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

static void stop_again_and_again(void (*body)(int), int number)
{
    pid_t child = begin(body, number);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(kill(child, number) == 0);
        expect_stop(child, number);
        usleep(1000);
        go_on(child);
        usleep(1000);
    }
    end(child);
}

static void stopped(void) { stop_again_and_again(NULL, SIGSTOP); }
static void by_terminal(void) { stop_again_and_again(NULL, SIGTSTP); }
static void for_input(void) { stop_again_and_again(NULL, SIGTTIN); }

static void lives_and_handles(int number)
{
    (void)number;
    handle(SIGCONT, on_continued);
    live();
    CHECK(continued);
}
static void with_handler(void) { stop_again_and_again(lives_and_handles, SIGTSTP); }

static void lives_and_blocks(int number)
{
    (void)number;
    block(SIGCONT);
    live();
}
static void continued_where_blocked(void) { stop_again_and_again(lives_and_blocks, SIGTSTP); }

static void stops_by_oneself(int number)
{
    handle(number, stop_by_oneself);
#pragma omp parallel num_threads(N)
    for (int i = 0; i < ROUNDS; i++) {
        if (omp_get_thread_num() == i % N) {
            int before = installed;
            shared->ready = 1;
            kill(getpid(), number);
            while (installed == before)
                waits_compute_us(10);
        }
#pragma omp barrier
    }
    CHECK(handled == ROUNDS);
}

static void let_go_on(void (*body)(int))
{
    pid_t child = begin(body, SIGTSTP);
    int status, stops = 0;
    while (CHECK(waitpid(child, &status, WUNTRACED) == child), WIFSTOPPED(status)) {
        CHECK(WSTOPSIG(status) == SIGTSTP);
        CHECK(kill(child, SIGCONT) == 0); /* this takes back a stop that is about to come */
        stops++;
    }
    CHECK(status == 0 && stops > 0 && stops <= ROUNDS);
}
static void classic_handler(void) { let_go_on(stops_by_oneself); }
static void from_inside(void) { let_go_on(raises); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"stopped", stopped},
                                           {"by_terminal", by_terminal},
                                           {"for_input", for_input},
                                           {"with_handler", with_handler},
                                           {"continued_where_blocked", continued_where_blocked},
                                           {"classic_handler", classic_handler},
                                           {"from_inside", from_inside}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

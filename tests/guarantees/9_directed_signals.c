/* A signal sent to a member reaches that member, whatever it does: it computes, waits in a barrier, for a critical
 * section, a lock, a turn or tasks, blocks in the kernel or on a semaphore. By pthread_kill, pthread_sigqueue, and
 * tgkill with the number that gettid gave. [KIND] */
#define _GNU_SOURCE
#include "held_waits.h"
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#define N 6
#define SENDER 3

static pthread_t self[N];
static pid_t number_of[N];
static int got[N];   /* signals that arrived where they should */
static int value[N]; /* what came with the last */
static int astray;
static int sent; /* the sender is done */

static void on_signal(int number, siginfo_t *info, void *context)
{
    int before = errno, id = 0;
    (void)number, (void)context;
    while (id < N && !pthread_equal(self[id], pthread_self()))
        id++;
    if (id == N)
        __atomic_add_fetch(&astray, 1, __ATOMIC_SEQ_CST);
    else {
        value[id] = info->si_code == SI_QUEUE ? info->si_value.sival_int : -1;
        __atomic_add_fetch(&got[id], 1, __ATOMIC_SEQ_CST);
    }
    errno = before;
}

static void send_one(int to, int how)
{
    int before = __atomic_load_n(&got[to], __ATOMIC_SEQ_CST);
    union sigval with = {.sival_int = 100 + to};
    if (how == 0)
        CHECK(pthread_kill(self[to], SIGUSR1) == 0);
    else if (how == 1)
        CHECK(pthread_sigqueue(self[to], SIGUSR1, with) == 0);
    else
        CHECK(syscall(SYS_tgkill, getpid(), number_of[to], SIGUSR1) == 0);
    while (__atomic_load_n(&got[to], __ATOMIC_SEQ_CST) == before) /* hangs where it does not arrive */
        usleep(50);
    CHECK(got[to] == before + 1 && (how != 1 || value[to] == 100 + to));
}

static void send_to_all(void)
{
    for (int how = 0; how < 3; how++)
        for (int id = 0; id < N; id++)
            send_one(id, how);
    CHECK(astray == 0);
    __atomic_store_n(&sent, 1, __ATOMIC_SEQ_CST);
}

static void computing(void)
{
    while (!__atomic_load_n(&sent, __ATOMIC_SEQ_CST))
        waits_compute_us(100);
}
static void in_a_barrier(void) {}
static void for_a_critical(void)
{
#pragma omp critical
    while (!__atomic_load_n(&sent, __ATOMIC_SEQ_CST)) /* one inside, the others wait */
        usleep(50);
}
static void for_tasks(void)
{
#pragma omp task
    while (!__atomic_load_n(&sent, __ATOMIC_SEQ_CST))
        usleep(50);
#pragma omp taskwait
}

static void rounds(void (*wait)(void))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int round = 0; round < 3; round++) {
        sent = 0;
        held_begin();
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            self[id] = pthread_self();
            number_of[id] = (pid_t)syscall(SYS_gettid);
            if (id == SENDER)
                omp_set_lock(&held_lock);
            wait_in_a_barrier();
            if (id == SENDER) {
                usleep(1000 * round); /* the others come to where they wait */
                send_to_all();
                held_let_go(N - 1);
            } else
                wait();
#pragma omp barrier
            CHECK(pthread_equal(self[id], pthread_self()));
        }
        held_end();
    }
    for (int id = 0; id < N; id++)
        CHECK(got[id] == 9);
}

static void run_computing(void) { rounds(computing); }
static void run_barrier(void) { rounds(in_a_barrier); }
static void run_lock(void) { rounds(for_a_lock); }
static void run_critical(void) { rounds(for_a_critical); }
static void run_read(void) { rounds(in_read); }
static void run_semaphore(void) { rounds(on_a_semaphore); }
static void run_tasks(void) { rounds(for_tasks); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"computing", run_computing}, {"in_a_barrier", run_barrier},
                                           {"for_a_lock", run_lock},     {"for_a_critical", run_critical},
                                           {"in_read", run_read},        {"on_a_semaphore", run_semaphore},
                                           {"for_tasks", run_tasks}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

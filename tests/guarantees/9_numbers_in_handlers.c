/* A handler that runs on a member asks OpenMP which thread it is, and is told that member's numbers. So it is whether
 * the member computes or sleeps, or waits in the runtime or in the kernel. The signals are sent by pthread_kill.
 * [KIND] */
#define _GNU_SOURCE
#include "held_waits.h"
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#define N 6
#define INNER 3
#define SENDER (N - 1) /* it is sent none */
#define ROUNDS 3
#define ALL (N * INNER)

/* What the thread is. The first member of an inner region is one of the outer region,
 * too. */
static _Thread_local volatile int outer = -1, inner;
static _Thread_local volatile bool has_inner;
static pthread_t self[ALL]; /* by outer + N * inner */
static int got[ALL], strangers, wrong[8];
static bool sent; /* the sender is done */

static void note_wrong(int what, bool is_wrong)
{
    if (is_wrong)
        __atomic_add_fetch(&wrong[what], 1, __ATOMIC_SEQ_CST);
}

static void on_signal(int number)
{
    int before = errno, level = omp_get_level();
    (void)number;
    if (outer < 0) {
        __atomic_add_fetch(&strangers, 1, __ATOMIC_SEQ_CST);
        return;
    }
    int is_inner = inner > 0 || (has_inner && level == 2);
    note_wrong(0, level != 1 + is_inner);
    note_wrong(1, omp_get_thread_num() != (is_inner ? inner : outer));
    note_wrong(2, omp_get_num_threads() != (is_inner ? INNER : N));
    note_wrong(3, omp_get_ancestor_thread_num(1) != outer);
    note_wrong(4, omp_get_ancestor_thread_num(level) != (is_inner ? inner : outer));
    note_wrong(5, omp_get_team_size(1) != N || omp_get_team_size(0) != 1);
    note_wrong(6, !omp_in_parallel());
    note_wrong(7, omp_get_active_level() != 1 + is_inner);
    __atomic_add_fetch(&got[outer + N * inner], 1, __ATOMIC_SEQ_CST);
    errno = before;
}

static bool is_sent(void) { return __atomic_load_n(&sent, __ATOMIC_SEQ_CST); }

static void send_to(int id)
{
    int before = __atomic_load_n(&got[id], __ATOMIC_SEQ_CST);
    CHECK(pthread_kill(self[id], SIGUSR1) == 0);
    while (__atomic_load_n(&got[id], __ATOMIC_SEQ_CST) == before) /* hangs where it does not arrive */
        usleep(50);
}

static void check_numbers(void)
{
    for (int what = 0; what < 8; what++)
        if (wrong[what])
            fprintf(stderr, "number %d was wrong in %d handlers\n", what, wrong[what]);
    for (int what = 0; what < 8; what++)
        CHECK(!wrong[what]);
    CHECK(!strangers);
}

static void send_to_all(bool with_inner)
{
    for (int round = 0; round < 2; round++)
        for (int id = 0; id < (with_inner ? ALL : N); id++)
            if (id % N != SENDER)
                send_to(id);
    check_numbers();
    __atomic_store_n(&sent, true, __ATOMIC_SEQ_CST);
}

/* --- how members wait --- */

static void computing(void)
{
    while (!is_sent())
        waits_compute_us(100);
}
static void in_a_barrier(void) {}
static void sleeping(void)
{
    while (!is_sent())
        usleep(500);
}
static void for_a_critical(void)
{
#pragma omp critical
    sleeping();
}
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void for_a_mutex(void)
{
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}
static void for_tasks(void)
{
#pragma omp task
    sleeping();
#pragma omp taskwait
}
/* Its members wait in its end, or in a barrier. */
static int waiting_inner;
static void for_an_inner_region(void)
{
    int of = outer;
    has_inner = true;
#pragma omp parallel num_threads(INNER)
    {
        if (omp_get_thread_num()) {
            outer = of;
            inner = omp_get_thread_num();
        }
        self[of + N * omp_get_thread_num()] = pthread_self();
        __atomic_add_fetch(&waiting_inner, 1, __ATOMIC_SEQ_CST);
        if (omp_get_thread_num() == 1)
            sleeping();
        if (of % 2)
            wait_in_a_barrier();
    }
    has_inner = false;
}

static void is_member(void)
{
    outer = omp_get_thread_num();
    inner = 0;
    self[outer] = pthread_self();
}

static void send(void (*wait)(void), int round)
{
    bool with_inner = wait == for_an_inner_region;
    while (with_inner && __atomic_load_n(&waiting_inner, __ATOMIC_SEQ_CST) < (N - 1) * INNER)
        usleep(50);
    usleep(1000 * round); /* the others come to where they wait */
    send_to_all(with_inner);
    held_let_go(N - 1);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void begin(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    omp_set_max_active_levels(2);
    outer = 0; /* the first thread */
}

static void rounds(void (*wait)(void))
{
    begin();
    for (int round = 0; round < ROUNDS; round++) {
        sent = false;
        waiting_inner = 0;
        held_begin();
#pragma omp parallel num_threads(N)
        {
            is_member();
            if (outer == SENDER) {
                omp_set_lock(&held_lock);
                CHECK(pthread_mutex_lock(&mutex) == 0);
            }
            wait_in_a_barrier();
            if (outer == SENDER)
                send(wait, round);
            else
                wait();
#pragma omp barrier
        }
        held_end();
    }
}

#define KIND(name) \
    static void run_##name(void) { rounds(name); }
KIND(computing)
KIND(in_a_barrier)
KIND(for_a_lock)
KIND(for_a_critical)
KIND(sleeping)
KIND(in_read)
KIND(for_a_mutex)
KIND(on_a_semaphore)
KIND(for_tasks)
KIND(for_an_inner_region)

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"computing", run_computing},     {"in_a_barrier", run_in_a_barrier},
        {"for_a_lock", run_for_a_lock},   {"for_a_critical", run_for_a_critical},
        {"sleeping", run_sleeping},       {"in_read", run_in_read},
        {"for_a_mutex", run_for_a_mutex}, {"on_a_semaphore", run_on_a_semaphore},
        {"for_tasks", run_for_tasks},     {"for_an_inner_region", run_for_an_inner_region}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

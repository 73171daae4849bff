/* In a program's first region with tasks: somebody waits, with taskyield between its looks or without, for a task that
 * it does not run itself. Of the two threads of the region one waits in a task or in the region's body, the other one
 * has returned from the body. So the region's first thread is to run the task, as itself, in the middle of the region's
 * end. Outermost and inner regions; each waits for the other in turn. [KIND] */
#include "kinds.h"
#include "waits.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#define N 2
#define OUTER 3
#define TURNS 4

static __thread int mark; /* each thread's own */

/* Member 0 has returned, or is about to. */
static void await_return(atomic_int *returned)
{
    while (!atomic_load(returned))
        usleep(100);
    waits_compute_us(2000);
}

static void yield_until(atomic_int *word, int value)
{
    while (atomic_load(word) < value) {
#pragma omp taskyield
    }
}

/* One region. turns: how often the two tasks wait for each other. */
static void region(int turns)
{
    atomic_int returned = 0, turn = 0, ran_by = -1;
    pthread_t first = pthread_self();
    int own = mark = 1 + omp_get_thread_num() + 10 * omp_get_level();
#pragma omp parallel num_threads(N) shared(returned, turn, ran_by)
    {
        if (omp_get_thread_num() == 0) {
            atomic_store(&returned, 1);
        } else {
            await_return(&returned);
#pragma omp task shared(turn, ran_by)
            {
                CHECK(mark == own && pthread_equal(pthread_self(), first));
                atomic_store(&ran_by, omp_get_thread_num());
                for (int i = 0; i < turns; i++) {
                    yield_until(&turn, 2 * i);
                    atomic_store(&turn, 2 * i + 1);
                }
            }
#pragma omp task if (0) shared(turn)
            for (int i = 0; i < turns; i++) {
                yield_until(&turn, 2 * i + 1);
                atomic_store(&turn, 2 * i + 2);
            }
        }
    }
    CHECK(atomic_load(&turn) == 2 * turns && atomic_load(&ran_by) == 0);
    CHECK(mark == own && pthread_equal(pthread_self(), first));
}

static void outermost(void)
{
    region(1);
    region(1);
}
static void in_turns(void) { region(TURNS); }

static void inner(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(OUTER)
    {
        region(1);
        wait_in_all_ways();
        region(TURNS);
    }
}

/* The first thread is no initial one. */
static void *run_in_turns(void *arg)
{
    region(TURNS);
    return arg;
}
static void in_a_thread(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run_in_turns, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

/* Some that are ready, one behind the other: each is waited for by itself. */
static void several(void)
{
    atomic_int returned = 0, ran = 0;
#pragma omp parallel num_threads(N)
    {
        if (omp_get_thread_num() == 0) {
            atomic_store(&returned, 1);
        } else {
            await_return(&returned);
            for (int i = 0; i < TURNS; i++) {
#pragma omp task
                {
#pragma omp task
                    atomic_fetch_add(&ran, 1);
#pragma omp taskwait
                    CHECK(omp_get_thread_num() == 0);
                }
#pragma omp task if (0)
                yield_until(&ran, i + 1);
            }
        }
    }
    CHECK(atomic_load(&ran) == TURNS);
}

/* --- without a scheduling point --- */

static void spin_until(atomic_int *word, int value)
{
    while (atomic_load(word) < value)
        continue;
}

static void wait_without(sem_t *sem, atomic_int *word)
{
    while (sem && sem_wait(sem) != 0)
        continue;
    spin_until(word, 1);
}

/* The member itself waits in the region's body, or an included task of its own; by a flag, or in the kernel. */
static void region_without(bool in_body, sem_t *sem)
{
    atomic_int returned = 0, done = 0;
    int own = mark = 1 + omp_get_thread_num() + 10 * omp_get_level();
#pragma omp parallel num_threads(N) shared(returned, done)
    {
        if (omp_get_thread_num() == 0) {
            atomic_store(&returned, 1);
        } else {
            await_return(&returned);
#pragma omp task shared(done)
            {
                CHECK(omp_get_thread_num() == 0 && mark == own);
                atomic_store(&done, 1);
                if (sem)
                    sem_post(sem);
            }
            if (in_body)
                wait_without(sem, &done);
            else
#pragma omp task if (0) shared(done)
                wait_without(sem, &done);
        }
    }
    CHECK(atomic_load(&done) == 1 && mark == own);
}
static void body_spins(void) { region_without(true, NULL); }
static void task_spins(void) { region_without(false, NULL); }
static void body_blocks(void)
{
    sem_t sem;
    CHECK(sem_init(&sem, 0, 0) == 0);
    region_without(true, &sem);
    CHECK(sem_destroy(&sem) == 0);
}
static void inner_spins(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(OUTER)
    {
        region_without(true, NULL);
        wait_in_all_ways();
        region_without(false, NULL);
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"outermost", outermost},     {"in_turns", in_turns},       {"inner", inner},
        {"in_a_thread", in_a_thread}, {"several", several},         {"body_spins", body_spins},
        {"task_spins", task_spins},   {"body_blocks", body_blocks}, {"inner_spins", inner_spins}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}

/* Mutexes, condition variables and semaphores of the C library between members of different inner teams, which start in
 * any order. */
#include "check.h"
#include <pthread.h>
#include <semaphore.h>

#define OUTER 3
#define INNER 3
#define ALL (OUTER * INNER)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem[ALL];
static int turn, value, readers;

static void by_turns(int id)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        while (turn != id)
            pthread_cond_wait(&cond, &lock);
        turn = (turn + ALL - 1) % ALL;
        pthread_cond_broadcast(&cond);
        pthread_mutex_unlock(&lock);
    }
}

static void by_semaphores(int id)
{
    for (int i = 0; i < 2; i++) {
        while (sem_wait(&sem[id]))
            continue;
        CHECK(sem_post(&sem[(id + ALL - 1) % ALL]) == 0);
    }
}

static void read_and_write(int id)
{
    for (int i = 0; i < 100; i++) {
        if ((i + id) % 4 == 0) {
            pthread_rwlock_wrlock(&both);
            CHECK(!__atomic_load_n(&readers, __ATOMIC_RELAXED));
            value++;
        } else {
            pthread_rwlock_rdlock(&both);
            __atomic_add_fetch(&readers, 1, __ATOMIC_RELAXED);
            __atomic_sub_fetch(&readers, 1, __ATOMIC_RELAXED);
        }
        pthread_rwlock_unlock(&both);
    }
}

int main(void)
{
    omp_set_max_active_levels(2);
    for (int i = 0; i < ALL; i++)
        sem_init(&sem[i], 0, i == ALL - 1);
    turn = ALL - 1;
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(OUTER)
        {
            int outer = omp_get_thread_num();
#pragma omp parallel num_threads(INNER)
            {
                int id = outer * INNER + omp_get_thread_num();
                by_turns(id);
                by_semaphores(id);
                read_and_write(id);
            }
        }
        CHECK(value == (round + 1) * ALL * 25);
    }
    return 0;
}

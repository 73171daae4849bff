/* The C library's mutexes, condition variables, semaphores and barriers between the members of a region. */
#include "check.h"
#include <pthread.h>
#include <semaphore.h>

#define N 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn, count;

int main(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    CHECK(count == N * 1000);

    /* The last member first: no thread gets far in the order in which they are begun. */
    turn = N - 1;
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        while (turn != omp_get_thread_num())
            pthread_cond_wait(&cond, &lock);
        turn = (turn + N - 1) % N;
        pthread_cond_broadcast(&cond);
        pthread_mutex_unlock(&lock);
    }
    CHECK(turn == N - 1);

    sem_t sem[N];
    for (int i = 0; i < N; i++)
        sem_init(&sem[i], 0, i == N - 1);
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 3; i++) {
        int id = omp_get_thread_num();
        while (sem_wait(&sem[id]))
            continue;
        sem_post(&sem[(id + N - 1) % N]);
    }

    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, N);
    int serial = 0;
#pragma omp parallel num_threads(N) reduction(+ : serial)
    for (int i = 0; i < 5; i++)
        serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    CHECK(serial == 5);

    /* Held over the runtime's own barrier by one member, wanted by the others. */
    int in = 0;
#pragma omp parallel num_threads(N)
    {
        if (omp_get_thread_num() == 3)
            pthread_mutex_lock(&lock);
#pragma omp barrier
        if (omp_get_thread_num() == 3) {
            in = 1;
            pthread_mutex_unlock(&lock);
        } else {
            pthread_mutex_lock(&lock);
            CHECK(in == 1);
            pthread_mutex_unlock(&lock);
        }
    }
    return 0;
}

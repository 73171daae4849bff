/* After the runtime's barrier every other member blocks in the kernel until the initial thread has done something. The
 * member blocks in read, on a semaphore, on a condition variable, in a polling loop with usleep, or on a futex by the C
 * library's `syscall` (as std::atomic's wait does). The same with a kernel thread of the program's own as the first
 * member; and where the first member has blocked all signals, before the region or in it. */
#define _GNU_SOURCE
#include "check.h"
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N 6

static int channel[2];
static sem_t sem;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile int done;
static _Atomic unsigned opened, about_to_wait;

static void give(int kind)
{
    char text[N] = {0};
    while (kind == 4 && about_to_wait < N - 1) { /* the others run on its kernel thread, and wait there */
#pragma omp taskyield
    }
    if (kind == 0)
        CHECK(write(channel[1], text, N - 1) == N - 1);
    for (int i = 1; i < N && kind == 1; i++)
        sem_post(&sem);
    opened = 1;
    syscall(SYS_futex, &opened, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    pthread_mutex_lock(&lock);
    done = kind + 1;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&lock);
}

static void take(int kind)
{
    char c;
    if (kind == 0)
        CHECK(read(channel[0], &c, 1) == 1);
    if (kind == 1)
        while (sem_wait(&sem))
            continue;
    if (kind == 2) {
        pthread_mutex_lock(&lock);
        while (done != kind + 1)
            pthread_cond_wait(&cond, &lock);
        pthread_mutex_unlock(&lock);
    }
    while (kind == 3 && done != kind + 1)
        usleep(500);
    about_to_wait++;
    while (kind == 4 && !opened)
        syscall(SYS_futex, &opened, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static int block_inside; /* the first member blocks all signals in each region */

static void mask_all(int how)
{
    sigset_t all;
    sigfillset(&all);
    CHECK(pthread_sigmask(how, &all, NULL) == 0);
}

static void *all_kinds(void *arg)
{
    for (int kind = 0; kind < 5; kind++) {
        for (int round = 0; round < 3; round++) {
            done = 0;
            opened = about_to_wait = 0;
#pragma omp parallel num_threads(N)
            {
                if (block_inside && omp_get_thread_num() == 0)
                    mask_all(SIG_BLOCK);
#pragma omp barrier
                if (omp_get_thread_num() == 0)
                    give(kind);
                else
                    take(kind);
#pragma omp barrier
                if (block_inside && omp_get_thread_num() == 0)
                    mask_all(SIG_UNBLOCK);
            }
        }
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    CHECK(pipe(channel) == 0 && sem_init(&sem, 0, 0) == 0);
    all_kinds(NULL);
    CHECK(pthread_create(&thread, NULL, all_kinds, NULL) == 0);
    pthread_join(thread, NULL);
    block_inside = 1;
    all_kinds(NULL);
    block_inside = 0;
    mask_all(SIG_BLOCK);
    all_kinds(NULL);
    CHECK(pthread_create(&thread, NULL, all_kinds, NULL) == 0); /* with all blocked */
    pthread_join(thread, NULL);
    mask_all(SIG_UNBLOCK);
    all_kinds(NULL);
    return 0;
}

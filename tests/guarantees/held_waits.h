/* Three waits for what one member of a team keeps, the holder: an OpenMP lock, a read from a pipe, a semaphore.
 *
 * held_begin() before the region, held_end() behind it. In the region the holder sets held_lock, later calls
 * held_let_go. The other members call one of the waits, or another one that the holder ends. */
#ifndef PS_GUARANTEES_HELD_WAITS_H
#define PS_GUARANTEES_HELD_WAITS_H

#include "check.h"
#include <errno.h>
#include <semaphore.h>
#include <unistd.h>

static omp_lock_t held_lock;
static int held_pipe[2];
static sem_t held_semaphore;

static inline void held_begin(void)
{
    CHECK(pipe(held_pipe) == 0 && sem_init(&held_semaphore, 0, 0) == 0);
    omp_init_lock(&held_lock);
}

static inline void held_end(void)
{
    close(held_pipe[0]);
    close(held_pipe[1]);
    omp_destroy_lock(&held_lock);
}

static inline void held_let_go(int waiters)
{
    for (int i = 0; i < waiters; i++)
        CHECK(write(held_pipe[1], "1", 1) == 1 && sem_post(&held_semaphore) == 0);
    omp_unset_lock(&held_lock);
}

static inline void for_a_lock(void)
{
    omp_set_lock(&held_lock);
    omp_unset_lock(&held_lock);
}

static inline void in_read(void)
{
    char c;
    ssize_t n;
    while ((n = read(held_pipe[0], &c, 1)) == -1 && errno == EINTR)
        continue;
    CHECK(n == 1);
}

static inline void on_a_semaphore(void)
{
    while (sem_wait(&held_semaphore))
        CHECK(errno == EINTR);
}

#endif

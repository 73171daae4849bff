/* POSIX keys in nested members: each its own value, kept over all that waits. The values of a root's threads are
 * destroyed once the root has ended, each once, by the thread that runs the destructor. (libgomp's and libomp's pools
 * end a little later: they are waited for.) */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

#define ROOTS 20

static pthread_key_t key;
static int made, destroyed;

static void destroy(void *value)
{
    CHECK(*(int *)value == 1); /* not twice */
    *(int *)value = 2;
    free(value);
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED);
}

static void set_own(void)
{
    int *mine = (int *)pthread_getspecific(key);
    if (!mine) {
        mine = (int *)malloc(sizeof *mine);
        CHECK(mine);
        *mine = 1;
        __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
        CHECK(pthread_setspecific(key, mine) == 0);
    }
#pragma omp barrier
    CHECK(pthread_getspecific(key) == mine && *mine == 1);
}

static void *root(void *arg)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
    {
        set_own();
#pragma omp parallel num_threads(3)
        set_own();
        set_own();
    }
    return arg;
}

int main(void)
{
    CHECK(pthread_key_create(&key, destroy) == 0);
    for (int i = 0; i < ROOTS; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, root, NULL) == 0);
        pthread_join(thread, NULL);
    }
    CHECK(made >= 9);
    /* Pools may keep threads for the next root, of as many as one root has; what had an owner that is gone is
     * destroyed, or this hangs. */
    for (int n = 0; n < ROOTS || made - n > 9; n = __atomic_load_n(&destroyed, __ATOMIC_ACQUIRE))
        usleep(1000);
    return 0;
}

/* Storage of members, inner regions (OMP_MAX_ACTIVE_LEVELS=2), a child, and the end of the program. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static __thread int own = 7;
static __thread char large[4000];
static int private;
#pragma omp threadprivate(private)

/* Names of the runtime's own, which it must not meet. */
int uth_tls_init(void) { return 1; }
int ps_ready = 2;

static int members(int n)
{
    int sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    sum++;
    return sum;
}

static void at_end(void) { CHECK(members(3) == 3); }

static void storage(void)
{
#pragma omp parallel num_threads(8)
    {
        int id = omp_get_thread_num();
        CHECK(own == (id == 0 ? own : 7) && large[3] == 0);
        own = private = id;
        large[3] = (char)id;
        CHECK(members(4) == 4);
#pragma omp barrier
        CHECK(own == id && private == id && large[3] == id);
        large[3] = 0;
        own = 7;
    }
}

/* A team's blocks are given back at the end of its thread, and begin anew with the next one. */
static void *other_root(void *unused)
{
    storage();
    return unused;
}

int main(void)
{
    CHECK(atexit(at_end) == 0 && uth_tls_init() + ps_ready == 3);
    storage();
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, other_root, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    pid_t child = fork();
    if (child == 0)
        _exit(members(4) == 4 ? 0 : 1);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}

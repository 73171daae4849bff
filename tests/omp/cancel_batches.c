/* cancel for, and cancel parallel, in loops whose chunks are claimed several at once: what members still held is
 * neither run nor found by later loops. */
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"
#include "need_env.h"

#define N 3000
static atomic_uchar hits[N];

static void whole(int chunk)
{
#pragma omp for schedule(dynamic, chunk)
    for (int i = 0; i < N; i++)
        hits[i]++;
#pragma omp single
    for (int i = 0; i < N; i++) {
        CHECK(hits[i] == 1);
        hits[i] = 0;
    }
}

static void some(int stop)
{
    static atomic_uchar begun[N];
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < N; i++) {
        CHECK(begun[i]++ == 0);
        if (i == stop) {
#pragma omp cancel for
        }
        if (i % 64 == 0) {
#pragma omp cancellation point for
        }
    }
#pragma omp single
    for (int i = 0; i < N; i++)
        begun[i] = 0;
}

int main(int argc, char **argv)
{
    (void)argc;
    need_env(argv, "OMP_CANCELLATION", "true");
    for (int threads = 2; threads <= 6; threads += 2) {
#pragma omp parallel num_threads(threads)
        for (int round = 0; round < 60; round++) {
            some(round * 47);
            whole(1 + round % 3);
        }
        for (int round = 0; round < 60; round++) {
            atomic_int done = 0;
#pragma omp parallel num_threads(threads)
            {
                if (round % 2 == 1)
#pragma omp for schedule(dynamic, 1) nowait
                    for (int i = 0; i < N; i++)
                        done++;
#pragma omp for schedule(dynamic, 1) nowait
                for (int i = 0; i < N; i++)
                    done++;
                if (omp_get_thread_num() == round % threads) {
#pragma omp cancel parallel
                }
#pragma omp cancellation point parallel
#pragma omp for schedule(dynamic, 2) nowait
                for (int i = 0; i < N; i++)
                    hits[i]++;
            }
            CHECK(done == N * (1 + round % 2));
            for (int i = 0; i < N; i++)
                hits[i] = 0;
#pragma omp parallel num_threads(threads)
            whole(1);
        }
    }
    return 0;
}

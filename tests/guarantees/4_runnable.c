/* K kernel threads of the program's own open regions at the same time: never more kernel threads are runnable than
 * there are processors, plus K, the one that looks, and the watchdog where it has just been started (see
 * kernel_threads.h). libgomp has one for each OpenMP thread. */
#include "check.h"
#include "kernel_threads.h"

#include <pthread.h>
#include <unistd.h>

#define K 3

static volatile int stop;

static void *root(void *arg)
{
    omp_set_max_active_levels(3);
    while (!stop) {
        int sum = 0;
#pragma omp parallel num_threads(8) reduction(+ : sum)
        {
            int inner = 0;
#pragma omp parallel num_threads(4) reduction(+ : inner)
            {
                for (volatile int i = 0; i < 5000; i++)
                    continue;
#pragma omp barrier
                inner++;
            }
            sum += inner;
        }
        CHECK(sum == 32);
    }
    return arg;
}

int main(void)
{
    pthread_t thread[K];
    const char *vps = getenv("PSTHREADS_NUM_VPS");
    long allowed = (vps ? atol(vps) : omp_get_num_procs()) + K + 2, most = 0, above = 0;
    for (int k = 0; k < K; k++)
        CHECK(pthread_create(&thread[k], NULL, root, NULL) == 0);
    for (int i = 0; i < 400; i++) {
        long n = count_kernel_threads('R');
        most = n > most ? n : most;
        above += n > allowed;
        usleep(1000);
    }
    stop = 1;
    for (int k = 0; k < K; k++)
        pthread_join(thread[k], NULL);
    printf("at most %ld runnable, %ld allowed\n", most, allowed);
    CHECK(above == 0);
    return 0;
}

/* fork while other kernel threads of the process are in the middle of regions: whatever they hold, the child can open
 * regions. Under GCC's own runtime such a child works, as long as the thread that forks has opened no region before. */
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;

static int region(int n)
{
    int sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    {
        int inner = 0;
#pragma omp parallel num_threads(3)
        {
#pragma omp barrier
#pragma omp task shared(inner)
#pragma omp atomic
            inner++;
        }
        sum += inner;
    }
    return sum;
}

static void *busy(void *arg)
{
    omp_set_max_active_levels(2);
    while (!stop) {
        int sum = region(4);
        CHECK(sum == 4 * 3);
    }
    return arg;
}

int main(int argc, char **argv)
{
    int forks = argc > 1 ? atoi(argv[1]) : 40;
    pthread_t thread[2];
    for (int k = 0; k < 2; k++)
        CHECK(pthread_create(&thread[k], NULL, busy, NULL) == 0);
    for (int i = 0; i < forks; i++) {
        usleep(1000);
        pid_t child = fork();
        if (!child) {
            omp_set_max_active_levels(2);
            _exit(region(4) == 4 * 3 && region(3) == 3 * 3 ? 0 : 1);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    stop = 1;
    for (int k = 0; k < 2; k++)
        pthread_join(thread[k], NULL);
    return 0;
}

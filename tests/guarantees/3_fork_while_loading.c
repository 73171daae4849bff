/* fork while another kernel thread is inside the dynamic linker, whose lock has no owner in the child: what opens
 * regions but loads nothing works there. A call-back of dl_iterate_phdr that takes its time stands for a dlopen that is
 * in the middle. */
#define _GNU_SOURCE
#include "check.h"
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int inside, leave;

static int slowly(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)info;
    (void)bytes;
    (void)arg;
    atomic_store(&inside, 1);
    while (!atomic_load(&leave))
        usleep(1000);
    return 1;
}

static void *in_the_linker(void *arg)
{
    dl_iterate_phdr(slowly, NULL);
    return arg;
}

static int regions(void)
{
    int sum = 0;
    omp_set_max_active_levels(2);
    for (int i = 0; i < 100; i++) {
#pragma omp parallel num_threads(3) reduction(+ : sum)
#pragma omp parallel num_threads(2) reduction(+ : sum)
        sum++;
    }
    return sum;
}

int main(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, in_the_linker, NULL) == 0);
    while (!atomic_load(&inside))
        usleep(1000);
    pid_t child = fork();
    if (!child) {
        _exit(regions() == 600 ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    atomic_store(&leave, 1);
    pthread_join(thread, NULL);
    CHECK(regions() == 600);
    return 0;
}

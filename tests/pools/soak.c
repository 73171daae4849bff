/* Everything at once for some seconds: threads that call a library with OpenBLAS's interface and set its number of
 * threads, regions, children that are forked, copies that are opened and closed. Arguments: seconds, and the folder
 * with the copies. */
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>

#include "../check.h"
#include "fake_blas.h"

static atomic_bool over;
static const char *folder;

static void *calls(void *unused)
{
    for (unsigned i = 0; !atomic_load(&over); i++) {
        CHECK(fake_product() >= 1);
        CHECK(fake_vector() >= 1);
        if (i % 64 == 0)
            openblas_set_num_threads(1 + (int)(i / 64) % 6);
    }
    return unused;
}

static void *regions(void *unused)
{
    while (!atomic_load(&over)) {
#pragma omp parallel num_threads(4)
        CHECK(fake_product() >= 1);
    }
    return unused;
}

static void *children(void *unused)
{
    while (!atomic_load(&over)) {
        pid_t child = fork();
        if (child == 0) {
            for (int i = 0; i < 20; i++)
                CHECK(fake_vector() >= 1);
            _exit(0);
        }
        int status = -1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    return unused;
}

static void *copies(void *unused)
{
    char name[512];
    snprintf(name, sizeof name, "%s/libfake_scipy.so", folder);
    while (!atomic_load(&over)) {
        void *copy = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        CHECK(copy);
        int (*product)(void) = (int (*)(void))dlsym(copy, "scipy_fake_product64_");
        for (int i = 0; i < 50; i++)
            CHECK(product() >= 1);
        CHECK(dlclose(copy) == 0);
    }
    return unused;
}

int main(int argc, char **argv)
{
    static void *(*const kinds[])(void *) = {calls, calls, regions, children, copies};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    pthread_t thread[KINDS];
    CHECK(argc == 3);
    folder = argv[2];
    for (int i = 0; i < KINDS; i++)
        CHECK(pthread_create(&thread[i], NULL, kinds[i], NULL) == 0);
    nanosleep(&(struct timespec){.tv_sec = atoi(argv[1])}, NULL);
    atomic_store(&over, true);
    for (int i = 0; i < KINDS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    return 0;
}

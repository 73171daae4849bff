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
            CHECK(fake_vector() >= 0); /* its own threads, of which this stand-in has none */
            _exit(0);
        }
        int status = -1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    return unused;
}

static int product_of_copy(void)
{
    char name[512];
    snprintf(name, sizeof name, "%s/libfake_scipy.so", folder);
    void *copy = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    CHECK(copy);
    int n = ((int (*)(void))dlsym(copy, "scipy_fake_product64_"))();
    CHECK(dlclose(copy) == 0);
    return n;
}

static void *copies(void *unused)
{
    while (!atomic_load(&over))
        CHECK(product_of_copy() >= 1);
    return unused;
}

int main(int argc, char **argv)
{
    static void *(*const kinds[])(void *) = {calls, calls, regions, children, copies};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    pthread_t thread[KINDS];
    CHECK(argc == 3);
    folder = argv[2];
    /* A fork beside a library's very first call may free its buffers, as without us. */
    CHECK(fake_product() >= 1 && product_of_copy() >= 1);
    for (int i = 0; i < KINDS; i++)
        CHECK(pthread_create(&thread[i], NULL, kinds[i], NULL) == 0);
    nanosleep(&(struct timespec){.tv_sec = atoi(argv[1])}, NULL);
    atomic_store(&over, true);
    for (int i = 0; i < KINDS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    return 0;
}

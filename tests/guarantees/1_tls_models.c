/* Libraries opened after regions, with thread-local storage of the general-dynamic and of the initial-exec model:
 * initialised in threads that are older than they and in new ones, each thread's own, nested too. argv[1], argv[2]: the
 * libraries; they stay open. */
#include "check.h"
#include <dlfcn.h>

static int (*initial)(void), (*set)(int), (*get)(void);
static __thread int own = 5;

static void older_threads(int outer, int inner)
{
#pragma omp parallel num_threads(outer)
    {
#pragma omp barrier
#pragma omp parallel num_threads(inner)
        {
            own = omp_get_thread_num();
#pragma omp barrier
            CHECK(own == omp_get_thread_num());
        }
    }
}

static void member(int id)
{
    set(id);
#pragma omp barrier
    CHECK(get() == id);
}

static void check_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    initial = (int (*)(void))dlsym(library, "library_initial");
    set = (int (*)(int))dlsym(library, "library_set");
    get = (int (*)(void))dlsym(library, "library_get");
    CHECK(initial && set && get);
    /* Some that there were, and some that there were not. */
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(8)
        {
            CHECK(round || initial());
            member(1 + omp_get_thread_num());
        }
    }
#pragma omp parallel num_threads(4)
    {
        int outer = omp_get_thread_num();
        member(100 + outer);
#pragma omp parallel num_threads(3)
        {
            int id = omp_get_thread_num();
            CHECK(id ? initial() || get() != -1 : get() == 100 + outer); /* a new thread, or one of before */
            member(1000 + 10 * outer + id);
        }
        CHECK(get() == 1000 + 10 * outer); /* the inner team's first thread was this one */
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    omp_set_max_active_levels(2);
    older_threads(4, 3);
    check_library(argv[1]);
    check_library(argv[2]);
    return 0;
}

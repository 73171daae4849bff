/* A library with thread-local storage that is opened after the first regions, used in them, closed and opened again. */
#include "check.h"
#include <dlfcn.h>

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    omp_set_max_active_levels(2);
    int n = 0;
#pragma omp parallel num_threads(8) reduction(+ : n)
    n++;
    CHECK(n == 8);
    for (int round = 0; round < 3; round++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library)
            fprintf(stderr, "%s\n", dlerror());
        CHECK(library);
        int *(*value)(void) = (int *(*)(void))dlsym(library, "library_value");
        int (*sum)(void) = (int (*)(void))dlsym(library, "library_sum");
        CHECK(value && sum && sum() == 9);
#pragma omp parallel num_threads(8)
        {
            int id = omp_get_thread_num();
            CHECK(*value() == 5);
            *value() = id;
#pragma omp barrier
            CHECK(*value() == id);
#pragma omp parallel num_threads(2)
            {
                int inner = 10 + 2 * id + omp_get_thread_num();
                *value() = inner;
#pragma omp barrier
                CHECK(*value() == inner);
            }
        }
        CHECK(dlclose(library) == 0);
    }
    return 0;
}

/* Below MPI_THREAD_MULTIPLE calls go to MPI as they are, on the thread that makes them. Argument: the level. */
#include <string.h>

#include "check.h"

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int level = strcmp(name, "single") == 0     ? MPI_THREAD_SINGLE
                : strcmp(name, "funneled") == 0 ? MPI_THREAD_FUNNELED
                                                : MPI_THREAD_SERIALIZED;
    begin(&argc, &argv, level);
    int sum = 0;
#pragma omp parallel num_threads(4)
    {
        CHECK(omp_get_num_threads() == 4);
        for (int i = 0; i < 20; i++) {
#pragma omp barrier
            if (level == MPI_THREAD_SERIALIZED ? omp_get_thread_num() == i % 4 : omp_get_thread_num() == 0) {
                int one = 1, all;
                MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
                sum += all;
            }
        }
    }
    CHECK(sum == 20 * check_size);
    return end();
}

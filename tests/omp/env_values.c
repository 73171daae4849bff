/* What the environment said (arguments: max_threads, chunk, schedule kind, dynamic, levels, thread limit) is what the
 * routines say. */
#include "check.h"

int main(int argc, char **argv)
{
    CHECK(argc == 7);
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    CHECK(omp_get_max_threads() == atoi(argv[1]));
    CHECK(chunk == atoi(argv[2]));
    CHECK((unsigned)kind == (unsigned)strtoul(argv[3], NULL, 0));
    CHECK(omp_get_dynamic() == atoi(argv[4]));
    CHECK(omp_get_max_active_levels() == atoi(argv[5]));
    CHECK(omp_get_thread_limit() == atoi(argv[6]));
    return 0;
}
